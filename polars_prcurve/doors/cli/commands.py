"""The commands: the method that each asks, what its help says otherwise than others, what it writes."""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_prcurve import __version__
from polars_prcurve.core.binding.argument_rules import COMPARES_MODELS
from polars_prcurve.core.binding.word_groups import TABLE_WORDS, TARGET_WORDS
from polars_prcurve.core.ground.argument_checks import read_list
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.ground.progress import is_watched, show_seconds
from polars_prcurve.core.ground.safe_text import make_visible, shorten_name
from polars_prcurve.core.ground.terminal_text import fill_lines
from polars_prcurve.core.ground.value_checks import run_query
from polars_prcurve.core.inputs.table_reader import gives_squares
from polars_prcurve.core.judging.status_names import STATUSES
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_base import DECLARED_BY_NAME, list_factories
from polars_prcurve.core.metrics.metric_lookup import format_signature
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.fields_and_class_mixes import Field
from polars_prcurve.core.prevalence.sampled_eta import describe_refuted_estimates
from polars_prcurve.doors.cli import command_errors, table_files
from polars_prcurve.doors.cli import options as kinds
from polars_prcurve.doors.cli.command_errors import PROGRAM, RaisingParser, name_command
from polars_prcurve.doors.cli.method_call import FilePrc, MethodCall, check_output_path, read_command
from polars_prcurve.doors.cli.options import OPTIONS, Option, add_option, name_flag
from polars_prcurve.doors.cli.terminal_table import Layout, collect_shown_rows, print_lines, print_rows
from polars_prcurve.doors.namespace import prc

if TYPE_CHECKING:
    from polars_prcurve.view.report.decision import Decision

# What `polars-prcurve --help` says first; its lines fit a terminal of 80 columns, as all texts here do.
_PROGRAM_HELP = """\
Precision-recall analysis at any prevalence. Measure a classifier once, on a
table with a row per example, its score and its label, and evaluate it at a
prevalence of 1 in 2, 1 in 250 or 1 in 10,000.

Prevalence (--eta) is a fraction or a percentage: 0.001, 1/1000 and 0.1% are
1 in 1,000. With a colon it is a ratio of positives to negatives: 1:5000 is 1
positive to 5,000 negatives, and 1/5000 is 1 positive in 5,000 events.
"""
# What `polars-prcurve --help` says last: questions, each with the command that answers it.
_EXAMPLES_HELP = """\
examples:
  Which model is better at a prevalence of 1 in 1,000? Areas of each:
    polars-prcurve summary scores.parquet --by model --eta 0.001

  Which threshold has a precision of 0.9? Which one gives 500 alerts a day,
  among 2 million events?
    polars-prcurve operating-points scores.csv --eta 1:5000 --precision 0.9 \
      --alerts 500/2000000

  Is one of two models significantly better? Each has a column of scores:
    polars-prcurve compare scores.csv --score forest,logistic --eta 0.1%

  Which model to use, at which threshold? One verdict, and a report to send:
    polars-prcurve decide scores.csv --score forest,logistic --eta 0.1% --recall 60% --report r.html

  Precision and F1 at all thresholds, at a prevalence of 1% and at that of the
  table, into a file:
    polars-prcurve curve scores.parquet --eta 1% own --metrics precision f1 -o curve.parquet

polars-prcurve COMMAND --help lists the options of a command.
"""
# What the help of each command that reads a table says last.
_FILES_HELP = """\
The file extension sets the format: .parquet, .csv, .tsv, .ndjson,
.jsonl, .arrow, .feather or .ipc. An option of several values takes them with
spaces or commas between; INPUT comes before such options.
"""
# What the help of a command says whose --confidence takes words after the level.
_CONFIDENCE_HELP = """\
--confidence takes options after the level, with commas between:
method=bootstrap gives intervals of all metrics, with resamples=1000 and seed=1;
method=rectangle holds the level at least, not on average; rate=jeffreys (or
wilson, clopper_pearson, hoeffding) is the interval of recall and of fpr; and
simultaneous holds at all thresholds at once. A command refuses those that it
does not have.
"""

