"""Every operation, every caller, own and foreign objects: who may do what, and who learns what."""

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

import pytest

from api.platforms.interfaces import Platform
from openapi.resources import Role
from tests.contract.authorisation.callers import Caller
from tests.contract.authorisation.calls import Call, ghost_of, kind_of
from tests.contract.authorisation.estates import Estate, sees
from tests.contract.authorisation.expected import (
    NOT_CONSIDERED,
    NOT_NOW,
    OF_THE_LEDGER,
    expected_code,
)
from tests.contract.authorisation.fingerprint import unchanged
from tests.contract.authorisation.operations import OPERATIONS, Operation
from tests.contract.authorisation.routes import served
from tests.contract.authorisation.scene import Scene, set_scene
from tests.contract.authorisation.sending import ACTIONS, Answer

each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Scene]:
    with set_scene(tmp_path_factory.mktemp("authorisation"), platform) as made:
        yield made


@each_operation
def test_nobody_without_the_scope_gets_in(scene: Scene, operation: Operation) -> None:
    """The call is valid and about objects that exist: only the caller is wrong."""
    owner = scene.caller("owner")
    wrong = []
    with unchanged(scene.deployment.service.store):
        for caller in scene.callers:
            expected = expected_code(operation, caller)
            if expected is None:
                continue
            ids = {**scene.own(scene.caller("regulator")), **scene.own(owner)}
            for call in scene.calls(operation, caller, ids):
                answer = scene.send(caller, call)
                if answer.code != expected:
                    wrong.append((caller.name, expected, answer.status, answer.text[:200]))
    assert not wrong


@each_operation
def test_callers_with_the_scope_are_admitted(scene: Scene, operation: Operation) -> None:
    """With objects of their own, and with a request that the service considers."""
    wrong: list[object] = []
    done: set[bool] = set()
    for caller in scene.callers:
        if expected_code(operation, caller) is not None:
            continue
        try:
            calls = scene.calls(operation, caller, scene.own(caller))
        except KeyError:
            continue
        for call in calls:
            answer = scene.send(caller, call)
            done.add(answer.status < 300)
            if answer.code in NOT_CONSIDERED or answer.status >= 500:
                wrong.append((caller.name, answer.status, answer.text[:300]))
            wrong += [(caller.name, "leaks", each) for each in leaks(scene, caller, call, answer)]
    assert not wrong
    assert True in done or operation.name in NOT_NOW, (
        f"nobody can do {operation.name}: correct its body in BODIES, or add it to NOT_NOW"
    )


@each_operation
def test_a_foreign_object_is_like_one_that_does_not_exist(
    scene: Scene, operation: Operation
) -> None:
    wrong: list[object] = []
    store = scene.deployment.service.store
    with unchanged(store, refusals=operation.name == "submit_audit"):
        for caller in scene.callers:
            if expected_code(operation, caller) is None:
                for foreign, ghost in about_others(scene, operation, caller):
                    wrong += compare(scene, caller, foreign, ghost)
    assert not wrong


def about_others(scene: Scene, operation: Operation, caller: Caller) -> Iterator[tuple[Call, Call]]:
    """Yield calls about each foreign object at each place, and the same about nothing."""
    try:
        calls = scene.calls(
            operation, caller, {**scene.own(scene.caller("regulator")), **scene.own(caller)}
        )
    except KeyError:
        return
    for call in calls:
        for place, identifier in call.places():
            foreign = scene.foreign(caller, kind_of(identifier))
            # Of the many forms of an audit, one object each is enough.
            for each in foreign[:1] if len(calls) > 1 or place[1:2] == (0,) else foreign:
                yield call.naming(place, each), call.naming(place, ghost_of(each))


def compare(scene: Scene, caller: Caller, foreign: Call, ghost: Call) -> Iterator[object]:
    """Yield what an answer about a foreign object tells that one about nothing does not."""
    names = [identifier for call in (foreign, ghost) for _, identifier in call.places()]
    found, absent = (scene.send(caller, call).without(*names) for call in (foreign, ghost))
    if found != absent:
        yield caller.name, foreign.url, foreign.body, found, absent
    yield from leaks(scene, caller, foreign, found)


def leaks(scene: Scene, caller: Caller, call: Call, answer: Answer) -> list[str]:
    """Return identifiers in an answer that the caller must not see."""
    sent = {identifier for _, identifier in call.places()}
    # Of operators, see `test_operators_do_not_read_applications_that_are_hidden_from_them`.
    in_ledger = call.operation.name in OF_THE_LEDGER
    return [
        identifier
        for estate in (*scene.kept, *scene.spare)
        for kind, ids in estate.ids.items()
        if kind != "entry" and not sees(caller, kind, estate)
        if not (in_ledger and kind == "application" and _same_auditor(caller, estate))
        for identifier in ids
        if identifier in answer.text and identifier not in sent
    ]


def _same_auditor(caller: Caller, estate: Estate) -> bool:
    return caller.role == "operator" or caller.auditor_id == estate.holder.auditor_id


READS = [each for each in OPERATIONS if each.method == "GET" and each.scope in ("", "operator")]


@pytest.mark.parametrize("operation", READS, ids=lambda each: each.name)
def test_operators_do_not_read_applications_that_are_hidden_from_them(
    scene: Scene, operation: Operation
) -> None:
    """Neither that they exist, nor any of their texts."""
    operator = scene.caller("operator")
    hidden = [each for each in scene.kept if each.hidden and "application" in each.ids]
    words = {word for each in hidden for word in (*each.ids["application"], *each.secrets)}
    assert len(words) > 10
    for call in scene.calls(operation, operator, scene.own(operator)):
        whole = replace(call, query={**call.query, "limit": "500"})
        text = scene.send(operator, whole).text
        assert not [word for word in words if word in text]


def test_every_identifier_in_the_contract_is_in_the_matrix(scene: Scene) -> None:
    """A new parameter or field that names an object must be in some call of the matrix."""
    everything = {**scene.own(scene.caller("regulator")), **scene.own(scene.caller("owner"))}
    missing = {}
    for operation in OPERATIONS:
        calls = scene.calls(operation, scene.caller("owner"), everything)
        named = {name for call in calls for name in call.names()}
        if operation.identifiers - named:
            missing[operation.name] = sorted(operation.identifiers - named)
    assert not missing, (
        "these take identifiers that no call of the matrix sends. Add them to BODIES or CURSORS "
        f"in tests/contract/authorisation/bodies.py, or to NOT_IDENTIFIERS: {missing}"
    )


def test_every_route_is_in_the_contract_or_in_the_console(scene: Scene) -> None:
    """Both matrices would miss a route that is not listed here."""
    found = served(scene.deployment)
    routes = {(method, path) for method, path in found if not path.startswith("/console")}
    documented = {(each.method, each.path) for each in OPERATIONS}
    assert routes - documented == {("GET", "/openapi.json"), ("GET", "/")}
    assert documented <= routes


def test_every_signed_operation_has_an_action() -> None:
    signed = {each.name for each in OPERATIONS if each.signed}
    assert signed == ACTIONS.keys(), "add what its signature states to ACTIONS in sending.py"


def test_every_scope_is_a_role_of_the_matrix(scene: Scene) -> None:
    roles = {each.role for each in scene.callers}
    scopes = {each.scope for each in OPERATIONS} - {None, ""}
    assert scopes <= roles, f"add a caller with the role {scopes - roles} to the scene"
    assert get_args(Role)
    assert set(get_args(Role)) <= roles
