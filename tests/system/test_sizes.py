"""The denominator: noisy where it is private, exact where it is known, and priced exactly."""

from collections.abc import Iterator
from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import pytest

from api.platforms.interfaces import Persons, Platform
from auditor_client import Auditor
from auditor_client.audiences.tables import read_members
from openapi.resources import Content
from platform_sim import World, recruit
from tests.system.adapters import Watched, on
from tests.system.raw import JOB, raw, request_for, usernames
from tests.system.scene import wait
from tests.world import Deployment, deployed, sqlite_url

pytestmark = pytest.mark.long_on_postgresql


def job(auditor: Auditor) -> Content:
    return auditor.contents.upload(**JOB)


def matched(platform: Platform, frame: Any, by: str = "gender") -> dict[str, Persons]:
    """Return the matched people of each group, which no auditor ever sees."""
    members = read_members(frame, "email", by, "qualified")
    return {
        name: np.setdiff1d(platform.people.match(members.kind, group), [-1])
        for name, group in members.groups.items()
    }


def beyond(scale: float, probability: float) -> int:
    """The least t with P(|noise| > t) below the probability, for discrete Laplace noise."""
    q = exp(-1 / scale)
    # P(|noise| > t) = 2 q^(t+1) / (1 + q)
    return int(log(probability * (1 + q) / 2) / log(q)) + 1


def test_unequal_match_rates_do_not_make_a_fair_platform_look_unfair(
    deployment: Deployment, platform: Platform, world: World
) -> None:
    auditor = deployment.auditor()
    frame = recruit(world, 1_200, seed=5, on_platform={"woman": 0.9, "man": 0.6})
    found = {name: len(persons) for name, persons in matched(platform, frame).items()}
    audience = auditor.audiences.upload(
        frame, id="email", by="gender", where="qualified", progress=False
    )
    assert found["woman"] / audience.members["woman"] > 0.7
    assert found["man"] / audience.members["man"] < 0.6

    audit = auditor.audits.run(job(auditor), audience, bins=5, epsilon=1, progress=False)
    # False alarm: each of two sizes at scale 4 is off by more with probability 1e-7.
    assert audit.epsilon("sizes") == pytest.approx(1 / 4)
    for name, size in audit.noisy_sizes.items():
        assert abs(size - found[name]) <= beyond(4, 1e-7)
        assert audience.members[name] - size > beyond(4, 1e-7)
    # False alarm: the verdict is wrong with probability at most delta / 2 = 5e-7.
    gap = audit.fairness_gap(delta=1e-6)
    assert gap.verdict(alpha=0.2) != "unfair"
    # With the number uploaded in the denominator the men's bins would be short of this much:
    uploaded = audience.members
    assert found["woman"] / uploaded["woman"] - found["man"] / uploaded["man"] > 0.2


def test_counts_are_those_of_everybody_who_was_found(
    deployment: Deployment, platform: Platform, world: World
) -> None:
    auditor = deployment.auditor()
    frame = recruit(world, 600, seed=6)
    audience = auditor.audiences.upload(
        frame, id="email", by="gender", where="qualified", progress=False
    )
    audit = auditor.audits.run(job(auditor), audience, bins=4, epsilon=10, progress=False)
    assert platform.scores is not None
    context = {name: values[0] for name, values in platform.scores.context.items()}
    for name, persons in matched(platform, frame).items():
        scores = platform.scores.score(JOB | {"image": None}, persons, context)
        exact = [*np.histogram(scores, np.linspace(0, 1, 5))[0].tolist(), 0]
        # False alarm: ten cells at scale 0.1, each off by more than 2 with probability 2e-13.
        assert np.abs(np.subtract(audit.counts[name], exact)).max() <= 2


def test_a_platforms_sample_has_exact_sizes_that_cost_nothing(deployment: Deployment) -> None:
    auditor = deployment.auditor()
    audience = auditor.audiences.sample("gender", {"woman": 37, "man": 41})
    assert audience.members == {"woman": 37, "man": 41}
    quote = auditor.audits.price(job(auditor), audience, bins=3, epsilon="0.7")
    assert [part.name for part in quote.price.parts] == ["bins"]
    audit = auditor.audits.run(job(auditor), audience, bins=3, epsilon="0.7", progress=False)
    assert audit.known_sizes == {"woman": 37, "man": 41}
    assert audit.noisy_sizes == {}
    assert auditor.budget().mandates[0].spent == Fraction("1.4")


@pytest.fixture(scope="module")
def watched(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform
) -> Iterator[tuple[Deployment, Watched]]:
    assert platform.scores is not None
    scores = Watched(platform.scores)
    url = sqlite_url(tmp_path_factory.mktemp("watched"))
    with deployed(url, on(platform, scores)) as running:
        yield running, scores


