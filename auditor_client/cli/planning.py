"""`auditor plan`: the number of people that an audit needs, and the power of a given number.

The command needs no network and no profile. It prints every answer as a field of one row; `--json`
is for programs.
"""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import typer

from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, numbers
from auditor_client.cli.output import show_row
from auditor_client.cli.reports import Delta
from auditor_client.errors import InputError
from auditor_client.local.progress import bar

Sizes = Literal["known", "noisy"]
Source = Literal["upload", "sample", "confirmed"]
Criterion = Literal["distribution", "bins", "four-fifths"]
Question = dict[str, Any]


def plan(
    alpha: Annotated[float, typer.Option(help="The gap that is tolerated.", min=0, max=1)] = 0.2,
    delta: Delta = 0.05,
    groups: Annotated[int, typer.Option(help="Number of groups compared.", min=2)] = 2,
    bins: Annotated[
        int | None,
        typer.Option(help="Number of bins of scores (default: the planner's choice).", min=1),
    ] = None,
    epsilon: Annotated[float, typer.Option(help="The noise on each bin is 1/epsilon.")] = 1.0,
    total_epsilon: Annotated[
        float | None,
        typer.Option(
            help="In place of --epsilon and --bins: the price of the whole audit. With --people, "
            "the planner divides it between bins and sizes, and chooses the bins."
        ),
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option(help="In place of --epsilon: Gaussian noise of variance 1/(2 rho)."),
    ] = None,
    sizes: Annotated[
        Sizes,
        typer.Option(help="Whether the numbers of scored people are known (a sample) or noisy."),
    ] = "noisy",
    audience: Annotated[
        Source | None,
        typer.Option(
            help="How people enter the audit: upload, sample (drawn by the platform, with "
            "twice the scale of noise) or confirmed. Replaces --sizes."
        ),
    ] = None,
    criterion: Annotated[
        Criterion, typer.Option(help="Criterion of the verdict: bins and thresholds, or less.")
    ] = "distribution",
    power: Annotated[
        float, typer.Option(help="The probability of calling a fair platform fair.")
    ] = 0.8,
    true_gap: Annotated[
        float, typer.Option(help="True gap that the verdict should still call fair.")
    ] = 0.0,
    ratios: Annotated[
        str | None,
        typer.Option(help="Relative sizes of unequal groups: 1,5. Answers are for the smallest."),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(help="Forecast the power for this number of people per group.", min=2),
    ] = None,
    promise: Annotated[
        bool, typer.Option(help="Also certify the paper's guarantee, |EFG - FG| <= alpha.")
    ] = False,
    looks: Annotated[
        int | None,
        typer.Option(help="Plan a sequential audit with at most this number of looks.", min=1),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="Epsilon (rho, with --rho) to split among contents.")
    ] = None,
    contents: Annotated[
        str | None, typer.Option(help="People per group of each content: 200,400.")
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,  # noqa: ARG001  (every command takes it)
    as_json: AsJson = False,
) -> None:
    """Plan the number of people per group by several guarantees, or forecast the power."""
    if total_epsilon is not None:
        show_row(
            _design(total_epsilon, people, rho, groups, alpha, delta, audience, criterion, power),
            as_json=as_json,
        )
        return
    relative = None if ratios is None else numbers(ratios)
    groups = groups if relative is None else len(relative)
    noise = _noise(epsilon, rho)
    edges: Question = {}
    if bins is None:
        edges = _edges(alpha, delta, groups, noise, sizes, audience, criterion, people)
        # Scores outside of all bins are one bin more.
        bins = len(edges["edges_of_scores_from_0_to_1"])
    asked: Question = {
        "alpha": alpha, "delta": delta, "groups": groups, "bins": bins, "sizes": sizes,
        "audience": audience,
    }  # fmt: skip
    row: dict[str, Any] = {**asked, **noise, "power": power, "criterion": criterion, **edges}
    if audience is None:
        del row["audience"]
    answers: list[Callable[[], dict[str, Any]]] = [
        lambda: _people(
            {**asked, **noise, "power": power, "true_gap": true_gap},
            promise,
            criterion=criterion,
            ratios=relative,
        )
    ]
    if people is not None:
        answers.append(
            lambda: _with_people(people, asked, noise, power, true_gap, criterion, relative)
        )
    if looks is not None:
        answers.append(lambda: _looks({**asked, **noise, "power": power}, looks))
    if budget is not None or contents is not None:
        answers.append(lambda: _split(asked, noise, budget, contents))
    with bar("Rehearsing audits", show=not as_json):
        try:
            for answer in answers:
                row |= answer()
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"{error}.") from error
    show_row(row, as_json=as_json)


def _edges(
    alpha: float,
    delta: float,
    groups: int,
    noise: Question,
    sizes: Sizes,
    audience: Source | None,
    criterion: Criterion,
    people: int | None,
) -> dict[str, Any]:
    """Return the edges that the planner proposes, on scores from 0 to 1."""
    from auditor_client.planning import default_bins
    from auditor_client.planning.audiences import planned_audit
    from auditor_client.stats.noise import variance

    mechanism = noise.get("mechanism", "discrete-laplace")
    kind, planned = planned_audit(
        audience, sizes, mechanism, noise.get("epsilon"), noise.get("rho")
    )
    below = default_bins.USUAL
    if people is not None:
        asked = default_bins.BinsQuestion(
            people, variance(planned.bins), 0.0 if kind == "known" else variance(planned.size),
            groups, alpha, delta, criterion,
        )  # fmt: skip
        below = default_bins.bins_below_middle(asked)
    return {"edges_of_scores_from_0_to_1": default_bins.edges_of(0, 1, below)}


