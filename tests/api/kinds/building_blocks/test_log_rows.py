"""Rows from an adapter that is wrong about some people: they are cut, and nobody else."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from api.kinds.building_blocks import log_rows as audited
from api.kinds.building_blocks.log_rows import SelectedRows, Selection, new_secret
from api.kinds.context import in_process_context
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Log, Persons, Platform
from privacy.tables.bounded_table import Bounds, Table
from privacy.tables.membership import Membership
from tests.logs.parquet import opportunities, written

LOG = Log("candidate", {"score": (0.0, 1.0)}, {"week": ("1", "2")})
Columns = dict[str, Any]
Answer = Callable[[Persons, Columns], Any]


class Adapter:
    """Person n has two rows, of scores n / 100 and week 1, unless `answer` has another idea."""

    def __init__(self, answer: Answer = lambda persons, columns: columns) -> None:
        self.answer = answer
        self.calls = 0

    def logs(self) -> Mapping[str, Log]:
        return {"jobs": LOG}

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        assert log == "jobs"
        self.calls += 1
        person = np.repeat(persons, 2)
        found = self.answer(
            persons, {"person": person, "score": person / 100, "week": ["1"] * len(person)}
        )
        if not isinstance(found, dict):
            return found  # type: ignore[no-any-return]
        return [pa.RecordBatch.from_pydict({name: found[name] for name in ("person", *columns)})]


def drawn(adapter: Any, asked: Selection, people: Membership) -> Iterator[tuple[int, SelectedRows]]:
    return audited.draw_rows(adapter, asked, people, new_secret())


def read(
    adapter: Any, people: int = 40, most: int = 2, words: Sequence[str] = ("1", "2")
) -> dict[int, list[float]]:
    """Scores of the rows that were drawn, by person."""
    membership = Membership((np.arange(people),), 1)
    asked = Selection("jobs", ("score",), {"week": words}, most)
    found: dict[int, list[float]] = {}
    for _, rows in drawn(adapter, asked, membership):
        for person, score in zip(rows.person, rows.numbers["score"], strict=True):
            found.setdefault(int(person), []).append(float(score))
    return found


def sound(people: int, without: set[int] = frozenset(), rows: int = 2) -> dict[int, list[float]]:  # type: ignore[assignment]
    return {n: [n / 100] * rows for n in range(people) if n not in without}


def test_a_sound_adapter_is_asked_for_nobody_and_then_once() -> None:
    adapter = Adapter()
    assert read(adapter) == sound(40)
    assert adapter.calls == 2


def test_no_more_rows_than_the_limit() -> None:
    assert read(Adapter(), most=1) == sound(40, rows=1)


@pytest.mark.parametrize("bad", [{0}, {39}, {3, 4, 17}, set(range(40))])
def test_people_who_break_a_call_are_dropped_alone(bad: set[int]) -> None:
    def failing(persons: Persons, columns: Columns) -> Columns:
        if bad.intersection(persons.tolist()):
            raise RuntimeError(f"no log for {persons}")
        return columns

    assert read(Adapter(failing)) == sound(40, bad)


@pytest.mark.parametrize("odd", [None, np.nan, np.inf, -np.inf])
def test_a_row_without_a_number_is_as_if_it_were_not_there(odd: float | None) -> None:
    def answer(persons: Persons, columns: Columns) -> Columns:
        numbers: list[float | None] = columns["score"].tolist()
        where = np.flatnonzero(columns["person"] == 7)
        for place in where[:1]:
            numbers[place] = odd
        return columns | {"score": pa.array(numbers, pa.float64())}

    # Before the draw: the other row of the same person takes its place.
    assert read(Adapter(answer), most=1) == sound(40, rows=1)
    assert read(Adapter(answer)) == {**sound(40), 7: [0.07]}


@pytest.mark.parametrize(("said", "read_as"), [(1e300, 1.0), (-5.0, 0.0)])
def test_a_number_beyond_the_range_is_cut_to_it(said: float, read_as: float) -> None:
    def answer(persons: Persons, columns: Columns) -> Columns:
        return columns | {"score": np.where(columns["person"] == 7, said, columns["score"])}

    assert read(Adapter(answer)) == {**sound(40), 7: [read_as] * 2}


def test_words_that_were_not_asked_for_do_not_count() -> None:
    def answer(persons: Persons, columns: Columns) -> Columns:
        odd: dict[int, str | None] = {3: "2", 4: "never", 5: None, 6: "1"}
        return columns | {"week": pa.array([odd.get(int(n), "1") for n in columns["person"]])}

    assert read(Adapter(answer)) == sound(40, {4, 5})
    assert read(Adapter(answer), words=["1"]) == sound(40, {3, 4, 5})


def test_a_huge_word_of_somebody_puts_nobody_else_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the dictionary with it comes along with the rows of all others."""
    monkeypatch.setattr(audited, "_MOST_BYTES", 10_000)
    week = pa.DictionaryArray.from_arrays(pa.array([0] * 80), ["1", "x" * 20_000])

    def answer(persons: Persons, columns: Columns) -> Columns:
        return columns | {"week": week.slice(0, 2 * len(persons))}

    assert read(Adapter(answer)) == sound(40)


