"""The burn-down from a real ledger, compared with the service's own remaining budget."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from joserfc.jwk import OKPKey
from typer.testing import CliRunner

from api.platforms.interfaces import Platform
from auditor_client import Auditor, save_profile
from auditor_client.cli.app import app
from auditor_client.local.private_files import write_private
from openapi.resources import Quote
from platform_sim import World
from tests.system.raw import usernames
from tests.world import Deployment, deployed, sqlite_url


@pytest.fixture
def idle_sqlite(tmp_path: Path, platform: Platform) -> Iterator[Deployment]:
    """Without a worker an audit can be cancelled."""
    with deployed(sqlite_url(tmp_path), platform, embedded_worker=False) as running:
        yield running


def spend(auditor: Auditor, world: World) -> Quote:
    """Two audits at one epsilon, the second given back, and one at a half."""
    frame = pa.table({"username": usernames(world, 40), "group": ["a"] * 20 + ["b"] * 20})
    audience = auditor.audiences.upload(frame, id="username", by="group", progress=False)
    content = auditor.contents.upload(kind="job", title="Nurse")
    ask = auditor.audits.request
    auditor.audits.submit(ask(content, audience, bins=5, epsilon=1))
    returned = auditor.audits.submit(ask(content, audience, bins=5, epsilon=1))
    auditor.audits.cancel(returned.id)
    auditor.audits.submit(ask(content, audience, bins=5, epsilon="0.5"))
    return auditor.audits.price(content, audience, bins=5, epsilon="0.25")


@pytest.mark.parametrize(
    "renewal", [{}, {"renewal": ("rolling", 30), "lifetime_limit": "10"}], ids=["none", "rolling"]
)
def test_what_remains_is_what_the_service_says(
    idle_sqlite: Deployment, world: World, renewal: dict[str, Any]
) -> None:
    auditor = idle_sqlite.auditor("20", **renewal)
    quote = spend(auditor, world)
    [found] = auditor.burn_down()
    [mandate] = auditor.budget().mandates
    assert found.remaining == mandate.remaining
    assert found.moments[-1].spent == mandate.spent
    # Beginning, three charges and a refund, now.
    assert len(found.moments) == 6
    assert found.buys(quote.price.debit) == quote.buys
    described = auditor.budget_chart(like=quote).to_dict()["description"]
    assert (
        f"buys {quote.buys} more audits like this ({quote.price.debit.normalize():f} each)"
        in described
    )


def test_the_command_draws_it(idle_sqlite: Deployment, world: World, tmp_path: Path) -> None:
    key = OKPKey.generate_key("Ed25519")
    lab = idle_sqlite.regulator.auditors.add("Drawers")
    reader = idle_sqlite.regulator.researchers.add(
        "Reader", auditor_id=lab.id, jwk=key.as_dict(private=False)
    )
    write_private(tmp_path / "key.jwk", json.dumps(key.as_dict(private=True)))
    save_profile("drawers", idle_sqlite.url, reader.id, tmp_path / "key.jwk")
    asked = ["budget", "--profile", "drawers", "--chart", str(tmp_path / "budget.svg"), "--json"]
    nothing = CliRunner().invoke(app, asked)
    assert (nothing.exit_code, "regulator" in nothing.stderr) == (1, True)
    idle_sqlite.grant(lab.id, "20")
    with Auditor.from_profile("drawers") as auditor:
        spend(auditor, world)
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.stderr
    [shown] = json.loads(done.stdout)
    assert (
        f"{Decimal(shown['remaining']).normalize():f} epsilon left"
        in (tmp_path / "budget.svg").read_text()
    )
