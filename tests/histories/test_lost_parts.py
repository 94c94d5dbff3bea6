"""Parts that a killed server had accepted and not matched: their client sends them again."""

from pathlib import Path

import pytest

from api.db import Store
from tests.histories import answers, history
from tests.histories.client import FINAL
from tests.histories.databases import on_sqlite
from tests.histories.deployment import Deployment, deployed, until
from tests.histories.evidence import Evidence
from tests.histories.plan import Does, Operation, Plan

pytestmark = pytest.mark.long

OPENED = Operation(Does.OPEN, 0.5)
SEALED = Operation(Does.SEAL, 0.5)


def _open_phase(deployment: Deployment, phase: str) -> None:
    (deployment.folder / "phase").write_text(phase)


def test_a_client_seals_an_audience_whose_server_was_killed_before_it_matched(
    tmp_path: Path,
) -> None:
    place = tmp_path / "lost"
    with deployed(place, on_sqlite(place), None) as deployment:
        deployment.enrol(Plan("1", ((OPENED, SEALED),), (), each=1), None)
        [server], [client] = deployment.servers, deployment.clients
        (place / "hold-matching").touch()
        _open_phase(deployment, "0")
        client.start()
        until(lambda: deployment.counter.answered == 1, "the parts to be accepted")
        server.kill()
        (place / "hold-matching").unlink()
        server.start()
        deployment.wait_for(server)
        _open_phase(deployment, FINAL)
        until(lambda: client.exit_code is not None, "the client to end")

        store = Store(deployment.database.url)
        found = Evidence.read(deployment.histories, store)
        store.close()
    assert client.exit_code == 0
    assert list(answers.violations(found)) == []
    [sealed] = found.done(Does.SEAL)
    assert found.audiences[sealed.said["audience_id"]].state == "sealed"
    lost = [
        each.said["code"] for each in history.read(deployment.histories[0]) if each.what == "lost"
    ]
    assert "parts-lost" in lost
