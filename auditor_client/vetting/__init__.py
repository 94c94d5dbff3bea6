"""Vetting: applications, mandates and the stop switch."""
