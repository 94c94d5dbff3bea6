"""A platform behind HTTP is the same platform: what it says, gets wrong, and when it is down."""

import io
import itertools
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from pydantic import SecretStr, ValidationError

from api.kinds.building_blocks.scoring import score_isolating_failures
from api.platforms.fault_isolation import PlatformDownError, iter_isolating_failures
from api.platforms.http import HttpPlatform, served
from api.platforms.http.client import AdapterClientOptions, AnswerTooLargeError, CallFailedError
from api.platforms.http.messages import END
from api.platforms.http.platform import HttpDirectory
from api.platforms.interfaces import Log, Logs, Persons, Platform
from platform_sim import SOFTWARE_JOB
from tests.api.platforms.http.adapters import (
    IMPATIENT,
    NOON,
    altered,
    connected,
    hosted,
    over_http,
    there,
)
from tests.refusals import refuses
from tests.system.adapters import FAULTS, GOSSIP, Faulty, Mislabelled, Watched
from tests.world import free_port, listening

SOME = np.arange(0, 600, 3)
VICTIM = 300


@pytest.fixture(scope="module")
def far(platform: Platform) -> Iterator[HttpPlatform]:
    """The small platform, in calls of a hundred people."""
    with over_http(platform, people_per_call=100) as connected:
        yield connected


# --- the same answers


def test_public_facts_are_those_of_the_platform(far: HttpPlatform, platform: Platform) -> None:
    assert far.name == platform.name
    assert far.people.offers() == platform.people.offers()
    assert there(far.logs).logs() == there(platform.logs).logs()
    scores, expected = there(far.scores), there(platform.scores)
    assert scores.model_digest == expected.model_digest
    assert scores.score_range == expected.score_range
    assert scores.context == expected.context
    policies, own = there(far.policies), there(platform.policies)
    assert policies.policies_digest == own.policies_digest
    assert policies.step_seconds == own.step_seconds


@pytest.mark.parametrize("kind", ["username", "email_sha256", "phone_sha256"])
def test_people_are_matched_in_order(far: HttpPlatform, platform: Platform, kind: str) -> None:
    persons, held = there(platform.directory).held(kind)
    unknown = pa.array([b"x" * 32], held.type) if kind != "username" else pa.array(["nobody_here"])
    asked = pa.concat_arrays([held.slice(7, 230), unknown])
    assert list(far.people.match(kind, asked)) == [*persons[7:237], -1]
    assert len(far.people.match(kind, held[:0])) == 0
    numbers, identifiers = there(far.directory).held(kind)
    assert np.array_equal(numbers, persons)
    assert identifiers.equals(held)


def test_scores_are_the_same_to_the_bit(far: HttpPlatform, platform: Platform) -> None:
    content = {**SOFTWARE_JOB, "image": secrets.token_bytes(40)}
    expected = there(platform.scores).score(content, SOME, NOON)
    assert np.array_equal(there(far.scores).score(content, SOME, NOON), expected)
    assert len(there(far.scores).score(content, SOME[:0], NOON)) == 0


