"""Two-party audits ([OH26]): the platform multiplies its values by weights that it cannot see.

Unit: one person, with at most `rows_per_person` rows of a log. Everybody is in at most one row of
the upload, and adds w ⊗ v to the table of sums: their hidden weights times their values. Values are
clipped to the bounds of the metric's `Layout`. Weights are as declared if the auditor is honest
(`bounded-weights`), which the platform cannot see and a regulator can open (R4's one exception).

A worker does not run this kind: auditor and platform exchange messages (`api.two_party`).

[OH26] Osoba, He, Badrinarayanan et al., arXiv:2606.27558, §5 (metrics), §6 (the protocol).
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.kernel.errors import InvalidBinsError, UnsupportedAuditError
from api.kinds.building_blocks import log_checks, ranked_lists, score_bins
from api.kinds.building_blocks.log_rows import SelectedRows, Selection, draw_rows, new_secret
from api.kinds.building_blocks.scoring import require_scoring, score_isolating_failures
from api.kinds.context import AuditContext
from api.kinds.protocol import AudienceFacts, PayingMandate, PlatformKind, Source, plan_release
from api.platforms.interfaces import Persons, Platform
from openapi.kinds import two_party as contract
from openapi.resources import (
    RankedRows,
    SoftAuc,
    SoftFalsePositives,
    SoftHistogram,
    SoftLot,
    SoftOutcomes,
    SoftPot,
    TwoPartyRequest,
)
from privacy.errors import BoundsError
from privacy.metric_values import FalsePositives, Outcomes, ScoreBins, sum_by_person
from privacy.metric_values.from_request import make_metric
from privacy.tables.bounded_table import Table
from privacy.tables.membership import BATCH, Membership
from privacy.waist import ReleasePlan

NAME = contract.KIND.name
SUMS = "sums"
# Bytes of one value of a person: as computed, as combined with all others, and as sent.
VALUE_BYTES = 32
# Bytes of one encrypted sum: two polynomials modulo three primes, and a second copy with noise.
SUM_BYTES = 2 * 393_216
Integers = NDArray[np.int64]
OfLog = SoftFalsePositives | SoftOutcomes | SoftAuc
RULES = (
    "Only the auditor knows the groups. The platform saw the weights encrypted. The auditor saw no"
    " value and nobody who matched.",
    "Each weight lies between 0 and {scale}, and the weights of a row add up to at most {scale}."
    " The platform assumes this and cannot see it. A regulator can open the run by its transcript.",
    "A person whom several rows name counts in the first of them.",
)


class TwoParty:
    # Its tables are ciphertexts, whose integers may exceed those of JSON.
    encrypted = True
    # Its run records the people of a hidden audience before it reads them.
    sources: frozenset[Source] = frozenset({"upload", "hidden"})

    def offered_by(self, platform: Platform) -> bool:
        return find_spec("seal") is not None and find_spec("rbcl") is not None

    def check(self, request: TwoPartyRequest, audience: AudienceFacts, platform: Platform) -> None:
        if not self.offered_by(platform):
            raise _refused("This service was installed without its extra `two-party`")
        if not audience.ordered or len(audience.labels) != 1:
            raise _refused(
                "A two-party audit needs an audience of one group whose order is kept: upload it"
                " with `ordered`, or hide it",
                case="no-order",
            )
        if audience.taken:
            raise _refused(
                "A hidden audience is for one audit: create another", case="audience-taken"
            )
        _check_metric(request, platform)
        try:
            terms_of(request, audience, "")
        except BoundsError as error:
            raise _refused(str(error)) from error

    def plan(self, request: TwoPartyRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: TwoPartyRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        raise TypeError("No worker runs a two-party audit: its table is never in the clear.")

    def held_bytes(self, request: TwoPartyRequest, audience: AudienceFacts) -> int:
        """Return the memory for all messages, their content, the encrypted sums, and everybody's
        values.
        """
        from privacy.two_party.message_order import list_messages  # an extra

        terms = terms_of(request, audience, "")
        said = sum(both.message.length + both.answer.length for both in list_messages(terms))
        sums = SUM_BYTES * terms.groups * terms.cells
        people = max(audience.candidates or 0, audience.members)
        return int(2 * said + sums + VALUE_BYTES * terms.cells * people)

    def present(
        self,
        request: TwoPartyRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Any],
    ) -> dict[str, Any]:
        asked = request.model_dump(include={"metric", "hidden_groups", "weight_scale"})
        cells = list(make_metric(request.metric.model_dump()).layout.cells)
        return {**asked, "rows": audience.members, "cells": cells, **released}

    def rules(self, request: TwoPartyRequest, platform: Platform) -> tuple[str, ...]:
        metric = request.metric
        own = tuple(rule.format(scale=request.weight_scale) for rule in RULES)
        if isinstance(metric, SoftHistogram):
            return (*own, *score_bins.RULES)
        if isinstance(metric, RankedRows):
            return (*own, *ranked_lists.rules(metric))
        return (*own, *log_checks.rules(metric, platform))

    def model_digest(self, request: TwoPartyRequest, platform: Platform) -> str | None:
        metric = request.metric
        if isinstance(metric, SoftHistogram):
            return score_bins.scores_of(platform).model_digest
        return log_checks.log_of(metric, platform).model_digest


def terms_of(request: TwoPartyRequest, audience: AudienceFacts, audit_id: str) -> Any:
    """Return the `privacy.two_party.RunTerms` of the audit: public, and the same on both sides."""
    from privacy.two_party.service_terms import service_terms  # an extra

    return service_terms(
        audit_id,
        rows=audience.members,
        groups=request.hidden_groups,
        layout=make_metric(request.metric.model_dump()).layout,
        weight_scale=request.weight_scale,
        epsilon=Fraction(request.epsilon),
        candidates=audience.candidates,
    )


def values_of(
    request: TwoPartyRequest, contents: Sequence[Mapping[str, Any]], platform: Platform
) -> Callable[[Persons], Integers]:
    """Return the function that computes values (person × cell) within the terms' bounds."""
    metric = request.metric
    made: Any = make_metric(metric.model_dump())
    clip: Callable[[Integers], Integers] = made.layout.clip

    def values(persons: Persons) -> Integers:
        if isinstance(metric, SoftHistogram):
            found = _scored(metric, made, contents, persons, platform)
        elif isinstance(metric, RankedRows):
            found = ranked_lists.values_of(metric, made, persons, platform)
        else:
            found = _logged(metric, made, persons, platform)
        return clip(found)

    return values


