"""Metrics of the paper by name: averages from sums.

docs/explanation/two-party-metrics.md lists what each metric divides by what.

[OHB26] Osoba, He, Badrinarayanan et al., arXiv:2606.27558.
"""

from dataclasses import replace

from auditor_client.two_party.noisy_sums import SoftGroupSums
from auditor_client.two_party.ratios import Ratios


def false_flags(sums: SoftGroupSums) -> Ratios:
    """Return P(flagged, negative | group): the paper's ERO, over the whole group."""
    return _ratios(sums, "false_positives", "people", two_valued=True)


def false_positive_rates(sums: SoftGroupSums) -> Ratios:
    """Return P(flagged | negative, group), the usual false positive rate."""
    return _ratios(sums, "false_positives", "negatives", two_valued=True)


def outcomes(sums: SoftGroupSums) -> Ratios:
    """Return average outcomes in parts of their range: 0 is its low and 1 its high end."""
    squares = sums.cell("squares") if "squares" in sums.layout.cells else None
    found = _ratios(sums, "outcome", "people")
    return replace(found, squares=squares)


def ndcg(sums: SoftGroupSums) -> Ratios:
    """Return the average NDCG of a group's queries."""
    return _ratios(sums, "ndcg", "queries")


def kernel_averages(sums: SoftGroupSums, point: int) -> Ratios:
    """Return the expected outcome at one reference point of the score, in parts of its range."""
    return _ratios(sums, f"outcome {point}", f"weight {point}")


def rank_gaps(sums: SoftGroupSums, rank: int) -> Ratios:
    """Return the average gap of relevance to the neighbour at a rank, in parts of the range,
    signed.
    """
    return replace(_ratios(sums, f"gap {rank}", f"pairs {rank}"), low=-1.0)


def bin_shares(sums: SoftGroupSums, number: int) -> Ratios:
    """Return the share of a group in one bin; every person is in one bin, so shares add up to
    one.
    """
    above, bins = sums.values[:, number], sums.values.shape[1]
    return Ratios(
        groups=sums.groups,
        above=above,
        below=sums.values.sum(axis=1),
        rows=sums.events,
        noise_above=sums.variance,
        noise_below=(bins - 1) * sums.variance,
        shared=True,
        two_valued=True,
        weight_squares=sums.weight_squares,
    )


def _ratios(sums: SoftGroupSums, above: str, below: str, *, two_valued: bool = False) -> Ratios:
    return Ratios(
        groups=sums.groups,
        above=sums.cell(above),
        below=sums.cell(below),
        rows=sums.events,
        noise_above=sums.variance,
        noise_below=sums.variance,
        two_valued=two_valued,
        weight_squares=sums.weight_squares,
    )
