"""A regulator's main path in a real browser: decide, look, verify, suspend, stop, report."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from api.console.pages.ledger import KINDS
from api.ledger import key_rotation
from api.platforms.interfaces import Platform
from auditor_client import Auditor
from auditor_client.ledger import verify_file
from openapi.resources import Personal
from platform_sim import World
from privacy.ledger.notes import Checkpoint, Note, sign_checkpoint
from tests.console.browsing import PICTURES, Watched, watching
from tests.exploring import ByNumber, asked, consenting_sample, exploring_auditor
from tests.system.raw import raw, request_for, usernames
from tests.system.test_ledger import trust_of
from tests.vetting import Applying, applying, new_key
from tests.world import Deployment, deployed, sqlite_url

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">{{ 7 * 7 }}"
DOCS = Path(__file__).parents[2] / "docs"
TEXTS = {
    "systemic_risk": "Non-discrimination (DSA, Article 34(1)(b)): job ads may reach women less.",
    "research": "Compare how relevant a job ad is found for women and for men.",
    "necessity": "Scores are not public. Noisy histograms are enough.",
    "funding": "A public research grant.",
    "independence": "Nobody of us has a commercial interest in the outcome.",
    "data_protection": "Members are hashed before upload; what comes back is noisy.",
}
PAGES = (
    "/regulator/applications",
    "/regulator/auditors",
    "/regulator/running",
    "/regulator/ledger",
    "/regulator/ledger/heads",
    "/regulator/spending",
    "/regulator/flags",
    "/regulator/report",
)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    """A platform on which audits of envy can be made; its jobs are run when a test says so."""
    url = sqlite_url(tmp_path_factory.mktemp("regulator"))
    policies = ByNumber(step_seconds=0.1)
    with deployed(url, replace(platform, policies=policies), embedded_worker=False) as running:
        yield running


@pytest.fixture(scope="module")
def key_file(service: Deployment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "regulator.jwk"
    path.write_text(json.dumps(service.regulator._key.as_dict(private=True)))
    return path


@pytest.fixture(scope="module")
def lab(service: Deployment) -> Applying:
    """An application of two people that waits for its decision."""
    texts: dict[str, Any] = {name: Personal.fresh(text) for name, text in TEXTS.items()}
    return applying(service, others=1, **texts)


@pytest.fixture(scope="module")
def mallory(service: Deployment) -> Applying:
    """An application whose every text is written to do harm."""
    texts: dict[str, Any] = {name: Personal.fresh(HOSTILE) for name in TEXTS}
    return applying(service, organisation=HOSTILE, purpose=HOSTILE, attributes=[HOSTILE], **texts)


@pytest.fixture(scope="module")
def spender(service: Deployment, world: World) -> Auditor:
    """A researcher of an auditor that has spent something, and was refused once."""
    begun = datetime.now(UTC) - timedelta(days=20)
    watch = service.regulator.auditors.add("Housing Watch")
    service.regulator.mandates.grant(
        watch.id,
        purpose="Housing ads by neighbourhood",
        epsilon_limit="20",
        valid_from=begun,
        valid_until=begun + timedelta(days=90),
    )
    auditor = service.researcher(watch.id)
    me = raw(service, auditor)
    names = usernames(world, 120)
    audience = me.audience({"g0": names[:60], "g1": names[60:]})
    body = request_for(me.content(), audience)
    for _ in range(2):
        assert me.submit(body).is_success
        service.service.worker().run_one()
    assert not me.submit(body | {"epsilon": "10"}).is_success
    return auditor


@pytest.fixture(scope="module")
def office(
    browser: Browser, service: Deployment, lab: Applying, spender: Auditor
) -> Iterator[Watched]:
    """The regulator's browser, signed in, for all tests of this module."""
    with watching(browser, service.url) as watched:
        watched.sign_in(service.regulator)
        yield watched


def sign(page: Page, key_file: Path, button: str) -> None:
    page.get_by_label("Your key file").set_input_files(key_file)
    page.get_by_role("button", name=button).click()


