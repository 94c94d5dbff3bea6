"""`python -m validation.envy_rule [trials]`: error rate and power of noisy counts of bandits.

Whole audits are simulated: people drawn, arms drawn, bandits run, counts made noisy. The noise is
not drawn: given the counts, the probability of each claim is known. If more than a share lambda
envies more than a share gamma, the certificate is wrong; if nobody envies, the claim of envy is.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Definition 3.2.
"""

import sys
from collections.abc import Iterator

import numpy as np

from api.kinds.envy_freeness.algorithms import AuditSize, BatchOutcomes, Terms, make_fleet, run
from api.kinds.envy_freeness.algorithms.audit_all import sample
from api.kinds.envy_freeness.algorithms.batch import Floats
from auditor_client.envy import SampleRule, sample_needed
from auditor_client.stats.noise_distributions import Laplace
from platform_sim.exploration.bandits import arms_of_people

TRIALS, AT_ONCE = 200, 10
DELTA, GAMMA, LAM, TOLERANCE, ALPHA, CEILING = 0.1, 0.1, 0.1, 0.5, 1.0, 1000
PEOPLE = 400
# Rate of the noise in the counts.
EPSILONS = (2.0, 1.0, 0.5, 0.25)
GOOD, BAD = 0.95, 0.05


def content() -> Floats:
    """Return rewards with which everybody is served best by their own policy."""
    return np.where(np.eye(PEOPLE, dtype=bool), GOOD, BAD)


def envious() -> Floats:
    """Return rewards with which one person more than lambda allows envies one more than gamma
    allows.
    """
    found, rng = content(), np.random.default_rng(0)
    for person in range(int(LAM * PEOPLE) + 1):
        others = np.delete(np.arange(PEOPLE), person)
        found[person, person] = BAD
        found[person, rng.choice(others, int(GAMMA * PEOPLE) + 1, replace=False)] = GOOD
    return found


def alike() -> Floats:
    """Return equal rewards of all policies: nobody envies anybody."""
    return np.full((PEOPLE, PEOPLE), 0.5)


CASES = {"too much envy": envious, "no envy": content, "all alike": alike}


def outcomes(means: Floats, rule: SampleRule, trials: int, seed: int) -> Iterator[BatchOutcomes]:
    """Yield the outcomes of all targets, audit by audit."""
    rng, size = np.random.default_rng(seed), AuditSize(rule.targets, rule.arms, rule.level)
    terms = Terms(rule.level, TOLERANCE, ALPHA, bounds="tight", ceiling=CEILING)
    for _ in range(trials // AT_ONCE):
        drawn = [sample(size, PEOPLE, rng) for _ in range(AT_ONCE)]
        policies = np.concatenate([np.column_stack(each) for each in drawn])
        fleet = make_fleet(terms, rule.arms, len(policies))
        yield run(fleet, arms_of_people(means[policies[:, :1], policies], rng), rng, ahead=True)


def chances(means: Floats, rule: SampleRule, rate: float, trials: int) -> tuple[float, float]:
    """Return the rates of the certificate and of the claim that somebody envies."""
    ended = list(outcomes(means, rule, trials, seed=1))
    envy, content = (
        np.concatenate([each.are(verdict).reshape(-1, rule.targets).sum(axis=1) for each in ended])
        for verdict in ("envy", "no-envy")
    )
    law = Laplace(rate)
    # P(D + Z <= c) = P(Z >= D - c), P(E + Z >= t)
    certified = law.tail(rule.targets - content - rule.certify_up_to)
    claimed = law.tail(rule.envy_from - envy)
    return float(certified.mean()), float(claimed.mean())


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    print(f"{trials} audits each, delta = {DELTA}, gamma = lambda = {GAMMA}, of {PEOPLE} people")
    for rate in EPSILONS:
        rule = sample_needed(delta=DELTA, gamma=GAMMA, lam=LAM, noise=rate)
        print(f"epsilon {rate:g}: {rule.targets} targets, {rule.arms} arms", flush=True)
        for name, means in CASES.items():
            certified, claimed = chances(means(), rule, rate, trials)
            print(f"{name:>16}: certified {certified:.4f}, envy {claimed:.4f}", flush=True)


if __name__ == "__main__":
    main()
