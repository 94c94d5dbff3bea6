"""Growth of times with the number of people, and with the length of ledgers.

A slope is that of seconds over size, both in logarithms, over the last two decades: 1 is linear.
Audits have a second slope, without the seconds of an audit of very few people (signatures, two
ledger entries, noise, three commits), because this constant hides growth. It has no goal: at a
hundred thousand people it is the small difference of two large numbers. An audience consists of
neighbours, the whole platform up to its size. The same people scattered over a larger platform
would make a charge rewrite more blocks of balances. `bench.filling` fills a ledger in bulk; then
the service writes to it and to a short ledger alternately. A ratio of 1 means no loss of speed.
"""

import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from api.app.compose import make_simulated_platform
from api.db import MandateRow
from api.kernel.clock import now
from api.mandates import budgets
from bench import exports
from bench.appends import appended
from bench.filling import fill
from bench.harness import Figure, in_turns, seconds
from bench.hosted import Hosted, hosted
from bench.peers.column import platform

COMMAND = "python -m bench growth"
SIZES = [10**power for power in range(3, 8)]
ROUNDS = 9
NEXT_TO_NOBODY = 100


def run(largest: int = SIZES[-1]) -> list[Figure]:
    sizes = [size for size in SIZES if size <= largest]
    return [*_audits(sizes), _verifications(sizes), *_ledgers(sizes)]


def _slope(
    name: str, sizes: list[int], took: list[float], fixed: float = 0.0, goal: str = "≤ 1.05"
) -> Figure:
    """`ours` is the largest, and `floor_or_peer` what linear growth of two decades would give."""
    # Very small sizes, as in tests, may take no longer.
    first, last = (max(each - fixed, each / 100) for each in (took[-3], took[-1]))
    grown = sizes[-1] / sizes[-3]
    told = (
        f"{name}, {sizes[-3]:,} to {sizes[-1]:,};"
        " compared with linear growth: the ratio is the slope"
    )
    slope = math.log(last / first) / math.log(grown)
    return Figure(told, took[-1], fixed + first * grown, slope, goal, COMMAND)


def _audits(sizes: list[int]) -> list[Figure]:
    """Measure audits of stored scores: the simulated world has no more than five million people."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "scores.npy", np.random.default_rng(0).random(sizes[-1]))
        fixed, *took = _audited(Path(folder), [NEXT_TO_NOBODY, *sizes])
    above = f"audits, above an audit of {NEXT_TO_NOBODY} people"
    return [_slope("audits", sizes, took), _slope(above, sizes, took, fixed, goal="—")]


def _audited(folder: Path, sizes: list[int]) -> list[float]:
    """Return the medians of rounds that measure each size in turn."""
    rng = np.random.default_rng(1)  # who is in which group
    with hosted(folder, platform(str(folder / "scores.npy"))) as host:
        asked = {size: host.sealed(rng.permutation(size))[0] for size in sizes}
        audits = {str(size): partial(host.audit, request) for size, request in asked.items()}
        in_turns(audits, 2)  # balances, and everything that is made once, exist from now on
        return [median(took) for took in in_turns(audits, ROUNDS).values()]


def _verifications(sizes: list[int]) -> Figure:
    """Measure verifications of one export, truncated to each size."""
    with tempfile.TemporaryDirectory() as folder:
        export = exports.write(Path(folder) / "entries.jsonl", sizes, session=100)
        took = [
            median(seconds(lambda: export.verified(size)) for _ in range(_rounds(size)))  # noqa: B023
            for size in sizes
        ]
    return _slope("verification of ledgers", sizes, took)


def _rounds(size: int) -> int:
    """Return the number of rounds: one if a round takes a minute or more."""
    return ROUNDS if size <= 100_000 else 1


def _ledgers(sizes: list[int]) -> list[Figure]:
    """Measure appends and checks of a rolling budget at the first and the last size,
    alternately.
    """
    with _filled(sizes[0]) as short, _filled(sizes[-1]) as long:
        return [
            _as_fast(name, sizes, {"long": partial(work, *long), "short": partial(work, *short)})
            for name, work in (
                ("400 entries appended", _appended),
                ("200 budgets checked", _checked),
            )
        ]


def _as_fast(name: str, sizes: list[int], work: dict[str, Callable[[], None]]) -> Figure:
    """Return the speed on the largest ledger relative to the smallest."""
    took = in_turns(work, ROUNDS)
    told = f"{name} on a ledger of {sizes[-1]:,}; compared with one of {sizes[0]:,}: of its speed"
    figure = Figure.of(told, took["long"], took["short"], "≥ 0.9", COMMAND)
    return replace(figure, ratio=1 / figure.ratio)


@contextmanager
def _filled(size: int) -> Iterator[tuple[Hosted, str]]:
    """Yield a service with a ledger of this size, and the mandate whose budget is checked."""
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), make_simulated_platform(people=1_000)) as host,
    ):
        host.audit(host.sealed(np.arange(400))[0])
        yield host, fill(host, size)


def _appended(host: Hosted, _mandate: str) -> None:
    appended(host, 400)


def _checked(host: Hosted, mandate: str) -> None:
    with host.service.store.read() as session:
        row = session.get_one(MandateRow, mandate)
        for _ in range(200):
            budgets.load_remaining(session, row, now())
            session.expire_all()