def reads_well(office: Watched, picture: str | None = None) -> None:
    """By axe-core in the light and in the dark, and at 360 px; a picture for the docs, if named."""
    page = office.page
    if picture:
        office.picture(picture)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        office.accessible()
    page.emulate_media(color_scheme="light")
    office.narrow()
    page.set_viewport_size({"width": 1000, "height": 800})


def test_1_one_comes_in_to_what_is_to_be_decided(office: Watched, lab: Applying) -> None:
    page = office.page
    assert page.url.endswith("/console/regulator/applications")
    row = page.get_by_role("row", name="Open Audit Lab").first
    expect(row).to_contain_text("regulator: decide on the application")
    expect(row).to_contain_text("days left")
    reads_well(office, "applications")
    page.get_by_role("link", name="Open Audit Lab").first.click()
    office.settled()
    expect(page.get_by_text(TEXTS["systemic_risk"])).to_be_visible()
    expect(page.get_by_role("row", name="Ada Lovelace")).to_contain_text("ada@lab")


def test_2_approve_less_than_was_asked_for_by_ones_own_signature(
    office: Watched, lab: Applying, key_file: Path, service: Deployment
) -> None:
    page = office.open(f"/regulator/applications/{lab.id}")
    page.get_by_text("Approve with a mandate").click()
    reads_well(office)
    page.get_by_label("Limit, in epsilon").fill("30")
    page.locator("details[open]").get_by_label("Reasons").fill("All conditions are met.")
    page.get_by_role("button", name="Read and sign").first.click()
    office.settled()
    sign(page, key_file, "Sign: approve")
    expect(page.get_by_text("The grant exceeds the application in")).to_be_visible()

    page = office.open(f"/regulator/applications/{lab.id}")
    page.get_by_text("Approve with a mandate").click()
    page.get_by_label("Limit, in epsilon").fill("12.5")
    page.get_by_label("match-count").uncheck()
    page.get_by_label("Grace 0").uncheck()
    page.locator("details[open]").get_by_label("Reasons").fill("All conditions are met.\nLess ε.")
    page.get_by_role("button", name="Read and sign").first.click()
    office.settled()
    expect(page.locator("dl.facts")).to_contain_text("12.5 epsilon")
    reads_well(office, "sign")
    command = page.locator("pre").last.inner_text()
    assert f"auditor regulator decide {lab.id} approve --epsilon 12.5" in command
    office.bodies.clear()
    sign(page, key_file, "Sign: approve")
    expect(page.locator(".state").first).to_have_text("approved")
    assert json.loads(key_file.read_text())["d"].encode() not in b"\n".join(office.bodies)

    made = lab.again()
    [mandate] = [each for each in service.regulator.mandates.list() if each.id == made.mandate_id]
    assert (str(mandate.epsilon_limit), mandate.kinds) == ("12.5", ["score-histogram"])
    assert mandate.researcher_ids == [made.individuals[0].researcher_id]
    assert made.history[-1].text == "All conditions are met.\nLess ε."


def test_3_an_application_that_was_exchanged_on_the_way_is_not_approved(
    office: Watched, mallory: Applying, key_file: Path
) -> None:
    """The page carries what is approved, and the browser compares it with what it signs."""
    page = office.open(f"/regulator/applications/{mallory.id}")
    page.get_by_text("Approve with a mandate").click()
    page.locator("details[open]").get_by_label("Reasons").fill("Good.")
    page.get_by_role("button", name="Read and sign").first.click()
    office.settled()
    page.evaluate(
        """() => { const read = document.querySelector("script[data-read]");
          read.textContent = read.textContent.replace("score-histogram", "two-party"); }"""
    )
    sign(page, key_file, "Sign: approve")
    expect(page.get_by_role("alert")).to_contain_text("not the one that would be approved")
    assert mallory.again().state == "submitted"


