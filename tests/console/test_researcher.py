"""A researcher's main path in a real browser: plan, upload, price, pay, follow, read, keep."""

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.csv
import pytest
import typer
from playwright.sync_api import Browser, expect

from api.platforms.interfaces import Platform
from auditor_client import Auditor
from auditor_client.cli.app import app
from auditor_client.kinds.analysis import read_receipt
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.local.keys import load_key, new_key, public_jwk
from platform_sim import SimulatedPlatform, recruit
from tests.console.browsing import Watched, watching
from tests.world import Deployment, deployed, sqlite_url

NAMES = {"woman": "Women in tech", "man": "Men in tech"}
TITLE = "Software engineer"


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "ada.jwk"
    new_key(path)
    return path


@pytest.fixture(scope="module")
def ada(sqlite_deployment: Deployment, key_file: Path) -> Auditor:
    """A researcher with a key file and a mandate of epsilon 20."""
    regulator = sqlite_deployment.regulator
    lab = regulator.auditors.add("Open Audit Lab")
    begun = datetime.now(UTC) - timedelta(days=20)
    regulator.mandates.grant(
        lab.id,
        purpose="Discrimination in job ads",
        epsilon_limit="20",
        valid_from=begun,
        valid_until=begun + timedelta(days=90),
    )
    person = regulator.researchers.add(
        name="Ada Byron", auditor_id=lab.id, jwk=public_jwk(load_key(key_file))
    )
    return sqlite_deployment.clients.enter_context(
        Auditor(sqlite_deployment.url, person.id, key_file)
    )


