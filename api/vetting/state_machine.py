"""State machine of an application: every change of state, who may make it, and the period it
begins.

[DR] Delegated Regulation (EU) 2025/2050 as adopted, Articles 7, 12 and 13. [DSA] Regulation (EU)
2022/2065, Article 40(5) and (6); its periods as [CnaM] restates them: Coimisiún na Meán, DSA
Article 40(4)-(11) Data Access Guidance V2, 3.21 to 3.24.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from api.vetting.calendar import Calendar
from openapi.resources import ApplicationState as State
from openapi.resources import Role

# [DR, Article 7(1)] within 80 working days from the submission
DECISION_WORKING_DAYS = 80
# [DSA, Article 40(5); CnaM, 3.23] within 15 days of receipt of the reasoned request
AMENDMENT_DAYS = 15
# [DSA, Article 40(6); CnaM, 3.24] within a further 15 days
AMENDMENT_DECISION_DAYS = 15
# [DR, Article 13(1)] within five working days from the communication of that decision
MEDIATION_REQUEST_WORKING_DAYS = 5
# [DR, Article 13(4)] initiated within 20 working days from the submission of the request
MEDIATION_START_WORKING_DAYS = 20
# [DR, Article 13(9)] at most 40 working days, starting on the day of the initiation: the wire model
# holds the 40.


@dataclass(frozen=True)
class DecisionPeriod:
    """Task of a state: the task itself, who does it, and by when.

    `binding`: after the period it can no longer be done. A regulator who is late still decides.
    """

    what: str
    who: str
    law: str
    binding: bool
    due: Callable[[Calendar, datetime, int], datetime] | None = None


# Period of each state, from the moment the state was entered. If `due` is None it runs from an
# earlier moment: for an application, from its first submission.
PERIODS: Mapping[str, DecisionPeriod] = {
    **dict.fromkeys(
        ("submitted", "changes-requested"),
        DecisionPeriod(
            "decide on the application", "regulator", "Regulation (EU) 2025/2050, 7(1)", False
        ),
    ),
    "approved": DecisionPeriod(
        "ask for an amendment",
        "operator",
        "Regulation (EU) 2022/2065, 40(5)",
        True,
        lambda calendar, at, _: calendar.after_days(at, AMENDMENT_DAYS),
    ),
    "amendment-requested": DecisionPeriod(
        "decide on the amendment",
        "regulator",
        "Regulation (EU) 2022/2065, 40(6)",
        False,
        lambda calendar, at, _: calendar.after_days(at, AMENDMENT_DECISION_DAYS),
    ),
    "amendment-decided": DecisionPeriod(
        "ask for mediation",
        "operator",
        "Regulation (EU) 2025/2050, 13(1)",
        True,
        lambda calendar, at, _: calendar.after_working_days(at, MEDIATION_REQUEST_WORKING_DAYS),
    ),
    "mediation-requested": DecisionPeriod(
        "begin the mediation",
        "regulator and operator",
        "Regulation (EU) 2025/2050, 13(4)",
        False,
        lambda calendar, at, _: calendar.after_working_days(at, MEDIATION_START_WORKING_DAYS),
    ),
    "in-mediation": DecisionPeriod(
        "end the mediation",
        "mediator",
        "Regulation (EU) 2025/2050, 13(9)",
        False,
        lambda calendar, at, days: calendar.after_working_days(at, days, counts_itself=True),
    ),
}


@dataclass(frozen=True)
class Transition:
    """Transition: who may cause the event, and the state it leads to."""

    by: frozenset[Role]
    to: State


_APPLICANT: frozenset[Role] = frozenset({"applicant", "auditor"})
_REGULATOR: frozenset[Role] = frozenset({"regulator"})
_OPERATOR: frozenset[Role] = frozenset({"operator"})

# (state, event) → who may cause it, and the next state. Other changes cannot happen.
CHANGES: Mapping[tuple[str, str], Transition] = {
    ("submitted", "request-changes"): Transition(_REGULATOR, "changes-requested"),
    ("submitted", "extend"): Transition(_REGULATOR, "submitted"),
    ("submitted", "approve"): Transition(_REGULATOR, "approved"),
    ("submitted", "refuse"): Transition(_REGULATOR, "refused"),
    ("submitted", "withdraw"): Transition(_APPLICANT, "withdrawn"),
    ("changes-requested", "answer"): Transition(_APPLICANT, "submitted"),
    ("changes-requested", "extend"): Transition(_REGULATOR, "changes-requested"),
    ("changes-requested", "refuse"): Transition(_REGULATOR, "refused"),
    ("changes-requested", "withdraw"): Transition(_APPLICANT, "withdrawn"),
    ("approved", "ask-amendment"): Transition(_OPERATOR, "amendment-requested"),
    ("amendment-requested", "accept-amendment"): Transition(_REGULATOR, "amendment-decided"),
    ("amendment-requested", "reject-amendment"): Transition(_REGULATOR, "amendment-decided"),
    ("amendment-decided", "requested"): Transition(_OPERATOR, "mediation-requested"),
    ("mediation-requested", "opened"): Transition(_REGULATOR, "in-mediation"),
    ("mediation-requested", "declined"): Transition(_REGULATOR, "settled"),
    ("mediation-requested", "failed"): Transition(_OPERATOR, "settled"),
    ("in-mediation", "agreed"): Transition(_REGULATOR, "settled"),
    ("in-mediation", "failed"): Transition(_REGULATOR | _OPERATOR, "settled"),
}
