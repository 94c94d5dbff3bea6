"""Picture of who learns what of an audit, in ordinary and in two-party audits.

Cells that the models decide are read from them: the fields of releases, and of the ledger's facts.
"""

import msgspec

from docs.site.pictures.drawing import Drawing
from openapi.kinds.contract import KindContract
from openapi.kinds.score_histogram import KIND as ORDINARY
from openapi.kinds.two_party import KIND as TWO_PARTY
from privacy.ledger.entry_schemas import AudienceEntryFacts, ChargeFacts

PARTIES = ("researcher", "platform", "regulator")
YES, NO = "yes", "no"
Cells = tuple[str, str, str]
_NAMES, _COLUMN, _TOP, _ROW = 190, 118, 92, 40


def rows(contract: KindContract) -> dict[str, Cells]:
    """Return what researcher, platform and regulator learn in audits of this kind, by fact."""
    hidden = "groups" not in contract.release.model_fields
    opened = "if opened" if hidden else NO
    return {
        "who is on the list": (YES, "its own people", _stated(AudienceEntryFacts, "commitment")),
        "who of them was found": (NO, YES, NO),
        "each person's group": (YES, NO if hidden else "as g0, g1, …", opened),
        "what the groups mean": (YES, NO, NO),
        "scores, outcomes, logs": (NO, YES, NO),
        "exact sums": (NO, "encrypted" if hidden else YES, NO),
        "the noisy result": (
            YES,
            "encrypted" if hidden else YES,
            opened if hidden else "its digest",
        ),
        "request, price, charge": (YES, YES, _recorded(ChargeFacts, "request", "debit", "parts")),
    }


def _stated(facts: type[msgspec.Struct], name: str) -> str:
    """Return the one fact that the ledger states in place of the thing itself."""
    return f"its {name}" if name in facts.__struct_fields__ else NO


def _recorded(facts: type[msgspec.Struct], *names: str) -> str:
    return YES if set(names) <= set(facts.__struct_fields__) else NO


def draw() -> str:
    """Return the picture."""
    ordinary, two_party = rows(ORDINARY), rows(TWO_PARTY)
    height = _TOP + _ROW * len(ordinary) + 34
    width = _NAMES + 6 * _COLUMN + 20
    drawing = Drawing(width, height, "Who learns what in ordinary and in two-party audits")
    for first, words in ((0, "ordinary audits"), (3, "two-party audits")):
        drawing.text(_at(first + 1), 30, words, "strong large", "middle")
    for column, party in enumerate(PARTIES * 2):
        drawing.text(_at(column), 62, party, "strong", "middle")
    for number, (name, cells) in enumerate(ordinary.items()):
        y = _TOP + _ROW * number
        if number % 2 == 0:
            drawing.box(10, y - 16, width - 20, _ROW, "band")
        drawing.text(20, y + 8, name, "strong")
        for column, cell in enumerate(cells + two_party[name]):
            drawing.dot(_at(column), y, {YES: "yes", NO: "no"}.get(cell, "some"))
            drawing.text(_at(column), y + 20, cell, "small", "middle")
    between = (_at(2) + _at(3)) / 2
    drawing.line([(between, 14), (between, height - 34)])
    drawing.text(
        20,
        height - 12,
        "The ledger's entries are visible to regulators. “If opened”: the regulator opened this"
        " run, and has its key.",
        "small",
    )
    return drawing.svg()


def _at(column: int) -> float:
    return _NAMES + _COLUMN * (column + 0.5)
