"""Routes, thin: parse, call one domain function, return."""
