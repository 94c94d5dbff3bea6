"""Uploads against a stand-in that keeps parts, and may break, and may lie."""

import io
import json
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pytest
from joserfc.jwk import OKPKey

from auditor_client import Auditor, CommitmentError, ConnectionBrokenError, InputError
from auditor_client.audiences import parts
from auditor_client.errors import ServiceError
from auditor_client.local.audience_records import Record, load_record, save_record
from auditor_client.transport.retries import Retries
from openapi.resources import Audience
from privacy.commitment import commit, group_digest, part_digest, username_tokens
from tests.auditor_client.examples import AUDIENCE_ID, NOW
from tests.auditor_client.scripted import HANG_UP, Answer, Asked, ScriptedService, answer, refuse
from tests.refusals import refuses

PATH = f"/v1/audiences/{AUDIENCE_ID}"
FRAME = pa.table(
    {
        "username": [f"user{number}" for number in range(25)],
        "gender": ["woman"] * 12 + ["man"] * 13,
    }
)
CATALOGUE: dict[str, Any] = {
    "platform": "stand-in",
    "kinds": ["score-histogram"],
    "contents": ["job"],
    "identifiers": ["username"],
    "samples": [],
    "context": [],
    "score_range": {"low": 0, "high": 1},
    "model_digest": "sha256:" + "0" * 64,
    "limits": {
        "members_per_audience": 100,
        "bytes_per_part": 1_000_000,
        "bins": 1000,
        "epsilon_per_audit": "10",
        "rho_per_person": "10",
        "members_kept_days": 30,
    },
}


class Keeper:
    """Keeps what arrives, by group and part, and commits to it when it is sealed."""

    def __init__(self, service: ScriptedService) -> None:
        self.state = "open"
        self.commitment: str | None = None
        self.kept: dict[str, dict[int, bytes]] = {"g0": {}, "g1": {}}
        self.draft: dict[str, Any] = {}
        service.sign_in("token")
        service.on("GET", "/v1/catalogue", answer(CATALOGUE))
        service.on("POST", "/v1/audiences", self.create)
        service.on("GET", PATH, lambda _: self.view())
        service.on("POST", f"{PATH}/seal", self.seal)
        for label in self.kept:
            service.on("PUT", f"{PATH}/groups/{label}/members", self.put)
            service.on("DELETE", f"{PATH}/groups/{label}", self.empty)

    def create(self, asked: Asked) -> Answer:
        self.draft = json.loads(asked.body)
        return self.view(201)

    def put(self, asked: Asked) -> Answer:
        announced = asked.headers["content-digest"].removeprefix("sha-256=:").removesuffix(":")
        assert b64decode(announced) == sha256(asked.body).digest()
        self.kept[asked.path.split("/")[5]][int(asked.query["part"])] = asked.body
        return answer({})

    def empty(self, asked: Asked) -> Answer:
        self.kept[asked.path.split("/")[5]].clear()
        return Answer(204, b"")

    def seal(self, asked: Asked) -> Answer:
        if self.state == "sealed":
            return refuse("audience-sealed")
        salt = b64decode(json.loads(asked.body)["salt"])
        groups = {label: group_digest(self.parts(label)) for label in self.kept}
        self.state, self.commitment = "sealed", commit(salt, groups)
        return self.view()

    def parts(self, label: str) -> Iterator[bytes]:
        for number in sorted(self.kept[label]):
            yield part_digest([username_tokens(self.members(self.kept[label][number]))])

    @staticmethod
    def members(body: bytes) -> list[str]:
        table = pa.ipc.open_stream(io.BytesIO(body)).read_all()
        names: list[str] = table["username"].to_pylist()
        return names

    def view(self, status: int = 200) -> Answer:
        groups = [
            {
                "label": label,
                "members": sum(len(self.members(body)) for body in kept.values()),
                "parts": [
                    {"number": n, "rows": 1, "digest": f"sha256:{sha256(body).hexdigest()}"}
                    for n, body in kept.items()
                ],
            }
            for label, kept in self.kept.items()
        ]
        audience = {
            "id": AUDIENCE_ID,
            "state": self.state,
            "source": "upload",
            "groups": groups,
            "groups_per_person": 1,
            "participation_code": "code" if self.draft.get("confirmed") else None,
            "commitment": self.commitment,
            "created_at": NOW.isoformat(),
        }
        return answer(audience, status)


@pytest.fixture
def keeper(service: ScriptedService, monkeypatch: pytest.MonkeyPatch) -> Keeper:
    monkeypatch.setattr(parts, "ROWS_PER_PART", 5)
    return Keeper(service)


