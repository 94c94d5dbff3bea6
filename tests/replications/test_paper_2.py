"""The bench of paper 2: what it reads, what it says of envy, and where it writes."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from platform_sim.exploration.preferences import make_preferences
from replications.paper_2 import figures, movielens, platforms


def test_ratings_are_read_from_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "recbole.whl"
    lines = ["user_id:token\titem_id:token\trating:float\ttimestamp:float"]
    lines += ["196\t242\t3\t881250949", "186\t302\t2\t891717742", "1\t1682\t5\t874965478"]
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr(movielens.FILE, "\n".join(lines) + "\n")
    found = movielens.read(wheel)
    assert found.shape == (943, 1682)
    assert sorted(zip(*map(list, np.nonzero(found)), strict=True)) == [(0, 1681), (195, 241)]


@pytest.mark.full
def test_envy_rises_and_falls_with_the_factors() -> None:
    rows = platforms.figure_2_rows(platforms.simulated(), (1, 5, 48))
    one, some, many = (row["average envy"] for row in rows[::2])
    assert one == 0 < many < some


def test_newcomers_are_served_worse_than_by_almost_anybody() -> None:
    found = platforms.with_newcomers(make_preferences(1, 100, 120, 12))
    own = np.diagonal(found)
    envious = found.max(axis=1) > own + 0.05
    better = (found > own[:, None]).mean(axis=1)
    assert (better[envious] > 0.5).mean() > 0.4


def test_a_part_replaces_itself_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- shapes -->\nold\n<!-- end of shapes -->\nafter\n")
    monkeypatch.setattr(figures, "PAGE", page)
    figures._put("shapes", "new")
    assert page.read_text() == "before\n<!-- shapes -->\nnew\n<!-- end of shapes -->\nafter\n"


def test_every_part_has_its_place_on_the_page() -> None:
    text = figures.PAGE.read_text(encoding="utf-8")
    for name in figures.PARTS:
        assert text.count(f"<!-- {name} -->") == text.count(f"<!-- end of {name} -->") == 1