def _noise(epsilon: float, rho: float | None) -> Question:
    if rho is None:
        return {"epsilon": epsilon}
    return {"mechanism": "discrete-gaussian", "rho": rho}


def _design(
    total: float,
    people: int | None,
    rho: float | None,
    groups: int,
    alpha: float,
    delta: float,
    audience: Source | None,
    criterion: Criterion,
    power: float,
) -> dict[str, Any]:
    """Return the design that this price buys for these people."""
    from auditor_client.planning.design import plan_audit

    if people is None or rho is not None:
        raise InputError("--total-epsilon needs --people and no --rho: the design depends on them.")
    source: Source = audience or "upload"
    try:
        found = plan_audit(
            people, total, groups=groups, alpha=alpha, delta=delta, audience=source,
            criterion=criterion, power=power,
        )  # fmt: skip
    except ValueError as error:
        raise InputError(f"{error}.") from error
    return {
        "kind": found.kind,
        "epsilon": found.epsilon,
        "size_epsilon": found.size_epsilon,
        "edges_of_scores_from_0_to_1": list(found.edges),
        "people": people,
        "people_per_group_for_a_verdict": found.people,
    }


def _people(
    asked: Question, promise: bool, *, criterion: Criterion, ratios: Sequence[float] | None
) -> dict[str, Any]:
    from auditor_client.planning.sample_size import (  # SciPy takes seconds to import
        sample_size,
        verdict_size,
    )

    found: dict[str, Any] = {
        "people_per_group_for_a_verdict": verdict_size(**asked, criterion=criterion, ratios=ratios)
    }
    without = {n: value for n, value in asked.items() if n not in ("power", "true_gap", "sizes")}
    try:
        printed = sample_size(**without, method="theorem-1")
    except ValueError:
        printed = None  # the theorem holds neither for an epsilon this small nor for Gaussian noise
    found["people_per_group_by_theorem_1"] = printed
    if promise:
        exact = sample_size(**without, method="exact", sizes=asked["sizes"])
        found["people_per_group_by_exact_tails"] = exact
    return found


def _with_people(
    people: int,
    asked: Question,
    noise: Question,
    power: float,
    true_gap: float,
    criterion: Criterion,
    ratios: Sequence[float] | None,
) -> dict[str, Any]:
    from auditor_client.planning import inverse
    from auditor_client.planning.sample_size import unfair_gap_of

    asked = {**asked, "criterion": criterion}
    far = unfair_gap_of(asked["alpha"], criterion)
    unfair = "at_a_ratio_of_064" if criterion == "four-fifths" else "at_twice_alpha"
    rest = {name: value for name, value in asked.items() if name != "alpha"}
    needed = inverse.rho_needed if "rho" in noise else inverse.epsilon_needed
    everybody: int | list[int] = people
    if ratios is not None:
        everybody = [math.ceil(people * ratio / min(ratios)) for ratio in ratios]
    return {
        "people": people,
        "chance_of_fair_if_fair": inverse.power_at(everybody, true_gap, **noise, **asked).fair,
        f"chance_of_unfair_{unfair}": inverse.power_at(everybody, far, **noise, **asked).unfair,
        "least_alpha": _if_any(inverse.resolvable_alpha, people, power=power, **noise, **rest),
        needed.__name__: _if_any(needed, people, power=power, **asked),
    }


def _if_any(answer: Callable[..., float], *asked: Any, **more: Any) -> float | None:
    """Return the answer, or None if there are too few people for any answer."""
    try:
        return round(answer(*asked, **more), 4)
    except ValueError:
        return None


def _looks(asked: Question, looks: int) -> dict[str, Any]:
    from auditor_client.planning.sequential import sequential_plan

    source = asked.pop("audience")
    if source == "sample":
        raise InputError("--looks plans uploads and people who confirmed, not drawn samples.")
    if source == "confirmed":
        asked["sizes"] = "known"
    found = sequential_plan(looks=looks, **asked)
    return {
        "batch_per_group": found.batch,
        "deltas_of_looks": [round(look.delta, 6) for look in found.looks],
        "people_per_group_at_most": found.most,
        "people_per_group_if_fair": round(found.expected_if_fair),
        "people_per_group_if_unfair": round(found.expected_if_unfair),
        "price_of_looking_early": round(found.price, 3),
    }


def _split(
    asked: Question, noise: Question, budget: float | None, contents: str | None
) -> dict[str, Any]:
    from auditor_client.planning.inverse import split_budget

    people = numbers(contents)
    if budget is None or people is None:
        raise InputError("--budget and --contents go together: --budget 2 --contents 200,400.")
    mechanism = noise.get("mechanism", "discrete-laplace")
    found = split_budget(budget, [round(n) for n in people], mechanism=mechanism, **asked)
    shares = "rhos" if "rho" in noise else "epsilons"
    return {shares: list(found.epsilons), "least_power": round(found.power, 3)}
