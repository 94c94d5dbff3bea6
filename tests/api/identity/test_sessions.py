"""Codes and sessions of browsers, on both databases."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlmodel import select

from api.db import ConsoleSessionRow, SignInCodeRow
from api.identity import forget_expired, sessions
from api.identity.caller import load_caller
from api.kernel.clock import now
from api.kernel.errors import UnauthenticatedError
from auditor_client import Auditor
from tests.refusals import refuses
from tests.world import Deployment


@pytest.fixture(scope="module")
def ada(deployment: Deployment) -> Auditor:
    return deployment.auditor()


def test_a_code_or_session_past_its_time_lets_nobody_in(
    deployment: Deployment, ada: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = deployment.service.store
    with store.read() as session:
        caller = load_caller(session, ada.researcher_id)
    assert caller is not None
    code, until = sessions.make_code(store, caller)
    assert until <= now() + timedelta(minutes=10)
    secret = sessions.use_code(store, sessions.make_code(store, caller)[0])
    later = now() + timedelta(hours=11)
    with monkeypatch.context() as patched, store.read() as session:
        assert sessions.load_session_caller(session, secret) == caller
        patched.setattr(sessions, "now", lambda: later)
        assert sessions.load_session_caller(session, secret) is None
        with refuses(UnauthenticatedError, "used-or-old-link"):
            sessions.use_code(store, code)


def test_of_many_who_use_one_code_at_once_one_comes_in(
    deployment: Deployment, ada: Auditor
) -> None:
    store = deployment.service.store
    code = parse_qs(urlsplit(ada.console_link().url).query)["code"][0]

    def attempt(_: int) -> bool:
        try:
            return bool(sessions.use_code(store, code))
        except UnauthenticatedError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


def test_nothing_secret_is_in_the_database(deployment: Deployment, ada: Auditor) -> None:
    store = deployment.service.store
    code = parse_qs(urlsplit(ada.console_link().url).query)["code"][0]
    with store.read() as session:
        assert code not in [row.digest for row in session.exec(select(SignInCodeRow))]


def test_what_has_expired_is_forgotten(deployment: Deployment, ada: Auditor) -> None:
    store = deployment.service.store
    sessions.use_code(store, parse_qs(urlsplit(ada.console_link().url).query)["code"][0])
    ada.console_link()
    with store.write() as session:
        forget_expired(session, now())
        assert session.exec(select(SignInCodeRow)).all()
        assert session.exec(select(ConsoleSessionRow)).all()
        forget_expired(session, now() + timedelta(hours=11))
        assert not session.exec(select(SignInCodeRow)).all()
        assert not session.exec(select(ConsoleSessionRow)).all()
