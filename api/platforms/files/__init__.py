"""Platforms that are read from files: ONNX models, Parquet logs and people tables."""
