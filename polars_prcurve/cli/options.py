"""The options of all commands, each declared once: its name, its help, what it takes, what it needs.

An option is named after the argument of a method that it becomes. A new one is an `Option` here, and its
name in the list of each command that takes it, in `commands`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from polars_prcurve.cli.option_values import (
    ColumnValue,
    parse_budgets,
    parse_etas,
    parse_metrics,
    parse_range,
    parse_shares,
    parse_sizes,
    parse_threshold,
    parse_thresholds,
    parse_value,
    split_words,
)
from polars_prcurve.cli.table_files import TableFile
from polars_prcurve.intervals.bands import BandKind, TargetBandKind
from polars_prcurve.intervals.rates import RateMethod
from polars_prcurve.prevalence.estimate import EstimateMethod
from polars_prcurve.uncertainty.options import ErrorMethod

Given = Mapping[str, Any]
"""The options of a command line by argument, and what a method takes for others."""


@dataclass(frozen=True)
class Option:
    """An option of the command line, and how its words become an argument of a method."""

    flag: str
    metavar: str | tuple[str, ...] | None
    """A word that stands for the value; a tuple for that number of values; None for a switch."""
    help: str
    argument: str = ""
    """The argument of the method, if it is not called as the option is."""
    parse: Callable[[Sequence[str]], Any] | None = None
    """A function of all words that were given; without it, the words are the value."""
    is_list: bool = False
    """Whether the option takes several values, with spaces or commas between."""
    column: str = ""
    """The argument that names a column, whose dtype tells how to read the value."""
    parse_by_dtype: ColumnValue | None = None
    find_need: Callable[[Given], str] | None = None
    """A function of all that is given: what the option needs, if it has no effect beside the others."""
    how: dict[str, Any] = field(default_factory=dict)
    """Further arguments of `add_argument`."""

    @property
    def name(self) -> str:
        """The argument of the method."""
        return self.argument or self.flag.strip("-").replace("-", "_")

    def describe(self, help: str, **changes: Any) -> Option:
        """Return the option with another help, as one command takes it."""
        return replace(self, help=help, **changes)

    def take_one(self, help: str = "") -> Option:
        """Return the option as one that takes a single value."""
        return replace(self, help=help or self.help, is_list=False)

    def require(self) -> Option:
        """Return the option as one that a command cannot do without."""
        return replace(self, how={**self.how, "required": True})

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the option to the parser of a command."""
        how = {"help": self.help, "dest": self.name, **self.how}
        if self.metavar is None:
            how = {"action": "store_const", "const": True, **how}
        elif isinstance(self.metavar, tuple):
            how |= {"metavar": self.metavar, "nargs": len(self.metavar)}
        elif self.is_list:
            how |= {"metavar": self.metavar, "nargs": "+", "action": "extend"}
        elif "choices" not in how:
            how["metavar"] = self.metavar
        parser.add_argument(*(["-o"] if self.flag == "--output" else []), self.flag, **how)

    def read_value(self, words: Any) -> Any:
        """Return the value from what the parser read."""
        if self.parse is None:
            return words
        is_single = isinstance(words, str)
        value = self.parse([words] if is_single else words)
        return value[0] if is_single and isinstance(value, list) and len(value) == 1 else value


def _choice(flag: str, choices: Sequence[str], help: str, **more: Any) -> Option:
    """Return an option that takes one of a few words."""
    how: dict[str, Any] = {"choices": tuple(choices)}
    if len("".join(choices)) > 30:  # too long for the line on usage
        how["metavar"] = "KIND"
        help = f"{help}: {', '.join(choices)}"
    return Option(flag, "KIND", help, how=how, **more)


# What an option needs to have an effect ----------------------------------------------------------


def _need_confidence(given: Given) -> str:
    return "" if given.get("confidence") is not None else "--confidence"


def _need_eta(given: Given) -> str:
    return "" if given.get("eta") is not None else "--eta"


def _need_bootstrap(given: Given) -> str:
    has_bootstrap = given.get("method") == "bootstrap"
    needed = [_need_confidence(given), "" if has_bootstrap else "--method bootstrap"]
    return " and ".join(filter(None, needed))


def _need_examples(given: Given) -> str:
    in_place = [f"--{name}" for name in ("counts", "rates", "cells", "unlabelled") if name in given]
    return f"rows of examples, not {in_place[0]}" if in_place else ""


