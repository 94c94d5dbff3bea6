"""Page of problems, from `openapi.problems`."""

from docs.site.reference.tables import table
from openapi.problems import PREFIX, TABLE


def page() -> str:
    """Return the page."""
    rows = sorted((f"`{code}`", str(status), title) for code, (status, title) in TABLE.items())
    return "\n".join(
        (
            "# Problems",
            "",
            "The service answers an error with RFC 9457 problem details. `type` is "
            f"`{PREFIX}` and the code below. `detail` says what happened with the value, and what"
            " to do. Programs should read the code and never the sentence.",
            *table(("code", "status", "title"), rows),
        )
    )
