"""Forecast of an audit's accuracy, made from public facts before anything is paid."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from openapi.resources import Audience


@dataclass(frozen=True)
class ForecastAudience:
    """Public facts of an audience: the number of people in each group, and their origin.

    For an upload, these are the uploaded people: the number matched is private.
    """

    people: Mapping[str, int]
    groups_per_person: int = 1
    source: str = "upload"
    # Number of identifiers with which a hidden audience is compared.
    candidates: int | None = None

    @classmethod
    def of(cls, audience: Audience, names: Mapping[str, str] | None = None) -> Self:
        """Return the facts of an audience, by name of group if this machine knows the names."""
        known = names or {}
        return cls(
            {known.get(group.label, group.label): group.members for group in audience.groups},
            audience.groups_per_person,
            # Members who confirm themselves come by an upload that has a code for them.
            "confirmed" if audience.participation_code else audience.source,
            audience.candidates,
        )

    @property
    def smallest(self) -> tuple[str, int]:
        """Return the name and the people of the smallest group."""
        if not self.people:
            return "none", 0
        return min(self.people.items(), key=lambda group: group[1])

    @property
    def fixed_size(self) -> bool:
        """Whether an added person displaces another, as in samples and hidden audiences."""
        return self.source in ("sample", "hidden")


@dataclass(frozen=True)
class Forecast:
    """Forecast of an audit: a sentence, whether the audit can answer, and what would be enough.

    `answers` is None if the kind has no verdict. A request whose `answers` is False should be
    refused before it is paid, unless the user insists. `at_any_noise`: no choice of noise helps,
    because these people have reached their lifetime cap, or are too few groups.
    """

    sentence: str
    answers: bool | None = None
    enough: str = ""
    at_any_noise: bool = False

    def __str__(self) -> str:
        return " ".join(filter(None, (self.sentence, self.enough)))
