"""The commands: what each is called, the method that it asks, and the options that it takes.

A new command is one `_add_...` function, listed in `build_parser`. A new option of a command is its name
in the list of that function.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from polars_prcurve import __version__, metrics
from polars_prcurve.cli import options as o
from polars_prcurve.cli.file_methods import FilePrc
from polars_prcurve.cli.messages import RaisingParser
from polars_prcurve.cli.notes import PROGRAM
from polars_prcurve.cli.option_values import parse_number_word, split_words
from polars_prcurve.cli.report_commands import write_demo, write_report
from polars_prcurve.cli.table_command import write_table
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.metrics.metric import list_factories
from polars_prcurve.metrics.names import format_signature
from polars_prcurve.metrics.point_metric import PointMetric

_ABOUT = """\
Precision-recall analysis at any prevalence. Measure a classifier once, on a
table with a row per example, its score and its label; see what it does where
1 in 2, 1 in 250 or 1 in 10 000 is positive.

Prevalence (--eta) is the share of positives: 0.001 is 1 in 1 000. With a colon
it is a ratio of positives to negatives: 1:5000 is 1 positive to 5 000 negatives,
and 1/5000 is 1 positive in 5 000 events.
"""
_EXAMPLES = """\
examples:
  Which model is better where 1 in 1 000 is positive? Areas of each:
    polars-prcurve summary scores.parquet --by model --eta 0.001

  Which threshold has a precision of 0.9? Which one gives 500 alerts a day,
  among 2 million events?
    polars-prcurve points scores.csv --eta 1:5000 --precision 0.9 --alerts 500/2000000

  Is one of two models better for sure? Each has a column of scores:
    polars-prcurve compare scores.csv --scores forest,logistic --eta 0.001

  A report on both models, to send to those who decide:
    polars-prcurve report scores.parquet --model model --eta 0.001 0.01 -o report.html

  Precision and F1 at all thresholds, at a prevalence of 1 % and at that of the
  table, into a file:
    polars-prcurve curve scores.parquet --eta 0.01 own --metrics precision f1 -o curve.parquet

