"""Report of a quarter, for a regulator to print: on one auditor, or on all."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from html import escape

from auditor_client.oversight import charts
from auditor_client.oversight.client import Dossier
from auditor_client.reporting.html_page import bullets, figure, page, section, table
from openapi.problems import TABLE
from openapi.resources import Flag, MandateOverview

RESTS_ON = (
    "Amounts are exact. They state the price under the change-one relation, the stricter "
    "of the two relations of differential privacy. A refunded charge is listed but not "
    "counted.",
    "Limits, spent amounts and remaining amounts are those at the time of this report. "
    "Charges, refusals and flags are those of the quarter.",
    "Flags are computed from uploads and charges. This report contains no matches, "
    "scores or balances, and nothing above depends on them.",
    "Two uploads are compared by sketches. A sketch is erased with its audience, at the "
    "latest thirty days after the last release. After that, pairs with this audience are "
    "no longer found.",
)


def render(dossier: Dossier) -> str:
    """Return the whole page."""
    who = dossier.auditor.name if dossier.auditor else "all auditors"
    title = f"Oversight of {who}, {dossier.quarter}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        _glance(dossier),
        section("Mandates", _mandates(dossier)),
        section("Charges", *_charges(dossier)),
        section("Refusals and their reasons", *_refusals(dossier)),
        section("Unusual patterns", *_flags(dossier)),
        section("Basis of this report", bullets(RESTS_ON)),
        section("Verification", _check(dossier)),
    ]
    return page(title, parts)


def _glance(dossier: Dossier) -> str:
    spent = _by_currency(dossier)
    window = dossier.overview.platform
    rows = [
        ("service", dossier.url),
        ("made", f"{dossier.overview.at:%Y-%m-%d %H:%M} UTC"),
        ("auditors", str(len(dossier.overview.auditors))),
        ("audits charged", str(len(dossier.charges))),
        ("charged", _amounts(spent) or "nothing"),
        ("requests refused", str(len(dossier.refusals))),
        ("flags", str(len(dossier.flags.flags))),
        (
            "platform’s account",
            f"{window.spent} of {window.limit} rho spent in the window that ends"
            f" {window.ends:%Y-%m-%d}",
        ),
    ]
    return table("At a glance", ("", ""), rows)


def _mandates(dossier: Dossier) -> str:
    rows = [
        (
            name + ("" if mandate.state == "active" else f" ({mandate.state})"),
            limit_words(mandate),
            f"{mandate.spent:f}",
            f"{mandate.spent_30_days:f}",
            f"{mandate.remaining:f}",
            str(mandate.exhausted_on or "not before it ends"),
            f"{mandate.valid_until:%Y-%m-%d}",
        )
        for name, mandate in dossier.mandates()
    ]
    if not rows:
        return "<p>No mandate was granted.</p>"
    header = (
        "mandate",
        "limit",
        "spent",
        "in 30 days",
        "remains",
        "spent completely, at this rate",
        "ends",
    )
    caption = (
        "Spent share of each limit. For a mandate with renewal, the share is that of the "
        "total that never renews."
    )
    return figure(charts.mandate_chart(dossier), caption) + table("", header, rows, figures=True)


def limit_words(mandate: MandateOverview) -> str:
    """Return the limit with its currency and its renewal."""
    words = f"{mandate.limit:f} {mandate.currency}"
    if mandate.renewal is None:
        return words
    kind = {"rolling": "any", "fixed": "each"}[mandate.renewal.kind]
    return f"{words} in {kind} {mandate.renewal.days} days, {mandate.lifetime_limit:f} in all"


def _charges(dossier: Dossier) -> Iterator[str]:
    if not dossier.charges:
        yield "<p>Nothing was charged in the quarter.</p>"
        return
    for currency in sorted(_by_currency(dossier)):
        yield figure(charts.spending_chart(dossier, currency), f"Charged per week, in {currency}.")
    kinds = Counter(charge.kind for charge in dossier.charges)
    yield table("Audits by kind", ("kind", "audits"), [(k, str(n)) for k, n in kinds.most_common()])
    rows = [
        (
            f"{charge.charged_at:%Y-%m-%d %H:%M}",
            _name(dossier, charge.auditor_id),
            _name(dossier, charge.researcher_id),
            charge.kind,
            f"{charge.debit:f} {charge.currency}" + (" (refunded)" if charge.refunded else ""),
            charge.audit_id,
        )
        for charge in dossier.charges
    ]
    header = ("charged, UTC", "auditor", "asked by", "kind", "debit", "audit")
    yield _details("All charges", table("", header, rows))


def _refusals(dossier: Dossier) -> Iterator[str]:
    if not dossier.refusals:
        yield "<p>No request was refused in the quarter.</p>"
        return
    yield figure(charts.refusal_chart(dossier.refusals), "Refused requests, by reason.")
    codes = Counter(refusal.code for refusal in dossier.refusals)
    reasons = [(code, _meaning(code), str(count)) for code, count in codes.most_common()]
    yield table("Reasons", ("code", "meaning", "requests"), reasons)
    rows = [
        (
            f"{refusal.at:%Y-%m-%d %H:%M}",
            _name(dossier, refusal.auditor_id),
            _name(dossier, refusal.researcher_id),
            refusal.audit_kind,
            refusal.code,
            str(refusal.number),
        )
        for refusal in dossier.refusals
    ]
    header = ("refused, UTC", "auditor", "asked by", "kind", "reason", "ledger entry")
    yield _details("All refusals", table("", header, rows))


def _flags(dossier: Dossier) -> Iterator[str]:
    yield (
        "<p>A flag is a reason to ask a question, not an accusation. Most patterns have "
        "a good reason. The thresholds are public.</p>"
    )
    if not dossier.flags.flags:
        yield "<p>No flag was raised in the quarter.</p>"
    for flag in dossier.flags.flags:
        yield _flag(dossier, flag)


def _flag(dossier: Dossier, flag: Flag) -> str:
    whose = ", ".join(_name(dossier, auditor) for auditor in flag.auditor_ids)
    title = f"{flag.pattern.replace('-', ' ').capitalize()}: {whose}, {flag.at:%Y-%m-%d}"
    rows = [
        (each.name, f"{each.value:f}", "" if each.threshold is None else f"{each.threshold:f}")
        for each in flag.figures
    ]
    about = [*flag.audience_ids, *([flag.mandate_id] if flag.mandate_id else [])]
    return (
        f"<article><h3>{escape(title)}</h3><p>{escape(flag.explanation)}</p>"
        + table("", ("figure", "value", "threshold"), rows)
        + f"<p><small>{escape(', '.join(about))}</small></p></article>"
    )


def _check(dossier: Dossier) -> str:
    who = f" --auditor {dossier.auditor.id}" if dossier.auditor else ""
    return (
        "<p>Every charge and refusal above is an entry of the ledger. You can verify the ledger"
        " offline, with your own copy of the keys. To do so, and to make this report"
        " again:</p>"
        "<pre>pip install platform-auditor\n"
        "auditor ledger export --out ledger.jsonl\n"
        "auditor ledger verify ledger.jsonl --keys keys.json\n"
        f"auditor regulator report {dossier.quarter}{escape(who)}</pre>"
    )


def _by_currency(dossier: Dossier) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for charge in dossier.charges:
        if not charge.refunded:
            found[charge.currency] = found.get(charge.currency, Decimal(0)) + charge.debit
    return found


def _amounts(spent: dict[str, Decimal]) -> str:
    return ", ".join(f"{amount:f} {currency}" for currency, amount in sorted(spent.items()))


def _name(dossier: Dossier, identifier: str | None) -> str:
    return dossier.names.get(identifier or "", identifier or "nobody")


def _meaning(code: str) -> str:
    return TABLE[code][1] if code in TABLE else code


def _details(title: str, inside: str) -> str:
    """Return an open details element, because a printer cannot open it."""
    return f"<details open><summary>{escape(title)}</summary>{inside}</details>"
