"""The accounting of charges: amounts and memberships, no audiences."""
