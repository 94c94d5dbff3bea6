"""Oversight at a glance, over a socket, on both databases: figures, flags, tables, reports."""

import csv
import io
import json
import re
import secrets
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from joserfc.jwk import OKPKey
from sqlmodel import select
from typer.testing import CliRunner

from api.db import SketchRow
from auditor_client import InputError, Regulator, new_key, save_profile
from auditor_client.cli.app import app
from openapi.resources import AuditorOverview, ExportName, Flag
from tests.refusals import refuses
from tests.system.raw import Raw, raw, refused, request_for
from tests.system.scene import Scene, run
from tests.world import Deployment

pytestmark = pytest.mark.long_on_postgresql

PATH = "/v1/regulator"


def lab(deployment: Deployment, epsilon: str = "20", **mandate: Any) -> tuple[str, Raw]:
    """A new auditor's id, and one of its researchers."""
    auditor = deployment.auditor(epsilon, **mandate)
    return auditor.budget().mandates[0].auditor_id, raw(deployment, auditor)


def glance(deployment: Deployment, auditor_id: str) -> AuditorOverview:
    [found] = deployment.regulator.insight.overview(auditor_id).auditors
    return found


def flags_of(deployment: Deployment, auditor_id: str, pattern: str) -> list[Flag]:
    found = deployment.regulator.insight.flags(auditor_id).flags
    return [flag for flag in found if flag.pattern == pattern]


def people(count: int) -> list[str]:
    """User names that nobody else uploads."""
    word = secrets.token_hex(4)
    return [f"{word}{number:06d}" for number in range(count)]


@pytest.fixture(scope="module")
def spender(scene: Scene) -> tuple[str, Raw]:
    """One who has spent 2.5 of 20 on each of three audits, and was refused twice."""
    days: dict[str, Any] = {"valid_from": datetime.now(UTC) - timedelta(days=10)}
    auditor_id, me = lab(
        scene.deployment, **days, valid_until=datetime.now(UTC) + timedelta(days=300)
    )
    body = request_for(me.content(), me.audience({"g0": people(60)}))
    for _ in range(3):
        run(me, body)
    refused(me.submit(body | {"bins": {"edges": [1, 0]}}), "invalid-bins")
    refused(me.submit(body | {"epsilon": "10"}), "epsilon-above-mandate")
    return auditor_id, me


def test_the_overview_tells_who_has_what_and_spends_how_fast(
    scene: Scene, spender: tuple[str, Raw]
) -> None:
    found = glance(scene.deployment, spender[0])
    assert (found.refusals, found.researchers, found.audits) == (2, 1, {"released": 3})
    [mandate] = found.mandates
    assert (mandate.currency, mandate.state, int(mandate.limit)) == ("epsilon", "active", 20)
    assert mandate.spent == mandate.spent_7_days == mandate.spent_30_days == Decimal("7.5")
    assert mandate.remaining == Decimal("12.5")
    assert mandate.audits == {"released": 3}
    # 12.5 is left, and 7.5 was spent in the ten days since it began.
    assert mandate.exhausted_on is not None
    left = mandate.exhausted_on - datetime.now(UTC).date()
    assert left in (timedelta(days=16), timedelta(days=17))


def test_the_overview_has_everybody_and_the_account_of_the_platform(
    scene: Scene, spender: tuple[str, Raw]
) -> None:
    whole = scene.deployment.regulator.insight.overview()
    listed = {auditor.id for auditor in scene.deployment.regulator.auditors.list()}
    assert {auditor.id for auditor in whole.auditors} == listed
    charges = scene.deployment.regulator.charges()
    assert whole.platform.spent == sum(charge.rho.change_one for charge in charges)
    assert whole.platform.remaining == whole.platform.limit - whole.platform.spent
    assert whole.platform.begins <= whole.at < whole.platform.ends
    assert whole.platform.ends - whole.platform.begins == timedelta(days=30)
    nobody = scene.deployment.regulator.insight.overview("auditor_" + "0" * 30)
    assert nobody.auditors == []


def test_a_mandate_nobody_uses_is_not_used_up(scene: Scene) -> None:
    auditor_id, _ = lab(scene.deployment)
    [mandate] = glance(scene.deployment, auditor_id).mandates
    assert mandate.spent == mandate.spent_30_days == 0
    assert mandate.exhausted_on is None


