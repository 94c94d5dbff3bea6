"""Two-party audits: requests, prices, runs. Groups leave this machine only encrypted."""

from abc import ABC, abstractmethod
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from auditor_client.audiences.weighted import WeightedAudience
from auditor_client.errors import AuditFailedError, InputError, TrustError
from auditor_client.kinds.asking.running import RunOptions
from auditor_client.kinds.options import id_of
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.two_party.exchange import KeptSums, converse, integers, load_sums
from auditor_client.kinds.two_party.result import TwoPartyResult
from auditor_client.local.keys import checked_public, read_public
from auditor_client.local.pending_claims import Claim
from auditor_client.transport.decimals import Number, to_decimal
from auditor_client.transport.http_client import Transport
from auditor_client.transport.validation import validate
from openapi.kinds.two_party import KIND
from openapi.resources import Audit, AuditRequest, SoftMetric, TwoPartyRequest, TwoPartyRun
from privacy.metric_values.from_request import make_metric

if TYPE_CHECKING:
    from privacy.two_party import AuditorParty, RunTerms

Kind = TypeVar("Kind", bound=Result[Any])
RegulatorKey = Mapping[str, Any] | str | Path
WEIGHT_SCALE = 1_000
# Smallest audited group, in people by the sum of its weights.
MINIMUM_POPULATION = 10.0


class TwoPartyRequests:
    """Builders of requests that hide the groups."""

    def two_party(
        self,
        metric: SoftMetric,
        people: WeightedAudience,
        *,
        epsilon: Number = 1,
        weight_scale: int = WEIGHT_SCALE,
        mandate_id: str | None = None,
    ) -> TwoPartyRequest:
        """Return the request of `audits.two_party`."""
        return validate(
            TwoPartyRequest,
            kind=KIND.name,
            audience_id=id_of(people.audience),
            metric=metric,
            hidden_groups=len(people.groups),
            weight_scale=weight_scale,
            epsilon=to_decimal(epsilon),
            mandate_id=mandate_id,
        )


