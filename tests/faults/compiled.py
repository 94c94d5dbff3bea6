"""Imported by the server of forks: each of them finds the steps of audits of envy compiled."""

import numpy as np

from api.kinds.envy_freeness.algorithms import Terms, make_fleet

_fleet = make_fleet(Terms(0.1, 0.1, 0.5, bounds="tight", ceiling=200), 3, 4)
while len(_fleet.people):
    _arms = _fleet.ask(np.zeros(len(_fleet.people)))
    _fleet.tell(np.arange(len(_arms) * _fleet.block) % 2)
