"""`auditor envy-plan`: plans of certificates of envy-freeness, without network or profile."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from auditor_client.cli.options import AsJson, numbers
from auditor_client.cli.output import show_row

Bounds = Annotated[
    Literal["tight", "printed"],
    typer.Option(
        help="Fewer steps (tight), or those of the paper (printed), with the same guarantee."
    ),
]
Tolerance = Annotated[
    float, typer.Option(help="Tolerated advantage of other people's recommendations, as reward.")
]
Alpha = Annotated[float, typer.Option(help="The largest share of reward that people may lose.")]
Delta = Annotated[float, typer.Option(help="The probability of a wrong certificate.")]
Gamma = Annotated[float, typer.Option(help="Envy of a smaller share of others does not count.")]
Lam = Annotated[float, typer.Option(help="The share of people who may be envious.")]


def plan(
    tolerance: Tolerance = 0.05,
    alpha: Alpha = 0.2,
    delta: Delta = 0.05,
    gamma: Gamma = 0.1,
    lam: Lam = 0.1,
    epsilon: Annotated[float, typer.Option(help="Privacy parameter of the counts.")] = 1.0,
    people: Annotated[
        int | None,
        typer.Option(help="People who take part (default: the number that the power needs)."),
    ] = None,
    sampled: Annotated[
        bool, typer.Option(help="The platform draws the audience, which doubles the noise.")
    ] = False,
    arms_per_person: Annotated[
        int | None,
        typer.Option(
            help=(
                "Largest number of audits in which one person takes part (default: chosen by the "
                "plan)."
            )
        ),
    ] = None,
    power: Annotated[
        float, typer.Option(help="Probability of the certificate for a platform without envy.")
    ] = 0.9,
    uncertified: Annotated[
        float, typer.Option(help="The share of targets that may stay undecided on that platform.")
    ] = 0.0,
    own: Annotated[float, typer.Option(help="Mean reward from one's own recommendations.")] = 0.5,
    others: Annotated[
        str | None,
        typer.Option(
            help="Mean rewards from others' recommendations: 0.2,0.4 (default: equal to --own)."
        ),
    ] = None,
    bounds: Bounds = "tight",
    chart: Annotated[
        Path | None, typer.Option(help="Draw duration and cost against alpha into this SVG.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plan a certificate of envy-freeness: people, noise, power, steps and lost reward."""
    from auditor_client.envy import envy_plan  # SciPy takes a second to import

    found = envy_plan(
        tolerance=tolerance, alpha=alpha, delta=delta, gamma=gamma, lam=lam, epsilon=epsilon,
        people=people, sampled=sampled, arms_per_person=arms_per_person, power=power,
        uncertified=uncertified, bounds=bounds, own=own, others=numbers(others),
    )  # fmt: skip
    row: dict[str, Any] = {
        "people": found.people,
        "arms_per_person": found.arms_per_person,
        "noise_scale": found.noise_scale,
        "targets": found.targets,
        "targets_without_noise": found.without_noise,
        "arms": found.arms,
        "level_of_each_target": found.rule.level,
        "certified_with_uncertified_up_to": found.rule.certify_up_to,
        "envy_shown_from": found.rule.envy_from,
        "steps_to_expect": round(found.steps),
        "steps_to_allow": found.ceiling,
        "reward_lost_by_each": round(found.cost, 1),
        "reward_lost_by_all_at_most": found.loss,
        "chance_of_the_certificate": round(found.chance, 4),
        "in_words": found.explain(),
    }
    if chart:
        from auditor_client.charts.chart import svg
        from auditor_client.envy.charts import alpha_chart, forecast_over_alphas

        rows = forecast_over_alphas(found.means, found.terms)
        chart.write_text(svg(alpha_chart(rows)), encoding="utf-8")
    show_row(row, as_json=as_json)
