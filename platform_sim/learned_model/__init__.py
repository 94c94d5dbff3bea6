"""The relevance model that a simulated platform learned from history."""
