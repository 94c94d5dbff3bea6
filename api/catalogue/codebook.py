"""Codebook and changelog of the catalogue, generated from the models and from the ledger.

[DR] Delegated Regulation (EU) 2025/2050: Article 6(4)(c), a catalogue with structure and metadata;
Article 15(2), codebooks and changelogs.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from typing import Any

from sqlmodel import Session, col, select

from api.db import EntryRow
from api.kinds.building_blocks import ranked_lists
from api.kinds.registry import KINDS, offered
from api.platforms.interfaces import Platform
from openapi.kinds.registry import CONTRACTS
from openapi.resources import RELEASE, REQUEST, Change, Changelog, Codebook, ContentDraft
from openapi.resources.audiences import IDENTIFIER_NOTES
from openapi.resources.catalogue import (
    AttributeNote,
    ExplorationOffer,
    FieldNote,
    IdentifierNote,
    KindNote,
    LogOffer,
    NumberColumn,
    TrafficOffer,
    WordColumn,
)

UNIT = (
    "one person, after identifiers were matched and de-duplicated; in a log, a person of the role"
    " that it names, with all their rows"
)
_KINDS_OF_CHANGE = ("settings", "model")

Schema = Mapping[str, Any]


def codebook(platform: Platform) -> Codebook:
    requests, releases = _schemas(tuple(CONTRACTS))
    content = ContentDraft.model_json_schema()
    return Codebook(
        unit_of_privacy=UNIT,
        kinds=[_kind(kind, requests, releases) for kind in offered(platform)],
        content=_fields(content, content["$defs"]),
        identifiers=[IdentifierNote(kind=kind, form=how) for kind, how in IDENTIFIER_NOTES.items()],
        attributes=[
            AttributeNote(name=name, values=sorted(values))
            for name, values in platform.people.offers().items()
        ],
    )


def log_offers(platform: Platform) -> list[LogOffer]:
    """Return the logs as the platform describes them."""
    offered = platform.logs.logs() if platform.logs else {}
    return [
        LogOffer(
            name=name,
            person=log.person,
            numbers=[
                NumberColumn(name=column, low=low, high=high)
                for column, (low, high) in log.numbers.items()
            ],
            words=[
                WordColumn(name=column, values=list(values)) for column, values in log.words.items()
            ],
            model_digest=log.model_digest,
            traffic=TrafficOffer.model_validate(asdict(log.traffic)) if log.traffic else None,
            ranking=ranked_lists.offer_of(log),
        )
        for name, log in offered.items()
    ]


def exploration_offer(platform: Platform) -> ExplorationOffer | None:
    """Return the terms of showing people other recommendations, if the platform can do so."""
    if platform.policies is None:
        return None
    return ExplorationOffer(
        step_seconds=platform.policies.step_seconds,
        policies_digest=platform.policies.policies_digest,
    )


def changelog(session: Session, cursor: int | None, limit: int) -> Changelog:
    number = col(EntryRow.number)
    query = select(EntryRow).where(col(EntryRow.kind).in_(_KINDS_OF_CHANGE))
    if cursor is not None:
        query = query.where(number < cursor)
    rows = session.exec(query.order_by(number.desc()).limit(limit + 1)).all()
    shown = rows[:limit]
    return Changelog(
        version=version("platform-auditor"),
        items=[_change(row) for row in shown],
        next=str(shown[-1].number) if len(rows) > limit else None,
    )


@cache
def _schemas(_kinds: tuple[str, ...]) -> tuple[Schema, Schema]:
    return REQUEST.json_schema(), RELEASE.json_schema()


def _change(row: EntryRow) -> Change:
    facts = json.loads(row.text)["facts"]
    return Change.model_validate(
        {"number": row.number, "at": row.at, "kind": row.kind, "facts": facts}
    )


def _kind(kind: str, requests: Schema, releases: Schema) -> KindNote:
    asked = _of_kind(requests, kind)
    return KindNote.model_validate(
        {
            "kind": kind,
            "question": " ".join(asked.get("description", "").split()),
            "sources": sorted(KINDS[kind].sources),
            "asks": _fields(asked, requests["$defs"]),
            "releases": _fields(_of_kind(releases, kind), releases["$defs"]),
        }
    )


def _of_kind(union: Schema, kind: str) -> Schema:
    """Return the model of one kind in a union with the discriminator `kind`."""
    found: Schema = union["$defs"][union["discriminator"]["mapping"][kind].rpartition("/")[2]]
    return found


def _fields(model: Schema, parts: Schema) -> list[FieldNote]:
    needed = model.get("required", [])
    return [
        FieldNote(
            name=name,
            type=_type(schema),
            required=name in needed,
            meaning=schema.get("description") or _meaning(schema, parts),
        )
        for name, schema in model["properties"].items()
    ]


def _meaning(schema: Schema, parts: Schema) -> str:
    """Return the description of the field's parts from the models."""
    items = schema.get("items", {})
    named = [schema, items, *schema.get("anyOf", [])]
    refs = [each["$ref"].rpartition("/")[2] for each in named if "$ref" in each]
    said = [" ".join(parts[name].get("description", "").split()) for name in refs]
    return " ".join(filter(None, said))


def _type(schema: Schema) -> str:
    """Return a type in words: `string`, `Edges or Levels`, `list of GroupHistogram`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(each) for each in choices))
    if "const" in schema:
        return repr(schema["const"])
    if "enum" in schema:
        return " or ".join(repr(each) for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}".removesuffix(" of anything")
    return str(schema.get("type", "anything"))
