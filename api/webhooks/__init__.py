"""Webhooks: ledger entries, pushed to people who may see them and registered a URL."""
