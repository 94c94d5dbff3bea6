"""Requests for audits of every kind, made of what people say and of the kind's own contract."""
