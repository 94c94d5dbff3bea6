"""Memory that this process may use: the smallest limit of its control groups, or the machine's.

Both versions of control groups are supported. Of /proc only /proc/self is read, because a sandboxed
unit does not see the rest.
"""

import os
from collections.abc import Iterator
from pathlib import Path


def allowed_bytes(root: Path = Path("/")) -> int:
    """Return the limit in bytes; `root` is the folder of /proc and /sys."""
    return min([machine_bytes(), *_limits(root)])


def machine_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _limits(root: Path) -> Iterator[int]:
    for folder, file in _groups(root):
        path = folder / file
        # A limit is a number; `max` means none.
        if path.is_file() and (text := path.read_text().strip()).isdigit():
            yield int(text)


def _groups(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the folders of this process's groups, up to the topmost, with the file to read."""
    told, top = root / "proc/self/cgroup", root / "sys/fs/cgroup"
    for line in told.read_text().splitlines() if told.is_file() else ():
        # hierarchy:controllers:path   cgroups(7)
        _, controllers, path = line.split(":", 2)
        if not controllers:
            mounted, file = top, "memory.max"
        elif "memory" in controllers.split(","):
            mounted, file = top / "memory", "memory.limit_in_bytes"
        else:
            continue
        group = Path(path.strip("/"))
        for each in (group, *group.parents):
            yield mounted / each, file
