"""Paper 1: platform-supported auditing."""
