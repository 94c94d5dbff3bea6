"""Audiences: the people of an audit, uploaded group by group or drawn by the platform."""

import secrets
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from auditor_client.audiences.labels import label_names, name_of
from auditor_client.audiences.parts import SALT_BYTES, commitment, tokens_of
from auditor_client.audiences.tables import Columns, Missing, read_members
from auditor_client.audiences.upload import AudienceUpload
from auditor_client.errors import (
    AudienceSealedError,
    CommitmentError,
    InputError,
    PartsLostError,
)
from auditor_client.local.audience_records import Record, load_record, names_for, save_record
from auditor_client.transport.http_client import Transport
from auditor_client.transport.validation import validate
from openapi.resources import Audience, AudienceDraft, HiddenDraft, SampleDraft, SampleGroup, Seal

if TYPE_CHECKING:
    from auditor_client.audiences.weighted import WeightedAudience

PATH = "/v1/audiences"
# Number of times that parts are sent again if the service accepted and then lost them.
RESENDS = 2


@dataclass(frozen=True)
class NamedAudience:
    """An audience and the names of its groups. Only this machine knows the names."""

    wire: Audience
    names: Mapping[str, str]
    notes: tuple[str, ...] = field(default=())

    @property
    def id(self) -> str:
        return self.wire.id

    @property
    def commitment(self) -> str | None:
        return self.wire.commitment

    @property
    def participation_code(self) -> str | None:
        """The code that participants confirm on the platform; None if nobody has to confirm."""
        return self.wire.participation_code

    @property
    def members(self) -> dict[str, int]:
        """The number of people uploaded (or drawn) per group. The number matched is private."""
        return {name_of(self.names, group.label): group.members for group in self.wire.groups}


