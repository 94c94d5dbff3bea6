"""Webhooks: entries of the ledger, pushed to whoever may see them and asked for it."""
