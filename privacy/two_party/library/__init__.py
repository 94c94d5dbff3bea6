"""The paper's own setting: two teams of one organisation, and exact sums.

Nothing here goes through the waist, and nothing of it may leave: results are exact, and the tester
sees who matched, their ranks and their neighbours. For an outside auditor there is
`privacy.two_party` itself. There is no bootstrap: exact sums of known resamples are a linear system
for the data of every person (docs/two-party.md).
"""

from privacy.two_party.library.client import ClientParty
from privacy.two_party.library.results import plaintext_sums
from privacy.two_party.library.rows import ClientRows, Places
from privacy.two_party.library.terms import LibraryTerms
from privacy.two_party.library.tester import TesterParty

__all__ = [
    "ClientParty",
    "ClientRows",
    "LibraryTerms",
    "Places",
    "TesterParty",
    "plaintext_sums",
]