def test_4_ask_extend_refuse(office: Watched, mallory: Applying, key_file: Path) -> None:
    later = datetime.now(UTC) + timedelta(days=300)
    for title, button, state in (
        ("Extend the deadline", "Sign: extend", "submitted"),
        ("Ask for changes", "Sign: ask for changes", "changes-requested"),
        ("Refuse", "Sign: refuse", "refused"),
    ):
        page = office.open(f"/regulator/applications/{mallory.id}")
        page.get_by_text(title, exact=True).click()
        form = page.locator("details[open]")
        if title.startswith("Extend"):
            form.get_by_label("To the end of").fill(f"{later:%Y-%m-%d}")
        form.get_by_label("Reasons").fill(f"{title}: {HOSTILE}")
        form.get_by_role("button").click()
        office.settled()
        office.accessible()
        sign(page, key_file, button)
        expect(page.locator(".history li").last).to_contain_text(f"{title}: {HOSTILE}")
        expect(page.locator(".state").first).to_have_text(state)
    assert page.title() != "owned"


def test_5_auditors_and_mandates_then_suspend_and_lift(
    office: Watched, lab: Applying, key_file: Path, service: Deployment
) -> None:
    page = office.open("/regulator/auditors")
    expect(page.get_by_role("row", name="Housing ads")).to_contain_text("5 epsilon")
    reads_well(office)
    page.get_by_role("link", name="Housing ads by neighbourhood").click()
    office.settled()
    expect(page.locator("dl.facts")).to_contain_text("everybody of the auditor")
    reads_well(office, "mandate")
    page = office.open("/regulator/auditors")
    page.get_by_role("link", name="Open Audit Lab").click()
    office.settled()
    expect(page.get_by_role("row", name="Grace 0")).to_be_visible()
    office.accessible()
    office.narrow()
    page.set_viewport_size({"width": 1000, "height": 800})
    page.get_by_role("link", name="Discrimination in job ads").click()
    for title, button, state in (
        ("Suspend", "Sign: suspend", "suspended"),
        ("Lift the suspension", "Sign: lift", "active"),
    ):
        office.settled()
        page.get_by_text(title, exact=True).click()
        page.locator("details[open]").get_by_label("Reason").fill("Conditions may not be met.")
        page.locator("details[open]").get_by_role("button").click()
        office.settled()
        office.accessible()
        sign(page, key_file, button)
        expect(page.locator(".state").first).to_have_text(state)
    history = page.locator(".history li")
    expect(history).to_have_count(3)
    expect(history.last).to_contain_text("resumption by")
    mandate_id = lab.again().mandate_id
    made = [each for each in service.regulator.ledger.entries() if each.kind == "suspension"]
    assert [each.statement and each.statement.body["mandate_id"] for each in made] == [mandate_id]


def test_6_the_ledger_is_searched_and_each_entry_proved_here(
    office: Watched, lab: Applying, service: Deployment
) -> None:
    service.service.checkpointer().once()
    page = office.open("/regulator/ledger")
    expect(page.locator("[data-ledger] h2")).to_have_text("Verified in this browser")
    expect(page.locator("[data-ledger]")).to_contain_text("for the first time")
    reads_well(office)
    page.get_by_label("Kind", exact=True).select_option("decision")
    page.get_by_label("Search").fill(lab.id)
    page.get_by_role("button", name="Show").click()
    office.settled()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("approve")
    expect(page.locator("[data-ledger]")).to_contain_text("It is the checkpoint that this browser")
    service.regulator.auditors.add("Another Lab")
    service.service.checkpointer().once()
    rows.get_by_role("link").click()
    office.settled()
    expect(page.locator("[data-ledger] h2")).to_have_text("Verified in this browser")
    expect(page.locator("[data-ledger]")).to_contain_text("byte for byte")
    expect(page.locator("[data-ledger]")).to_contain_text("It continues the checkpoint of")
    expect(page.locator("[data-entry]")).to_contain_text(lab.id)
    reads_well(office, "entry")
    page = office.open("/regulator/ledger?since=2000-01-01&until=2000-12-31&kind=charge")
    expect(page.get_by_text("No entry matches")).to_be_visible()
    page = office.open("/regulator/ledger?q=0")
    expect(page.locator("tbody tr")).to_have_count(1)


