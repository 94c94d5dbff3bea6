"""Contract of one kind of audit: its name, its request, its release, and its texts for people."""

from dataclasses import dataclass
from typing import Any, Literal

from openapi.kinds.released import Released
from openapi.kinds.request_fields import RequestFields

# Data that a kind reads about the people of an audience.
Reads = Literal["matches", "scores", "balances", "logs", "traffic", "policies", "hidden groups"]


@dataclass(frozen=True)
class KindContract:
    """Contract of a kind of audit, which both sides share.

    `counted_in` is the unit of the stated error, if the release consists of counts. `verdict`
    states whether results have a verdict, so that the audits of a study share its probability of
    error.
    """

    name: str
    request: type[RequestFields]
    release: type[Released]
    title: str
    reads: Reads
    counted_in: Literal["people", "rows"] | None = None
    verdict: bool = False

    @property
    def question(self) -> str:
        """Return the question that this kind answers, in one paragraph."""
        return " ".join((self.request.__doc__ or "").split())

    @property
    def example(self) -> dict[str, Any]:
        """Return one request body, as an example for documents and forms."""
        body: dict[str, Any] = self.request.model_json_schema()["examples"][0]
        return body

    @property
    def module(self) -> str:
        """Return the name of the module that holds the kind in each package."""
        return self.name.replace("-", "_")