_FILE_HELP = "the file to write"  # the help of --output where the result is no table
_LEVEL_HELP = "the level of intervals, such as 95%"  # the help of a --confidence that takes no words
_HEADING_OF_ARGUMENT = {  # the heading in help of options that stand apart
    **dict.fromkeys(TARGET_WORDS, "targets"),
    **dict.fromkeys((*TABLE_WORDS, "unlabelled", "table"), "the table"),
}
_MODELS_HELP = "the column that names the models (default: model)"  # the help of --model in comparisons


# What commands write: a table to a file, a pipe or a terminal, or a report --------------------------


def write_table(args: argparse.Namespace) -> int:
    """Run a command that makes a table, and write its rows; return 1 if --fail-unless is not so."""
    check_output_path(args)
    start_time, write, shown_rows = time.monotonic(), _choose_output(args.output), None
    with _show_work(args) as call:
        if "columns" in args.options:
            call.arguments.setdefault("columns", "short" if write is None else "all")
        flags = call.arguments.pop("fail_unless", [])
        query = _call_method(call)
        if flags:
            query = run_query(query).lazy()
        has_passed = not flags or _holds(query, flags)
        if write is None:
            shown_rows = collect_shown_rows(query)
        else:
            write(query)
    if shown_rows is not None:
        if sentence := _find_verdict(call):
            print_lines([*fill_lines(f"{sentence}.", get_terminal_size().columns), ""])
        arguments = call.arguments
        is_weighted = isinstance(arguments.get("eta"), Field)
        is_weighted = is_weighted or gives_squares(arguments.get("weight"), arguments.get("counts"))
        has_sizes = call.method == "sample_size" and arguments.get("solve_for") != "eta"
        has_no_eta = has_sizes and "eta" not in arguments
        preface = "at any prevalence (at one, --eta, fewer will do)" if has_no_eta else ""
        answer_columns = args.command.columns
        if call.method == "sample_size" and not has_sizes:
            answer_columns = ("eta", *answer_columns)
        layout = Layout(
            call.groups, answer_columns, level=call.level, is_weighted=is_weighted, preface=preface
        )
        print_rows(shown_rows, layout)
        if call.method in _METHODS_WITH_A_LEAD and not _ARGUMENTS_WITH_TESTS & call.arguments.keys():
            command = "" if call.method == "ranking" else "ranking "
            hint = f"No lead was tested; {command}--confidence 95% shows which models may be best."
            print_lines(fill_lines(hint, get_terminal_size().columns))
    elif args.output not in (None, table_files.STDIO) and is_watched():
        n_rows = table_files.scan_files(args.output).select(pl.len()).collect().item()
        seconds = time.monotonic() - start_time
        command_errors.print_progress(f"wrote {n_rows} rows to {args.output} in {seconds:.1f} s")
    return 0 if has_passed else 1


def _holds(query: pl.LazyFrame, flags: str | Sequence[str]) -> bool:
    """Return whether all of these columns are true in every row."""
    names = read_list("--fail-unless", flags, "names of columns", str)
    schema = query.collect_schema()
    for name in names:
        if schema.get(name) != pl.Boolean:
            raise PrcError(f"--fail-unless takes not_worse, with --margin, or significant; got {name}")
    return all(run_query(query.select(pl.col(names).fill_null(False).all())).row(0))


_METHODS_WITH_A_LEAD = ("ranking", "crossings")
"""The methods whose tables name a model as first, and do not test that unless they are asked to."""
_ARGUMENTS_WITH_TESTS = {"confidence", "coarse", "rates", "cells"}
"""Arguments with which such a table has a test or limits, or rests on points that have no test."""
_METHODS_WITH_A_VERDICT = ("operating_points", "compare", "ranking")
"""The methods that ask, of the same arguments, what `decide` asks, too."""
_ARGUMENTS_OF_OTHER_QUESTIONS = {
    "metrics",
    "metric",
    "other",
    "match",
    "paired",
    "worst",
    "together",
    "coarse",
}
"""Arguments of these methods with which they ask something else than `decide` does."""


