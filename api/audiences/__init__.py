"""Audiences: uploads, matching, sealing, samples."""
