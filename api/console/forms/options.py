"""Options of a researcher's forms: their own uploads, their mandates, and the catalogue."""

from dataclasses import dataclass

from sqlmodel import Session

from api.audiences.queries import list_audiences
from api.audits.queries import list_audits
from api.catalogue.queries import get_catalogue
from api.console.security.current_user import PageRequest
from api.contents.queries import list_contents
from api.mandates.queries import get_budget
from openapi.kinds.parameters import RequestParameter
from openapi.kinds.registry import CONTRACTS
from openapi.resources import Audience, Audit, Catalogue, Content, LogOffer, Mandate

# Number of uploads and audits offered, newest first.
_NEWEST = 100

Options = dict[str, str]


@dataclass(frozen=True)
class Choices:
    """Options for one kind of audit and, if the kind reads a log, one log."""

    catalogue: Catalogue
    contents: list[Content]
    audiences: list[Audience]
    mandates: list[Mandate]
    tests: list[Audit]
    log: LogOffer | None

    def options_of(self, each: RequestParameter) -> Options:
        """Return the options of a parameter; none if it is typed."""
        match each.role:
            case "content" | "contents":
                return {content.id: content.title for content in self.contents}
            case "audience":
                return {audience.id: _people(audience) for audience in self.audiences}
            case "mandate":
                return self._mandates()
            case "audit":
                tests = [test for test in self.tests if test.kind == each.of]
                return {test.id: f"{test.id[-8:]}, {_day(test)}" for test in tests}
            case "column" | "words":
                return {name: name for name in self._among(each.among)}
        return {}

    def _among(self, among: str | None) -> list[str]:
        """Return the columns or categories of the log from which a parameter is chosen."""
        if self.log is None:
            return []
        numbers = [column.name for column in self.log.numbers]
        traffic = self.log.traffic
        known: dict[str, list[str]] = {
            "numbers": numbers,
            "columns": [*numbers, *self.words],
            "creators": traffic.creators if traffic else [],
            "signals": traffic.signals if traffic else [],
            "strategies": self.strategies,
            "days": self.days,
        }
        return known.get(among or "", [])

    @property
    def words(self) -> dict[str, list[str]]:
        """Return the categorical columns of the log, with their categories."""
        return {column.name: column.values for column in self.log.words} if self.log else {}

    @property
    def strategies(self) -> list[str]:
        """Return the measured strategies, without random traffic."""
        traffic = self.log.traffic if self.log else None
        known = self.words.get(traffic.strategy, []) if traffic else []
        return [name for name in known if traffic and name != traffic.random]

    @property
    def days(self) -> list[str]:
        traffic = self.log.traffic if self.log else None
        return self.words.get(traffic.day or "", []) if traffic else []

    def _mandates(self) -> Options:
        chosen = {each.id: f"{each.purpose[:60]} ({each.currency})" for each in self.mandates}
        return {"": "the valid one that ends first", **chosen}


def load_choices(visit: PageRequest, session: Session, kind: str, log: str | None) -> Choices:
    """Return the options for this kind, on this log or the first suitable one."""
    caller = visit.caller
    parts = visit.console.parts
    catalogue = get_catalogue(parts.platform, parts.settings)
    people = list_audiences(session, caller, limit=_NEWEST).items
    mandates = get_budget(session, caller).mandates
    done = list_audits(session, caller, limit=_NEWEST).items
    logs = list_suitable_logs(catalogue, kind)
    return Choices(
        catalogue,
        list_contents(session, caller, limit=_NEWEST).items,
        [each for each in people if each.state == "sealed"],
        [each for each in mandates if each.state == "active"],
        [each for each in done if each.state == "released"],
        next((each for each in logs if log in (None, each.name)), None),
    )


def list_suitable_logs(catalogue: Catalogue, kind: str) -> list[LogOffer]:
    """Return the logs that an audit of this kind can read."""
    reads = CONTRACTS[kind].reads
    if reads == "traffic":
        return [log for log in catalogue.logs if log.traffic and log.traffic.random]
    # A log of recommendations has signals, which are neither scores nor outcomes.
    return [log for log in catalogue.logs if log.traffic is None] if reads == "logs" else []


def needs_local_keys(kind: str) -> bool:
    """Return whether keys and sums of a kind stay with the researcher: no page may hold them."""
    return CONTRACTS[kind].reads == "hidden groups"


def _people(audience: Audience) -> str:
    members = sum(group.members for group in audience.groups)
    agreed = ", agreed" if audience.consented else ""
    return (
        f"{audience.id[-8:]}: {members} people in {len(audience.groups)} groups,"
        f" {audience.created_at:%Y-%m-%d}{agreed}"
    )


def _day(audit: Audit) -> str:
    return f"{audit.submitted_at:%Y-%m-%d}"
