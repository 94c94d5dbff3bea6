"""Contract of one kind of audit: its name, its request, its release, and its words for people."""

from dataclasses import dataclass
from typing import Any, Literal

from openapi.kinds.released import Released
from openapi.kinds.request_fields import RequestFields

# The data that a kind reads of the people of an audience.
Reads = Literal["matches", "scores", "balances", "logs", "traffic", "policies", "hidden groups"]


@dataclass(frozen=True)
class KindContract:
    """Contract of a kind of audit, which both sides know.

    `counted_in` is the unit of the stated error, where the release consists of counts. `verdict`
    says whether results end in one, so that the audits of a study share its probability of error.
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
        """Return one request body, for documents and forms to show."""
        body: dict[str, Any] = self.request.model_json_schema()["examples"][0]
        return body

    @property
    def module(self) -> str:
        """Return the name of the module that holds the kind in each package."""
        return self.name.replace("-", "_")
