"""Flags for regulators depend on uploads, not on the people whom they reached."""

import re
import secrets

import pytest

from api.audiences import matching, part_upload
from api.audiences.matching import Binding
from api.audiences.parsing import Members
from api.audiences.similarity_sketches import new_sketch
from api.kernel.settings import Settings
from platform_sim import World
from tests.attacks.outside import VARYING
from tests.system.raw import Raw, raw, request_for, usernames
from tests.world import Deployment


def shown(target: Deployment, names: list[str]) -> list[str]:
    """Six small uploads, two of them of the same names; and everything a regulator can ask."""
    auditor = target.auditor()
    me, watching = raw(target, auditor), raw(target, target.regulator)
    auditor_id = auditor.budget().mandates[0].auditor_id
    for number in range(6):
        part = names[:20] if number == 5 else names[20 * number : 20 * number + 20]
        made = me.audience({"g0": part})
    me.submit(request_for(me.content(), made, epsilon="0.01"))
    return answers(watching, auditor_id)


def answers(watching: Raw, auditor_id: str) -> list[str]:
    paths = ["overview", "flags", "refusals", "refusals/counts"]
    paths += [f"exports/{name}" for name in ("overview", "charges", "refusals", "flags")]
    found = []
    for path in paths:
        answer = watching.get(f"/v1/regulator/{path}", params={"auditor_id": auditor_id})
        assert answer.is_success, answer.text
        words = VARYING.sub("…", answer.text)
        # The platform's account goes on; the rest is this auditor's alone.
        found.append(words.partition('"auditors"')[2] or words)
    return found


def fakes(count: int) -> list[str]:
    return [f"nobody{secrets.token_hex(6)}" for _ in range(count)]


def without_names(pages: list[str]) -> list[str]:
    """Every organisation of the tests has a name of its own."""
    return [re.sub(r"Lab [0-9a-f]{8}", "…", page) for page in pages]


def test_flags_do_not_change_with_who_was_found(target: Deployment, world: World) -> None:
    there = without_names(shown(target, usernames(world, 520)[400:]))
    strangers = without_names(shown(target, fakes(120)))
    assert there == strangers
    assert "tiny-audiences" in there[1]
    assert "near-identical-audiences" in there[1]


def test_a_sketch_of_matches_would_reveal_them(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deliberate mistake: sketches of person numbers instead of the uploaded tokens."""
    people, bind = target.service.platform.people, matching.bind

    def of_those_found(members: Members, settings: Settings) -> Binding:
        sketch, found = new_sketch(settings), matching.match_isolating_failures(people, members)
        for person in found[found >= 0].tolist():
            sketch.add(person.to_bytes(32, "little"))
        return bind(members, settings)._replace(sketch=sketch.smallest)

    monkeypatch.setattr(part_upload, "bind", of_those_found)
    there = without_names(shown(target, usernames(world, 720)[600:]))
    strangers = without_names(shown(target, fakes(120)))
    assert there != strangers
