"""The certificate: conclusions from an audit's noisy counts, in plain words."""

from dataclasses import dataclass
from typing import Literal

from auditor_client.envy.decision_rule import DecisionRule, EverybodyRule, SampleRule

Verdict = Literal["envy-free", "not-envy-free", "inconclusive"]


@dataclass(frozen=True)
class EnvyCertificate:
    """Result for all targets: noisy numbers of targets in envy and of targets certified without.

    `certified` and `somebody_envies` may both hold: few people envy by more than `tolerance`, and
    somebody is among them or envies by less. One can be wrong only if the other is right, so the
    verdict is wrong with probability at most delta. The limits hold with 1 - delta each.
    """

    rule: DecisionRule
    tolerance: float
    envious: int
    no_envy: int

    @property
    def uncertified(self) -> int:
        """Number of targets minus the certified ones, with noise: it may be below 0."""
        return self.rule.targets - self.no_envy

    @property
    def certified(self) -> bool:
        """Whether envy-freeness is shown, within the requested tolerances."""
        return self.uncertified <= self.rule.certify_up_to

    @property
    def somebody_envies(self) -> bool:
        """Whether the counts show that somebody prefers another person's recommendations."""
        return self.envious >= self.rule.envy_from

    @property
    def verdict(self) -> Verdict:
        if self.certified:
            return "envy-free"
        return "not-envy-free" if self.somebody_envies else "inconclusive"

    @property
    def share_at_most(self) -> float:
        """Upper limit, at confidence 1 - delta, of the share of people who envy by the
        criterion.
        """
        rule = self.rule
        if isinstance(rule, SampleRule):
            return rule.share_at_most(self.uncertified)
        return self.people_at_most / rule.targets

    @property
    def people_at_most(self) -> int:
        """Return the upper limit, at 1 - delta, of the envious people in an audit of everybody."""
        rule = self.rule
        return rule.people_at_most(self.uncertified) if isinstance(rule, EverybodyRule) else 0

    @property
    def envious_at_least(self) -> int:
        """Return the lower limit, at 1 - delta, of the number of targets who prefer another
        person's recommendations.
        """
        return self.rule.envious_at_least(self.envious)

    def explain(self) -> str:
        """Return the statement, for readers without other information."""
        return " ".join(self.statements())

    def statements(self) -> list[str]:
        """Return the claim, any envy that is also shown, and the confidence of both."""
        parts = [self._claim()]
        if self.somebody_envies:
            least = self.envious_at_least
            parts.append(
                f"At least {least} of the {self.rule.targets} people who were audited"
                f" {'is' if least == 1 else 'are'} envious: somebody else's recommendations serve"
                f" {'this person' if least == 1 else 'them'} better than their own."
            )
        parts.append(
            f"{'Each statement' if len(parts) > 1 else 'This'} is right with probability"
            f" {100 * (1 - self.rule.delta):.3g} % at least: the exploration, the draw of"
            " people and the noise that protects them are counted."
        )
        return parts

    def _claim(self) -> str:
        if self.certified:
            return f"Certified envy-free: {self._what(self._limit())}"
        lead = "Neither envy-freeness nor envy is shown."
        if self.somebody_envies:
            lead = "Not certified envy-free."
        return f"{lead} What is shown is that {self._what(self._limit(seen=True))}"

    def _limit(self, *, seen: bool = False) -> str:
        """Return the upper limit as text: the one asked for, or the one that the counts give."""
        rule = self.rule
        if isinstance(rule, SampleRule):
            return f"at most {_up(self.share_at_most if seen else rule.lam)} of people"
        if seen and self.people_at_most:
            return f"at most {self.people_at_most} of {rule.targets} people"
        return f"none of {rule.targets} people"

    def _what(self, who: str) -> str:
        rule = self.rule
        others = "anybody else"
        if isinstance(rule, SampleRule):
            others = f"more than {rule.gamma:.3g} of the others"
        return (
            f"{who} would gain more than {self.tolerance:.3g} in reward from the recommendations of"
            f" {others}."
        )


def _up(share: float) -> str:
    """Return a percentage that is never rounded down."""
    return f"{-(-share * 1000 // 1) / 10:g} %"
