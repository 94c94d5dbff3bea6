"""Audiences: uploads, sealing, samples."""
