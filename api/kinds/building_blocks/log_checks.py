"""Checks of requests against a log's public description, and the rules of reading the log."""

from collections.abc import Iterable

from api.kernel.errors import UnsupportedAuditError
from api.platforms.interfaces import Log, Logs, Platform
from openapi.resources import LogRows, Range, RankedRows

# Largest number of names in a message.
_SHOWN = 20
RULES = (
    "The rows are those of the log {log!r}. A person is a {person}, and privacy is counted per"
    " {person}. Other people whom a row is about are not protected.",
    "At most {m} row(s) of a person are drawn uniformly, among the complete rows of the requested"
    " categories. Every person has the same weight, however many rows they have. Estimates are"
    " averages over people, not over rows.",
    "A row with a missing or invalid number is ignored. A number outside the public range is"
    " clipped to it.",
)


def logs_of(platform: Platform) -> Logs:
    if platform.logs is None:
        raise UnsupportedAuditError(
            "This platform offers no logs. Nothing was charged.", case="no-logs"
        )
    return platform.logs


def log_of(request: LogRows | RankedRows, platform: Platform) -> Log:
    offered = logs_of(platform).logs()
    if request.log not in offered:
        raise UnsupportedAuditError(
            f"There is no log {request.log!r}. {_offered('Logs', offered)} Nothing was charged.",
            case="no-such-log",
        )
    return offered[request.log]


def check(request: LogRows, numbers: Iterable[str], platform: Platform) -> Log:
    """Return the log, or refuse a log, columns or categories that do not exist."""
    log = check_numbers(request, numbers, platform)
    for name, words in request.where.items():
        check_words(request, log, name, words)
    return log


def check_numbers(request: LogRows | RankedRows, numbers: Iterable[str], platform: Platform) -> Log:
    """Return the log, or refuse a log or numeric columns that do not exist."""
    log = log_of(request, platform)
    for name in numbers:
        if name not in log.numbers:
            raise UnsupportedAuditError(
                f"Log {request.log!r} has no numeric column {name!r}."
                f" {_offered('Columns', log.numbers)} Nothing was charged.",
                case="no-such-numbers",
            )
    return log


def check_words(request: LogRows, log: Log, name: str, words: Iterable[str]) -> None:
    """Refuse a categorical column that does not exist, and categories that it does not have."""
    if name not in log.words:
        raise UnsupportedAuditError(
            f"Log {request.log!r} has no categorical column {name!r}."
            f" {_offered('Columns', log.words)} Nothing was charged.",
            case="no-such-words",
        )
    if unknown := [word for word in words if word not in log.words[name]]:
        raise UnsupportedAuditError(
            f"Column {name!r} of log {request.log!r} has no category"
            f" {', '.join(map(repr, unknown[:_SHOWN]))}."
            f" {_offered('Categories', log.words[name])} Nothing was charged.",
            case="no-such-words",
        )


def _offered(what: str, names: Iterable[str]) -> str:
    """Return a sentence with the admissible names; the catalogue has those that are left out."""
    known = list(names)
    more = ", and more in the catalogue" if len(known) > _SHOWN else ""
    return f"{what}: {', '.join(known[:_SHOWN]) or 'none'}{more}."


def check_range(asked: Range, low: float, high: float) -> None:
    """Refuse a range of outcomes that exceeds the public range."""
    if not low <= asked.low < asked.high <= high:
        raise UnsupportedAuditError(
            f"outcome_range is {asked.low} to {asked.high}; it must lie within {low} to {high},"
            " the public range of the outcome. Nothing was charged.",
            case="range",
        )


def rules(request: LogRows, platform: Platform) -> tuple[str, ...]:
    log = log_of(request, platform)
    facts = {"log": request.log, "person": log.person, "m": request.rows_per_person}
    return tuple(rule.format(**facts) for rule in RULES)
