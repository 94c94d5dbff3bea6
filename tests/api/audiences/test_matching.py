"""The stored facts of a part: people found, digest and sketch, by an independent computation."""

from hashlib import sha256
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pytest

from api.audiences.matching import match_people
from api.audiences.parsing import Members
from api.audiences.similarity_sketches import new_sketch
from api.kernel.errors import UnavailableError
from api.kernel.settings import Settings
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import People, Persons
from privacy.sketch import SIZE, merge_sketches
from tests.refusals import refuses
from tests.world import make_settings, sqlite_url

HASHES = [sha256(bytes([number])).digest() for number in range(256)] * 3
PEOPLE = Members("email_sha256", pa.array(HASHES, pa.binary(32)))


class Even:
    """Holds hashes that begin with an even byte, and stumbles over some others."""

    def __init__(self, stumbles: bytes = b"", down: bool = False) -> None:
        self._stumbles = stumbles
        self._down = down
        self.asked = list[bytes | str]()

    def match(self, _: str, identifiers: pa.Array) -> Persons:
        if self._down:
            raise PlatformDownError("gone")
        self.asked += identifiers.to_pylist()
        sent = identifiers.to_pylist()
        first = [each.encode()[0] if isinstance(each, str) else each[0] for each in sent]
        if set(first) & set(self._stumbles):
            raise ValueError("who is this?")
        return np.array([one if one % 2 == 0 else -1 for one in first], np.int64)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_settings(sqlite_url(tmp_path), "http://localhost")


def as_people(platform: Even) -> People:
    return cast("People", platform)


def test_a_matched_part_has_people_in_order_digest_and_sketch(settings: Settings) -> None:
    found = match_people(as_people(Even()), PEOPLE, settings)
    assert found.kind == "email_sha256"
    assert found.persons.tolist() == [h[0] if h[0] % 2 == 0 else -1 for h in HASHES]
    assert found.digest == sha256(b"".join(HASHES)).digest()
    whole = new_sketch(settings)
    whole.add(b"".join(HASHES))
    assert np.array_equal(found.sketch, whole.smallest)


@pytest.mark.parametrize(
    "members",
    [
        PEOPLE,
        Members("email_sha256", pa.array(HASHES[:256], pa.binary(32))),
        Members(
            "email_sha256", pa.array([b"the same" + each[8:] for each in HASHES], pa.binary(32))
        ),
        Members("username", pa.array(["ada", "bo", "ada", "ada"])),
        Members("username", pa.array(["ada", "bo"])),
        Members("username", pa.array([], pa.string())),
    ],
    ids=["three times", "once", "alike", "names", "names once", "nobody"],
)
def test_the_platform_is_asked_about_an_identifier_once(
    members: Members, settings: Settings
) -> None:
    """Else who sends one a million times could hear by the time whether it is there."""
    platform, sent = Even(), members.identifiers.to_pylist()
    found = match_people(as_people(platform), members, settings)
    assert sorted(platform.asked) == sorted(set(sent))
    first = [each.encode()[0] if isinstance(each, str) else each[0] for each in sent]
    assert found.persons.tolist() == [one if one % 2 == 0 else -1 for one in first]


def test_sketches_of_parts_make_the_sketch_of_the_whole(settings: Settings) -> None:
    members = pa.array([sha256(b"%d" % n).digest() for n in range(1_000)], pa.binary(32))
    parts = [
        match_people(
            as_people(Even()), Members("email_sha256", members.slice(start, 300)), settings
        )
        for start in range(0, 1_000, 300)
    ]
    whole = match_people(as_people(Even()), Members("email_sha256", members), settings)
    assert len(whole.sketch) == SIZE
    assert np.array_equal(merge_sketches(part.sketch for part in parts), whole.sketch)


def test_whom_the_adapter_stumbles_over_is_nobody_and_everybody_else_is_found(
    settings: Settings,
) -> None:
    over = HASHES[0][0]
    found = match_people(as_people(Even(stumbles=bytes([over]))), PEOPLE, settings)
    expected = [h[0] if h[0] % 2 == 0 and h[0] != over else -1 for h in HASHES]
    assert found.persons.tolist() == expected


def test_an_error_names_a_platform_that_is_down_but_no_person(settings: Settings) -> None:
    with refuses(UnavailableError, "platform-silent"):
        match_people(as_people(Even(down=True)), PEOPLE, settings)
