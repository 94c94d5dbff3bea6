"""Audits of envy-freeness: requests, prices, runs. They show people what others would see."""

from abc import ABC, abstractmethod
from decimal import ROUND_DOWN, Decimal
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from auditor_client.audiences import NamedAudience
from auditor_client.drafts import draft
from auditor_client.envy_audit import EXACT_SHARE, EnvyFreeness
from auditor_client.errors import InputError
from auditor_client.log_audits import Running
from auditor_client.requests import Number, exact, exact_or_none, id_of
from auditor_client.result import Result
from auditor_client.transport import Transport
from openapi.models import Audience, AuditRequest, EnvyFreenessRequest, Quote

_MILLIONTH = Decimal("0.000001")
Kind = TypeVar("Kind", bound=Result[Any])


class EnvyOptions(TypedDict, total=False):
    """What an audit of envy may ask for, beside its audience; `Plan.asks()` has most of it."""

    steps: int
    """The most steps of each target, and how long the audit lasts. It must be given."""
    tolerance: Number
    """The paper's epsilon: by how much others' recommendations may suit better (0.05)."""
    alpha: Number
    """The share of reward that people may lose meanwhile, at every step (0.2)."""
    delta: Number
    """The probability that the certificate is wrong, all sources together (0.05)."""
    criterion: Literal["probabilistic", "exact"]
    """Most people against most others, of a sample; or everybody against everybody."""
    gamma: Number
    """Envy of fewer than this share of others does not count (0.1)."""
    lam: Number
    """The share of people who may be envious (0.1)."""
    bounds: Literal["tight", "printed"]
    """The shorter audit, or that of the paper, with the same promise (tight)."""
    targets: int | None
    """People who are audited; unless told, as many as the noise asks for."""
    arms: int | None
    """Others whose recommendations each is shown; unless told, as many as gamma asks for."""
    arms_per_person: Literal[1] | None
    """1: everybody takes part in one target's audit only, and is covered as an arm too."""
    epsilon: Number
    """Of the numbers of targets, under add/remove (1)."""
    duration_epsilon: Number | None
    """Buys the sum of steps; a quarter of epsilon unless told, 0 for none."""
    cost_epsilon: Number | None
    """Buys the reward that people lost; a quarter of epsilon unless told, 0 for none."""
    mandate_id: str | None
    """The mandate that pays, where there are several."""


class EnvyRequests:
    """What can be asked of a platform that lets people explore."""

    _transport: Transport

    def envy(
        self, audience: NamedAudience | str, **options: Unpack[EnvyOptions]
    ) -> EnvyFreenessRequest:
        """The request of `audits.run_envy`."""
        if "steps" not in options:
            raise InputError(
                "Say how many steps each target may take at most: steps=. `envy_plan` tells."
            )
        whole = exact(options.get("delta", "0.05"), "delta")
        if options.get("criterion") == "exact":
            half = (whole / EXACT_SHARE).quantize(_MILLIONTH, ROUND_DOWN)
            asked = self._everybody(audience) | {"delta": half}
        else:
            asked = _sampled(options) | {"delta": whole}
        return draft(
            EnvyFreenessRequest,
            kind="envy-freeness",
            audience_id=id_of(audience),
            criterion=options.get("criterion", "probabilistic"),
            bounds=options.get("bounds", "tight"),
            alpha=exact(options.get("alpha", "0.2"), "alpha"),
            tolerance=exact(options.get("tolerance", "0.05"), "tolerance"),
            steps=options["steps"],
            arms_per_person=options.get("arms_per_person"),
            epsilon=exact(options.get("epsilon", 1)),
            duration_epsilon=exact_or_none(options.get("duration_epsilon"), "duration_epsilon"),
            cost_epsilon=exact_or_none(options.get("cost_epsilon"), "cost_epsilon"),
            mandate_id=options.get("mandate_id"),
            **asked,
        )

    def _everybody(self, audience: NamedAudience | str) -> dict[str, Any]:
        """All of the audience, each against all others."""
        wire = (
            audience.wire
            if isinstance(audience, NamedAudience)
            else self._transport.get(f"/v1/audiences/{audience}", Audience)
        )
        people = sum(group.members for group in wire.groups)
        return {"targets": people, "arms": people - 1}


def _sampled(options: EnvyOptions) -> dict[str, Any]:
    """Targets that the noise asks for, and arms for so many targets, where they are not told."""
    from auditor_client.envy.sizes import sample_needed, sample_rule  # SciPy takes a second

    gamma = exact(options.get("gamma", "0.1"), "gamma")
    lam = exact(options.get("lam", "0.1"), "lam")
    terms = {"delta": float(str(options.get("delta", "0.05"))), "gamma": float(gamma)}
    terms["lam"] = float(lam)
    # Scale r/epsilon: one person moves r counts where everybody is covered as an arm too.
    moved = 2 if options.get("arms_per_person") else 1
    targets = options.get("targets")
    if targets is None:
        noise = float(exact(options.get("epsilon", 1))) / moved
        targets = sample_needed(**terms, noise=noise).targets
    arms = options.get("arms") or sample_rule(targets, **terms).arms
    return {"gamma": gamma, "lam": lam, "targets": targets, "arms": arms}


class EnvyAudits(ABC):
    """What an auditor can ask of people who agreed to explore."""

    @property
    @abstractmethod
    def requests(self) -> EnvyRequests: ...

    @abstractmethod
    def quote(self, request: AuditRequest) -> Quote: ...

    @abstractmethod
    def _run(self, request: AuditRequest, kind: type[Kind], running: Running) -> Kind: ...

    def run_envy(
        self,
        audience: NamedAudience | str,
        *,
        idempotency_key: str | None = None,
        progress: bool = True,
        **options: Unpack[EnvyOptions],
    ) -> EnvyFreeness:
        """Whether people prefer their own recommendations to other people's (paper 2).

        People of the audience are shown others' recommendations for a while, so all of them must
        have agreed (`upload(..., consented=True)`). `options` are those of `EnvyOptions`, most of
        which `envy_plan(...).asks()` gives. The mandate is charged the loss that people may bear,
        alpha · steps · targets, beside epsilon: `price_envy` says both.
        """
        running = Running(idempotency_key=idempotency_key, progress=progress)
        return self._run(self.requests.envy(audience, **options), EnvyFreeness, running)

    def price_envy(self, audience: NamedAudience | str, **options: Unpack[EnvyOptions]) -> Quote:
        """What such an audit would cost, in epsilon and in people's reward; asking is free."""
        return self.quote(self.requests.envy(audience, **options))
