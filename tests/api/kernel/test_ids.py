import re
import time

from api.kernel.ids import new_id
from openapi.resources import Wire
from openapi.wire_model import Identifier


class Named(Wire):
    id: Identifier


def test_ids_sort_by_age_and_are_what_the_wire_takes() -> None:
    made = []
    for _ in range(20):
        made.append(new_id("audit"))
        time.sleep(0.002)
    assert made == sorted(made)
    assert all(re.fullmatch(r"audit_[0-9a-f]{30}", name) for name in made)
    assert all(Named(id=name).id == name for name in made)


def test_ids_of_one_moment_differ() -> None:
    assert len({new_id("charge") for _ in range(10_000)}) == 10_000


def test_the_time_in_an_id_is_now() -> None:
    before = time.time_ns() // 1_000_000
    stamp = int(new_id("audit").removeprefix("audit_")[:12], 16)
    assert before <= stamp <= time.time_ns() // 1_000_000