def _need_one_score(given: Given) -> str:
    in_place = [f"--{name}" for name in ("rates", "scores") if name in given]
    return f"scores, not {in_place[0]}" if in_place == ["--rates"] else _need_long(given)


def _need_long(given: Given) -> str:
    return "a row per model and example, not --scores" if "scores" in given else ""


def _need_scores(given: Given) -> str:
    in_place = [f"--{name}" for name in ("rates", "cells") if name in given]
    return f"scores, not {in_place[0]}" if in_place else ""


def _need_no_labels(given: Given) -> str:
    labels = [name for name in ("pos_label", "weight", "counts") if name in given]
    return f"rows without labels; leave out --{labels[0].replace('_', '-')}" if labels else ""


def _need_guarantee(given: Given) -> str:
    return "" if "guarantee" in given else "--guarantee"


# The table, its columns, and prevalences ---------------------------------------------------------

BY = Option(
    "--by",
    "COLUMN",
    "group columns; each group has a curve of its own",
    parse=split_words,
    is_list=True,
)
WITHIN = Option(
    "--within",
    "COLUMN",
    "columns that tell the parts of one field apart, such as countries; --eta is a file with them, eta "
    "and share",
    parse=split_words,
    is_list=True,
)
MODEL = Option("--model", "COLUMN", "one more group column, after those of --by", find_need=_need_long)
THE_MODEL = MODEL.describe("the column that names the models (default: model)")
SCORE = Option(
    "--score",
    "COLUMN",
    "larger means more positive (default: score)",
    find_need=_need_one_score,
)
SCORES = Option(
    "--scores",
    "COLUMN",
    "score columns, one per model, of a wide table with a row per example",
    parse=split_words,
    is_list=True,
    find_need=_need_scores,
)
LABEL = Option(
    "--label",
    "COLUMN",
    "true or false, 1 or 0, 1 or -1 (default: label)",
    find_need=_need_examples,
)
POS_LABEL = Option(
    "--pos-label",
    "VALUE",
    "the positive value, if labels are anything else",
    column="label",
    parse_by_dtype=parse_value,
)
WEIGHT = Option("--weight", "COLUMN", "a number >= 0 per row")
COUNTS = Option(
    "--counts",
    "COLUMN",
    "two columns of counts per score, in place of a label; of weights, two more with sums of squares",
    parse=split_words,
    is_list=True,
)
RATES = Option("--rates", ("TPR", "FPR"), "columns of published ROC points, in place of score and label")
SIZES = Option(
    "--sizes",
    ("N_POS", "N_NEG"),
    "numbers of positives and negatives behind --rates, or columns of them",
    parse=parse_sizes,
)
CELLS = Option(
    "--cells",
    ("TP", "FP", "FN", "TN"),
    "columns of cumulative counts per threshold, in place of a label",
)
MISSING = _choice(
    "--missing",
    ("raise", "drop"),
    "on an empty score, label or weight, stop (the default) or drop the row",
)
ETA = Option(
    "--eta",
    "SHARE",
    "prevalences: shares such as 0.001 or 1/1000; ratios of positives to negatives such as 1:999; own, "
    "each group's own (the default); or a file with a column eta, or k positives among n examples, and "
    "any of the group columns",
    parse=parse_etas,
    is_list=True,
)
SHARE = Option("--share", "COLUMN", "the column of the --eta file with shares (default: share)")
NAME = Option("--name", "COLUMN", "the name of the new column (default: weight)")
UNLABELLED = Option("--unlabelled", None, "count rows without labels", find_need=_need_no_labels)

# Metrics, targets and thresholds -----------------------------------------------------------------

METRICS = Option("--metrics", "METRIC", "what to compute; see below", parse=parse_metrics, is_list=True)
METRIC = Option("--metric", "METRIC", "the metric that ranks models; see below", parse=parse_metrics)
THRESHOLD = Option(
    "--threshold",
    "SCORE",
    "target: this threshold; or a file with a column threshold, any of the group columns, and eta if "
    "thresholds differ by prevalence, such as the --output of points",
    parse=parse_thresholds,
    is_list=True,
    column="score",
    parse_by_dtype=parse_threshold,
)


