"""A signed-in connection to one service: what `Auditor` and `Regulator` are built on."""

from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from auditor_client.keys import KeySource, load_key
from auditor_client.profiles import load_profile
from auditor_client.retries import Retries
from auditor_client.tokens import Tokens
from auditor_client.transport import Transport


class KeyList(BaseModel):
    """A JSON Web Key Set (RFC 7517 §5)."""

    model_config = ConfigDict(frozen=True)

    keys: list[dict[str, Any]]


class Connection:
    """One researcher at one service. Use it in a `with` block, or call `close()`."""

    def __init__(
        self, url: str, researcher_id: str, key: KeySource, *, retries: Retries | None = None
    ) -> None:
        self._public = Transport(url, retries=retries)
        self._tokens = Tokens(self._public, researcher_id, load_key(key))
        self._transport = Transport(url, auth=self._tokens, retries=retries)

    @classmethod
    def from_profile(cls, name: str) -> Self:
        """The connection of a profile saved on this machine."""
        profile = load_profile(name)
        return cls(profile.url, profile.researcher, profile.key)

    @property
    def url(self) -> str:
        return self._transport.url

    def keys(self) -> dict[str, Any]:
        """The public keys with which the platform signs, as a JSON Web Key Set."""
        return self._public.get(self._tokens.metadata().jwks_uri, KeyList).model_dump()

    def close(self) -> None:
        self._transport.close()
        self._public.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
