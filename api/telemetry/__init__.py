"""Telemetry: metrics, traces and logs."""
