"""Content as JSON, with the bytes of an image in base64."""

import base64
from collections.abc import Mapping
from typing import Any


def encode_content(content: Mapping[str, Any]) -> dict[str, Any]:
    image = content.get("image")
    return {**content, "image": None if image is None else base64.b64encode(image).decode()}


def decode_content(content: Mapping[str, Any]) -> dict[str, Any]:
    image = content.get("image")
    return {**content, "image": None if image is None else base64.b64decode(image)}
