"""Trial contents, which the platform's model scores."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from auditor_client.errors import InputError
from auditor_client.transport.http_client import Transport
from auditor_client.transport.validation import validate
from openapi.resources import Content, ContentDraft, ContentKind, Image

PATH = "/v1/contents"
SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


class Contents:
    """The contents of this auditor."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def upload(
        self,
        *,
        kind: ContentKind,
        title: str,
        text: str = "",
        attributes: Mapping[str, str] | None = None,
        image: str | Path | bytes | None = None,
    ) -> Content:
        """Upload a content. `image` is the bytes or the path of a PNG, JPEG or WebP."""
        body = validate(
            ContentDraft,
            kind=kind,
            title=title,
            text=text,
            attributes=dict(attributes or {}),
            image=None if image is None else _image(image),
        )
        return self._transport.post(PATH, body, Content)

    def get(self, content_id: str) -> Content:
        return self._transport.get(f"{PATH}/{content_id}", Content)

    def list(self) -> list[Content]:
        """Return all contents of this auditor."""
        return list(self._transport.items(PATH, Content))


def _image(source: str | Path | bytes) -> Image:
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    return validate(Image, media_type=_media_type(data), data=b64encode(data))


def _media_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for signature, media_type in SIGNATURES.items():
        if data.startswith(signature):
            return media_type
    raise InputError("The image is not a PNG, JPEG or WebP. Nothing was uploaded.")
