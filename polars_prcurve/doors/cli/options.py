"""The options of all commands: kinds of values, and one option for each argument of a method."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple, get_args

import polars as pl

from polars_prcurve.core.confidence.intervals import Intervals, intervals
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.inputs.threshold_values import read_threshold_list, to_least_scores
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS, TargetKind
from polars_prcurve.core.prevalence.eta_grid import read_fraction, read_share_text
from polars_prcurve.core.prevalence.result_columns import ResultColumns
from polars_prcurve.doors.cli.table_files import TableFile, find_format


def split_words(words: Sequence[str]) -> list[str]:
    """Return the words, with those that have commas split at these."""
    return [value_text.strip() for word in words for value_text in word.split(",") if value_text.strip()]


class Kind(NamedTuple):
    """A kind of value."""

    metavar: str | tuple[str, ...]
    """A word that stands for the value; a tuple for that number of values; empty for a switch."""
    expects: str = ""  # what the option takes, as an error says it
    read_word: Callable[[str], Any] = str
    """Return the value of a word; a `ValueError` or an `ArithmeticError` is for a word that is none."""
    takes_several: bool = False
    split: Callable[[Sequence[str]], list[str]] = list  # from words to those of single values
    number_columns: tuple[str, ...] = ()
    """Columns of numbers in a file that may stand in place of values; none for no such file."""
    column: str = ""  # the argument that names a column, whose dtype tells how to read the words
    choices: tuple[str, ...] = ()

    def read(self, flag: str, words: Any) -> Any:
        """Return what the words of an option say: a value, a list of several, or a file."""
        if not self.metavar:
            return words
        words_of_option = [words] if isinstance(words, str) else words
        if self.number_columns and len(words_of_option) == 1 and find_format(words_of_option[0]):
            return TableFile(words_of_option[0], self.number_columns)
        values, word = [], " ".join(words_of_option)
        try:
            for word in self.split(words_of_option):
                values.append(self.read_word(word))
        except PrcError:
            raise
        except (ValueError, ArithmeticError):
            raise PrcError(f"{flag} takes {self.expects}; got {word!r}") from None
        return values[0] if len(values) == 1 and values != [None] else values


def parse_number(word: str) -> float:
    """Return the number that a word says; 60% is 0.6."""
    return float(read_fraction(word[:-1]) / 100) if word.endswith("%") else float(read_fraction(word))


def parse_eta(word: str) -> float | None:
    """Return the prevalence that a word says, or None for each group's own."""
    if word == "own":
        return None
    return read_share_text(word)


def split_etas(words: Sequence[str]) -> list[str]:
    """Return the words split at commas, except at those between thousands, as in `1 in 1,000`."""
    return [eta_text.strip() for word in words for eta_text in _ETA.findall(word) if eta_text.strip()]


_ETA = re.compile(r"[^,]*\bin\s*[1-9]\d{0,2}(?:,\d{3}(?![\d.:/]|\s+in\b))+|[^,]+")
"""One prevalence: `... in 1,000`, whose commas stand before three digits that end there, or all up to a
comma."""


def read_budget(word: str) -> tuple[Fraction, Fraction]:
    """Return the two numbers of `ALERTS/EVENTS`."""
    alerts, events = map(read_fraction, word.split("/"))
    if not 0 <= alerts <= events or events == 0:
        raise ValueError
    return alerts, events


def read_confidence(word: str) -> float | Intervals:
    """Return a level, or what `intervals()` makes of words after it: `95%,method=bootstrap,seed=1`."""
    single_words = split_words([word]) or [""]
    default_of_argument = {
        name: parameter.default for name, parameter in inspect.signature(intervals).parameters.items()
    }
    arguments: dict[str, Any] = {}
    if single_words[0].partition("=")[0] not in default_of_argument:
        arguments["level"] = level = parse_number(single_words.pop(0))
        if not single_words:
            return level
    for single_word in single_words:
        name, equals_sign, value = single_word.partition("=")
        if name not in default_of_argument:
            raise PrcError(
                f"--confidence has no option {name!r}; {suggest_names(name, default_of_argument)}"
            )
        if bool(equals_sign) == isinstance(default_of_argument[name], bool):
            raise ValueError
        is_text = isinstance(default_of_argument[name], str)
        arguments[name] = True if not equals_sign else value if is_text else int(value)
    return intervals(**arguments)


def read_below(word: str) -> tuple[int, int | None]:
    """Return the two numbers of `N_POS/N_NEG`, of which that of negatives may be `unknown`."""
    n_pos, n_neg = word.split("/")
    return int(n_pos), None if n_neg == "unknown" else int(n_neg)