def _find_verdict(call: MethodCall) -> str:
    """Return the sentence of the decision that asks what a command asks; empty if none does."""
    arguments = call.arguments
    if (
        call.method not in _METHODS_WITH_A_VERDICT
        or call.level is None
        or _ARGUMENTS_OF_OTHER_QUESTIONS & arguments.keys()
    ):
        return ""
    argument_names = {*TABLE_WORDS, *TARGET_WORDS, "eta", "guarantee"} & arguments.keys()
    decision_words = {name: arguments[name] for name in argument_names}
    if not isinstance(arguments.get("score"), list) and "model" not in arguments:
        if call.method not in COMPARES_MODELS:
            return ""  # of groups each row tells of its own
        decision_words["model"] = "model"
    try:
        decision_verdict = call.table.decide(**decision_words, confidence=call.level).verdict
    except PrcError:  # such as several values of a target
        return ""
    return str(decision_verdict.sentence)


def write_report(args: argparse.Namespace) -> None:
    """Write the report on a table in files."""
    check_output_path(args)
    with _show_work(args) as call:
        path = call.table.report(args.output, **call.arguments)
    command_errors.print_progress(f"wrote {path}")


def write_decision(args: argparse.Namespace) -> int:
    """Print a decision, or write its rows, and documents; return 1 if it is none of --fail-unless."""
    from polars_prcurve.view.report.html_and_svg import check_page_path

    check_output_path(args)
    write = None if args.output is None else _choose_output(args.output)
    words_of_document = {
        "report": ("title", "date", "notes"),
        "page": ("title", "date"),
    }
    with _show_work(args) as call:
        arguments = call.arguments
        passing_words = arguments.pop("fail_unless", [])
        text_of_word = {name: arguments.pop(name, None) for name in words_of_document["report"]}
        path_of_kind = {
            document_kind: arguments.pop(document_kind)
            for document_kind in words_of_document
            if document_kind in arguments
        }
        for path in path_of_kind.values():
            check_page_path(path)
        decision = call.table.decide(**arguments)
        has_passed = not passing_words or _passes(decision, passing_words)
        written_paths = [
            getattr(decision, document_kind)(
                path, **{name: text_of_word[name] for name in words_of_document[document_kind]}
            )
            for document_kind, path in path_of_kind.items()
        ]
    if write is not None:
        write(decision.table.lazy())
        command_errors.print_note(decision.verdict.sentence)
    else:
        print_lines(decision.say(hint="; -o FILE has all").split("\n"))
    for path in written_paths:
        command_errors.print_progress(f"wrote {path}")
    return 0 if has_passed else 1


def _passes(decision: Decision, words: str | Sequence[str]) -> bool:
    """Return whether a verdict has one of these statuses; `met` is that of the demand."""
    statuses = read_list("--fail-unless", words, "statuses", str)
    for status in statuses:
        if status not in STATUSES:
            names = suggest_names(status, STATUSES)
            raise PrcError(f"--fail-unless takes statuses, such as met or winner; {names}")
    if "met" in statuses and not decision.has_demand:
        raise PrcError(
            "pass threshold= with the one in use, or guarantee=: --fail-unless met tests whether a "
            "threshold meets its targets, and targets alone choose one"
        )
    verdict = decision.verdict
    return verdict.status in {*statuses} - {"met"} or ("met" in statuses and verdict.met is True)


# The text at the top of the report of `demo`, since its reader has never seen the data.
_DEMO_NOTES = """\
A demonstration on 1,797 scans of handwritten digits, which scikit-learn brings along. Linear
discriminant analysis (lda) and logistic regression look for the digit 8. One scan in ten shows it here;
what if it were one in a thousand?"""


def write_demo(args: argparse.Namespace) -> None:
    """Write a report on two classifiers of handwritten digits that are trained here and now."""
    try:
        from sklearn.datasets import load_digits
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import StratifiedKFold, cross_val_predict
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError:
        raise PrcError('the demo needs scikit-learn: pip install "scikit-learn>=1.5"') from None
    from polars_prcurve.view.report.html_and_svg import check_page_path

    check_page_path(args.output)
    with show_seconds("training two classifiers"):
        pixels, digits = load_digits(return_X_y=True)
        scans = pl.DataFrame({"label": digits == 8})
        for model, classifier in {
            "lda": LinearDiscriminantAnalysis(),
            "logistic": LogisticRegression(max_iter=500),
        }.items():
            pipeline = make_pipeline(StandardScaler(), classifier)
            splitter = StratifiedKFold(5, shuffle=True, random_state=0)
            scores = cross_val_predict(
                pipeline, pixels, digits == 8, cv=splitter, method="decision_function"
            )
            scans = scans.with_columns(pl.Series(model, scores))
        scores_of_models = prc(scans).unpivot_scores(["lda", "logistic"], name="model", row="scan")
    with show_seconds("report"):
        etas, title = (0.001, 0.01, 0.1, 0.5), "Which scans show an 8?"
        report = prc(scores_of_models, model="model", id="scan").report
        path = report(args.output, etas, recall=0.8, title=title, notes=_DEMO_NOTES)
    command_errors.print_progress(f"wrote {path}")