def test_words_may_come_as_a_dictionary() -> None:
    def answer(persons: Persons, columns: Columns) -> Columns:
        words = [None if n == 2 else str(n % 3) for n in columns["person"]]
        return columns | {"week": pa.array(words, pa.string()).dictionary_encode()}

    expected = {n: [n / 100] * 2 for n in range(40) if n % 3 and n != 2}
    assert read(Adapter(answer)) == expected


def test_rows_in_any_order_and_of_strangers() -> None:
    def answer(persons: Persons, columns: Columns) -> Columns:
        person = np.concatenate([columns["person"][::-1], [1_000, -1, 2**62]])
        return {"person": person, "score": person / 100, "week": ["1"] * len(person)}

    assert read(Adapter(answer)) == sound(40)


@pytest.mark.parametrize("odd", [2.5, None, 2**63 + 2])
def test_a_row_of_half_a_person_is_nobodys(odd: float | None) -> None:
    def answer(persons: Persons, columns: Columns) -> Columns:
        kind = pa.uint64() if odd == 2**63 + 2 else pa.float64()
        person = pa.array([odd if n == 7 else n for n in columns["person"].tolist()], kind)
        return columns | {"person": person}

    assert read(Adapter(answer)) == sound(40, {7})


@pytest.mark.parametrize("numbers", [np.int8, np.uint64, np.float32, np.bool_])
def test_numbers_of_any_type(numbers: type[np.generic]) -> None:
    def answer(persons: Persons, columns: Columns) -> Columns:
        return columns | {"score": np.ones(len(columns["person"]), numbers)}

    assert read(Adapter(answer)) == {n: [1.0, 1.0] for n in range(40)}


def quoting(columns: Columns) -> list[str]:
    return ["0.5" if n != 9 else "person 9" for n in columns["person"]]


@pytest.mark.parametrize(
    "answer",
    [
        lambda persons, columns: columns | {"score": quoting(columns)},
        lambda persons, columns: None if 9 in persons else columns,
        lambda persons, columns: [object()] if 9 in persons else columns,
        lambda persons, columns: (
            {name: columns[name] for name in ("person", "week")} if 9 in persons else columns
        ),
        lambda persons, columns: (
            columns | {"person": pa.array([None if n == 9 else n for n in columns["person"]])}
        ),
        lambda persons, columns: (
            columns | {"person": [f"{n}" for n in columns["person"]]} if 9 in persons else columns
        ),
    ],
)
def test_an_answer_of_the_wrong_shape_or_type_is_never_raised(answer: Answer) -> None:
    found = read(Adapter(answer))
    assert found.keys() >= set(range(40)) - {9}


def test_rows_beyond_what_memory_holds_are_read_in_halves_and_rows_without_end_are_nobodys() -> (
    None
):
    many = 2**20
    rows = {"score": np.full(many, 0.5), "week": ["1"] * many}
    stranger = pa.RecordBatch.from_pydict({"person": np.full(many, -1)} | rows)

    def answer(persons: Persons, columns: Columns) -> Any:
        mine = pa.RecordBatch.from_pydict(columns)
        if 7 in persons:
            return itertools.chain([mine], itertools.repeat(stranger))
        return [mine]

    assert read(Adapter(answer)) == sound(40, {7})


def test_a_platform_that_has_no_rows_of_nobody_is_down() -> None:
    def down(persons: Persons, columns: Columns) -> Columns:
        raise ConnectionError("no route")

    with pytest.raises(PlatformDownError) as told:
        read(Adapter(down))
    assert "no route" not in str(told.value)


def test_an_audience_of_nobody_fails_like_any_other() -> None:
    def down(persons: Persons, columns: Columns) -> Columns:
        raise ConnectionError("no route")

    asked = Selection("jobs", ("score",), {}, 1)
    nobody = Membership((np.empty(0, np.int64), np.empty(0, np.int64)), 1)
    sound = Adapter()
    found = [(group, len(rows.person)) for group, rows in drawn(sound, asked, nobody)]
    assert (found, sound.calls) == ([(0, 0), (1, 0)], 2)
    with pytest.raises(PlatformDownError):
        list(drawn(Adapter(down), asked, nobody))