def split_metrics(words: Sequence[str]) -> list[str]:
    """Return metrics as tables name them: `f1`, `f_beta(2)`, `best(f1)`."""
    try:
        tree = ast.parse(",".join(word.strip(" ,") for word in words), mode="eval").body
    except SyntaxError:
        raise ValueError from None
    return [ast.unparse(node) for node in (tree.elts if isinstance(tree, ast.Tuple) else [tree])]


def refuse_file(word: str) -> str:
    """Return the word of a number, which the dtype of a column tells how to read."""
    if find_format(word):
        raise ValueError
    return word


def read_table_file(
    option: str, *names: str, or_rate: bool = False
) -> Callable[[str], TableFile | tuple[str, Any] | float]:
    """Return what reads a file of another table or words about it, and with `or_rate` also a number."""

    def read(word: str) -> TableFile | tuple[str, Any] | float:
        name, equals_sign, columns_text = word.partition("=")
        if equals_sign and name in names:
            return name, COLUMNS.read(f"{option} {name}=", columns_text)
        return parse_number(word) if or_rate and not find_format(word) else TableFile(word)

    return read


# Kinds -------------------------------------------------------------------------------------------


SWITCH = Kind("")  # --together: is there, or is not
COLUMN = Kind("COLUMN")  # --label sick
COLUMNS = Kind("COLUMN", takes_several=True, split=split_words)  # --by country year
# --sizes 120 4000, or the names of the columns that hold them
SIZES = Kind(("N_POS", "N_NEG"), read_word=lambda word: int(word) if word.isdecimal() else word)
BELOW = Kind(  # --below 12/340
    "N_POS/N_NEG",
    expects="two numbers, such as 12/340 or 12/unknown, or one file",
    read_word=read_below,
    number_columns=("n_pos", "n_neg"),
)
STATUS_WORDS = Kind("STATUS", split=split_words, takes_several=True)  # --fail-unless met,winner
TEXT = Kind("TEXT")  # --title "Fraud in May"
WHOLE = Kind("N", expects="a whole number", read_word=int)  # --budget 500
NUMBER = Kind("N", expects="a number", read_word=parse_number)  # --per 1000
SHARE = Kind("SHARE", expects="a share, such as 0.9 or 90%", read_word=parse_number)  # --delta 10%
SHARES = Kind(  # --recall 50% 90%
    "SHARE",
    expects="shares, such as 0.9 or 90%",
    read_word=parse_number,
    takes_several=True,
    split=split_words,
)
FACTORS = Kind(  # --lift 5
    "FACTOR", expects="factors, such as 5", read_word=parse_number, takes_several=True, split=split_words
)
ETAS = Kind(  # --eta 1% 1:5000 own, or --eta field.csv
    "SHARE",
    expects="shares such as 0.001, 0.1%, 1/1000 or, in quotes, '1 in 1000', ratios such as 1:999, own, "
    "or one file",
    read_word=parse_eta,
    takes_several=True,
    split=split_etas,
    number_columns=("eta", "k", "n"),
)
ETA_RANGE = Kind(  # --eta-range 0.001 0.1
    ("LOW", "HIGH"), expects="two prevalences, such as 0.001 or 1/1000", read_word=parse_eta
)
BUDGETS = Kind(  # --alerts 500/2000000
    "ALERTS/EVENTS",
    expects="ALERTS/EVENTS, such as 500/2000000",
    read_word=read_budget,
    takes_several=True,
    split=split_words,
)
CONFIDENCE = Kind(  # --confidence 95%,method=bootstrap
    "LEVEL",
    expects="a level such as 0.95 or 95%, and after commas options such as method=bootstrap",
    read_word=read_confidence,
)
METRICS = Kind(  # --metrics precision "f_beta(2)"
    "METRIC",
    expects="metrics, such as f1, f_beta(2) or best(f1)",
    takes_several=True,
    split=split_metrics,
)
METRIC = METRICS._replace(takes_several=False)  # --metric pr_auc
ROW_CHOICE = Kind(  # --thresholds 100, or --thresholds corners
    "N",
    expects="a number of steps of recall, or corners",
    read_word=lambda word: word if word == "corners" else int(word),
)
THRESHOLDS = Kind(  # --threshold 0.5 0.7, or --threshold points.csv
    "SCORE",
    expects="numbers, or one file",
    read_word=refuse_file,
    takes_several=True,
    split=split_words,
    number_columns=("eta", "threshold"),
    column="score",
)
THRESHOLD = THRESHOLDS._replace(takes_several=False)  # --start 0.5
# --threshold of a sampling plan, which has one for all groups
SCORE = Kind("SCORE", expects="one number here, and no file", read_word=refuse_file, column="score")
VALUE = Kind("VALUE", column="label")  # --pos-label spam
PLAN = Kind(  # --plan plan.csv
    "FILE",
    expects="a file",
    read_word=TableFile,
    number_columns=("score_low", "score_high", "n"),
    column="score",
)
REFERENCE = Kind(  # --reference test.csv counts=n_pos,n_neg
    "FILE",
    expects="a file",
    read_word=read_table_file("--reference", "score", "label", "counts"),
    takes_several=True,
)
REFERENCE_OR_RATE = Kind(  # --reference 80%
    "FILE",
    expects="a file, or a rate such as 0.8 or 80%",
    read_word=read_table_file("--reference", "score", "label", "counts", "cells", or_rate=True),
    takes_several=True,
)
OTHER = Kind(  # --other reader.csv cells=a,b,c,d
    "FILE", expects="a file", read_word=read_table_file("--other", "cells"), takes_several=True
)


