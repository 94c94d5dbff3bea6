import json
from pathlib import Path

import pytest

from auditor_client import (
    InputError,
    MatchCountResult,
    MostSkewedResult,
    ReceiptError,
    ScoreCdfResult,
    ScoreHistogramResult,
)
from auditor_client.local.saved_receipt import SavedReceipt, possible_digests, verify_release
from privacy.content import content_digest
from privacy.receipts import digest, sign
from tests.auditor_client.examples import (
    NAMES,
    OTHER_ID,
    cdf_release,
    content,
    finished,
    key_set,
    match_count_release,
    most_skewed_release,
    platform_key,
    release,
)
from tests.refusals import refuses

COUNTS = {"g0": [40, 60, 0], "g1": [45, 54, 1]}


def test_a_signed_release_verifies() -> None:
    key = platform_key()
    made = release(key, COUNTS)
    assert verify_release(made.model_dump_json().encode(), key_set(key)) == made


def test_the_form_of_the_json_makes_no_difference() -> None:
    key = platform_key()
    made = release(key, COUNTS)
    spread = json.dumps(json.loads(made.model_dump_json()), indent=3, sort_keys=True)
    assert verify_release(spread.encode(), key_set(key)) == made


@pytest.mark.parametrize(
    "stored", [b"", b"[]", b"{}", b"null", b'{"receipt": 7}', b'{"receipt": "a.b.c"}']
)
def test_what_has_no_receipt_is_refused(stored: bytes) -> None:
    with pytest.raises(ReceiptError):
        verify_release(stored, key_set(platform_key()))


def test_a_signature_of_something_else_is_no_release() -> None:
    key = platform_key()
    statement = {"audit_id": "x"}
    stored = json.dumps({**statement, "receipt": sign(statement, key)}).encode()
    with refuses(ReceiptError, "not-of-a-release"):
        verify_release(stored, key_set(key))


def test_a_release_of_a_kind_that_is_not_installed_names_the_kind() -> None:
    key = platform_key()
    made = json.loads(release(key, COUNTS).model_dump_json()) | {"kind": "share-above"}
    del made["receipt"]
    stored = json.dumps({**made, "receipt": sign(made, key)}).encode()
    with refuses(InputError, "unknown-kind", "share-above", "match-count"):
        verify_release(stored, key_set(key))


def test_an_empty_key_set_verifies_nothing() -> None:
    made = release(platform_key(), COUNTS)
    with pytest.raises(ReceiptError):
        verify_release(made.model_dump_json().encode(), {"keys": []})


def test_a_saved_receipt_is_enough_to_analyse_again(tmp_path: Path) -> None:
    audit = finished(COUNTS)
    again = ScoreHistogramResult.from_receipt(audit.save_receipt(tmp_path / "receipt.json"))
    assert again.release == audit.release
    assert again.counts == audit.counts
    assert again.content == audit.content == content()


def test_a_receipt_may_be_saved_without_names(tmp_path: Path) -> None:
    path = finished(COUNTS).save_receipt(tmp_path / "receipt.json", names=False)
    assert "woman" not in path.read_text()
    assert set(ScoreHistogramResult.from_receipt(path).counts) == {"g0", "g1"}


def test_receipts_of_every_kind_are_saved_and_read_again(tmp_path: Path) -> None:
    key, path = platform_key(), tmp_path / "receipt.json"
    found = MatchCountResult(match_count_release(key, {"g0": 3, "g1": -1}), key_set(key), NAMES)
    assert MatchCountResult.from_receipt(found.save_receipt(path)).counts == {"man": 3, "woman": -1}

    cdf = ScoreCdfResult(cdf_release(key, {"g0": [1, 2, 3]}), key_set(key), contents=(content(),))
    assert ScoreCdfResult.from_receipt(cdf.save_receipt(path)).cumulative == {"g0": [1, 2, 3]}

    both = [content(), content("Nurse", OTHER_ID)]
    skewed = MostSkewedResult(most_skewed_release(key, both, 1), key_set(key), contents=tuple(both))
    assert MostSkewedResult.from_receipt(skewed.save_receipt(path)).chosen == both[1]


def test_a_receipt_of_another_kind_is_refused(tmp_path: Path) -> None:
    key = platform_key()
    found = MatchCountResult(match_count_release(key, {"g0": 3}), key_set(key))
    path = found.save_receipt(tmp_path / "receipt.json")
    with refuses(InputError, "another-kind", "match-count", "score-histogram"):
        ScoreHistogramResult.from_receipt(path)


def test_a_receipt_file_with_contents_in_another_order_is_refused(tmp_path: Path) -> None:
    key, both = platform_key(), (content(), content("Nurse", OTHER_ID))
    skewed = MostSkewedResult(most_skewed_release(key, list(both), 0), key_set(key), contents=both)
    path = skewed.save_receipt(tmp_path / "receipt.json")
    edit(path, contents=json.loads(path.read_text())["contents"][::-1])
    with refuses(ReceiptError, "another-content-than-signed"):
        MostSkewedResult.from_receipt(path)


@pytest.mark.parametrize("image_type", ["image/png", "image/jpeg", "image/webp"])
def test_the_digest_of_a_content_with_an_image_is_one_of_those_possible(image_type: str) -> None:
    image = digest(b"image")
    shown = content().model_copy(update={"image_digest": image})
    assert content_digest(shown.model_dump(), image, image_type) in possible_digests(shown)
    assert content().digest not in possible_digests(shown)


def edit(path: Path, **fields: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_a_receipt_file_with_another_signature_is_refused(tmp_path: Path) -> None:
    path = finished(COUNTS).save_receipt(tmp_path / "receipt.json")
    edit(path, receipt=finished({"g0": [1, 2, 0], "g1": [2, 1, 0]}).receipt)
    with pytest.raises(ReceiptError):
        SavedReceipt.load(path).release()


def test_a_receipt_file_with_another_title_is_refused(tmp_path: Path) -> None:
    path = finished(COUNTS).save_receipt(tmp_path / "receipt.json")
    [content] = json.loads(path.read_text())["contents"]
    edit(path, contents=[{**content, "title": "Nurse"}])
    with refuses(ReceiptError, "another-content-than-signed"):
        ScoreHistogramResult.from_receipt(path)


def test_a_receipt_file_with_two_groups_of_one_name_is_refused(tmp_path: Path) -> None:
    path = finished(COUNTS).save_receipt(tmp_path / "receipt.json")
    edit(path, names={"g0": "all", "g1": "all"})
    with refuses(InputError, "equal-names"):
        ScoreHistogramResult.from_receipt(path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "other"}', '{"format": "platform-auditor/receipt/v1"}']
)
def test_a_file_that_is_no_receipt_is_reported(tmp_path: Path, text: str) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(text)
    case = "another-format" if text == '{"format": "other"}' else "not-a-receipt-file"
    with refuses(InputError, case):
        SavedReceipt.load(path)
    with refuses(InputError, "unreadable"):
        SavedReceipt.load(tmp_path / "nothing.json")
