"""The memory limit of a process, read from the files of Linux."""

from pathlib import Path

from api.operations.doctor.memory import allowed_bytes, machine_bytes

MINE = "system.slice/auditor.service"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_smallest_limit_on_the_way_up_holds(tmp_path: Path) -> None:
    groups = tmp_path / "sys/fs/cgroup"
    write(tmp_path / "proc/self/cgroup", f"0::/{MINE}\n")
    write(groups / MINE / "memory.max", "4096\n")
    assert allowed_bytes(tmp_path) == 4096
    write(groups / "system.slice/memory.max", "2048\n")
    assert allowed_bytes(tmp_path) == 2048


def test_groups_of_the_first_version_count_too(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", f"5:devices:/\n4:memory:/{MINE}\n0::/\n")
    write(tmp_path / "sys/fs/cgroup/memory" / MINE / "memory.limit_in_bytes", "8192\n")
    assert allowed_bytes(tmp_path) == 8192


def test_a_container_that_sees_its_own_group_alone(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", f"0::/{MINE}\n")
    write(tmp_path / "sys/fs/cgroup/memory.max", "4096\n")
    assert allowed_bytes(tmp_path) == 4096


def test_without_a_limit_it_is_the_machines(tmp_path: Path) -> None:
    assert allowed_bytes(tmp_path) == machine_bytes()
    write(tmp_path / "proc/self/cgroup", f"0::/{MINE}\n")
    write(tmp_path / "sys/fs/cgroup" / MINE / "memory.max", "max\n")
    assert allowed_bytes(tmp_path) == machine_bytes()


def test_this_process_may_have_some() -> None:
    assert 0 < allowed_bytes() <= machine_bytes()
