"""Webhooks: entries of the ledger, pushed to people who may see them and asked for it."""