def _target(flag: str, metavar: str, help: str) -> Option:
    """Return an option that takes the shares or factors of a target."""
    return Option(flag, metavar, f"target: {help}", parse=parse_shares, is_list=True)


RECALL = _target("--recall", "SHARE", "the highest threshold with at least this recall")
FPR = _target("--fpr", "SHARE", "the lowest with at most this false positive rate")
PRECISION = _target("--precision", "SHARE", "the lowest with at least this precision at --eta")
NPV = _target("--npv", "SHARE", "the highest with at least this npv at --eta")
FDR = _target("--fdr", "SHARE", "the lowest with at most this fdr at --eta")
LIFT = _target("--lift", "FACTOR", "the lowest with at least this lift at --eta")
PREDICTED_POSITIVE_RATE = _target(
    "--predicted-positive-rate", "SHARE", "the lowest that flags at most this share at --eta"
)
ALERTS = Option(
    "--alerts",
    "ALERTS/EVENTS",
    "target: the lowest with at most these alerts among events at --eta, such as 500/2000000",
    parse=parse_budgets,
    is_list=True,
)
MAXIMIZE = Option(
    "--maximize",
    "METRIC",
    "target: the best by a metric, such as f1",
    parse=parse_metrics,
    is_list=True,
)
GUARANTEE = Option(
    "--guarantee",
    "LEVEL",
    "a level such as 0.95: thresholds that meet their targets in truth, in this share of test sets",
    how={"type": float},
)
START = Option(
    "--start",
    "SCORE",
    "where the tests of --guarantee start, fixed before the labels were seen (default: by counts); or "
    "a file, as in --threshold",
    parse=parse_thresholds,
    column="score",
    parse_by_dtype=parse_threshold,
    find_need=_need_guarantee,
)
TOGETHER = Option("--together", None, "one threshold that meets all targets")
PER = Option(
    "--per",
    "EVENTS",
    "show the alerts among this number of events (default: the events of --alerts)",
    how={"type": float},
)
THRESHOLDS = Option(
    "--thresholds",
    "N",
    "only the thresholds at which recall reaches 1/N, 2/N, ...",
    how={"type": int},
)
DROP_INTERMEDIATE = Option(
    "--drop-intermediate", None, "leave out rows inside runs of negatives; the curves stay the same"
)
PROBABILITIES = Option(
    "--probabilities",
    "SHARE",
    "the risks at which users act (default: 0.01, 0.02, ... 0.99)",
    parse=parse_shares,
    is_list=True,
)
ETA_RANGE = Option(
    "--eta-range",
    ("LOW", "HIGH"),
    "the prevalences to search (default: 0.000001 0.5)",
    parse=parse_range,
)
BUDGET = Option("--budget", "ROWS", "how many rows to label next", how={"type": int, "required": True})
STRATA = Option(
    "--strata",
    "N",
    "into how many ranges the scores are cut, half of them above the threshold (default: 20)",
    how={"type": int},
)
DELTA = Option(
    "--delta",
    "WIDTH",
    "the width of the band of precision, upper minus lower end (default: 0.1)",
    how={"type": float},
)
RELATIVE = Option(
    "--relative",
    None,
    "--delta is a share of the precision at --eta: 0.5 is a band half as wide as precision is high",
    find_need=_need_eta,
)
ASSURANCE = Option(
    "--assurance",
    "SHARE",
    "the share of test sets of that size whose band is as narrow (default: 0.8)",
    how={"type": float},
)

# Intervals ---------------------------------------------------------------------------------------

