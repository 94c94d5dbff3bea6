"""Vetting: from an application to a mandate, and what may happen to it afterwards."""
