"""Logs for tests: Parquet files, read by Polars, as a platform would."""
