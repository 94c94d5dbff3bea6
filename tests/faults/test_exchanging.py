"""Two-party audits when either side is killed, on both databases; and that the harness can fail.

`make faults` kills at each boundary by itself; here one after the other, on the same charge.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.kernel.failpoints import Failpoint
from tests.faults import exchanging
from tests.faults.case import Case
from tests.faults.host import Kill
from tests.faults.scene import Databases, on_postgresql, on_sqlite

pytestmark = pytest.mark.long

# Every message, and then every step inside of the last; what ends the run comes last.
EVERYWHERE = (
    *(
        Kill(boundary, message)
        for message in range(1, exchanging.EXCHANGES)
        for boundary in exchanging.EXCHANGING
    ),
    Kill(Failpoint.MESSAGE_RECEIVED, exchanging.EXCHANGES),
    *(Kill(boundary) for boundary in (*exchanging.RECORDING, *exchanging.SHARED)),
    Kill(Failpoint.MESSAGE_ANSWERED),
)
SOME = (
    Kill(Failpoint.MESSAGE_ANSWERED, 3),
    Kill(Failpoint.PEOPLE_RECORDED),
    *EVERYWHERE[-4:-1],
)


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Databases:
    return on_sqlite(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    with on_postgresql(tmp_path_factory.mktemp("postgresql")) as databases:
        yield databases


def killed(databases: Databases, folder: Path, plan: tuple[Kill, ...]) -> None:
    case = Case(databases.copy(), folder, plan)
    assert case.run(exchanging.exchanges) == []
    assert case.orders.killed == len(plan), (folder / "log").read_text()


def test_the_service_is_killed_at_some_boundaries(sqlite: Databases, tmp_path: Path) -> None:
    killed(sqlite, tmp_path, SOME)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_the_service_is_killed_at_every_boundary(sqlite: Databases, tmp_path: Path) -> None:
    killed(sqlite, tmp_path, EVERYWHERE)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_the_service_is_killed_on_postgresql(postgresql: Databases, tmp_path: Path) -> None:
    killed(postgresql, tmp_path, EVERYWHERE)


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_auditors_are_killed_at_every_message(sqlite: Databases, tmp_path: Path) -> None:
    assert Case(sqlite.copy(), tmp_path, ()).run(exchanging.auditors_die) == []


@pytest.mark.parametrize(
    ("mutant", "words"),
    [("answers_are_forgotten", "answered 2 ways"), ("scalars_are_logged", "a secret of a run")],
)
def test_the_harness_finds_the_mutant(
    mutant: str, words: str, sqlite: Databases, tmp_path: Path
) -> None:
    # The service forgets when it starts again, which it does once it has answered.
    plan = (Kill(Failpoint.RELEASE_COMMITTED),)
    violations = Case(sqlite.copy(), tmp_path, plan, mutant).run(exchanging.exchanges)
    assert any(words in violation for violation in violations), violations
