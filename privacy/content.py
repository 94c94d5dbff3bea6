"""Digest of a content, by which a receipt names it."""

from collections.abc import Mapping
from typing import Any

from privacy.receipts import canonical, digest

FIELDS = frozenset({"kind", "title", "text", "attributes"})


def content_digest(
    content: Mapping[str, Any], image_digest: str | None = None, image_type: str | None = None
) -> str:
    """Return the digest of everything that the model may see: canonical JSON, with the image by its
    own digest and type.
    """
    fields = {name: content[name] for name in FIELDS}
    if image_digest is not None:
        fields |= {"image": image_digest, "image_type": image_type}
    return digest(canonical(fields))
