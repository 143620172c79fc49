"""Options, made from the signature of a method: what each takes, from its type, and its help.

The words of an option become what the method takes: numbers where they read as numbers, otherwise the
text as it is, which the method refuses in its own words.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from polars_prcurve.core.binding.shared_arguments import TABLE_WORDS, TARGET_WORDS
from polars_prcurve.core.confidence.interval_options import Intervals, intervals
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.share_texts import read_fraction
from polars_prcurve.doors.cli.table_files import find_format
from polars_prcurve.doors.namespace.frame import FramePrc, LazyFramePrc

# From words to values ----------------------------------------------------------------------------


class TableFile(str):
    """The path of another table, in the place of values."""


def read_names(words: Iterable[str]) -> list[str]:
    """Return names from words, in which commas part them: `f1,best(f1)`, `integrated(pr_auc, 0, 1)`."""
    names = re.split(r",(?![^(]*\))", ",".join(words))  # commas inside brackets stay
    return [name.strip() for name in names if name.strip()]


def read_etas(words: Iterable[str]) -> list[str | None]:
    """Return prevalences as texts, which methods read, and None for each group's own."""
    texts = [text.strip() for word in words for text in _ETA.findall(word) if text.strip()]
    return [None if text == "own" else text for text in texts]


_ETA = re.compile(r"[^,]*\bin\s*[1-9]\d{0,2}(?:,\d{3}(?![\d.:/]|\s+in\b))+|[^,]+")
"""One prevalence: `... in 1,000`, whose commas stand before three digits that end there, or all up to a
comma."""


def read_number(word: str) -> Any:
    """Return the number that a word gives, in which 60% is 0.6; a word that gives none as it is."""
    try:
        fraction = read_fraction(word.removesuffix("%"))
        fraction = fraction / 100 if word[-1] == "%" else fraction
        return int(word) if word.isdecimal() else float(fraction)
    except (ValueError, ArithmeticError):
        return word


def read_numbers(words: Iterable[str]) -> list[Any]:
    """Return numbers from words, in which commas part them."""
    return [read_number(word) for word in read_names(words)]


