"""Platforms: the interfaces that adapters implement, and ways to reach adapters."""
