"""Trial contents, which the platform's model scores."""

from typing import Annotated, Literal, get_args

from pydantic import Base64Bytes, Field

from openapi.wire_model import Digest, Identifier, Instant, Wire, example

ContentKind = Literal["job", "housing", "credit", "news", "political", "other"]
CONTENT_KINDS: tuple[ContentKind, ...] = get_args(ContentKind)
Attribute = Annotated[str, Field(min_length=1, max_length=200)]


class Image(Wire):
    media_type: Literal["image/png", "image/jpeg", "image/webp"]
    data: Annotated[Base64Bytes, Field(min_length=1, max_length=1_400_000)]


class ContentDraft(Wire):
    """Content as the auditor uploads it."""

    model_config = example(
        kind="job",
        title="Software engineer",
        text="Build and run data pipelines.",
        attributes={"occupation": "software"},
    )

    kind: ContentKind
    title: Annotated[str, Field(min_length=1, max_length=200, examples=["Software engineer"])]
    text: Annotated[str, Field(max_length=10_000, examples=["Build and run data pipelines."])] = ""
    attributes: Annotated[
        dict[Attribute, Attribute], Field(max_length=32, examples=[{"occupation": "software"}])
    ] = {}
    image: Image | None = None


class Content(Wire):
    """Content as the service stores it; on the receipt, `digest` names the scored content."""

    id: Identifier
    kind: ContentKind
    title: str
    text: str
    attributes: dict[str, str]
    image_digest: Digest | None
    digest: Digest
    created_at: Instant
