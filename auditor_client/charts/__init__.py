"""Parts shared by all charts."""
