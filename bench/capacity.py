"""Capacity of a large platform: `python -m bench.capacity` writes tables.

The tables are those of docs/explanation/performance.md.

Times come from `bench/results.json`, by the name of the figure. Sizes are measured here, on a
service that runs a few audits. Everything else is an assumption, and is marked as one.
"""

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import func, text
from sqlmodel import select

from api.accounting.balance_blocks import BLOCK, pack
from api.app.compose import make_simulated_platform
from api.db import EntryRow, Store
from bench import day
from bench.harness import RESULTS
from bench.hosted import hosted

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "performance.md"
BEGIN, END = "<!-- computed -->", "<!-- /computed -->"

# --- assumptions

PEOPLE = 500_000_000
AUDITORS = 200
AUDITS = 10_000
# People of an audience: most audits use volunteers, a few use whole samples.
SIZES = {2_000: 0.90, 100_000: 0.09, 1_000_000: 0.009, 20_000_000: 0.001}
# Number of audits that use one audience.
AUDITS_PER_AUDIENCE = 4
# The platform's cost per person, in addition to ours: seconds of its model, or rows of a log.
MODELS = {
    "scores, the demo's model": (0.0, 0),
    "scores at 10 µs a person": (10e-6, 0),
    "scores at 100 µs a person": (100e-6, 0),
    "logs of 100 rows a person": (0.0, 100),
}
FLOOD = "scores at 10 µs a person"
CORE_HOUR, GIGABYTE_MONTH = 0.05, 0.10  # euros
KEPT_DAYS = 30  # of members
PATIENCE = 60.0  # seconds that 99 of 100 audits may wait


@dataclass(frozen=True)
class Unit:
    """Unit cost: its figure in the results, and the assumption until that exists."""

    what: str
    pattern: str
    assumed: float

    def value(self, figures: list[dict[str, object]]) -> tuple[float, str]:
        """Return the seconds for one unit, and their source."""
        for figure in figures:
            if match := re.match(self.pattern, str(figure["name"])):
                ours = float(str(figure["ours"]))
                if figure.get("unit") == "audits/s":
                    return 1 / ours, "measured"
                return ours / int(match.group(1).replace(",", "")), "measured"
        return self.assumed, "assumed"


UNITS = {
    "person": Unit(
        "a person of an audit, sealed to released, with the demo's model",
        r"audit of ([\d,]+) people, sealed to released; compared with",
        2.5e-7,
    ),
    "audit": Unit(
        "a small audit over HTTP, all of its requests and commits",
        r"small audits, .*PostgreSQL.*, 1 process; compared with",
        0.02,
    ),
    "identifier": Unit(
        "an identifier, uploaded to sealed",
        r"([\d,]+) identifiers by Arrow, uploaded to sealed",
        1e-6,
    ),
    "row": Unit(
        "a logged row, read to counted",
        r"outcome moments of ([\d,]+) logged rows, 1 a person",
        6e-8,
    ),
    "block": Unit(
        "a person, scattered over 500 M, charged: a block rewritten under the lock",
        r"charge of ([\d,]+) people scattered over",
        7e-5,
    ),
    "entry": Unit("an entry of the ledger", r"([\d,]+) entries appended and signed", 2e-3),
}


@dataclass(frozen=True)
class Sizes:
    """Stored bytes of an audit and its audience: in the database, and the part in the ledger."""

    audit: float
    ledger: float
    balance: float


def measured_sizes(audits: int = 20) -> Sizes:
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), make_simulated_platform(people=5_000)) as host,
    ):
        store, people = host.service.store, np.arange(400, dtype=np.int64)
        host.audit(host.sealed(people)[0])
        before = _stored(store)
        for _ in range(audits):
            host.audit(host.sealed(people)[0])
        after = _stored(store)
    whole, ledger = ((late - early) / audits for early, late in zip(before, after, strict=True))
    # Neighbours with different debits, which cannot be compressed.
    borne = np.random.default_rng(0).integers(0, 10**13, BLOCK)
    return Sizes(whole - 8 * len(people), ledger, len(pack(borne)[0]) / BLOCK)


def _stored(store: Store) -> tuple[int, int]:
    with store.engine.connect() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        size = connection.execute(text("PRAGMA page_size")).scalar_one()
        entries = connection.execute(select(func.sum(func.length(EntryRow.text)))).scalar_one()
    return pages * size, entries


@dataclass(frozen=True)
class Model:
    """Unit costs, and their consequences for the assumed platform."""

    units: dict[str, tuple[float, str]]
    sizes: Sizes

    @classmethod
    def read(cls, results: Path = RESULTS) -> "Model":
        figures = json.loads(results.read_text())
        return cls({name: unit.value(figures) for name, unit in UNITS.items()}, measured_sizes())

    def seconds(self, people: int, model: str) -> float:
        """Return the seconds that a worker needs for one audit."""
        own, rows = MODELS[model]
        person = self.units["person"][0] + own + rows * self.units["row"][0]
        return self.units["audit"][0] + people * person

    def locked(self, people: int) -> float:
        """Return the seconds for which one audit holds the ledger's lock, for its two entries and
        blocks.
        """
        return 2 * self.units["entry"][0] + blocks(people) * self.units["block"][0]

    def jobs(self, model: str, seed: int = 1) -> list[day.Job]:
        rng = np.random.default_rng(seed)
        people = rng.choice(list(SIZES), AUDITS, p=list(SIZES.values()))
        # A few auditors request most audits.
        shares = 1 / np.arange(1, AUDITORS + 1)
        auditors = rng.choice(AUDITORS, AUDITS, p=shares / shares.sum())
        return [
            day.Job(at, int(who), int(many), self.seconds(int(many), model))
            for at, who, many in zip(day.arrivals(AUDITS, rng), auditors, people, strict=True)
        ]

    def workers(self, jobs: list[day.Job], limit: int = 256) -> tuple[int, list[float]]:
        """Return the fewest workers, by doubling, with which 99 of 100 audits wait at most the
        allowed time.
        """
        workers = 2  # one may die
        while True:
            found = sorted(day.waits(jobs, workers).values())
            if found[int(0.99 * len(found))] <= PATIENCE or workers >= limit:
                return workers, found
            workers *= 2


