"""How the model reads content: its kind, whether it has an image, and its words.

Words are cut to a stem of five letters; an attribute is the one word `name=value`. Only words that
past content used are read, and the title counts double.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = ("job", "housing", "credit", "news", "political")
_STEM = 5
PLAIN = 1 + len(KINDS) + 1


@dataclass(frozen=True)
class Reader:
    """Turns content into numbers: PLAIN ones (constant, kind, image), then one per stem."""

    stems: tuple[str, ...]

    @classmethod
    def of(cls, contents: Iterable[Mapping[str, Any]]) -> "Reader":
        """A reader who knows the words of this content."""
        return cls(tuple(sorted({stem for content in contents for stem in _counts(content)})))

    def read(self, content: Mapping[str, Any]) -> NDArray[np.float64]:
        """Words together have length one, so a long text does not shout down a short one."""
        kinds = [float(content["kind"] == kind) for kind in KINDS]
        plain = [1.0, *kinds, float(content.get("image") is not None)]
        counts = _counts(content)
        words = np.array([counts[stem] for stem in self.stems], np.float64)
        length = float(np.linalg.norm(words))
        return np.concatenate([plain, words / max(length, 1.0)])


def _counts(content: Mapping[str, Any]) -> Counter[str]:
    title = _words(str(content.get("title", "")))
    attributes = content.get("attributes") or {}
    named = [f"{name}={value}".casefold() for name, value in attributes.items()]
    return Counter(title + title + _words(str(content.get("text", ""))) + named)


def _words(text: str) -> list[str]:
    return [word[:_STEM] for word in re.findall(r"[^\W\d_]+", text.casefold())]
