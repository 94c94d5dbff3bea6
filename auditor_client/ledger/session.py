"""A signed-in connection that reads the service's ledger."""

from auditor_client.ledger.client import Ledger
from auditor_client.transport.session import Connection


class LedgerConnection(Connection):
    """Connection of one researcher to one service, with its ledger."""

    @property
    def ledger(self) -> Ledger:
        """The append-only ledger: entries, checkpoints, proofs, exports."""
        return Ledger(self._transport, self._public, self._researcher_id, self._key)
