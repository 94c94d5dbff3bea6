"""What a person of each role finds in the console, in the order of their work."""

from api.auth.caller import Caller

Entries = tuple[tuple[str, str], ...]

PUBLIC: Entries = (("/plan", "Plan"),)
BY_ROLE: dict[str, Entries] = {
    "auditor": (
        ("/plan", "Plan"),
        ("/contents", "Content"),
        ("/audiences", "Audiences"),
        ("/audits/new", "New audit"),
        ("/audits", "Audits"),
        ("/budget", "Budget"),
    ),
}
# Where each role begins.
HOMES: dict[str, str] = {"auditor": "/audits"}


def entries(caller: Caller | None) -> Entries:
    return PUBLIC if caller is None else BY_ROLE.get(caller.role, PUBLIC)
