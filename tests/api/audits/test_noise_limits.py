"""Every release can be encoded, whatever is drawn, and noise that is too wide is refused before."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from joserfc.jwk import OKPKey

from api.audits import noise_limits
from api.audits.pricing import price_plan
from api.audits.release import sign_release
from api.kernel.errors import NoiseTooLargeError
from api.kinds.registry import KINDS, AudienceFacts
from openapi.kinds.unions import EXAMPLES
from openapi.resources import REQUEST
from privacy import waist
from privacy.canonical import LARGEST, dumps
from privacy.tables.bounded_table import Bounds, Reach, Table
from privacy.waist import (
    DiscreteGaussian,
    DiscreteLaplace,
    LaplaceTree,
    NoisyMax,
)
from privacy.waist.tree import worst_prefix

KEY = OKPKey.generate_key("Ed25519", parameters={"kid": "receipts"})
DIGEST = "sha256:" + "0" * 64
FACTS = AudienceFacts(("g0", "g1"), 1, None, members=1_000, consented=True, ordered=True)
BY_KIND = {example["kind"]: example for example in EXAMPLES if example["kind"] != "two-party"}
TINY = Fraction(1, 10**17)
GAUSSIAN = ("score-histogram", "outcome-test", "bias-size", "reo")


def request_of(kind: str, **changes: Any) -> Any:
    return REQUEST.validate_python(BY_KIND[kind] | changes)


def gaussian(kind: str, rho: str) -> Any:
    changes = {"mechanism": "discrete-gaussian", "rho": rho, "epsilon": None, "size_epsilon": None}
    example = {
        name: value for name, value in (BY_KIND[kind] | changes).items() if value is not None
    }
    return REQUEST.validate_python(example)


def refuse(request: Any) -> None:
    kind = KINDS[request.kind]
    noise_limits.refuse_overflow(kind, kind.plan(request, FACTS), FACTS)


def asked() -> list[Any]:
    requests = [request_of(kind) for kind in BY_KIND]
    return requests + [gaussian(kind, "0.5") for kind in GAUSSIAN]


def name_of(request: Any) -> str:
    return f"{request.kind} {getattr(request, 'mechanism', '')}"


def widened(mechanism: Any) -> Any:
    """Return the same mechanism with noise far beyond what anybody may ask for."""
    if isinstance(mechanism, DiscreteGaussian):
        return replace(mechanism, rho=TINY**2)
    return replace(mechanism, epsilon=TINY)


def body_of(request: Any, released: Mapping[str, Any]) -> bytes:
    """Return the bytes of a release, as the worker makes them."""
    kind, digests = KINDS[request.kind], [DIGEST] * max(1, len(request.content_ids))
    plan = kind.plan(request, FACTS)
    fields = {
        "audit_id": "audit_" + "0" * 30,
        "kind": request.kind,
        "content_digests": digests,
        "audience_commitment": DIGEST,
        "model_digest": None,
        "price": price_plan(plan, "rho", request.exploration_loss),
        "rules": [],
        **kind.present(request, FACTS, digests, released),
    }
    return sign_release(fields, datetime.now(UTC), KEY)


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [found for each in value.values() for found in numbers_in(each)]
    if isinstance(value, list):
        return [found for each in value for found in numbers_in(each)]
    return [value] if isinstance(value, int | float) else []


@pytest.mark.parametrize("request_", asked(), ids=name_of)
def test_whatever_is_drawn_is_encoded(request_: Any) -> None:
    plan = {
        name: widened(mechanism)
        for name, mechanism in KINDS[request_.kind].plan(request_, FACTS).items()
    }
    tables = {name: Table.zeros(mechanism.bounds) for name, mechanism in plan.items()}
    extremes = []
    for _ in range(5):
        released = waist.release(plan, tables, paid=waist.price(plan))
        body = body_of(request_, released)
        assert dumps(json.loads(body)) == body
        extremes.append(max(abs(number) for number in numbers_in(json.loads(body))))
    # Noise of scale 7e16 and more stays within ±2^53 with probability below 0.13, and there are two
    # cells at least: ten such numbers together fail by chance with probability below 1e-8.
    assert max(extremes) == LARGEST or request_.kind == "most-skewed"


@pytest.mark.parametrize("far", [2**53, 2**62, 2**63 - 1])
@pytest.mark.parametrize("cell", [0, 1, -1, LARGEST, -LARGEST])
def test_noise_that_leaves_64_bits_does_not_wrap_around(far: int, cell: int) -> None:
    bounds = Bounds.counts((2,), 1)
    table = Table(bounds, np.array([cell, cell]))
    expected = [min(LARGEST, cell + far), max(-LARGEST, cell - far)]
    assert table.plus(np.array([far, -far])).tolist() == expected
    assert table.plus(np.array([0, -(2**63)])).tolist() == [cell, -LARGEST]


ROW = Reach(10**7, 10**14, 10**7)
WIDE = Bounds.rows((10, 1, 6), ROW, 100, 10)


@pytest.mark.parametrize(
    "mechanism",
    [
        DiscreteLaplace(WIDE, Fraction(1, 10**6)),
        DiscreteGaussian(WIDE, Fraction(1, 10**15)),
        LaplaceTree(Bounds.counts((10, 100), 10**8), Fraction(1, 10**6)),
        NoisyMax(Bounds.rows((5,), replace(ROW, linf=10**8), 10, 1), Fraction(1, 10**6)),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_the_smallest_parameter_that_is_named_is_the_smallest(mechanism: Any) -> None:
    found = waist.find_overflow((("table", mechanism),), 1_000)
    assert found is not None
    assert found.smallest is not None
    given = "rho" if isinstance(mechanism, DiscreteGaussian) else "epsilon"
    assert (found.parameter, found.given) == (given, getattr(mechanism, given))
    enough = replace(mechanism, **{given: found.smallest})
    assert waist.find_overflow((("table", enough),), 1_000) is None
    less = replace(mechanism, **{given: found.smallest - Fraction(1, 10**6)})
    if found.smallest > Fraction(1, 10**6):
        assert waist.find_overflow((("table", less),), 1_000) is not None
    # The scale leaves room for ln(2 · 2^40) of them, and the quoted error is within as well.
    assert enough.scale * 28 < LARGEST
    assert enough.error(0.05) < LARGEST
    assert enough.error(2**-40 / enough.bounds.cells) < LARGEST or mechanism.name == "laplace-tree"


@pytest.mark.parametrize("leaves", [2, 30, 500])
def test_a_running_count_adds_up_the_noise_of_many_nodes(leaves: int) -> None:
    tree = LaplaceTree(Bounds.counts((3, leaves), 10**9), Fraction(1, 10**6))
    found = waist.find_overflow((("cdf", tree),), 0)
    assert found is not None
    assert found.smallest is not None
    # By Cauchy and Schwarz the worst running count has this many times the largest noise of a node,
    # of which there is room for ln(2 · 2^40), which is above 28.
    bounds = tree.nodes.bounds
    factor = worst_prefix(leaves, tree.branching) * math.sqrt(bounds.shape[1])
    assert float(found.smallest) > 28 * factor * bounds.added.l1 / LARGEST


def test_encrypted_sums_may_be_larger_than_a_number_of_json() -> None:
    sums = DiscreteLaplace(WIDE, Fraction(1, 10**5))
    assert waist.find_overflow((("sums", sums),), 2**53) is not None
    assert waist.find_overflow((("sums", sums),), 2**53, encrypted=True) is None
    narrow = replace(sums, epsilon=Fraction(1, 10**6))
    found = waist.find_overflow((("sums", narrow),), 2**53, encrypted=True)
    assert found is not None
    assert found.smallest is not None
    assert replace(narrow, epsilon=found.smallest).error(0.05) <= LARGEST


def test_true_values_that_leave_the_range_are_refused_at_any_epsilon() -> None:
    laplace = DiscreteLaplace(WIDE, Fraction(10))
    found = waist.find_overflow((("table", laplace),), 2**53)
    assert found is not None
    assert found.smallest is None


def test_a_mechanism_of_unknown_tail_is_no_mechanism() -> None:
    with pytest.raises(TypeError):
        waist.find_overflow((("table", object()),), 1)


@pytest.mark.parametrize("kind", BY_KIND)
def test_what_is_asked_in_earnest_is_not_refused(kind: str) -> None:
    request = request_of(kind)
    refuse(request)


def test_a_refusal_names_the_table_in_the_units_of_the_request() -> None:
    steps = {"steps": 1_000_000, "cost_epsilon": "0.000001"}
    request = request_of("envy-freeness", **steps)
    with pytest.raises(NoiseTooLargeError) as refused:
        refuse(request)
    members = refused.value.members
    assert (members["table"], members["parameter"]) == ("cost", "epsilon")
    assert members["given"] == "0.000001"
    enough = request_of("envy-freeness", **steps | {"cost_epsilon": members["smallest"]})
    refuse(enough)
    assert Decimal(members["smallest"]) < 1
