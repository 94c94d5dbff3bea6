"""HTTP building blocks that the routes of all domains share."""
