"""Failpoints: the step boundaries of an audit's life, so that a crash at each can be tested.

`hit` does nothing. In a process of its own, the fault harness (`make faults`) replaces it with a
function that kills the process at a given boundary. The harness repeats this for every boundary.
"""

from enum import StrEnum


class Failpoint(StrEnum):
    BEFORE_CHARGE = "before the charge is written"
    CHARGE_WRITTEN = "after the charge is written, before it is committed"
    CHARGE_COMMITTED = "after the charge is committed, before the answer is sent"
    CLAIMED = "after the audit is claimed, before anything is read"
    RUNNING = "while people are being scored"
    BATCH_PLANNED = "after a batch of steps is planned, before it is committed"
    BATCH_COMMITTED = "after a batch of steps is committed, before anybody is shown anything"
    SHOWN = "after people were shown something, before it is counted"
    BATCH_TAKEN = "after all steps of a batch, before the next one is planned"
    REDUCED = "after the tables are made, before noise"
    NOISED = "after noise, before the receipt"
    SIGNED = "after the receipt, before the release is written"
    RELEASE_WRITTEN = "after the release is written, before it is committed"
    RELEASE_COMMITTED = "after the release is committed"
    BEFORE_SEND = "after the release is read, before it is sent"
    CANCEL_WRITTEN = "after a refund is written, before it is committed"
    CANCEL_COMMITTED = "after a refund is committed, before the answer is sent"
    MESSAGE_RECEIVED = "after a message of a two-party run is received, before it is taken"
    PEOPLE_RECORDED = "after a two-party run recorded and debited people, before it reads"
    MESSAGE_ANSWERED = "after a message of a two-party run is answered, before the answer is sent"


def hit(boundary: Failpoint) -> None:
    """Do nothing; the fault harness replaces this function."""
