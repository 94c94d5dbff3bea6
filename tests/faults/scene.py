"""The start of every case of the fault harness: a prepared database, copied each time.

One auditor with two mandates (in epsilon without renewal, in rho by fixed periods), two contents
and two audiences that share thirty people. The lifetime cap is below both debits: people in both
audiences are left out of the second audit. A third audience is shown what others are; a fourth is
hidden.
"""

import base64
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from joserfc.jwk import OKPKey

from api.accounts import service as accounts
from api.audiences import hidden, sampling
from api.contents import service as contents
from api.db import Store
from api.identity.access_tokens import OwnTokens
from api.identity.caller import Caller, load_caller
from api.identity.signing_keys import SigningKeys
from api.kernel.clock import now
from api.kernel.settings import Settings
from api.ledger.key_rotation import KeyEntries
from api.mandates import service as mandates
from api.operations.setup import register_first
from openapi.resources import (
    AuditorDraft,
    ContentDraft,
    HiddenDraft,
    MandateDraft,
    Personal,
    ResearcherDraft,
    SampleDraft,
)
from tests import databases
from tests.faults import exchanging
from tests.faults.exploring import ASKED
from tests.faults.exploring import PEOPLE as EXPLORERS
from tests.faults.tiny_platform import OFFERS, TinyPlatform, make
from tests.statements import Maker, new_key

# Tokens are for this address, wherever a process of a case listens.
ISSUER = "http://127.0.0.1:9"
PERSON_CAP = "0.8"
LIMITS: tuple[dict[str, Any], ...] = (
    {
        "kinds": ["score-histogram", "envy-freeness", "two-party"],
        "opened_share": "0",
        "epsilon_limit": "100",
        "exploration_limit": "10000",
    },
    {
        "rho_limit": "50",
        "renewal": {"kind": "fixed", "days": 30},
        "lifetime_limit": "100",
    },
)


@dataclass(frozen=True)
class Scene:
    """A database, the settings to serve it with, and what to ask in it."""

    settings: dict[str, Any]
    researcher_id: str
    key: OKPKey
    requests: dict[str, dict[str, Any]]

    @property
    def database_url(self) -> str:
        return str(self.settings["database_url"])

    def at(self, database_url: str, **settings: Any) -> "Scene":
        return replace(self, settings=self.settings | settings | {"database_url": database_url})

    @property
    def maker(self) -> Maker:
        return Maker(self.researcher_id, self.key)

    def token(self, store: Store) -> str:
        keys = SigningKeys(store, Settings(**self.settings), KeyEntries())
        return OwnTokens(store, keys, ISSUER).issue(self.researcher_id, "auditor")


def prepare(
    database_url: str, limits: Sequence[Mapping[str, Any]] = LIMITS, **settings: Any
) -> Scene:
    """Migrate the database and put everything into it but an audit."""
    fields: dict[str, Any] = {
        "database_url": database_url,
        "issuer": ISSUER,
        "key_encryption_key": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "person_lifetime_rho": PERSON_CAP,
        "lease_seconds": 0.5,
        "poll_seconds": 0.02,
        "requests_per_minute": 1_000_000,
        "burst": 1_000_000,
        "two_party_candidates": exchanging.CANDIDATES,
        **settings,
    }
    store = Store(database_url)
    try:
        databases.prepare(store)
        key = OKPKey.generate_key("Ed25519")
        caller = _people(store, key, limits)
        requests = _belongings(store, caller, Settings(**fields))
        scene = Scene(fields, caller.researcher_id, key, requests)
        scene.token(store)  # makes the signing keys
    finally:
        store.close()
    return scene


def _people(store: Store, key: OKPKey, limits: Sequence[Mapping[str, Any]]) -> Caller:
    own = new_key()
    regulator = Maker(register_first(store, "regulator", _public(own)), own)
    with store.write() as session:
        lab = AuditorDraft(name="Lab")
        auditor = accounts.register_auditor(session, lab, regulator.states("auditor", lab))
        draft = ResearcherDraft(name=Personal.fresh("Ada"), auditor_id=auditor.id, jwk=_public(key))
        stated = regulator.states("researcher", draft)
        researcher = accounts.register_researcher(session, draft, stated)
        window = {
            "auditor_id": auditor.id,
            "purpose": "test",
            "valid_from": now() - timedelta(days=100),
            "valid_until": now() + timedelta(days=100),
        }
        for limit in limits:
            mandate = MandateDraft.model_validate({**window, **limit})
            mandates.grant(session, mandate, regulator.states("mandate", mandate))
        caller = load_caller(session, researcher.id)
        assert caller
    return caller


def _belongings(store: Store, caller: Caller, settings: Settings) -> dict[str, dict[str, Any]]:
    """The bodies of requests: in epsilon on one audience, in rho on another, and to explore."""
    questions = {
        "first": {"epsilon": "0.5"},
        "second": {"mechanism": "discrete-gaussian", "rho": "0.2"},
    }
    requests = {}
    people = TinyPlatform(Path("/dev/null"))
    for name, question in questions.items():
        groups = [
            {"label": f"g{number}", "value": value, "size": len(persons)}
            for number, (value, persons) in enumerate(OFFERS[name].items())
        ]
        draft = SampleDraft.model_validate({"attribute": name, "groups": groups})
        audience = sampling.draw(store, caller, draft, people, settings)
        with store.write() as session:
            content = contents.create(
                session, caller, ContentDraft(kind="job", title=name), settings
            )
        requests[name] = {
            "kind": "score-histogram",
            "content_id": content.id,
            "audience_id": audience.id,
            "bins": {"edges": [0, 0.5, 1]},
            **question,
        }
    group = {"label": "g0", "value": "a", "size": EXPLORERS}
    shown = SampleDraft.model_validate({"attribute": "third", "groups": [group], "consented": True})
    audience = sampling.draw(store, caller, shown, people, settings)
    requests["third"] = {**ASKED, "audience_id": audience.id}
    drafted = HiddenDraft.model_validate(exchanging.HIDDEN)
    with store.write() as session:
        audience = hidden.hide(session, caller, drafted, make("/dev"), settings)
    requests["hidden"] = exchanging.asked(content.id, audience.id)
    return requests


def _public(key: OKPKey) -> dict[str, Any]:
    return dict(key.as_dict(private=False))


# --- databases


@dataclass
class Databases:
    """Copies of one prepared database."""

    template: Scene
    folder: Path
    server: str | None = None

    def copy(self) -> Scene:
        name = f"copy{secrets.token_hex(6)}"
        if self.server is None:
            path = self.folder / f"{name}.sqlite"
            shutil.copy(self.folder / "template.sqlite", path)
            return self.template.at(f"sqlite:///{path}")
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template")
        return self.template.at(_address(self.server, name))


def on_sqlite(folder: Path) -> Databases:
    return Databases(prepare(f"sqlite:///{folder / 'template.sqlite'}"), folder)


@contextmanager
def on_postgresql(folder: Path) -> Iterator[Databases]:
    """Its own PostgreSQL, for as long as the block runs."""
    server = databases.start_postgresql(folder / "postgresql")
    try:
        yield on_server(server.get_uri(), folder)
    finally:
        server.cleanup()


def on_server(server: str, folder: Path) -> Databases:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE template")
    return Databases(prepare(_address(server, "template")), folder, server)


def _address(server: str, name: str) -> str:
    address, _, query = server.partition("://")[2].partition("?")
    host = address.rpartition("/")[0]
    return f"postgresql+psycopg://{host}/{name}" + (f"?{query}" if query else "")
