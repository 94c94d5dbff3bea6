"""Entry point for regulators: vetting of auditors, mandates, and every charge."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from auditor_client.ledger.session import LedgerConnection
from auditor_client.local.keys import checked_public
from auditor_client.oversight import run_opening
from auditor_client.oversight.client import Insight
from auditor_client.oversight.quarter import Quarter
from auditor_client.transport.decimals import Number, to_decimal, to_decimal_or_none
from auditor_client.transport.signed_requests import Statements
from auditor_client.transport.validation import salt_text, validate
from auditor_client.vetting.client import Applications
from auditor_client.vetting.stop_switch import stop
from openapi.kinds.registry import DEFAULT
from openapi.resources import (
    AuditKind,
    Auditor,
    AuditorDraft,
    Charge,
    Erasure,
    ErasureDraft,
    Mandate,
    MandateChangeDraft,
    MandateDraft,
    MandateStateDraft,
    Progress,
    RemovalDraft,
    Renewal,
    Researcher,
    ResearcherDraft,
    Role,
    StoredRun,
)

if TYPE_CHECKING:
    from privacy.two_party import Opening

PATH = "/v1/regulator"
DELTA_DECIMALS = 12

RenewalKind = Literal["fixed", "rolling"]


class Auditors:
    """Vetted research organisations."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add(self, name: str) -> Auditor:
        body = validate(AuditorDraft, name=name)
        return self._statements.post(f"{PATH}/auditors", "auditor", body, Auditor)

    def list(self) -> list[Auditor]:
        return list(self._statements.transport.items(f"{PATH}/auditors", Auditor))


class Researchers:
    """Named individuals and their public keys."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add(
        self,
        name: str,
        *,
        jwk: Mapping[str, Any] | None = None,
        auditor_id: str | None = None,
        role: Role = "auditor",
        outside_subject: str | None = None,
    ) -> Researcher:
        """Register a person of an auditor or, with another `role`, of a regulator's staff."""
        body = validate(
            ResearcherDraft,
            name=salt_text(name),
            role=role,
            auditor_id=auditor_id,
            jwk=None if jwk is None else checked_public(jwk),
            outside_subject=outside_subject,
        )
        return self._statements.post(f"{PATH}/researchers", "researcher", body, Researcher)

    def remove(self, researcher_id: str, reason: str) -> Researcher:
        """Remove an individual's access; their tokens stop working at once."""
        body = validate(RemovalDraft, researcher_id=researcher_id, reason=salt_text(reason))
        return self._statements.post(f"{PATH}/removals", "researcher-removal", body, Researcher)

    def list(self) -> list[Researcher]:
        return list(self._statements.transport.items(f"{PATH}/researchers", Researcher))


