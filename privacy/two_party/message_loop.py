"""Message loop of two parties in lockstep: one asks, one answers, and neither continues without the
other.

A party follows its script and accepts only the next message. It also accepts the last message
again, and returns the same bytes: so a lost connection costs one repetition, as long as both
processes live. For any other message it raises an error, and its state is unchanged.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from threading import Lock

from privacy.two_party.errors import SpentError
from privacy.two_party.messages import Setting, Slot, Transcript


@dataclass(frozen=True)
class Exchange:
    """A message and its answer."""

    message: Slot
    answer: Slot


class Party(ABC):
    """One party: a script, a transcript, and secrets that exist only here."""

    def __init__(self, setting: Setting, terms: bytes, script: tuple[Exchange, ...]) -> None:
        self._script = script
        self._chain = Transcript(setting, terms)
        self._lock = Lock()

    def __reduce__(self) -> str:
        raise TypeError("a party holds keys, so it must not be serialised or copied")

    @property
    def transcript(self) -> str:
        """The hash of all messages so far, in the form `sha256:…`."""
        return self._chain.name

    @property
    def number(self) -> int:
        """Return the number of messages so far, of `messages_expected`."""
        return self._chain.number

    @property
    def messages_expected(self) -> int:
        return 2 * len(self._script)

    @property
    def ended(self) -> bool:
        return self.number == self.messages_expected

    @property
    def _exchange(self) -> Exchange:
        if self.ended:
            raise SpentError("this run has ended: begin another run with new parties")
        return self._script[self.number // 2]

    @property
    def _run(self) -> bytes:
        if self._chain.run is None:
            raise SpentError("the run has not begun: both nonces come first")
        return self._chain.run

    @property
    def _proof_context(self) -> bytes:
        """The run and all earlier messages; a proof bound to it fails in every other run."""
        return self._run + self._chain.hash

    @abstractmethod
    def _take(self, slot: Slot, body: bytes) -> None:
        """Accept the other party's message, or raise an error and leave the state unchanged."""

    @abstractmethod
    def _body(self, slot: Slot) -> bytes:
        """Return the body to send."""


class AskingParty(Party):
    """The party that begins."""

    def __init__(self, setting: Setting, terms: bytes, script: tuple[Exchange, ...]) -> None:
        super().__init__(setting, terms, script)
        self._answered = b""
        self._sent: bytes | None = None

    def start(self) -> bytes:
        """Return the first message; the same one again until it is answered."""
        with self._lock:
            if self.number > 1:
                raise SpentError("this run has begun: give `receive` the last answer again")
            return self._sent or self._send()

    def receive(self, answer: bytes) -> bytes | None:
        """Return the message that follows this answer, or None after the last."""
        with self._lock:
            if self._answered and answer == self._answered:
                return self._sent
            slot = self._exchange.answer
            self._take(slot, self._chain.body(answer, slot))
            self._chain.add(answer)
            self._answered, self._sent = answer, None
            return None if self.ended else self._send()

    def _send(self) -> bytes:
        slot = self._exchange.message
        self._sent = self._chain.framed(slot, self._body(slot))
        self._chain.add(self._sent)
        return self._sent


class Answering(Party):
    """The party that answers."""

    def __init__(self, setting: Setting, terms: bytes, script: tuple[Exchange, ...]) -> None:
        super().__init__(setting, terms, script)
        self._given: dict[bytes, bytes] = {}

    def receive(self, message: bytes) -> bytes:
        """Return the answer to this message."""
        with self._lock:
            if message in self._given:
                return self._given[message]
            slot = self._exchange.message
            self._take(slot, self._chain.body(message, slot))
            self._given = {message: self._answer(message)}
            while not self.ended and self._foreseen(self._exchange.message):
                foreseen = self._chain.framed(self._exchange.message, b"")
                self._given[foreseen] = self._answer(foreseen)
            return self._given[message]

    def _answer(self, message: bytes) -> bytes:
        slot = self._exchange.answer
        self._chain.add(message)
        answer = self._chain.framed(slot, self._body(slot))
        self._chain.add(answer)
        return answer

    def _foreseen(self, slot: Slot) -> bool:
        """Tell whether only one next message is possible, so that its answer can be prepared
        now.
        """
        return False
