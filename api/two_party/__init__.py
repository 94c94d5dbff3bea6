"""Two-party audits in the service: messages of the auditor, and one answer for each charge."""
