"""Limits that no setting may exceed (R7): weakening one is a change of code, in a diff."""

from fractions import Fraction

# Lifetime cap of a person over all auditors, in rho.
PERSON_LIFETIME_RHO = Fraction(10)
# Limit of all audits together in one window, in rho.
PLATFORM_RHO = Fraction(1_000_000)
PLATFORM_WINDOW_DAYS = 30
# Identifiers that one auditor may have matched in a day (UTC), and the minimum that a part counts.
# There is a limit because matching is unpaid.
IDENTIFIERS_PER_DAY = 100_000_000
LEAST_OF_A_PART = 10_000
# Fastest pace at which parts are matched: seconds for each part, and hashed identifiers per second.
# A user name counts as 10. Measured, with a safety factor: ADR 21.
MATCH_SECONDS = 0.02
MATCH_RATE = 1_000_000
