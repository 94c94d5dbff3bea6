import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.kinds.envy_freeness.algorithms.numba_cache import compiled


def test_where_there_is_no_place_to_keep_it_a_function_is_compiled_all_the_same() -> None:
    space: dict[str, Any] = {}
    exec("def twice(x):\n    return 2 * x", space)  # no file, so no folder
    twice: Any = compiled(space["twice"])
    assert twice(21) == 42
    assert twice.signatures


KERNEL = """
from typing import NamedTuple
from api.kinds.envy_freeness.algorithms.numba_cache import compiled

class {name}(NamedTuple):
    factor: int

@compiled
def times(rule, x):
    return rule.factor * x

found = times({name}(2), 21)
"""


def test_a_cache_that_names_a_class_which_is_gone_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an upgrade in place: Numba keeps the cache next to the source."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("Rule", "StoppingRule", "StoppingRule"):
        (tmp_path / "kernel_of_a_version.py").write_text(KERNEL.format(name=name))
        monkeypatch.delitem(sys.modules, "kernel_of_a_version", raising=False)
        for compiled_python in tmp_path.glob("__pycache__/*.pyc"):
            compiled_python.unlink()
        importlib.invalidate_caches()
        assert importlib.import_module("kernel_of_a_version").found == 42
        assert list(tmp_path.glob("__pycache__/*.nbi"))


def test_what_a_request_needs_does_not_wait_for_numba() -> None:
    lines = (
        "import sys",
        "from api.kinds.envy_freeness.algorithms import Terms, beta, least_steps",
        "least_steps(Terms(0.05, 0.05, 0.4, bounds='tight'), 9), beta(9, 9, 0.05, 0.99, 0.5)",
        "assert 'numba' not in sys.modules",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, timeout=60)
