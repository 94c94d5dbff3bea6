"""Every kind of audit from a page: asked for as the SDK asks, signed there, read in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from api.console.forms.fields import list_parameters
from api.console.pages.audits import TITLES
from auditor_client import Auditor
from auditor_client.audiences.client import NamedAudience
from auditor_client.kinds.bias_size.result import Corrections
from auditor_client.kinds.forecasts import ForecastAudience
from auditor_client.kinds.outcome_test.result import OutcomeTestResult
from auditor_client.kinds.registry import auditor_kind
from auditor_client.local.keys import load_key, new_key, public_jwk
from openapi.kinds.registry import BUILT_IN
from openapi.resources import REQUEST, AuditKind, Content
from tests.console.browsing import Watched, watching
from tests.world import Deployment

pytestmark = pytest.mark.long

KINDS: tuple[str, ...] = tuple(BUILT_IN)
HERE = tuple(kind for kind in KINDS if kind != "two-party")
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"


@dataclass(frozen=True)
class Lab:
    """A researcher who may ask for everything, and what they have."""

    auditor: Auditor
    key: Path
    contents: list[Content]
    audience: NamedAudience


@pytest.fixture(scope="module")
def lab(sqlite_deployment: Deployment, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    key = tmp_path_factory.mktemp("keys") / "eve.jwk"
    new_key(key)
    regulator = sqlite_deployment.regulator
    made = regulator.auditors.add("Everything Lab")
    regulator.mandates.grant(
        made.id,
        purpose=HOSTILE,
        kinds=KINDS,
        epsilon_limit="500",
        exploration_limit="100000",
        valid_until=datetime.now(UTC) + timedelta(days=9),
    )
    jwk = public_jwk(load_key(key))
    person = regulator.researchers.add(name="Eve", auditor_id=made.id, jwk=jwk)
    auditor = Auditor(sqlite_deployment.url, person.id, key)
    sqlite_deployment.clients.enter_context(auditor)
    titles = ("Welder", HOSTILE, "Nurse")
    return Lab(
        auditor,
        key,
        [auditor.contents.upload(kind="job", title=title) for title in titles],
        auditor.audiences.sample("gender", {"woman": 900, "man": 900}, consented=True),
    )


@pytest.fixture(scope="module")
def at_work(browser: Browser, sqlite_deployment: Deployment, lab: Lab) -> Iterator[Watched]:
    with watching(browser, sqlite_deployment.url) as watched:
        watched.sign_in(lab.auditor)
        yield watched


@pytest.fixture(scope="module")
def test_id(lab: Lab) -> str:
    """A released outcome test, which audits of the size of a bias start from."""
    return lab.auditor.audits.outcome_test(
        lab.audience, "instajob", bins=[0.4, 1], epsilon=10, progress=False
    ).id


@dataclass(frozen=True)
class Asked:
    """The typed fields, in addition to content and audience, and the SDK's equal request."""

    typed: dict[str, Any]
    request: Any


@pytest.fixture(scope="module")
def everything(lab: Lab, test_id: str) -> dict[str, Asked]:
    sdk, people = lab.auditor.audits.requests, lab.audience
    first, second, third = lab.contents
    test = lab.auditor.audits.result(test_id)
    assert isinstance(test, OutcomeTestResult)
    corrections = Corrections.of(test.moments)
    return {
        "score-histogram": Asked(
            {"content_id": first.id, "bins": "12", "epsilon": "4", "context.hour": "21.0"},
            sdk.score_histogram(first, people, bins=12, epsilon=4, context={"hour": 21.0}),
        ),
        "score-cdf": Asked(
            {"content_id": third.id, "bins": "0, 0.25, 1", "epsilon": "8"},
            sdk.score_cdf(third, people, bins=[0, 0.25, 1], epsilon=8),
        ),
        "match-count": Asked({"epsilon": "2"}, sdk.match_count(people, epsilon=2)),
        "most-skewed": Asked(
            {"contents": [second.id, first.id], "bins": "9", "epsilon": "3", "weights": "2, 1"},
            sdk.most_skewed([second, first], people, bins=9, epsilon=3, weights=(2, 1)),
        ),
        "balance-histogram": Asked(
            {"bins": "4", "epsilon": "2"}, sdk.balance_histogram(people, bins=4, epsilon=2)
        ),
        "outcome-test": Asked(
            {"log": "instajob", "bins": "3", "epsilon": "9", "where": "notified: yes"},
            sdk.outcome_test(people, "instajob", bins=3, epsilon=9, where={"notified": ["yes"]}),
        ),
        "log-cdf": Asked(
            {
                "log": "instajob",
                "column": "score",
                "bins": "16",
                "rows_per_person": "2",
                "epsilon": "0.5",
            },
            sdk.log_cdf(people, "instajob", bins=16, epsilon="0.5", rows_per_person=2),
        ),
        "bias-size": Asked(
            {"log": "instajob", "test": test_id, "epsilon": "10", "places": "10"},
            sdk.bias_size(people, "instajob", corrections, places=10, epsilon=10),
        ),
        "reo": Asked(
            {"log": "feed", "creators": "young_adult", "epsilon": "10"},
            sdk.reo(people, "feed", creators="young_adult", epsilon=10),
        ),
        "envy-freeness": Asked(
            {
                "targets": "21",
                "arms": "32",
                "arms_per_person": "2",
                "steps": "200",
                "gamma": "0.2",
                "lam": "0.2",
                "epsilon": "5",
            },
            sdk.envy_freeness(
                people,
                targets=21,
                arms=32,
                arms_per_person=2,
                steps=200,
                gamma="0.2",
                lam="0.2",
                epsilon=5,
            ),
        ),
    }


