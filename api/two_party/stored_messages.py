"""Messages of an answered run: served from the store, always the same bytes."""

from api.db import MessageRow
from api.kernel.errors import MessageRefusedError, NotReleasedError
from api.two_party.delivery import deliver_release
from api.two_party.dependencies import TwoPartyParts
from privacy.two_party.messages import read_number


def find_answer(parts: TwoPartyParts, audit_id: str, message: bytes) -> bytes:
    """Return the stored answer to a message of the run that was answered."""
    if awaited := deliver_release(
        parts.store, parts.platform, parts.signing_keys, parts.settings, audit_id
    ):
        raise NotReleasedError(
            "The run is answered, and the answer is final. A regulator has to open the run"
            " first. Send the last message again later.",
            headers={"Retry-After": "30"},
            awaited=awaited,
            case="not-opened",
        )
    number = read_number(message)
    with parts.store.read() as session:
        sent = session.get(MessageRow, (audit_id, number)) if number is not None else None
        reply = session.get(MessageRow, (audit_id, (number or 0) + 1))
    if number is None or number % 2 or sent is None or sent.body != message or reply is None:
        raise MessageRefusedError(
            "This audit was answered in another run than that of this message. There is one answer"
            " for each charge, which only the holder of that run's key can read.",
            reason="answered",
            case="answered-before",
        )
    return reply.body