def _scored(
    metric: SoftHistogram,
    made: Any,
    contents: Sequence[Mapping[str, Any]],
    persons: Persons,
    platform: Platform,
) -> Integers:
    [content], scores = contents, score_bins.scores_of(platform)
    context = {name: values[0] for name, values in scores.context.items()} | dict(metric.context)
    require_scoring(scores, content, context)
    parts = [
        made.rows(
            score_isolating_failures(scores, content, persons[start : start + BATCH], context)
        )
        for start in range(0, max(1, len(persons)), BATCH)
    ]
    return np.concatenate(parts)


def _logged(metric: OfLog, made: Any, persons: Persons, platform: Platform) -> Integers:
    order = np.argsort(persons)
    everyone = persons[order]
    words = {name: tuple(each) for name, each in metric.where.items()}
    asked = Selection(metric.log, _columns(metric), words, metric.rows_per_person)
    found = np.zeros((len(persons), len(made.layout.cells)), np.int64)
    people = Membership((everyone,), 1)
    for _, rows in draw_rows(log_checks.logs_of(platform), asked, people, new_secret()):
        position = np.searchsorted(everyone, rows.person)
        found += sum_by_person(_rows(metric, made, rows), position, len(everyone))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return found[back]


def _columns(metric: OfLog) -> tuple[str, ...]:
    if isinstance(metric, SoftFalsePositives):
        return (metric.predicted, metric.actual)
    if isinstance(metric, SoftOutcomes):
        return (metric.outcome,)
    return (metric.score, metric.actual)


def _rows(metric: OfLog, made: Any, rows: SelectedRows) -> Integers:
    """Return the amounts that each row adds for its person."""
    columns = [rows.numbers[name] for name in _columns(metric)]
    match made:
        case FalsePositives():
            return made.rows(columns[0] > 0.5, columns[1] > 0.5)
        case ScoreBins():
            return made.rows(columns[0], columns[1] > 0.5)
        case Outcomes():
            return made.rows(columns[0])
    raise TypeError(f"The metric {metric.name} does not read a log.")


def _check_metric(request: TwoPartyRequest, platform: Platform) -> None:
    metric = request.metric
    if isinstance(metric, SoftHistogram):
        score_bins.check(metric.bins, metric.context, platform)
    elif isinstance(metric, RankedRows):
        log = ranked_lists.check(metric, ranked_lists.columns_of(metric), platform)
    else:
        log = log_checks.check(metric, _columns(metric), platform)
    if isinstance(metric, SoftOutcomes | SoftPot):
        log_checks.check_range(metric.outcome_range, *log.numbers[metric.outcome])
    if isinstance(metric, SoftLot):
        log_checks.check_range(metric.relevance_range, *log.numbers[metric.relevance])
    try:
        make_metric(metric.model_dump())
    except BoundsError as error:
        raise InvalidBinsError(f"{error}. Nothing was charged.", case="metric-bounds") from error


def _refused(why: str, *, case: str | None = None) -> UnsupportedAuditError:
    return UnsupportedAuditError(f"{why}. Nothing was charged.", case=case)


def _require_regulator_key(_: TwoPartyRequest, mandate: PayingMandate) -> None:
    """Refuse a mandate whose regulator has no key: nobody could ever open the run."""
    mandate.load_regulator_key()


KIND = PlatformKind(
    contract.KIND, TwoParty(), runs_in_worker=False, before_charge=_require_regulator_key
)
