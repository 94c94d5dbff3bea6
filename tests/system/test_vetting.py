"""Vetting over a real socket: from an application by a stranger to a release, and back."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from joserfc.jwk import OKPKey

from api.db import ApplicationRow, PersonalRow
from api.kernel.clock import now
from api.platforms.interfaces import Platform
from auditor_client import Auditor, ProblemError
from auditor_client.errors import ConflictError, ForbiddenError, NotFoundError, RequestError
from auditor_client.ledger import verify_file
from auditor_client.transport.session import Connection
from auditor_client.transport.signed_requests import Statements
from auditor_client.vetting.client import PATH, Applicant
from openapi.resources import Personal
from platform_sim import World
from tests.refusals import refuses
from tests.statements import A_FORM
from tests.system.raw import raw, refused, request_for, usernames
from tests.system.scene import operator_of, wait
from tests.system.test_ledger import trust_of
from tests.vetting import agreed_by, applying, draft_of, new_key, operator, person
from tests.world import Deployment, deployed

pytestmark = pytest.mark.long_on_postgresql


@pytest.fixture(scope="module")
def host(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    with deployed(new_database(), platform, applications_per_hour=10_000) as running:
        yield running


def entries(deployment: Deployment, application_id: str) -> list[Any]:
    found = deployment.regulator.ledger.entries()
    return [e for e in found if e.facts.get("application_id") == application_id][::-1]


def late(deployment: Deployment, application_id: str) -> None:
    """As if the period that runs had ended a second ago."""
    with deployment.service.store.write() as session:
        row = session.get_one(ApplicationRow, application_id)
        row.due = now() - timedelta(seconds=1)
        session.add(row)


def audit(auditor: Auditor, deployment: Deployment, world: World) -> str:
    me = raw(deployment, auditor)
    audience = me.audience({"g0": usernames(world, 5)})
    answer = me.submit(request_for(me.content(), audience, epsilon="0.5"))
    assert answer.status_code == 202, answer.text
    return wait(me, answer.json()["id"])


def test_a_stranger_applies_is_approved_and_audits(host: Deployment, world: World) -> None:
    case = applying(host, others=1)
    assert (case.application.state, case.application.version) == ("submitted", 1)
    assert case.applicant.me().role == "applicant"
    [shown] = case.applicant.applications()
    assert shown == case.application == case.again()
    assert [who.name for who in shown.individuals] == ["Ada Lovelace", "Grace 0"]
    assert shown.individuals[0].contact == "ada@lab"
    assert shown.deadline is not None
    assert shown.deadline.law == "Regulation (EU) 2025/2050, 7(1)"
    zone = ZoneInfo(shown.deadline.time_zone)
    assert zone.key == "Europe/Brussels"
    next_day = shown.deadline.last_day + timedelta(days=1)
    assert shown.deadline.due == datetime.combine(next_day, time.min, zone)

    made = case.approved(epsilon_limit="10", kinds=["score-histogram"])
    assert (made.state, made.auditor_id is None, made.mandate_id is None) == (
        "approved",
        False,
        False,
    )
    for number in (0, 1):
        researcher = case.researcher(number)
        assert researcher.me().role == "auditor"
        [mandate] = researcher.budget().mandates
        assert (mandate.id, mandate.epsilon_limit) == (made.mandate_id, Decimal(10))
        assert mandate.researcher_ids == [who.researcher_id for who in made.individuals]
        assert audit(researcher, host, world) == "released"
    [application, decision] = entries(host, case.id)
    assert application.statement.by == f"applicant:{case.keys[0].thumbprint()}"
    assert decision.auditor_id == made.auditor_id
    assert decision.facts["individuals"] == application.facts["individuals"]
    assert decision.facts["mandate_id"] == made.mandate_id
    assert decision.statement.body["mandate"]["epsilon_limit"] == "10"
    # The ledger commits to names; it does not hold them.
    assert "Ada" not in application.model_dump_json()


def test_a_registered_person_applies_again_for_their_own_auditor(host: Deployment) -> None:
    case = applying(host)
    first = case.approved()
    colleague = new_key()
    draft = draft_of(case.keys[0], colleague, organisation="Another name")
    draft = agreed_by(draft, host.url, colleague)
    applicant, again = Applicant.apply(host.url, case.keys[0], draft)
    applicant.close()
    assert again.auditor_id == first.auditor_id
    assert again.individuals[0].researcher_id == first.individuals[0].researcher_id
    second = host.regulator.applications.approve(again, "once more")
    assert second.auditor_id == first.auditor_id
    assert len(case.researcher().budget().mandates) == 2
    [before, _] = [e for e in host.regulator.ledger.entries() if e.kind == "decision"][:2]
    assert before.facts["auditor_id"] == first.auditor_id


def test_changes_are_asked_for_answered_and_refused(host: Deployment) -> None:
    case = applying(host)
    decide = host.regulator.applications.decide
    asked = decide(case.again(), "request-changes", "say who funds it")
    assert asked.state == "changes-requested"
    assert asked.history[-1].text == "say who funds it"
    assert asked.deadline == case.application.deadline  # the clock does not stop
    with refuses(ConflictError, "changes-requested"):
        host.regulator.applications.approve(asked, "after all")
    colleague = new_key()
    newer = draft_of(case.keys[0], colleague, funding=Personal.fresh("a foundation"))
    newer = agreed_by(newer, host.url, colleague)
    answered = case.applicant.answer(case.id, newer)
    assert (answered.state, answered.version) == ("submitted", 2)
    assert (answered.funding, len(answered.individuals)) == ("a foundation", 2)
    with refuses(ConflictError, "newer-version", 2):
        decide(asked, "refuse", "I have read the old one")
    gone = decide(answered, "refuse", "no public interest")
    assert (gone.state, gone.deadline) == ("refused", None)
    assert [event.state for event in gone.history] == [
        "submitted",
        "changes-requested",
        "submitted",
        "refused",
    ]
    with refuses(ConflictError, "refused"):
        case.approved()
    with refuses(ConflictError, "refused"):
        case.applicant.withdraw(case.id)
    with refuses(ConflictError, "refused"):
        case.applicant.answer(case.id, newer)


def test_a_text_sent_again_with_its_salt_is_kept_once(host: Deployment) -> None:
    key, draft = new_key(), None
    draft = draft_of(key)
    applicant, made = Applicant.apply(host.url, key, draft)
    host.clients.enter_context(applicant)
    host.regulator.applications.decide(made, "request-changes", "look again")
    assert applicant.answer(made.id, draft).version == 2


def test_the_applicant_withdraws(host: Deployment) -> None:
    case = applying(host)
    gone = case.applicant.withdraw(case.id)
    assert (gone.state, gone.deadline) == ("withdrawn", None)
    with refuses(ConflictError, "withdrawn"):
        case.approved()


def test_a_deadline_is_extended_and_only_moves_on(host: Deployment) -> None:
    case = applying(host)
    assert case.application.deadline is not None
    due = case.application.deadline.due
    decide = host.regulator.applications.decide
    with refuses(RequestError, "before-the-deadline"):
        decide(case.again(), "extend", "too soon", until=due.date() - timedelta(days=9))
    with refuses(RequestError, "too-far"):
        decide(case.again(), "extend", "too far", until=due.date().replace(year=9999))
    later = decide(case.again(), "extend", "experts", until=due.date() + timedelta(days=30))
    assert later.deadline is not None
    assert later.deadline.due > due
    assert later.state == "submitted"


@pytest.mark.parametrize(
    ("wider", "field"),
    [
        ({"epsilon_limit": "21"}, "epsilon_limit"),
        ({"kinds": ["score-cdf"]}, "kinds"),
        ({"valid_until": datetime(2090, 1, 1, tzinfo=UTC)}, "valid_until"),
    ],
)
def test_nobody_is_granted_more_than_they_asked_for(
    host: Deployment, wider: dict[str, Any], field: str
) -> None:
    case = applying(host)
    with refuses(RequestError, "more-than-asked", field):
        case.approved(**wider)
    assert case.again().state == "submitted"


def test_a_mandate_is_granted_to_individuals_of_the_application(host: Deployment) -> None:
    case, other = applying(host), applying(host)
    stranger = other.application.individuals[0].researcher_id
    with refuses(RequestError, "not-an-individual"):
        case.approved(researcher_ids=[stranger])


def test_a_key_of_staff_or_of_another_auditor_cannot_be_named(host: Deployment) -> None:
    with refuses(ConflictError, "not-an-applicant", "operator"):
        Applicant.apply(host.url, host.operator_key, draft_of(host.operator_key))
    first, second = applying(host), applying(host)
    first.approved()
    second.approved()
    mixed = agreed_by(draft_of(first.keys[0], second.keys[0]), host.url, second.keys[0])
    with refuses(ConflictError, "researcher-of-another-auditor"):
        Applicant.apply(host.url, first.keys[0], mixed)
    key = new_key()
    with refuses(RequestError, "shared-key"):
        Applicant.apply(host.url, key, agreed_by(draft_of(key, key), host.url, key))


def test_the_platform_asks_for_an_amendment_and_mediation_changes_the_mandate(
    host: Deployment,
) -> None:
    case, platform_side = applying(host), operator(host)
    # Operators do not see it before it is approved.
    with pytest.raises(NotFoundError):
        platform_side.ask_amendment(case.id, "vulnerability", "why", "what")
    approved = case.approved()
    assert approved.deadline is not None
    assert (approved.deadline.who, approved.deadline.law) == (
        "operator",
        "Regulation (EU) 2022/2065, 40(5)",
    )
    asked = platform_side.ask_amendment(case.id, "vulnerability", "too fine", "epsilon 5")
    assert asked.state == "amendment-requested"
    assert asked.history[-1].text == "too fine\n\nepsilon 5"
    regulator = host.regulator.applications
    decided = regulator.decide(asked, "reject-amendment", "not substantiated")
    assert decided.state == "amendment-decided"
    assert platform_side.mediate(case.id, "requested", "we object").state == "mediation-requested"
    with refuses(ConflictError, "mediation-requested"):
        regulator.mediate(case.id, "agreed", "before it began")
    opened = regulator.mediate(case.id, "opened", "Mx Mediator", days=40)
    assert opened.deadline is not None
    assert opened.deadline.law == "Regulation (EU) 2025/2050, 13(9)"
    settled = regulator.mediate(case.id, "agreed", "epsilon 5")
    assert (settled.state, settled.deadline) == ("settled", None)
    assert approved.mandate_id is not None
    changed = host.regulator.mandates.change(
        approved.mandate_id, "as agreed", epsilon_limit="5", kinds=["match-count"]
    )
    assert (changed.epsilon_limit, changed.kinds) == (Decimal(5), ["match-count"])
    kinds = [entry.kind for entry in entries(host, case.id)]
    assert kinds == [
        "application",
        "decision",
        "amendment",
        "decision",
        "mediation",
        "mediation",
        "mediation",
    ]


def test_after_its_period_the_platform_is_told_the_deadline(host: Deployment) -> None:
    case, platform_side = applying(host), operator(host)
    case.approved()
    late(host, case.id)
    with refuses(ConflictError, "period-ended", "40(5)") as refusal:
        platform_side.ask_amendment(case.id, "no-access", "too late", "nothing")
    assert str(refusal.value.problem.model_dump()["due"]).endswith("Z")
    other = applying(host)
    other.approved()
    asked = platform_side.ask_amendment(other.id, "no-access", "why", "what")
    late(host, other.id)  # a regulator who is late still decides
    host.regulator.applications.decide(asked, "accept-amendment", "so be it")
    late(host, other.id)
    with refuses(ConflictError, "period-ended", "13(1)"):
        platform_side.mediate(other.id, "requested", "too late")


def test_the_platform_sees_what_is_granted_and_not_what_came_to_nothing(host: Deployment) -> None:
    case, platform_side = applying(host), operator(host)
    path = f"{PATH}/{case.id}"
    refused(operator_of(host).get(path), "not-found")
    assert case.id not in {each.id for each in platform_side.applications()}
    case.approved()
    assert case.id in {each.id for each in platform_side.applications()}


def test_the_ledger_hides_from_the_platform_what_the_list_of_applications_hides(
    host: Deployment,
) -> None:
    case, gone = applying(host), applying(host)
    gone.applicant.withdraw(gone.id)
    me = operator_of(host)

    def shown() -> set[str]:
        found = [
            *me.get("/v1/ledger/entries?limit=200").json()["items"],
            *me.get("/v1/ledger/feed?limit=200&after=0").json()["items"],
        ]
        return {entry["facts"].get("application_id") for entry in found}

    hidden = [entry.number for each in (case, gone) for entry in entries(host, each.id)]
    assert len(hidden) == 3
    assert not {case.id, gone.id} & shown()
    for number in hidden:
        refused(me.get(f"/v1/ledger/entries/{number}/proof"), "not-found")
    refused(me.get("/v1/ledger/export"), "forbidden")
    case.approved()
    assert case.id in shown()
    assert gone.id not in shown()


def test_others_see_nothing_of_an_application_and_can_do_nothing(host: Deployment) -> None:
    case, other = applying(host, others=1), applying(host)
    assert case.id not in {each.id for each in other.applicant.applications()}
    with pytest.raises(NotFoundError):
        other.applicant.application(case.id)
    with pytest.raises(NotFoundError):
        other.applicant.withdraw(case.id)
    with pytest.raises(NotFoundError):
        other.applicant.answer(case.id, draft_of(other.keys[0]))
    # A colleague sees it, and only the principal acts.
    colleague = case.application.individuals[1].researcher_id
    second = host.clients.enter_context(Applicant(host.url, colleague, case.keys[1]))
    assert second.application(case.id).state == "submitted"
    with pytest.raises(ForbiddenError):
        second.withdraw(case.id)
    # An applicant has no other rights.
    me = raw(host, case.applicant)
    for route in ("/v1/budget", "/v1/audits", "/v1/regulator/mandates", "/v1/operator/keys"):
        refused(me.get(route), "forbidden")
    refused(me.get("/v1/ledger/entries"), "forbidden")
    refused(me.post("/v1/webhooks", {"url": "https://example.org/hook"}), "forbidden")


def test_wrong_roles_are_refused(host: Deployment) -> None:
    case = applying(host)
    body = {"application_id": case.id, "version": 1, "decision": "refuse"}
    signed = {"Idempotency-Key": "k" * 12, "Statement-Signature": A_FORM}
    decision = body | {"reasons": Personal.fresh("no").model_dump()}
    for who in (raw(host, case.applicant), operator_of(host)):
        refused(who.post("/v1/regulator/decisions", decision, headers=signed), "forbidden")
    regulator = raw(host, host.regulator)
    amendment = {
        "application_id": case.id,
        "ground": "no-access",
        "reasons": Personal.fresh("x").model_dump(),
        "proposal": Personal.fresh("y").model_dump(),
    }
    refused(regulator.post("/v1/operator/amendments", amendment, headers=signed), "forbidden")


def test_an_application_must_be_signed_by_its_principal_and_once(host: Deployment) -> None:
    key = new_key()
    draft = draft_of(key)
    body = draft.model_dump(mode="json")
    anyone = raw(host, "nobody")
    unsigned = {"Idempotency-Key": "k" * 12, "Statement-Signature": A_FORM}
    refused(anyone.post(PATH, body, headers=unsigned), "unsigned")
    public = Connection(host.url, "nobody", key)._public
    by = f"applicant:{key.thumbprint()}"
    forged = Statements(public, public, by, new_key()).headers("application", draft, "f" * 12)
    refused(anyone.post(PATH, body, headers=forged), "unsigned")
    good = Statements(public, public, by, key).headers("application", draft, "g" * 12)
    other = draft_of(key, purpose="Something else").model_dump(mode="json")
    refused(anyone.post(PATH, other, headers=good), "unsigned")
    assert anyone.post(PATH, body, headers=good).status_code == 201
    refused(anyone.post(PATH, body, headers=good), "idempotency-conflict")
    public.close()


@pytest.mark.parametrize(
    "bad",
    [
        {"individuals": []},
        {"epsilon_limit": None},
        {"epsilon_limit": "0"},
        {"rho_limit": "1"},
        {"renewal": {"kind": "rolling", "days": 30}},
        {"publishes_free_of_charge": False},
        {"kinds": ["outcome-test"]},
        {"funding": "not personal text"},
        {"valid_from": "2026-01-01T00:00:00"},
        {"valid_until": "2020-01-01T00:00:00Z"},
        {"unknown": 1},
    ],
)
def test_a_bad_application_is_refused(host: Deployment, bad: dict[str, Any]) -> None:
    key = new_key()
    draft = draft_of(key)
    body = draft.model_dump(mode="json") | bad
    headers = {"Idempotency-Key": "b" * 12, "Statement-Signature": A_FORM}
    answer = raw(host, "nobody").post(PATH, body, headers=headers)
    assert answer.status_code == 422, answer.text


def test_private_keys_and_odd_keys_are_refused(host: Deployment) -> None:
    key = new_key()
    private = {name: str(value) for name, value in key.as_dict(private=True).items()}
    for jwk in (private, {"kty": "oct", "k": "c2VjcmV0"}, {"kty": "OKP", "crv": "Ed448", "x": "a"}):
        body = draft_of(key).model_dump(mode="json")
        body["individuals"][0]["jwk"] = jwk
        headers = {"Idempotency-Key": "p" * 12, "Statement-Signature": A_FORM}
        refused(raw(host, "nobody").post(PATH, body, headers=headers), "invalid-request")


def test_personal_text_is_erased_and_the_ledger_stays(host: Deployment) -> None:
    case = applying(host, others=1)
    host.regulator.applications.decide(case.again(), "refuse", "Ada is not independent")
    before = [entry.leaf for entry in entries(host, case.id)]
    erased = host.regulator.erase(case.id)
    assert len(erased.commitments) == 6 + 3 + 1  # texts, two names and a contact, reasons
    shown = case.again()
    assert {who.name for who in shown.individuals} == {None}
    assert shown.funding is shown.history[-1].text is None
    assert case.applicant.me().name == "erased"
    assert [entry.leaf for entry in entries(host, case.id)] == before
    with host.service.store.read() as session:
        assert not any(session.get(PersonalRow, each) for each in erased.commitments)
    assert host.regulator.erase(case.id).commitments == []
    newest = next(iter(host.regulator.ledger.entries()))
    assert newest.kind == "erasure"
    with pytest.raises(NotFoundError):
        host.regulator.erase("application_" + "0" * 30)


def test_an_individual_is_forgotten_everywhere(host: Deployment) -> None:
    case = applying(host, others=1)
    approved = case.approved()
    who = approved.individuals[1].researcher_id
    assert len(host.regulator.erase(who).commitments) == 1
    shown = case.again()
    assert [each.name for each in shown.individuals] == ["Ada Lovelace", None]
    listed = {each.id: each.name for each in host.regulator.researchers.list()}
    assert listed[who] == "erased"
    assert case.researcher(1).budget().mandates  # still at work


def test_strangers_are_rate_limited_by_address(
    new_database: Callable[[], str], platform: Platform
) -> None:
    with deployed(new_database(), platform, applications_per_hour=2) as running:
        cases = [applying(running) for _ in range(2)]
        with pytest.raises(ProblemError) as refusal:
            applying(running)
        assert refusal.value.code == "rate-limited"
        assert len(running.regulator.applications.list()) == 2
        assert cases[0].applicant.application(cases[0].id).state == "submitted"


@pytest.mark.parametrize("limit", ["applications_per_day", "applications_open"])
def test_strangers_together_cannot_grow_the_ledger_without_limit(
    new_database: Callable[[], str], platform: Platform, limit: str
) -> None:
    with deployed(new_database(), platform, applications_per_hour=100, **{limit: 2}) as running:
        cases = [applying(running) for _ in range(2)]
        for case in cases[1:]:
            case.applicant.withdraw(case.id)
        if limit == "applications_open":
            cases.append(applying(running))  # in the place of the one withdrawn
        size = len(list(running.regulator.ledger.entries()))
        with pytest.raises(ProblemError) as refusal:
            applying(running)
        assert refusal.value.code == "rate-limited"
        assert len(list(running.regulator.ledger.entries())) == size
        assert len(running.regulator.applications.list()) == len(cases)
        # A decision makes room among the undecided, and who is known is no stranger.
        cases[0].approved()
        applying(running)


def test_lists_are_filtered_by_state(host: Deployment) -> None:
    case = applying(host)
    case.applicant.withdraw(case.id)
    found = host.regulator.applications.list("withdrawn")
    assert {each.state for each in found} == {"withdrawn"}
    assert case.id in {each.id for each in found}
    answer = raw(host, host.regulator).get(PATH, params={"state": "forgotten"})
    refused(answer, "invalid-request")


def test_an_application_of_a_removed_individual_is_refused(host: Deployment) -> None:
    case = applying(host)
    approved = case.approved()
    host.regulator.researchers.remove(approved.individuals[0].researcher_id, "left")
    with refuses(ConflictError, "removed"):
        Applicant.apply(host.url, case.keys[0], draft_of(case.keys[0]))


def test_everything_that_is_recorded_has_its_time_and_due_date(host: Deployment) -> None:
    case = applying(host)
    case.approved()
    found = entries(host, case.id)
    assert [entry.at for entry in found] == sorted(entry.at for entry in found)
    assert all(entry.facts["due"] for entry in found)
    assert [event.at for event in case.again().history] == [entry.at for entry in found]


def principal_named_twice(key: OKPKey) -> dict[str, Any]:
    return {"individuals": [person("Ada", key, "principal"), person("Eve", new_key(), "principal")]}


def test_there_is_one_principal() -> None:
    key = new_key()
    with pytest.raises(ValueError, match="principal"):
        draft_of(key, **principal_named_twice(key))


def test_of_two_decisions_at_once_one_counts(host: Deployment) -> None:
    case = applying(host)
    read = case.again()

    def decided(decision: Any) -> bool:
        try:
            host.regulator.applications.decide(read, decision, "at once")
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(decided, ["refuse", "request-changes", "refuse", "refuse"]))
    # Changes may be asked for and then refused; nothing else goes together.
    assert 1 <= sum(done) <= 2
    states = [event.state for event in case.again().history]
    assert states in (
        ["submitted", "refused"],
        ["submitted", "changes-requested"],
        ["submitted", "changes-requested", "refused"],
    )


def test_the_offline_verifier_follows_all_of_this(host: Deployment, tmp_path: Path) -> None:
    case = applying(host, others=1)
    case.approved()
    host.service.checkpointer().once()
    found = verify_file(host.regulator.ledger.export(tmp_path / "all.jsonl"), trust_of(host))
    assert found.counts["application"] >= 2
    assert found.counts["decision"] >= 1
    mine = case.researcher().ledger.export(tmp_path / "mine.jsonl")
    assert verify_file(mine, trust_of(host)).auditor == case.again().auditor_id
