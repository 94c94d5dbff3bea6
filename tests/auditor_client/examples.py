"""Signed releases and what belongs to them."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

from joserfc.jwk import OKPKey

from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from openapi.resources import (
    Audit,
    AuditRequest,
    BothRelations,
    Content,
    Edges,
    GroupCdf,
    GroupCount,
    GroupHistogram,
    GroupSize,
    Levels,
    Mandate,
    MatchCountRelease,
    MechanismName,
    MostSkewedRelease,
    Price,
    PricePart,
    Quote,
    Released,
    ScoreCdfRelease,
    ScoreHistogramRelease,
    ScoreHistogramRequest,
)
from privacy.content import content_digest
from privacy.receipts import sign

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
AUDIT_ID = "audit_" + "a" * 30
AUDIENCE_ID = "audience_" + "b" * 30
CONTENT_ID = "content_" + "c" * 30
OTHER_ID = "content_" + "e" * 30
MANDATE_ID = "mandate_" + "d" * 30
NAMES = {"g0": "man", "g1": "woman"}


def platform_key() -> OKPKey:
    key = OKPKey.generate_key("Ed25519")
    return OKPKey.import_key({**key.as_dict(private=True), "kid": key.thumbprint()})


def key_set(key: OKPKey) -> dict[str, Any]:
    return {"keys": [key.as_dict(private=False)]}


def content(title: str = "Software engineer", content_id: str = CONTENT_ID) -> Content:
    fields: dict[str, Any] = {"kind": "job", "title": title, "text": "", "attributes": {}}
    name = content_digest(fields)
    return Content(id=content_id, image_digest=None, digest=name, created_at=NOW, **fields)


def part(
    name: str, scale: float = 1.0, mechanism: MechanismName = "discrete-laplace", error: int = 3
) -> PricePart:
    epsilon = Decimal(str(1 / scale))
    gaussian = mechanism == "discrete-gaussian"
    return PricePart(
        name=name,
        mechanism=mechanism,
        scale=scale,
        epsilon=None if gaussian else both(epsilon, 2 * epsilon),
        rho=both(epsilon**2 / 2, 2 * epsilon**2),
        standard_deviation=1.4 * scale,
        error_95=error,
    )


def price_of(*parts: PricePart) -> Price:
    rho = both(
        sum((item.rho.add_remove for item in parts), Decimal(0)),
        sum((item.rho.change_one for item in parts), Decimal(0)),
    )
    paid = [item.epsilon.add_remove for item in parts if item.epsilon is not None]
    if len(paid) < len(parts):
        return Price(epsilon=None, rho=rho, currency="rho", debit=rho.change_one, parts=list(parts))
    total = sum(paid, Decimal(0))
    epsilon = both(total, 2 * total)
    return Price(epsilon=epsilon, rho=rho, currency="epsilon", debit=2 * total, parts=list(parts))


def both(add_remove: Decimal, change_one: Decimal) -> BothRelations:
    return BothRelations(add_remove=add_remove, change_one=change_one)


def price(
    scale: float = 1.0,
    size_scale: float | None = 4.0,
    mechanism: MechanismName = "discrete-laplace",
) -> Price:
    sizes = [part("sizes", size_scale, mechanism)] if size_scale else []
    return price_of(part("bins", scale, mechanism), *sizes)


Made = TypeVar("Made", bound=Released)


def signed(unsigned: Made, key: OKPKey) -> Made:
    statement = unsigned.model_dump(mode="json", exclude={"receipt"})
    return unsigned.model_copy(update={"receipt": sign(statement, key)})


def common(*contents: Content) -> dict[str, Any]:
    return {
        "audit_id": AUDIT_ID,
        "content_digests": [item.digest for item in contents],
        "audience_commitment": "sha256:" + "1" * 64,
        "model_digest": "sha256:" + "2" * 64,
        "rules": ["Several identifiers of one person count as that one person."],
        "released_at": NOW,
        "receipt": "",
    }


def release(
    key: OKPKey,
    counts: dict[str, list[int]],
    *,
    sizes: dict[str, int] | None = None,
    kind: str = "noisy",
    bins: Edges | Levels | None = None,
    title: str = "Software engineer",
    paid: Price | None = None,
) -> ScoreHistogramRelease:
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
    unsigned = ScoreHistogramRelease(
        kind="score-histogram",
        bins=bins or Edges(edges=[step / number for step in range(number + 1)]),
        groups=groups,
        price=paid or price(),
        **common(content(title)),
    )
    return signed(unsigned, key)


def match_count_release(key: OKPKey, counts: dict[str, int]) -> MatchCountRelease:
    groups = [GroupCount(label=label, count=count) for label, count in counts.items()]
    paid = price_of(part("matched"))
    made = MatchCountRelease(kind="match-count", groups=groups, price=paid, **common())
    return signed(made, key)


def cdf_release(key: OKPKey, cumulative: dict[str, list[float]]) -> ScoreCdfRelease:
    number = len(next(iter(cumulative.values()))) - 1
    made = ScoreCdfRelease(
        kind="score-cdf",
        bins=Edges(edges=[step / number for step in range(number + 1)]),
        groups=[GroupCdf(label=label, cumulative=row) for label, row in cumulative.items()],
        price=price_of(part("cdf", mechanism="laplace-tree", error=9)),
        **common(content()),
    )
    return signed(made, key)


def most_skewed_release(
    key: OKPKey, contents: list[Content], chosen: int, chosen_digest: str | None = None
) -> MostSkewedRelease:
    made = MostSkewedRelease(
        kind="most-skewed",
        chosen=chosen,
        chosen_digest=chosen_digest or contents[chosen].digest,
        price=price_of(part("skew", mechanism="report-noisy-max", error=7)),
        **common(*contents),
    )
    return signed(made, key)


def finished(
    counts: dict[str, list[int]],
    names: dict[str, str] | None = None,
    title: str = "Software engineer",
    **options: Any,
) -> ScoreHistogramResult:
    key = platform_key()
    made = release(key, counts, title=title, **options)
    known = NAMES if names is None else names
    return ScoreHistogramResult(made, key_set(key), known, contents=(content(title),))


def audit_of(made: ScoreHistogramRelease, state: str = "released") -> Audit:
    asked = ScoreHistogramRequest(
        content_id=CONTENT_ID,
        audience_id=AUDIENCE_ID,
        bins=made.bins,
        epsilon=Decimal(1),
    )
    return audit_for(asked, made.price, state)


def audit_for(request: AuditRequest, paid: Price, state: str = "released") -> Audit:
    return Audit.model_validate(
        {
            "id": AUDIT_ID,
            "kind": request.kind,
            "state": state,
            "mandate_id": MANDATE_ID,
            "request": request,
            "price": paid,
            "submitted_at": NOW,
        }
    )


def mandate(**fields: Any) -> Mandate:
    """A mandate of 20 epsilon of which half is spent, changed as told."""
    plain: dict[str, Any] = {
        "id": MANDATE_ID,
        "auditor_id": "auditor_" + "f" * 30,
        "purpose": "test",
        "kinds": ["score-histogram"],
        "currency": "epsilon",
        "epsilon_limit": "20",
        "rho_limit": None,
        "renewal": None,
        "lifetime_limit": None,
        "spent": "10",
        "remaining": "10",
        "valid_from": NOW,
        "valid_until": NOW,
        "created_at": NOW,
    }
    return Mandate.model_validate(plain | fields)


def quote(paid: Price) -> Quote:
    return Quote.model_validate(
        {
            "price": paid,
            "mandate_id": MANDATE_ID,
            "remaining_before": "10",
            "remaining_after": "7.5",
            "covered": True,
            "buys": 4,
            "advice": {"mechanism": "discrete-laplace", "why": "the mandate is in epsilon"},
        }
    )
