"""Groups of people with the same preferences and the same policy, audited as one person each.

A step of a group is a step of any one of its members, and an arm is any member's policy. So a group
of a hundred people shares the steps, and each of them takes a hundredth. This is right only if the
group is homogeneous. Otherwise the certificate is about members drawn at random.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §3.2 (the remark on groups).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from api.kinds.envy_freeness.algorithms.batch import Ints, Rewards
from api.kinds.envy_freeness.algorithms.terms import TermsError


def group_rewards(members: Sequence[Ints], rewards: Rewards, rng: np.random.Generator) -> Rewards:
    """Return rewards of groups, by number, from those of people: one member is drawn on either
    side.
    """
    sizes = np.array([len(group) for group in members])
    if (sizes == 0).any():
        raise TermsError("A group has no members: leave it out.", case="no-members")
    everybody, first = np.concatenate(members), np.cumsum(sizes) - sizes

    def drawn(groups: Ints) -> NDArray[np.int64]:
        within = (rng.random(len(groups)) * sizes[groups]).astype(np.int64)
        return np.asarray(everybody[first[groups] + within])

    def of_groups(targets: Ints, arms: Ints) -> ArrayLike:
        return rewards(drawn(targets), drawn(arms))

    return of_groups
