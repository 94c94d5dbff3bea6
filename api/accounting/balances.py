"""Spent balances of people, which a kind of audit may read after its charge (R3)."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from api.accounting.balance_blocks import Blocks, list_block_numbers
from api.accounting.memberships import can_displace_people
from api.db import AudienceRow, Store
from api.db.types import to_pico
from api.platforms.interfaces import Persons
from openapi.resources import Price


@dataclass(frozen=True)
class SpentBalances:
    """Balances at the moment of reading, without the debit of the audit that reads them.

    Debits in samples and in hidden audiences are left out. Their membership depends on other
    people, so one more person would change the balances of the people whom they displace.
    """

    store: Store
    own: Fraction
    cap: Fraction

    @classmethod
    def as_of_charge(
        cls, store: Store, price: Price, audience: AudienceRow, cap: Fraction
    ) -> "SpentBalances":
        """Return the spent balances of an audience's people, without the debit of this price."""
        own = Fraction(price.rho.change_one)
        return cls(store, Fraction(0) if can_displace_people(audience) else own, cap)

    def shares(self, persons: Persons) -> NDArray[np.float64]:
        order = np.argsort(persons)
        people, borne = persons[order], np.empty(len(persons), np.int64)
        with self.store.snapshot() as session:
            for blocks in Blocks.chunks(session, list_block_numbers(people), ("spent", "drawn")):
                part = blocks.part(people)
                positions = blocks.locate(people[part])
                borne[order[part]] = blocks["spent"][positions] - blocks["drawn"][positions]
        shares: NDArray[np.float64] = np.maximum(borne - to_pico(self.own), 0) / to_pico(self.cap)
        return shares
