"""Deliberate mistakes in the product, and the tests that must fail for each of them."""
