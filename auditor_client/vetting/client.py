"""Vetting for its three parties: applicants, regulators, and the platform's operators."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Literal

from joserfc.jwk import OKPKey

from auditor_client.errors import InputError, TrustError
from auditor_client.ledger.session import LedgerConnection
from auditor_client.local.keys import KeySource, load_key, plain_jwk
from auditor_client.transport.decimals import Number, to_decimal, to_decimal_or_none
from auditor_client.transport.http_client import Transport
from auditor_client.transport.retries import Retries
from auditor_client.transport.signed_requests import Statements
from auditor_client.transport.validation import salt_text, validate
from auditor_client.vetting.stop_switch import stop
from openapi.resources import (
    AmendmentDraft,
    Application,
    ApplicationDraft,
    ApplicationState,
    AuditKind,
    DecisionDraft,
    LedgerKeys,
    MandateLimits,
    MediationDraft,
    Progress,
    Renewal,
    WithdrawalDraft,
)
from privacy.ledger.signatures import Signer
from privacy.ledger.statements import state_request
from privacy.receipts import canonical, digest

PATH = "/v1/applications"
Decided = Literal[
    "request-changes", "extend", "approve", "refuse", "accept-amendment", "reject-amendment"
]


class Applicant(LedgerConnection):
    """Principal applicant, who has a key and an application.

    applicant, application = Applicant.apply(url, "ada.jwk", draft)
    """

    def __init__(
        self, url: str, researcher_id: str, key: KeySource, *, retries: Retries | None = None
    ) -> None:
        super().__init__(url, researcher_id, key, retries=retries)
        self._applying = _applying(self._transport, self._public, load_key(key))

    @classmethod
    def apply(
        cls, url: str, key: KeySource, application: ApplicationDraft
    ) -> tuple["Applicant", Application]:
        """Send an application; the applicant needs no registration."""
        loaded = load_key(key)
        if application.principal.jwk.get("x") != plain_jwk(loaded)["x"]:
            raise InputError(
                "The application names another principal, with another key. Nothing was sent.",
                case="another-principal",
            )
        public = Transport(url)
        try:
            made = _applying(public, public, loaded).post(
                PATH, "application", application, Application
            )
        finally:
            public.close()
        return cls(url, principal_of(made), loaded), made

    def applications(self) -> list[Application]:
        """Return the applications that name you."""
        return list(self._transport.items(PATH, Application))

    def application(self, application_id: str) -> Application:
        return self._transport.get(f"{PATH}/{application_id}", Application)

    def answer(self, application_id: str, application: ApplicationDraft) -> Application:
        """Return a new version, after the regulator asked for changes."""
        path = f"{PATH}/{application_id}/versions"
        return self._applying.post(path, "application", application, Application)

    def withdraw(self, application_id: str) -> Application:
        """Withdraw an undecided application."""
        body = validate(
            WithdrawalDraft,
            application_id=application_id,
            individuals=[{"jwk": plain_jwk(self._key)}],
        )
        return self._applying.post(f"{PATH}/withdrawals", "application", body, Application)


class Applications:
    """Applications, for a regulator to read and decide."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def list(self, state: ApplicationState | None = None) -> list[Application]:
        return list(self._all(state))

    def get(self, application_id: str) -> Application:
        return self._statements.transport.get(f"{PATH}/{application_id}", Application)

    def decide(
        self,
        application: Application,
        decision: Decided,
        reasons: str,
        *,
        until: date | None = None,
        mandate: MandateLimits | None = None,
    ) -> Application:
        """Decide on the version that was read; `until` is for `extend`, `mandate` for `approve`."""
        body = validate(
            DecisionDraft,
            application_id=application.id,
            version=application.version,
            decision=decision,
            reasons=salt_text(reasons),
            application_digest=self._read(application) if mandate else None,
            mandate=mandate,
            until=until,
        )
        path = "/v1/regulator/decisions"
        return self._statements.post(path, "decision", body, Application)

    def _read(self, application: Application) -> str:
        """Return the digest of the submitted text, computed here and not taken from the service."""
        path = f"{PATH}/{application.id}/draft"
        submitted = self._statements.transport.get(path, ApplicationDraft)
        keys = [Signer.of(each.jwk).thumbprint for each in submitted.individuals]
        if keys != [each.key_thumbprint for each in application.individuals]:
            raise TrustError(
                "The application names other keys than the submitted ones. Do not decide on "
                "it; tell the operator."
            )
        return digest(canonical(state_request(submitted.model_dump(mode="json"))))

    def approve(
        self,
        application: Application,
        reasons: str,
        *,
        epsilon_limit: Number | None = None,
        rho_limit: Number | None = None,
        lifetime_limit: Number | None = None,
        exploration_limit: Number | None = None,
        opened_share: Number = 1,
        renewal: Renewal | None = None,
        kinds: Sequence[AuditKind] | None = None,
        valid_until: datetime | None = None,
        researcher_ids: Sequence[str] | None = None,
    ) -> Application:
        """Grant the requested access, or less if options say so, to the named individuals."""
        everybody = [individual.researcher_id for individual in application.individuals]
        limits = validate(
            MandateLimits,
            purpose=application.purpose,
            kinds=list(kinds or application.kinds),
            epsilon_limit=to_decimal_or_none(epsilon_limit, "epsilon_limit")
            or application.epsilon_limit,
            rho_limit=to_decimal_or_none(rho_limit, "rho_limit") or application.rho_limit,
            renewal=renewal or application.renewal,
            lifetime_limit=to_decimal_or_none(lifetime_limit, "lifetime_limit")
            or application.lifetime_limit,
            exploration_limit=application.exploration_limit
            if exploration_limit is None
            else to_decimal(exploration_limit, "exploration_limit"),
            opened_share=to_decimal(opened_share, "opened_share"),
            valid_from=application.valid_from,
            valid_until=valid_until or application.valid_until,
            researcher_ids=list(researcher_ids or everybody),
        )
        return self.decide(application, "approve", reasons, mandate=limits)

    def mediate(
        self,
        application_id: str,
        outcome: Literal["opened", "declined", "agreed", "failed"],
        text: str,
        *,
        days: int | None = None,
    ) -> Application:
        """Record a step of the mediation. The opening step sets its time limit in working days."""
        return _mediate(self._statements, "regulator", application_id, outcome, text, days)

    def _all(self, state: ApplicationState | None) -> Iterator[Application]:
        return self._statements.transport.items(PATH, Application, state=state)


