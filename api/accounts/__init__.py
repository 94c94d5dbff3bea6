"""Accounts: auditors, their researchers, and their keys."""