# Values of a column, whose dtype tells how they are read -----------------------------------------

_DIGITS = 38  # the most digits that a Decimal column holds


def parse_threshold(option: str, text: str, dtype: pl.DataType) -> Any:
    """Return a threshold from text: any number. For floats it is the score that is printed so."""
    if dtype.is_float() or (dtype == pl.Boolean and text.lower() in ("true", "false")):
        return parse_value(option, text, dtype)
    try:
        return Decimal(text)
    except InvalidOperation:
        raise PrcError(f"{option} takes a number; got {text!r}") from None


def parse_threshold_column(option: str, column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return the thresholds in a column of a text file, each as `parse_threshold` reads it."""
    texts = [None if value is None else str(value) for value in column]
    numbers = [None if text is None else parse_threshold(option, text, dtype) for text in texts]
    if dtype.is_float():
        return pl.Series(column.name, numbers, dtype=dtype)
    exact_numbers = [
        exact_number
        if exact_number is None
        else read_threshold_list("threshold", [exact_number], dtype)[0]
        for exact_number in numbers
    ]
    scores = to_least_scores(exact_numbers, dtype)
    if all(
        number is None or number == score for number, score in zip(exact_numbers, scores, strict=True)
    ):
        return scores.alias(column.name)
    # Numbers that are no scores keep all their digits.
    decimals = [None if exact_number is None else Decimal(exact_number) for exact_number in numbers]
    finite_decimals = [
        exact_number
        for exact_number in decimals
        if exact_number is not None and exact_number.is_finite()
    ]
    n_places = max(
        (-int(exact_number.as_tuple().exponent) for exact_number in finite_decimals), default=0
    )
    n_places, n_whole_digits = (
        max(0, n_places),
        max((exact_number.adjusted() + 1 for exact_number in finite_decimals), default=0),
    )
    if (
        len(finite_decimals) + decimals.count(None) < len(decimals)
        or n_places + n_whole_digits > _DIGITS
    ):
        raise PrcError(f"{option} takes numbers of up to {_DIGITS} digits from a file")
    return pl.Series(column.name, decimals, dtype=pl.Decimal(_DIGITS, n_places))


def parse_value(option: str, text: str, dtype: pl.DataType) -> Any:
    """Return the text as a value of this dtype, which a column of the table has."""
    if dtype in (pl.String, pl.Enum, pl.Categorical):
        return text
    try:
        if dtype == pl.Boolean:
            return {"true": True, "false": False}[text.lower()]
        return Decimal(text) if dtype == pl.Decimal else pl.Series([text]).cast(dtype).item()
    except (KeyError, InvalidOperation, pl.exceptions.PolarsError):
        raise PrcError(f"{option} takes a value of a column of {dtype}; got {text!r}") from None


# Options -----------------------------------------------------------------------------------------


class Option(NamedTuple):
    """An option of the command line, named after the argument of a method that it becomes."""

    kind: Kind
    help: str


def _describe_target(kind: TargetKind) -> Option:
    """Return the option of a target that says nothing of itself but what its kind does."""
    value_kind = {"share": SHARES, "factor": FACTORS, "number": BUDGETS}[kind.values]
    end_word = "highest" if kind.takes_first else "lowest"
    limit_word = "most" if kind.is_at_most else "least"
    place_phrase = " at --eta" if kind.metric.depends_on_eta else ""
    return Option(
        value_kind,
        f"the {end_word} with at {limit_word} this {kind.word.replace('_', ' ')}{place_phrase}",
    )


OPTIONS = {  # by the argument that each becomes; a command may differ in some, see `Command.changes`
    # What the table holds.
    "score": Option(
        COLUMNS, "larger means more positive; several columns are a model each, of the same examples"
    ),
    "label": Option(COLUMN, "true or false, 1 or 0, 1 or -1"),
    "pos_label": Option(VALUE, "the positive value, if labels are anything else"),
    "by": Option(COLUMNS, "group columns; each group has a curve of its own"),
    "model": Option(COLUMN, "one more group column, after those of --by"),
    "id": Option(
        COLUMNS,
        "columns that identify an example, if all models scored the same ones, for paired comparisons",
    ),
    "weight": Option(COLUMN, "a number >= 0 per row"),
    "stratum": Option(COLUMN, "rows of one value, with one --weight, were drawn together, in intervals"),
    "cluster": Option(COLUMN, "rows of one value, such as a patient, belong together in intervals"),
    "counts": Option(
        COLUMNS,
        "two columns of counts per score, instead of a label; with weights, two more with sums of "
        "squares",
    ),
    "rates": Option(Kind(("TPR", "FPR")), "columns of published ROC points, instead of a label"),
    "sizes": Option(SIZES, "numbers of positives and negatives behind --rates, or their columns"),
    "cells": Option(
        Kind(("TP", "FP", "FN", "TN")), "columns of cumulative counts per threshold, instead of a label"
    ),
    "below": Option(
        BELOW,
        "examples that were never scored, which lie below all scores: 12/340, or 12/unknown; of each "
        "group, or a file with the group columns, n_pos and n_neg",
    ),
    "missing": Option(
        Kind("KIND", choices=("raise", "drop", "below")),
        "on an empty score, label or weight, stop or drop the row; below: an empty score lies below all",
    ),
    "unlabelled": Option(SWITCH, "count rows without labels"),
    "table": Option(
        Kind("FILE"),
        "a TOML file of arguments that describe the table, such as score = 'p' and by = ['country']; "
        "an option overrides it",
    ),
    # Targets.
    "threshold": Option(
        THRESHOLDS,
        "this threshold; or a file with a column threshold, any of the group columns, and eta if "
        "thresholds differ by prevalence, such as the --output of operating-points",
    ),
    **{word: _describe_target(kind) for word, kind in TARGET_KINDS.items()},
    "recall": Option(SHARES, "the highest threshold with at least this recall"),
    "fpr": Option(SHARES, "the lowest with at most this false positive rate"),
    "predicted_positive_rate": Option(SHARES, "the lowest that flags at most this share at --eta"),
    "alerts": Option(
        BUDGETS, "the lowest with at most these alerts among events at --eta, such as 500/2000000"
    ),
    "per": Option(NUMBER, "show the alerts among this number of events (default: those of --alerts)"),
    "maximize": Option(METRICS, "the best by a metric, such as f1"),
    # What is asked.
    "eta": Option(
        ETAS,
        "prevalences: shares such as 0.001, 0.1% or 1/1000; ratios of positives to negatives such as "
        "1:999; own, each group's own (the default); or a file with a column eta, or k positives among "
        "n examples, and any of the group columns",
    ),
    "parts": Option(
        COLUMNS,
        "columns that name the subpopulations, such as countries; --eta is a file with them, "
        "eta and share",
    ),
    "metrics": Option(METRICS, "what to compute; see below"),
    "metric": Option(METRIC, "the metric that ranks models; see below"),
    "confidence": Option(
        CONFIDENCE, "the level of intervals, such as 95%, or 95%,method=bootstrap,seed=1; see below"
    ),
    "guarantee": Option(
        SHARE,
        "a level such as 0.95: choose thresholds that meet the targets with this confidence",
    ),
    "start": Option(
        THRESHOLD,
        "where the tests of --guarantee start, fixed before the labels were seen (default: by counts); "
        "or a file, as in --threshold",
    ),
    "together": Option(SWITCH, "one threshold that meets all targets"),
    "thresholds": Option(
        ROW_CHOICE,
        "only the thresholds at which recall reaches 1/N, 2/N, ...; or corners, which leaves out rows "
        "inside runs of negatives: the curves stay the same",
    ),
    "smooth": Option(
        Kind("KIND", choices=("binormal",)), "the fit of a normal distribution to each class"
    ),
    "coarse": Option(
        SWITCH, "limits of each metric: over all orders of equal scores, or of what lies between --rates"
    ),
    "mean_over": Option(
        COLUMNS, "columns of groups, such as topics, over which a mean and its error are taken"
    ),
    "long": Option(SWITCH, "a row per metric instead of a column per metric"),
    "columns": Option(
        Kind("KIND", choices=get_args(ResultColumns)),
        "the columns that fit a screen, or all (default: short on a terminal, else all)",
    ),
    "probabilities": Option(SHARES, "the risks at which users act (default: 0.01, 0.02, ... 0.99)"),
    "eta_train": Option(SHARE, "the prevalence at which scores are posteriors"),
    "other": Option(
        OTHER,
        "a file with one point of other examples, such as a human reader, in the columns tp, fp, fn and "
        "tn, or cells=a,b,c,d; with --match",
    ),
    "match": Option(
        Kind("RATE", choices=("recall", "fpr")), "cut the scores where they have this rate of --other"
    ),
    "paired": Option(SWITCH, "each model, such as a country, has examples of its own"),
    "worst": Option(SWITCH, "only the best and the worst model, with an interval for all pairs"),
    "margin": Option(
        SHARE, "by how much model a, the first of --score, may be worse, such as 2%: column not_worse"
    ),
    "adjust": Option(Kind("KIND", choices=("holm",)), "adjust intervals and p-values for several pairs"),
    "of": Option(
        Kind("KIND", choices=("pr", "roc")),
        "where a metric is equal, or where the ROC curves cross at any prevalence",
    ),
    "leaders": Option(
        SWITCH,
        "the best model in each range of prevalences; with --of roc, models that are nowhere worse",
    ),
    "eta_range": Option(ETA_RANGE, "the prevalences to search"),
    "delta": Option(SHARE, "the width of the band of precision, upper minus lower end"),
    "solve_for": Option(
        Kind("KIND", choices=("n", "eta")),
        "how many examples are needed, or the least prevalence at which those of this table are enough",
    ),
    "relative": Option(
        SWITCH,
        "--delta is a share of the precision at --eta: 0.5 is a band half as wide as precision is high",
    ),
    "assurance": Option(SHARE, "the share of test sets of that size whose band is as narrow"),
    "plan": Option(
        PLAN, "the table of sampling-plan, a file: the rows that each labelled row represents"
    ),
    "budget": Option(WHOLE, "how many rows to label next"),
    "strata": Option(WHOLE, "into how many ranges scores are cut, half of them above the threshold"),
    "reference": Option(
        REFERENCE,
        "a file or a pattern of examples with scores and labels, and what its columns hold, if that "
        "differs: counts=n_pos,n_neg, score=p or label=sick",
    ),
    "time": Option(COLUMN, "the column of the period, such as a week; its values stand in their order"),
    "name": Option(TEXT, "the name of the new column"),
    "report": Option(Kind("FILE"), "write the decision as one HTML file to send"),
    "page": Option(Kind("FILE"), "write a page to move the score, the prevalence and the costs"),
    "title": Option(TEXT, "the title of the report"),
    "date": Option(TEXT, "a date to print, since a report looks at no clock"),
    "fail_unless": Option(
        STATUS_WORDS,
        "exit with 1 unless the verdict is one of these: met, for the demand of a target beside "
        "--threshold or of --guarantee, or statuses such as winner; of compare, not_worse or "
        "significant, true in every row; errors exit with 2",
    ),
    "notes": Option(TEXT, "a text of your own"),
    "output": Option(
        Kind("FILE"),
        "stream rows to this file, so that tables may exceed memory; - is CSV to standard output. "
        "Without it a terminal shows the first 50 rows, and a pipe gets all as CSV",
    ),
}


def name_flag(name: str, default: object = None) -> str:
    """Return the option of an argument; a switch of what is on by default turns it off."""
    return f"--{'no-' if default is True else ''}{name.replace('_', '-')}"


def add_option(group: Any, name: str, option: Option, default: Any = None) -> None:
    """Add an option to a group of options; without a default it is required."""
    kind, description = option
    settings: dict[str, Any] = {"dest": name, "required": default is inspect.Parameter.empty}
    if not kind.metavar:
        settings |= {"action": "store_const", "const": default is not True}
    elif kind.choices:
        settings["choices"] = kind.choices
    elif isinstance(kind.metavar, tuple):
        settings |= {"metavar": kind.metavar, "nargs": len(kind.metavar)}
    else:
        settings["metavar"] = kind.metavar
        settings |= {"nargs": "+", "action": "extend"} if kind.takes_several else {}
    default_values = default if isinstance(default, tuple) else (default,)
    if (
        all(type(value) in (str, int, float) for value in default_values)
        and "(default" not in description
    ):
        description += f" (default: {' '.join(map(str, default_values))})"
    flags = [*(["-o"] if name == "output" else []), name_flag(name, default)]
    group.add_argument(*flags, help=description.replace("%", "%%"), **settings)
