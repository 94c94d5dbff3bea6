"""All mutants, by what they are in."""

from tests.mutants.catalogue import (
    accountant,
    draws,
    kinds,
    ledger,
    people,
    protocol,
    serving,
    waist,
)
from tests.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (
    *waist.MUTANTS,
    *kinds.MUTANTS,
    *accountant.MUTANTS,
    *protocol.MUTANTS,
    *people.MUTANTS,
    *draws.MUTANTS,
    *ledger.MUTANTS,
    *serving.MUTANTS,
)
