"""The paper's own setting: two teams of one organisation, and exact sums.

Nothing here goes through the waist, and nothing of it may leave: results are exact, and the tester
sees who matched, their ranks and their neighbours. For an outside auditor there is
`privacy.two_party` itself. There is no bootstrap: exact sums of known resamples are a linear system
for the data of every person (docs/explanation/two-party.md).
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
