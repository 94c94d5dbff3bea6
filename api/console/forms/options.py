"""Options of a researcher's forms: their own uploads, their mandates, and the catalogue."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from sqlmodel import Session

from api.audiences.queries import list_audiences
from api.audits.queries import list_audits
from api.catalogue.queries import get_catalogue
from api.console.security.current_user import PageRequest
from api.contents.queries import list_contents
from api.mandates.queries import get_budget
from openapi.resources import Audience, Audit, Catalogue, Content, LogOffer, Mandate

# Number of uploads and audits offered, newest first.
_NEWEST = 100
OF_LOGS = ("outcome-test", "log-cdf", "bias-size", "reo")
# Its keys and its sums must stay with the researcher: a page of the platform's cannot hold them.
ELSEWHERE = ("two-party",)

Options = dict[str, str]


@dataclass(frozen=True)
class Choices:
    """For one kind of audit and, where the kind is of one, one log."""

    catalogue: Catalogue
    contents: list[Content]
    audiences: list[Audience]
    mandates: list[Mandate]
    tests: list[Audit]
    log: LogOffer | None

    @cached_property
    def named(self) -> Mapping[str, Callable[[], Options]]:
        """The options of a field, by its name; fields that are not here are written."""
        return {
            "content_id": self._contents,
            "contents": self._contents,
            "audience_id": lambda: {each.id: _people(each) for each in self.audiences},
            "mandate_id": self._mandates,
            "test": lambda: {each.id: f"{each.id[-8:]}, {_day(each)}" for each in self.tests},
            "score": self._numbers,
            "outcome": self._numbers,
            "column": self._numbers,
            "query": lambda: self._numbers() | dict.fromkeys(self.words, ""),
            "creators": lambda: dict.fromkeys(self._traffic("creators"), ""),
            "signals": lambda: dict.fromkeys(self._traffic("signals"), ""),
            "strategies": lambda: dict.fromkeys(self.strategies, ""),
            "days": lambda: dict.fromkeys(self.days, ""),
        }

    @property
    def words(self) -> dict[str, list[str]]:
        """The columns of words of the log, and what is in them."""
        return {column.name: column.values for column in self.log.words} if self.log else {}

    @property
    def strategies(self) -> list[str]:
        """Those that are measured, by random traffic."""
        traffic = self.log.traffic if self.log else None
        known = self.words.get(traffic.strategy, []) if traffic else []
        return [name for name in known if traffic and name != traffic.random]

    @property
    def days(self) -> list[str]:
        traffic = self.log.traffic if self.log else None
        return self.words.get(traffic.day or "", []) if traffic else []

    def span(self, column: str | None) -> tuple[float, float]:
        """The public range of a column of the log, or of the platform's scores."""
        for found in self.log.numbers if self.log else ():
            if found.name == column:
                return found.low, found.high
        return self.catalogue.score_range.low, self.catalogue.score_range.high

    def _contents(self) -> Options:
        return {each.id: each.title for each in self.contents}

    def _mandates(self) -> Options:
        chosen = {each.id: f"{each.purpose[:60]} ({each.currency})" for each in self.mandates}
        return {"": "the one in force that ends first", **chosen}

    def _numbers(self) -> Options:
        return dict.fromkeys((column.name for column in self.log.numbers), "") if self.log else {}

    def _traffic(self, name: str) -> list[str]:
        found: list[str] = getattr(self.log.traffic, name) if self.log and self.log.traffic else []
        return found


def load_choices(visit: PageRequest, session: Session, kind: str, log: str | None) -> Choices:
    """Return the options for this kind, on this log or the first that suits."""
    caller = visit.caller
    parts = visit.console.parts
    catalogue = get_catalogue(parts.platform, parts.settings)
    people = list_audiences(session, caller, limit=_NEWEST).items
    mandates = get_budget(session, caller).mandates
    done = list_audits(session, caller, limit=_NEWEST).items
    logs = suitable(catalogue, kind)
    return Choices(
        catalogue,
        list_contents(session, caller, limit=_NEWEST).items,
        [each for each in people if each.state == "sealed"],
        [each for each in mandates if each.state == "active"],
        [each for each in done if each.kind == "outcome-test" and each.state == "released"],
        next((each for each in logs if log in (None, each.name)), None),
    )


def suitable(catalogue: Catalogue, kind: str) -> list[LogOffer]:
    """The logs that a kind can be asked of."""
    if kind == "reo":
        return [log for log in catalogue.logs if log.traffic and log.traffic.random]
    # A log of recommendations has signals, which are neither scores nor outcomes.
    return [log for log in catalogue.logs if log.traffic is None] if kind in OF_LOGS else []


def _people(audience: Audience) -> str:
    members = sum(group.members for group in audience.groups)
    agreed = ", agreed" if audience.consented else ""
    return (
        f"{audience.id[-8:]}: {members} people in {len(audience.groups)} groups,"
        f" {audience.created_at:%Y-%m-%d}{agreed}"
    )


def _day(audit: Audit) -> str:
    return f"{audit.submitted_at:%Y-%m-%d}"
