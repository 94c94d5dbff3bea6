"""The researcher's door to a service."""

from auditor_client.audiences import Audiences
from auditor_client.audits import Audits
from auditor_client.connection import Connection
from auditor_client.contents import Contents
from openapi.models import Budget, Catalogue


class Auditor(Connection):
    """A researcher of a vetted organisation, at one service.

    auditor = Auditor.from_profile("demo")
    audience = auditor.audiences.upload(frame, id="email", by="gender")
    audit = auditor.audits.run(content, audience, bins=100, epsilon=1)
    audit.fairness_gap(delta=0.05).verdict(alpha=0.2)
    """

    @property
    def contents(self) -> Contents:
        return Contents(self._transport)

    @property
    def audiences(self) -> Audiences:
        return Audiences(self._transport)

    @property
    def audits(self) -> Audits:
        return Audits(self._statements, self.keys)

    def budget(self) -> Budget:
        """The mandates of this auditor, with what is spent and what remains."""
        return self._transport.get("/v1/budget", Budget)

    def catalogue(self) -> Catalogue:
        """What the platform offers; anyone may see it."""
        return self._public.get("/v1/catalogue", Catalogue)
