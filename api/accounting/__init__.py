"""Accounting of charges: amounts and memberships, without audiences."""
