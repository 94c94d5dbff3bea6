"""Menu of the console for each role, in the order of their work."""

from api.identity.caller import Caller

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
    "operator": (
        ("/operator", "Health"),
        ("/operator/queue", "Queue"),
        ("/operator/traffic", "Traffic"),
        ("/operator/keys", "Keys"),
        ("/operator/privacy", "Privacy"),
        ("/operator/models", "Models"),
    ),
    "regulator": (
        ("/regulator/applications", "Applications"),
        ("/regulator/auditors", "Auditors"),
        ("/regulator/running", "Running"),
        ("/regulator/ledger", "Ledger"),
        ("/regulator/spending", "Spending"),
        ("/regulator/flags", "Flags"),
        ("/regulator/report", "Report"),
    ),
}
# First page of each role.
HOMES: dict[str, str] = {
    "auditor": "/audits",
    "regulator": "/regulator/applications",
    "operator": "/operator",
}


def entries(caller: Caller | None) -> Entries:
    return PUBLIC if caller is None else BY_ROLE.get(caller.role, PUBLIC)
