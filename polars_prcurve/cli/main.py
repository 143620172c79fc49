"""The command line: `polars-prcurve`, and `python -m polars_prcurve`.

    words -> arguments   `_read_arguments` parses options; one that is not given is not passed
          -> a method    of `.prc`, on the scanned files: it sets defaults and refuses bad input
          -> rows        to a file, to standard output, or as a table on a terminal

An option is named after the argument that it becomes, so that errors of the library can be put in
terms of options: see `messages`. A new command is one `_add_...` function, which says what
its parser takes and what runs.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import polars as pl

from polars_prcurve import __version__, metrics
from polars_prcurve.cli import table_files
from polars_prcurve.cli.messages import RaisingParser, name_options, translate_message
from polars_prcurve.cli.promise_notes import describe_unmet_promises
from polars_prcurve.cli.stop_signals import catch_stop_signals
from polars_prcurve.cli.table_files import name_bad_files
from polars_prcurve.errors import PrcError, suggest_names
from polars_prcurve.inputs.table_arguments import count_dropped_rows
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.metrics.metric import list_factories
from polars_prcurve.metrics.names import format_signature
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.namespace import prc
from polars_prcurve.namespace.frame import LazyFramePrc
from polars_prcurve.prevalence.eta_values import eta_from_ratio, read_fraction
from polars_prcurve.query_checks import run_query

_PROGRAM = "polars-prcurve"
_ROWS_SHOWN = 50

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


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, or 2 after one line about an error, or 128 and the signal's number."""
    with catch_stop_signals() as stop:
        try:
            return _run_command(argv)
        except KeyboardInterrupt:
            print(f"{_PROGRAM}: interrupted", file=sys.stderr)
            return stop.exit_status


def _run_command(argv: Sequence[str] | None) -> int:
    """Run one command; return its exit status."""
    args = argparse.Namespace()
    try:
        _build_parser().parse_args(argv, args)
        with name_bad_files(_list_inputs(args)), warnings.catch_warnings():
            warnings.showwarning = _print_warning
            args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has read enough. Python would fail again as it flushes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (PrcError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # Polars prints the plan of the query below the first line.
        message = str(error) if isinstance(error, PrcError) else str(error).partition("\n")[0]
        given = vars(args)
        message = translate_message(message, name_options(given.get("parser"), given))
        print(f"{_PROGRAM}: error: {PrcError(message)}", file=sys.stderr)  # short and visible
        return 2
    return 0


def _list_inputs(args: argparse.Namespace) -> Iterator[str]:
    """Yield the files that a command reads, when it has failed."""
    given = vars(args)
    if given.get("input"):
        yield args.input
    if len(etas := given.get("eta") or []) == 1 and table_files.find_format(etas[0]):
        yield etas[0]


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"{_PROGRAM}: warning: {message}", file=sys.stderr)


# The parser -----------------------------------------------------------------------------------


