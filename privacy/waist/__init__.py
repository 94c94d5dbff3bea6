"""The waist: the only door through which private data become public (R1).

A question says, before any data are read, which tables will be released and with which mechanism;
its price follows from that alone. `release` takes the tables and proof of payment, and refuses to
let out anything that was not priced, or that costs more than was paid.
"""

from collections.abc import Mapping
from typing import Protocol, TypeVar

from privacy.errors import BoundsError, UnderpaidError
from privacy.price import FREE, Price
from privacy.table import Bounds, Cells
from privacy.waist.laplace import DiscreteLaplace

Question = Mapping[str, DiscreteLaplace]
Noisy = TypeVar("Noisy", covariant=True)

__all__ = ["DiscreteLaplace", "Question", "price", "release"]


class Noisable(Protocol[Noisy]):
    """All that the waist asks of a table: its bounds, and a way to put noise on its cells.

    The cells may be integers in memory, or masked or encrypted ones that only add.
    """

    @property
    def bounds(self) -> Bounds: ...

    def plus(self, noise: Cells) -> Noisy: ...


def price(question: Question) -> Price:
    """What the tables cost together, by composition. Groups inside one table are in parallel."""
    return sum((mechanism.price for mechanism in question.values()), FREE)


def release(
    question: Question, tables: Mapping[str, Noisable[Noisy]], paid: Price
) -> dict[str, Noisy]:
    """Noisy cells of every table of the question, once it is paid for."""
    if not paid.covers(price(question)):
        raise UnderpaidError("the release costs more than was charged for it")
    if {name: table.bounds for name, table in tables.items()} != {
        name: mechanism.bounds for name, mechanism in question.items()
    }:
        raise BoundsError("the tables are not the ones that were priced")
    return {name: tables[name].plus(mechanism.noise()) for name, mechanism in question.items()}
