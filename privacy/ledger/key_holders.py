"""Holders of keys at each entry, and the kinds of entry that they may sign.

A researcher's key counts because a regulator's statement registered it, or because the researcher's
own earlier key did. A regulator's key counts only if the verifier's own file has it. Operators
belong to the platform, so the platform's statement is enough for their keys.
"""

from dataclasses import dataclass, replace

from privacy.errors import EvidenceError
from privacy.ledger import key_possession
from privacy.ledger.entry_schemas import (
    ApplicationBody,
    ApplicationFacts,
    DecisionBody,
    IndividualFacts,
    KeyBody,
    KeyFacts,
    RemovalBody,
    ResearcherBody,
    ResearcherFacts,
    Role,
    read,
)
from privacy.ledger.export_lines import ExportedEntry, ExportedStatement
from privacy.ledger.signatures import Signer
from privacy.ledger.statements import parse_header
from privacy.ledger.trust import Trust
from privacy.receipts import canonical, digest

AUDITOR: frozenset[Role] = frozenset({"auditor"})
REGULATOR: frozenset[Role] = frozenset({"regulator"})
ANYBODY: frozenset[Role] = frozenset({"auditor", "regulator", "operator"})
# Kinds that need a signature, and the roles that may sign them.
SIGNED: dict[str, frozenset[Role]] = {
    "auditor": REGULATOR,
    "researcher": REGULATOR,
    "researcher-key": ANYBODY,
    "researcher-removal": REGULATOR,
    "application": AUDITOR,
    "decision": REGULATOR,
    "amendment": frozenset({"operator"}),
    "mediation": frozenset({"operator", "regulator"}),
    "mandate": REGULATOR,
    "mandate-change": REGULATOR,
    "suspension": REGULATOR,
    "resumption": REGULATOR,
    "termination": REGULATOR,
    "stop": frozenset({"operator", "regulator"}),
    "opening": REGULATOR,
    "charge": AUDITOR,
    "registration": AUDITOR,
}
APPLICANT = "applicant:"


@dataclass(frozen=True)
class Person:
    role: Role
    auditor: str | None
    signer: Signer | None