def test_7_witnesses_and_a_new_key_are_seen(office: Watched, service: Deployment) -> None:
    page = office.open("/regulator/ledger/heads")
    expect(page.locator("[data-ledger]")).to_contain_text("No witness has cosigned it yet")
    service.regulator.ledger.cosign(trust_of(service))
    page = office.open("/regulator/ledger/heads")
    expect(page.locator("[data-ledger]")).to_contain_text(
        f"cosigned by the witness {service.regulator.researcher_id}"
    )
    first = page.locator("[data-note]").first
    expect(first).to_have_text("good")
    reads_well(office)
    # A new key, which the old one hands on: this browser knows only the old one.
    known = page.evaluate("JSON.parse(localStorage['platform-auditor/ledger']).keys")
    operated = service.service
    key_rotation.rotate(operated.store, operated.auth.keys, operated.origin, service.operator_id)
    service.regulator.auditors.add("Later Lab")
    operated.checkpointer().once()
    page = office.open("/regulator/ledger")
    expect(page.locator("[data-ledger] h2")).to_have_text("Verified in this browser")
    now_known = page.evaluate("JSON.parse(localStorage['platform-auditor/ledger']).keys")
    assert now_known[: len(known)] == known
    assert len(now_known) == len(known) + 1


def forged(service: Deployment, found: dict[str, Any]) -> None:
    """Everything as it should be, by a key that nobody handed on."""
    text = Note.parse(found["checkpoint"]).text
    rogue = new_key()
    head = Checkpoint.parse(text)
    found["checkpoint"] = sign_checkpoint(head, [(head.origin, rogue)])
    found["handovers"] = []


def older(service: Deployment, found: dict[str, Any]) -> None:
    found["checkpoint"] = list(_heads(service))[-1]


def _heads(service: Deployment) -> Iterator[str]:
    answer = raw(service, service.regulator).get("/v1/ledger/checkpoints").json()
    return (each["note"] for each in answer["items"])


def other_root(service: Deployment, found: dict[str, Any]) -> None:
    """The platform's own signature, of a head with another past."""
    head = Checkpoint.parse(Note.parse(found["checkpoint"]).text)
    signer = service.service.auth.keys.current("ledger")
    rewritten = Checkpoint(head.origin, head.size + 1, bytes(32))
    found["checkpoint"] = sign_checkpoint(rewritten, [(head.origin, signer)])


@pytest.mark.parametrize(
    ("alter", "told"),
    [
        (forged, "no trusted key of the ledger signed"),
        (older, "had"),
        (other_root, "does not begin with the tree of"),
    ],
    ids=["another key", "an older head", "another past"],
)
def test_8_a_ledger_that_was_rewritten_is_refused(
    office: Watched,
    service: Deployment,
    alter: Callable[[Deployment, dict[str, Any]], None],
    told: str,
) -> None:
    office.open("/regulator/ledger")

    def tamper(route: Route) -> None:
        found = route.fetch().json()
        alter(service, found)
        route.fulfill(json=found)

    def lie(route: Route) -> None:
        """Whatever is asked for: a proof of the right form."""
        route.fulfill(json={"old": 1, "new": 2, "path": [43 * "A" + "="] * 4})

    memory = office.page.evaluate("localStorage['platform-auditor/ledger']")
    office.page.route("**/head.json", tamper)
    office.page.route("**/consistency.json*", lie)
    page = office.open("/regulator/ledger")
    expect(page.locator("[data-ledger] h2")).to_have_text("Refused: do not rely on this page")
    expect(page.locator("[data-ledger]")).to_contain_text(told)
    office.accessible()
    office.picture("refused")
    # What is remembered stays: the next honest visit is good again, the next lie is found again.
    assert page.evaluate("localStorage['platform-auditor/ledger']") == memory
    page.unroute("**/head.json")
    page.unroute("**/consistency.json*")
    page = office.open("/regulator/ledger")
    expect(page.locator("[data-ledger] h2")).to_have_text("Verified in this browser")


