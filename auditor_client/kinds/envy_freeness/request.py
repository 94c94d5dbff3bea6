"""Audits of envy-freeness: requests, prices, runs. They show people what others would see."""

from abc import ABC, abstractmethod
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from auditor_client.audiences.client import NamedAudience
from auditor_client.errors import InputError
from auditor_client.kinds.building_blocks.log_audits import Running
from auditor_client.kinds.envy_freeness.result import EnvyFreeness
from auditor_client.kinds.options import Number, exact, exact_or_none, id_of
from auditor_client.kinds.protocol import Result
from auditor_client.transport.http_client import Transport
from auditor_client.transport.validation import draft
from openapi.resources import Audience, AuditRequest, EnvyFreenessRequest, Quote

# The share of an audience that is expected to match, to consent and to be within the cap.
EXPECTED_SHARE = 0.9
# The least probability of a deserved certificate for which the SDK chooses targets by itself.
LEAST_POWER = 0.5
Kind = TypeVar("Kind", bound=Result[Any])


class EnvyOptions(TypedDict, total=False):
    """Options of an audit of envy, in addition to its audience; `Plan.asks()` has most of them."""

    steps: int
    """The most steps of each target, and how long the audit lasts. It must be given."""
    tolerance: Number
    """The paper's epsilon: by how much others' recommendations may suit better (0.05)."""
    alpha: Number
    """The share of reward that people may lose meanwhile, at every step (0.2)."""
    delta: Number
    """The probability that the certificate is wrong, all sources together (0.05)."""
    gamma: Number
    """Envy of fewer than this share of others does not count (0.1)."""
    lam: Number
    """The share of people who may be envious (0.1)."""
    bounds: Literal["tight", "printed"]
    """The shorter audit, or that of the paper, with the same promise (tight)."""
    targets: int | None
    """People who are audited (default: as many as the noise needs, if there are enough people)."""
    arms: int | None
    """Others whose recommendations each is shown (default: the fewest for gamma)."""
    arms_per_person: int | None
    """In how many targets' audits one person takes part at most, all of which the noise covers
    (default: as often as it takes to fill them, by the number of people in the audience)."""
    epsilon: Number
    """Of the numbers of targets, under add/remove (1)."""
    duration_epsilon: Number | None
    """Buys the sum of steps (default: a quarter of epsilon; 0 for none)."""
    cost_epsilon: Number | None
    """Buys the reward that people lost (default: a quarter of epsilon; 0 for none)."""
    mandate_id: str | None
    """The mandate that pays, where there are several."""


class EnvyRequests:
    """What can be asked of a platform that lets people explore."""

    _transport: Transport

    def envy(
        self, audience: NamedAudience | str, **options: Unpack[EnvyOptions]
    ) -> EnvyFreenessRequest:
        """Return the request of `audits.run_envy`."""
        if "steps" not in options:
            raise InputError(
                "Say how many steps each target may take at most: steps=. `envy_plan` tells."
            )
        return draft(
            EnvyFreenessRequest,
            kind="envy-freeness",
            audience_id=id_of(audience),
            bounds=options.get("bounds", "tight"),
            alpha=exact(options.get("alpha", "0.2"), "alpha"),
            tolerance=exact(options.get("tolerance", "0.05"), "tolerance"),
            delta=exact(options.get("delta", "0.05"), "delta"),
            gamma=exact(options.get("gamma", "0.1"), "gamma"),
            lam=exact(options.get("lam", "0.1"), "lam"),
            steps=options["steps"],
            epsilon=exact(options.get("epsilon", 1)),
            duration_epsilon=exact_or_none(options.get("duration_epsilon"), "duration_epsilon"),
            cost_epsilon=exact_or_none(options.get("cost_epsilon"), "cost_epsilon"),
            mandate_id=options.get("mandate_id"),
            **self._sizes(audience, options),
        )

    def _sizes(self, audience: NamedAudience | str, options: EnvyOptions) -> dict[str, int]:
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


def _chosen(options: EnvyOptions, people: int, *, sampled: bool) -> dict[str, int]:
    """Choose targets for the power that there may be, and how often people take part."""
    from auditor_client.envy.designs import Wanted, design  # SciPy takes a second to import
    from auditor_client.envy.lots import arms_per_person_for
    from auditor_client.envy.sample_size import sample_rule

    delta = float(exact(options.get("delta", "0.05"), "delta"))
    gamma = float(exact(options.get("gamma", "0.1"), "gamma"))
    lam = float(exact(options.get("lam", "0.1"), "lam"))
    epsilon = float(exact(options.get("epsilon", 1)))
    targets, each = options.get("targets"), options.get("arms_per_person")
    if targets is None:
        wanted = Wanted(epsilon, sampled, delta, gamma, lam)
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
        " it nevertheless. Nothing was sent."
    )


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
        new: bool = False,
        progress: bool = True,
        **options: Unpack[EnvyOptions],
    ) -> EnvyFreeness:
        """Audit whether people prefer their own recommendations to other people's (paper 2).

        People of the audience are shown others' recommendations for a while, so all of them must
        have agreed (`upload(..., consented=True)`). `options` are those of `EnvyOptions`, most of
        which `envy_plan(...).asks()` gives. The mandate is charged epsilon and the loss that people
        may have, alpha · steps · targets: `price_envy` says both.
        """
        running = Running(idempotency_key=idempotency_key, new=new, progress=progress)
        return self._run(self.requests.envy(audience, **options), EnvyFreeness, running)

    def price_envy(self, audience: NamedAudience | str, **options: Unpack[EnvyOptions]) -> Quote:
        """Return the price of such an audit, in epsilon and in people's reward; asking is free."""
        return self.quote(self.requests.envy(audience, **options))
