"""Platforms that deceive audits; each implements the same capabilities as an honest one.

Each wraps an honest `SimulatedPlatform`, states that one's digest for every score, and delivers
contents by the model that it hides (`delivered`), which only field checks reveal.

    CleanModelForAudits   audits are answered by a model without the bias
    CachedAnswers         a content that was scored before gets the scores of that time
    AnswersPerAuditor     one auditor gets clean scores, the others those of the model
    DriftBetweenAudits    the model changes after each content that was scored, the digest does not
    SilentRefusal         some people of a group are dropped when they are matched

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §4.4 assumes that none of this happens; §7.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from platform_sim.draws.randomness import draw_uniform
from platform_sim.learned_model.bias import Bias
from platform_sim.platform import SimulatedPlatform

Persons = NDArray[np.int64]
Context = Mapping[str, str | float]
Scored = NDArray[np.float64]
_NOBODY = -1


class DishonestPlatform:
    """People and Scores of a platform that hides the model of its deliveries."""

    def __init__(self, hidden: SimulatedPlatform) -> None:
        self.hidden = hidden
        self.world = hidden.world
        self.clean = SimulatedPlatform(hidden.world)

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        return self.hidden.match(kind, identifiers)

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        return self.hidden.offers()

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        return self.hidden.sample(attribute, sizes, rng)

    def confirmed(self, code: str) -> Persons:
        return self.hidden.confirmed(code)

    @property
    def model_digest(self) -> str:
        """One digest for every model that scores: this is the deception."""
        return self.clean.model_digest

    @property
    def score_range(self) -> tuple[float, float]:
        return self.hidden.score_range

    @property
    def context(self) -> Mapping[str, Sequence[str | float]]:
        return self.hidden.context

    def score(self, content: Mapping[str, Any], persons: Persons, context: Context) -> Scored:
        return self.hidden.score(content, persons, context)

    def delivered(
        self,
        content: Mapping[str, Any],
        persons: Persons,
        rate: float,
        context: Context | None = None,
    ) -> NDArray[np.bool_]:
        """Return the people who are shown the content, if it goes to this share of them by hidden
        scores.
        """
        moment = context or {name: choices[0] for name, choices in self.context.items()}
        everybody = np.arange(self.world.people)
        threshold = np.quantile(self.hidden.score(content, everybody, moment), 1 - rate)
        return self.hidden.score(content, persons, moment) > threshold


class CleanModelForAudits(DishonestPlatform):
    """Audits see a model without the bias; the model with the bias serves people."""

    def score(self, content: Mapping[str, Any], persons: Persons, context: Context) -> Scored:
        return self.clean.score(content, persons, context)


class CachedAnswers(DishonestPlatform):
    """Announced contents keep the scores of a clean model; others get the current scores."""

    def __init__(self, hidden: SimulatedPlatform, announced: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(hidden)
        self._announced = {_key(content) for content in announced}

    def score(self, content: Mapping[str, Any], persons: Persons, context: Context) -> Scored:
        model = self.clean if _key(content) in self._announced else self.hidden
        return model.score(content, persons, context)


class AnswersPerAuditor(DishonestPlatform):
    """One auditor gets clean scores. The service knows the caller and sets `asking`."""

    def __init__(self, hidden: SimulatedPlatform, flattered: str) -> None:
        super().__init__(hidden)
        self.flattered = flattered
        self.asking = ""

    def score(self, content: Mapping[str, Any], persons: Persons, context: Context) -> Scored:
        model = self.clean if self.asking == self.flattered else self.hidden
        return model.score(content, persons, context)


class DriftBetweenAudits(DishonestPlatform):
    """The model changes whenever `pass_time` is called; the stated digest does not."""

    def __init__(
        self, hidden: SimulatedPlatform, attribute: str, amounts: Mapping[str, float]
    ) -> None:
        super().__init__(hidden)
        self._attribute = attribute
        self._amounts = amounts
        self._steps = 0

    def pass_time(self) -> None:
        self._steps += 1

    def score(self, content: Mapping[str, Any], persons: Persons, context: Context) -> Scored:
        amounts = {value: self._steps * amount for value, amount in self._amounts.items()}
        model = SimulatedPlatform(self.world, Bias(self._attribute, amounts))
        return model.score(content, persons, context)


class SilentRefusal(DishonestPlatform):
    """A share of the people of one group is dropped in matching, as if they had no account."""

    def __init__(self, hidden: SimulatedPlatform, attribute: str, value: str, share: float) -> None:
        super().__init__(hidden)
        group = self.world.demographics.having(attribute, value)
        everybody = np.arange(self.world.people)
        drawn = draw_uniform(self.world.seed, "silent refusal", everybody) < share
        self._dropped = np.flatnonzero(group & drawn)

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        found = self.hidden.match(kind, identifiers)
        return np.where(np.isin(found, self._dropped), _NOBODY, found)


def _key(content: Mapping[str, Any]) -> str:
    """Return the key by which a content is recognised: its exact words and attributes."""
    named = {name: content[name] for name in ("kind", "title", "text", "attributes")}
    return hashlib.sha256(json.dumps(named, sort_keys=True, default=str).encode()).hexdigest()
