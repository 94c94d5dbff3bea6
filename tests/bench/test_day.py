"""The simulated day against known answers."""

import numpy as np
import pytest

from bench.day import Job, waits
from privacy.tables.membership import BATCH


def test_one_worker_serves_in_the_order_of_arrival() -> None:
    jobs = [Job(at, auditor, 10, 2.0) for at, auditor in ((0.0, 1), (1.0, 2), (1.5, 1), (9.0, 3))]
    assert list(waits(jobs, 1, fair=False).values()) == [0.0, 1.0, 2.5, 0.0]
    assert list(waits(jobs, 2, fair=False).values()) == [0.0, 0.0, 0.5, 0.0]


def test_waits_of_one_worker_are_those_of_pollaczek_and_khinchine() -> None:
    rng = np.random.default_rng(1)
    load, count = 0.7, 40_000
    arrivals = np.cumsum(rng.exponential(1 / load, count))
    jobs = [Job(float(at), 0, 1, 1.0) for at in arrivals]
    # Arrivals by chance and service of one length: W = ρ / (2 (1 − ρ))
    expected = load / (2 * (1 - load))
    assert np.mean(list(waits(jobs, 1, fair=False).values())) == pytest.approx(expected, rel=0.1)


def test_auditors_take_turns_as_workers_have_it() -> None:
    """The order that tests/system/test_turns.py finds in the service."""
    many = [Job(n / 100, 1, 4, 1.0) for n in range(6)]
    few = [Job(0.1 + n / 100, 2, 4, 1.0) for n in range(2)]
    found = waits(many + few, 1)
    served = sorted(found, key=lambda job: job.at + found[job])
    # The first is begun before any other comes; then the auditors take turns, from a tie on.
    assert [job.auditor for job in served] == [1, 1, 2, 1, 2, 1, 1, 1]
    huge = [Job(n / 100, 1, 10 * BATCH, 10.0) for n in range(3)]
    found = waits(huge + few, 1)
    assert max(found[job] for job in few) < min(found[job] for job in huge[1:])


def test_nobody_has_all_workers() -> None:
    flood = [Job(n / 1000, 1, 1, 100.0) for n in range(20)]
    late = Job(1.0, 2, 1, 1.0)
    for workers in (2, 3, 5, 8):
        assert waits([*flood, late], workers)[late] == 0
    assert waits([*flood, late], 1)[late] > 90
    assert waits([*flood, late], 5, fair=False)[late] > 100
