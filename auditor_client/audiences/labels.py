"""Names of groups and the opaque labels that stand for them on the wire (R8)."""

from collections.abc import Iterable, Mapping, Sequence

from auditor_client.errors import InputError

MAX_GROUPS = 100
JOIN = " × "


def label_names(names: Iterable[str]) -> dict[str, str]:
    """label → name: g0, g1, … by sorted name, so that the same names get the same labels."""
    ordered = sorted(set(names))
    if not ordered:
        raise InputError("There is no group: no row is left.", case="no-groups")
    if len(ordered) > MAX_GROUPS:
        raise InputError(
            f"{len(ordered)} groups are too many (at most {MAX_GROUPS})."
            " Is `by` a column of categories?",
            case="too-many-groups",
        )
    return {f"g{number}": name for number, name in enumerate(ordered)}


def join_name(parts: Sequence[object]) -> str:
    """Return the name of an intersectional group: "woman × Black"."""
    return JOIN.join(str(part) for part in parts)


def name_of(names: Mapping[str, str], label: str) -> str:
    """Return the name behind a label, or the label where this machine does not know it."""
    return names.get(label, label)
