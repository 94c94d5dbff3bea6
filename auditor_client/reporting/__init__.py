"""Parts shared by all reports."""