def test_refusals_tell_why_and_are_paged(scene: Scene, spender: tuple[str, Raw]) -> None:
    insight, auditor_id = scene.deployment.regulator.insight, spender[0]
    found = list(insight.refusals(auditor_id))
    assert [each.code for each in found] == ["epsilon-above-mandate", "invalid-bins"]
    assert {each.audit_kind for each in found} == {"score-histogram"}
    assert {each.auditor_id for each in found} == {auditor_id}
    first = scene.regulator.get(
        f"{PATH}/refusals", params={"auditor_id": auditor_id, "limit": 1}
    ).json()
    assert first["next"] == str(found[0].number)
    query = {"auditor_id": auditor_id, "cursor": first["next"]}
    rest = scene.regulator.get(f"{PATH}/refusals", params=query).json()
    assert [item["number"] for item in rest["items"]] == [found[1].number]
    assert rest["next"] is None
    counts = insight.refusal_counts(auditor_id).counts
    assert {(each.code, each.count) for each in counts} == {
        ("epsilon-above-mandate", 1),
        ("invalid-bins", 1),
    }
    before = datetime.now(UTC) - timedelta(days=1)
    assert list(insight.refusals(auditor_id, until=before)) == []
    assert insight.refusal_counts(auditor_id, until=before).counts == []


