"""Names of groups and the opaque labels that stand for them on the wire (R8)."""

from collections.abc import Iterable, Mapping, Sequence

from auditor_client.errors import InputError

MAX_GROUPS = 100
JOIN = " × "


def label_names(names: Iterable[str]) -> dict[str, str]:
    """Return names by label: g0, g1, … in order of the names, so equal names get equal labels."""
    ordered = sorted(set(names))
    if not ordered:
        raise InputError(
            "No row has an identifier and a group, so there is no group.", case="no-groups"
        )
    if len(ordered) > MAX_GROUPS:
        raise InputError(
            f"{len(ordered)} groups are more than the limit of {MAX_GROUPS}. Nothing was "
            "sent. Check that `by` names a column of categories.",
            case="too-many-groups",
        )
    return {f"g{number}": name for number, name in enumerate(ordered)}


def join_name(parts: Sequence[object]) -> str:
    """Return the name of an intersectional group, such as "woman × Black"."""
    return JOIN.join(str(part) for part in parts)


def name_of(names: Mapping[str, str], label: str) -> str:
    """Return the name of a label, or the label itself if this machine does not know its name."""
    return names.get(label, label)
