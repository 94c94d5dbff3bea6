"""Sums from two shares, and the same sums unencrypted."""

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from privacy.two_party.residues import Words, combine_residues
from replications.paper_5.two_teams.rows import ClientRows
from replications.paper_5.two_teams.terms import LibraryTerms


def together(terms: LibraryTerms, own: Words, others: Words) -> NDArray[np.object_]:
    """Return the sums from two shares: tuples × cells × columns, exact integers."""
    moduli = [ring.modulus for ring in terms.rings]
    sums = np.array([(one + other) % m for one, other, m in zip(own, others, moduli, strict=True)])
    found = [
        combine_residues([int(x) for x in parts], moduli)
        for parts in sums.reshape(len(moduli), -1).T
    ]
    return np.array(found, object).reshape(terms.shape)


def plaintext_sums(
    terms: LibraryTerms,
    tester: Mapping[bytes, NDArray[np.int64]],
    client: Sequence[bytes],
    rows: ClientRows,
) -> NDArray[np.object_]:
    """Compute the protocol's result from plain data: weights by token, and the table."""
    nothing = np.zeros(terms.groups, np.int64)
    weights = np.array([tester.get(token, nothing) for token in client]).astype(object)
    of_rows = weights[rows.places.members]
    sums = np.zeros((terms.cells, len(terms.tuples), terms.columns), object)
    products = np.stack([_product(of_rows, groups) for groups in terms.tuples], axis=1)
    added = products[:, :, np.newaxis] * rows.values.astype(object)[:, np.newaxis, :]
    np.add.at(sums, rows.places.cell, added)
    return sums.transpose(1, 0, 2)


def _product(of_rows: NDArray[np.object_], groups: tuple[int, ...]) -> NDArray[np.object_]:
    """Return the weight of each row for a tuple of groups: the product of its members' weights."""
    factors = (of_rows[:, place, group] for place, group in enumerate(groups))
    return reduce(np.multiply, factors)