@pytest.mark.parametrize("kind", HERE)
def test_what_a_page_asks_for_is_what_the_sdk_asks_for(
    at_work: Watched, lab: Lab, everything: dict[str, Asked], kind: AuditKind
) -> None:
    """By the form alone: filled in a real browser, and read back from what would be signed."""
    asked = everything[kind]
    log = f"&log={asked.typed['log']}" if "log" in asked.typed else ""
    page = at_work.open(f"/audits/new?kind={kind}{log}")
    page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    page.locator("[name=audience_id]").select_option(lab.audience.id)
    for name, value in asked.typed.items():
        place = page.locator(f"form [name='{name}']")
        if isinstance(value, list):
            for each in value:
                page.locator(f"form [name='{name}'][value='{each}']").check()
        elif place.evaluate_all("all => all[0]?.tagName") == "SELECT":
            place.select_option(value)
        elif name != "log":
            place.fill(value)
    if kind == "reo":
        page.locator("details").first.evaluate("each => { each.open = false; }")
        page.evaluate("scrollTo(0, 0)")
        at_work.picture("new-audit")
    page.get_by_role("button", name="See the price").click()
    expect(page.get_by_role("heading", name="The price")).to_be_visible()
    signed = page.locator("form[data-sign] [name=request]").input_value()
    assert REQUEST.validate_json(signed) == asked.request
    command = page.locator("#price > pre code").inner_text()
    assert command.startswith(f"auditor audit {kind} ")
    assert lab.audience.id in command
    # The page knows no names of groups.
    people = ForecastAudience.of(lab.audience.wire)
    told = auditor_kind(kind).forecast(asked.request, people, lab.auditor.catalogue())
    expect(page.locator("#price")).to_contain_text(told.sentence)
    expect(page.locator("#price")).to_contain_text(told.enough)


def test_every_kind_is_paid_for_run_and_read_in_words(
    at_work: Watched, lab: Lab, everything: dict[str, Asked], test_id: str
) -> None:
    """Two are signed in the browser; the pages of all can be read, and hold their charts."""
    page = at_work.page
    submitted = {"outcome-test": test_id}
    for kind, asked in everything.items():
        if kind in ("most-skewed", "reo"):
            typed = urlencode(
                {"kind": kind, "audience_id": lab.audience.id, **asked.typed}, doseq=True
            )
            more = "&signals=like_video&strategies=default" if kind == "reo" else ""
            at_work.open(f"/audits/new?{typed}{more}")
            at_work.accessible()
            page.get_by_label("Your key file").set_input_files(lab.key)
            page.get_by_role("button", name="Pay").click()
            expect(page.locator(".verdict")).to_be_visible()
            submitted[kind] = page.url.rpartition("/")[2]
        elif kind not in submitted:
            submitted[kind] = lab.auditor.audits.submit(asked.request).id
    for kind, audit_id in submitted.items():
        page.goto(f"{at_work.url}/console/audits/{audit_id}")
        expect(page.locator(".verdict")).to_be_visible()
        at_work.settled()
        if kind in ("outcome-test", "reo"):  # all are made of one template
            at_work.accessible()
        assert page.locator("img").count() == 0, kind
        assert page.locator("[data-chart]").count() >= 1, kind
        if kind == "outcome-test":
            at_work.picture("result-outcome")
        at_work.narrow()
        page.set_viewport_size({"width": 1000, "height": 800})


def test_what_cannot_be_asked_here_is_said_with_the_form_kept(at_work: Watched, lab: Lab) -> None:
    page = at_work.open("/audits/new?kind=two-party")
    expect(page.locator(".note")).to_contain_text("Use the SDK")
    assert page.get_by_role("button", name="See the price").count() == 0
    typed = {"kind": "score-cdf", "content_id": lab.contents[0].id, "audience_id": lab.audience.id}
    for bins, words in (("0.5, 0.1", "increase"), ("many", "not a list of numbers")):
        at_work.open(f"/audits/new?{urlencode({**typed, 'bins': bins, 'epsilon': '1'})}")
        expect(page.get_by_role("alert")).to_contain_text(words)
        expect(page.get_by_role("alert")).to_contain_text("Nothing was spent")
        expect(page.get_by_label("Bins of scores")).to_have_value(bins)
    at_work.open(f"/audits/new?{urlencode({**typed, 'bins': HOSTILE, 'epsilon': HOSTILE})}")
    expect(page.get_by_label("Privacy ε")).to_have_value(HOSTILE)
    assert page.locator("img").count() == 0
    assert "owned" not in page.title()


def test_every_field_of_every_kind_has_words() -> None:
    """A field that a contract gains later is seen here, not by the first who opens the form."""
    for kind in HERE:
        assert all(each.title and each.help for each in list_parameters(kind)), kind
    assert set(TITLES) == set(KINDS)
