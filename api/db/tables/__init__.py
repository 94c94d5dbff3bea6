"""Tables of the database, one module per domain."""
