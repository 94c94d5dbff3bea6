"""Audits of envy-freeness: requests, prices, runs. They show people what others would see."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from auditor_client.audiences.client import NamedAudience
from auditor_client.errors import InputError
from auditor_client.kinds.building_blocks.log_audits import RunOptions
from auditor_client.kinds.envy_freeness.result import EnvyFreenessResult
from auditor_client.kinds.options import id_of
from auditor_client.kinds.protocol import Result
from auditor_client.transport.decimals import to_decimal, to_decimal_or_none
from auditor_client.transport.http_client import Transport
from auditor_client.transport.validation import validate
from openapi.resources import Audience, AuditRequest, EnvyFreenessRequest, Quote

if TYPE_CHECKING:
    from auditor_client.envy.options import EnvyOptions  # its package imports SciPy

# The share of an audience that is expected to match, to consent and to be within the cap.
EXPECTED_SHARE = 0.9
# The least probability of a deserved certificate for which the SDK chooses targets by itself.
LEAST_POWER = 0.5
Kind = TypeVar("Kind", bound=Result[Any])


class EnvyRequests:
    """What can be asked of a platform that lets people explore."""

    _transport: Transport

    def envy(
        self, audience: NamedAudience | str, **options: "Unpack[EnvyOptions]"
    ) -> EnvyFreenessRequest:
        """Return the request of `audits.run_envy`."""
        if "steps" not in options:
            raise InputError(
                "Say how many steps each target may take at most: steps=. `envy_plan` tells.",
                case="no-steps",
            )
        return validate(
            EnvyFreenessRequest,
            kind="envy-freeness",
            audience_id=id_of(audience),
            bounds=options.get("bounds", "tight"),
            alpha=to_decimal(options.get("alpha", "0.2"), "alpha"),
            tolerance=to_decimal(options.get("tolerance", "0.05"), "tolerance"),
            delta=to_decimal(options.get("delta", "0.05"), "delta"),
            gamma=to_decimal(options.get("gamma", "0.1"), "gamma"),
            lam=to_decimal(options.get("lam", "0.1"), "lam"),
            steps=options["steps"],
            epsilon=to_decimal(options.get("epsilon", 1)),
            duration_epsilon=to_decimal_or_none(
                options.get("duration_epsilon"), "duration_epsilon"
            ),
            cost_epsilon=to_decimal_or_none(options.get("cost_epsilon"), "cost_epsilon"),
            mandate_id=options.get("mandate_id"),
            **self._sizes(audience, options),
        )

    def _sizes(self, audience: NamedAudience | str, options: "EnvyOptions") -> dict[str, int]:
        """Return targets, arms and arms_per_person, as given or as the audience's people allow."""
        told = {
            "targets": options.get("targets"),
            "arms": options.get("arms"),
            "arms_per_person": options.get("arms_per_person"),
        }
        given = {name: number for name, number in told.items() if number is not None}
        if given.keys() == told.keys():
            return given
        wire = (
            audience.wire
            if isinstance(audience, NamedAudience)
            else self._transport.get(f"/v1/audiences/{audience}", Audience)
        )
        people = int(EXPECTED_SHARE * sum(group.members for group in wire.groups))
        return {**_chosen(options, people, sampled=wire.source == "sample"), **given}


def _chosen(options: "EnvyOptions", people: int, *, sampled: bool) -> dict[str, int]:
    """Choose targets for the power that there may be, and how often people take part."""
    from auditor_client.envy.designs import (  # SciPy takes a second to import
        CertificateGoal,
        design,
    )
    from auditor_client.envy.lots import arms_per_person_for
    from auditor_client.envy.sample_size import sample_rule

    delta = float(to_decimal(options.get("delta", "0.05"), "delta"))
    gamma = float(to_decimal(options.get("gamma", "0.1"), "gamma"))
    lam = float(to_decimal(options.get("lam", "0.1"), "lam"))
    epsilon = float(to_decimal(options.get("epsilon", 1)))
    targets, each = options.get("targets"), options.get("arms_per_person")
    if targets is None:
        wanted = CertificateGoal(epsilon, sampled, delta, gamma, lam)
        found = design(wanted, people=people, arms_per_person=each)
        _require_power(wanted, found.chance, people)
        targets, each = found.rule.targets, found.arms_per_person
    arms = options.get("arms") or sample_rule(targets, delta=delta, gamma=gamma, lam=lam).arms
    each = each or arms_per_person_for(people, targets, arms)
    return {"targets": targets, "arms": arms, "arms_per_person": each}


def _require_power(wanted: Any, chance: float, people: int) -> None:
    """Refuse an audit that would hardly certify anything, unless its targets are given."""
    from auditor_client.envy.designs import design

    if chance >= LEAST_POWER:
        return
    raise InputError(
        f"With about {people} people who take part, an envy-free platform would be certified with"
        f" probability {chance:.0%}. {design(wanted).people:,} people would make it"
        f" {wanted.power:.0%}. Take more people, epsilon, gamma or lam; or give targets to ask for"
        " it nevertheless. Nothing was sent.",
        case="low-power",
    )


class EnvyAudits(ABC):
    """What an auditor can ask of people who agreed to explore."""

    @property
    @abstractmethod
    def requests(self) -> EnvyRequests: ...

    @abstractmethod
    def quote(self, request: AuditRequest) -> Quote: ...

    @abstractmethod
    def _run(self, request: AuditRequest, kind: type[Kind], running: RunOptions) -> Kind: ...

    def run_envy(
        self,
        audience: NamedAudience | str,
        *,
        idempotency_key: str | None = None,
        new: bool = False,
        progress: bool = True,
        **options: "Unpack[EnvyOptions]",
    ) -> EnvyFreenessResult:
        """Audit whether people prefer their own recommendations to other people's (paper 2).

        People of the audience are shown others' recommendations for a while, so all of them must
        have agreed (`upload(..., consented=True)`). `options` are those of `EnvyOptions`, most of
        which `envy_plan(...).asks()` gives. The mandate is charged epsilon and the loss that people
        may have, alpha · steps · targets: `price_envy` says both.
        """
        running = RunOptions(idempotency_key=idempotency_key, new=new, progress=progress)
        return self._run(self.requests.envy(audience, **options), EnvyFreenessResult, running)

    def price_envy(self, audience: NamedAudience | str, **options: "Unpack[EnvyOptions]") -> Quote:
        """Return the price of such an audit, in epsilon and in people's reward; asking is free."""
        return self.quote(self.requests.envy(audience, **options))
