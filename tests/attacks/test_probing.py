"""Probing: does anything but the noise depend on whether the people I uploaded are there?

`look` goes through everything an auditor can see. Against each twin two audiences, of members and
of strangers, look different somewhere; against ours nowhere.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlmodel import col, update

from api.audiences import sealing, uploads
from api.audits import job, pricing, queries, request_pricing
from api.db import AuditRow
from api.kernel.errors import EmptyGroupError
from api.kinds.building_blocks import score_bins
from api.kinds.score_histogram import ScoreHistogram
from api.platforms.interfaces import Platform
from platform_sim import World
from privacy.tables.membership import Membership
from tests.attacks.conftest import REAL
from tests.attacks.outside import KINDS_OF_AUDIT, look
from tests.system.adapters import Faulty, on
from tests.system.raw import usernames
from tests.world import Deployment, deployed, sqlite_url


@pytest.fixture(autouse=True)
def _forget_unfinished(target: Deployment) -> Iterator[None]:
    """Drop the unfinished work of a twin before the next test."""
    yield
    with target.service.store.write() as session:
        running = col(AuditRow.state) == "running"
        session.exec(update(AuditRow).where(running).values(state="failed"))


def told_apart(target: Deployment, world: World, **asked: Any) -> set[str]:
    """Return the observations in which members and strangers differ."""
    members, strangers = usernames(world, 20), usernames(world, 20, strangers=True)
    assert [len(name) for name in members] == [len(name) for name in strangers]
    views = [list(look(target, names, **asked)) for names in (members, strangers)]
    if len(views[0]) != len(views[1]):
        return {"number of answers"}
    if "kind" in asked:  # a request that is refused tells nothing, and tests nothing
        assert "release" in {view[0] for view in views[0] if view[1] == 200}
    return {one[0] for one, other in zip(*views, strict=True) if one != other}


@pytest.mark.parametrize("kind", KINDS_OF_AUDIT)
def test_nothing_tells_members_from_strangers(target: Deployment, world: World, kind: str) -> None:
    assert told_apart(target, world, kind=kind) == set()


def test_nor_does_a_release_without_sizes(target: Deployment, world: World) -> None:
    assert told_apart(target, world, size_epsilon="0") == set()


def matched(session: Any, audience: Any) -> int:
    return int(sum(len(group.people or b"") for group in uploads.load_groups(session, audience.id)))


@pytest.mark.long
def test_a_count_of_matches_in_the_audience_would_tell(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = uploads.to_wire

    def counting(session: Any, row: Any) -> Any:
        shown = original(session, row)
        found = matched(session, row) // 8 // len(shown.groups)
        groups = [group.model_copy(update={"members": found}) for group in shown.groups]
        return shown.model_copy(update={"groups": groups})

    monkeypatch.setattr(uploads, "to_wire", counting)
    assert told_apart(target, world) >= {"seal", "audience", "audiences"}


@pytest.mark.long
def test_an_error_about_an_empty_match_would_tell(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = sealing.close

    def helpful(session: Any, audience: Any, groups: Any, who: Any, *rest: Any, **k: Any) -> None:
        if not all(len(group) for group in who.groups):
            raise EmptyGroupError("nobody of this group was found")
        original(session, audience, groups, who, *rest, **k)

    monkeypatch.setattr(sealing, "close", helpful)
    assert told_apart(target, world) >= {"number of answers"}


@pytest.mark.long
def test_a_status_that_depends_on_people_would_tell(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = score_bins.tally

    def fussy(content: Any, asked: Any, context: Any, membership: Any, *rest: Any) -> Any:
        if not len(membership.everyone()):
            raise ValueError("there is nobody to score")
        return original(content, asked, context, membership, *rest)

    monkeypatch.setattr(score_bins, "tally", fussy)
    assert told_apart(target, world) & {"audit", "number of answers"}


@pytest.mark.long
def test_a_figure_of_progress_would_tell(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = queries.to_wire

    def chatty(row: Any, *known: Any) -> Any:
        with target.service.store.read() as session:
            groups = uploads.load_groups(session, row.audience_id)
            scored = sum(len(group.people or b"") // 8 for group in groups)
        return original(row, *known).model_copy(update={"failure": f"{scored} people scored"})

    monkeypatch.setattr(queries, "to_wire", chatty)
    assert told_apart(target, world) >= {"queued", "audit", "audits"}


@pytest.mark.long
def test_a_price_that_looks_at_the_data_would_tell(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = pricing.audience_facts

    def thrifty(session: Any, audience: Any, rows: Any) -> Any:
        """Nobody is there, so nobody's number has to be hidden."""
        facts = original(session, audience, rows)
        nobody = (0,) * len(facts.labels)
        return facts if matched(session, audience) else replace(facts, known_sizes=nobody)

    for module in (request_pricing, job):
        monkeypatch.setattr(module, "audience_facts", thrifty)
    assert told_apart(target, world) >= {"price", "submit", "budget"}


@pytest.fixture(scope="module")
def down(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    """A platform that cannot score a content with the title `down`, for anybody."""
    assert platform.scores is not None
    url = sqlite_url(tmp_path_factory.mktemp("down"))
    scores = Faulty(platform.scores, victim=-1)
    settings = REAL | {"lease_seconds": 0.001}
    with deployed(url, on(platform, scores), **settings) as running:
        yield running


def test_a_content_that_breaks_the_model_does_not_tell(down: Deployment, world: World) -> None:
    assert told_apart(down, world, title="down") == set()


@pytest.mark.long
def test_a_model_that_is_asked_only_where_somebody_matched_would_tell(
    down: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = Membership.batches

    def of_somebody(membership: Membership) -> Iterator[tuple[int, Any]]:
        return (batch for batch in batches(membership) if len(batch[1]))

    monkeypatch.setattr(score_bins, "require_scoring", lambda *_: None)
    monkeypatch.setattr(Membership, "batches", of_somebody)
    assert told_apart(down, world, title="down") != set()


@pytest.mark.long
def test_a_release_without_a_fixed_number_of_cells_would_tell(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin leaves out groups that nobody matched: the size of the answer is the answer."""
    reduce, present = ScoreHistogram.reduce, ScoreHistogram.present
    sizes = list[int]()

    def counted(self: Any, request: Any, plan: Any, about: Any, who: Any, where: Any) -> Any:
        sizes[:] = [len(group) for group in who.groups]
        return reduce(self, request, plan, about, who, where)

    def sparse(self: Any, request: Any, audience: Any, digests: Any, released: Any) -> Any:
        fields = present(self, request, audience, digests, released)
        kept = [group for group, size in zip(fields["groups"], sizes, strict=True) if size]
        return fields | {"groups": kept}

    monkeypatch.setattr(ScoreHistogram, "reduce", counted)
    monkeypatch.setattr(ScoreHistogram, "present", sparse)
    assert told_apart(target, world) == {"release"}