polars-prcurve COMMAND --help tells the options of a command.
"""
_FILES_HELP = """\
The end of a file's name tells its format: .parquet, .csv, .tsv, .ndjson,
.jsonl, .arrow, .feather or .ipc. An option of several values takes them with
spaces or commas between; INPUT comes before such options.
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the program, with all commands."""
    style = argparse.RawDescriptionHelpFormatter
    parser = RaisingParser(
        prog=PROGRAM, description=_ABOUT, epilog=_EXAMPLES, formatter_class=style, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        *(_add_curve, _add_summary, _add_points, _add_decision_curve),
        *(_add_compare, _add_ranking, _add_crossings, _add_leaders),
        *(_add_sample_size, _add_resolution, _add_sampling_plan),
        *(_add_estimate, _add_reweight, _add_counts),
        *(_add_report, _add_demo),
    ):
        add(commands)
    return parser


def _add_curve(commands: Any) -> None:
    _add_table_command(
        commands,
        "curve",
        FilePrc.curve,
        "precision at every threshold and prevalence",
        [
            *o.TABLE_OPTIONS,
            o.WITHIN,
            o.ETA,
            o.METRICS,
            o.CONFIDENCE,
            o.INTERVAL,
            o.BAND,
            o.THRESHOLDS,
            o.DROP_INTERMEDIATE,
            o.SMOOTH,
            o.LONG,
            o.CLUSTER,
        ],
        columns=("threshold", "value"),
        metrics_of=[PointMetric],
    )


def _add_summary(commands: Any) -> None:
    _add_table_command(
        commands,
        "summary",
        FilePrc.summary,
        "average precision and areas, at each prevalence",
        [
            *o.TABLE_OPTIONS,
            o.WITHIN,
            o.ETA,
            o.METRICS,
            o.CONFIDENCE,
            o.METHOD,
            *o.BOOTSTRAP_OPTIONS,
            o.SMOOTH,
            o.COARSE,
        ],
        columns=("value", "reliable"),
        metrics_of=[CurveMetric],
    )


def _add_points(commands: Any) -> None:
    _add_table_command(
        commands,
        "points",
        FilePrc.operating_points,
        "the threshold that meets a target",
        [
            *o.TABLE_OPTIONS,
            o.WITHIN,
            o.ETA,
            o.THRESHOLD,
            o.RECALL,
            o.FPR,
            o.PRECISION,
            o.NPV,
            o.FDR,
            o.LIFT,
            o.PREDICTED_POSITIVE_RATE,
            o.ALERTS,
            o.MAXIMIZE,
            o.GUARANTEE,
            o.START,
            o.TOGETHER,
            o.PER,
            o.METRICS,
            o.CONFIDENCE,
            o.INTERVAL,
            o.TARGET_BAND,
            o.CORRECTION,
            *o.BOOTSTRAP_OPTIONS,
            o.LONG,
        ],
        columns=("threshold", "precision", "value", "recall", "alerts", "true_alerts", "missed"),
        metrics_of=[PointMetric],
    )


def _add_decision_curve(commands: Any) -> None:
    _add_table_command(
        commands,
        "decision-curve",
        FilePrc.decision_curve,
        "net benefit at each risk at which users act",
        [*o.INPUT_OPTIONS, o.MISSING, o.WITHIN, o.ETA, o.ETA_TRAIN, o.PROBABILITIES, o.CONFIDENCE],
        columns=("threshold_probability", "net_benefit", "treat_all"),
    )


def _add_compare(commands: Any) -> None:
    _add_table_command(
        commands,
        "compare",
        FilePrc.compare,
        "differences between models, with intervals and p-values",
        [
            *o.TABLE_OPTIONS,
            o.MODEL.describe("the column that names the models"),
            o.ID,
            o.NO_PAIRED,
            o.ETA,
            o.METRICS,
            *_ONE_TARGET,
            *_ONE_TARGET_AT_ETA,
            o.LEVEL,
            o.WORST,
            o.ADJUST,
            o.METHOD,
            *o.BOOTSTRAP_OPTIONS,
        ],
        columns=("difference", "p_value", "p_adjusted", "resolved", "reliable"),
        metrics_of=[CurveMetric, PointMetric],
    )


def _add_ranking(commands: Any) -> None:
    _add_table_command(
        commands,
        "ranking",
        FilePrc.ranking,
        "the order of models at each prevalence, and how sure the lead is",
        [
            *o.TABLE_OPTIONS,
            o.THE_MODEL,
            o.ID,
            o.ETA,
            o.METRIC,
            *_ONE_TARGET,
            *_ONE_TARGET_AT_ETA,
            o.CONFIDENCE,
            o.METHOD,
            *o.BOOTSTRAP_OPTIONS,
            o.COARSE,
        ],
        columns=("rank", "value", "behind", "may_be_best", "resolved", "reliable"),
        metrics_of=[CurveMetric, PointMetric],
    )


def _add_crossings(commands: Any) -> None:
    _add_table_command(
        commands,
        "crossings",
        FilePrc.crossings,
        "the prevalences at which two models trade places",
        [*o.TABLE_OPTIONS, o.THE_MODEL, o.METRIC, o.ETA_RANGE, *_ONE_TARGET],
        columns=("eta", "value"),
        metrics_of=[CurveMetric, PointMetric],
    )


def _add_leaders(commands: Any) -> None:
    _add_table_command(
        commands,
        "leaders",
        FilePrc.leaders,
        "the best model in each range of prevalences",
        [*o.TABLE_OPTIONS, o.THE_MODEL, o.METRIC, o.ETA_RANGE, *_ONE_TARGET],
        columns=("eta_low", "eta_high", "model"),
        metrics_of=[CurveMetric, PointMetric],
    )


def _add_sample_size(commands: Any) -> None:
    targets = [o.THRESHOLD, o.RECALL, o.FPR]
    eta = o.ETA.describe("as in the other commands; without it, all prevalences at once")
    _add_table_command(
        commands,
        "sample-size",
        FilePrc.sample_size,
        "how large a test set must be to know precision at a threshold",
        [*o.TABLE_OPTIONS, eta, *targets, o.DELTA, o.RELATIVE, o.ASSURANCE, o.LEVEL, o.RATE_METHOD],
        columns=("n_pos_needed", "n_neg_needed", "threshold"),
    )


def _add_resolution(commands: Any) -> None:
    _add_table_command(
        commands,
        "resolution",
        FilePrc.resolution,
        "from which prevalence up this table knows precision at a threshold",
        [*o.TABLE_OPTIONS, o.THRESHOLD, o.RECALL, o.FPR, o.DELTA, o.LEVEL, o.RATE_METHOD],
        columns=("eta", "threshold", "recall", "fpr"),
    )


def _add_sampling_plan(commands: Any) -> None:
    about = "the threshold at which precision is asked for"
    threshold = o.THRESHOLD.describe(about, is_list=False, parse=parse_number_word)
    label = o.LABEL.describe("empty where a row has no label yet (default: label)")
    _add_table_command(
        commands,
        "sampling-plan",
        FilePrc.sampling_plan,
        "which rows to label next, to know precision at a threshold",
        [o.SCORE, label, o.POS_LABEL, o.MISSING, threshold.require(), o.BUDGET, o.STRATA],
        columns=("stratum", "n_next", "n", "n_labelled", "positive_share", "weight"),
    )


def _add_estimate(commands: Any) -> None:
    label = o.LABEL.describe("the label in --reference (default: label)", find_need=None)
    table = [o.BY, o.SCORE.describe("the column of scores, or of posteriors (default: score)")]
    _add_table_command(
        commands,
        "estimate",
        FilePrc.estimate_prevalence,
        "the prevalence of rows without labels",
        [
            *table,
            o.ROW_COUNTS,
            o.ESTIMATE_METHOD,
            o.ETA_TRAIN,
            o.REFERENCE,
            o.REFERENCE_COUNTS,
            label,
            o.POS_LABEL,
            o.CONFIDENCE,
            o.TOLERANCE,
            o.MAX_ITERATIONS,
            o.MISSING,
        ],
        columns=("eta", "n", "shift_p_value", "converged"),
    )


def _add_reweight(commands: Any) -> None:
    scores = o.SCORE.describe(
        "columns of scores that the weights are for, of which no value may be missing (default: none)",
        parse=split_words,
        is_list=True,
        find_need=None,
    )
    label = o.LABEL.describe("the label, which it needs: weights go by part and class (default: label)")
    eta = o.ETA.describe("a file with a row per part: the columns of --within, eta and share")
    _add_table_command(
        commands,
        "reweight",
        FilePrc.reweight,
        "weights that give each part of a field its prevalence and its share",
        [
            *(o.BY, o.MODEL, scores, label, o.POS_LABEL, o.WEIGHT, o.MISSING),
            *(o.WITHIN.describe("the columns that tell the parts apart").require(), eta.require()),
            *(o.SHARE, o.NAME),
        ],
        columns=("weight",),
    )


def _add_counts(commands: Any) -> None:
    _add_table_command(
        commands,
        "counts",
        FilePrc.counts,
        "positives and negatives at each score, which add up over days",
        [*o.INPUT_OPTIONS, o.UNLABELLED, o.MISSING],
        columns=("score", "n_pos", "n_neg", "n"),
    )


def _add_report(commands: Any) -> None:
    _add_command(
        commands,
        "report",
        "one HTML file on what to expect in the field, to send and to print",
        [
            *o.INPUT_OPTIONS,
            *(o.RATES, o.SIZES, o.CELLS),
            o.MISSING,
            o.WITHIN,
            o.ETA,
            o.LEVEL,
            o.RECALL.describe("target: find at least this share of the positives"),
            o.PRECISION.describe("target: at least this share of the alerts is right at --eta"),
            o.ALERTS.describe("target: at most these alerts among events, such as 500/2000000"),
            o.PER.describe("count alerts among this number of events (default: a million)"),
            o.GUARANTEE.describe(
                "a level such as 0.95: promise true values, in this share of test sets"
            ),
            o.ID,
            o.TITLE,
            o.DATE,
            o.NOTES,
            o.REPORT_OUTPUT,
        ],
        epilog=_FILES_HELP,
        run=write_report,
        output="report.html",
        ask=FilePrc.report,
    )


def _add_demo(commands: Any) -> None:
    about = "a report on two classifiers of handwritten digits, made here and now"
    _add_command(
        commands,
        "demo",
        about,
        [o.REPORT_OUTPUT],
        epilog="It needs scikit-learn.",
        run=write_demo,
        output="demo.html",
    )


_ONE_TARGET = [
    o.THRESHOLD.take_one("for a point metric: at this threshold, or at that of each model in a file"),
    o.RECALL.take_one("for a point metric: at the highest threshold with at least this recall"),
    o.FPR.take_one("for a point metric: at the lowest threshold with at most this rate"),
]
"""The targets of a point metric, at any prevalence."""
_ONE_TARGET_AT_ETA = [
    option.take_one(option.help.replace("target: the", "for a point metric: at the"))
    for option in (o.PRECISION, o.NPV, o.FDR, o.LIFT, o.PREDICTED_POSITIVE_RATE, o.ALERTS)
] + [o.PER]
"""The targets of a point metric that depend on prevalence."""


def _add_table_command(
    commands: Any,
    name: str,
    ask: Callable[..., pl.LazyFrame | pl.DataFrame],
    about: str,
    options: Sequence[o.Option],
    *,
    columns: Sequence[str],
    metrics_of: Sequence[type[PointMetric | CurveMetric]] = (),
) -> None:
    """Add a command that makes a table by the method `ask`; terminals show these `columns` first."""
    parser = _add_command(
        commands,
        name,
        about,
        [*options, o.OUTPUT],
        epilog="\n".join([_FILES_HELP, *map(describe_metrics, metrics_of)]),
        run=write_table,
        ask=ask,
    )
    parser.set_defaults(columns=columns)


def _add_command(
    commands: Any,
    name: str,
    about: str,
    options: Sequence[o.Option],
    *,
    epilog: str,
    run: Callable[[argparse.Namespace], None],
    ask: Callable[..., Any] | None = None,
    output: str | None = None,
) -> argparse.ArgumentParser:
    """Add a command with these options; of two with one name, the later one counts."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    by_flag = {option.flag: option for option in options}
    if ask is not None:
        about_input = "a file, a pattern such as 'days/*.parquet', or - for CSV from standard input"
        parser.add_argument("input", metavar="INPUT", help=about_input)
    for option in by_flag.values():
        option.add_to(parser)
    parser.set_defaults(run=run, ask=ask, parser=parser, options=by_flag, output=output)
    return parser


def describe_metrics(kind: type[PointMetric | CurveMetric]) -> str:
    """Return the names of all point metrics, or of all curve metrics, for the help of a command."""
    plain = [name for name in metrics.__all__ if isinstance(getattr(metrics, name), kind)]
    with_parameters = map(format_signature, list_factories(kind))
    text = f"metrics: {', '.join(plain)}; in quotes, with parameters: {', '.join(with_parameters)}"
    return textwrap.fill(text, 79, break_long_words=False, break_on_hyphens=False)