@contextmanager
def _show_work(args: argparse.Namespace) -> Iterator[MethodCall]:
    """Return what a command asks, and show how long it runs, unless its rows go to the same terminal."""
    is_mixed = args.output == table_files.STDIO and sys.stdout.isatty()
    work_label = f"{args.parser.prog.rpartition(' ')[2]} of {shorten_name(make_visible(args.input), 40)}"
    with nullcontext() if is_mixed else show_seconds(work_label):
        call = read_command(args)
        for sentence in call.table.describe_dropped_rows(call.method, call.arguments, call.level):
            command_errors.print_note(sentence)
        yield call


def _choose_output(path: str | None) -> Callable[[pl.LazyFrame], None] | None:
    """Return the function that writes rows to a path, or None for a table on a terminal."""
    if path is None and sys.stdout.isatty():
        return None
    if path is None or path == table_files.STDIO:
        return table_files.write_csv
    return table_files.build_writer(path)  # raises at once if it cannot be written


def _call_method(call: MethodCall) -> pl.LazyFrame:
    """Return the rows of the method, and print notes on those that are not what was asked for."""
    call_method, arguments, groups = getattr(call.table, call.method), call.arguments, call.groups
    result = call_method(**arguments)
    is_size = call.method == "sample_size" and arguments.get("solve_for") != "eta"
    if "guarantee" in arguments or is_size:  # these rows are few, and read twice
        result = run_query(result.lazy())
    sentences: list[str] = []
    if "guarantee" in arguments:
        sentences += command_errors.describe_unmet_promises(result, groups)
    if is_size:
        delta = arguments.get("delta", inspect.signature(call_method).parameters["delta"].default)
        band_width = None if "relative" in arguments else delta
        sentences += command_errors.describe_needed_sizes(result, band_width)
    if isinstance(result, pl.DataFrame) and "shift_p_value" in result.columns:
        sentences += describe_refuted_estimates(result, groups)
    for sentence in sentences:
        command_errors.print_note(sentence)
    if isinstance(result, pl.DataFrame):  # a list of models is one word
        joined_lists = pl.selectors.by_dtype(pl.List).cast(pl.List(pl.String)).list.join(",")
        result = result.with_columns(joined_lists)
    lazy_result: pl.LazyFrame = result.lazy()
    return lazy_result


# The commands -----------------------------------------------------------------------------------


class Command(NamedTuple):
    """A command, which asks a method of a table in files."""

    method: str
    about: str
    columns: tuple[str, ...] = ()  # the columns of the result that a terminal shows first
    changes: Mapping[str, str | Option] = {}  # options that differ from those of others, or their help
    extra_options: tuple[str, ...] = ()  # options that are no arguments
    output: str | None = None  # the report that it writes if no other file is named; None for a table
    run: Callable[[argparse.Namespace], int | None] = write_table


