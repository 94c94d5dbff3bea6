"""The settings that affect people's privacy: what each does, and how far it may go (R7)."""

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
    """A setting of this process, and since when the ledger has it so; none if it says otherwise."""

    name: str
    value: str
    meaning: Meaning
    since: datetime | None
    in_ledger: bool

    @property
    def shown(self) -> str:
        """With its unit, and digits in groups of three."""
        if not self.value.isdecimal():
            return self.value
        return f"{int(self.value):,} {self.meaning.unit}".replace(",", "\u202f")


MEANINGS = {
    "person_lifetime_rho": Meaning(
        "rho",
        "Cap on one person over all audits of all researchers, for life. A person who has"
        " spent it is dropped from audits, which nobody sees.",
        f"at most {PERSON_LIFETIME_RHO}; lower is stricter",
    ),
    "platform_rho": Meaning(
        "rho",
        f"The most that all audits together may cost within {PLATFORM_WINDOW_DAYS} days. Beyond it"
        " requests are refused.",
        f"at most {int(PLATFORM_RHO):,}; lower is stricter",
    ),
    "platform_window_days": Meaning(
        "days", "The window in which that is counted.", "fixed in the code"
    ),
    "members_kept_days": Meaning(
        "days",
        "After so long since their last audit the members of an audience are erased. What they have"
        " borne is kept.",
        "at most 30; shorter is stricter",
    ),
    "upload_kept_hours": Meaning(
        "hours", "After so long an upload that was never sealed is erased.", "at most 168"
    ),
    "max_members": Meaning(
        "people", "The most that an audience may have.", "none; fewer is stricter"
    ),
    "identifiers_per_day": Meaning(
        "identifiers",
        "The most identifiers that one auditor may have matched in a day (UTC). Matching costs no"
        f" budget. A part counts as at least {LEAST_OF_A_PART:,}, each time it is sent.",
        f"at most {IDENTIFIERS_PER_DAY:,}; fewer is stricter",
    ),
    "match_seconds": Meaning(
        "seconds",
        "The fixed part of the public time of matching, the same for every upload.",
        f"at least {MATCH_SECONDS}; longer is stricter",
    ),
    "match_rate": Meaning(
        "identifiers per second",
        "The other part: hashed identifiers for each second of it. A user name counts as 10.",
        f"at most {MATCH_RATE:,}; lower is stricter",
    ),
    "audit_seconds": Meaning(
        "seconds",
        "The earliest time after which an audit is released, whatever it read. 0: as soon as it is"
        " ready, and its duration shows how long the platform needed.",
        "none; longer is stricter, and 0 is none at all",
    ),
    "audit_rate": Meaning(
        "identifiers per second",
        "An audit takes one second more for this number of identifiers, where audit_seconds is"
        " set.",
        "none; lower is stricter",
    ),
    "two_party_candidates": Meaning(
        "people",
        "To how many the platform's people are padded where an audience is hidden, so that their"
        " number stays private. None: hidden audiences are not offered.",
        "at least as many as there are people",
    ),
    "webhook_private_hosts": Meaning(
        "", "For tests alone: webhooks may go to private addresses, without TLS.", "false in use"
    ),
    "console": Meaning("", "Whether there is this console.", "none"),
}


def list_privacy_settings(session: Session, settings: Settings) -> list[PrivacySetting]:
    """All of them, with what the ledger says of those that it keeps."""
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
    """Since when the ledger has had this value, its newest entry first."""
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
