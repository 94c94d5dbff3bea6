"""Send the members of an audience in parts, skipping those that arrived already."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace

import pyarrow as pa

from auditor_client.audiences.parts import (
    MEDIA_TYPE,
    SALT_BYTES,
    PartBody,
    commitment,
    encode_parts,
    rows_per_part,
    split_into_parts,
)
from auditor_client.audiences.tables import GroupMembers
from auditor_client.errors import AuditorError, InputError
from auditor_client.local.audience_records import Record, load_record, save_record
from auditor_client.local.progress import Bar, bar
from auditor_client.transport.http_client import Transport
from openapi.resources import Audience, AudienceDraft, Catalogue, Group

PATH = "/v1/audiences"
# Two parts: the service stores one while the other is being sent.
PARTS_AT_ONCE = 2


@dataclass(frozen=True)
class AudienceUpload:
    """Upload of members to one audience. `names` gives the group name of each label."""

    transport: Transport
    names: dict[str, str]
    members: GroupMembers

    def begin(self, body: AudienceDraft) -> str:
        """Create the audience, and save its salt before any member is sent."""
        catalogue = self._catalogue()
        self._check(catalogue)
        record = self._split(self._record(secrets.token_bytes(SALT_BYTES)), catalogue)
        audience = self.transport.post(PATH, body, Audience)
        save_record(audience.id, record)
        return audience.id

    def resume(self, audience_id: str) -> str:
        """Continue an audience that this machine began."""
        record = replace(self._begun(audience_id), clusters=self._record(b"").clusters)
        if record.names != self.names:
            raise InputError(
                f"The groups differ from those with which {audience_id} was begun. "
                "Nothing was sent. Use the same table, or omit resume=.",
                case="other-groups",
            )
        if self._audience(audience_id).state == "open":
            save_record(audience_id, self._split(record, self._catalogue()))
        elif record.rows is not None:
            save_record(audience_id, self._committed(record, record.rows))
        return audience_id

    def send(self, audience_id: str, *, progress: bool = True) -> None:
        """Send every part that the service lacks; after an interruption, say how to continue."""
        audience, rows = self._audience(audience_id), self._begun(audience_id).rows
        if audience.state != "open" or rows is None:
            return
        try:
            with bar("Uploading members", self.members.total, show=progress) as progress_bar:
                for group in audience.groups:
                    path = f"{PATH}/{audience_id}/groups/{group.label}"
                    self._send_group(path, group, rows[group.label], progress_bar)
        except AuditorError as error:
            error.add_note(
                f"The upload was interrupted. Continue it with upload(..., resume={audience_id!r})."
            )
            raise

    def _send_group(self, path: str, group: Group, rows: int, progress_bar: Bar) -> None:
        array = self._array(group.label)
        parts = list(encode_parts(self.members.kind, array, rows))
        arrived = {part.number: part.digest for part in group.parts}
        if arrived and max(arrived) >= len(parts):  # from another frame, or split in another way
            self.transport.send("DELETE", path)
            arrived = {}
        missing = [part for part in parts if arrived.get(part.number) != part.digest]
        progress_bar.advance(len(array) - sum(part.rows for part in missing))
        with ThreadPoolExecutor(PARTS_AT_ONCE) as pool:
            sending = [(part, pool.submit(self._put, path, part)) for part in missing]
            try:
                for part, sent in sending:
                    sent.result()
                    progress_bar.advance(part.rows)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _put(self, path: str, part: PartBody) -> None:
        headers = {"content-type": MEDIA_TYPE, "content-digest": part.content_digest}
        params = {"part": str(part.number)}
        self.transport.send(
            "PUT", f"{path}/members", params=params, content=part.body, headers=headers
        )

    def _array(self, label: str) -> pa.Array:
        return self.members.groups[self.names[label]]

    def _record(self, salt: bytes) -> Record:
        clusters = self.members.clusters
        return Record(self.names, salt, clusters=asdict(clusters) if clusters else None)

    def _begun(self, audience_id: str) -> Record:
        record = load_record(audience_id)
        if record is None or not record.salt:
            raise InputError(
                f"The upload of {audience_id} was not begun on this machine.", case="not-begun-here"
            )
        return record

    def _split(self, record: Record, catalogue: Catalogue) -> Record:
        """Split the members into parts of the largest size that the service accepts now."""
        limit = catalogue.limits.bytes_per_part
        rows = {label: rows_per_part(self._array(label), limit) for label in self.names}
        return self._committed(record, rows)

    def _committed(self, record: Record, rows: dict[str, int]) -> Record:
        parts = {label: split_into_parts(self._array(label), rows[label]) for label in self.names}
        committed = commitment(record.salt, self.members.kind, parts)
        return replace(record, rows=rows, commitment=committed)

    def _audience(self, audience_id: str) -> Audience:
        return self.transport.get(f"{PATH}/{audience_id}", Audience)

    def _catalogue(self) -> Catalogue:
        return self.transport.get("/v1/catalogue", Catalogue)

    def _check(self, catalogue: Catalogue) -> None:
        """Refuse an audience that the service would refuse, before anything is created."""
        kind, limit = self.members.kind, catalogue.limits.members_per_audience
        if kind not in catalogue.identifiers:
            offered = ", ".join(catalogue.identifiers)
            raise InputError(
                f"{catalogue.platform} does not match people by {kind}. Nothing was sent. "
                f"Use {offered}.",
                case="identifier-kind",
            )
        if self.members.total > limit:
            raise InputError(
                f"{self.members.total} members are more than the limit of {limit}.",
                case="audience-too-large",
            )
