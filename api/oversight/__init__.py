"""For regulators at a glance, from mandates, charges, requests and uploads: never from people."""
