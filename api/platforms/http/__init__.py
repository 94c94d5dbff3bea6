"""Platforms behind HTTP, as a platform hosts them."""

from api.platforms.files.onnx_platform import OnnxPlatform, digest_of
from api.platforms.http.platform import HttpPlatform
from api.platforms.http.server import served

__all__ = ["HttpPlatform", "OnnxPlatform", "digest_of", "served"]