def test_9_an_entry_that_was_altered_is_refused(office: Watched, service: Deployment) -> None:
    decisions = service.regulator.ledger.entries(kind="decision")
    [entry] = [each for each in decisions if "mandate_id" in each.facts]
    path = f"/regulator/ledger/{entry.number}"

    def in_proof(change: Callable[[dict[str, Any]], None]) -> Callable[[Route], None]:
        def tamper(route: Route) -> None:
            found = route.fetch().json()
            change(found["proof"])
            route.fulfill(json=found)

        return tamper

    def in_page(route: Route) -> None:
        answer = route.fetch()
        text = answer.text().replace("&#34;approve&#34;", "&#34;refuse&#34;")
        route.fulfill(response=answer, body=text.replace('"approve"', '"refuse"'))

    def in_facts(route: Route) -> None:
        answer = route.fetch()
        body = answer.text().replace('data-proved="kind">decision', 'data-proved="kind">erasure')
        route.fulfill(response=answer, body=body)

    def in_hash(route: Route) -> None:
        answer = route.fetch()
        body = answer.text().replace("<code data-leaf>", "<code data-leaf>A")
        route.fulfill(response=answer, body=body)

    def both(proof: dict[str, Any]) -> None:
        proof["entry"] = proof["entry"].replace('"12.5"', '"99.5"')

    def path_bit(proof: dict[str, Any]) -> None:
        first = proof["path"][0]
        proof["path"][0] = ("B" if first[0] == "A" else "A") + first[1:]

    def another(proof: dict[str, Any]) -> None:
        proof["number"] += 1

    cases: list[tuple[str, Callable[[Route], None], str]] = [
        ("**/proof.json", in_proof(path_bit), "does not lead to the root"),
        ("**/proof.json", in_proof(both), "not the proved entry"),
        ("**/proof.json", in_proof(another), "the proof is of another entry"),
        (f"**{path}", in_page, "not the proved entry"),
        (f"**{path}", in_facts, "differ in kind"),
        (f"**{path}", in_hash, "not that of the entry"),
    ]
    for pattern, tamper, told in cases:
        office.page.route(pattern, tamper)
        page = office.open(path)
        expect(page.locator("[data-ledger] h2")).to_have_text("Refused: do not rely on this page")
        expect(page.locator("[data-ledger]")).to_contain_text(told)
        page.unroute(pattern)
    page = office.open(path)
    expect(page.locator("[data-ledger] h2")).to_have_text("Verified in this browser")


def test_a_proof_that_is_withheld_is_no_proof(office: Watched) -> None:
    office.page.route("**/proof.json", lambda route: route.fulfill(status=503, json={}))
    page = office.open("/regulator/ledger/0")
    expect(page.locator("[data-ledger] h2")).to_have_text("Not verified")
    expect(page.locator("[data-ledger]")).to_contain_text("the service answers 503")
    office.accessible()
    # It asks again by itself.
    page.unroute("**/proof.json")
    expect(page.locator("[data-ledger] h2")).to_have_text("Verified in this browser")


def test_10_an_audit_that_explores_is_stopped(
    office: Watched, service: Deployment, key_file: Path
) -> None:
    auditor = exploring_auditor(service)
    audience = consenting_sample(auditor)
    audit = raw(service, auditor).submit(asked(audience.id).model_dump(mode="json")).json()
    page = office.open("/regulator/running")
    expect(page.locator(".card")).to_contain_text("units of reward")
    reads_well(office)
    page.get_by_text(f"Stop audit …{audit['id'][-6:]}").click()
    page.locator("details[open]").get_by_label("Reason").fill("People complain.")
    page.locator("details[open]").get_by_role("button").click()
    office.settled()
    office.accessible()
    sign(page, key_file, "Sign: stop the audit")
    expect(page.get_by_text("None at this moment.")).to_be_visible()
    assert auditor.audits.state(audit["id"]).state == "cancelled"


