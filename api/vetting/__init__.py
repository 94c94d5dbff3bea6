"""Vetting: from an application to a mandate, and later interventions."""
