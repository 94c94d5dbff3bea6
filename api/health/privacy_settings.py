"""Settings that affect people's privacy: their effect, and their allowed range (R7)."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlmodel import Session

from api.catalogue.codebook import changelog
from api.kernel.hard_limits import (
    IDENTIFIERS_PER_DAY,
    LEAST_OF_A_PART,
    MATCH_RATE,
    MATCH_SECONDS,
    PERSON_LIFETIME_RHO,
    PLATFORM_RHO,
    PLATFORM_WINDOW_DAYS,
)
from api.kernel.settings import Settings

_CHANGES = 200


@dataclass(frozen=True)
class Meaning:
    unit: str
    does: str
    limit: str


@dataclass(frozen=True)
class PrivacySetting:
    """A setting of this process, with the time of its ledger entry; None if the ledger differs."""

    name: str
    value: str
    meaning: Meaning
    since: datetime | None
    in_ledger: bool

    @property
    def shown(self) -> str:
        """Return the value with its unit, and digits in groups of three."""
        if not self.value.isdecimal():
            return self.value
        return f"{int(self.value):,} {self.meaning.unit}".replace(",", "\u202f")


MEANINGS = {
    "person_lifetime_rho": Meaning(
        "rho",
        "Lifetime cap of one person over all audits of all researchers. A person who has"
        " spent it is dropped from audits, which nobody can see.",
        f"at most {PERSON_LIFETIME_RHO}; lower is stricter",
    ),
    "platform_rho": Meaning(
        "rho",
        f"Limit of all audits together within {PLATFORM_WINDOW_DAYS} days. Above it"
        " requests are refused.",
        f"at most {int(PLATFORM_RHO):,}; lower is stricter",
    ),
    "platform_window_days": Meaning(
        "days", "Window in which the cost of all audits is counted.", "fixed in the code"
    ),
    "members_kept_days": Meaning(
        "days",
        "Days after the last audit of an audience until its members are erased. Their debits"
        " are kept.",
        "at most 30; shorter is stricter",
    ),
    "upload_kept_hours": Meaning(
        "hours", "Hours after which an unsealed upload is erased.", "at most 168"
    ),
    "max_members": Meaning("people", "Maximum size of an audience.", "none; fewer is stricter"),
    "identifiers_per_day": Meaning(
        "identifiers",
        "Identifiers that one auditor may have matched in a day (UTC). Matching costs no"
        f" budget. A part counts as at least {LEAST_OF_A_PART:,}, each time it is sent.",
        f"at most {IDENTIFIERS_PER_DAY:,}; fewer is stricter",
    ),
    "match_seconds": Meaning(
        "seconds",
        "Fixed part of the public time of matching, the same for every upload.",
        f"at least {MATCH_SECONDS}; longer is stricter",
    ),
    "match_rate": Meaning(
        "identifiers per second",
        "Hashed identifiers per second of the other part. A user name counts as 10.",
        f"at most {MATCH_RATE:,}; lower is stricter",
    ),
    "audit_seconds": Meaning(
        "seconds",
        "Minimum time until an audit is released, whatever it read. With 0 it is released when"
        " ready, and its duration shows how long the platform needed.",
        "none; longer is stricter, and 0 sets no minimum",
    ),
    "audit_rate": Meaning(
        "identifiers per second",
        "Identifiers per additional second of the minimum time, if audit_seconds is set.",
        "none; lower is stricter",
    ),
    "two_party_candidates": Meaning(
        "people",
        "Number to which the platform's people are padded for hidden audiences, so that their"
        " number stays private. Without it, hidden audiences are not offered.",
        "at least as many as there are people",
    ),
    "webhook_private_hosts": Meaning(
        "", "For tests only: webhooks may go to private addresses, without TLS.", "false in use"
    ),
    "console": Meaning("", "Whether this console is served.", "none"),
}


def list_privacy_settings(session: Session, settings: Settings) -> list[PrivacySetting]:
    """Return all settings that affect privacy, with the statements of the ledger about them."""
    values: dict[str, Any] = {name: getattr(settings, name, None) for name in MEANINGS}
    values["platform_window_days"] = PLATFORM_WINDOW_DAYS
    written = [
        (change.at, change.facts["values"])
        for change in changelog(session, None, _CHANGES).items
        if change.kind == "settings"
    ]
    return [
        PrivacySetting(name, _said(value), MEANINGS[name], *_kept(name, _said(value), written))
        for name, value in values.items()
    ]


def _kept(
    name: str, said: str, written: list[tuple[datetime, dict[str, Any]]]
) -> tuple[datetime | None, bool]:
    """Return since when the ledger has had this value; its newest entry comes first."""
    since = None
    for at, values in written:
        if name not in values or _said(values[name]) != said:
            break
        since = at
    return since, bool(written) and name in written[0][1]


def _said(value: Any) -> str:
    """Return a value in the form that is compared and shown."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{Decimal(str(value)).normalize():f}"