def test_11_spending_flags_and_a_report_on_paper(
    office: Watched, spender: Auditor, tmp_path: Path
) -> None:
    page = office.open("/regulator/spending")
    expect(page.locator(".cards")).to_contain_text("epsilon")
    assert page.locator("canvas").count() >= 2
    reads_well(office, "spending")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="charges").click()
    assert len(waiting.value.path().read_text().splitlines()) >= 3
    page = office.open("/regulator/flags")
    expect(page.get_by_text("not an accusation")).to_be_visible()
    reads_well(office)
    page = office.open("/regulator/report")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Oversight of all auditors")
    expect(page.get_by_role("row", name="epsilon-above-mandate")).to_be_visible()
    reads_well(office)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="report as one file").click()
    assert "What this rests on" in waiting.value.path().read_text()
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation")).to_be_hidden()
    expect(page.get_by_label("Quarter")).to_be_hidden()
    expect(page.get_by_role("heading", name="What this rests on")).to_be_visible()
    page.emulate_media(media="screen")
    pdf = page.pdf(path=tmp_path / "report.pdf", format="A4", margin={"top": "2cm"})
    assert pdf.startswith(b"%PDF")
    page = office.open(f"/regulator/report?auditor={spender.me().auditor_id}&quarter=1999-Q1")
    expect(page.get_by_text("Nothing was charged in the quarter.")).to_be_visible()


def test_12_no_text_of_an_outsider_runs_and_pages_are_small_and_quick(
    office: Watched, mallory: Applying, service: Deployment
) -> None:
    regulator = service.regulator
    evil = regulator.auditors.add(HOSTILE)
    until = datetime.now(UTC) + timedelta(days=1)
    mandate = regulator.mandates.grant(
        evil.id, purpose=HOSTILE, epsilon_limit="1", valid_until=until
    )
    regulator.researchers.add(HOSTILE, auditor_id=evil.id, jwk=new_key().as_dict(private=False))
    regulator.mandates.suspend(mandate.id, HOSTILE)
    loaded: list[int] = []
    office.page.on(
        "response",
        lambda answer: (
            loaded.append(len(answer.body()))
            if answer.ok and "/vendor/" not in answer.url
            else None
        ),
    )
    number = next(iter(regulator.ledger.entries(kind="mandate"))).number
    for path in (
        *PAGES,
        f"/regulator/applications/{mallory.id}",
        f"/regulator/auditors/{evil.id}",
        f"/regulator/mandates/{mandate.id}",
        f"/regulator/ledger/{number}",
    ):
        loaded.clear()
        page = office.open(path)
        assert page.locator("img").count() == 0, path
        assert page.title() != "owned", path
        assert "49" not in page.locator("h1, h2, h3").all_inner_texts(), path
        assert 0 < sum(loaded) < MOST_BYTES, (path, sum(loaded))
        office.narrow()
        page.set_viewport_size({"width": 1000, "height": 800})
    # The service is a thread of this process. The best of a few: other tests run in parallel.
    assert min(seconds_of(office, PAGES[0]) for _ in range(5)) < 0.1


def seconds_of(office: Watched, path: str) -> float:
    """Return the processor time that the service needs for a page."""
    started = time.process_time()
    assert office.page.request.get(f"{office.url}/console{path}").ok
    return time.process_time() - started


def test_13_others_see_none_of_it_and_what_was_done_verifies(
    browser: Browser, service: Deployment, spender: Auditor, tmp_path: Path
) -> None:
    with watching(browser, service.url) as watched:
        watched.sign_in(spender)
        for path in (*PAGES, "/regulator/ledger/0", "/regulator/ledger/0/proof.json"):
            assert watched.page.request.get(f"{service.url}/console{path}").status == 403
        page = watched.open(PAGES[0])
        expect(page.get_by_role("heading", name="You may not see this")).to_be_visible()
    service.service.checkpointer().once()
    export = service.regulator.ledger.export(tmp_path / "ledger.jsonl")
    assert verify_file(export, trust_of(service)).size > 20


def test_the_kinds_that_can_be_looked_for_are_those_of_the_docs() -> None:
    lines = (DOCS / "reference/ledger.md").read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("| `settings`"))
    table = takewhile(lambda line: line.startswith("|"), lines[start:])
    kinds = [line.split("`")[1] for line in table]
    assert tuple(kinds) == KINDS
    assert PICTURES.parent == DOCS
