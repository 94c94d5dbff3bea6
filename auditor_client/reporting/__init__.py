"""Parts that all reports share."""
