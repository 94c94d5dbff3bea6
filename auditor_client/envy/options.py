"""Options of an envy-freeness audit."""

from typing import Literal, TypedDict

from auditor_client.transport.decimals import Number


class EnvyOptions(TypedDict, total=False):
    """Options of an audit of envy, in addition to its audience; `EnvyPlan.asks()` returns most of
    them.
    """

    steps: int
    """The most steps of each target, and how long the audit lasts. It must be given."""
    tolerance: Number
    """The paper's epsilon: by how much others' recommendations may suit better (0.05)."""
    alpha: Number
    """The share of reward that people may lose meanwhile, at every step (0.2)."""
    delta: Number
    """The probability that the certificate is wrong, all sources together (0.05)."""
    gamma: Number
    """Envy of fewer than this share of others does not count (0.1)."""
    lam: Number
    """The share of people who may be envious (0.1)."""
    bounds: Literal["tight", "printed"]
    """The shorter audit, or that of the paper, with the same promise (tight)."""
    targets: int | None
    """People who are audited (default: as many as the noise needs, if there are enough people)."""
    arms: int | None
    """Others whose recommendations each is shown (default: the fewest for gamma)."""
    arms_per_person: int | None
    """In how many targets' audits one person takes part at most, all of which the noise covers
    (default: as often as it takes to fill them, by the number of people in the audience)."""
    epsilon: Number
    """Of the numbers of targets, under add/remove (1)."""
    duration_epsilon: Number | None
    """Buys the sum of steps (default: a quarter of epsilon; 0 for none)."""
    cost_epsilon: Number | None
    """Buys the reward that people lost (default: a quarter of epsilon; 0 for none)."""
    mandate_id: str | None
    """The mandate that pays, where there are several."""
