"""Two-party audits."""
