"""Certificates of envy-freeness: people prefer their own recommendations to other people's.

    from auditor_client import envy

    plan = envy.envy_plan(tolerance=0.05, alpha=0.2, epsilon=1.0, own=0.5, others=[0.2, 0.4])
    print(plan.explain())
    audit = auditor.audits.envy_freeness(audience, **plan.asks())
    print(audit.certificate().explain())

docs/explanation/envy.md has the rules and their proofs.
"""

from auditor_client.envy.certificates import EnvyCertificate, Verdict
from auditor_client.envy.decision_rule import DecisionRule, EverybodyRule, SampleRule
from auditor_client.envy.designs import CertificateGoal, EnvyDesign, design
from auditor_client.envy.forecast_path import EnvyForecast, EnvyTerms
from auditor_client.envy.forecasts import forecast
from auditor_client.envy.planning import EnvyPlan, envy_plan
from auditor_client.envy.sample_size import sample_needed, sample_rule

__all__ = [
    "CertificateGoal",
    "DecisionRule",
    "EnvyCertificate",
    "EnvyDesign",
    "EnvyForecast",
    "EnvyPlan",
    "EnvyTerms",
    "EverybodyRule",
    "SampleRule",
    "Verdict",
    "design",
    "envy_plan",
    "forecast",
    "sample_needed",
    "sample_rule",
]
