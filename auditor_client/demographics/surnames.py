"""Surnames as census tables spell them: capital letters A to Z and nothing else.

The census removed blanks, hyphens and apostrophes, and endings such as Jr [WCNK07]. Here an ending
is removed only if it is a separate word, because Nasr, Ishii and Ziv are names. A double name that
is in no table is looked up by its parts; a particle (de la, van der) belongs to the part it
precedes.

[WCNK07] Word, Coleman, Nunziata, Kominski, Demographic aspects of surnames from Census 2000 (2007).
"""

import re
import unicodedata
from collections.abc import Iterable

# Letters that Unicode does not decompose into a base and an accent.
_WHOLE = str.maketrans(
    {"Ø": "O", "Ł": "L", "Đ": "D", "Ð": "D", "Þ": "TH", "Æ": "AE", "Œ": "OE", "Ħ": "H", "Ŋ": "N"}
    | {"ẞ": "SS", "ʻ": "'", "ʼ": "'", "’": "'", "‘": "'", "´": "'"}
)
_ENDINGS = frozenset({"JR", "SR", "JNR", "SNR", "II", "III", "IV", "ESQ", "MD", "PHD"})
_PARTICLES = frozenset(
    {"AL", "BIN", "D", "DA", "DAS", "DE", "DEL", "DELA", "DEN", "DER", "DI", "DO", "DOS", "DU"}
    | {"EL", "IBN", "L", "LA", "LAS", "LE", "LOS", "MAC", "MC", "O", "SAN", "SANTA", "ST", "TEN"}
    | {"TER", "VAN", "VANDER", "VON", "ZU"}
)
_WITHIN = re.compile(r"['.`]")
_APART = re.compile(r"[^A-Z]+")


def spellings(surname: str) -> tuple[str, tuple[str, ...]]:
    """Return the whole name as a table spells it, and its parts if it has more than one."""
    if surname.isascii() and surname.isalpha():
        return surname.upper(), ()
    words = _words(surname)
    if len(words) < 2:
        return "".join(words), ()
    parts = tuple(_parts(words))
    return "".join(words), parts if len(parts) > 1 else ()


def _words(surname: str) -> list[str]:
    # In "Smith, Jr." the ending follows the comma; other text after a comma is a given name.
    name = surname.upper().partition(",")[0]
    if not name.isascii():
        name = _unaccented(name)
    words = [word for word in _APART.split(_WITHIN.sub("", name)) if word]
    while len(words) > 1 and words[-1] in _ENDINGS:
        words.pop()
    return words


def _unaccented(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.translate(_WHOLE))
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    # Without this check, a letter of another script would vanish and leave a different name.
    foreign = any(letter.isalpha() and not letter.isascii() for letter in plain)
    return "" if foreign else plain


def _parts(words: Iterable[str]) -> Iterable[str]:
    before = ""
    for word in words:
        before += word
        if word not in _PARTICLES:
            yield before
            before = ""
    if before:
        yield before
