"""Receipts of releases: checked, and saved with everything needed to check them again.

A saved receipt is one JSON file: the signed statement itself, the platform's public keys at the
time, the proof that it is in the ledger, and, because only the auditor knows them, the names of the
groups and what is known of clusters of people.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from pydantic import ValidationError

from auditor_client.errors import InputError, ReceiptError
from openapi.kinds.registry import CONTRACTS
from openapi.resources import RELEASE, Content, InclusionProof
from openapi.resources import AnyRelease as AnyRelease
from privacy import receipts
from privacy.content import content_digest

FORMAT = "platform-auditor/receipt/v1"


def verify_release(stored: bytes, keys: Mapping[str, Any]) -> AnyRelease:
    """Return the release in these bytes, if its receipt is signed and states the same."""
    try:
        statement = json.loads(stored)
        receipt = statement.pop("receipt")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReceiptError("The release has no receipt. Ask the platform for one.") from error
    if receipts.canonical(statement) != signed_statement(receipt, keys):
        raise ReceiptError(
            "The receipt is signed, but it differs from the release. Keep both and tell "
            "the regulator.",
            case="another-release-than-signed",
        )
    return _release(statement, receipt)


def release_from_receipt(receipt: str, keys: Mapping[str, Any]) -> AnyRelease:
    """Return the release that a receipt states, if one of the keys signed it."""
    return _release(json.loads(signed_statement(receipt, keys)), receipt)


def possible_digests(content: Content) -> set[str]:
    """Return the possible digests of this content: they cover the image's type, which is not
    stored.
    """
    image = content.image_digest
    types = [None] if image is None else ["image/png", "image/jpeg", "image/webp"]
    return {content_digest(content.model_dump(), image, kind) for kind in types}


def same_contents(release: AnyRelease, contents: Sequence[Content]) -> bool:
    """Tell whether the release is for these contents, in this order, as shown."""
    digests = release.content_digests
    return len(digests) == len(contents) and all(
        stated in possible_digests(content)
        for stated, content in zip(digests, contents, strict=True)
    )


def signed_statement(receipt: str, keys: Mapping[str, Any]) -> bytes:
    """Return the canonical bytes that a receipt states, if one of the keys signed it."""
    try:
        return receipts.verify(receipt, KeySet.import_key_set(dict(keys)))  # type: ignore[arg-type]
    except (receipts.InvalidReceiptError, JoseError, ValueError, KeyError, TypeError) as error:
        raise ReceiptError(
            f"No key of the platform signed this receipt ({error})."
            " Do not rely on it; keep it and tell the regulator.",
            case="wrong-signature",
        ) from error


def unknown_kind(name: str, known: Iterable[str]) -> InputError:
    """Return the error for an audit of a kind that is not installed here."""
    return InputError(
        f"This SDK cannot read audits of kind {name!r}. Install the package that adds the kind,"
        f" or a newer platform-auditor. It reads: {', '.join(known)}.",
        case="unknown-kind",
    )


def _release(statement: dict[str, Any], receipt: str) -> AnyRelease:
    try:
        return RELEASE.validate_python({**statement, "receipt": receipt})
    except ValidationError as error:
        if error.errors()[0]["type"] == "union_tag_invalid":
            raise unknown_kind(statement["kind"], CONTRACTS) from error
        raise ReceiptError(
            "The receipt is signed, but it does not state a release.", case="not-of-a-release"
        ) from error


@dataclass(frozen=True)
class SavedReceipt:
    """Content of a receipt file."""

    receipt: str
    keys: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)
    contents: tuple[Content, ...] = ()
    url: str | None = None
    proof: InclusionProof | None = None
    clusters: dict[str, float] | None = None

    def release(self) -> AnyRelease:
        """Return the release, verified again, and the contents with it."""
        release = release_from_receipt(self.receipt, self.keys)
        self.check_contents(release)
        return release

    def check_contents(self, release: AnyRelease) -> None:
        if self.contents and not same_contents(release, self.contents):
            raise ReceiptError(
                "The file shows another content than the signed one. Do not rely on it.",
                case="another-content-than-signed",
            )

    def save(self, path: str | Path) -> None:
        document = {
            "format": FORMAT,
            "url": self.url,
            "receipt": self.receipt,
            "keys": self.keys,
            "names": self.names,
            "contents": [content.model_dump(mode="json") for content in self.contents],
            "proof": self.proof and self.proof.model_dump(mode="json"),
            **({"clusters": self.clusters} if self.clusters else {}),
        }
        text = json.dumps(document, ensure_ascii=False, indent=1)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "SavedReceipt":
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
            if document.pop("format") != FORMAT:
                raise InputError(f"{path} is a receipt of another format.", case="another-format")
            contents = tuple(map(Content.model_validate, document.pop("contents")))
            proof = document.pop("proof", None)
            proved = InclusionProof.model_validate(proof) if proof else None
            return cls(contents=contents, proof=proved, **document)
        except OSError as error:
            raise InputError(
                f"{path} cannot be read: {error.strerror}.", case="unreadable"
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{path} is not a receipt saved by `save_receipt`.", case="not-a-receipt-file"
            ) from error
