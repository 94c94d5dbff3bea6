"""A regulator's view of audits: overview, reports, and opened runs."""
