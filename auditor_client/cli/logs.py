"""`auditor audit outcome-test`, `log-cdf` and `bias-size`: audits of a platform's logs."""

from typing import Annotated

import typer

from auditor_client.cli.audit_options import AudienceId, Epsilon, Key, MandateId, Mechanism, Rho
from auditor_client.cli.audit_options import ReceiptFile as Receipt
from auditor_client.cli.charging import New, charging
from auditor_client.cli.options import (
    DEFAULT_PROFILE,
    AsJson,
    ProfileName,
    Quiet,
    numbers,
    pairs,
    words,
)
from auditor_client.cli.saved_results import keep, keep_and_show
from auditor_client.cli.summary import show_result
from auditor_client.errors import InputError
from auditor_client.kinds.bias_size.result import Corrections
from auditor_client.kinds.building_blocks.log_options import CDF_BINS, OUTCOME_BINS
from auditor_client.kinds.outcome_test.result import OutcomeTestResult

LogName = Annotated[str, typer.Argument(metavar="LOG", help="See `auditor catalogue`.")]
Score = Annotated[str, typer.Option(help="The column of scores.")]
Outcome = Annotated[str, typer.Option(help="The column of outcomes.")]
Where = Annotated[list[str] | None, typer.Option(help="column=word,word: only such rows.")]
Rows = Annotated[int, typer.Option(help="Of one person at most so many, at random.", min=1)]
Edges = Annotated[str | None, typer.Option(help="Edges of bins: 0,0.5,1.")]


def add_to(app: typer.Typer) -> None:
    app.command("outcome-test")(outcome_test)
    app.command("log-cdf")(log_cdf)
    app.command("bias-size")(bias_size)


def outcome_test(
    audience: AudienceId,
    log: LogName,
    score: Score = "score",
    outcome: Outcome = "outcome",
    bins: Annotated[int, typer.Option(help="Equal bins of the score.")] = OUTCOME_BINS,
    edges: Edges = None,
    quantiles: Annotated[
        int | None, typer.Option(help="So many bins by quantiles: a first audit finds them.")
    ] = None,
    quantile_epsilon: Annotated[str, typer.Option(help="What that audit pays.")] = "0.25",
    where: Where = None,
    rows_per_person: Rows = 1,
    threshold: Annotated[
        float | None, typer.Option(help="Test only the bin that begins here (a classification).")
    ] = None,
    delta: Annotated[float, typer.Option(help="The probability of a wrong verdict.")] = 0.05,
    epsilon: Epsilon = None,
    mechanism: Mechanism = "discrete-laplace",
    rho: Rho = None,
    mandate: MandateId = None,
    receipt: Receipt = None,
    idempotency_key: Key = None,
    new: New = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """How equally scored people of each group turned out, from logged opportunities."""
    with charging(profile) as auditor:
        audit = auditor.audits.outcome_test(
            audience,
            log,
            score=score,
            outcome=outcome,
            bins="quantiles" if quantiles else numbers(edges) or bins,
            quantiles=quantiles or OUTCOME_BINS,
            quantile_epsilon=quantile_epsilon,
            where=words_of(where),
            rows_per_person=rows_per_person,
            epsilon=epsilon,
            mechanism=mechanism,
            rho=rho,
            mandate_id=mandate,
            idempotency_key=idempotency_key,
            new=new,
            progress=not quiet,
        )
        keep(audit, receipt)
        more = {}
        if threshold is not None:
            just_above = audit.test(threshold=threshold, delta=delta)
            more = {"above_the_threshold": just_above.words()}
        show_result(audit, None, delta, as_json=as_json, more=more)


def log_cdf(
    audience: AudienceId,
    log: LogName,
    column: Annotated[str, typer.Option(help="The column of numbers.")] = "score",
    bins: Annotated[int, typer.Option(help="Equal bins over its range.")] = CDF_BINS,
    edges: Edges = None,
    where: Where = None,
    rows_per_person: Rows = 1,
    epsilon: Epsilon = None,
    mandate: MandateId = None,
    receipt: Receipt = None,
    idempotency_key: Key = None,
    new: New = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """How many logged rows of each group are up to each edge, with noise."""
    with charging(profile) as auditor:
        audit = auditor.audits.log_cdf(
            audience,
            log,
            column,
            bins=numbers(edges) or bins,
            epsilon=epsilon or 1,
            where=words_of(where),
            rows_per_person=rows_per_person,
            mandate_id=mandate,
            idempotency_key=idempotency_key,
            new=new,
            progress=not quiet,
        )
        keep_and_show(audit, receipt, as_json)


def bias_size(
    audience: AudienceId,
    log: LogName,
    test: Annotated[str, typer.Option(help="The outcome test that says how to correct.")],
    query: Annotated[str, typer.Option(help="The column of queries.")] = "query",
    score: Score = "score",
    outcome: Outcome = "outcome",
    places: Annotated[int | None, typer.Option(help="Sum ranks within so many places.")] = None,
    where: Where = None,
    rows_per_person: Rows = 1,
    epsilon: Epsilon = None,
    mechanism: Mechanism = "discrete-laplace",
    rho: Rho = None,
    mandate: MandateId = None,
    receipt: Receipt = None,
    idempotency_key: Key = None,
    new: New = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """How opportunities would move within the audience, at the same number per query.

    Only rows of the audience compete: the effect on the platform is understated.
    """
    with charging(profile) as auditor:
        tested = auditor.audits.result(test)
        if not isinstance(tested, OutcomeTestResult):
            raise InputError(f"{test} is a {tested.kind}: an outcome test says how to correct.")
        audit = auditor.audits.bias_size(
            audience,
            log,
            Corrections.of(tested.moments),
            query=query,
            score=score,
            outcome=outcome,
            places=places,
            epsilon=epsilon,
            mechanism=mechanism,
            rho=rho,
            where=words_of(where),
            rows_per_person=rows_per_person,
            mandate_id=mandate,
            idempotency_key=idempotency_key,
            new=new,
            progress=not quiet,
        )
        keep_and_show(audit, receipt, as_json)


def words_of(where: list[str] | None) -> dict[str, list[str]]:
    return {name: words(listed) or [] for name, listed in pairs(where or []).items()}
