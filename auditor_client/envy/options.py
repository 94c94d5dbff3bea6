"""Options of an envy-freeness audit."""

from typing import Literal, TypedDict

from auditor_client.transport.decimals import Number


class EnvyOptions(TypedDict, total=False):
    """Options of an audit of envy, in addition to its audience; `EnvyPlan.asks()` returns most of
    them.
    """

    steps: int
    """Largest number of steps of each target, which is also the length of the audit. Required."""
    tolerance: Number
    """The paper's epsilon: the tolerated advantage of others' recommendations (default: 0.05)."""
    alpha: Number
    """The share of reward that people may lose at every step (default: 0.2)."""
    delta: Number
    """The probability that the certificate is wrong, from all sources together (default: 0.05)."""
    gamma: Number
    """Envy of fewer than this share of others is ignored (default: 0.1)."""
    lam: Number
    """The share of people who may be envious (default: 0.1)."""
    bounds: Literal["tight", "printed"]
    """The shorter audit, or that of the paper, with the same guarantee (default: tight)."""
    targets: int | None
    """People who are audited (default: the number that the noise needs, if enough exist)."""
    arms: int | None
    """Others whose recommendations each target is shown (default: the fewest for gamma)."""
    arms_per_person: int | None
    """Largest number of targets' audits in which one person takes part; the noise covers all of
    them (default: the number that fills them, given the people in the audience)."""
    epsilon: Number
    """Epsilon of the numbers of targets, under add/remove (default: 1)."""
    duration_epsilon: Number | None
    """Epsilon for the sum of steps (default: a quarter of epsilon; 0 for none)."""
    cost_epsilon: Number | None
    """Epsilon for the reward that people lost (default: a quarter of epsilon; 0 for none)."""
    mandate_id: str | None
    """The mandate that pays (default: the one in force that ends first)."""
