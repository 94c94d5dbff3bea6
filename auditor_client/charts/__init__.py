"""Parts that all charts share."""