def test_groups_that_lie_among_each_other_have_their_own_rows() -> None:
    asked = Selection("jobs", ("score",), {}, 2)
    among = Membership((np.arange(0, 40, 3), np.arange(1, 60, 3), np.empty(0, np.int64)), 1)
    found = {group: set(rows.person.tolist()) for group, rows in drawn(Adapter(), asked, among)}
    assert found == {0: set(range(0, 40, 3)), 1: set(range(1, 60, 3)), 2: set()}


def test_somebody_in_two_groups_has_the_same_rows_in_both(tmp_path: Path) -> None:
    logs = written(tmp_path, opportunities(np.arange(50), rows_per_person=8))
    both = Membership((np.arange(50), np.arange(50)), 2)
    (_, one), (_, other) = drawn(logs, Selection("jobs", ("score",), {}, 2), both)
    assert one.numbers["score"].tolist() == other.numbers["score"].tolist()


def test_parquet_is_read_for_those_who_were_asked_about(tmp_path: Path) -> None:
    rows = opportunities(np.arange(100), rows_per_person=5)
    some = Membership((np.array([3, 50, 99]),), 1)
    [(_, found)] = drawn(written(tmp_path, rows), Selection("jobs", ("score",), {}, 5), some)
    asked = np.isin(rows["person"], [3, 50, 99])
    assert sorted(found.numbers["score"].tolist()) == sorted(rows["score"][asked].tolist())


# What every table of a log is made of: `tabulated`.

TALLY = Bounds.counts((2, 60), 1)


def tabulated(adapter: Any, groups: tuple[Persons, ...], most: int, k: int = 1) -> Any:
    """Rows by group and person."""
    people: Any = None
    platform = Platform("rows", people, logs=adapter)
    asked = Selection("jobs", ("score",), {}, most)

    def reduce(group: audited.Groups, rows: SelectedRows) -> Table:
        return Table.tally(TALLY, np.asarray(group * 60 + rows.person))

    return audited.tabulate_rows(
        in_process_context(platform), asked, Membership(groups, k), TALLY, reduce
    ).cells


def by_turns(persons: Persons, columns: Columns) -> Columns:
    """The rows of everybody one after the other, five times."""
    person = np.tile(persons, 5)
    return {"person": person, "score": person / 100, "week": ["1"] * len(person)}


@pytest.mark.parametrize("most", [1, 3])
def test_rows_that_do_not_lie_together_are_one_persons_all_the_same(most: int) -> None:
    """A person whose rows come in turns with those of others has no more of them read."""
    groups = np.arange(0, 20), np.arange(20, 35)
    found = tabulated(Adapter(by_turns), groups, most)
    assert found[0, :20].tolist() == [most] * 20
    assert found[1, 20:35].tolist() == [most] * 15
    assert found.sum() == 35 * most


def test_rows_of_strangers_are_in_no_group() -> None:
    """An adapter answers with rows of people who lie among those it was asked about."""

    def of_all(persons: Persons, columns: Columns) -> Columns:
        everybody = np.arange(60 if len(persons) else 0)
        return {"person": everybody, "score": everybody / 100, "week": ["1"] * len(everybody)}

    groups = np.array([1, 5, 40]), np.array([3, 50])
    for k in (1, 2):
        found = tabulated(Adapter(of_all), groups, 2, k)
        assert np.flatnonzero(found[0]).tolist() == [1, 5, 40]
        assert np.flatnonzero(found[1]).tolist() == [3, 50]
        assert found.sum() == 5


def test_somebody_in_two_groups_is_in_the_table_of_both() -> None:
    groups = np.arange(0, 10), np.arange(5, 15)
    found = tabulated(Adapter(), groups, 1, k=2)
    assert np.flatnonzero(found[0]).tolist() == list(range(10))
    assert np.flatnonzero(found[1]).tolist() == list(range(5, 15))
    assert found.max() == 1


def test_every_audit_draws_by_a_secret_of_its_own() -> None:
    """One of five rows of each of 40 people, twice: the same ones once in 5⁴⁰."""

    def numbered(persons: Persons, columns: Columns) -> Columns:
        person = np.repeat(persons, 5)
        score = np.tile(np.arange(5) / 10, len(persons))
        return {"person": person, "score": score, "week": ["1"] * len(person)}

    first, second = (read(Adapter(numbered), most=1) for _ in range(2))
    assert first.keys() == second.keys()
    assert first != second
    assert len({new_secret() for _ in range(20)}) == 20
