"""`python -m tests.language`: check the conventions of our prose (CONTRIBUTING, "Prose").

A docstring begins with an imperative or a noun, never with a clause ("What …", "Whoever …").
Phrases that readers had to translate do not come back, in code, pages, templates and scripts.
Spelling is British and correct (codespell). A sentence of a page or of a message has at most 25
words. Migrations keep their texts. Of decisions in `docs/adr`, which are history, only the spelling
is checked.
"""

import ast
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("api", "auditor_client", "openapi", "platform_sim", "privacy")
MOST_WORDS = 25
_CLAUSE = re.compile(r"(What|Who|Whose|Whoever|Whom|Of|So|That|Where|How|Unless|Beside)\b")
_PHRASE = re.compile(
    r"\b(unless told|so many|so much|whoever|beside|for good|at last|the books|untold)\b",
    re.IGNORECASE,
)
_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
# Not prose of ours, or words in another sense: libraries, test vectors, wrong input of tests.
_UNCHECKED = ("vendor", "vectors", "migrations")
_SPELLING_SKIPS = "*/vendor/*,*/vectors/*,*.lock,*.svg,*.png,*.json,*.ipynb,*.csv,*.jwk"
# Names of libraries and settings, and mistakes that tests make on purpose.
_SPELLED_SO = "checkin,iif,fpr,parms,pytho,tolerence,titel,treshold,te,lik,delet,keep-alives"
# Spellings that British texts use too, against the dictionary.
_BRITISH_TOO = {"program", "programs", "licensed", "biased"}
_CODE = re.compile(
    r"^```.*?^```|^ {4,}(?![-*\d]).*?$|<!--.*?-->|<style.*?</style>|<[^>\n]*>", re.DOTALL | re.M
)
_SPAN = re.compile(r"`[^`]*`|\$\$?[^$\n]+\$")
_TARGET = re.compile(r"\]\([^)]*\)")
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |\||#))")
_SENTENCE = re.compile(r"(?<=[.!?:;…])[\"”’)*_]*\s+")
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SQL = re.compile(r"\s*(INSERT|SELECT|UPDATE|DELETE|WITH|CREATE)\b")
# What a sentence is counted in: letters of a formula are no words.
_COUNTED = re.compile(r"(?<![\w^/])(?:a|I|[^\W\d_][\w’'-]*[^\W\d_])(?![\w^(])")
_EXPRESSION = re.compile(r"\{[{%#].*?[}%#]\}", re.DOTALL)


def violations() -> Iterator[str]:
    """Yield each violation as a place and the words."""
    for package in PRODUCT:
        for file in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in file.parts:
                yield from _docstrings_of(file)
                yield from _long_messages(file)
    for file in prose():
        yield from _phrases_of(file)
        if file.suffix in {".md", ".html"}:
            yield from _american(file)
        if file.suffix == ".md" and "adr" not in file.parts:
            yield from _long_sentences(file)
    yield from _misspelt()


def messages(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and text of each string that the program may show: no docstring, no SQL."""
    skipped = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            skipped.update(map(id, node.values))
            parts = (each.value if isinstance(each, ast.Constant) else "x" for each in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in skipped
            and not _SQL.match(node.value)
        ):
            yield node.lineno, node.value


def prose() -> list[Path]:
    """Return every file of the repository that people read: pages, templates, scripts and code."""
    listed = ["git", "ls-files", "-co", "--exclude-standard", "*.py", "*.md", "*.html", "*.js"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = (ROOT / name for name in names.splitlines())
    return [each for each in found if each.is_file() and not {*_UNCHECKED} & {*each.parts}]


def long_sentences(page: str) -> Iterator[str]:
    """Yield the sentences of a page in Markdown that have too many words."""
    text = _TARGET.sub("]", _SPAN.sub(" x ", _CODE.sub("", page)))
    for block in _BLOCK.split(text):
        cells = block.split("|") if block.lstrip().startswith("|") else [block]
        for cell in cells:
            for sentence in _SENTENCE.split(" ".join(cell.split())):
                if len(_COUNTED.findall(sentence)) > MOST_WORDS:
                    yield sentence


def american_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each American spelling in a text, with the British one."""
    plain = _EXPRESSION.sub(" ", _TARGET.sub("]", _SPAN.sub(" ", _CODE.sub("", text))))
    british = _british()
    for word in _WORD.findall(plain.lower()):
        if word in british:
            yield word, british[word]


def _docstrings_of(file: Path) -> Iterator[str]:
    place = file.relative_to(ROOT)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, _DOCUMENTED) and _CLAUSE.match(ast.get_docstring(node) or ""):
            first = (ast.get_docstring(node) or "").splitlines()[0]
            yield f"{place}:{getattr(node, 'lineno', 1)}: begins with a clause: {first}"


def _long_messages(file: Path) -> Iterator[str]:
    for line, text in messages(ast.parse(file.read_text(encoding="utf-8"))):
        for sentence in long_sentences(text.split("<pre>", maxsplit=1)[0].replace("\n", "\n\n")):
            place = f"{file.relative_to(ROOT)}:{line}"
            yield f"{place}: more than {MOST_WORDS} words: {sentence}"


def _phrases_of(file: Path) -> Iterator[str]:
    if file == Path(__file__) or "adr" in file.parts:
        return
    for number, line in _read_by_people(file):
        for phrase in _PHRASE.findall(line):
            yield f"{file.relative_to(ROOT)}:{number}: {phrase!r}: {line.strip()}"


def _read_by_people(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file; of Python outside the product, comments and strings only."""
    if file.suffix != ".py" or file.relative_to(ROOT).parts[0] in PRODUCT:
        yield from enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        return
    with file.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type in {tokenize.COMMENT, tokenize.STRING}:
                yield token.start[0], token.string


def _long_sentences(file: Path) -> Iterator[str]:
    for sentence in long_sentences(file.read_text(encoding="utf-8")):
        yield f"{file.relative_to(ROOT)}: more than {MOST_WORDS} words: {sentence}"


def _american(file: Path) -> Iterator[str]:
    for word, british in american_words(file.read_text(encoding="utf-8")):
        yield f"{file.relative_to(ROOT)}: American spelling: {word!r}, not {british!r}"


def _british() -> dict[str, str]:
    """Return British spellings by the American ones; both are right for some words."""
    pairs = files("codespell_lib") / "data" / "dictionary_en-GB_to_en-US.txt"
    lines = (line.split("->") for line in pairs.read_text(encoding="utf-8").splitlines())
    found = {each.strip(): british for british, us in lines for each in us.split(",")}
    return {us: found[us] for us in found if us and us not in _BRITISH_TOO}


def _misspelt() -> Iterator[str]:
    listed = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    there = [name for name in names.splitlines() if (ROOT / name).is_file()]
    command = [sys.executable, "-m", "codespell_lib", "--skip", _SPELLING_SKIPS]
    options = ["--ignore-words-list", _SPELLED_SO, *there]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
    yield from (f"{line} (spelling)" for line in done.stdout.splitlines())


def main() -> int:
    found = list(violations())
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
