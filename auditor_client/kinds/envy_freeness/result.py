"""Envy-freeness (paper 2): noisy numbers of targets in envy, and of targets certified without
envy.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from auditor_client.kinds.protocol import Result
from auditor_client.stats.noise_distributions import Laplace, Noise
from openapi.kinds import envy_freeness as contract
from openapi.resources import AuditKind, EnvyFreenessRelease, EnvyFreenessRequest

if TYPE_CHECKING:
    from auditor_client.envy import EnvyCertificate

_ASKED = (
    "criterion",
    "bounds",
    "alpha",
    "tolerance",
    "delta",
    "gamma",
    "lam",
    "targets",
    "arms",
    "steps",
    "arms_per_person",
)
# By the exact criterion, the bandits use the whole of the release's delta; noise needs the same
# amount again.
EXACT_SHARE = 2


@dataclass(frozen=True, repr=False)
class EnvyFreenessResult(Result[EnvyFreenessRelease]):
    """Result of an audit by exploration, with its `certificate`."""

    kind: ClassVar[AuditKind] = contract.KIND.name

    @classmethod
    def mismatches(cls, asked: EnvyFreenessRequest, made: EnvyFreenessRelease) -> Iterator[str]:
        yield from (
            name.replace("_", " ") for name in _ASKED if getattr(asked, name) != getattr(made, name)
        )
        if made.level > _level(asked) * (1 + 1e-9):
            yield "level"
        for name in ("duration", "cost"):
            if (getattr(asked, f"{name}_epsilon") == 0) != (getattr(made, name) is None):
                yield name

    @property
    def noise(self) -> Noise:
        """The distribution of the noise on each of the two numbers of targets."""
        return Laplace(1 / self.part("counts").noise_scale)

    @property
    def error_95(self) -> int:
        """Error that each number of targets alone exceeds with a probability of at most 5 %."""
        return self.part("counts").error_95

    def certificate(self, delta: float | None = None) -> "EnvyCertificate":
        """Return the certificate; it is wrong with probability at most delta.

        The default is the release's delta. By the exact criterion of earlier versions it is twice
        that, because the bandits use the whole of the release's delta and the noise needs a share
        too.
        """
        from auditor_client import envy  # SciPy takes a second to import

        made = self.release
        exact = made.criterion == "exact"
        whole = float(made.delta) * (EXACT_SHARE if exact else 1) if delta is None else delta
        terms = (made.targets, made.arms, made.level, whole, self.noise, self.noise)
        if exact or made.gamma is None or made.lam is None:
            rule: envy.DecisionRule = envy.EverybodyRule(*terms)
        else:
            rule = envy.SampleRule(*terms, gamma=float(made.gamma), lam=float(made.lam))
        return envy.EnvyCertificate(rule, float(made.tolerance), made.envious, made.no_envy)

    @property
    def steps_per_target(self) -> float | None:
        """Average steps of a target, with noise; None if the number was not bought."""
        made = self.release
        return None if made.duration is None else made.duration / made.targets

    @property
    def cost_per_target(self) -> float | None:
        """Average reward that a target lost, with noise; negative if people gained."""
        made = self.release
        return None if made.cost is None else made.cost / made.unit / made.targets

    @property
    def loss_at_most(self) -> Decimal:
        """Return the largest possible loss of all targets together, as charged."""
        return self.release.price.exploration_loss

    def table(self) -> pa.Table:
        """Return the noisy numbers of targets in envy and certified without envy, one row each."""
        made, error = self.release, self.error_95
        rows = [
            {"people": "in envy", "count": made.envious, "error_95": error},
            {"people": "certified without envy", "count": made.no_envy, "error_95": error},
        ]
        return pa.Table.from_pylist(rows)

    def numbers(self) -> dict[str, Any]:
        made, found = self.release, self.certificate()
        numbers: dict[str, Any] = {
            "verdict": found.verdict,
            "statement": found.explain(),
            "targets": made.targets,
            "envious": made.envious,
            "no_envy": made.no_envy,
            "error_95": self.error_95,
            "share_at_most": found.share_at_most,
            "loss_at_most": str(self.loss_at_most),
        }
        if self.steps_per_target is not None:
            numbers["steps_per_target"] = self.steps_per_target
            numbers["error_of_steps_95"] = self.part("duration").error_95 / made.targets
        if self.cost_per_target is not None:
            numbers["cost_per_target"] = self.cost_per_target
            numbers["error_of_cost_95"] = self.part("cost").error_95 / made.unit / made.targets
        return numbers


def _level(asked: EnvyFreenessRequest) -> float:
    """Return the level at which each target is to be audited."""
    # δ/M, or OCEF(δ/(3M̃), α, ε)   [DCAU22, §4.5 and Algorithm 2, line 4]
    shares = asked.targets if asked.criterion == "exact" else 3 * asked.targets
    return float(asked.delta) / shares
