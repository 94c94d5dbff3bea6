"""Audiences: reading, labelling, hashing and uploading people."""
