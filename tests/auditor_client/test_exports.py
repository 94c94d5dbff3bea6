import subprocess
import sys

import auditor_client


def test_the_public_surface_is_this_and_no_more() -> None:
    assert auditor_client.__all__ == [
        "AuditFailedError",
        "Auditor",
        "AuditorError",
        "BalanceHistogram",
        "BudgetExhaustedError",
        "CommitmentError",
        "ConnectionBrokenError",
        "FinishedAudit",
        "InputError",
        "MatchCount",
        "MostSkewed",
        "NamedAudience",
        "ProblemError",
        "ReceiptError",
        "Regulator",
        "ScoreCdf",
        "new_key",
        "save_profile",
    ]
    assert all(hasattr(auditor_client, name) for name in auditor_client.__all__)


def test_the_sdk_loads_nothing_of_the_server() -> None:
    code = (
        "import sys, auditor_client, auditor_client.cli, auditor_client.report;"
        "server = {'api', 'fastapi', 'sqlmodel', 'opendp', 'authlib', 'pandas', 'polars',"
        " 'privacy.waist', 'platform_sim'};"
        "print(*(server & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")
