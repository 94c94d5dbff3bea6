"""Two-party audits in the service: messages in, messages out, one answer for each charge."""