@pytest.fixture
def auditor(service: ScriptedService, keeper: Keeper) -> Iterator[Auditor]:
    quick = Retries(attempts=2, first_wait=0.01)
    with Auditor(service.url, "r", OKPKey.generate_key("Ed25519"), retries=quick) as made:
        yield made


def puts(service: ScriptedService) -> list[tuple[str, str]]:
    """Which parts were sent, whichever arrived first: two are on their way at a time."""
    sent = [each for each in service.asked if each.method == "PUT"]
    return sorted((each.path.split("/")[5], each.query["part"]) for each in sent)


def test_an_upload_is_cut_sealed_and_named(
    service: ScriptedService, keeper: Keeper, auditor: Auditor
) -> None:
    audience = auditor.audiences.upload(FRAME, id="username", by="gender")
    assert audience.members == {"man": 13, "woman": 12}
    assert audience.names == {"g0": "man", "g1": "woman"}
    assert audience.wire.state == "sealed"
    assert [part for label, part in puts(service) if label == "g0"] == ["0", "1", "2"]
    sent = [
        name for n in sorted(keeper.kept["g1"]) for name in keeper.members(keeper.kept["g1"][n])
    ]
    assert sent == sorted(f"user{number}" for number in range(12))


def test_names_of_groups_never_leave(service: ScriptedService, auditor: Auditor) -> None:
    auditor.audiences.upload(FRAME, id="username", by="gender")
    for asked in service.asked:
        everything = asked.path.encode() + repr(asked.headers).encode() + asked.body
        assert b"woman" not in everything
        assert b"gender" not in everything


def test_a_later_process_knows_the_names(auditor: Auditor) -> None:
    auditor.audiences.upload(FRAME, id="username", by="gender")
    assert auditor.audiences.get(AUDIENCE_ID).members == {"man": 13, "woman": 12}


def test_a_broken_upload_is_resumed_where_it_broke(
    service: ScriptedService, keeper: Keeper, auditor: Auditor
) -> None:
    path = f"{PATH}/groups/g1/members"
    service.on("PUT", path, keeper.put, HANG_UP)
    with pytest.raises(ConnectionBrokenError) as caught:
        auditor.audiences.upload(FRAME, id="username", by="gender")
    assert any(AUDIENCE_ID in note for note in caught.value.__notes__)
    [arrived] = keeper.kept["g1"]
    service.on("PUT", path, keeper.put)
    service.asked.clear()
    turned = FRAME.take(pa.array(range(24, -1, -1)))
    audience = auditor.audiences.upload(turned, id="username", by="gender", resume=AUDIENCE_ID)
    assert puts(service) == [("g1", str(part)) for part in range(3) if part != int(arrived)]
    assert audience.members == {"man": 13, "woman": 12}


def test_parts_of_another_frame_are_replaced(
    service: ScriptedService, keeper: Keeper, auditor: Auditor
) -> None:
    service.on("POST", f"{PATH}/seal", refuse("unavailable"))
    with pytest.raises(ServiceError, match=r"\[unavailable\]"):
        auditor.audiences.upload(FRAME, id="username", by="gender")
    service.on("POST", f"{PATH}/seal", keeper.seal)
    fewer = FRAME.slice(10, 8)
    audience = auditor.audiences.upload(fewer, id="username", by="gender", resume=AUDIENCE_ID)
    assert audience.members == {"man": 6, "woman": 2}


def test_resuming_needs_the_same_groups_and_machine(auditor: Auditor) -> None:
    with refuses(InputError, "not-begun-here"):
        auditor.audiences.upload(FRAME, id="username", by="gender", resume=AUDIENCE_ID)
    auditor.audiences.upload(FRAME, id="username", by="gender")
    other = FRAME.set_column(1, "gender", pa.array(["a"] * 12 + ["b"] * 13))
    with refuses(InputError, "other-groups"):
        auditor.audiences.upload(other, id="username", by="gender", resume=AUDIENCE_ID)


