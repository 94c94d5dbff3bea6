"""Audiences: the people of an audit, in opaquely labelled groups."""

from typing import Annotated, Literal, get_args

from pydantic import Base64Bytes, Field

from openapi.wire_model import Digest, Identifier, Instant, Label, Wire, example

IdentifierKind = Literal["username", "email_sha256", "phone_sha256"]
IDENTIFIER_KINDS: tuple[IdentifierKind, ...] = get_args(IdentifierKind)
# The SDK normalises identifiers before it sends them (`auditor_client.audiences.identifiers`).
IDENTIFIER_NOTES: dict[IdentifierKind, str] = {
    "username": "NFKC, stripped, one leading @ dropped, case-folded; sent unchanged",
    "email_sha256": "stripped and lower-cased; SHA-256 of its UTF-8 in hex",
    "phone_sha256": "E.164 without separators; SHA-256 of its UTF-8 in hex",
}
AudienceState = Literal["open", "sealed", "erased"]
AudienceSource = Literal["upload", "sample", "hidden"]
# Sources as kinds of audit distinguish them: `confirmed` is an upload whose people confirmed.
SupportedSource = Literal["upload", "confirmed", "sample", "hidden"]


class AudienceDraft(Wire):
    """Audience to fill group by group.

    With `confirmed`, the platform scores only people who confirmed there that they take part. Their
    number is exact in the release, because their confirmation allows this. With `consented`, the
    auditor declares that every member agreed to see other people's recommendations for a while, as
    an audit of envy requires; the platform also checks its own record of consent. With `ordered`,
    the platform stores, for its one group, whom each identifier matched, in the order of the
    upload. A two-party audit needs this, and no groups.
    """

    model_config = example(groups=["g0", "g1"])

    groups: Annotated[list[Label], Field(min_length=1, max_length=100, examples=[["g0", "g1"]])]
    groups_per_person: Annotated[int, Field(ge=1, le=10)] = 1
    confirmed: bool = False
    consented: bool = False
    ordered: bool = False


class Part(Wire):
    """One uploaded part of a group, with the facts that an interrupted upload needs to resume."""

    number: Annotated[int, Field(ge=0)]
    rows: Annotated[int, Field(ge=0)]
    digest: Digest


class Group(Wire):
    """Numbers of uploaded (or drawn) members of a group, never of matched ones."""

    label: Label
    members: Annotated[int, Field(ge=0)]
    parts: list[Part] = []


class Audience(Wire):
    """An audience; for a hidden one, `candidates` is the number with which it is compared, at any
    time.
    """

    id: Identifier
    state: AudienceState
    source: AudienceSource
    groups: list[Group]
    groups_per_person: int
    participation_code: str | None = None
    consented: bool = False
    ordered: bool = False
    identifiers: IdentifierKind | None = None
    candidates: int | None = None
    commitment: Digest | None = None
    created_at: Instant
    sealed_at: Instant | None = None
    expires_at: Instant | None = None


class Seal(Wire):
    """Salt of the auditor; the service includes it in the commitment and does not store it."""

    model_config = example(salt="bWFrZSB5b3VyIG93biAzMiByYW5kb20gYnl0ZXMhISE=")

    salt: Annotated[Base64Bytes, Field(min_length=16, max_length=128)]


class HiddenDraft(Wire):
    """People hidden from the platform, for two-party audits: a number of identifiers of one kind.

    A run compares them with the platform's own people, padded or randomly sampled to a public size.
    The platform learns which of its people are among them, and nothing about anybody else. The
    commitment has the form of that of an upload with one group `g0`.
    """

    model_config = example(identifiers="email_sha256", rows=1000, commitment="sha256:" + 64 * "0")

    identifiers: IdentifierKind
    rows: Annotated[int, Field(ge=1, le=100_000_000)]
    commitment: Digest


class SampleGroup(Wire):
    label: Label
    value: Annotated[str, Field(min_length=1, max_length=100, examples=["woman"])]
    size: Annotated[int, Field(ge=1, le=10_000_000, examples=[200])]


class SampleDraft(Wire):
    """Random sample, drawn by the platform among people who declared the attribute there.

    With `consented`, members may be shown other people's recommendations if the platform's own
    record says that they agreed: nobody else can know.
    """

    model_config = example(
        attribute="gender",
        groups=[
            {"label": "g0", "value": "woman", "size": 200},
            {"label": "g1", "value": "man", "size": 200},
        ],
    )

    attribute: Annotated[str, Field(min_length=1, max_length=100, examples=["gender"])]
    groups: Annotated[list[SampleGroup], Field(min_length=1, max_length=100)]
    consented: bool = False
