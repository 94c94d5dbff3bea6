"""Forecasts of the length of an envy audit, as if every reward were its mean; not a guarantee.

Single runs are shorter or longer by chance. docs/explanation/envy.md compares the forecasts with
averages of simulated runs. Rewards are assumed to be 0 or 1, which vary most.
"""

import numpy as np
from numpy.typing import ArrayLike

from auditor_client.envy.forecast_paper import Printed
from auditor_client.envy.forecast_path import EnvyForecast, EnvyTerms
from auditor_client.envy.forecast_tight import Tight
from auditor_client.errors import InputError

_LONGEST = 10**9


def forecast(means: ArrayLike, terms: EnvyTerms, ceiling: int | None = None) -> EnvyForecast:
    """Forecast targets with these means, one row per target: its own first, then those of its
    arms.
    """
    known = np.atleast_2d(np.asarray(means, np.float64))
    if known.shape[1] < 2 or not ((known >= 0) & (known <= 1)).all():
        raise InputError(
            "Give the mean of one's own recommendations and of at least one arm, each in [0, 1].",
            case="means",
        )
    kind = Tight if terms.bounds == "tight" else Printed
    return kind(known, terms).followed(ceiling or _LONGEST)
