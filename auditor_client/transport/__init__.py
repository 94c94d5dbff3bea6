"""Transport: HTTP, retries, tokens and signed requests."""