class Audiences:
    """The audiences of this auditor."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def upload(
        self,
        frame: Any,
        id: str,  # noqa: A002  (the public word for it)
        by: Columns,
        where: str | None = None,
        *,
        id_kind: str | None = None,
        country: str | None = None,
        missing_groups: Missing = "refuse",
        groups_per_person: int = 1,
        confirmed: bool = False,
        consented: bool = False,
        cluster: str | None = None,
        correlation: float = 1.0,
        resume: str | None = None,
        begun: Callable[[str], None] | None = None,
        progress: bool = True,
    ) -> NamedAudience:
        """Upload and seal an audience from a pandas, Polars or Arrow table.

        `id` is the column of identifiers: email, phone, username, or the hashed forms email_sha256
        and phone_sha256. This machine hashes e-mail addresses and phone numbers. `country` is the
        calling code ("+44") or region ("GB") of phone numbers without one. `by` is the column of
        groups, or several for intersectional groups. The names stay here; the platform sees g0, g1,
        … `where` is a column of true and false. `resume` continues an interrupted upload. `begun`
        is called with the audience's identifier before the first member is sent.

        `cluster` is a column of people who were recruited together (a household, a class): limits
        are widened for them, by Σm²/Σm in variance unless a smaller `correlation` is declared. The
        column stays here.

        With `confirmed`, the platform scores only people who confirm there that they take part,
        with the audience's `participation_code`. The audience then stays open: call `seal` after
        they have confirmed. `consented` states that everybody agreed to see other people's
        recommendations for a while, as an audit of envy requires.
        """
        members = read_members(
            frame,
            id,
            by,
            where,
            id_kind=id_kind,
            country=country,
            missing_groups=missing_groups,
            cluster=cluster,
            correlation=correlation,
        )
        names = label_names(members.groups)
        upload = AudienceUpload(self._transport, names, members)
        body = validate(
            AudienceDraft,
            groups=list(names),
            groups_per_person=groups_per_person,
            confirmed=confirmed,
            consented=consented,
        )
        audience_id = upload.begin(body) if resume is None else upload.resume(resume)
        if begun is not None:
            begun(audience_id)
        upload.send(audience_id, progress=progress)
        audience = self.get(audience_id) if confirmed else self._seal_sent(upload, audience_id)
        return NamedAudience(audience.wire, audience.names, tuple(members.notes()))

    def upload_weighted(
        self,
        frame: Any,
        id: str,  # noqa: A002  (the public word for it)
        groups: Sequence[str] | str,
        *,
        id_kind: str | None = None,
        country: str | None = None,
        resume: str | None = None,
        begun: Callable[[str], None] | None = None,
        progress: bool = True,
    ) -> "WeightedAudience":
        """Upload and seal people without groups, for two-party audits; their weights stay here.

        `groups` are columns of probabilities (see `auditor_client.demographics`), or one column of
        labels. `resume` continues an upload, or finds the weights of a sealed one. `begun` is
        called with the audience's identifier before anybody is sent.
        """
        from auditor_client.audiences.weighted import WeightedAudience, read_weighted

        members, weights = read_weighted(frame, id, groups, id_kind=id_kind, country=country)
        names = label_names(members.groups)
        upload = AudienceUpload(self._transport, names, members)
        body = validate(AudienceDraft, groups=list(names), ordered=True)
        audience_id = upload.begin(body) if resume is None else upload.resume(resume)
        if begun is not None:
            begun(audience_id)
        upload.send(audience_id, progress=progress)
        sealed = self._seal_sent(upload, audience_id)
        noted = NamedAudience(sealed.wire, sealed.names, tuple(members.notes()))
        return WeightedAudience(noted, weights)

    def hide(
        self,
        frame: Any,
        id: str,  # noqa: A002  (the public word for it)
        groups: Sequence[str] | str,
        *,
        id_kind: str | None = None,
        country: str | None = None,
        rows: int | None = None,
        resume: str | None = None,
    ) -> "WeightedAudience":
        """Declare people for one two-party audit without showing them to the platform.

        Nothing is uploaded. A run finds which of the platform's people are among them. The platform
        does not learn who the others are. A person who is named in several rows counts in the first
        of them. `rows` is the number that the platform sees (default: the number of people named);
        the remaining rows are random tokens without a weight. The order of rows is random. Keep the
        returned value: a run needs it. `resume` rebuilds it, in another order, for people whom this
        machine declared earlier as this audience.
        """
        from auditor_client.audiences.weighted import WeightedAudience, hidden_rows, read_weighted

        members, weights = read_weighted(frame, id, groups, id_kind=id_kind, country=country)
        [(label, name)] = label_names(members.groups).items()
        array, salt = members.groups[name], secrets.token_bytes(SALT_BYTES)
        tokens, weights = hidden_rows(b"".join(tokens_of(members.kind, array)), weights, rows)
        number = len(weights.shares)
        if resume is None:
            committed = commitment(salt, members.kind, {label: [array]})
            body = validate(
                HiddenDraft, identifiers=members.kind, rows=number, commitment=committed
            )
            audience = self._transport.post(f"{PATH}/hidden", body, Audience)
            save_record(audience.id, Record({label: name}, salt, committed))
        else:
            audience = self._hidden_before(resume, members.kind, {label: [array]}, number)
        noted = NamedAudience(audience, {label: name}, tuple(members.notes()))
        return WeightedAudience(noted, weights, tokens)

    def _hidden_before(
        self, audience_id: str, kind: Any, parts: Mapping[str, Any], rows: int
    ) -> Audience:
        """Return an audience that was declared earlier with these people and this number of
        rows.
        """
        record = load_record(audience_id)
        audience = self._transport.get(f"{PATH}/{audience_id}", Audience)
        declared = sum(group.members for group in audience.groups)
        if (
            record is None
            or record.commitment != commitment(record.salt, kind, parts)
            or declared != rows
        ):
            raise InputError(
                f"{audience_id} was declared for other people, or on another machine. Nothing "
                "was sent. Use the same table on the same machine, or omit resume=."
            )
        return audience

    def seal(self, audience_id: str) -> NamedAudience:
        """Seal an uploaded audience, and check that the service commits to what was uploaded."""
        record = load_record(audience_id)
        if record is None or record.commitment is None:
            raise InputError(f"{audience_id} was not uploaded from this machine.")
        path = f"{PATH}/{audience_id}"
        if record.rows is None and self._transport.get(path, Audience).state == "open":
            raise InputError(
                f"{audience_id} was uploaded by an earlier version of this client, which "
                "kept no commitment: upload it again.",
                case="earlier-version",
            )
        try:
            # A repeated call is harmless: the audience is sealed already, and its commitment is
            # compared.
            body = Seal(salt=b64encode(record.salt))
            sealed = self._transport.post(f"{path}/seal", body, Audience, retry_idempotently=True)
        except AudienceSealedError:
            sealed = self._transport.get(path, Audience)
        if sealed.commitment != record.commitment:
            raise CommitmentError(
                f"{audience_id} was sealed as {sealed.commitment}, but what was uploaded is"
                f" {record.commitment}. Do not audit with it: upload again, and tell the regulator."
            )
        return NamedAudience(sealed, record.names)

    def _seal_sent(self, upload: AudienceUpload, audience_id: str) -> NamedAudience:
        """Seal the uploaded audience; send parts again that the service has lost since."""
        for _ in range(RESENDS):
            try:
                return self.seal(audience_id)
            except PartsLostError:
                upload.send(audience_id, progress=False)
        return self.seal(audience_id)

    def sample(
        self, attribute: str, sizes: Mapping[str, int], *, consented: bool = False
    ) -> NamedAudience:
        """Draw people at random, at the platform, among those who declared the attribute there.

        `consented` limits the draw to people who agreed to see other people's recommendations for a
        while.
        """
        names = label_names(sizes)
        groups = [
            validate(SampleGroup, label=label, value=value, size=sizes[value])
            for label, value in names.items()
        ]
        body = validate(SampleDraft, attribute=attribute, groups=groups, consented=consented)
        audience = self._transport.post(f"{PATH}/samples", body, Audience)
        save_record(audience.id, Record(names))
        return NamedAudience(audience, names)

    def get(self, audience_id: str) -> NamedAudience:
        """Return an audience by its identifier, with group names if this machine uploaded it."""
        audience = self._transport.get(f"{PATH}/{audience_id}", Audience)
        return NamedAudience(audience, names_for(audience.id))

    def delete(self, audience_id: str) -> None:
        """Delete the members of an unsealed or finished audience at the platform."""
        self._transport.send("DELETE", f"{PATH}/{audience_id}")

    def list(self) -> list[NamedAudience]:
        """Return all audiences of this auditor."""
        audiences = self._transport.items(PATH, Audience)
        return [NamedAudience(audience, names_for(audience.id)) for audience in audiences]
