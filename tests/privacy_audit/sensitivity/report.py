"""The table that the search prints, and its verdict.

`claimed` is what the price assumes; `found` is the largest change in any world that was searched.
`attained` is the share of the price that the worst pair of worlds costs, over all tables together;
`enumerated` is what the enumerated worlds alone attain of it. `worlds` says whether these are all
worlds of the size, up to renaming, or sampled: a part of them that was chosen by hand.
"""

from collections.abc import Iterable, Iterator

from api.operations.sensitivity.compare import RELATIONS
from privacy.tables.bounded_table import Reach
from tests.privacy_audit.sensitivity.search import Result

HEADER = (
    f"{'kind: option':64} {'table':16} {'relation':10} {'L1 claimed / found':>24}"
    f" {'L2² claimed / found':>34} {'L∞ claimed / found':>22} attained enumerated worlds"
)


def rows(result: Result) -> Iterator[str]:
    """One row for each table and relation, then everything that is wrong."""
    name = f"{result.kind}: {result.option}"
    if result.refused:
        yield f"{name:64} refused before it is charged"
    for (table, relation), claimed in result.claimed.items():
        share = float(result.found.losses[relation] / result.price[relation])
        norms = _norms(claimed, result.found.norms[table, relation])
        part = "sampled" if result.sampled else "all"
        shares = f"{share:8.3f} {result.enumerated[relation]:10.3f} {part}"
        yield f"{name:64} {table:16} {relation:10} {norms} {shares}"
    for wrong in result.wrong:
        yield f"{name:64} VIOLATED: {wrong}"


def summary(results: Iterable[Result]) -> str:
    """Return what was searched, and how much of it is tight."""
    results = list(results)
    worlds = sum(result.found.worlds for result in results)
    ran = [result for result in results if not result.refused]
    tight = sum(
        result.found.losses[relation] >= result.price[relation] * (1 - 1e-9)
        for result in ran
        for relation in RELATIONS
    )
    return (
        f"sensitivity: {len(results)} options of {len({each.kind for each in results})} kinds,"
        f" {len(results) - len(ran)} refused, {sum(each.sampled for each in ran)} sampled,"
        f" {worlds} worlds, {tight} of {2 * len(ran)} bounds attained"
    )


def _norms(claimed: Reach, found: Reach) -> str:
    l1 = f"{claimed.l1} / {found.l1}"
    l2 = f"{claimed.l2_squared} / {found.l2_squared}"
    return f"{l1:>24} {l2:>34} {f'{claimed.linf} / {found.linf}':>22}"
