import subprocess
import sys

import pytest

import auditor_client


def test_the_public_surface_is_this_and_no_more() -> None:
    assert auditor_client.__all__ == [
        "AuditFailedError",
        "Auditor",
        "AuditorError",
        "BalanceHistogram",
        "BalanceHistogramResult",
        "BiasSizeResult",
        "BudgetExhaustedError",
        "CommitmentError",
        "ConnectionBrokenError",
        "EnvyFreeness",
        "EnvyFreenessResult",
        "FairnessGap",
        "FinishedAudit",
        "InputError",
        "LogCdf",
        "LogCdfResult",
        "MatchCount",
        "MatchCountResult",
        "MostSkewed",
        "MostSkewedResult",
        "NamedAudience",
        "OutcomeTest",
        "OutcomeTestResult",
        "ProblemError",
        "ReceiptError",
        "Regulator",
        "Reo",
        "ReoResult",
        "ScoreCdf",
        "ScoreCdfResult",
        "ScoreHistogramResult",
        "TwoParty",
        "TwoPartyResult",
        "WeightedAudience",
        "after_pilot",
        "canary_power",
        "envy_plan",
        "epsilon_needed",
        "fairness_gap",
        "field_check",
        "new_key",
        "pooled_gap",
        "power_at",
        "power_curve",
        "promise_holds",
        "resolvable_alpha",
        "rho_needed",
        "sample_size",
        "save_profile",
        "sequential_plan",
        "split_budget",
        "verdict_size",
    ]
    assert all(hasattr(auditor_client, name) for name in auditor_client.__all__)


def test_every_name_is_what_its_module_has() -> None:
    from auditor_client.consistency import canary
    from auditor_client.fairness import gap
    from auditor_client.planning import charts, inverse, sample_size, sequential

    assert auditor_client.fairness_gap is gap.fairness_gap
    assert auditor_client.sample_size is sample_size.sample_size
    assert auditor_client.power_at is inverse.power_at
    assert auditor_client.pooled_gap is sequential.pooled_gap
    assert auditor_client.power_curve is charts.power_curve
    assert auditor_client.field_check is canary.field_check
    with pytest.raises(AttributeError, match="'sample_sise'"):
        auditor_client.sample_sise  # noqa: B018


def test_earlier_names_of_results_are_aliases() -> None:
    assert auditor_client.FinishedAudit is auditor_client.ScoreHistogramResult
    assert auditor_client.Reo is auditor_client.ReoResult
    assert auditor_client.LogCdf is auditor_client.LogCdfResult


def test_the_command_starts_without_statistics() -> None:
    code = "import sys, auditor_client.cli.app; print(*{'scipy', 'altair'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


def test_the_package_itself_loads_nothing_else() -> None:
    code = (
        "import sys, auditor_client.cli.__main__;"
        "print(*{'numpy', 'pyarrow', 'typer', 'httpx2', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


def test_the_sdk_loads_nothing_of_the_server() -> None:
    code = (
        "import sys, auditor_client, auditor_client.cli.app;"
        "[getattr(auditor_client, name) for name in auditor_client.__all__];"
        "import auditor_client.kinds.score_histogram.report;"
        "server = {'api', 'fastapi', 'sqlmodel', 'opendp', 'authlib', 'pandas', 'polars',"
        " 'privacy.waist', 'platform_sim'};"
        "print(*(server & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")
