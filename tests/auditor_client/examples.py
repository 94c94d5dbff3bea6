"""A signed release and what belongs to it."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from joserfc.jwk import OKPKey

from auditor_client.finished import FinishedAudit
from openapi.models import (
    Audit,
    Content,
    Edges,
    BothRelations,
    GroupHistogram,
    GroupSize,
    Levels,
    Price,
    PricePart,
    Release,
    ScoreHistogramRequest,
)
from privacy.receipts import canonical, digest, sign

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
AUDIT_ID = "audit_" + "a" * 30
AUDIENCE_ID = "audience_" + "b" * 30
CONTENT_ID = "content_" + "c" * 30
MANDATE_ID = "mandate_" + "d" * 30
NAMES = {"g0": "man", "g1": "woman"}


def platform_key() -> OKPKey:
    key = OKPKey.generate_key("Ed25519")
    return OKPKey.import_key({**key.as_dict(private=True), "kid": key.thumbprint()})


def key_set(key: OKPKey) -> dict[str, Any]:
    return {"keys": [key.as_dict(private=False)]}


def content(title: str = "Software engineer") -> Content:
    fields = {"kind": "job", "title": title, "text": "", "attributes": {}}
    name = digest(canonical(fields))
    return Content(id=CONTENT_ID, image_digest=None, digest=name, created_at=NOW, **fields)


def price(scale: float = 1.0, size_scale: float | None = 4.0) -> Price:
    def part(name: str, scale: float) -> PricePart:
        epsilon = Decimal(str(1 / scale))
        return PricePart(
            name=name,
            mechanism="discrete-laplace",
            scale=scale,
            epsilon=BothRelations(add_remove=epsilon, change_one=2 * epsilon),
            standard_deviation=1.4 * scale,
            error_95=3,
        )

    parts = [part("bins", scale)] + ([part("sizes", size_scale)] if size_scale else [])
    total = sum((item.epsilon.add_remove for item in parts), Decimal(0))
    epsilon = BothRelations(add_remove=total, change_one=2 * total)
    return Price(epsilon=epsilon, debit=2 * total, parts=parts)


def release(
    key: OKPKey,
    counts: dict[str, list[int]],
    *,
    sizes: dict[str, int] | None = None,
    kind: str = "noisy",
    bins: Edges | Levels | None = None,
    title: str = "Software engineer",
    paid: Price | None = None,
) -> Release:
    """A release of these counts (the last of each is `outside`), signed by the key."""
    number = len(next(iter(counts.values()))) - 1
    known = sizes or {label: sum(row) for label, row in counts.items()}
    groups = [
        GroupHistogram(
            label=label,
            counts=row[:-1],
            outside=row[-1],
            size=GroupSize(kind=kind, value=None if kind == "bins" else known[label]),
        )
        for label, row in counts.items()
    ]
    unsigned = Release(
        audit_id=AUDIT_ID,
        kind="score-histogram",
        content_digest=content(title).digest,
        audience_commitment="sha256:" + "1" * 64,
        model_digest="sha256:" + "2" * 64,
        bins=bins or Edges(edges=[step / number for step in range(number + 1)]),
        groups=groups,
        price=paid or price(),
        rules=["Two identifiers that are one person count once."],
        released_at=NOW,
        receipt="",
    )
    statement = unsigned.model_dump(mode="json", exclude={"receipt"})
    return unsigned.model_copy(update={"receipt": sign(statement, key)})


def finished(
    counts: dict[str, list[int]],
    names: dict[str, str] | None = None,
    title: str = "Software engineer",
    **options: Any,
) -> FinishedAudit:
    key = platform_key()
    made = release(key, counts, title=title, **options)
    return FinishedAudit(
        made, key_set(key), NAMES if names is None else names, content=content(title)
    )


def audit_of(made: Release, state: str = "released") -> Audit:
    return Audit(
        id=AUDIT_ID,
        kind="score-histogram",
        state=state,
        mandate_id=MANDATE_ID,
        request=ScoreHistogramRequest(
            content_id=CONTENT_ID,
            audience_id=AUDIENCE_ID,
            bins=made.bins,
            epsilon=Decimal(1),
        ),
        price=made.price,
        submitted_at=NOW,
    )
