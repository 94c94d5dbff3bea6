"""What regulators are shown of patterns: it depends on uploads, not on whom they reached."""

import re
import secrets
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from api.audiences import matching
from api.insight import sketches
from platform_sim import World
from privacy.membership import Persons
from privacy.sketch import Sketch
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


def test_a_sketch_of_those_who_were_found_would_tell(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: sketches of person numbers, as if the uploads' own tokens were not to hand."""
    original, fresh, made = matching.match_or_cut, sketches.new_sketch, list[Sketch]()

    class Blind(Sketch):
        def watch(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
            return iter(chunks)

    def new_sketch(settings: Any) -> Sketch:
        made.append(Blind(fresh(settings).key))
        return made[-1]

    def match(*arguments: Any) -> Persons:
        found = original(*arguments)
        for person in found[found >= 0].tolist():
            made[-1].add(person.to_bytes(32, "little"))
        return found

    monkeypatch.setattr(matching, "new_sketch", new_sketch)
    monkeypatch.setattr(matching, "match_or_cut", match)
    there = without_names(shown(target, usernames(world, 720)[600:]))
    strangers = without_names(shown(target, fakes(120)))
    assert there != strangers
