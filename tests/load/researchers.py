"""A researcher as plain data, so that generator processes can be given it.

Generators import this and not the SDK: a process that sends load should start quickly.
"""

from dataclasses import dataclass
from typing import Any

from joserfc.jwk import OKPKey

from openapi.resources import ScoreHistogramRequest


@dataclass(frozen=True)
class Researcher:
    """One researcher, with an access token and the request of a small score histogram."""

    id: str
    auditor_id: str
    jwk: dict[str, Any]
    token: str
    origin: str
    content_id: str
    audience_id: str
    request: ScoreHistogramRequest

    @property
    def authorization(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    @property
    def key(self) -> OKPKey:
        return OKPKey.import_key(self.jwk)