class KeyHolders:
    """Everybody registered so far. `partial`: some entries about people are not visible."""

    def __init__(self, trust: Trust, *, partial: bool = False) -> None:
        self._origin = trust.origin
        self._regulators = trust.regulators
        self._partial = partial
        self._people: dict[str, Person] = {}
        self._applications: dict[tuple[str, int], tuple[str, list[tuple[str, Signer]]]] = {}

    def signer(self, kind: str, statement: ExportedStatement) -> Signer | None:
        """Return the key with which the statement must be signed; None if it is not visible."""
        roles = SIGNED.get(kind, ANYBODY)
        person = self._people.get(statement.by)
        if person is None:
            return self._unseen(kind, roles, statement)
        if person.role not in roles:
            raise EvidenceError(
                f"{statement.by} may not sign a {kind}, because their role is {person.role}",
                case="not-theirs-to-sign",
            )
        if person.signer is None:
            raise EvidenceError(f"{statement.by} has no key at this entry", case="no-key")
        if person.role == "regulator" and person.signer.thumbprint not in self._regulators:
            raise EvidenceError(
                f"the key of regulator {statement.by} is not in the keys file",
                case="regulator-not-in-keys-file",
            )
        return person.signer

    def auditor_of(self, researcher_id: str) -> str | None:
        return self._people[researcher_id].auditor

    def register(self, entry: ExportedEntry) -> None:
        """Register a person by a regulator's statement or, at set-up, by the platform's."""
        facts = read(entry.facts, ResearcherFacts)
        if entry.statement is None:
            body = ResearcherBody(facts.role, entry.auditor, facts.jwk)
            if facts.by != "init" or facts.role == "auditor":
                raise EvidenceError(
                    "a regulator's statement must register a researcher",
                    case="no-statement-of-a-regulator",
                )
        else:
            body = read(entry.statement.body, ResearcherBody)
        if (body.role, body.auditor_id) != (facts.role, entry.auditor):
            raise EvidenceError(
                "the role or the auditor differs from the statement",
                case="another-role-than-stated",
            )
        if (body.role == "auditor") != (body.auditor_id is not None):
            raise EvidenceError(
                "researchers of an auditor must name it, and other people must name none",
                case="auditor-of-a-researcher",
            )
        signer = None if body.jwk is None else Signer.of(body.jwk)
        if (signer and signer.thumbprint) != facts.key_thumbprint:
            raise EvidenceError(
                "the key differs from the statement", case="another-key-than-stated"
            )
        self._add(facts.researcher_id, Person(body.role, body.auditor_id, signer))

    def renew(self, entry: ExportedEntry) -> None:
        """Replace a key: the old key signs the change, and the new one proves possession."""
        statement, facts = _stated(entry), read(entry.facts, KeyFacts)
        body = read(statement.body, KeyBody)
        signer = Signer.of(body.jwk)
        if (facts.researcher_id, facts.key_thumbprint) != (statement.by, signer.thumbprint):
            raise EvidenceError(
                "the researcher or the key differs from the statement",
                case="another-researcher-or-key-than-stated",
            )
        proved = key_possession.key_change_bytes(self._origin, statement.by, body.jwk)
        key_possession.check(body.proof, proved, body.jwk)
        if statement.by in self._people:
            self._people[statement.by] = replace(self._people[statement.by], signer=signer)

    def remove(self, entry: ExportedEntry) -> None:
        removed = read(_stated(entry).body, RemovalBody).researcher_id
        if removed in self._people:
            self._people[removed] = replace(self._people[removed], signer=None)
        elif not self._partial:
            raise EvidenceError(f"nobody is registered as {removed}", case="nobody-to-remove")

    def apply(self, entry: ExportedEntry) -> None:
        """Store the individuals of an application: they count after its approval."""
        facts = read(entry.facts, ApplicationFacts)
        individuals = read(_stated(entry).body, ApplicationBody).individuals
        signers = [Signer.of(individual.jwk) for individual in individuals]
        stated = [signer.thumbprint for signer in signers]
        if stated != [individual.key_thumbprint for individual in facts.individuals]:
            raise EvidenceError(
                "the keys of the individuals differ from the statement",
                case="other-individuals-than-stated",
            )
        name = (facts.application_id, facts.version)
        if name in self._applications:
            raise EvidenceError(
                "this version of this application already exists", case="version-entered-before"
            )
        self._check_agreed(_stated(entry), individuals)
        ids = [individual.researcher_id for individual in facts.individuals]
        people = list(zip(ids, signers, strict=True))
        self._applications[name] = digest(canonical(_stated(entry).body)), people

    def _check_agreed(
        self, application: ExportedStatement, individuals: list[IndividualFacts]
    ) -> None:
        """Raise an error unless every individual except the signer proves possession of their
        key.
        """
        for individual in individuals:
            if application.by != f"{APPLICANT}{Signer.of(individual.jwk).thumbprint}":
                proved = key_possession.application_bytes(
                    self._origin, application.body, individual.jwk
                )
                key_possession.check(individual.proof, proved, individual.jwk)

    def approve(self, decided: DecisionBody, auditor_id: str) -> None:
        """Register the individuals of an application; those already registered stay unchanged."""
        application = self._applications.get((decided.application_id, decided.version))
        if application is None:
            if self._partial:
                return
            raise EvidenceError(
                "there is no such version of this application", case="no-such-version"
            )
        read_by_regulator, individuals = application
        if decided.application_digest != read_by_regulator:
            raise EvidenceError(
                "the regulator approved another application than the recorded one",
                case="another-application",
            )
        for researcher_id, signer in individuals:
            self._people.setdefault(researcher_id, Person("auditor", auditor_id, signer))

    def _unseen(
        self, kind: str, roles: frozenset[Role], statement: ExportedStatement
    ) -> Signer | None:
        if kind == "application" and statement.by.startswith(APPLICANT):
            return _applicant(statement)
        if self._partial and "regulator" in roles:
            signer = self._regulators.get(parse_header(statement.signature).kid)
            if signer is not None:
                return signer
        if self._partial and "operator" in roles:
            return None
        raise EvidenceError(f"nobody is registered as {statement.by}", case="unknown-signer")

    def _add(self, researcher_id: str, person: Person) -> None:
        if researcher_id in self._people:
            raise EvidenceError(f"{researcher_id} is already registered", case="registered-already")
        self._people[researcher_id] = person


def _stated(entry: ExportedEntry) -> ExportedStatement:
    if entry.statement is None:
        raise EvidenceError(f"a {entry.kind} needs a statement, and has none", case="no-statement")
    return entry.statement


def _applicant(statement: ExportedStatement) -> Signer:
    """Return the key of the applicant, which the application holds."""
    individuals = read(statement.body, ApplicationBody).individuals
    signers = [Signer.of(individual.jwk) for individual in individuals]
    for signer in signers:
        if signer.thumbprint == statement.by.removeprefix(APPLICANT):
            return signer
    raise EvidenceError(
        "the applicant's key is not in the application", case="applicants-key-missing"
    )
