"""Setting of the paper: two teams of one organisation, and exact sums.

Nothing here passes through the waist, and no result may leave the organisation: results are exact,
and the tester sees who matched, their ranks and their neighbours. Outside auditors use
`privacy.two_party`. There is no bootstrap: exact sums of known resamples are a linear system for
the data of every person (docs/explanation/two-party.md).
"""

from replications.paper_5.two_teams.client import ClientParty
from replications.paper_5.two_teams.results import plaintext_sums
from replications.paper_5.two_teams.rows import ClientRows, Places
from replications.paper_5.two_teams.terms import LibraryTerms
from replications.paper_5.two_teams.tester import TesterParty

__all__ = [
    "ClientParty",
    "ClientRows",
    "LibraryTerms",
    "Places",
    "TesterParty",
    "plaintext_sums",
]
