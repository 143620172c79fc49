"""What people read has the words of the field and English numbers, and no dialect of this house.

Read are all pages without code, all docstrings and comments of the package, and each text of two words
or more in it: errors, titles, notes, help and templates of documents.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    path
    for folder in ("", "docs", "tests", "benchmarks")
    for path in sorted((ROOT / folder).glob("*.md"))
]

DIALECT = {
    r"told apart|tells? .{0,30}\bapart\b": "differ significantly; identify",
    r"\bby lot\b": "by chance",
    r"\bsurely\b|\bfor sure\b": "significantly",
    r"\bfalse alerts?\b": "false positive",
    r"\balerts? (?:is|are) right\b|\bright alerts?\b": "precision; true positive",
    r"(?<!\bits )(?<!\btheir )\bown prevalence\b|\bthe own\b": (
        "the test set's prevalence; of a group: its own prevalence"
    ),
    r"\bshares? of positives\b": "prevalence",
    r"\bin truth\b|\bthe truth\b": "the true value",
    r"\bin place of\b": "instead of",
    r"\bstands? for\b": "represents",
    r"\btells?\b|\btold\b": "holds, returns, reports",
    r"\basks?\b|\basked\b": "call, pass, request",
    r"\bsaid\b|\bsays?\b": "pass, hold, return",
    r"\bknows\b": "has, allows for",
    r"\bwhat (?:is|was) (?:found|shown|wanted|meant)\b": "the noun itself",
    r"\bof unlike\b|\bunlike (?:models|shapes|points|effects)\b": "different",
    r"\bthinned\b": "subsampled",
    r"\bpromis(?:e|es|ed|ing)\b": "guarantee",
    r"\bheavy (?:row|rows)\b": "rows with large weights",
    r"\bmostly\b": "usually",
    r"\bin the field\b": "where the model runs",
}
"""Words that may not come back, with what to write."""

NUMBERS = {
    r"\d[ \u00a0\u2009\u202f]\d{3}\b": "1,200",
    r"\d[ \u00a0\u2009\u202f]%": "95%",
    r"\d\u2013\d": "31 to 57",
    r"\b1 in \d+\.\d": "11%, or a whole n",
}
"""Numbers of other languages, with how to write them."""

ALLOWED = (
    "promise assurance",  # other names of an argument, for hints
    "say nothing about",
    '"2\u20134"',  # ranks, as a chart writes them
    ".ask",  # a class of a style sheet
)
"""What is left out before a text is read."""

QUOTING = {"papers.md"}
"""The page on what others wrote: people say and tell."""


def read_pages() -> Iterator[tuple[str, str]]:
    for path in PAGES:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`|<[^>]*>", "", path.read_text("utf-8"), flags=re.M | re.S)
        yield path.name, text


@cache
def read_package() -> list[tuple[str, str]]:
    """Return texts, docstrings and comments of the package and of the makers of pages."""
    found = []
    paths = [*(ROOT / "polars_prcurve").rglob("*.py"), *(ROOT / "docs").glob("make_*.py")]
    for path in sorted(paths):
        name = path.relative_to(ROOT).as_posix()
        for line, text in [*read_texts(path), *read_comments(path)]:
            bare = re.sub(r"^ *(?:>>>|\.\.\.).*$|`[^`]*`|<[^>]*>|\{[^}]*\}", "", text, flags=re.M)
            if " " in bare:
                found.append((f"{name}:{line}", bare))
    return found


def read_texts(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def read_comments(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each run of lines of comments as one text, since a phrase may go on in the next line."""
    line, text = 0, ""
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                line = line or token.start[0]
                text += token.string.lstrip("#")
            elif token.type != tokenize.NL:
                yield line, text
                line, text = 0, ""


def find(text: str, patterns: dict[str, str]) -> Iterator[str]:
    text = " ".join(text.split())
    for allowed in ALLOWED:
        text = text.replace(allowed, "")
    for pattern, better in patterns.items():
        for match in re.finditer(pattern, text):
            around = " ".join(text[max(0, match.start() - 30) : match.end() + 30].split())
            yield f"{around!r}: write {better}"


@pytest.mark.parametrize("read", [read_pages, read_package])
def test_no_word_of_the_dialect(read: object) -> None:
    found = [
        f"{where} {hit}"
        for where, text in read()  # type: ignore[operator]
        if where not in QUOTING
        for hit in find(text, DIALECT)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("read", [read_pages, read_package])
def test_numbers_are_english(read: object) -> None:
    found = [f"{where} {hit}" for where, text in read() for hit in find(text, NUMBERS)]  # type: ignore[operator]
    assert not found, "\n".join(found)
