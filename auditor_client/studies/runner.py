"""Run of a study: upload, price, register, pay, wait. Every step is recorded and done once."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from auditor_client.audiences.client import NamedAudience
from auditor_client.auditor import Auditor
from auditor_client.errors import (
    AuditFailedError,
    IdempotencyConflictError,
    InputError,
    NotSignedError,
)
from auditor_client.kinds.registry import AnyResult
from auditor_client.ledger import make_trust
from auditor_client.local.pending_audits import UNCHARGED
from auditor_client.studies.audiences import AnyUploaded, SampleAudience
from auditor_client.studies.audit_models import StudyAudit
from auditor_client.studies.pinned_files import check_files, people_of, read_pinned
from auditor_client.studies.preflight import check_before_payment
from auditor_client.studies.registration_file import SavedRegistration
from auditor_client.studies.requests import request_of
from auditor_client.studies.state import State, StudyState
from auditor_client.studies.study_model import Study
from openapi.resources import AuditRequest, BatchQuote, InclusionProof
from privacy.ledger.trust import Trust

# Seconds to wait for a checkpoint of the ledger.
PATIENCE = 60.0


@dataclass
class Run:
    """Run of a study at one service. Paths in the study start at `folder`, which holds its file."""

    study: Study
    folder: Path
    auditor: Auditor
    progress: bool = True

    def __post_init__(self) -> None:
        if self.auditor.url != self.study.platform:
            raise InputError(
                f"The study is for {self.study.platform}, but this profile is for "
                f"{self.auditor.url}. Choose another profile with --profile.",
                case="another-service",
            )
        check_files(self.study, self.folder)

    @cached_property
    def state(self) -> State:
        return State.of(self.study.digest, self.auditor.url, self.auditor.researcher_id)

    @property
    def made(self) -> StudyState:
        return self.state.made

    @property
    def unpaid(self) -> list[str]:
        """The audits that were not submitted yet."""
        return [name for name in self.study.audits if name not in self.made.audits]

    def upload(self, *, seal: bool = False) -> dict[str, str]:
        """Upload missing contents and audiences; this costs nothing, and nobody is scored.

        Return the participation codes of audiences whose people confirm; these stay open until
        `seal`.
        """
        for name in self.study.contents:
            if name not in self.made.contents:
                self._upload_content(name)
        for name in self.study.audiences:
            if name not in self.made.audiences:
                self._upload_audience(name, seal)
        return {
            name: self.auditor.audiences.get(audience).participation_code or ""
            for name, audience in self.made.open.items()
        }

    def continue_sent(self) -> None:
        """Submit unanswered requests again: the user agreed to them, and each is charged once."""
        for name in list(self.made.sending):
            self._submit(name)

    def price(self) -> BatchQuote | None:
        """Return the price of all unpaid audits; None if all are paid.

        Refuse a study that could be paid but not analysed.
        """
        if not self.unpaid:
            return None
        requests = {name: self._request(name) for name in self.unpaid}
        names = {
            name: list(self.auditor.audiences.get(audience).names.values())
            for name, audience in self.made.audiences.items()
        }
        check_before_payment(self.study, requests, names)
        return self.auditor.audits.price_all(list(requests.values()))

    def register(self) -> SavedRegistration:
        """Register the study in the ledger, and check the platform's proof of it."""
        if self.made.registration is None:
            self.made.registration = self.auditor.studies.register(self.study.digest)
            self.state.save()
        registration = self.made.registration
        saved = SavedRegistration(
            registration=registration, proof=self._registration_proof(registration.entry)
        )
        saved.check(self.study.digest, self.trust)
        return saved

    def pay(self) -> Iterator[tuple[str, AnyResult]]:
        """Submit every audit and wait for it. Nothing is paid twice."""
        for name in self.study.audits:
            yield name, self._finished(name)

    @cached_property
    def trust(self) -> Trust:
        """The platform's keys as it states them now."""
        return make_trust(self.auditor.ledger.keys(), {})

    def _upload_content(self, name: str) -> None:
        content = self.study.contents[name]
        image = read_pinned(self.folder, content.image) if content.image else None
        uploaded = self.auditor.contents.upload(
            kind=content.kind,
            title=content.title,
            text=content.text,
            attributes=content.attributes,
            image=image,
        )
        self.made.contents[name] = uploaded.id
        self.state.save()

    def _upload_audience(self, name: str, seal: bool) -> None:
        audience = self.study.audiences[name]
        if isinstance(audience, SampleAudience):
            sample = self.auditor.audiences.sample
            drawn = sample(audience.attribute, audience.sizes, consented=audience.consented)
            self._sealed(name, drawn)
            return
        if seal and name in self.made.open:
            self._sealed(name, self.auditor.audiences.seal(self.made.open[name]))
            return
        uploaded = self._send(name, audience)
        if not audience.confirmed:
            self._sealed(name, uploaded)

    def _send(self, name: str, audience: AnyUploaded) -> NamedAudience:
        def begun(audience_id: str) -> None:
            self.made.open[name] = audience_id
            self.state.save()

        frame, columns = people_of(audience, self.folder)
        return self.auditor.audiences.upload(
            frame,
            id=audience.id,
            by=columns,
            where=audience.where,
            id_kind=audience.id_kind,
            country=audience.country,
            missing_groups="drop" if audience.drop_missing else "refuse",
            groups_per_person=audience.groups_per_person,
            confirmed=audience.confirmed,
            consented=audience.consented,
            cluster=audience.cluster,
            correlation=1.0 if audience.correlation is None else audience.correlation,
            resume=self.made.open.get(name),
            begun=begun,
            progress=self.progress,
        )

    def _sealed(self, name: str, audience: NamedAudience) -> None:
        self.made.open.pop(name, None)
        self.made.audiences[name] = audience.id
        self.state.save()

    def _request(self, name: str) -> AuditRequest:
        asked, requests = self.study.audits[name], self.auditor.audits.requests
        earlier = {each: self._earlier(asked, source) for each, source in asked.earlier.items()}
        try:
            return request_of(asked, self.made, requests, self.study.delta_each, earlier)
        except InputError as error:
            for paid in (each for each in asked.earlier.values() if each in self.made.audits):
                error.add_note(
                    f"{paid} is paid, and its receipt is stored. To continue without "
                    f"{name}, remove it from the file, which makes it another study."
                )
            raise

    def _earlier(self, asked: StudyAudit, name: str) -> Any:
        """Return the results on which an audit depends; before they are paid, stand-ins with the
        same price.
        """
        if name in self.made.audits:
            return self.auditor.audits.finish(self.made.audits[name], progress=self.progress)
        groups = self.auditor.audiences.get(self.made.audiences[asked.audience]).names
        return asked.half.asking.stand_in(self._request(name), list(groups.values()))

    def _finished(self, name: str) -> AnyResult:
        if name not in self.made.audits:
            self._submit(name)
        try:
            return self.auditor.audits.finish(self.made.audits[name], progress=self.progress)
        except AuditFailedError as error:
            error.add_note(f"To pay for it again, give {name} another name in the study.")
            raise

    def _submit(self, name: str) -> None:
        """Pay for an audit under the study's own key; record it before and after."""
        request = self._request(name)
        self._remember(name, sending=True)
        try:
            audit = self.auditor.audits.submit(request, self.study.key(name))
        except UNCHARGED:
            self._remember(name, sending=False)
            raise
        except IdempotencyConflictError as error:
            self._remember(name, sending=False)
            error.add_note(
                "A study runs once, and this one was already run on another machine or "
                "by a colleague. Nothing was paid. To run it as another study, give it "
                "another title."
            )
            raise
        self.made.audits[name] = audit.id
        self._remember(name, sending=False)

    def _remember(self, name: str, *, sending: bool) -> None:
        others = [other for other in self.made.sending if other != name]
        self.made.sending = [*others, name] if sending else others
        self.state.save()

    def _registration_proof(self, entry: int) -> InclusionProof:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self.auditor.ledger.proof(entry)
            except NotSignedError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)
