import subprocess
import sys
from typing import Any

from api.kinds.envy_freeness.algorithms.numba_cache import compiled


def test_where_there_is_no_place_to_keep_it_a_function_is_compiled_all_the_same() -> None:
    space: dict[str, Any] = {}
    exec("def twice(x):\n    return 2 * x", space)  # of no file, so there is no place beside it
    twice: Any = compiled(space["twice"])
    assert twice(21) == 42
    assert twice.signatures


def test_what_a_request_needs_does_not_wait_for_numba() -> None:
    lines = (
        "import sys",
        "from api.kinds.envy_freeness.algorithms import Terms, beta, least_steps",
        "least_steps(Terms(0.05, 0.05, 0.4, bounds='tight'), 9), beta(9, 9, 0.05, 0.99, 0.5)",
        "assert 'numba' not in sys.modules",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, timeout=60)
