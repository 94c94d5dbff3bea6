"""A regulator's overview: mandates and spending, refusals and their reasons, unusual events."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from auditor_client.errors import InputError
from auditor_client.oversight.quarter import Quarter
from auditor_client.transport.http_client import Transport
from openapi.resources import (
    Auditor,
    AuditorOverview,
    Charge,
    ExportName,
    Flags,
    MandateOverview,
    Overview,
    Refusal,
    RefusalCounts,
    Researcher,
)

PATH = "/v1/regulator"
# Charges arrive in the order of their identifiers, whose clock is not the ledger's clock.
_SLACK = timedelta(days=1)


@dataclass(frozen=True)
class Dossier:
    """Data of one quarter's report, on one auditor or on all."""

    quarter: Quarter
    overview: Overview
    charges: list[Charge]
    refusals: list[Refusal]
    flags: Flags
    names: dict[str, str]
    url: str
    auditor: AuditorOverview | None = None

    def mandates(self) -> Iterator[tuple[str, MandateOverview]]:
        """Yield each mandate with its name, which includes the auditor if there are several."""
        for auditor in self.overview.auditors:
            whose = "" if self.auditor else f"{auditor.name}: "
            for mandate in auditor.mandates:
                yield whose + mandate.purpose, mandate


class Insight:
    """Figures about mandates, charges, requests and uploads, never about people."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def overview(self, auditor_id: str | None = None) -> Overview:
        return self._transport.get(f"{PATH}/overview", Overview, auditor_id=auditor_id)

    def refusals(
        self,
        auditor_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Iterator[Refusal]:
        params = _about(auditor_id, since, until)
        return self._transport.items(f"{PATH}/refusals", Refusal, **params)

    def refusal_counts(
        self,
        auditor_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> RefusalCounts:
        params = _about(auditor_id, since, until)
        return self._transport.get(f"{PATH}/refusals/counts", RefusalCounts, **params)

    def flags(
        self,
        auditor_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Flags:
        return self._transport.get(f"{PATH}/flags", Flags, **_about(auditor_id, since, until))

    def export(
        self,
        name: ExportName,
        path: str | Path,
        auditor_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Path:
        """Write a table as CSV, or as Parquet if the name ends in .parquet."""
        path = Path(path)
        params = {"format": "parquet" if path.suffix == ".parquet" else "csv"}
        params |= {k: v for k, v in _about(auditor_id, since, until).items() if v is not None}
        part = path.with_name(f".{path.name}.part")
        with part.open("wb") as file:
            for piece in self._transport.pieces(f"{PATH}/exports/{name}", **params):
                file.write(piece)
        return part.replace(path)

    def dossier(self, quarter: Quarter, auditor_id: str | None = None) -> Dossier:
        """Return all data that the report of a quarter shows."""
        overview = self.overview(auditor_id)
        if auditor_id is not None and not overview.auditors:
            raise InputError(f"There is no auditor {auditor_id}.", case="no-such-auditor")
        people = self._transport.items(f"{PATH}/researchers", Researcher)
        names = {person.id: person.name for person in people}
        auditors = self._transport.items(f"{PATH}/auditors", Auditor)
        names |= {auditor.id: auditor.name for auditor in auditors}
        return Dossier(
            quarter=quarter,
            overview=overview,
            charges=list(self._charges(quarter, auditor_id)),
            refusals=list(self.refusals(auditor_id, quarter.since, quarter.until)),
            flags=self.flags(auditor_id, quarter.since, quarter.until),
            names=names,
            url=self._transport.url,
            auditor=overview.auditors[0] if auditor_id else None,
        )

    def _charges(self, quarter: Quarter, auditor_id: str | None) -> Iterator[Charge]:
        """Return the charges of the quarter, newest first."""
        for charge in self._transport.items(f"{PATH}/charges", Charge, auditor_id=auditor_id):
            if charge.charged_at < quarter.since - _SLACK:
                return
            if quarter.since <= charge.charged_at < quarter.until:
                yield charge


def _about(
    auditor_id: str | None, since: datetime | None, until: datetime | None
) -> dict[str, str | None]:
    instants = {"since": since, "until": until}
    for name, instant in instants.items():
        if instant is not None and instant.tzinfo is None:
            raise InputError(f"`{name}` needs a time zone.", case="no-time-zone")
    return {
        "auditor_id": auditor_id,
        **{name: instant.isoformat() if instant else None for name, instant in instants.items()},
    }