class Operator(LedgerConnection):
    """Member of the platform's staff who is responsible for granted access."""

    def applications(self) -> list[Application]:
        """Return approved applications, with their later history."""
        return list(self._transport.items(PATH, Application))

    def ask_amendment(
        self,
        application_id: str,
        ground: Literal["no-access", "vulnerability"],
        reasons: str,
        proposal: str,
    ) -> Application:
        """Ask the regulator to amend an approved application, within the period for it."""
        body = validate(
            AmendmentDraft,
            application_id=application_id,
            ground=ground,
            reasons=salt_text(reasons),
            proposal=salt_text(proposal),
        )
        path = "/v1/operator/amendments"
        return self._statements.post(path, "amendment", body, Application)

    def mediate(
        self, application_id: str, outcome: Literal["requested", "failed"], text: str
    ) -> Application:
        """Ask for mediation on the decision about an amendment, or end it."""
        return _mediate(self._statements, "operator", application_id, outcome, text, None)

    def stop(self, audit_id: str, reason: str) -> Progress:
        """Stop an audit: from its next batch of steps on, nobody is shown anything more."""
        return stop(self._statements, "operator", audit_id, reason)


def ledger_origin(url: str) -> str:
    """Return the name of a service's ledger, for proofs and statements."""
    public = Transport(url)
    try:
        return public.get("/v1/ledger/keys", LedgerKeys).origin
    finally:
        public.close()


def principal_of(application: Application) -> str:
    """Return the researcher id of the principal applicant."""
    people = application.individuals
    return next(person.researcher_id for person in people if person.role == "principal")


def _applying(transport: Transport, public: Transport, key: OKPKey) -> Statements:
    return Statements(transport, public, f"applicant:{key.thumbprint()}", key)


def _mediate(
    statements: Statements,
    role: str,
    application_id: str,
    outcome: str,
    text: str,
    days: int | None,
) -> Application:
    body = validate(
        MediationDraft,
        application_id=application_id,
        outcome=outcome,
        text=salt_text(text),
        days=days,
    )
    return statements.post(f"/v1/{role}/mediations", "mediation", body, Application)
