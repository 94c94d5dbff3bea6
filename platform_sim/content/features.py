"""Content as the model reads it: its kind, whether it has an image, and its words.

Words are truncated to a stem of five letters; an attribute is the one word `name=value`. Only words
that past content used are read, and the title counts twice.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

KINDS = ("job", "housing", "credit", "news", "political")
_STEM = 5
PLAIN = 1 + len(KINDS) + 1


@dataclass(frozen=True)
class Reader:
    """Reader of content as numbers: PLAIN ones (constant, kind, image), then one per stem."""

    stems: tuple[str, ...]

    @classmethod
    def of(cls, contents: Iterable[Mapping[str, Any]]) -> "Reader":
        """Return a reader who knows the words of this content."""
        seen = map(_seen_in, contents)
        return cls(tuple(sorted({stem for content in seen for stem in _counts(content)})))

    def read(self, content: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the features of a content; words together have length one, so long texts do not
        dominate.
        """
        return _numbers(self.stems, _seen_in(content))


class _Seen(NamedTuple):
    """Features of a piece of content."""

    kind: str
    image: bool
    title: str
    text: str
    named: tuple[str, ...]


def _seen_in(content: Mapping[str, Any]) -> _Seen:
    attributes = content.get("attributes") or {}
    return _Seen(
        kind=content["kind"],
        image=content.get("image") is not None,
        title=str(content.get("title", "")),
        text=str(content.get("text", "")),
        named=tuple(f"{name}={value}".casefold() for name, value in attributes.items()),
    )


# Content is scored for one batch of people after the other, and read only for the first.
@lru_cache(maxsize=1_024)
def _numbers(stems: tuple[str, ...], content: _Seen) -> NDArray[np.float64]:
    kinds = [float(content.kind == kind) for kind in KINDS]
    plain = [1.0, *kinds, float(content.image)]
    counts = _counts(content)
    words = np.array([counts[stem] for stem in stems], np.float64)
    length = float(np.linalg.norm(words))
    numbers = np.concatenate([plain, words / max(length, 1.0)])
    numbers.setflags(write=False)  # it is shared
    return numbers


def _counts(content: _Seen) -> Counter[str]:
    title = _words(content.title)
    return Counter(title + title + _words(content.text) + list(content.named))


def _words(text: str) -> list[str]:
    return [word[:_STEM] for word in re.findall(r"[^\W\d_]+", text.casefold())]
