"""Targets of an audit of envy-freeness, chosen for the people of its audience."""

from auditor_client.kinds.asking.facts import RequestFacts
from auditor_client.kinds.asking.hooks import AskingHalf, Said
from auditor_client.transport.decimals import to_decimal

# The share of an audience that is expected to match, to consent and to be within the cap.
EXPECTED_SHARE = 0.9
_SIZES = ("targets", "arms", "arms_per_person")


def derive(said: Said, facts: RequestFacts) -> dict[str, int]:
    """Return targets, arms and arms_per_person: the given values, or those that the audience
    allows.
    """
    given = {name: int(said[name]) for name in _SIZES if name in said}
    if len(given) == len(_SIZES) or not {"audience", "steps"} <= said.keys():
        return given
    audience = said["audience"]
    wire = facts.audience(audience) if isinstance(audience, str) else audience.wire
    people = int(EXPECTED_SHARE * sum(group.members for group in wire.groups))
    return {**_chosen(said, given, people, sampled=wire.source == "sample"), **given}


def _chosen(said: Said, given: dict[str, int], people: int, *, sampled: bool) -> dict[str, int]:
    """Choose targets for the largest power there is, and the number of audits per person.

    The forecast says whether that is enough.
    """
    from auditor_client.envy.designs import (  # SciPy takes a second to import
        CertificateGoal,
        design,
    )
    from auditor_client.envy.lots import arms_per_person_for
    from auditor_client.envy.sample_size import sample_rule

    delta = float(to_decimal(said.get("delta", "0.05"), "delta"))
    gamma = float(to_decimal(said.get("gamma", "0.1"), "gamma"))
    lam = float(to_decimal(said.get("lam", "0.1"), "lam"))
    epsilon = float(to_decimal(said.get("epsilon", 1)))
    targets, each = given.get("targets"), given.get("arms_per_person")
    if targets is None:
        wanted = CertificateGoal(epsilon, sampled, delta, gamma, lam)
        found = design(wanted, people=people, arms_per_person=each)
        targets, each = found.rule.targets, found.arms_per_person
    arms = given.get("arms") or sample_rule(targets, delta=delta, gamma=gamma, lam=lam).arms
    each = each or arms_per_person_for(people, targets, arms)
    return {"targets": targets, "arms": arms, "arms_per_person": each}


ASKING = AskingHalf(derive=derive)
