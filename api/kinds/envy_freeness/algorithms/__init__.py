"""Certificates of envy-freeness: pure algorithms, without a service, people or state on disk.

A target is envious if somebody else's recommendations would suit them better than their own. Arm 0
is the baseline, their own recommendations; the other arms are other people's. `bounds="printed"` is
the paper's Algorithm 1. `bounds="tight"` keeps the same promise in fewer steps.
docs/explanation/envy.md has the proofs.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, Online certification of preference-based fairness for
  personalized recommender systems, AAAI 2022 (arXiv:2104.14527 for Lemma 4).
"""

from api.kinds.envy_freeness.algorithms.audit_all import Certificate, audit, make_fleet
from api.kinds.envy_freeness.algorithms.batch import BatchOutcomes, Fleet, run
from api.kinds.envy_freeness.algorithms.criteria import AuditSize, audit_size, exact, probabilistic
from api.kinds.envy_freeness.algorithms.minimum_steps import least_steps
from api.kinds.envy_freeness.algorithms.paper_bounds import beta
from api.kinds.envy_freeness.algorithms.single_target import Outcome, ocef
from api.kinds.envy_freeness.algorithms.terms import Terms, TermsError

__all__ = [
    "AuditSize",
    "BatchOutcomes",
    "Certificate",
    "Fleet",
    "Outcome",
    "Terms",
    "TermsError",
    "audit",
    "audit_size",
    "beta",
    "exact",
    "least_steps",
    "make_fleet",
    "ocef",
    "probabilistic",
    "run",
]