COMMANDS = [  # in the order of help
    Command(
        "decide",
        "which model to use, and from which score: one verdict",
        changes={
            "confidence": _LEVEL_HELP,
            "guarantee": "a level such as 0.95: thresholds that meet the targets with this confidence",
            "threshold": "test this threshold, which comes from other data, against the targets; or a "
            "file with one for each group",
            "output": "write the rows of all models to this file; - is CSV to standard output",
        },
        extra_options=("fail_unless", "report", "page", "title", "date", "notes", "table"),
        run=write_decision,
    ),
    Command("curve", "precision at every threshold and prevalence", ("threshold", "value")),
    Command("summary", "average precision and areas, at each prevalence", ("value", "doubt")),
    Command(
        "operating_points",
        "the threshold that meets a target",
        ("threshold", "precision", "value", "recall", "alerts", "true_alerts", "missed"),
        {
            "metrics": "what to show of a threshold: see below, or tp, fp, fn, tn, and with --per "
            "true_alerts, missed (default: recall precision)"
        },
    ),
    Command(
        "decision_curve",
        "net benefit at each risk at which users act",
        ("threshold_probability", "net_benefit", "treat_all"),
        {"confidence": _LEVEL_HELP},
    ),
    Command(
        "compare",
        "differences between models, with intervals and p-values",
        ("difference", "p_value", "p_adjusted", "significant", "not_worse", "doubt"),
        extra_options=("fail_unless",),
    ),
    Command(
        "ranking",
        "the order of models at each prevalence, and how sure the lead is",
        ("rank", "value", "behind", "may_be_best", "doubt"),
    ),
    Command(
        "crossings",
        "the prevalences at which two models trade places, or who leads in between",
        (
            "eta",
            "value",
            "fpr",
            "recall",
            "eta_low",
            "eta_high",
            "model",
            "dominates",
            "dominated_by",
            "on_hull",
        ),
    ),
    Command(
        "sample_size",
        "the sample size for an interval of precision, or the prevalence for this one",
        ("n_pos_needed", "n_neg_needed", "threshold"),
        {"eta": "as in the other commands; without it, all prevalences at once"},
    ),
    Command(
        "sampling_plan",
        "which rows to label next, for precision at a threshold",
        ("stratum", "n_next", "n", "n_labelled", "positive_share", "weight"),
        {
            "score": Option(kinds.COLUMN, "larger means more positive"),
            "label": "empty where a row has no label yet",
            "threshold": Option(kinds.SCORE, "the threshold of the precision"),
        },
    ),
    Command(
        "estimate_prevalence",
        "the prevalence of rows without labels",
        ("eta", "n", "shift_p_value", "converged"),
        {
            "confidence": _LEVEL_HELP,
            "score": "the column of scores, or of posteriors",
            "label": "the label in --reference",
            "counts": "a column with the number of rows that a row represents",
        },
    ),
    Command(
        "monitor",
        "in which period a rate has become worse than a reference",
        ("value", "overall", "reference", "evidence", "alarm", "since"),
        {
            "reference": Option(
                kinds.REFERENCE_OR_RATE,
                "a file or a pattern of other rows with labels, and what its columns hold, if that "
                "differs, such as counts=n_pos,n_neg; or a rate such as 80%",
            ),
            "threshold": Option(
                kinds.THRESHOLD, "the threshold in use; or a file with one for each group"
            ),
            "eta": Option(kinds.SHARE, "the prevalence at which precision is watched, such as 1%"),
            "metrics": Option(kinds.METRIC, "precision, recall or fpr"),
            "confidence": "1 less the probability that there is ever a false alarm",
        },
    ),
    Command(
        "reweight",
        "weights by the parts of a field, or by a sampling plan",
        ("stratum", "weight"),
        {
            "eta": "a file with a row per part: the columns of --parts, eta and share",
            "score": "columns of scores that the weights are for, of which no value may be missing "
            "(default: none); with --plan the score of its strata",
            "label": "the label, which it needs: weights go by part and class; with --plan it is empty "
            "where a row has no label, and these rows are left out",
        },
    ),
    Command(
        "counts",
        "positives and negatives at each score, which add up over days",
        ("score", "n_pos", "n_neg", "n"),
        extra_options=("unlabelled",),
    ),
    Command(
        "report",
        "one HTML file with the decision, to send and to print",
        changes={
            "confidence": _LEVEL_HELP,
            "per": "count alerts among this number of events (default: a round number)",
            "output": _FILE_HELP,
        },
        run=write_report,
        output="report.html",
    ),
    Command(
        "demo",
        "a report on two classifiers of handwritten digits, made here and now",
        changes={"output": _FILE_HELP},
        run=write_demo,
        output="demo.html",
    ),
]