class TwoPartyAudits(ABC):
    """Two-party audits, computed by an auditor and a platform together."""

    _transport: Transport

    @property
    @abstractmethod
    def requests(self) -> TwoPartyRequests: ...

    @abstractmethod
    def _claimed(
        self, request: AuditRequest, running: RunOptions
    ) -> AbstractContextManager[Claim]: ...

    @abstractmethod
    def _submit(self, request: AuditRequest, claim: Claim) -> Audit: ...

    @abstractmethod
    def state(self, audit_id: str) -> Audit: ...

    @abstractmethod
    def _finished(self, audit: Audit, kind: type[Kind]) -> Kind: ...

    def two_party(
        self,
        metric: SoftMetric,
        people: WeightedAudience,
        *,
        regulator_key: RegulatorKey,
        epsilon: Number = 1,
        weight_scale: int = WEIGHT_SCALE,
        mandate_id: str | None = None,
        minimum_population: float = MINIMUM_POPULATION,
        idempotency_key: str | None = None,
        new: bool = False,
        claim: Claim | None = None,
        progress: bool = True,
        patience: float | None = None,
    ) -> TwoPartyResult:
        """Compute a metric for groups hidden from the platform, from values hidden from you (paper
        5).

        `metric` comes from `auditor_client.kinds.two_party.metrics`, `people` from
        `audiences.upload_weighted`. The key of the run is sealed to `regulator_key`: the public
        Ed25519 JWK, or its file, of the regulator who granted the mandate. Obtain it from the
        regulator, not from the platform. Weights are rounded to multiples of 1 / `weight_scale`. If
        the run is drawn to be opened, the call waits for the regulator, for `patience` seconds
        (default: without limit).

        A group with fewer people than `minimum_population` (default 10), by the sum of its weights,
        is refused before anything is charged: its average would reveal more about its few people
        than about the group.

        The same call, with the same audience, continues an interrupted run. Only this process holds
        the key of a run: after the platform has answered, only this process can read the sums.
        `claim` comes from `auditor.pending.claimed`, before the upload.
        """
        _refuse_few(people, minimum_population)
        request = self.requests.two_party(
            metric, people, epsilon=epsilon, weight_scale=weight_scale, mandate_id=mandate_id
        )
        key = public_bytes(regulator_key)
        running = RunOptions(idempotency_key=idempotency_key, new=new)
        with nullcontext(claim) if claim else self._claimed(request, running) as pending:
            audit = self._submit(request, pending)
            if load_sums(audit.id) is None:
                party = converse(
                    self._transport,
                    audit.id,
                    lambda: self._party(audit, request, people, key),
                    awaited=lambda: f"regulator {self._run_of(audit).regulator_id}",
                    progress=progress,
                    patience=patience,
                )
                KeptSums(people.groups, integers(party), party.transcript).save(audit.id)
            return self._finished(self.state(audit.id), TwoPartyResult)

    def _run_of(self, audit: Audit) -> TwoPartyRun:
        return self._transport.get(f"/v1/audits/{audit.id}/exchange", TwoPartyRun)

    def _party(
        self, audit: Audit, request: TwoPartyRequest, people: WeightedAudience, key: bytes
    ) -> "AuditorParty":
        """Return a party with fresh keys, after the service states the same terms."""
        from privacy.two_party import AuditorParty, sealing_key_of, weights_of

        stated = self._run_of(audit)
        if stated.answered:
            raise AuditFailedError(
                f"{audit.id} was answered in a run whose key is lost, because its process "
                "ended. The charge stays, and nobody can read the sums."
            )
        candidates = people.audience.wire.candidates
        terms = terms_of(audit.id, request, len(people.weights.shares), candidates)
        if stated.terms.encode() != terms.to_json():
            raise TrustError(
                "The service states other terms than the requested ones. Nothing was sent."
            )
        if public_bytes(stated.regulator_jwk) != key:
            raise TrustError(
                f"The service names another key of {stated.regulator_id} than the one "
                "that you trust. Nothing was sent. The holder of that key could read "
                "your weights. Ask the regulator.",
                case="another-key",
            )
        weights = weights_of(people.weights.shares, request.weight_scale)
        sealing_key = sealing_key_of(key)
        return AuditorParty(terms, weights, regulator_key=sealing_key, tokens=people.tokens)


def _refuse_few(people: WeightedAudience, least: float) -> None:
    """Raise InputError if a group has too few uploaded or declared people."""
    from auditor_client.demographics import Probabilities
    from auditor_client.two_party import too_few  # SciPy takes a second to import

    weights = Probabilities(people.weights.shares, people.groups)
    if small := too_few(weights, least):
        sums = ", ".join(f"{name} ({weights[name].sum():.1f})" for name in small)
        raise InputError(
            f"These groups have weights for fewer than {least:g} people: {sums}. "
            "Nothing was charged. Merge groups, or name more people.",
            case="few-people",
        )


def terms_of(
    audit_id: str, request: TwoPartyRequest, rows: int, candidates: int | None = None
) -> "RunTerms":
    """Return the terms of both parties for a request."""
    try:
        from privacy.two_party.service_terms import service_terms
    except ImportError as error:
        raise InputError(
            "Two-party audits need further packages: pip install 'platform-auditor[two-party]'."
        ) from error
    return service_terms(
        audit_id,
        rows=rows,
        groups=request.hidden_groups,
        layout=make_metric(request.metric.model_dump()).layout,
        weight_scale=request.weight_scale,
        epsilon=Fraction(request.epsilon),
        candidates=candidates,
    )


def public_bytes(key: RegulatorKey) -> bytes:
    """Return the 32 bytes of a public Ed25519 key, from its JWK or a JWK file."""
    jwk = read_public(Path(key)) if isinstance(key, str | Path) else checked_public(key)
    if (jwk.get("kty"), jwk.get("crv")) != ("OKP", "Ed25519"):
        raise InputError("The regulator's key must be an Ed25519 key (a public JWK).")
    return urlsafe_b64decode(str(jwk["x"]) + "==")