def _build_parser() -> argparse.ArgumentParser:
    style = argparse.RawDescriptionHelpFormatter
    parser = RaisingParser(
        prog=_PROGRAM, description=_ABOUT, epilog=_EXAMPLES, formatter_class=style, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"{_PROGRAM} {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (_add_curve, _add_summary, _add_points, _add_report, _add_demo):
        add(commands)
    return parser


def _add_curve(commands: Any) -> None:
    parser = _add_table_command(
        commands, "curve", FilePrc.curve, PointMetric, "precision at every threshold and prevalence"
    )
    _add_option(
        parser,
        "--thresholds",
        "N",
        "only the thresholds at which recall reaches 1/N, 2/N, ...",
        type=int,
    )
    parser.add_argument(
        "--drop-intermediate",
        action="store_true",
        default=None,
        help="leave out rows inside runs of negatives; the curves stay the same",
    )


def _add_summary(commands: Any) -> None:
    parser = _add_table_command(
        commands,
        "summary",
        FilePrc.summary,
        CurveMetric,
        "average precision and areas, at each prevalence",
    )
    about = "how to compute intervals; bootstrap knows all metrics, and holds the scores in memory"
    parser.add_argument("--method", choices=("analytic", "bootstrap"), help=about)
    _add_option(
        parser,
        "--resamples",
        "N",
        "number of replicates of the bootstrap (default: 1000)",
        type=int,
        dest="n_resamples",
    )
    _add_option(parser, "--seed", "N", "seed of the bootstrap, which makes it reproducible", type=int)
    about = "rows with the same value, such as a patient, are drawn together by the bootstrap"
    _add_option(parser, "--cluster", "COLUMN", about)


def _add_points(commands: Any) -> None:
    parser = _add_table_command(
        commands, "points", FilePrc.operating_points, PointMetric, "the threshold that meets a target"
    )
    _add_list_option(parser, "--threshold", "SCORE", "target: this threshold")
    _add_list_option(
        parser, "--recall", "SHARE", "target: the highest threshold with at least this recall"
    )
    _add_list_option(
        parser, "--fpr", "SHARE", "target: the lowest with at most this false positive rate"
    )
    _add_list_option(
        parser, "--precision", "SHARE", "target: the lowest with at least this precision at --eta"
    )
    _add_list_option(parser, "--npv", "SHARE", "target: the highest with at least this npv at --eta")
    _add_list_option(parser, "--fdr", "SHARE", "target: the lowest with at most this fdr at --eta")
    _add_list_option(parser, "--lift", "FACTOR", "target: the lowest with at least this lift at --eta")
    about = "target: the lowest with at most these alerts among events at --eta, such as 500/2000000"
    _add_list_option(parser, "--alerts", "ALERTS/EVENTS", about)
    _add_list_option(parser, "--maximize", "METRIC", "target: the best by a metric, such as f1")
    about = (
        "a level such as 0.95: thresholds that meet their targets in truth, in this share of test sets"
    )
    _add_option(parser, "--guarantee", "LEVEL", about, type=float)
    about = (
        "where the tests of --guarantee start, fixed before the labels were seen (default: by counts)"
    )
    _add_option(parser, "--start", "SCORE", about)
    about = "show the alerts among this number of events (default: the events of --alerts)"
    _add_option(parser, "--per", "EVENTS", about, type=float)


def _add_report(commands: Any) -> None:
    about = "one HTML file on what to expect in the field, to send and to print"
    parser = _add_command(commands, "report", about, _FILES_HELP)
    _add_table_options(parser)
    _add_option(parser, "--confidence", "LEVEL", "level of all intervals (default: 0.95)", type=float)
    _add_list_option(
        parser, "--recall", "SHARE", "show the threshold that reaches this recall, and its precision"
    )
    _add_option(
        parser,
        "--per",
        "EVENTS",
        "show the alerts among this number of events, at each recall",
        type=float,
    )
    about = (
        "columns that tell examples apart, if all models scored the same ones, to compare them in pairs"
    )
    _add_list_option(parser, "--id", "COLUMN", about)
    _add_option(parser, "--title", "TEXT", "the title of the report")
    _add_option(parser, "--notes", "TEXT", "a text of your own")
    parser.add_argument("-o", "--output", metavar="FILE", default="report.html", help=_OUTPUT_HELP)
    parser.set_defaults(run=_write_report)


def _add_demo(commands: Any) -> None:
    about = "a report on two classifiers of handwritten digits, made here and now"
    parser = _add_command(commands, "demo", about, "It needs scikit-learn.")
    parser.add_argument("-o", "--output", metavar="FILE", default="demo.html", help=_OUTPUT_HELP)
    parser.set_defaults(run=_write_demo)


_OUTPUT_HELP = "the file to write (default: %(default)s)"


def _add_command(commands: Any, name: str, about: str, epilog: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(parser=parser)
    return parser


def _add_table_command(
    commands: Any,
    name: str,
    ask: Callable[..., pl.LazyFrame],
    kind: type[PointMetric | CurveMetric],
    about: str,
) -> argparse.ArgumentParser:
    """Return the parser of a command that makes a table of a table, by the method `ask`."""
    parser = _add_command(commands, name, about, f"{_FILES_HELP}\n{_describe_metrics(kind)}")
    _add_table_options(parser)
    _add_list_option(parser, "--metrics", "METRIC", "what to compute; see below")
    _add_option(parser, "--confidence", "LEVEL", "add intervals of this level, such as 0.95", type=float)
    about = (
        "stream rows to this file, so that tables may exceed memory; - is CSV to standard output. "
        f"Without it a terminal shows the first {_ROWS_SHOWN} rows, and a pipe gets all as CSV"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help=about)
    parser.set_defaults(run=_write_table, ask=ask)
    return parser


def _add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the input table, the columns in it, and the prevalences."""
    about = "a file, a pattern such as 'days/*.parquet', or - for CSV from standard input"
    parser.add_argument("input", metavar="INPUT", help=about)
    _add_list_option(parser, "--by", "COLUMN", "group columns; each group has a curve of its own")
    _add_option(parser, "--model", "COLUMN", "one more group column, after those of --by")
    _add_option(parser, "--score", "COLUMN", "larger means more positive (default: score)")
    _add_option(parser, "--label", "COLUMN", "true or false, 1 or 0, 1 or -1 (default: label)")
    _add_option(parser, "--pos-label", "VALUE", "the positive value, if labels are anything else")
    _add_option(parser, "--weight", "COLUMN", "a number >= 0 per row")
    about = "columns of counts per score, in place of a label"
    parser.add_argument("--counts", nargs=2, metavar=("N_POS", "N_NEG"), help=about)
    about = "columns of published ROC points, in place of score and label"
    parser.add_argument("--rates", nargs=2, metavar=("TPR", "FPR"), help=about)
    about = "on an empty score, label or weight, stop (the default) or drop the row"
    parser.add_argument("--missing", choices=("raise", "drop"), help=about)
    about = (
        "prevalences: shares such as 0.001 or 1/1000; ratios of positives to negatives such as 1:999; "
        "own, each group's own (the default); or a file with a column eta and any of the group columns"
    )
    _add_list_option(parser, "--eta", "SHARE", about)


def _add_option(
    parser: argparse.ArgumentParser, option: str, metavar: str, help: str, **how: Any
) -> None:
    parser.add_argument(option, metavar=metavar, help=help, **how)


def _add_list_option(parser: argparse.ArgumentParser, option: str, metavar: str, help: str) -> None:
    parser.add_argument(option, metavar=metavar, help=help, nargs="+", action="extend")


# From words to arguments ----------------------------------------------------------------------

_CLI_ONLY = ("run", "ask", "parser", "input", "output", "model")
"""Names of parsed arguments that no method takes."""


class FilePrc(LazyFramePrc):
    """The methods of a table in files: lazy, except where one must collect half way."""

    _may_collect = True


def _write_table(args: argparse.Namespace) -> None:
    """Run a command that makes a table, and write its rows."""
    _check_output_path(args)
    started, write = time.monotonic(), _choose_output(args.output)
    _print_progress(f"reading {args.input} ...")
    table = _scan_table(args)
    given = _read_arguments(args, table.collect_schema())
    _report_dropped_rows(table, given)
    query = args.ask(FilePrc(table), **given)
    if "guarantee" in given:  # points are few, and read twice
        points = run_query(query)
        for sentence in describe_unmet_promises(points, given["by"]):
            print(f"{_PROGRAM}: {sentence}", file=sys.stderr)
        query = points.lazy()
    write(query)
    if args.output not in (None, table_files.STDIO) and sys.stderr.isatty():
        rows, seconds = _count_rows(table_files.scan_files(args.output)), time.monotonic() - started
        _print_progress(f"wrote {rows} rows to {args.output} in {seconds:.1f} s")


def _scan_table(args: argparse.Namespace) -> pl.LazyFrame:
    """Return the table in the input files, after the checks that need no table."""
    _check_effects(args)
    labels = [] if args.pos_label else [args.label or "label"]
    numbers = [args.score or "score", *labels, *filter(None, [args.weight])]
    return table_files.scan_files(args.input, [*numbers, *(args.counts or []), *(args.rates or [])])


def _check_effects(args: argparse.Namespace) -> None:
    """Raise if an option is given that has no effect beside the others."""
    given = {name for name, value in vars(args).items() if value is not None}
    bootstrap = "--confidence and --method bootstrap"
    needs = [
        ("method", "confidence" in given, "--confidence"),
        *(
            (name, "confidence" in given and vars(args).get("method") == "bootstrap", bootstrap)
            for name in ("n_resamples", "seed", "cluster")
        ),
        ("label", not given & {"counts", "rates"}, "rows of examples, not --counts or --rates"),
        ("score", "rates" not in given, "scores, not --rates"),
        ("start", "guarantee" in given, "--guarantee"),
    ]
    options = name_options(args.parser, {})
    for name, has_effect, needed in needs:
        if name in given and not has_effect:
            raise PrcError(f"{options[name]} needs {needed}")


def _report_dropped_rows(table: pl.LazyFrame, given: dict[str, Any]) -> None:
    """Print how many rows are left out because a value is missing, if that was asked for."""
    if given.get("missing") == "drop" and (dropped := count_dropped_rows(table, **given)).n > 0:
        print(f"{_PROGRAM}: {dropped.sentence}", file=sys.stderr)


def _check_output_path(args: argparse.Namespace) -> None:
    """Raise if the output would be written over one of the inputs."""
    inputs = [args.input, *(args.eta or [])]
    if args.output and os.path.realpath(args.output) in table_files.find_files(inputs):
        raise PrcError(f"--output {args.output!r} is also an input; choose another file")


def _write_report(args: argparse.Namespace) -> None:
    _check_output_path(args)
    _print_progress(f"reading {args.input} ...")
    table = _scan_table(args)
    given = _read_arguments(args, table.collect_schema())
    if isinstance(given.get("eta"), pl.LazyFrame):
        raise PrcError("a report takes --eta as shares or ratios, not as a file")
    # A report takes the model apart from the groups, and tables take it as the last group.
    given["by"] = [name for name in given["by"] if name != args.model]
    _report_dropped_rows(table, {**given, "model": args.model})
    _print_progress(f"wrote {FilePrc(table).report(args.output, model=args.model, **given)}")


def _write_demo(args: argparse.Namespace) -> None:
    try:
        from polars_prcurve.cli.demo_digits import ETAS, NOTES, TITLE, build_digits_table
    except ImportError:
        raise PrcError('the demo needs scikit-learn: pip install "polars-prcurve[examples]"') from None
    _print_progress("training two classifiers ...")
    path = prc(build_digits_table()).report(
        args.output, ETAS, model="model", id="scan", recall=0.8, title=TITLE, notes=NOTES
    )
    _print_progress(f"wrote {path}")


def _read_arguments(args: argparse.Namespace, schema: pl.Schema) -> dict[str, Any]:
    """Return the options that were given, as arguments of a method on a table of this schema."""
    given = {
        name: _PARSERS.get(name, _identity)(value)
        for name, value in vars(args).items()
        if value is not None
    }
    if "alerts" in given:
        given |= _alert_arguments(given["alerts"], given.get("per"))
    if args.model and args.model not in schema:  # else it would be called --by
        raise PrcError(
            f"--model names the column {args.model!r}, which is not in the table; "
            f"{suggest_names(args.model, schema)}"
        )
    groups: list[str] = [*given.get("by", []), *([args.model] if args.model else [])]
    given["by"] = list(dict.fromkeys(groups))
    if isinstance(given.get("eta"), pl.LazyFrame):
        given["eta"] = _cast_groups(given["eta"], {n: schema[n] for n in groups if n in schema})
    label, score = (schema.get(given.get(name, name)) for name in ("label", "score"))
    if "pos_label" in given and label is not None:
        given["pos_label"] = _parse_value("--pos-label", given["pos_label"], label)
    if "threshold" in given and score is not None:
        given["threshold"] = [_parse_threshold(text, score) for text in given["threshold"]]
    if "start" in given and score is not None:
        given["start"] = _parse_threshold(given["start"], score, "--start")
    return {name: value for name, value in given.items() if name not in _CLI_ONLY}


def _identity(value: Any) -> Any:
    return value


def _split_words(words: Sequence[str]) -> list[str]:
    """Return the words, with those that have commas split at these."""
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def _parse_shares(words: Sequence[str]) -> list[float]:
    return [_parse_number(word, "a share such as 0.9") for word in _split_words(words)]


def _parse_number(word: str, expected: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise PrcError(f"expected {expected}; got {word!r}") from None


def _parse_etas(words: Sequence[str]) -> list[float | None] | pl.LazyFrame:
    if len(words) == 1 and table_files.find_format(words[0]):
        return table_files.scan_files(words[0], ["eta"])
    return [_parse_eta(word) for word in _split_words(words)]


def _parse_eta(word: str) -> float | None:
    if word == "own":
        return None
    if ":" in word:
        return eta_from_ratio(word)
    if "/" in word:
        return _parse_share(word)
    expected = "--eta as shares such as 0.001 or 1/1000, ratios such as 1:999, own, or one file"
    return _parse_number(word, expected)


def _parse_share(word: str) -> float:
    """Return `1/5000` as 0.0002: of 5 000 events 1 is positive."""
    try:
        return float(read_fraction(word))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise PrcError(f"expected --eta as a share such as 1/5000; got {word!r}") from None


def _cast_groups(eta: pl.LazyFrame, by: dict[str, pl.DataType]) -> pl.LazyFrame:
    """Cast group columns of an eta file to their dtypes in the table: 7 in a CSV may be text there."""
    return eta.with_columns(pl.col(n).cast(by[n]) for n in eta.collect_schema() if n in by)


def _parse_alerts(words: Sequence[str]) -> list[tuple[Fraction, Fraction]]:
    """Return each `ALERTS/EVENTS` as its two numbers."""
    try:
        pairs = [
            (read_fraction(n), read_fraction(of))
            for n, of in (w.split("/") for w in _split_words(words))
        ]
        if not all(0 <= alerts <= events and events > 0 for alerts, events in pairs):
            raise ValueError
    except (ValueError, ZeroDivisionError, OverflowError):
        raise PrcError(
            f"--alerts takes ALERTS/EVENTS, such as 500/2000000; got {' '.join(words)}"
        ) from None
    if len({events for _, events in pairs}) > 1:
        raise PrcError(
            "--alerts must be among the same number of events; run the command once for each number"
        )
    return pairs


def _alert_arguments(pairs: Sequence[tuple[Fraction, Fraction]], per: float | None) -> dict[str, Any]:
    """Return the arguments alerts and per: the budgets among `per` events, or among their own number."""
    events = pairs[0][1] if per is None else Fraction(per)
    return {"alerts": [float(alerts * events / of) for alerts, of in pairs], "per": float(events)}


def _parse_threshold(text: str, dtype: pl.DataType, option: str = "--threshold") -> Any:
    """Return a threshold from text: any number. For floats it is the score that is printed so."""
    if dtype.is_float() or (dtype == pl.Boolean and text.lower() in ("true", "false")):
        return _parse_value(option, text, dtype)
    try:
        return Decimal(text)
    except InvalidOperation:
        raise PrcError(f"{option} takes a number; got {text!r}") from None


def _parse_value(option: str, text: str, dtype: pl.DataType) -> Any:
    """Return the text as a value of this dtype, which a column of the table has."""
    if dtype in (pl.String, pl.Enum, pl.Categorical):
        return text
    try:
        if dtype == pl.Boolean:
            return {"true": True, "false": False}[text.lower()]
        return Decimal(text) if dtype == pl.Decimal else pl.Series([text]).cast(dtype).item()
    except (KeyError, InvalidOperation, pl.exceptions.PolarsError):
        raise PrcError(f"{option} takes a value of a column of {dtype}; got {text!r}") from None


def _describe_metrics(kind: type[PointMetric | CurveMetric]) -> str:
    """Return the names of all point metrics, or of all curve metrics, for the help of a command."""
    plain = [name for name in metrics.__all__ if isinstance(getattr(metrics, name), kind)]
    with_parameters = map(format_signature, list_factories(kind))
    text = f"metrics: {', '.join(plain)}; in quotes, with parameters: {', '.join(with_parameters)}"
    return textwrap.fill(text, 79, break_long_words=False, break_on_hyphens=False)


def _parse_metrics(words: Sequence[str]) -> list[Any]:
    text = ",".join(word.strip(" ,") for word in words)
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise PrcError(f"expected metrics, such as f1, f_beta(2) or best(f1); got {text}") from None
    return [ast.unparse(node) for node in (tree.elts if isinstance(tree, ast.Tuple) else [tree])]


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "by": _split_words,
    "id": _split_words,
    "eta": _parse_etas,
    "metrics": _parse_metrics,
    "maximize": _parse_metrics,
    "threshold": _split_words,
    "recall": _parse_shares,
    "fpr": _parse_shares,
    "precision": _parse_shares,
    "npv": _parse_shares,
    "fdr": _parse_shares,
    "lift": _parse_shares,
    "alerts": _parse_alerts,
}


# Out ------------------------------------------------------------------------------------------


def _choose_output(path: str | None) -> Callable[[pl.LazyFrame], None]:
    """Return the function that writes rows to a path; raise at once if it cannot be written."""
    if path is None and sys.stdout.isatty():
        return _print_table
    if path is None or path == table_files.STDIO:
        return table_files.write_csv
    return table_files.build_writer(path)


def _count_rows(table: pl.LazyFrame) -> int:
    return int(table.select(pl.len()).collect().item())


def _print_progress(text: str) -> None:
    """Print a line of progress, if a person watches."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def _print_table(query: pl.LazyFrame) -> None:
    """Print the first rows and the columns that fit, and how many are left out."""
    table = query.head(_ROWS_SHOWN + 1).collect()  # one row more tells whether any are left out
    rows = _count_rows(query) if table.height > _ROWS_SHOWN else table.height
    table = table.head(_ROWS_SHOWN)
    text, columns = _fit_to_width(table, shutil.get_terminal_size().columns)
    print(text)
    parts = [(table.height, rows, "rows"), (columns, table.width, "columns")]
    left_out = [f"{shown} of {total} {what}" for shown, total, what in parts if shown < total]
    if left_out:
        print(f"{', '.join(left_out)}; -o FILE writes all, such as -o table.csv", file=sys.stderr)


def _fit_to_width(table: pl.DataFrame, width: int) -> tuple[str, int]:
    """Return the table as text of at most this width, and its number of columns.

    If need be, counts are left out first, and then columns from the end.
    """
    shown, text = table, _format_table(table)
    columns = table.drop("n_pos", "n_neg", "tp", "fp", "fn", "tn", strict=False).columns
    while columns and max(map(len, text.splitlines())) > width:
        shown = table.select(columns)
        text = _format_table(shown)
        columns.pop()
    return text, shown.width


def _format_table(table: pl.DataFrame) -> str:
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=60,
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
    ):
        return str(table)