@pytest.mark.parametrize(
    "query",
    [
        {"since": "2026-01-01T00:00:00"},
        {"since": "soon"},
        {"since": "0001-01-01T00:00:00+14:00"},
        {"until": "9999-12-31T23:59:59-14:00"},
        {"since": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"},
        {"auditor_id": "a" * 65},
    ],
)
def test_a_period_that_cannot_be_asked_for(scene: Scene, query: dict[str, str]) -> None:
    for path in ("refusals", "refusals/counts", "flags", "exports/charges"):
        refused(scene.regulator.get(f"{PATH}/{path}", params=query), "invalid-request")


def test_what_regulators_see_nobody_else_does(scene: Scene) -> None:
    for path in ("overview", "refusals", "refusals/counts", "flags", "exports/charges"):
        for who in (scene.me, scene.operator):
            refused(who.get(f"{PATH}/{path}"), "forbidden")
        assert scene.regulator.get(f"{PATH}/{path}").is_success


def test_many_tiny_audiences_are_flagged_by_what_was_uploaded(scene: Scene) -> None:
    auditor_id, me = lab(scene.deployment)
    for size in (49, 12, 30, 49):
        me.audience({"g0": people(60), "g1": people(size)})
    me.audience({"g0": people(50), "g1": people(50)})
    me.audience({"g0": people(3)}, seal=False)
    assert flags_of(scene.deployment, auditor_id, "tiny-audiences") == []
    last = me.audience({"g0": people(20)})
    [flag] = flags_of(scene.deployment, auditor_id, "tiny-audiences")
    assert [each.value for each in flag.figures] == [5, 12]
    assert [each.threshold for each in flag.figures] == [5, 50]
    assert (len(flag.audience_ids), flag.audience_ids[-1]) == (5, last["id"])
    assert flag.auditor_ids == [auditor_id]
    said = set(re.findall(r"\d+", flag.explanation))
    assert said >= {"5", "12", "50"}
    assert "unknown" in flag.explanation  # how many of the identifiers found somebody


def test_samples_are_neither_tiny_nor_sketched(scene: Scene) -> None:
    auditor = scene.deployment.auditor()
    auditor_id = auditor.budget().mandates[0].auditor_id
    made = [auditor.audiences.sample("gender", {"woman": 5}).id for _ in range(6)]
    assert scene.deployment.regulator.insight.flags(auditor_id).flags == []
    with scene.deployment.service.store.read() as session:
        kept = set(session.exec(select(SketchRow.audience_id)))
    assert kept.isdisjoint(made)


def test_the_same_people_again_are_flagged_however_they_are_cut(scene: Scene) -> None:
    auditor_id, me = lab(scene.deployment)
    names = people(120)
    first = me.audience({"g0": names[:60], "g1": names[60:]})
    me.audience({"g0": people(120)})
    again = me.audience({"g0": [*names[110:], *names[:110], *names[:5]]})
    [flag] = flags_of(scene.deployment, auditor_id, "near-identical-audiences")
    assert flag.audience_ids == [again["id"], first["id"]]
    # So few that the sketch holds all of them: the similarity is exact.
    assert [each.name for each in flag.figures] == ["similarity", "standard error"]
    assert [each.value for each in flag.figures] == [1, 0]
    assert "of the same auditor" in flag.explanation


def test_one_list_uploaded_by_two_auditors_is_flagged_for_both(scene: Scene) -> None:
    one, me = lab(scene.deployment)
    two, other = lab(scene.deployment)
    names = people(3_000)
    first = me.audience({"g0": names})
    second = other.audience({"g0": [*names[:2_970], *people(30)]})
    for auditor_id in (one, two):
        [flag] = flags_of(scene.deployment, auditor_id, "near-identical-audiences")
        assert flag.auditor_ids == [two, one]
        assert flag.audience_ids == [second["id"], first["id"]]
        assert "of another auditor" in flag.explanation
    similarity, error = (each.value for each in flag.figures)
    # 2970 of 3030 are in both: 0.980, with a standard error of at most 0.0119 at 256 hashes. Below
    # 0.9 by chance would be seven standard errors.
    assert abs(similarity - Decimal("0.980")) < Decimal("0.08")
    assert 0 < error < Decimal("0.03")


def test_people_in_common_are_not_yet_the_same_list(scene: Scene) -> None:
    auditor_id, me = lab(scene.deployment)
    names = people(2_000)
    me.audience({"g0": names[:1_500]})
    # A third is in both.
    me.audience({"g0": names[750:]})
    assert flags_of(scene.deployment, auditor_id, "near-identical-audiences") == []


def test_a_sketch_is_erased_with_its_audience(scene: Scene) -> None:
    auditor_id, me = lab(scene.deployment)
    names = people(90)
    first, second = (me.audience({"g0": names}) for _ in range(2))
    assert len(flags_of(scene.deployment, auditor_id, "near-identical-audiences")) == 1
    assert me.call("DELETE", f"/v1/audiences/{first['id']}").status_code == 204
    assert flags_of(scene.deployment, auditor_id, "near-identical-audiences") == []
    with scene.deployment.service.store.read() as session:
        kept = set(session.exec(select(SketchRow.audience_id)))
    assert first["id"] not in kept
    assert second["id"] in kept


def test_a_day_far_above_an_even_pace_is_flagged(scene: Scene) -> None:
    begins = datetime.now(UTC) - timedelta(hours=1)
    days: dict[str, Any] = {"valid_from": begins, "valid_until": begins + timedelta(days=200)}
    auditor_id, me = lab(scene.deployment, epsilon="10", **days)
    body = request_for(me.content(), me.audience({"g0": people(60)}), size_epsilon="0")
    run(me, body | {"epsilon": "0.5"})
    assert flags_of(scene.deployment, auditor_id, "spending-burst") == []
    run(me, body | {"epsilon": "0.5"})
    [flag] = flags_of(scene.deployment, auditor_id, "spending-burst")
    times, share, spent, usual = flag.figures
    assert (spent.value, usual.value) == (Decimal(2), Decimal("0.05"))
    assert (times.value, times.threshold) == (Decimal(40), Decimal(5))
    assert (share.value, share.threshold) == (Decimal("0.2"), Decimal("0.2"))
    assert flag.mandate_id == glance(scene.deployment, auditor_id).mandates[0].id
    assert "at once" in flag.explanation
    assert not any("usual" in figure.name.split(",")[0] for figure in flag.figures)


def test_tables_are_the_same_in_csv_and_parquet(
    scene: Scene, spender: tuple[str, Raw], tmp_path: Path
) -> None:
    insight, auditor_id = scene.deployment.regulator.insight, spender[0]
    sizes: dict[ExportName, int] = {"overview": 1, "charges": 3, "refusals": 2}
    for name, size in sizes.items():
        plain = insight.export(name, tmp_path / f"{name}.csv", auditor_id)
        rows = list(csv.DictReader(io.StringIO(plain.read_text())))
        kept = pq.read_table(insight.export(name, tmp_path / f"{name}.parquet", auditor_id))
        assert len(rows) == len(kept) == size
        assert list(rows[0]) == kept.column_names
        for row, other in zip(rows, kept.to_pylist(), strict=True):
            assert {k: as_text(v) for k, v in other.items()} == row
    charges = scene.deployment.regulator.charges(auditor_id=auditor_id)
    table = pq.read_table(tmp_path / "charges.parquet")
    assert table["id"].to_pylist() == [charge.id for charge in charges]
    assert table["debit"].to_pylist() == [charge.debit for charge in charges]
    assert not list(tmp_path.glob(".*.part"))


def as_text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case Decimal():
            return f"{value.normalize():f}"
        case datetime():
            return value.isoformat()
    return str(value)


def test_a_table_says_its_type_and_may_be_empty(scene: Scene) -> None:
    auditor_id, _ = lab(scene.deployment)
    query = {"auditor_id": auditor_id}
    answer = scene.regulator.get(f"{PATH}/exports/flags", params=query)
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="flags.csv"'
    assert answer.text.count("\n") == 1
    answer = scene.regulator.get(f"{PATH}/exports/flags", params=query | {"format": "parquet"})
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    assert len(pq.read_table(io.BytesIO(answer.content))) == 0
    refused(scene.regulator.get(f"{PATH}/exports/people"), "invalid-request")
    refused(scene.regulator.get(f"{PATH}/exports/flags", params={"format": "x"}), "invalid-request")


def test_a_name_is_not_a_formula(scene: Scene) -> None:
    made = scene.deployment.regulator.auditors.add("=HYPERLINK(1)")
    query = {"auditor_id": made.id}
    answer = scene.regulator.get(f"{PATH}/exports/overview", params=query).text
    [row] = csv.DictReader(io.StringIO(answer))
    assert row["auditor"] == "'=HYPERLINK(1)"
    assert row["mandate_id"] == ""


def this_quarter() -> str:
    now = datetime.now(UTC)
    return f"{now.year}-Q{(now.month + 2) // 3}"


def test_the_report_of_an_auditor_is_one_file_to_print(
    scene: Scene, spender: tuple[str, Raw], tmp_path: Path
) -> None:
    auditor_id, me = spender
    names = people(80)
    for _ in range(2):
        me.audience({"g0": names})
    path = tmp_path / "report.html"
    scene.deployment.regulator.report(path, quarter=this_quarter(), auditor_id=auditor_id)
    page = path.read_text()
    name = glance(scene.deployment, auditor_id).name
    assert f"<h1>Oversight of {name}, {this_quarter()}</h1>" in page
    for charge in scene.deployment.regulator.charges(auditor_id=auditor_id):
        assert charge.audit_id in page
    assert "7.5 epsilon" in page
    assert "invalid-bins" in page
    assert "not an accusation" in page
    assert "Near identical audiences" in page
    assert page.count("<svg") == 3
    assert not re.search(r"<script|https?://(?!127\.0\.0\.1|www\.w3\.org)", page)
    other = scene.auditor_id
    assert other not in page


def test_the_report_of_a_quarter_in_which_nothing_was(scene: Scene, tmp_path: Path) -> None:
    path = scene.deployment.regulator.report(tmp_path / "r.html", quarter="2001-Q1")
    page = path.read_text()
    assert "Oversight of all auditors, 2001-Q1" in page
    assert "Nothing was charged in the quarter." in page
    assert "No request was refused in the quarter." in page
    assert "No flag was raised in the quarter." in page
    with refuses(InputError, "no-such-auditor"):
        scene.deployment.regulator.report(path, quarter="2001-Q1", auditor_id="auditor_" + "0" * 30)
    with pytest.raises(InputError, match="2026-Q4"):
        scene.deployment.regulator.report(path, quarter="2026-Q5")


@pytest.fixture
def profile(scene: Scene, tmp_path: Path) -> str:
    """A regulator who uses the command."""
    key = tmp_path / "regulator.jwk"
    person = scene.deployment.regulator.researchers.add("Rita", role="regulator", jwk=new_key(key))
    save_profile("oversight", scene.deployment.url, person.id, key)
    return "oversight"


def command(*words: str) -> Any:
    done = CliRunner().invoke(app, ["regulator", *words, "-p", "oversight", "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def test_the_command_shows_it_all(
    scene: Scene, spender: tuple[str, Raw], profile: str, tmp_path: Path
) -> None:
    auditor_id = spender[0]
    of = ("--auditor", auditor_id)
    [shown] = command("overview", *of)["auditors"]
    assert (shown["id"], shown["mandates"][0]["spent"]) == (auditor_id, "7.5")
    codes = [each["code"] for each in command("refusals", *of)]
    assert codes == ["epsilon-above-mandate", "invalid-bins"]
    assert [each["count"] for each in command("refusals", *of, "--counts")] == [1, 1]
    assert command("refusals", *of, "--limit", "1") == command("refusals", *of)[:1]
    patterns = {flag["pattern"] for flag in command("flags", *of)}
    assert patterns <= {"near-identical-audiences", "spending-burst"}
    out = tmp_path / "charges.parquet"
    command("export", "charges", "--out", str(out), *of)
    assert len(pq.read_table(out)) == 3
    page = tmp_path / "quarter.html"
    command("report", this_quarter(), *of, "--out", str(page))
    assert "<h1>Oversight of" in page.read_text()
    for words in (["overview"], ["flags", *of], ["refusals"]):
        done = CliRunner().invoke(app, ["regulator", *words, "-p", "oversight"])
        assert done.exit_code == 0, done.output
    done = CliRunner().invoke(
        app, ["regulator", "export", "people", "--out", "x.csv", "-p", "oversight"]
    )
    assert done.exit_code == 1
    assert "is not one of" in done.output


def test_a_regulator_signs_in_as_one(scene: Scene) -> None:
    """The seat of a regulator and that of an auditor are two: neither opens the other's doors."""
    key = OKPKey.generate_key("Ed25519")
    deployment = scene.deployment
    person = deployment.regulator.researchers.add(
        "Rita", role="regulator", jwk=key.as_dict(private=False)
    )
    with Regulator(deployment.url, person.id, key) as regulator:
        assert regulator.insight.overview().auditors
        refused(raw(deployment, regulator).get("/v1/budget"), "forbidden")
