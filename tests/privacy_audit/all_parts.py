"""All parts of the privacy audit, in the order in which they are shown."""

from collections.abc import Mapping

from tests.privacy_audit import statistical
from tests.privacy_audit.parts import Outcome, Part
from tests.privacy_audit.sensitivity import everything as sensitivity
from tests.privacy_audit.states import everything as states

# A part is added here, and nowhere else.
PARTS: Mapping[str, Part] = {
    "sensitivity": sensitivity.run,
    "states": states.run,
    "statistics": statistical.run,
}


def rows_of(name: str) -> list[str | Outcome]:
    """Run a part at the size of CI, and return its rows."""
    return list(PARTS[name](long=False))