CONFIDENCE = Option(
    "--confidence", "LEVEL", "add intervals of this level, such as 0.95", how={"type": float}
)
LEVEL = CONFIDENCE.describe("level of all intervals (default: 0.95)")
INTERVAL = _choice(
    "--interval",
    get_args(RateMethod),
    "the interval of recall and of fpr, wilson if left out",
    find_need=_need_confidence,
)
_KINDS_OF_BAND = (
    "mover (the default) holds the level on average, rectangle at least; both at one threshold; "
    "simultaneous holds at all thresholds at once"
)
BAND = _choice("--band", get_args(BandKind), _KINDS_OF_BAND, find_need=_need_confidence)
TARGET_BAND = _choice(
    "--band",
    get_args(TargetBandKind),
    _KINDS_OF_BAND + "; moving is of the model at the target, which moves the threshold",
    find_need=_need_confidence,
)
METHOD = _choice(
    "--method",
    get_args(ErrorMethod),
    "how to compute intervals; bootstrap knows all metrics, and holds the scores in memory",
    find_need=_need_confidence,
)
CORRECTION = METHOD.describe("bootstrap corrects the values that --maximize found for their optimism")
RATE_METHOD = _choice(
    "--method", get_args(RateMethod), "the interval of recall and of fpr, wilson if left out"
)
RESAMPLES = Option(
    "--resamples",
    "N",
    "number of replicates of the bootstrap (default: 1000)",
    argument="n_resamples",
    find_need=_need_bootstrap,
    how={"type": int},
)
SEED = Option(
    "--seed",
    "N",
    "seed of the bootstrap, which makes it reproducible",
    find_need=_need_bootstrap,
    how={"type": int},
)
CLUSTER = Option(
    "--cluster",
    "COLUMN",
    "rows with the same value, such as a patient, belong together in intervals",
    find_need=_need_confidence,
)
SMOOTH = _choice("--smooth", ("binormal",), "the fit of a normal distribution to each class")
COARSE = Option(
    "--coarse",
    None,
    "limits of each metric: over all orders of equal scores, or of what lies between --rates",
)
LONG = Option("--long", None, "a row per metric, in place of a column per metric")
ID = Option(
    "--id",
    "COLUMN",
    "columns that tell examples apart, if all models scored the same ones, to compare them in pairs",
    parse=split_words,
    is_list=True,
    find_need=_need_long,
)
NO_PAIRED = Option(
    "--no-paired",
    None,
    "each model, such as a country, has examples of its own",
    argument="paired",
    how={"const": False},
)
WORST = Option("--worst", None, "only the best and the worst model, with an interval for all pairs")
ADJUST = _choice("--adjust", ("holm",), "adjust intervals and p-values for several pairs")

# Estimates of prevalence -------------------------------------------------------------------------

ETA_TRAIN = Option(
    "--eta-train", "SHARE", "the prevalence at which scores are posteriors", how={"type": float}
)
ESTIMATE_METHOD = _choice(
    "--method",
    get_args(EstimateMethod),
    "posteriors (the default) needs --eta-train, and mixture any scores and a --reference",
)
REFERENCE = Option(
    "--reference",
    "FILE",
    "a file or a pattern of examples with scores and labels",
    parse=lambda words: TableFile(words[0]),
)
REFERENCE_COUNTS = Option(
    "--reference-counts", ("N_POS", "N_NEG"), "columns of counts in --reference, in place of labels"
)
ROW_COUNTS = Option("--counts", "N", "a column with the number of rows that a row stands for")
TOLERANCE = Option(
    "--tolerance",
    "STEP",
    "for posteriors, stop when the estimate moves by less (default: 1e-12)",
    how={"type": float},
)
MAX_ITERATIONS = Option(
    "--max-iterations",
    "N",
    "for posteriors, stop at the latest after this number of steps (default: 10000)",
    how={"type": int},
)

# Reports and output ------------------------------------------------------------------------------

TITLE = Option("--title", "TEXT", "the title of the report")
DATE = Option("--date", "TEXT", "a date to print, since a report looks at no clock")
NOTES = Option("--notes", "TEXT", "a text of your own")
OUTPUT = Option(
    "--output",
    "FILE",
    "stream rows to this file, so that tables may exceed memory; - is CSV to standard output. "
    "Without it a terminal shows the first 50 rows, and a pipe gets all as CSV",
)
REPORT_OUTPUT = OUTPUT.describe("the file to write (default: %(default)s)")

# What many commands take -------------------------------------------------------------------------

INPUT_OPTIONS = [BY, MODEL, SCORE, SCORES, LABEL, POS_LABEL, WEIGHT, COUNTS]
"""What a table of examples, or of counts, holds."""
TABLE_OPTIONS = [*INPUT_OPTIONS, RATES, SIZES, CELLS, MISSING]
"""What any table holds."""
BOOTSTRAP_OPTIONS = [RESAMPLES, SEED, CLUSTER]
_TARGET_OPTIONS = [THRESHOLD, RECALL, FPR, PRECISION, NPV, FDR, LIFT, PREDICTED_POSITIVE_RATE, ALERTS]
TARGETS = {option.name for option in _TARGET_OPTIONS}
"""The arguments that are targets."""
