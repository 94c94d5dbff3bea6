"""A signed-in connection to one service, the base of `Auditor` and `Regulator`."""

from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from auditor_client.local.keys import KeySource, load_key, plain_jwk
from auditor_client.local.profiles import load_profile
from auditor_client.transport.access_tokens import Tokens
from auditor_client.transport.http_client import Transport
from auditor_client.transport.retries import Retries
from auditor_client.transport.signed_requests import Statements
from auditor_client.transport.webhooks import Webhooks
from openapi.resources import KeyChangeDraft, Me, SignInLink
from privacy.ledger.key_possession import key_change_bytes
from privacy.ledger.statements import sign


class KeyList(BaseModel):
    """A JSON Web Key Set (RFC 7517 §5)."""

    model_config = ConfigDict(frozen=True)

    keys: list[dict[str, Any]]


class Connection:
    """Connection of one researcher to one service. Use it in a `with` block, or call `close()`."""

    def __init__(
        self, url: str, researcher_id: str, key: KeySource, *, retries: Retries | None = None
    ) -> None:
        loaded = load_key(key)
        self._researcher_id, self._key = researcher_id, loaded
        self._public = Transport(url, retries=retries)
        self._tokens = Tokens(self._public, researcher_id, loaded)
        self._transport = Transport(url, auth=self._tokens, retries=retries)
        self._statements = Statements(self._transport, self._public, researcher_id, loaded)

    @classmethod
    def from_profile(cls, name: str) -> Self:
        """Return the connection of a profile saved on this machine."""
        profile = load_profile(name)
        return cls(profile.url, profile.researcher, profile.key)

    @property
    def url(self) -> str:
        return self._transport.url

    @property
    def researcher_id(self) -> str:
        return self._researcher_id

    def me(self) -> Me:
        """Return your identity at this service, and the key that identifies you."""
        return self._transport.get("/v1/me", Me)

    def change_key(self, key: KeySource) -> Me:
        """Register this key in place of the old one, which signs the request."""
        loaded, researcher_id = load_key(key), self._researcher_id
        jwk = plain_jwk(loaded)
        proved = key_change_bytes(self._statements.origin(), researcher_id, jwk)
        body = KeyChangeDraft(jwk=jwk, proof=sign(proved, loaded))
        changed = self._statements.post("/v1/me/key", "researcher-key", body, Me)
        self._key = loaded
        self._statements.use(loaded)
        self._tokens.use(loaded)
        return changed

    def console_link(self) -> SignInLink:
        """Return a link that signs you in to the service's console, once and within minutes."""
        return self._transport.post("/v1/me/console", None, SignInLink)

    @property
    def webhooks(self) -> Webhooks:
        return Webhooks(self._transport)

    def keys(self) -> dict[str, Any]:
        """Return the public keys with which the platform signs, as a JSON Web Key Set."""
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