@cache
def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the program, with all commands; it takes 12 ms to make."""
    style = argparse.RawDescriptionHelpFormatter
    parser = RaisingParser(
        prog=PROGRAM,
        description=_PROGRAM_HELP,
        epilog=_EXAMPLES_HELP,
        formatter_class=style,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        _add_command(commands, command)
    return parser


def _add_command(commands: Any, command: Command) -> None:
    """Add a command with an option for each argument of its method."""
    parameters, options = list_parameters(command.method), list_options(command)
    epilog = [_FILES_HELP] if parameters else ["It needs scikit-learn."]
    epilog += [_CONFIDENCE_HELP] if options.get("confidence") == OPTIONS["confidence"] else []
    annotations = [str(parameters[name].annotation) for name in ("metrics", "metric") if name in options]
    for metric_class in (CurveMetric, PointMetric):
        epilog += (
            [describe_metrics(metric_class)]
            if any(metric_class.__name__ in annotation for annotation in annotations)
            else []
        )
    parser: argparse.ArgumentParser = commands.add_parser(
        name_command(command.method),
        usage=_describe_usage(command, options),
        help=command.about,
        description=f"{command.about[0].upper()}{command.about[1:]}.",
        epilog="\n".join(epilog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if parameters:
        input_help = "a file, a pattern such as 'days/*.parquet', or - for CSV from standard input"
        parser.add_argument("input", metavar="INPUT", help=input_help)
    takes_one_metric = command.method in COMPARES_MODELS and command.run is write_table
    targets_help = "one of these, for a point metric" if takes_one_metric else None
    option_groups = {
        "targets": parser.add_argument_group("targets", targets_help),
        "the table": parser.add_argument_group("the table"),
    }
    for name, option in options.items():
        default = parameters[name].default if name in parameters else None
        option_group = option_groups.get(_HEADING_OF_ARGUMENT.get(name, ""), parser)
        add_option(option_group, name, option, command.output if name == "output" else default)
    parser.set_defaults(
        parser=parser, command=command, options=options, run=command.run, output=command.output
    )


def _describe_usage(command: Command, options: Mapping[str, Option]) -> str:
    """Return the call of a command, with the options that it needs."""
    parameters = list_parameters(command.method)
    required_options = [
        f"{name_flag(name)} {option.kind.metavar}"
        for name, option in options.items()
        if name in parameters and parameters[name].default is inspect.Parameter.empty
    ]
    words = [
        PROGRAM,
        name_command(command.method),
        *(["INPUT"] if parameters else []),
        *required_options,
    ]
    return textwrap.fill(" ".join([*words, "[options]"]), 72, subsequent_indent="  ")


def list_parameters(method: str) -> Mapping[str, inspect.Parameter]:
    """Return the arguments of a method; none for `demo`, which asks none."""
    function = getattr(FilePrc, method, None)
    return {} if function is None else inspect.signature(function).parameters


def list_options(command: Command) -> dict[str, Option]:
    """Return the options of a command: for arguments of the method, and for words that it reads."""
    names = [name for name in list_parameters(command.method) if name in OPTIONS]
    # A file of --eta is a field by --parts, except where an eta of another kind is taken.
    if "eta" in names and not isinstance(command.changes.get("eta"), Option):
        names.insert(names.index("eta") + 1, "parts")
    change_of_option = (
        {"model": _MODELS_HELP, **command.changes}
        if command.method in COMPARES_MODELS
        else command.changes
    )
    extra_names = [name for name in command.extra_options if name not in names]
    takes_table = {*names} & {*TABLE_WORDS} and "table" not in extra_names
    names += [*extra_names, *(["table"] if takes_table else []), "output"]
    options_or_help = {name: change_of_option.get(name, OPTIONS[name]) for name in names}
    return {
        name: OPTIONS[name]._replace(help=option_or_help)
        if isinstance(option_or_help, str)
        else option_or_help
        for name, option_or_help in options_or_help.items()
    }


def describe_metrics(metric_class: type[PointMetric | CurveMetric]) -> str:
    """Return the names of all point metrics, or of all curve metrics, for the help of a command."""
    plain_names = sorted(
        name for name, metric in DECLARED_BY_NAME.items() if isinstance(metric, metric_class)
    )
    signatures = map(format_signature, list_factories(metric_class))
    text = f"metrics: {', '.join(plain_names)}; in quotes, with parameters: {', '.join(signatures)}"
    return textwrap.fill(text, 79, break_long_words=False, break_on_hyphens=False)
