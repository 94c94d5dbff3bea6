"""Client of a platform's adapter: authenticated, bounded, with time-outs and retries.

A call may fail because of the people it is about, or because the platform is down. So the client
then requests the public facts, which concern nobody. If they do not arrive after a few attempts,
the platform is down (`PlatformDownError`), whatever the call was about. If they arrive, the call is
made once more. If it fails again, it raises `CallFailedError`, and the caller isolates the fault
(`api.platforms.fault_isolation`). No pause, count or breaker depends on people.
"""

import io
import logging
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from api.platforms.http import messages
from api.platforms.http.circuit_breaker import Breaker
from api.platforms.http.messages import Message, MessageTooLargeError, WireError
from api.platforms.http.public_facts import Facts
from api.telemetry import tracing

log = logging.getLogger(__name__)

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


class CallFailedError(Exception):
    """The adapter did not answer a call correctly. The message names the call, never the people."""

    def __init__(self, call: str, how: str) -> None:
        super().__init__(f"{call}: {how}")
        self.call, self.how = call, how


class AnswerTooLargeError(CallFailedError):
    """The answer is larger than the memory for its people. A retry would not help."""

    def __init__(self, call: str) -> None:
        super().__init__(call, "the answer is larger than allowed for its number of people")


class AdapterClientOptions(BaseModel):
    """`[platform_options]` of a platform that is reached over HTTP."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str
    # A bearer token, or the file that holds it, which is read again for every call.
    token: SecretStr | None = None
    token_file: Path | None = None
    # Mutual TLS: our certificate and its key, and the authority of the adapter's certificate.
    certificate: Path | None = None
    certificate_key: Path | None = None
    authority: Path | None = None

    people_per_call: Annotated[int, Field(ge=1, le=1_000_000)] = 65_536
    connect_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    # Time-out of a call about n people: call_seconds + n · person_seconds.
    call_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    person_seconds: Annotated[float, Field(ge=0, le=1)] = 0.001
    # Limit of its answer: call_bytes + n · person_bytes. A list of all people has a limit of its
    # own.
    call_bytes: Annotated[int, Field(ge=65_536)] = 64 << 20
    person_bytes: Annotated[int, Field(ge=64)] = 1_024
    max_answer_bytes: Annotated[int, Field(ge=65_536)] = 1 << 30
    # Seconds after which the public facts are requested again.
    facts_seconds: Annotated[float, Field(ge=0, le=300)] = 5.0
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    first_pause: Annotated[float, Field(ge=0, le=10)] = 0.2
    rest_seconds: Annotated[float, Field(ge=0, le=300)] = 10.0

    @model_validator(mode="after")
    def _is_safe(self) -> Self:
        address = urlsplit(self.url)
        private = address.scheme == "http" and address.hostname in _LOOPBACK
        if address.scheme != "https" and not private:
            raise ValueError("url must begin with https://, except for a loopback address")
        if address.username or address.password:
            raise ValueError("url must not have a password; set token_file")
        if (self.certificate is None) != (self.certificate_key is None):
            raise ValueError("set certificate and certificate_key together")
        return self

    def authorization(self) -> dict[str, str]:
        """Return the headers that authenticate a call."""
        token = self.token.get_secret_value() if self.token else None
        if self.token_file is not None:
            token = self.token_file.read_text().strip()
        return {"Authorization": f"Bearer {token}"} if token else {}

    def answer_bytes(self, people: int | None) -> int:
        """Return the limit in bytes of an answer about this number of people (None: any number)."""
        if people is None:
            return self.max_answer_bytes
        return min(self.call_bytes + people * self.person_bytes, self.max_answer_bytes)

    def tls(self) -> ssl.SSLContext | bool:
        if urlsplit(self.url).scheme != "https":
            return True
        context = ssl.create_default_context(cafile=self.authority)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.certificate is not None:
            context.load_cert_chain(self.certificate, self.certificate_key)
        return context


class AdapterClient:
    def __init__(self, options: AdapterClientOptions) -> None:
        self.options = options
        self._breaker = Breaker(options.attempts, options.first_pause, options.rest_seconds)
        self._http = httpx2.Client(
            base_url=options.url.rstrip("/"),
            verify=options.tls(),
            timeout=httpx2.Timeout(options.call_seconds, connect=options.connect_seconds),
            headers={"Accept-Encoding": "identity"},
            trust_env=False,
        )
        self._known: tuple[Facts, float] | None = None

    def close(self) -> None:
        self._http.close()

    def facts(self) -> Facts:
        """Return the facts that the platform states about itself, at most a few seconds old."""
        if self._known is not None:
            facts, asked_at = self._known
            if time.monotonic() - asked_at < self.options.facts_seconds:
                return facts
        return self._require_up()

    def ask(
        self, call: str, message: Message, people: int | None, rows: int | None = None
    ) -> Message:
        """Return the answer to a call about this number of people (None: any number).

        Read at most `rows` rows of it, if given.
        """
        if self._breaker.is_open:
            self._require_up()
        try:
            return self._ask_once(call, message, people, rows)
        except AnswerTooLargeError:
            raise
        except CallFailedError as error:
            log.warning("platform.call_failed", extra={"route": error.call, "error": error.how})
            self._require_up()
            return self._ask_once(call, message, people, rows)

    def _require_up(self) -> Facts:
        return self._breaker.require_up(self._ask_facts, CallFailedError)

    def _ask_facts(self) -> Facts:
        with self._answered("GET", messages.FACTS, 0) as answer:
            try:
                facts = Facts.model_validate_json(answer.read() or b"")
            except ValidationError as error:
                raise CallFailedError(messages.FACTS, _complaint(error)) from None
        self._known = facts, time.monotonic()
        return facts

    def _ask_once(
        self, call: str, message: Message, people: int | None, rows: int | None
    ) -> Message:
        path, limit = messages.CALLS + call, self.options.answer_bytes(people)
        # Sent with its length, because many servers accept nothing else.
        body = b"".join(messages.write(message))
        with self._answered("POST", path, people, body) as answer:
            try:
                found = messages.read(io.BufferedReader(answer), limit, rows)
            except MessageTooLargeError:
                raise AnswerTooLargeError(path) from None
            except WireError as error:
                raise CallFailedError(path, str(error)) from None
            if rows is None and not answer.is_whole:
                raise CallFailedError(path, "the answer is incomplete")
        return found

    @contextmanager
    def _answered(
        self, method: str, path: str, people: int | None, body: bytes | None = None
    ) -> "Iterator[AnswerStream]":
        """Yield an answer of status 200 to be read; raise every error as `CallFailedError`."""
        seconds = self.options.call_seconds + (people or 0) * self.options.person_seconds
        timeout = httpx2.Timeout(seconds, connect=self.options.connect_seconds)
        headers = self.options.authorization() | (
            {"Content-Type": messages.MEDIA_TYPE} if body else {}
        )
        try:
            with (
                tracing.span("platform", call=path),
                self._http.stream(
                    method, path, content=body, headers=headers, timeout=timeout
                ) as response,
            ):
                if response.status_code != httpx2.codes.OK:
                    raise CallFailedError(path, f"status {response.status_code}")
                limit, until = self.options.answer_bytes(people), time.monotonic() + seconds
                yield AnswerStream(path, response.iter_bytes(), limit, until)
        except httpx2.HTTPError as error:
            # The message of a library may quote the request.
            raise CallFailedError(path, type(error).__name__) from None


class AnswerStream(io.RawIOBase):
    """Bytes of an answer as a file, up to the limit of size and time."""

    def __init__(self, path: str, chunks: Iterator[bytes], limit: int, until: float) -> None:
        super().__init__()
        self._path, self._chunks, self._left, self._until = path, chunks, limit, until
        self._chunk = memoryview(b"")
        self._tail = b""

    @property
    def is_whole(self) -> bool:
        """Whether the Arrow stream was complete, with nothing behind its end."""
        return self._tail == messages.END and not self._next()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._chunk and not self._next():
            return 0
        size = min(len(buffer), len(self._chunk))
        buffer[:size] = self._chunk[:size]
        self._chunk = self._chunk[size:]
        return size

    def _next(self) -> bool:
        for chunk in self._chunks:
            if time.monotonic() > self._until:
                raise CallFailedError(self._path, "the answer takes too long")
            self._left -= len(chunk)
            if self._left < 0:
                raise AnswerTooLargeError(self._path)
            if chunk:
                self._chunk = memoryview(chunk)
                self._tail = (self._tail + chunk)[-len(messages.END) :]
                return True
        return False


def _complaint(error: ValidationError) -> str:
    """Return which fact is wrong, and why."""
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
