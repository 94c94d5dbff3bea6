"""The expected answer to each caller, and the few exceptions from the declared scope."""

from tests.contract.authorisation.callers import Caller
from tests.contract.authorisation.operations import Operation

# Operations that show entries of the ledger: those of an application, once it is approved, to
# every researcher of its auditor.
OF_THE_LEDGER = {"list_entries", "follow_entries", "export_ledger", "prove_inclusion"}
# Operations for every role that refuse some of them, by role.
NOT_FOR: dict[str, set[str]] = {
    # An applicant has no auditor yet, whose entries they could see.
    **{key: {"applicant"} for key in ("list_entries", "follow_entries", "prove_inclusion")},
    # The whole ledger holds applications that the platform's operators must not see.
    "export_ledger": {"applicant", "operator"},
    "register_webhook": {"applicant"},
    # Regulators and operators see applications of others, and cannot speak for the applicant.
    "answer_application": {"regulator", "operator"},
    "withdraw_application": {"regulator", "operator"},
}
# Operations without a token that ask for a signed assertion in its place.
BY_ASSERTION = {"issue_token", "revoke_token"}


def expected_code(operation: Operation, caller: Caller) -> str | None:
    """Return the problem that the caller must get, or None if they may do it."""
    if operation.scope is None:
        return None
    if caller.role is None:
        return "unauthenticated"
    if operation.scope not in ("", caller.role) or caller.role in NOT_FOR.get(
        operation.name, set()
    ):
        return "forbidden"
    return None


# Problems of a call that was refused before the service looked at what it asks for.
NOT_CONSIDERED = {
    *("unauthenticated", "forbidden", "not-found", "no-mandate", "unsigned"),
    *("invalid-request", "malformed-body", "unsupported-media-type", "method-not-allowed"),
    *("internal", "unavailable", "rate-limited"),
}
# Operations that the objects of the matrix do not allow now, as `409` or `422` says. That they
# succeed when they can is tested with two-party audits, vetting and exploration.
NOT_NOW = {
    *("exchange_message", "state_opening", "answer_application", "decide_application"),
    *("mediate_as_regulator", "mediate_as_operator"),
    *("stop_audit_as_regulator", "stop_audit_as_operator"),
}
