"""Platforms as they are hosted: behind HTTP, or as a model and a table on disk."""

from api.hosting.http_platform import HttpPlatform
from api.hosting.onnx_platform import OnnxPlatform, digest_of
from api.hosting.serving import served

__all__ = ["HttpPlatform", "OnnxPlatform", "digest_of", "served"]
