"""HTTP client with retries, which raises problems as errors. Threads may share it."""

import ssl
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from auditor_client.errors import ContractError, ProblemError, error_of
from auditor_client.transport.retries import Retries, retry_after
from openapi.problems import Problem, problem
from openapi.resources import Page

Model = TypeVar("Model", bound=BaseModel)

TIMEOUT = httpx2.Timeout(60.0, connect=10.0)
REPEATABLE = frozenset({"GET", "PUT", "DELETE"})


class StreamRefusedError(Exception):
    """The service does not open a stream now; try again after `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"refused for {seconds:g} s")
        self.seconds = seconds


class Transport:
    """Connection to one service as one researcher (without `auth`: as nobody)."""

    def __init__(
        self, url: str, auth: httpx2.Auth | None = None, retries: Retries | None = None
    ) -> None:
        self.url = url.rstrip("/")
        self.retries = retries or Retries()
        self._http = httpx2.Client(base_url=self.url, auth=auth, timeout=TIMEOUT, verify=_tls())

    def send(
        self, method: str, path: str, *, retry_idempotently: bool | None = None, **options: Any
    ) -> httpx2.Response:
        """Return the answer to a request; raise a problem as its error.

        `again` states that the request may be repeated safely (always true for GET, PUT and
        DELETE). `options` are those of `httpx2.Client.request`.
        """
        repeatable = method in REPEATABLE if retry_idempotently is None else retry_idempotently
        return self.attempt(lambda: self.once(method, path, **options), repeatable)

    def once(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Return the answer to a single attempt, whatever its status."""
        return self._http.request(method, path, **options)

    def attempt(
        self, send: Callable[[], httpx2.Response], retry_idempotently: bool
    ) -> httpx2.Response:
        """Return the answer of `send`, called as often as `retries` allows."""
        response = self.retries.call(send, retry_idempotently)
        if not response.is_success:
            raise refusal(response)
        return response

    def get(self, path: str, model: type[Model], **params: str | None) -> Model:
        given = {name: value for name, value in params.items() if value is not None}
        return parse_answer(model, self.send("GET", path, params=given))

    def post(
        self,
        path: str,
        body: BaseModel | None,
        model: type[Model],
        *,
        retry_idempotently: bool = False,
        headers: dict[str, str] | None = None,
    ) -> Model:
        """Send a wire model by POST, and return the answer as a wire model."""
        content = body.model_dump_json() if body else None
        headers = {"content-type": "application/json", **(headers or {})} if body else headers
        return parse_answer(
            model,
            self.send(
                "POST",
                path,
                retry_idempotently=retry_idempotently,
                content=content,
                headers=headers,
            ),
        )

    def items(self, path: str, model: type[Model], **params: str | None) -> Iterator[Model]:
        """Yield everything in a list, page by page."""
        cursor: str | None = None
        while True:
            page = self.get(path, Page[model], cursor=cursor, **params)  # type: ignore[valid-type]
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def pieces(self, path: str, **params: str | list[str]) -> Iterator[bytes]:
        """Yield a large answer in chunks."""
        with self._http.stream("GET", path, params=params) as response:
            if not response.is_success:
                response.read()
                raise refusal(response)
            yield from response.iter_bytes()

    def events(self, path: str) -> Iterator[httpx2.ServerSentEvent]:
        """Yield server-sent events until the stream ends; raise an error if it is refused or
        breaks.
        """
        with self._http.sse(path) as source:
            if not source.response.is_success:
                raise StreamRefusedError(retry_after(source.response) or 0.0)
            yield from source

    def close(self) -> None:
        self._http.close()


@cache
def _tls() -> ssl.SSLContext:
    """Return the trusted certificates. They are read once per process, because reading is slow."""
    return httpx2.create_ssl_context()


def parse_answer(model: type[Model], response: httpx2.Response) -> Model:
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        raise ContractError(
            f"The answer of {response.request.url.path} is not a {model.__name__}. The "
            "service may have another version. Upgrade platform-auditor."
        ) from error


def refusal(response: httpx2.Response) -> ProblemError:
    """Return the error of a refusal, even one that did not come from the service itself."""
    try:
        return error_of(Problem.model_validate_json(response.content))
    except ValidationError:
        codes = {401: "unauthenticated", 403: "forbidden", 404: "not-found", 429: "rate-limited"}
        fallback = "unavailable" if response.status_code >= 500 else "invalid-request"
        code = codes.get(response.status_code, fallback)
        where = response.request.url.path
        return error_of(problem(code, f"HTTP {response.status_code} without a problem at {where}"))
