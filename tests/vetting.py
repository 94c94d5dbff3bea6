"""Applicants, their applications and an operator, for tests of vetting."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from joserfc.jwk import OKPKey

from auditor_client import Auditor
from auditor_client.local.keys import plain_jwk
from auditor_client.vetting.application_file import add_agreement
from auditor_client.vetting.client import Applicant, Operator, ledger_origin
from openapi.resources import Application, ApplicationDraft, Personal
from tests.world import Deployment

TEXTS = ("systemic_risk", "research", "necessity", "funding", "independence", "data_protection")


def new_key() -> OKPKey:
    return OKPKey.generate_key("Ed25519")


def person(name: str, key: OKPKey, role: str = "other", **more: Any) -> dict[str, Any]:
    return {"name": Personal.fresh(name), "jwk": plain_jwk(key), "role": role, **more}


def draft_of(principal: OKPKey, *others: OKPKey, **changes: Any) -> ApplicationDraft:
    """An application that asks for epsilon 20 of histograms, changed as told; nobody agreed yet."""
    fields: dict[str, Any] = {
        "organisation": "Open Audit Lab",
        "individuals": [
            person("Ada Lovelace", principal, "principal", contact=Personal.fresh("ada@lab")),
            *(person(f"Grace {number}", key) for number, key in enumerate(others)),
        ],
        "purpose": "Discrimination in job ads",
        "kinds": ["score-histogram", "match-count"],
        "attributes": ["gender"],
        "epsilon_limit": "20",
        "valid_from": datetime.now(UTC) - timedelta(days=1),
        "valid_until": datetime.now(UTC) + timedelta(days=90),
        "publishes_free_of_charge": True,
        **{name: Personal.fresh(f"about {name}") for name in TEXTS},
    }
    return ApplicationDraft.model_validate(fields | changes)


def agreed_by(draft: ApplicationDraft, url: str, *others: OKPKey) -> ApplicationDraft:
    """The draft with the proofs of these, who are named in it."""
    origin = ledger_origin(url)
    for key in others:
        draft = add_agreement(draft, key, origin)
    return draft


@dataclass
class Applying:
    """A principal, colleagues, and the application they made."""

    deployment: Deployment
    applicant: Applicant
    application: Application
    keys: list[OKPKey] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.application.id

    def again(self) -> Application:
        """The application as the regulator sees it now."""
        return self.deployment.regulator.applications.get(self.id)

    def approved(self, **narrower: Any) -> Application:
        return self.deployment.regulator.applications.approve(
            self.again(), "all conditions are met", **narrower
        )

    def researcher(self, number: int = 0) -> Auditor:
        """An individual of the approved application, at work."""
        who = self.application.individuals[number].researcher_id
        made = Auditor(self.deployment.url, who, self.keys[number])
        return self.deployment.clients.enter_context(made)


def applying(deployment: Deployment, others: int = 0, **changes: Any) -> Applying:
    keys = [new_key() for _ in range(1 + others)]
    draft = agreed_by(draft_of(*keys, **changes), deployment.url, *keys[1:])
    applicant, made = Applicant.apply(deployment.url, keys[0], draft)
    deployment.clients.enter_context(applicant)
    return Applying(deployment, applicant, made, keys)


def operator(deployment: Deployment) -> Operator:
    made = Operator(deployment.url, deployment.operator_id, deployment.operator_key)
    return deployment.clients.enter_context(made)
