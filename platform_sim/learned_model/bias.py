"""Injected bias: a known disadvantage of a group.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, Appendix C: three forms of the bias b_a of a group a.
The paper has no edges; here the biased score is clipped to the score range, so scores beyond an
edge accumulate in the bin there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.randomness import draw_uniform
from platform_sim.people.demographics import ATTRIBUTES, Demographics


@dataclass(frozen=True)
class Bias:
    """Bias of the scores of people with each value (default: none).

    A random bias is a fair coin per person: heads, the amount is added; tails, nothing. Coins are
    tossed once, so a person's bias is the same in every audit. With `content_kind`, other kinds of
    content have no bias.
    """

    attribute: str
    amounts: Mapping[str, float]
    kind: Literal["additive", "multiplicative", "random"] = "additive"
    content_kind: str | None = None

    def __post_init__(self) -> None:
        if unknown := self.amounts.keys() - set(ATTRIBUTES.get(self.attribute, ())):
            raise ValueError(f"{self.attribute} has no value {', '.join(sorted(unknown))}")

    def apply(
        self,
        scores: NDArray[np.float64],
        persons: NDArray[np.int64],
        who: Demographics,
        seed: int,
    ) -> NDArray[np.float64]:
        """Return the scores R of [IKH23] for the model's scores T, not yet clipped to the range."""
        nothing = 1.0 if self.kind == "multiplicative" else 0.0
        by_code = [self.amounts.get(v, nothing) for v in ATTRIBUTES[self.attribute]]
        amounts = np.array(by_code)[who.codes(self.attribute)[persons]]
        match self.kind:
            case "additive":
                # R(x) = T(x) + b_a   [IKH23, Appendix C, eq. 14]
                biased = scores + amounts
            case "multiplicative":
                # R(x) = T(x) · b_a   [IKH23, Appendix C, eq. 16]
                biased = scores * amounts
            case "random":
                # R(x) = T(x) + B_a, B_a discrete   [IKH23, Appendix C, before eq. 17]
                heads = draw_uniform(seed, "bias", persons) < 0.5
                biased = scores + amounts * heads
        return np.asarray(biased)
