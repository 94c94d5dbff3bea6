"""Ceilings that no setting may raise (R7): to weaken one is a change of code, in a diff."""

from fractions import Fraction

# The most that anybody bears over all auditors in a lifetime, in rho.
PERSON_LIFETIME_RHO = Fraction(10)
# The most that all audits together cost in one window, in rho.
PLATFORM_RHO = Fraction(1_000_000)
PLATFORM_WINDOW_DAYS = 30
# The most identifiers that one auditor may have matched in a day (UTC), and what a part counts at
# least: matching is unpaid.
IDENTIFIERS_PER_DAY = 100_000_000
LEAST_OF_A_PART = 10_000
# The fastest pace at which parts are matched: seconds for each part, and hashed identifiers per
# second. A user name counts as 10. Measured with a safety factor: ADR 21.
MATCH_SECONDS = 0.02
MATCH_RATE = 1_000_000
