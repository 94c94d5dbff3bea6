"""Planning: people, power and noise of an audit, before it is paid."""
