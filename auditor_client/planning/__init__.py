"""Planning: people, power and noise before an audit is paid for."""