def test_samples_are_drawn_by_the_seed_that_is_sent(far: HttpPlatform) -> None:
    sizes = {"woman": 30, "man": 20}
    first, again, other = (
        far.people.sample("gender", sizes, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert {value: len(persons) for value, persons in first.items()} == sizes
    assert all(np.array_equal(first[value], again[value]) for value in sizes)
    assert not np.array_equal(first["man"], other["man"])


def test_the_rest_is_the_same_too(far: HttpPlatform, platform: Platform) -> None:
    assert np.array_equal(far.people.confirmed("abc"), platform.people.confirmed("abc"))
    name, log = next(iter(there(platform.logs).logs().items()))
    columns = [*log.numbers, *log.words]
    rows, expected = (
        pa.Table.from_batches(logs.read(name, SOME, columns))
        for logs in (there(far.logs), there(platform.logs))
    )
    assert rows.select(expected.column_names).equals(expected)
    assert not sum(map(len, there(far.logs).read(name, SOME[:0], columns)))
    policies, own = there(far.policies), there(platform.policies)
    assert np.array_equal(policies.consenting(SOME), own.consenting(SOME))
    course = ("audit_1", SOME, SOME[::-1].copy(), np.arange(len(SOME)))
    assert np.array_equal(policies.rewards(*course), own.rewards(*course))


# --- who may call


def test_a_wrong_token_is_refused_and_never_shown(platform: Platform) -> None:
    token = secrets.token_urlsafe(16)
    with hosted(served(platform, SecretStr(token))) as url:
        with connected(url, token=token) as far:
            assert far.name == platform.name
        with pytest.raises(PlatformDownError):
            HttpPlatform.at(url, token="wrong", **IMPATIENT)
    assert token not in repr(AdapterClientOptions(url=url, token=token))


def test_a_token_file_is_read_anew(platform: Platform, tmp_path: Any) -> None:
    file = tmp_path / "token"
    file.write_text("first\n")
    with hosted(served(platform, SecretStr("second"))) as url:
        with pytest.raises(PlatformDownError):
            HttpPlatform.at(url, token_file=file, **IMPATIENT)
        file.write_text("second\n")
        with connected(url, token_file=file) as far:
            assert far.name == platform.name
            file.write_text("third\n")
            with pytest.raises(PlatformDownError):
                far.people.confirmed("abc")


@pytest.mark.parametrize(
    "options",
    [
        {"url": "http://scores.example.org"},
        {"url": "https://me:secret-word@scores.example.org"},
        {"url": "https://scores.example.org", "certificate": "a.pem"},
        {"url": "https://scores.example.org", "tokn": "secret-word"},
    ],
)
def test_unsafe_or_unknown_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as raised:
        AdapterClientOptions(**options)
    assert "secret-word" not in str(raised.value)


# --- what it gets wrong about somebody


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_bad_values_for_one_person_are_cut_and_nobody_else_is(
    platform: Platform, fault: str
) -> None:
    faulty = Faulty(there(platform.scores), victim=VICTIM)
    content = {**SOFTWARE_JOB, "title": fault}
    expected = score_isolating_failures(faulty, content, SOME, NOON)
    with over_http(replace(platform, scores=faulty), rest_seconds=60) as far:
        assert np.array_equal(
            score_isolating_failures(there(far.scores), content, SOME, NOON),
            expected,
            equal_nan=True,
        )
        # However often it failed for somebody, it is not down.
        assert there(far.scores).score(SOFTWARE_JOB, SOME, NOON).shape == SOME.shape
    others = SOME != VICTIM
    assert np.isfinite(expected[others]).all()


class Unreadable:
    """Logs that break in the middle of an answer, at one person's rows."""

    def __init__(self, inner: Logs) -> None:
        self.inner = inner

    def logs(self) -> Mapping[str, Log]:
        return self.inner.logs()

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for person in persons:
            if person == VICTIM:
                raise OSError(GOSSIP)
            yield from self.inner.read(log, np.array([person]), columns)


def test_rows_of_everybody_else_are_read(platform: Platform) -> None:
    name, log = next(iter(there(platform.logs).logs().items()))
    columns, few = list(log.numbers), np.arange(VICTIM - 2, VICTIM + 3)
    others = few[few != VICTIM]
    expected = sum(map(len, there(platform.logs).read(name, others, columns)))
    with over_http(replace(platform, logs=Unreadable(there(platform.logs)))) as far:
        logs = there(far.logs)
        answers = iter_isolating_failures(
            lambda start, stop: list(logs.read(name, few[start:stop], columns)), len(few)
        )
        rows = [batch for _, _, batches in answers for batch in batches]
    assert sum(map(len, rows)) == expected > 0
    assert VICTIM not in pa.Table.from_batches(rows)["person"].to_pylist()


@dataclass
class Slow(Watched):
    """Does not answer about one person until it is told to."""

    told: threading.Event = field(default_factory=threading.Event)

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        if VICTIM in persons:
            self.told.wait(60)
        return super().score(content, persons, context)


def test_people_whose_scores_take_too_long_are_dropped(platform: Platform) -> None:
    """Two people, so that few calls are waited for, each as long as a busy machine may need."""
    slow = Slow(there(platform.scores))
    limits = {"call_seconds": 1.0, "person_seconds": 0.0}
    with over_http(replace(platform, scores=slow), **limits) as far:
        try:
            scores = score_isolating_failures(
                there(far.scores), SOFTWARE_JOB, np.array([VICTIM, VICTIM + 1]), NOON
            )
        finally:
            slow.told.set()
    assert list(np.isnan(scores)) == [True, False]


@pytest.mark.parametrize(
    "alter",
    {
        "no end": lambda body: body.removesuffix(END),
        "half": lambda body: body[: len(body) // 2],
        "more": lambda body: body + b"more",
        "not arrow": lambda body: b"<html>502</html>",
        "cut": lambda body: None,
    }.items(),
    ids=lambda item: item[0],
)
def test_an_answer_that_is_not_whole_is_none(platform: Platform, alter: Any) -> None:
    how = alter[1]
    app = altered(
        served(platform), lambda path, body: how(body) if path == "/v1/match" and body else body
    )
    with (
        hosted(app) as url,
        connected(url) as far,
        pytest.raises(CallFailedError, match="/v1/match"),
    ):
        far.people.match("username", pa.array(["ada"]))


def test_an_answer_without_end_is_not_read_for_ever(platform: Platform) -> None:
    app = altered(served(platform), lambda path, body: body * 40 if path == "/v1/held" else body)
    with (
        hosted(app) as url,
        connected(url, max_answer_bytes=70_000) as far,
        pytest.raises(AnswerTooLargeError, match="/v1/held"),
    ):
        there(far.directory).held("username")


class Talkative:
    """Logs with several rows of each person, in batches of a hundred; one person's never end."""

    def __init__(self, rows: int, endless: int | None = None) -> None:
        self.rows, self.endless, self.batches = rows, endless, 0

    def logs(self) -> Mapping[str, Log]:
        return {"long": Log("viewer", {"score": (0.0, 1.0)})}

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for person in persons.tolist():
            turns = itertools.repeat(0) if person == self.endless else range(self.rows // 100)
            for _ in turns:
                self.batches += 1
                rows = {"person": np.full(100, person), "score": np.full(100, 0.5)}
                yield pa.RecordBatch.from_pydict(rows)


def test_rows_that_are_too_many_for_one_call_come_in_several(platform: Platform) -> None:
    logs = Talkative(rows=2_000)  # 32 kB a person
    limits = {"call_bytes": 2**17, "person_bytes": 64}
    with over_http(replace(platform, logs=logs), **limits) as far:
        answers = iter_isolating_failures(
            lambda start, stop: list(
                there(far.logs).read("long", np.arange(start, stop), ["score"])
            ),
            12,
        )
        sizes = [sum(map(len, batches)) for _, _, batches in answers]
    assert sum(sizes) == 12 * 2_000
    assert max(sizes) < 2**17 / 16 + 2_000


def test_whose_rows_have_no_end_is_cut_and_nobody_else(platform: Platform) -> None:
    logs = Talkative(rows=200, endless=2)
    limits = {"call_bytes": 2**17, "person_bytes": 64}
    with over_http(replace(platform, logs=logs), **limits) as far:
        found = dict.fromkeys(range(4), 0)
        for start, stop, batches in iter_isolating_failures(
            lambda start, stop: list(
                there(far.logs).read("long", np.arange(start, stop), ["score"])
            ),
            4,
        ):
            assert stop - start <= 2
            for batch in batches:
                found[batch["person"][0].as_py()] += len(batch)
    assert found == {0: 200, 1: 200, 2: 0, 3: 200}


def compressed(rows: pa.Table) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_table(rows)
    return sink.getvalue()


def nothing_but_words() -> pa.Table:
    """The rows of it are small, and the dictionary of their words is not."""
    words = pa.array(["a" * 2**23])
    codes = pa.array(np.zeros(1, np.int32))
    return pa.table({"person": pa.DictionaryArray.from_arrays(codes, words)})


@pytest.mark.parametrize(
    "rows", [pa.table({"person": np.zeros(2**20, np.int64)}), nothing_but_words()]
)
def test_an_answer_that_is_small_only_on_the_line_is_refused_before_it_is_unpacked(
    platform: Platform, rows: pa.Table
) -> None:
    """Compressed, which is not allowed: eight megabytes of the same in one batch."""
    packed = compressed(rows)
    assert len(packed) < 2**16
    app = altered(served(platform), lambda path, body: packed if path == "/v1/match" else body)
    with (
        hosted(app) as url,
        connected(url) as far,
        pytest.raises(CallFailedError, match="compressed"),
    ):
        far.people.match("username", pa.array(["ada"]))


def test_rows_of_nothing_without_number_are_refused_before_they_are_read(
    platform: Platform,
) -> None:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, pa.schema([("person", pa.null())])) as writer:
        rows = pa.Array.from_buffers(pa.null(), 2**30, [None])
        writer.write_batch(pa.RecordBatch.from_arrays([rows], ["person"]))
    nothing = sink.getvalue()
    app = altered(served(platform), lambda path, body: nothing if path == "/v1/match" else body)
    with hosted(app) as url, connected(url) as far, pytest.raises(AnswerTooLargeError):
        far.people.match("username", pa.array(["ada"]))


def test_some_of_a_directory_are_had_without_the_rest(platform: Platform) -> None:
    class Endless:
        def held(self, kind: str) -> Any:
            return np.arange(10**6), pa.array([f"name_{n}" for n in range(10**6)])

    with over_http(replace(platform, directory=Endless()), max_answer_bytes=2**21) as far:
        with pytest.raises(AnswerTooLargeError):
            there(far.directory).held("username")
        persons, names = cast("HttpDirectory", far.directory).held("username", 300)
    assert persons.tolist() == list(range(300))
    assert names[299].as_py() == "name_299"


class Listing:
    """A directory as it is written down here."""

    def __init__(self, persons: pa.Array, identifiers: pa.Array) -> None:
        self.listed = persons, identifiers

    def held(self, kind: str) -> Any:
        return self.listed


@pytest.mark.parametrize("binary", [pa.binary(), pa.large_binary(), pa.binary(32)])
def test_listed_hashes_are_of_32_bytes(platform: Platform, binary: pa.DataType) -> None:
    rows = [b"a" * 32, None, b"c" * 32] + ([b"short"] if binary != pa.binary(32) else [])
    listing = Listing(pa.array(range(len(rows))), pa.array(rows, binary))
    with over_http(replace(platform, directory=listing)) as far:
        persons, identifiers = there(far.directory).held("email_sha256")
    assert persons.tolist() == [0, 2]
    assert identifiers.equals(pa.array([b"a" * 32, b"c" * 32], pa.binary(32)))


def test_people_listed_without_a_name_or_a_number_are_dropped(platform: Platform) -> None:
    listing = Listing(pa.array([4, 5, None, -1]), pa.array(["ada", None, "grace", "mary"]))
    with over_http(replace(platform, directory=listing)) as far:
        persons, identifiers = there(far.directory).held("username")
    assert (persons.tolist(), identifiers.to_pylist()) == ([4], ["ada"])


# --- when it is down


def test_down_is_noticed_left_alone_and_noticed_when_it_is_over(platform: Platform) -> None:
    port = free_port()
    with ExitStack() as line:
        with listening(served(platform), port):
            url = f"http://127.0.0.1:{port}"
            far = line.enter_context(connected(url, rest_seconds=0.5))
        with refuses(PlatformDownError, "silent"):
            there(far.scores).score(SOFTWARE_JOB, SOME, NOON)
        with refuses(PlatformDownError, "left-alone"):
            score_isolating_failures(there(far.scores), SOFTWARE_JOB, SOME, NOON)
        time.sleep(0.5)
        with listening(served(platform), port):
            assert np.isfinite(there(far.scores).score(SOFTWARE_JOB, SOME, NOON)).all()


def test_a_short_outage_is_waited_for(platform: Platform) -> None:
    port = free_port()
    with ExitStack() as line:
        with listening(served(platform), port):
            url = f"http://127.0.0.1:{port}"
            far = line.enter_context(connected(url, attempts=6, first_pause=0.05))
        back = threading.Event()

        def come_back() -> None:
            time.sleep(0.2)
            with listening(served(platform), port):
                back.wait(10)

        thread = threading.Thread(target=come_back)
        thread.start()
        try:
            assert list(far.people.match("username", pa.array(["nobody_here"]))) == [-1]
        finally:
            back.set()
            thread.join()


# --- which model answers


@dataclass
class Replaced(Watched):
    """A platform whose model changes after some calls."""

    calls: int = 0
    digests: tuple[str, ...] = ("a", "b")

    @property
    def model_digest(self) -> str:
        return "sha256:" + 64 * self.digests[min(self.calls, len(self.digests) - 1)]

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        found = super().score(content, persons, context)
        self.calls += 1
        return found


def test_two_models_never_answer_one_audit(platform: Platform) -> None:
    """Calls 1, 4 and 5 are of model a, calls 2 and 3 of b: before and after, it says a."""
    turns = Replaced(there(platform.scores), digests=("a", "a", "b", "b", "a"))
    with over_http(replace(platform, scores=turns), facts_seconds=0.0) as far:
        there(far.scores).score(SOFTWARE_JOB, SOME, NOON)
        with refuses(PlatformDownError, "model-changed"):
            there(far.scores).score(SOFTWARE_JOB, SOME, NOON)
        assert there(far.scores).model_digest == "sha256:" + 64 * "b"
        # What was left is not taken back, and another is no answer of one person's.
        with refuses(PlatformDownError, "model-changed"):
            score_isolating_failures(there(far.scores), SOFTWARE_JOB, SOME, NOON)
        assert there(far.scores).model_digest == "sha256:" + 64 * "b"


def test_the_digest_distinguishes_scores_of_the_new_model(
    platform: Platform,
) -> None:
    """As `produce` does: reading goes on with the new model, and what was read is not used."""
    turns = Replaced(there(platform.scores), digests=("a", "b"))
    with over_http(replace(platform, scores=turns), facts_seconds=0.0) as far:
        before = there(far.scores).model_digest
        assert np.isfinite(
            score_isolating_failures(there(far.scores), SOFTWARE_JOB, SOME, NOON)
        ).all()
        assert there(far.scores).model_digest != before


@pytest.mark.parametrize("label", ["", "v17", "sha256:" + "0" * 63, "sha256:" + "0" * 64])
def test_people_scored_by_another_model_are_dropped(platform: Platform, label: str) -> None:
    odd = Mislabelled(there(platform.scores), label=label, victim=VICTIM)
    with over_http(replace(platform, scores=odd), rest_seconds=60) as far:
        digest = there(far.scores).model_digest
        scores = score_isolating_failures(there(far.scores), SOFTWARE_JOB, SOME, NOON)
        assert list(SOME[np.isnan(scores)]) == [VICTIM]
        # Everybody else's audits go on.
        assert there(far.scores).model_digest == digest
        assert np.isfinite(
            score_isolating_failures(there(far.scores), SOFTWARE_JOB, SOME[:9], NOON)
        ).all()


def test_an_adapter_that_never_says_which_model_it_is_of_is_down(platform: Platform) -> None:
    app = altered(
        served(platform),
        lambda path, body: body.replace(b"sha256", b"sha999") if path == "/v1/score" else body,
    )
    with hosted(app) as url, connected(url) as far:
        digest = there(far.scores).model_digest
        with pytest.raises(PlatformDownError):
            score_isolating_failures(there(far.scores), SOFTWARE_JOB, SOME, NOON)
        assert there(far.scores).model_digest == digest