def blocks(people: int) -> int:
    """Return the number of blocks of balances that a charge rewrites, wherever people are (R2)."""
    return min(people, PEOPLE // BLOCK)


def mean(of: Callable[[int], float]) -> float:
    """Return the mean over the sizes of audits."""
    return sum(share * of(size) for size, share in SIZES.items())


def tables(model: Model) -> str:
    return "\n\n".join(
        part(model) for part in (_units, _day, _ceiling, _storage, _money, _fairness)
    )


def _units(model: Model) -> str:
    rows = [
        (unit.what, _seconds(model.units[name][0]), model.units[name][1])
        for name, unit in UNITS.items()
    ]
    rows += [
        ("what an audit leaves in the database", f"{model.sizes.audit:,.0f} bytes", "measured"),
        ("of that in the ledger", f"{model.sizes.ledger:,.0f} bytes", "measured"),
        ("a person's balance, at worst", f"{model.sizes.balance:.1f} bytes", "measured"),
    ]
    return _table(("one", "costs", ""), rows)


def _day(model: Model) -> str:
    rows = []
    for name in MODELS:
        jobs = model.jobs(name)
        busy = sum(job.seconds for job in jobs)
        workers, waits = model.workers(jobs)
        quantiles = [f"{waits[int(q * len(waits))]:.1f} s" for q in (0.5, 0.95, 0.99)]
        rows.append((name, f"{busy / 3600:,.1f}", str(workers), *quantiles, f"{waits[-1]:.0f} s"))
    head = ("what is read", "core-hours a day", "workers", "wait p50", "p95", "p99", "most")
    return _table(head, rows)


def _ceiling(model: Model) -> str:
    """Return the table of the limit from the one lock of charges and releases."""

    def written(people: int) -> float:
        return blocks(people) * BLOCK * model.sizes.balance

    rows = [
        (f"of {people:,} people", _seconds(model.locked(people)), _bytes(written(people)), "")
        for people in SIZES
    ]
    held, whole = AUDITS * mean(model.locked), AUDITS * mean(written)
    rows.append((f"{AUDITS:,} a day", f"{held:,.0f} s", _bytes(whole), f"{held / 86_400:.1%}"))
    head = ("audits", "hold the lock for", "balances rewritten at most", "of the day")
    return _table(head, rows)


def _people_a_day() -> float:
    return AUDITS * mean(float)


def _storage(model: Model) -> str:
    ledger, whole = AUDITS * model.sizes.ledger, AUDITS * model.sizes.audit
    uploaded = _people_a_day() / AUDITS_PER_AUDIENCE
    rows = [
        ("ledger", _bytes(ledger), _bytes(365 * ledger), "for ever"),
        ("audits, charges, releases, proofs", _bytes(whole), _bytes(365 * whole), "for ever"),
        (
            "members of audiences",
            _bytes(8 * uploaded),
            _bytes(8 * uploaded * KEPT_DAYS),
            f"{KEPT_DAYS} days",
        ),
        ("people's balances", "", _bytes(PEOPLE * model.sizes.balance), "for ever"),
    ]
    return _table(("", "a day", "in all after a year", "kept"), rows)


def _money(model: Model) -> str:
    kept = 365 * AUDITS * model.sizes.audit + PEOPLE * model.sizes.balance
    storage = kept / 1e9 * GIGABYTE_MONTH * 12 / 365 / AUDITS
    upload = _people_a_day() / AUDITS_PER_AUDIENCE * model.units["identifier"][0] / 3600 / AUDITS
    charging = mean(model.locked) / 3600
    rows = []
    for name in MODELS:
        jobs = model.jobs(name)
        used = sum(job.seconds for job in jobs) / 3600 / AUDITS + upload + charging
        rented = (model.workers(jobs)[0] + 4) * 24 / AUDITS
        cost = [used * CORE_HOUR, rented * CORE_HOUR + storage]
        rows.append((name, *(f"{1_000 * each:.3f} €" for each in cost)))
    head = ("what is read", "1,000 audits, by cores used", "by cores rented, and storage")
    return _table(head, rows)


def _fairness(model: Model) -> str:
    """Return the table for one auditor who requests two thousand audits of a million people at nine
    o'clock.
    """
    rows = []
    usual, many = model.jobs(FLOOD), 1_000_000
    seconds = model.seconds(many, FLOOD)
    flood = [day.Job(9 * 3600 + n / 1000, AUDITORS, many, seconds) for n in range(2_000)]
    for name, fair in (("in the order of arrival", False), ("auditors take turns", True)):
        found = day.waits(usual + flood, 8, fair=fair)
        others = sorted(wait for job, wait in found.items() if job.auditor != AUDITORS)
        theirs = max(wait for job, wait in found.items() if job.auditor == AUDITORS)
        at = [f"{others[int(q * len(others))]:,.1f} s" for q in (0.5, 0.99)]
        rows.append((name, *at, f"{others[-1]:,.0f} s", f"{theirs:,.0f} s"))
    return _table(("", "others p50", "others p99", "others at most", "the last of the flood"), rows)


def _seconds(duration: float) -> str:
    for unit in ("s", "ms", "µs"):
        if duration >= 1:
            return f"{duration:.3g} {unit}"
        duration *= 1_000
    return f"{duration:.3g} ns"


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(Model.read())}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