def test_only_participants_who_confirmed_are_scored_and_their_number_is_exact(
    watched: tuple[Deployment, Watched], platform: Platform, world: World
) -> None:
    deployment, scores = watched
    auditor = deployment.auditor()
    frame = recruit(world, 400, seed=8)
    opened = auditor.audiences.upload(
        frame, id="email", by="gender", where="qualified", confirmed=True, progress=False
    )
    assert opened.wire.state == "open"
    assert opened.participation_code is not None
    audience = auditor.audiences.seal(opened.id)
    taking_part = platform.people.confirmed(opened.participation_code)
    found = matched(platform, frame)
    expected = {name: np.intersect1d(found[name], taking_part) for name in found}
    assert all(0 < len(expected[name]) < len(found[name]) for name in found)

    scores.seen.clear()
    audit = auditor.audits.run(job(auditor), audience, bins=3, epsilon="0.5", progress=False)
    assert audit.known_sizes == {name: len(persons) for name, persons in expected.items()}
    scored = np.sort(np.concatenate(scores.seen))
    assert scored.tolist() == np.sort(np.concatenate(list(expected.values()))).tolist()
    assert auditor.budget().mandates[0].spent == Fraction(1)


def test_nobody_is_scored_before_the_charge(
    watched: tuple[Deployment, Watched], world: World
) -> None:
    deployment, scores = watched
    me = raw(deployment, deployment.auditor())
    scores.seen.clear()
    audience, content = me.audience({"g0": usernames(world, 9)}), me.content()
    me.made("/v1/audits/price", request_for(content, audience))
    me.get("/v1/catalogue")
    assert scores.seen == []
    assert me.submit(request_for(content, audience, epsilon="11")).status_code == 422
    assert scores.seen == []


def test_sizes_that_were_not_bought_are_left_to_the_bins(deployment: Deployment) -> None:
    auditor = deployment.auditor()
    me = raw(deployment, auditor)
    audience = me.audience({"g0": ["ada", "grace"], "g1": ["alan"]})
    body = request_for(me.content(), audience, size_epsilon="0")
    audit = me.submit(body).json()
    wait(me, audit["id"])
    release = me.get(f"/v1/audits/{audit['id']}/release").json()
    assert [group["size"] for group in release["groups"]] == [{"kind": "bins", "value": None}] * 2
    assert auditor.budget().mandates[0].spent == 2


# asked: epsilon, size_epsilon, groups per person; then the price of bins and sizes (add or remove),
# and the scale of the noise on each
PRICES = [
    ("1", None, 1, ("1", "0.25"), (1, 4)),
    ("1", "0", 1, ("1",), (1,)),
    ("1", "1", 1, ("1", "1"), (1, 1)),
    ("0.1", "0.2", 1, ("0.1", "0.2"), (10, 5)),
    ("3", None, 1, ("3", "0.75"), (1 / 3, 4 / 3)),
    ("0.000001", None, 1, ("0.000001", "0.000001"), (1e6, 1e6)),
    ("0.000007", None, 1, ("0.000007", "0.000001"), (1e6 / 7, 1e6)),
    ("10", "10", 1, ("10", "10"), (0.1, 0.1)),
    ("1", None, 3, ("1", "0.25"), (3, 12)),
    ("2.5", "0.5", 10, ("2.5", "0.5"), (4, 20)),
]


@pytest.mark.parametrize(("epsilon", "size_epsilon", "reach", "parts", "scales"), PRICES)
def test_prices_are_exact_under_both_relations(
    deployment: Deployment,
    epsilon: str,
    size_epsilon: str | None,
    reach: int,
    parts: tuple[str, ...],
    scales: tuple[float, ...],
) -> None:
    auditor = deployment.auditor()
    me = raw(deployment, auditor)
    groups = {f"g{number}": [f"ada{number}"] for number in range(max(2, reach))}
    audience = me.audience(groups, groups_per_person=reach)
    body = request_for(me.content(), audience, epsilon=epsilon, size_epsilon=size_epsilon)
    quote = me.made("/v1/audits/price", body)
    price = quote["price"]
    for shown, exact, scale in zip(price["parts"], parts, scales, strict=True):
        assert Fraction(shown["epsilon"]["add_remove"]) == Fraction(exact)
        assert Fraction(shown["epsilon"]["change_one"]) == 2 * Fraction(exact)
        # Exactly the noise that was paid for.
        assert float(Fraction(shown["scale"])) == pytest.approx(scale, rel=1e-12)
        assert Fraction(shown["scale"]) == Fraction(reach) / Fraction(exact)
    total = sum(map(Fraction, parts))
    assert Fraction(price["epsilon"]["add_remove"]) == total
    assert Fraction(price["epsilon"]["change_one"]) == Fraction(price["debit"]) == 2 * total
    assert Fraction(quote["remaining_after"]) == 100 - 2 * total
    assert auditor.budget().mandates[0].spent == 0

    audit = me.submit(body).json()
    assert audit["price"] == price
    [mandate] = auditor.budget().mandates
    assert Fraction(mandate.spent) == 2 * total
    [charge] = deployment.regulator.charges(auditor_id=mandate.auditor_id)
    assert charge.epsilon is not None
    assert Fraction(charge.epsilon.add_remove) == total
    assert Fraction(charge.debit) == 2 * total
