"""HTTP building blocks that every domain's routes share."""
