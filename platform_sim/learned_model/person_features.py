"""Features of a person that the model sees: noticed interests, experience, activity, neighbourhood.

They contain no gender, race, age, politics, surname or name: `make_seen` does not receive them.
"""

import numpy as np
from numpy.typing import NDArray

from platform_sim.people.interests import TOPICS, Interests
from platform_sim.people.occupations import OCCUPATIONS, WorkHistory
from platform_sim.people.places import Homes

# One row per person: a constant, interests by topic, experience by occupation, activity,
# wealth and density of the neighbourhood. All of about unit size.
Seen = NDArray[np.float32]
WIDTH = 1 + len(TOPICS) + len(OCCUPATIONS) + 1 + 2


def make_seen(interests: Interests, work: WorkHistory, homes: Homes) -> Seen:
    people = len(work.years)
    seen = np.zeros((people, WIDTH), np.float32)
    seen[:, 0] = 1
    experience = 1 + len(TOPICS)
    seen[:, 1:experience] = interests.noticed
    # Experience counts by its logarithm, about one for a long career.
    seen[np.arange(people), experience + work.occupation] = np.log1p(work.years) / 3
    seen[:, -3] = interests.activity
    seen[:, -2:] = homes.neighbourhood
    return seen
