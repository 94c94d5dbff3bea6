"""Seeded draws that every part of the simulation uses."""
