from decimal import Decimal

import pytest

from auditor_client import errors
from auditor_client.errors import BudgetExhaustedError, MembersError, ProblemError, error_of
from openapi.problems import PREFIX, TABLE, Problem, problem


def test_every_problem_of_the_contract_has_an_error() -> None:
    assert errors.BY_CODE.keys() == TABLE.keys()


@pytest.mark.parametrize("code", sorted(TABLE))
def test_an_error_knows_its_code_and_says_what_to_do(code: str) -> None:
    error = error_of(problem(code, "Something happened."))
    assert type(error) is errors.BY_CODE[code]
    assert error.code == code
    assert error.status == TABLE[code][0]
    assert str(error).startswith("Something happened. ")
    assert str(error).endswith(f"[{code}]")
    assert error.advice in str(error)


def test_a_code_of_the_future_is_a_plain_problem() -> None:
    future = Problem(type=PREFIX + "not-invented-yet", title="?", status=418, detail="New.")
    error = error_of(future)
    assert type(error) is ProblemError
    assert error.code == "not-invented-yet"


def test_an_exhausted_budget_tells_spent_from_asked() -> None:
    members = {"spent": "8", "asked": "2.5", "remaining": "2", "limit": "10"}
    error = error_of(problem("budget-exhausted", "Not covered", **members))
    assert isinstance(error, BudgetExhaustedError)
    amounts = (error.spent, error.asked, error.remaining, error.limit)
    assert amounts == (Decimal(8), Decimal("2.5"), Decimal(2), Decimal(10))


def test_malformed_members_name_the_line() -> None:
    error = error_of(problem("malformed-members", "Not a hash", line=17))
    assert isinstance(error, MembersError)
    assert error.line == 17


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = errors.__doc__ or ""
    classes = [item for item in vars(errors).values() if isinstance(item, type)]
    ours = [item for item in classes if issubclass(item, errors.AuditorError)]
    assert len(ours) > 20
    for item in ours:
        assert item.__name__ in drawn
    for code in TABLE:
        assert code in drawn
