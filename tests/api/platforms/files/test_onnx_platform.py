"""A platform made of files scores as the program does from which they were written."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from onnx import TensorProto, helper, save

from api.app.compose import export_platform_files
from api.kinds.building_blocks.scoring import score_isolating_failures
from api.platforms.files.people_table import PeopleTable, TableError
from api.platforms.http import OnnxPlatform
from api.platforms.interfaces import Platform
from platform_sim import SOFTWARE_JOB
from tests.api.platforms.http.adapters import NOON, there
from tests.refusals import refuses

SOME = np.random.default_rng(5).permutation(6_000)[:5_000]


@pytest.fixture(scope="module")
def files(biased_platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return export_platform_files(biased_platform, tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def loaded(files: dict[str, Any]) -> OnnxPlatform:
    return OnnxPlatform.load(**files)


@pytest.mark.parametrize("kind", ["job", "news"])
def test_scores_are_those_of_the_program(
    loaded: OnnxPlatform, biased_platform: Platform, kind: str
) -> None:
    """In the last bits they may differ: products are summed in another order."""
    content = {**SOFTWARE_JOB, "kind": kind}
    found = there(loaded.scores).score(content, SOME, NOON)
    assert found == pytest.approx(there(biased_platform.scores).score(content, SOME, NOON), 1e-12)
    assert there(loaded.scores).score_range == (0.0, 1.0)
    assert there(loaded.scores).context == there(biased_platform.scores).context


def test_nobodys_score_depends_on_who_else_is_scored(loaded: OnnxPlatform) -> None:
    scores = there(loaded.scores)
    together = scores.score(SOFTWARE_JOB, SOME, NOON)
    backwards = scores.score(SOFTWARE_JOB, SOME[::-1], NOON)[::-1]
    alone = [scores.score(SOFTWARE_JOB, SOME[i : i + 1], NOON)[0] for i in range(60)]
    assert np.array_equal(together, backwards)
    assert np.array_equal(together[:60], alone)
    assert len(scores.score(SOFTWARE_JOB, SOME[:0], NOON)) == 0


def test_strangers_have_no_score(loaded: OnnxPlatform) -> None:
    found = there(loaded.scores).score(SOFTWARE_JOB, np.array([3, 10**12, 4]), NOON)
    assert list(np.isnan(found)) == [False, True, False]


def test_unreadable_content_fails_for_everybody(loaded: OnnxPlatform) -> None:
    for persons in (SOME[:0], SOME[:3]):
        with pytest.raises(ValueError, match="hour"):
            there(loaded.scores).score(SOFTWARE_JOB, persons, {"hour": 25.0, "device": "phone"})


def test_the_digest_is_that_of_the_files(files: dict[str, Any], loaded: OnnxPlatform) -> None:
    paths = [files["model"], files["reader_files"]["stems"]]
    each = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths]
    listed = "".join(f"{digest}\n" for digest in each).encode()
    assert there(loaded.scores).model_digest == f"sha256:{hashlib.sha256(listed).hexdigest()}"


@pytest.mark.parametrize("kind", ["username", "email_sha256", "phone_sha256"])
def test_people_are_matched_as_by_the_program(
    loaded: OnnxPlatform, biased_platform: Platform, kind: str
) -> None:
    held = there(biased_platform.directory).held(kind)[1][:200]
    if kind == "username":
        held = pa.array([f" @{name.upper()}" for name in held.to_pylist()] + ["nobody_here"])
    expected = biased_platform.people.match(kind, held)
    assert np.array_equal(loaded.people.match(kind, held), expected)
    assert np.count_nonzero(expected >= 0) == 200


def test_samples_are_of_those_who_declared_it(
    loaded: OnnxPlatform, biased_platform: Platform
) -> None:
    sizes = {"woman": 50, "man": 40}
    ours, theirs = (
        each.people.sample("gender_software", sizes, np.random.default_rng(3))
        for each in (loaded, biased_platform)
    )
    assert all(np.array_equal(ours[value], theirs[value]) for value in sizes)
    assert loaded.people.offers() == biased_platform.people.offers()


def test_a_model_in_single_precision_that_reads_no_words(tmp_path: Path) -> None:
    """Inputs about people are columns; the others are the context's, by name."""
    age = helper.make_tensor_value_info("age", TensorProto.FLOAT, ["people"])
    hour = helper.make_tensor_value_info("hour", TensorProto.DOUBLE, [1])
    score = helper.make_tensor_value_info("score", TensorProto.FLOAT, ["people"])
    nodes = [
        helper.make_node("Cast", ["hour"], ["hour_32"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["age", "hour_32"], ["score"]),
    ]
    graph = helper.make_graph(nodes, "tiny", [age, hour], [score])
    opsets = [helper.make_opsetid("", 18)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "m.onnx")
    people = pa.table({"person": [9, 4], "age": [0.25, None], "codes": [["a", "b"], ["b"]]})
    pq.write_table(people, tmp_path / "p.parquet")
    tiny = OnnxPlatform.load(
        model=tmp_path / "m.onnx",
        people=tmp_path / "p.parquet",
        inputs={"age": ["age"]},
        score_range=(0, 1),
        context={"hour": (2.0, 3.0)},
    )
    found = there(tiny.scores).score(SOFTWARE_JOB, np.array([9, 4, 5]), {"hour": 3.0})
    assert np.array_equal(found, [0.75, np.nan, np.nan], equal_nan=True)
    assert list(tiny.people.confirmed("b")) == [4, 9]
    assert list(tiny.people.confirmed("a")) == [9]
    assert list(tiny.people.match("phone_sha256", pa.array([b"0" * 32]))) == [-1]


def test_a_model_that_fails_on_the_first_person_is_down_for_nobody_else(tmp_path: Path) -> None:
    """It looks up a band of ages, and there is none for person 4."""
    band = helper.make_tensor_value_info("band", TensorProto.INT64, ["people"])
    score = helper.make_tensor_value_info("score", TensorProto.FLOAT, ["people"])
    known = helper.make_tensor("known", TensorProto.FLOAT, [3], [0.25, 0.5, 0.75])
    nodes = [helper.make_node("Gather", ["known", "band"], ["score"])]
    graph = helper.make_graph(nodes, "bands", [band], [score], [known])
    opsets = [helper.make_opsetid("", 18)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "m.onnx")
    pq.write_table(pa.table({"person": [4, 5, 6], "band": [99, 1, 2]}), tmp_path / "p.parquet")
    scores = there(
        OnnxPlatform.load(
            model=tmp_path / "m.onnx",
            people=tmp_path / "p.parquet",
            inputs={"band": ["band"]},
            score_range=(0, 1),
        ).scores
    )
    assert len(scores.score(SOFTWARE_JOB, np.empty(0, np.int64), {})) == 0
    found = score_isolating_failures(scores, SOFTWARE_JOB, np.array([4, 5, 6]), {})
    assert np.array_equal(found, [np.nan, 0.5, 0.75], equal_nan=True)


def test_a_table_of_nobody_is_served(tmp_path: Path, files: dict[str, Any]) -> None:
    people = pq.read_table(files["people"]).slice(0, 0)
    pq.write_table(people, tmp_path / "p.parquet")
    nobody = OnnxPlatform.load(**(files | {"people": tmp_path / "p.parquet", "offers": {}}))
    assert np.isnan(there(nobody.scores).score(SOFTWARE_JOB, np.array([3]), NOON)).all()


def test_names_in_other_scripts_are_folded_and_all_others_found(tmp_path: Path) -> None:
    names = ["Ada", None, "STRASSE", "Großmann", "ΣΊΣΥΦΟΣ"]
    people = pa.table({"person": np.arange(5), "username": names})
    pq.write_table(people, tmp_path / "people.parquet")
    table = PeopleTable(tmp_path / "people.parquet", {})
    asked = pa.array(["@ada", "straße", "grossmann", "σίσυφος", "nobody", None])
    assert table.match("username", asked).tolist() == [0, 2, 3, 4, -1, -1]


@pytest.mark.parametrize(
    ("columns", "offers", "case"),
    [
        ({"name": ["a"]}, {}, "no-column-of-persons"),
        ({"person": [1, 1]}, {}, "malformed-persons"),
        ({"person": [-1, 1]}, {}, "malformed-persons"),
        ({"person": [1, None]}, {}, "missing-persons"),
        ({"person": [1, 2], "username": ["Ada", "@ada"]}, {}, "shared-identifier"),
        ({"person": [1, 2], "race": ["a", "b"]}, {"race": {"a": 2}}, "too-large-an-offer"),
        ({"person": [1, 2]}, {"race": {"a": 2}}, "no-column-of-the-offer"),
    ],
)
def test_a_table_that_cannot_be_served_is_refused_with_what_to_mend(
    tmp_path: Path, columns: dict[str, Any], offers: dict[str, Any], case: str
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    with refuses(TableError, case):
        PeopleTable(tmp_path / "people.parquet", offers).held("username")
