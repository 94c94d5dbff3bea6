"""Ceilings that no setting may raise (R7): to weaken one is a change of code, in a diff."""

from fractions import Fraction

# The most that anybody bears over all auditors in a lifetime, in rho.
PERSON_LIFETIME_RHO = Fraction(10)
# The most that all audits together cost in one window, in rho.
PLATFORM_RHO = Fraction(1_000_000)
PLATFORM_WINDOW_DAYS = 30
