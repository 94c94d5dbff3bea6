"""Application from a file that people write: TOML or JSON, with plain text and file names.

Every text about people gets its own salt here: the ledger will hold only commitments.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from joserfc.jwk import OKPKey

from auditor_client.errors import InputError
from auditor_client.local.keys import checked_public, plain_jwk
from auditor_client.local.private_files import write_private
from auditor_client.transport.validation import salt_text, validate
from openapi.kinds.registry import DEFAULT
from openapi.resources import ApplicationDraft
from privacy.errors import EvidenceError
from privacy.ledger.key_possession import application_bytes
from privacy.ledger.signatures import Signer
from privacy.ledger.statements import sign, state_request

_TEXTS = (
    "systemic_risk",
    "research",
    "necessity",
    "funding",
    "independence",
    "data_protection",
)
_TEXTS_OF_A_PERSON = ("name", "contact", "affiliation")

_TEMPLATE = """\
# An application for access. Fill it in, then: auditor apply FILE --url URL --key KEY
organisation = "Open Audit Lab"
purpose = "Discrimination in the delivery of job ads"
systemic_risk = "Non-discrimination (DSA Article 34(1)(b)): who is shown which job ads."
research = "We compare how relevance scores are distributed between women and men."
necessity = "Scores are not public. Noisy histograms are enough; no data on individuals are needed."
kinds = ["DEFAULT_KIND"]
# The attributes in which the compared groups differ.
attributes = ["gender"]
# The requested budget: epsilon_limit or rho_limit; with a renewal, lifetime_limit never renews.
epsilon_limit = "20"
# renewal = { kind = "rolling", days = 30 }
# lifetime_limit = "100"
valid_from = 2026-01-01T00:00:00Z
valid_until = 2099-01-01T00:00:00Z
funding = "A public research grant, number 12345."
independence = "None of us has a commercial interest in the outcome."
data_protection = "Identifiers are hashed before upload; we receive only noisy counts."
# Results are published free of charge.
publishes_free_of_charge = true

# The principal applicant signs: the key is the one given by --key.
[[individuals]]
role = "principal"
name = "Ada Lovelace"
contact = "ada@lab.example"
affiliation = "Senior researcher at the Open Audit Lab"

# Everybody else who needs access, with the file of their public key (auditor key public).
# They must agree before it is sent: see docs/how-to/regulators/vet-an-application.md.
# [[individuals]]
# name = "Grace Hopper"
# affiliation = "Researcher at the Open Audit Lab"
# key = "grace.public.jwk"
"""
TEMPLATE = _TEMPLATE.replace("DEFAULT_KIND", DEFAULT)


def read_application(path: Path, key: OKPKey) -> ApplicationDraft:
    """Return the application in a file, with the principal's own key filled in."""
    return application_of(_read(path), key, path.parent)


def read_prepared(path: Path) -> ApplicationDraft:
    """Return an application with its salts: the text to which people agree must not change."""
    fields = _read(path)
    if any(isinstance(fields.get(name), str) for name in _TEXTS):
        raise InputError(
            f"{path} is not prepared. First, the principal runs: auditor apply FILE --prepare OUT"
        )
    return validate(ApplicationDraft, **fields)


def write_application(path: Path, application: ApplicationDraft) -> None:
    """Write the application with its salts, so that everybody named in it can agree to the same
    text.
    """
    write_private(path, application.model_dump_json(indent=1) + "\n")


def add_agreement(application: ApplicationDraft, key: OKPKey, origin: str) -> ApplicationDraft:
    """Return the application with the proof of the individual who holds this key.

    `origin` names the service that it is for, as `auditor ledger keys` shows it.
    """
    holder = key.thumbprint()
    own = [person for person in application.individuals if _thumbprint(person.jwk) == holder]
    if not own:
        raise InputError("The application names nobody with this key.", case="not-named")
    proved = application_bytes(
        origin, state_request(application.model_dump(mode="json")), own[0].jwk
    )
    proof = sign(proved, key)
    people = [
        person.model_copy(update={"proof": proof}) if person in own else person
        for person in application.individuals
    ]
    return application.model_copy(update={"individuals": people})


def application_of(fields: Mapping[str, Any], key: OKPKey, folder: Path) -> ApplicationDraft:
    people = fields.get("individuals")
    if not isinstance(people, list) or not all(isinstance(each, Mapping) for each in people):
        raise InputError("An application has a list of individuals.", case="no-individuals")
    texts = {name: _personal(fields, name) for name in _TEXTS if name in fields}
    individuals = [_individual(person, key, folder) for person in people]
    return validate(ApplicationDraft, **{**fields, **texts, "individuals": individuals})


def _individual(person: Mapping[str, Any], key: OKPKey, folder: Path) -> dict[str, Any]:
    made = {name: value for name, value in person.items() if name != "key"}
    made |= {name: _personal(person, name) for name in _TEXTS_OF_A_PERSON if name in person}
    if "jwk" in person:
        return made
    if "key" in person:
        return made | {"jwk": _public(folder / str(person["key"]))}
    if person.get("role") == "principal":
        return made | {"jwk": plain_jwk(key)}
    raise InputError(
        "Everybody but the principal needs `key`, the file of their public key.", case="no-key"
    )


def _thumbprint(jwk: Mapping[str, Any]) -> str:
    try:
        return Signer.of(jwk).thumbprint
    except EvidenceError as error:
        raise InputError(f"The application names a key that cannot be used: {error}.") from error


def _personal(fields: Mapping[str, Any], name: str) -> Any:
    value = fields[name]
    return salt_text(value) if isinstance(value, str) else value


def _public(path: Path) -> dict[str, str]:
    jwk = checked_public(_read(path), str(path))
    return {name: str(value) for name, value in jwk.items() if isinstance(value, str)}


def _read(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    try:
        found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as error:
        raise InputError(f"{path} cannot be read: {error}", case="unreadable") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} is not a table of fields.")
    return found
