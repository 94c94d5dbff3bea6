"""Tables for people at the width of their terminal."""

import pytest

from auditor_client.cli.output import column_widths, show_rows

ID = "audit_01a1f65e08275c37f0817187bcdd05"
ROWS = [
    {
        "id": ID,
        "kind": "score-histogram",
        "state": "released",
        "debit": "2.5 epsilon",
        "submitted_at": "2026-11-20 00:32 UTC",
    }
]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_no_terminal_breaks_a_word(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show_rows(ROWS, list(ROWS[0]), as_json=False)
    shown = capsys.readouterr().out
    words = shown.split()
    kept = ("score-histogram", "released", "epsilon", "2026-11-20", "submitted")
    assert all(word in words for word in kept)
    assert width < len(ID) + 20 or ID in words
    assert all(len(line) <= width for line in shown.splitlines())


def test_spare_room_goes_to_columns_that_need_least() -> None:
    columns = [["id", "abc"], ["at", "10 20"], ["facts", "one two three four"]]
    assert column_widths(columns, 3 + 5 + 5 + 10 + 4) == [3, 5, 9]
    assert column_widths(columns, 12) is None


def test_a_digest_may_be_broken_and_an_identifier_may_not() -> None:
    digest = "d" * 64
    assert column_widths([["digest", digest]], 60) == [56]
    assert column_widths([["id", digest]], 60) is None