def test_a_resumed_upload_is_cut_by_the_limit_of_now(
    service: ScriptedService, keeper: Keeper, auditor: Auditor
) -> None:
    """Else a service that changed its limit would seem to have sealed something else."""
    service.on("POST", f"{PATH}/seal", refuse("unavailable"))
    with pytest.raises(ServiceError, match=r"\[unavailable\]"):
        auditor.audiences.upload(FRAME, id="username", by="gender")
    assert [len(parts) for parts in keeper.kept.values()] == [3, 3]
    service.on("POST", f"{PATH}/seal", keeper.seal)
    smaller = {**CATALOGUE["limits"], "bytes_per_part": 4_126}  # room for two names
    service.on("GET", "/v1/catalogue", answer({**CATALOGUE, "limits": smaller}))
    audience = auditor.audiences.upload(FRAME, id="username", by="gender", resume=AUDIENCE_ID)
    assert audience.wire.state == "sealed"
    assert [len(parts) for parts in keeper.kept.values()] == [7, 6]
    # Sealed, it is compared as it was cut, whatever the limit is.
    service.on("GET", "/v1/catalogue", answer(CATALOGUE))
    again = auditor.audiences.upload(FRAME, id="username", by="gender", resume=AUDIENCE_ID)
    assert again.commitment == audience.commitment


def test_what_an_earlier_version_uploaded_is_not_sealed_as_something_else(
    service: ScriptedService, keeper: Keeper, auditor: Auditor
) -> None:
    """It was committed to in another way: nobody is to be accused of that."""
    before = "sha256:" + "0" * 64
    save_record(
        AUDIENCE_ID, Record({"g0": "man", "g1": "woman"}, b"a salt of the version before", before)
    )
    with refuses(InputError, "earlier-version"):
        auditor.audiences.seal(AUDIENCE_ID)
    assert not service.requests("POST", f"{PATH}/seal")
    # What it had sealed stays what it was.
    keeper.state, keeper.commitment = "sealed", before
    assert auditor.audiences.seal(AUDIENCE_ID).commitment == before
    found = auditor.audiences.upload(FRAME, id="username", by="gender", resume=AUDIENCE_ID)
    assert found.commitment == before
    # What it had only begun is cut and committed to as everything is now.
    keeper.state = "open"
    resumed = auditor.audiences.upload(FRAME, id="username", by="gender", resume=AUDIENCE_ID)
    assert resumed.commitment == keeper.commitment != before


def test_a_lost_answer_to_the_seal_loses_nothing(
    service: ScriptedService, keeper: Keeper, auditor: Auditor
) -> None:
    def seal_and_hang_up(asked: Asked) -> Answer:
        keeper.seal(asked)
        return HANG_UP

    service.on("POST", f"{PATH}/seal", seal_and_hang_up, keeper.seal)
    assert auditor.audiences.upload(FRAME, id="username", by="gender").wire.state == "sealed"


def test_a_service_that_sealed_something_else_is_caught(
    service: ScriptedService, keeper: Keeper, auditor: Auditor
) -> None:
    def lose_a_part(asked: Asked) -> Answer:
        del keeper.kept["g0"][1]
        return keeper.seal(asked)

    service.on("POST", f"{PATH}/seal", lose_a_part)
    with pytest.raises(CommitmentError):
        auditor.audiences.upload(FRAME, id="username", by="gender")


def test_an_audience_of_those_who_confirm_is_left_open_for_them(
    keeper: Keeper, auditor: Auditor
) -> None:
    audience = auditor.audiences.upload(FRAME, id="username", by="gender", confirmed=True)
    assert (audience.wire.state, audience.participation_code) == ("open", "code")
    assert keeper.draft["confirmed"] is True
    sealed = auditor.audiences.seal(AUDIENCE_ID)
    record = load_record(AUDIENCE_ID)
    assert record is not None
    assert sealed.commitment == record.commitment


def test_what_the_catalogue_does_not_allow_is_not_sent(
    service: ScriptedService, auditor: Auditor
) -> None:
    hashed = FRAME.append_column("email", pa.array([f"{n}@x.org" for n in range(25)]))
    with refuses(InputError, "identifier-kind", "email_sha256"):
        auditor.audiences.upload(hashed, id="email", by="gender")
    crowd = {"username": [f"u{n}" for n in range(101)], "gender": ["x"] * 101}
    with refuses(InputError, "audience-too-large", 100):
        auditor.audiences.upload(pa.table(crowd), id="username", by="gender")
    assert not service.requests("POST", "/v1/audiences")


def test_a_sample_is_asked_for_by_value_and_named(
    service: ScriptedService, keeper: Keeper, auditor: Auditor
) -> None:
    keeper.state = "sealed"
    service.on("POST", "/v1/audiences/samples", lambda _: keeper.view(201))
    audience = auditor.audiences.sample("gender", {"woman": 30, "man": 20})
    assert audience.names == {"g0": "man", "g1": "woman"}
    (asked,) = service.requests("POST", "/v1/audiences/samples")
    assert json.loads(asked.body)["groups"] == [
        {"label": "g0", "value": "man", "size": 20},
        {"label": "g1", "value": "woman", "size": 30},
    ]
    assert isinstance(audience.wire, Audience)
