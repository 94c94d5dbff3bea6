"""How the service itself fares: for its operator, and nobody else (R2).

No person, no score and no group is in any of it.
"""