class Mandates:
    """Mandates and the auditors that hold them."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def grant(
        self,
        auditor_id: str,
        *,
        purpose: str,
        valid_until: datetime,
        epsilon_limit: Number | None = None,
        rho_limit: Number | None = None,
        delta: Number | None = None,
        renewal: tuple[RenewalKind, int] | None = None,
        lifetime_limit: Number | None = None,
        exploration_limit: Number = 0,
        opened_share: Number = 1,
        valid_from: datetime | None = None,
        kinds: Sequence[AuditKind] = (DEFAULT,),
        researcher_ids: Sequence[str] | None = None,
    ) -> Mandate:
        """Grant a mandate (default: valid from now on).

        The limit is in epsilon, or in rho for audits with Gaussian noise, and bounds the sum of
        change-one prices. `delta` is the delta at which a limit in rho is shown as an epsilon. With
        `renewal` the limit holds per number of days: in every span of that length (`("rolling",
        30)`), or in each period from `valid_from` on (`("fixed", 30)`: a span across two periods
        may have twice the limit). Such a mandate needs a `lifetime_limit`, which is never renewed.
        `researcher_ids` are the people who may spend it (default: everybody of the auditor).
        `exploration_limit` is the reward that people may lose in audits of envy, over its life.
        `opened_share` is the share of two-party runs that you open before their delivery.
        """
        body = validate(
            MandateDraft,
            auditor_id=auditor_id,
            purpose=purpose,
            kinds=list(kinds),
            epsilon_limit=to_decimal_or_none(epsilon_limit, "epsilon_limit"),
            rho_limit=to_decimal_or_none(rho_limit, "rho_limit"),
            delta=to_decimal_or_none(delta, "delta", DELTA_DECIMALS),
            renewal=renewal and validate(Renewal, kind=renewal[0], days=renewal[1]),
            lifetime_limit=to_decimal_or_none(lifetime_limit, "lifetime_limit"),
            exploration_limit=to_decimal(exploration_limit, "exploration_limit"),
            opened_share=to_decimal(opened_share, "opened_share"),
            valid_from=valid_from or datetime.now(UTC),
            valid_until=valid_until,
            researcher_ids=researcher_ids and list(researcher_ids),
        )
        return self._statements.post(f"{PATH}/mandates", "mandate", body, Mandate)

    def suspend(self, mandate_id: str, reason: str) -> Mandate:
        """Suspend a mandate: nothing more is charged, and audits that have not begun wait."""
        return self._change_state("suspensions", "suspension", mandate_id, reason)

    def resume(self, mandate_id: str, reason: str) -> Mandate:
        """Resume a suspended mandate."""
        return self._change_state("resumptions", "resumption", mandate_id, reason)

    def terminate(self, mandate_id: str, reason: str) -> Mandate:
        """Terminate a mandate. Audits that were not begun are cancelled and refunded."""
        return self._change_state("terminations", "termination", mandate_id, reason)

    def change(
        self,
        mandate_id: str,
        reason: str,
        *,
        epsilon_limit: Number | None = None,
        rho_limit: Number | None = None,
        lifetime_limit: Number | None = None,
        exploration_limit: Number | None = None,
        kinds: Sequence[AuditKind] | None = None,
        valid_until: datetime | None = None,
    ) -> Mandate:
        """Change the given fields of a mandate; leave the others unchanged."""
        body = validate(
            MandateChangeDraft,
            mandate_id=mandate_id,
            epsilon_limit=to_decimal_or_none(epsilon_limit, "epsilon_limit"),
            rho_limit=to_decimal_or_none(rho_limit, "rho_limit"),
            lifetime_limit=to_decimal_or_none(lifetime_limit, "lifetime_limit"),
            exploration_limit=to_decimal_or_none(exploration_limit, "exploration_limit"),
            kinds=kinds and list(kinds),
            valid_until=valid_until,
            reason=salt_text(reason),
        )
        return self._statements.post(f"{PATH}/mandate-changes", "mandate-change", body, Mandate)

    def _change_state(self, path: str, kind: str, mandate_id: str, reason: str) -> Mandate:
        body = validate(MandateStateDraft, mandate_id=mandate_id, reason=salt_text(reason))
        return self._statements.post(f"{PATH}/{path}", kind, body, Mandate)

    def list(self) -> list[Mandate]:
        return list(self._statements.transport.items(f"{PATH}/mandates", Mandate))


class Regulator(LedgerConnection):
    """A regulator's member of staff, at one service."""

    @property
    def auditors(self) -> Auditors:
        return Auditors(self._statements)

    @property
    def researchers(self) -> Researchers:
        return Researchers(self._statements)

    @property
    def mandates(self) -> Mandates:
        return Mandates(self._statements)

    @property
    def applications(self) -> Applications:
        return Applications(self._statements)

    def erase(self, subject_id: str) -> Erasure:
        """Erase the personal text of an application or an individual; the ledger still verifies."""
        body = validate(ErasureDraft, subject_id=subject_id)
        return self._statements.post(f"{PATH}/erasures", "erasure", body, Erasure)

    def stop(self, audit_id: str, reason: str) -> Progress:
        """Stop an audit: from its next batch of steps on, nobody is shown anything more."""
        return stop(self._statements, "regulator", audit_id, reason)

    def waiting_runs(self) -> list[StoredRun]:
        """Return two-party runs that were answered but not delivered; some wait for you to open
        them.
        """
        return run_opening.waiting(self._transport)

    def open_run(self, audit_id: str) -> "Opening":
        """Open a two-party run with your key, check every weight, and sign a statement of the
        findings.

        A run without findings can be delivered. A run with findings never is, and its charge
        stays.
        """
        run, found = run_opening.look_into(self._transport, audit_id, self._key)
        run_opening.state(self._statements, run, found)
        return found

    @property
    def insight(self) -> Insight:
        """The regulator's overview: mandates, refusals and unusual events, with tables to
        export.
        """
        return Insight(self._transport)

    def report(self, path: str | Path, *, quarter: str, auditor_id: str | None = None) -> Path:
        """Write the report of a quarter (`"2026-Q4"`), on one auditor or all, as one HTML file."""
        from auditor_client.oversight.report import render  # charts take a second to import

        dossier = self.insight.dossier(Quarter.parse(quarter), auditor_id)
        path = Path(path)
        path.write_text(render(dossier), encoding="utf-8")
        return path

    def charges(
        self, *, auditor_id: str | None = None, audience_id: str | None = None
    ) -> list[Charge]:
        """Return the charges, with auditor, audit and audience."""
        return list(
            self._transport.items(
                f"{PATH}/charges", Charge, auditor_id=auditor_id, audience_id=audience_id
            )
        )