def read_pairs(words: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the numbers of `500/2000000`, or of `12/unknown`, of which the last is None."""
    pairs = [name.split("/") for name in read_names(words)]
    return [tuple(None if word == "unknown" else read_number(word) for word in pair) for pair in pairs]


def read_confidence(words: Iterable[str]) -> list[float | Intervals]:
    """Return a level, or what `intervals()` makes of words after it: `95%,method=bootstrap,seed=1`."""
    arguments: dict[str, Any] = {}
    for word in read_names(words):
        name, has_value, value = word.partition("=")
        if not has_value and not isinstance(level := read_number(name), str):
            arguments["level"] = level
        else:
            arguments[name] = read_number(value) if has_value else True  # such as simultaneous
    try:
        return [arguments["level"] if arguments.keys() == {"level"} else intervals(**arguments)]
    except TypeError as error:  # a word that `intervals` does not have
        raise PrcError(str(error)) from None


def read_other_table(words: Sequence[str]) -> list[Any]:
    """Return a file and what its columns hold, as `test.csv counts=n_pos,n_neg` has it, or a number."""
    if len(words) == 1 and not isinstance(number := read_number(words[0]), str):
        return [number]
    texts = dict(word.split("=", 1) for word in words[1:] if "=" in word)
    if "=" in words[0] or len(texts) < len(words) - 1 or not texts.keys() <= {*TABLE_WORDS}:
        raise PrcError(f"expected one file, and then what its columns hold; got {' '.join(words)!r}")
    return [(TableFile(words[0]), {word: pick_one(read_names([texts[word]])) for word in texts})]


def pick_one(values: list[Any]) -> Any:
    """Return the value that stands alone, or the list; None alone stays in its list."""
    return values[0] if len(values) == 1 and values[0] is not None else values


# Kinds of values ---------------------------------------------------------------------------------


class Kind(NamedTuple):
    """What an option takes."""

    metavar: str  # empty for a switch
    takes_several: bool = False
    read_words: Callable[[Sequence[str]], list[Any]] = list
    may_be_file: bool = False  # whether a file may replace the values
    column: str = ""  # the word of the column whose dtype decides how to read the values

    def read(self, words: Any) -> Any:
        """Return what the words of an option mean: a value, a list of several, or a file."""
        if not self.metavar:
            return words
        words = [words] if isinstance(words, str) else words
        if self.may_be_file and len(words) == 1 and find_format(words[0]):
            return TableFile(words[0])
        return pick_one(self.read_words(words))


FILE = Kind("FILE")  # a path, which is no argument of a method
_THRESHOLDS = Kind("SCORE", True, read_names, may_be_file=True, column="score")
_OTHER_TABLE = Kind("FILE", True, read_other_table, may_be_file=True)
_PLAN = Kind("FILE", False, lambda words: [TableFile(words[0])], may_be_file=True, column="score")
KIND_OF_ARGUMENT = {  # whose type is not what a command line takes
    "eta": Kind("SHARE", True, read_etas, may_be_file=True),
    "parts": Kind("COLUMN", True, read_names),
    "confidence": Kind("LEVEL", read_words=read_confidence),
    "threshold": _THRESHOLDS,
    "start": _THRESHOLDS,
    "alerts": Kind("ALERTS/CASES", True, read_pairs),
    "pos_label": Kind("VALUE", column="label"),
    "sizes": Kind("N", True, read_numbers),
    "below": Kind("N_POS/N_NEG", read_words=read_pairs, may_be_file=True),
    "plan": _PLAN,
    "reference": _OTHER_TABLE,
    "other": _OTHER_TABLE,
    **dict.fromkeys(("report", "page", "table", "qrels", "output"), FILE),
    "unlabelled": Kind(""),
    "fail_unless": Kind("STATUS", True, read_names),
}


def find_kind(name: str, annotation: str) -> Kind:
    """Return what the option of an argument takes, by its name or by its type."""
    takes_several = bool(re.search("Columns|Sequence|tuple|Counts|Cells|Values", annotation))
    if name in KIND_OF_ARGUMENT:
        return KIND_OF_ARGUMENT[name]
    if "Metric" in annotation:
        return Kind("METRIC", takes_several, read_names)
    if re.search(r"\bColumn|Cells|Counts", annotation):
        return Kind("COLUMN", takes_several, read_names if takes_several else list)
    if re.search(r"\b(float|int|TargetValues|Thresholds)\b", annotation):
        return Kind("N", takes_several, read_numbers)
    return Kind("") if annotation == "bool" else Kind("TEXT")


# Help --------------------------------------------------------------------------------------------

HELP_OF_ARGUMENT = {  # of options that are no arguments, or that a command line takes in another way
    "eta": "prevalences: shares such as 0.001, 0.1% or 1/1000; ratios of positives to negatives such as "
    "1:999; own, that of each group (the default); or a file with a column eta, or k positives among n "
    "examples, and any of the group columns",
    "by": "columns that name groups, of any dtype but Object",
    "time": "the column with the period of a row, such as a week",
    "label": "the column of labels, empty where a row has none",
    "parts": "columns that name subpopulations; --eta is a file with them, eta and share",
    "alerts": "the lowest threshold with at most these alerts among cases, such as 500/2000000",
    "per": "show the alerts among this number of cases (default: those of --alerts)",
    "threshold": "a fixed threshold; or a file with a column threshold, and any of eta and the groups",
    "columns": "short, the columns that fit a screen, or all (default: short on a terminal, else all)",
    "paired": "each model, such as a country, has its own examples",
    "reference": "a file of other rows with labels, and what its columns hold, if that differs, such as "
    "counts=n_pos,n_neg or label=sick; for monitor also a rate such as 80%",
    "other": "a file with one point from other examples, such as a human reader, in the columns tp, fp, "
    "fn and tn, or in cells=a,b,c,d; with --match",
    "plan": "the table of sampling-plan, a file: the rows that each labelled row represents",
    "unlabelled": "no row has a label",
    "table": "a TOML file of arguments that describe the table; an option overrides it",
    "qrels": "judgements, lines 'query 0 document relevance' (TREC); INPUT is then a run, or a pattern "
    "of several, of lines 'query Q0 document rank score name'",
    "report": "write the decision as one HTML file to send",
    "page": "write a page to move the score, the prevalence and the costs",
    "title": "the title of the document",
    "date": "a date to print, since a document reads no clock",
    "notes": "a text to add to the report",
    "fail_unless": "exit with 1 unless the verdict is one of these: met, or statuses such as winner; "
    "for compare, unless not_worse or significant is true in every row; for monitor, no_alarm; errors "
    "exit with 2",
    "output": "write all rows to this file, or as CSV to standard output if it is -. Without it a "
    "terminal shows the first 50 rows, and a pipe gets all as CSV",
}


def describe_argument(method: str, name: str) -> str:
    """Return the help of an option: the first sentence about its argument in the docstring."""
    if name in HELP_OF_ARGUMENT:
        return HELP_OF_ARGUMENT[name]
    text = _list_descriptions(method).get(name) or _list_descriptions("").get(name, "")
    reference = re.search(r"[Aa]s in `(\w+)`", text)
    if reference and (text.startswith("As") or name in TARGET_WORDS):
        return describe_argument(reference[1], name)
    return re.split(r"(?<=[\w`)])\. (?=[A-Z`])", text)[0].replace("`", "").removesuffix(".")


@cache
def _list_descriptions(method: str) -> dict[str, str]:
    """Return the text of a method's docstring on each argument; without one, that of the table."""
    text = inspect.cleandoc(getattr(LazyFramePrc, method, FramePrc).__doc__ or "") + "\n"
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nReturns\n")[0] or text
    entries = re.findall(r"^(\w+(?:, \w+)*)\n((?:    .*\n|\n(?=    ))+)", f"{section}\n", re.M)
    return {name: " ".join(lines.split()) for names, lines in entries for name in names.split(", ")}
