"""Messages of a run that was answered: served from the store, the same bytes for ever."""

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
            "the run is answered, and nothing can change that: a regulator has to open the run"
            " first. Send the last message again",
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
            "this audit was answered, in another run than this message is of. There is one answer"
            " for each charge: only the holder of that run's key can read it",
            reason="answered",
            case="answered-before",
        )
    return reply.body