@pytest.fixture(scope="module")
def people(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CSV of volunteers: their e-mail addresses and the names of their groups."""
    assert isinstance(platform.people, SimulatedPlatform)
    volunteers = recruit(platform.people.world, 400, seed=3).to_pylist()
    path = tmp_path_factory.mktemp("people") / "people.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["E-Mail", "gender", "qualified"])
        writer.writerows(
            (row["email"].upper(), NAMES[row["gender"]], row["qualified"]) for row in volunteers
        )
    return path


@pytest.fixture(scope="module")
def at_work(browser: Browser, sqlite_deployment: Deployment, ada: Auditor) -> Iterator[Watched]:
    """Ada's browser, signed in, for all tests of this module."""
    with watching(browser, sqlite_deployment.url) as watched:
        watched.sign_in(ada)
        yield watched


def test_1_plan_before_signing_in(visitor: Watched) -> None:
    page = visitor.open("/plan")
    theorem = page.locator(".cards li", has_text="Theorem 1").locator(".figure")
    # 8/α² · ln(3|A||Y|/δ) = 1556.7 for α = .2, δ = .05, two groups, twenty bins
    expect(theorem).to_have_text("1\u202f557")
    page.locator("#alpha").fill("0.3")
    expect(theorem).to_have_text("692")
    # A step of the slider, by the keyboard, moves the number by what can be seen.
    slider = page.get_by_label("Tolerated gap α, by slider")
    slider.press("ArrowRight")
    expect(page.locator("#alpha")).to_have_value("0.31")
    expect(slider).to_have_attribute("aria-valuetext", "0.31")
    expect(theorem).to_have_text("648")
    page.locator("#epsilon").fill("0.1")
    expect(page.locator(".cards li", has_text="Theorem 1")).to_contain_text("ε above α/2 = 0.155")
    page.locator("#epsilon").fill("1")
    expect(theorem).to_have_text("648")
    visitor.settled()
    visitor.accessible()
    visitor.picture("plan")
    visitor.narrow()


def test_2_upload_content(at_work: Watched) -> None:
    page = at_work.open("/contents")
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Attributes").fill("occupation: software")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("rowheader", name=TITLE)).to_be_visible()
    at_work.settled()
    at_work.accessible()


def test_3_upload_an_audience_without_a_name_or_an_address_leaving(
    at_work: Watched, people: Path, ada: Auditor
) -> None:
    at_work.bodies.clear()
    page = at_work.open("/audiences")
    page.locator("#file").set_input_files(people)
    expect(page.get_by_text("rows read. Nothing was sent.")).to_be_visible()
    page.get_by_label("Column of groups").select_option("gender")
    page.get_by_label("Only rows that are true in").select_option("qualified")
    page.get_by_label("Everybody on the list consented").check()
    page.get_by_role("button", name="Hash, upload and seal").click()
    expect(page.get_by_text(f"{NAMES['woman']}:")).to_be_visible()
    at_work.settled()
    at_work.accessible()
    at_work.picture("audiences")
    sent = b"\n".join(at_work.bodies)
    assert b"email_sha256" in sent
    with people.open() as file:
        addresses = [row["E-Mail"] for row in csv.DictReader(file)]
    for secret in (
        *addresses,
        *(a.lower() for a in addresses),
        *NAMES.values(),
        "in tech",
        "gender",
    ):
        assert secret.encode() not in sent
    [audience] = ada.audiences.list()
    assert audience.wire.state == "sealed"
    assert audience.wire.consented
    assert set(audience.members) == {"g0", "g1"}


def test_4_price_before_pay_then_sign_in_the_browser(
    at_work: Watched, key_file: Path, people: Path
) -> None:
    page = at_work.open("/audits/new")
    page.get_by_label("Bins of scores").fill("10")
    page.get_by_label("Privacy ε").fill("2")
    page.get_by_role("button", name="See the price").click()
    # 2 for the bins and a quarter more for the sizes, twice for a change
    expect(page.get_by_text("5 epsilon is debited", exact=False)).to_be_visible()
    expect(page.get_by_text("20 before, 15 after")).to_be_visible()
    at_work.settled()
    at_work.accessible()
    at_work.picture("price")
    _, audit, run, *arguments = page.locator("pre").last.inner_text().split()
    command = typer.main.get_command(app).get_command(None, audit).get_command(None, run)  # type: ignore[attr-defined]
    assert command.make_context(run, arguments).params["bins"] == "10"
    at_work.bodies.clear()
    page.get_by_label("Your key file").set_input_files(people)
    page.get_by_role("button", name="Pay 5 epsilon and run").click()
    expect(page.get_by_text("This file is not a key")).to_be_visible()
    page.get_by_label("Your key file").set_input_files(key_file)
    page.get_by_role("button", name="Pay 5 epsilon and run").click()
    expect(page.locator(".verdict")).to_be_visible()
    private = json.loads(key_file.read_text())["d"]
    assert private.encode() not in b"\n".join(at_work.bodies)


def test_5_the_result_says_it_in_words_pictures_and_files(
    at_work: Watched, ada: Auditor, tmp_path: Path
) -> None:
    [audit] = ada.audits.list()
    page = at_work.open(f"/audits/{audit.id}")
    gap = ada.audits.get(audit.id).fairness_gap()
    expect(page.locator(".verdict")).to_contain_text(gap.verdict(0.2).capitalize())
    expect(page.get_by_role("heading", level=1)).to_contain_text(NAMES["woman"])
    expect(page.get_by_text("buys 3 more audits like this")).to_be_visible()
    assert page.locator("canvas").count() == 3
    at_work.accessible()
    at_work.picture("result")
    page.emulate_media(color_scheme="dark")
    at_work.accessible()
    at_work.picture("result-dark")
    page.emulate_media(color_scheme="light")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Receipt").click()
    waiting.value.save_as(tmp_path / "receipt.json")
    kept = read_receipt(tmp_path / "receipt.json")
    assert isinstance(kept, ScoreHistogramResult)
    assert set(kept.counts) == set(NAMES.values())
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Report").click()
    waiting.value.save_as(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert audit.id in report
    assert ada.audits.get(audit.id).receipt in report
    assert all(name in report for name in NAMES.values())
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Noisy numbers").click()
    waiting.value.save_as(tmp_path / "data.csv")
    table = pyarrow.csv.read_csv(tmp_path / "data.csv")
    assert set(table["group"].to_pylist()) == set(NAMES.values())
    assert table["count"].to_pylist() == ada.audits.get(audit.id).table()["count"].to_pylist()


def test_6_history_and_budget(at_work: Watched) -> None:
    page = at_work.open("/audits")
    expect(page.locator(".state.released")).to_have_count(1)
    at_work.accessible()
    page = at_work.open("/budget")
    expect(
        page.get_by_text("3 more audits at the price of the last one (5 epsilon each)")
    ).to_be_visible()
    at_work.accessible()
    at_work.picture("budget")


def test_7_what_is_not_signed_by_its_sender_is_not_charged(
    at_work: Watched, ada: Auditor, tmp_path: Path
) -> None:
    """Another's key file, and a form that no script signed."""
    new_key(tmp_path / "mallory.jwk")
    at_work.open("/audits/new")
    page = at_work.page
    page.get_by_role("button", name="See the price").click()
    at_work.settled()
    page.get_by_label("Your key file").set_input_files(tmp_path / "mallory.jwk")
    page.get_by_role("button", name="Pay").click()
    heading = page.get_by_role("heading", name="The statement is not signed by its maker")
    expect(heading).to_be_visible()
    page.go_back()
    at_work.settled()
    page.locator("form[data-sign]").evaluate("form => form.submit()")
    expect(heading).to_be_visible()
    assert len(ada.audits.list()) == 1
    assert ada.budget().mandates[0].spent == 5


def test_8_an_audit_that_waits_is_followed_live_and_can_be_cancelled(
    browser: Browser, platform: Platform, tmp_path: Path
) -> None:
    with deployed(sqlite_url(tmp_path), platform, embedded_worker=False) as idle:
        eve = idle.auditor()
        content = eve.contents.upload(kind="job", title="Welder")
        audience = eve.audiences.sample("gender", {"woman": 30, "man": 30})
        first, second = (
            eve.audits.submit(eve.audits.request(content, audience, bins=4)) for _ in range(2)
        )
        with watching(browser, idle.url) as watched:
            page = watched.sign_in(eve)
            watched.open(f"/audits/{first.id}")
            watched.accessible()
            page.get_by_role("button", name="Cancel and refund").click()
            expect(page.locator(".state")).to_have_text("cancelled")
            watched.open(f"/audits/{second.id}")
            expect(page.locator(".state")).to_have_text("charged")
            # Nobody touches the page: it hears of the release by itself.
            idle.service.worker().run_one()
            expect(page.locator(".verdict")).to_be_visible()
