"""Oversight for regulators, from mandates, charges, requests and uploads: never from people."""
