"""Entry point for researchers: one object for one service."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from auditor_client.audiences.client import Audiences
from auditor_client.audits.client import Audits
from auditor_client.audits.contents import Contents
from auditor_client.budget.burn_down import BurnDown, burn_down
from auditor_client.errors import InputError
from auditor_client.ledger.session import LedgerConnection
from auditor_client.local.keys import KeySource
from auditor_client.local.pending_audits import PendingAudits
from auditor_client.local.private_files import home
from auditor_client.local.profiles import load_profile
from auditor_client.transport.retries import Retries
from auditor_client.vetting.study_registration import Studies
from openapi.resources import Budget, Catalogue, Quote


class Auditor(LedgerConnection):
    """A researcher of a vetted organisation, at one service.

    auditor = Auditor.from_profile("demo")
    audience = auditor.audiences.upload(frame, id="email", by="gender")
    audit = auditor.audits.run(content, audience, bins=100, epsilon=1)
    audit.fairness_gap(delta=0.05).verdict(alpha=0.2)

    With `pending`, a folder, every audit is recorded there before it is sent. If the program is
    interrupted, the same call continues the same audit and is charged once. `from_profile` has
    such a folder. Without one, keep an `idempotency_key` of your own for each audit.
    """

    def __init__(
        self,
        url: str,
        researcher_id: str,
        key: KeySource,
        *,
        retries: Retries | None = None,
        pending: str | Path | None = None,
    ) -> None:
        super().__init__(url, researcher_id, key, retries=retries)
        folder = None if pending is None else Path(pending)
        self.pending = PendingAudits(folder, self.url, researcher_id)

    @classmethod
    def from_profile(cls, name: str) -> Self:
        """Connect with a profile saved on this machine, and record pending audits next to it."""
        saved = load_profile(name)
        return cls(saved.url, saved.researcher, saved.key, pending=home() / "pending")

    @property
    def contents(self) -> Contents:
        return Contents(self._transport)

    @property
    def audiences(self) -> Audiences:
        return Audiences(self._transport)

    @property
    def audits(self) -> Audits:
        return Audits(self._statements, self.keys, self.pending)

    @property
    def studies(self) -> Studies:
        return Studies(self._statements)

    def budget(self) -> Budget:
        """Return the mandates of this auditor, with what is spent and what remains."""
        return self._transport.get("/v1/budget", Budget)

    def burn_down(self) -> list[BurnDown]:
        """Return each mandate's spending over time, from the ledger; newest mandate first."""
        entries = [*self.ledger.entries("charge"), *self.ledger.entries("refund")]
        now = datetime.now(UTC)
        return [burn_down(mandate, entries, now) for mandate in self.budget().mandates]

    def budget_chart(self, like: Quote | None = None) -> Any:
        """Return the burn-down of each mandate, and the number of audits `like` this quote that it
        still buys.

        Default: the price of the latest paid audit. A notebook displays the chart.
        """
        from auditor_client.budget.charts import burn_down_chart  # Altair takes a second to import

        found = self.burn_down()
        if not found:
            raise InputError("You have no mandate yet. Ask your regulator for one.")
        if like is None:
            return burn_down_chart(found)
        paying = [each for each in found if each.mandate.id == like.mandate_id]
        return burn_down_chart(paying, like.price.debit)

    def catalogue(self) -> Catalogue:
        """Return the platform's public catalogue."""
        return self._public.get("/v1/catalogue", Catalogue)
