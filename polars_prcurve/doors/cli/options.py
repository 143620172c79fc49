"""Options, made from the signatures of methods: what each takes, from its type, and its help.

The words of an option become what the method takes. A text such as 80% stays as it is, since methods
read it, or refuse it in their own words.
"""

from __future__ import annotations

import argparse
import inspect
import re
import shlex
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn

from polars_prcurve.core.binding.shared_arguments import TABLE_WORDS, TARGET_WORDS
from polars_prcurve.core.confidence.interval_options import Intervals, intervals
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import suggest_arguments, suggest_names
from polars_prcurve.core.ground.package_version import __version__
from polars_prcurve.doors.cli.printing import PROGRAM
from polars_prcurve.doors.cli.table_files import find_format
from polars_prcurve.doors.namespace.frame import FramePrc, LazyFramePrc

# From words to values ----------------------------------------------------------------------------


class TableFile(NamedTuple):
    """Another table in a file, and what its columns hold, if that is written behind it."""

    path: str
    words: dict[str, Any]


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


def split_numbers(words: Iterable[str]) -> list[Any]:
    """Return numbers from words, in which commas part them; a word that is no plain number stays."""
    return [int(name) if name.isdecimal() else _read_float(name) for name in read_names(words)]


def _read_float(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def split_sizes(words: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the two numbers of `12/340`, or of `12/unknown`, of which the last is None."""
    sizes = [split_numbers(name.split("/")) for name in read_names(words)]
    return [tuple(None if size == "unknown" else size for size in pair) for pair in sizes]


def read_confidence(words: Iterable[str]) -> list[str | Intervals]:
    """Return a level, or what `intervals()` makes of words after it: `95%,method=bootstrap,seed=1`."""
    arguments: dict[str, Any] = {}
    for word in read_names(words):
        name, has_value, value = word.partition("=")
        is_level = not has_value and word[0] in ".0123456789"
        arguments["level" if is_level else name] = (
            word if is_level else pick_one(split_numbers([value])) if has_value else True
        )
    try:
        return [arguments["level"] if arguments.keys() == {"level"} else intervals(**arguments)]
    except TypeError as error:  # a word that `intervals` does not have
        raise PrcError(str(error)) from None


def read_other_table(words: Sequence[str]) -> list[Any]:
    """Return a file and what its columns hold, as `test.csv counts=n_pos,n_neg` has it, or a number."""
    if len(words) == 1:
        return split_numbers(words)
    texts = dict(word.split("=", 1) for word in words[1:] if "=" in word)
    if "=" in words[0] or len(texts) < len(words) - 1 or not texts.keys() <= {*TABLE_WORDS}:
        raise PrcError(
            "expected one file, then column arguments such as counts=n_pos,n_neg; got "
            f"{' '.join(words)!r}"
        )
    return [TableFile(words[0], {word: pick_one(read_names([texts[word]])) for word in texts})]


def pick_one(values: list[Any]) -> Any:
    """Return the value that stands alone, or the list; None alone stays in its list."""
    return values[0] if len(values) == 1 and values[0] is not None else values


# Kinds of values ---------------------------------------------------------------------------------


class Kind(NamedTuple):
    """What an option takes."""

    metavar: str = ""  # empty for a switch
    read_words: Callable[[Sequence[str]], list[Any]] | None = None  # None for a word that stays as it is
    may_be_file: bool = False  # whether a file may replace the values
    is_score: bool = False  # whether methods read texts, which keep all digits of a score

    def read(self, words: Any) -> Any:
        """Return what the words of an option mean: a value, a list of several, or a file."""
        if self.may_be_file and len(words) == 1 and find_format(words[0]):
            return TableFile(words[0], {})
        return words if self.read_words is None else pick_one(self.read_words(words))


_SCORE = Kind("SCORE", read_names, may_be_file=True, is_score=True)
# What most options take.
_SWITCH, _TEXT, _COLUMN, _FILE = Kind(), Kind("TEXT"), Kind("COLUMN", read_names), Kind("FILE")
_KIND_OF_NAME = {  # of options whose type leaves open what they take, or that are no arguments
    "eta": Kind("SHARE", read_etas, may_be_file=True),
    "threshold": _SCORE,
    "start": _SCORE,
    "plan": _SCORE._replace(metavar="FILE"),
    "alerts": Kind("ALERTS/CASES", split_numbers),
    "pos_label": Kind("VALUE"),
    "parts": _COLUMN,
    "fail_unless": Kind("STATUS", read_names),
    "unlabelled": _SWITCH,
    **dict.fromkeys(("report", "page", "qrels", "output"), _FILE),
}
_KIND_OF_TYPE = {
    "BoundTable": Kind("FILE", read_other_table, may_be_file=True),
    "Below": Kind("N_POS/N_NEG", split_sizes, may_be_file=True),
    "Confidence": Kind("LEVEL", read_confidence),
    "CurveMetric|PointMetric": Kind("METRIC", read_names),
    "Column|Columns|Cells|Counts": _COLUMN,
    "float|int|TargetValues|Thresholds|Sizes": Kind("N", split_numbers),
    "bool": _SWITCH,
}


@cache
def list_parameters(method: str) -> Mapping[str, inspect.Parameter]:
    """Return the arguments of a method by their names."""
    parameters = inspect.signature(getattr(LazyFramePrc, method)).parameters
    return {name: parameter for name, parameter in parameters.items() if name != "self"}


@cache
def list_kinds(method: str) -> Mapping[str, Kind]:
    """Return what each option of a command takes: those of its arguments, and of what goes with them."""
    parameters = list_parameters(method)
    companions = {"eta": "parts", "below": "qrels", "label": "unlabelled"}
    names = [*parameters, *(more for name, more in companions.items() if name in parameters)]
    names += ["fail_unless"] if method in ("decide", "compare", "monitor") else []
    names += ["report", "page", "title", "date", "notes"] if method == "decide" else []
    types = {name: str(parameter.annotation) for name, parameter in parameters.items()}
    return {name: find_kind(name, types.get(name, "")) for name in (*names, "output")}


def find_kind(name: str, annotation: str) -> Kind:
    """Return what the option of an argument takes, by its name or by its type."""
    if name in _KIND_OF_NAME:
        return _KIND_OF_NAME[name]
    kinds = _KIND_OF_TYPE.items()
    return next((kind for types, kind in kinds if re.search(rf"\b({types})\b", annotation)), _TEXT)


# Help --------------------------------------------------------------------------------------------

HELP_OF_OPTION = {  # of options that are no arguments, or that a command line takes in another way
    "eta": "prevalences: shares such as 0.001, 0.1% or 1/1000; ratios such as 1:999; own, that of each "
    "group (the default); or a file with a column eta, or k and n, and any of the group columns",
    "parts": "columns that name subpopulations; --eta is a file with them, eta and share",
    "threshold": "a fixed threshold; or a file with a column threshold, and any of eta and the groups",
    "columns": "short, the columns that fit a screen, or all (default: short on a terminal, else all)",
    "paired": "each model, such as a country, has its own examples",
    "reference": "a file of other rows with labels, and what its columns hold, if that differs, such as "
    "counts=n_pos,n_neg or label=sick; for monitor also a rate such as 80%",
    "other": "a file with one point from other examples, such as a human reader, in the columns tp, fp, "
    "fn and tn, or in cells=a,b,c,d; with --match",
    "plan": "the table of sampling-plan, a file: the rows that each labelled row represents",
    "unlabelled": "no row has a label",
    "qrels": "judgements of TREC, of a search whose run, or a pattern of several runs, is INPUT",
    "report": "write the decision as one HTML file to send",
    "title": "the title of the document",
    "date": "a date to print, since a document reads no clock",
    "notes": "a text to add to the report",
    "page": "write a page to move the score, the prevalence and the costs",
    "fail_unless": "exit with 1 unless the verdict is met, or has one of these statuses; of compare, "
    "unless not_worse or significant holds in all rows of the first model; of monitor, unless no_alarm",
    "output": "write all rows to this file, or as CSV to standard output if it is -. Without it a "
    "terminal shows the first 50 rows, and a pipe gets all as CSV",
}


def describe_option(method: str, name: str) -> str:
    """Return the help of an option: the first sentence about its argument in a docstring."""
    texts = (HELP_OF_OPTION, _list_descriptions(method), _list_descriptions(""))
    text = next((place[name] for place in texts if name in place), "")
    reference = re.search(r"[Aa]s in `(\w+)`", text)
    if reference and (text.startswith("As") or name in TARGET_WORDS):
        return describe_option(reference[1], name)
    return re.split(r"(?<=[\w`)])\. (?=[A-Z`])", text)[0].replace("`", "").removesuffix(".")


@cache
def _list_descriptions(method: str) -> dict[str, str]:
    """Return the text of a method's docstring on each argument; without one, that of the table."""
    text = inspect.cleandoc(getattr(LazyFramePrc, method, FramePrc).__doc__ or "") + "\n"
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nReturns\n")[0] or text
    entries = re.findall(r"^(\w+(?:, \w+)*)\n((?:    .*\n|\n(?=    ))+)", f"{section}\n", re.M)
    return {name: " ".join(lines.split()) for names, lines in entries for name in names.split(", ")}


# The parser --------------------------------------------------------------------------------------

_PROGRAM_HELP = """\
Precision-recall analysis at any prevalence, for tables in files: a row per
example, with its score and its label.

Prevalence (--eta) is a share, 0.001, 1/1000 or 0.1%, or with a colon a ratio
of positives to negatives: 1:5000 is 1 positive to 5,000 negatives.
"""
_EXAMPLES_HELP = """\
examples:
    polars-prcurve summary scores.parquet --by model --eta 0.001
    polars-prcurve operating-points s.csv --eta 1:5000 --alerts 500/2000000
    polars-prcurve decide s.csv --score a,b --eta 0.1% --report r.html
    polars-prcurve curve s.csv --eta 1% own --metrics precision f1 -o c.csv

polars-prcurve COMMAND --help lists the options of a command.
"""
_FILES_HELP = """\
Options are the arguments of the method; errors use their Python names: eta= is
--eta. Several values of an option are separated by spaces or commas, and INPUT
comes before such options. The file extension sets the format: .parquet, .csv,
.tsv, .ndjson, .jsonl, .arrow, .feather or .ipc. @FILE inserts the options that
a file holds; a later option replaces an earlier one.
"""


class RaisingParser(argparse.ArgumentParser):
    """A parser that raises `PrcError`, so that all errors are printed in one way."""

    def error(self, message: str) -> NoReturn:
        """Raise the message, with the place of the table if it is missing."""
        if message.endswith("required: INPUT"):
            message += f"; it comes first: {self.prog} INPUT --eta 0.001 ..."
        raise PrcError(message)

    def convert_arg_line_to_args(self, arg_line: str) -> list[str]:
        """Return the words of a line of @FILE, as a shell reads them."""
        try:
            return shlex.split(arg_line, comments=True)
        except ValueError as error:
            raise PrcError(f"cannot read the line {arg_line!r}: {error}") from None

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or a version; raise where that fails, as argparse does not."""
        print(message, end="", file=file, flush=True)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise for a word that is no command."""
        if action.choices is not None and value not in action.choices:
            raise PrcError(f"COMMAND cannot be {value!r}; {suggest_names(value, action.choices)}")


def parse_words(methods: Iterable[str], words: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command that are passed; raise for a word that it does not take."""
    args, unknown_words = build_parser(methods, words[0] if words else "").parse_known_args(words)
    if not unknown_words:
        return args
    flag = next((word for word in unknown_words if word.startswith("-")), "").partition("=")[0]
    subject, word = f"{PROGRAM} {spell_name(args.method)}", unknown_words[0]
    if not flag:
        raise PrcError(f"{subject} takes one INPUT, a file or a pattern in quotes; got {word!r} as well")
    hint = suggest_arguments(
        flag.lstrip("-").replace("-", "_").lower(),
        {name: f"--{spell_name(name)}" for name in list_kinds(args.method)},
        weight_spelling="--weight",
        spelling=flag,
        target_names=TARGET_WORDS,
    )
    raise PrcError(f"{subject} has no option {flag!r}; {hint}")


def spell_name(name: str) -> str:
    """Return the name of a method or of an argument as a command line has it."""
    return name.replace("_", "-")


def build_parser(methods: Iterable[str], asked_name: str | None = None) -> RaisingParser:
    """Return the parser of the program, with the options of the command that is called, or of all."""
    settings: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    settings["allow_abbrev"] = False
    parser = RaisingParser(PROGRAM, description=_PROGRAM_HELP, epilog=_EXAMPLES_HELP, **settings)
    parser.fromfile_prefix_chars = "@"
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for method in methods:
        # The first sentence of the docstring, which `python -OO` has not.
        docstring = getattr(LazyFramePrc, method).__doc__ or ""
        about = " ".join(docstring.partition("\n\n")[0].split()).partition("; a LazyFrame")[0]
        command_parser = subparsers.add_parser(
            spell_name(method),
            help=about,
            description=textwrap.fill(about, 79),
            usage=f"{PROGRAM} {spell_name(method)} INPUT [options]",
            epilog=_FILES_HELP,
            argument_default=argparse.SUPPRESS,
            **settings,
        )
        if asked_name in (None, spell_name(method)):
            _add_options(command_parser, method)
    return parser


def _add_options(parser: argparse.ArgumentParser, method: str) -> None:
    """Add an option for each argument of a method."""
    input_help = "a file, a pattern such as 'days/*.parquet', or - for CSV from standard input"
    parser.add_argument("input", metavar="INPUT", help=input_help)
    targets, table = (parser.add_argument_group(title) for title in ("targets", "the table"))
    group_by_word: dict[str, Any] = dict.fromkeys((*TABLE_WORDS, "qrels"), table)
    group_by_word |= dict.fromkeys(TARGET_WORDS, targets)
    group_by_word |= dict.fromkeys(("label", "unlabelled"), table.add_mutually_exclusive_group())
    parameters = list_parameters(method)
    for name, kind in list_kinds(method).items():
        default = parameters[name].default if name in parameters else None
        description = describe_option(method, name)
        settings: dict[str, Any] = {"dest": name, "required": default is inspect.Parameter.empty}
        if not kind.metavar:  # a switch has no value; one of what is on by default turns it off
            description = re.sub("^True,? ", "", description)
            settings |= {"action": "store_const", "const": default is not True}
        else:
            settings |= {"metavar": kind.metavar, "nargs": "+" if kind.read_words else None}
        if type(default) in (str, int, float) and "(default" not in description:
            description += f" (default: {default})"
        flags = ["-o"] if name == "output" else []
        flags.append(f"--{'no-' if default is True else ''}{spell_name(name)}")
        group = group_by_word.get(name, parser)
        group.add_argument(*flags, help=description.replace("%", "%%"), **settings)
    parser.set_defaults(method=method)
