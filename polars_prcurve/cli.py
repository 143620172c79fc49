"""The command line: `polars-prcurve`, and `python -m polars_prcurve`.

An option is named after the argument that it becomes, and one that is not given is not passed, so
that the library decides what is left out and what is refused. Its messages are put in terms of
options here. A new command is one `_add_...` function, which says what its parser takes and what
runs.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import re
import shutil
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NoReturn

import polars as pl

from polars_prcurve import __version__, files, metrics
from polars_prcurve.curve_metrics import CurveMetric
from polars_prcurve.errors import PrcError, raised_eagerly
from polars_prcurve.namespace import LazyFramePrc, prc
from polars_prcurve.point_metrics import PointMetric
from polars_prcurve.prevalence import eta_from_ratio

__all__ = ["main"]

_NAME = "polars-prcurve"
_ROWS_SHOWN = 50

_ABOUT = """\
Precision-recall analysis at any prevalence. Measure a classifier once, on a
table with a row per example, its score and its label; see what it does where
1 in 2, 1 in 250 or 1 in 10 000 is positive.

Prevalence (--eta) is the share of positives: 0.001 is 1 in 1 000. With a colon
it is a ratio of positives to negatives: 1:5000 is 1 positive to 5 000 negatives.
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
_FILES = """\
The end of a file's name tells its format: .parquet, .csv, .tsv, .ndjson,
.jsonl, .arrow, .feather or .ipc. An option of several values takes them with
spaces or commas between; INPUT comes before such options.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. 0, or 2 after one line about what was wrong, or 130 when interrupted."""
    args = argparse.Namespace()
    try:
        _parser().parse_args(argv, args)
        with raised_eagerly(), warnings.catch_warnings():
            warnings.showwarning = _warn
            args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"{_NAME}: interrupted", file=sys.stderr)
        return 130
    except (PrcError, pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, OSError) and "Broken pipe" in str(error):  # `| head` has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"{_NAME}: error: {_in_options(str(error), vars(args))}", file=sys.stderr)
        return 2
    return 0


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"{_NAME}: warning: {message}", file=sys.stderr)


# The parser -----------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        if message.endswith("required: INPUT"):
            message += f"; it comes first: {self.prog} INPUT --eta 0.001 ..."
        raise PrcError(message)


def _parser() -> argparse.ArgumentParser:
    style = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog=_NAME, description=_ABOUT, epilog=_EXAMPLES, formatter_class=style, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"{_NAME} {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (_add_curve, _add_summary, _add_points, _add_report, _add_demo):
        add(commands)
    return parser


def _add_curve(commands: Any) -> None:
    parser = _table_command(
        commands, "curve", FilePrc.curve, PointMetric, "precision at every threshold and prevalence"
    )
    _one(
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
    parser = _table_command(
        commands,
        "summary",
        FilePrc.summary,
        CurveMetric,
        "average precision and areas, at each prevalence",
    )
    about = "of the intervals; bootstrap knows all metrics, and holds the scores in memory"
    parser.add_argument("--method", choices=("analytic", "bootstrap"), help=about)
    _one(parser, "--resamples", "N", "of the bootstrap (default: 1000)", type=int, dest="n_resamples")
    _one(parser, "--seed", "N", "of the bootstrap, for the same numbers again", type=int)
    _one(parser, "--cluster", "COLUMN", "whose rows the bootstrap draws together, such as a patient's")


def _add_points(commands: Any) -> None:
    parser = _table_command(
        commands, "points", FilePrc.operating_points, PointMetric, "the threshold that meets a target"
    )
    _several(parser, "--threshold", "SCORE", "target: this threshold")
    _several(parser, "--recall", "SHARE", "target: the highest threshold with at least this recall")
    _several(parser, "--fpr", "SHARE", "target: the lowest with at most this false positive rate")
    _several(parser, "--precision", "SHARE", "target: the lowest with at least this precision at --eta")
    about = "target: the lowest with at most so many alerts at --eta, such as 500/2000000"
    _several(parser, "--alerts", "ALERTS/EVENTS", about)
    _several(parser, "--maximize", "METRIC", "target: the best by a metric, such as f1")
    about = "show the alerts among so many events (default: the events of --alerts)"
    _one(parser, "--per", "EVENTS", about, type=float)


def _add_report(commands: Any) -> None:
    about = "one HTML file on what to expect in the field, to send and to print"
    parser = _command(commands, "report", about, _FILES)
    _add_table(parser)
    _one(parser, "--confidence", "LEVEL", "of all intervals (default: 0.95)", type=float)
    _several(
        parser, "--recall", "SHARE", "show the threshold that reaches this recall, and its precision"
    )
    _one(parser, "--per", "EVENTS", "show the alerts among so many events, at each recall", type=float)
    about = "what tells examples apart, if models scored the same ones: leads are then compared in pairs"
    _one(parser, "--id", "COLUMN", about)
    _one(parser, "--title", "TEXT", "what stands on top")
    _one(parser, "--notes", "TEXT", "a text of your own")
    parser.add_argument("-o", "--output", metavar="FILE", default="report.html", help=_WHERE)
    parser.set_defaults(run=_write_report)


def _add_demo(commands: Any) -> None:
    about = "a report on two classifiers of handwritten digits, made here and now"
    parser = _command(commands, "demo", about, "It needs scikit-learn.")
    parser.add_argument("-o", "--output", metavar="FILE", default="demo.html", help=_WHERE)
    parser.set_defaults(run=_write_demo)


_WHERE = "the file to write (default: %(default)s)"


def _command(commands: Any, name: str, about: str, epilog: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def _table_command(
    commands: Any,
    name: str,
    ask: Callable[..., pl.LazyFrame],
    kind: type[PointMetric | CurveMetric],
    about: str,
) -> argparse.ArgumentParser:
    """The parser of a command that makes a table of a table, by a method of the library."""
    parser = _command(commands, name, about, f"{_FILES}\n{_known_metrics(kind)}")
    _add_table(parser)
    _several(parser, "--metrics", "METRIC", "what to compute; see below")
    _one(parser, "--confidence", "LEVEL", "add intervals of this level, such as 0.95", type=float)
    about = (
        "write here, in streams, so that tables may be larger than memory; - is CSV to standard output. "
        f"Without it a terminal shows the first {_ROWS_SHOWN} rows, and a pipe gets all as CSV"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help=about)
    parser.set_defaults(run=_make_table, ask=ask)
    return parser


def _add_table(parser: argparse.ArgumentParser) -> None:
    """The table, what it holds, and at which prevalences it is read."""
    about = "a file, a pattern such as 'days/*.parquet', or - for CSV from standard input"
    parser.add_argument("input", metavar="INPUT", help=about)
    _several(parser, "--by", "COLUMN", "group columns; each group has a curve of its own")
    _one(parser, "--model", "COLUMN", "one more group column, after those")
    _one(parser, "--score", "COLUMN", "larger means more positive (default: score)")
    _one(parser, "--label", "COLUMN", "true or false, 1 or 0, 1 or -1 (default: label)")
    _one(parser, "--pos-label", "VALUE", "the positive value, where labels are others")
    _one(parser, "--weight", "COLUMN", "a number >= 0 per row")
    about = "columns of counts per score, in place of a label"
    parser.add_argument("--counts", nargs=2, metavar=("N_POS", "N_NEG"), help=about)
    about = "columns of published ROC points, in place of score and label"
    parser.add_argument("--rates", nargs=2, metavar=("TPR", "FPR"), help=about)
    about = "what an empty score, label or weight does: stop (the default), or drop its row"
    parser.add_argument("--missing", choices=("raise", "drop"), help=about)
    about = (
        "prevalences: shares such as 0.001; ratios of positives to negatives such as 1:5000; own, each "
        "group's own (the default); or a file with a column eta and any of the group columns"
    )
    _several(parser, "--eta", "SHARE", about)


def _one(parser: argparse.ArgumentParser, option: str, metavar: str, help: str, **how: Any) -> None:
    parser.add_argument(option, metavar=metavar, help=help, **how)


def _several(parser: argparse.ArgumentParser, option: str, metavar: str, help: str) -> None:
    parser.add_argument(option, metavar=metavar, help=help, nargs="+", action="extend")


# From words to arguments ----------------------------------------------------------------------

_OURS = ("run", "ask", "input", "output", "model", "alerts")


class FilePrc(LazyFramePrc):
    """A table in files: lazy, but for what Polars has no query for."""

    def _collected(self, query: pl.LazyFrame, why: str) -> pl.DataFrame:
        return query.collect()


def _make_table(args: argparse.Namespace) -> None:
    _spare_inputs(args)
    started, put = time.monotonic(), _output(args.output)
    _say(f"reading {args.input} ...")
    table = files.scan(args.input)
    put(args.ask(FilePrc(table), **_arguments(args, table.collect_schema())))
    if args.output not in (None, files.STDIO) and sys.stderr.isatty():
        rows, seconds = _height(files.scan(args.output)), time.monotonic() - started
        _say(f"wrote {rows} rows to {args.output} in {seconds:.1f} s")


def _spare_inputs(args: argparse.Namespace) -> None:
    """What is read is not written over."""
    read = [args.input, *(args.eta or [])]
    if args.output and os.path.realpath(args.output) in files.found(read):
        raise PrcError(f"--output is {args.output!r}, which is read; write to another file")


def _write_report(args: argparse.Namespace) -> None:
    _spare_inputs(args)
    _say(f"reading {args.input} ...")
    table = files.scan(args.input)
    given = _arguments(args, table.collect_schema())
    if isinstance(given.get("eta"), pl.LazyFrame):
        raise PrcError("a report takes --eta as shares or ratios, not as a file")
    given["by"] = [name for name in given["by"] if name != args.model]
    _say(f"wrote {FilePrc(table).report(args.output, model=args.model, **given)}")


def _write_demo(args: argparse.Namespace) -> None:
    try:
        from polars_prcurve.demo import ETAS, NOTES, TITLE, digits
    except ImportError:
        raise PrcError('the demo needs scikit-learn: pip install "polars-prcurve[examples]"') from None
    _say("training two classifiers ...")
    path = prc(digits()).report(
        args.output, ETAS, model="model", id="scan", recall=0.8, title=TITLE, notes=NOTES
    )
    _say(f"wrote {path}")


def _arguments(args: argparse.Namespace, schema: pl.Schema) -> dict[str, Any]:
    """What was given, as the library takes it."""
    given = {
        name: _READ.get(name, _same)(value) for name, value in vars(args).items() if value is not None
    }
    given = given.get("alerts", {}) | given
    given["by"] = list(dict.fromkeys([*given.get("by", []), *([args.model] if args.model else [])]))
    if isinstance(given.get("eta"), pl.LazyFrame):
        given["eta"] = _with_dtypes(given["eta"], {n: schema[n] for n in given["by"] if n in schema})
    label, score = (schema.get(given.get(name, name)) for name in ("label", "score"))
    if "pos_label" in given and label is not None:
        given["pos_label"] = _value("--pos-label", given["pos_label"], label)
    if "threshold" in given and score is not None:
        given["threshold"] = [_value("--threshold", text, score) for text in given["threshold"]]
    return {name: value for name, value in given.items() if name not in _OURS}


def _same(value: Any) -> Any:
    return value


def _listed(words: Sequence[str]) -> list[str]:
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def _shares(words: Sequence[str]) -> list[float]:
    return [_number(word, "a share such as 0.9") for word in _listed(words)]


def _number(word: str, expected: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise PrcError(f"expected {expected}; got {word!r}") from None


def _prevalences(words: Sequence[str]) -> list[float | None] | pl.LazyFrame:
    if len(words) == 1 and files.format_of(words[0]):
        return files.scan(words[0])
    return [_prevalence(word) for word in _listed(words)]


def _prevalence(word: str) -> float | None:
    if word == "own":
        return None
    if ":" in word:
        return eta_from_ratio(word)
    return _number(word, "--eta as shares such as 0.001, ratios such as 1:5000, own, or one file")


def _with_dtypes(eta: pl.LazyFrame, by: dict[str, pl.DataType]) -> pl.LazyFrame:
    """Group columns as the table has them: 7 in a CSV may be text there, or a smaller integer."""
    return eta.with_columns(pl.col(n).cast(by[n]) for n in eta.collect_schema() if n in by)


def _budgets(words: Sequence[str]) -> dict[str, Any]:
    """Alerts among events, as the share of events that may be alerts."""
    try:
        pairs = [[Fraction(n) for n in word.split("/")] for word in _listed(words)]
        rates = [float(alerts / events) for alerts, events in pairs]
        if not all(0 <= rate <= 1 for rate in rates):
            raise ValueError
    except (ValueError, ZeroDivisionError):
        raise PrcError(
            f"--alerts takes ALERTS/EVENTS, such as 500/2000000; got {' '.join(words)}"
        ) from None
    if len({events for _, events in pairs}) > 1:
        raise PrcError(
            "--alerts are among the same number of events; ask for others in a run of their own"
        )
    return {"predicted_positive_rate": rates, "per": float(pairs[0][1])}


def _value(option: str, text: str, dtype: pl.DataType) -> Any:
    """The text as a value of a column of this dtype."""
    if dtype in (pl.String, pl.Enum, pl.Categorical):
        return text
    try:
        if dtype == pl.Boolean:
            return {"true": True, "false": False}[text.lower()]
        return Decimal(text) if dtype == pl.Decimal else pl.Series([text]).cast(dtype).item()
    except (KeyError, InvalidOperation, pl.exceptions.PolarsError):
        raise PrcError(f"{option} is a value of a column of {dtype}; got {text!r}") from None


# Metrics as tables name them, `f_beta(2)`: taken apart by the grammar of Python, and not evaluated.

_FUNCTIONS = {
    name: function
    for name in metrics.__all__
    if inspect.isfunction(function := getattr(metrics, name)) and name != "point"
}


def _form(name: str) -> str:
    return f"{name}({', '.join(inspect.signature(_FUNCTIONS[name]).parameters)})"


def _known_metrics(kind: type[PointMetric | CurveMetric]) -> str:
    """The metrics of points, or those of curves, for the help of a command."""
    plain = [name for name in metrics.__all__ if isinstance(getattr(metrics, name), kind)]
    made = [_form(n) for n, f in _FUNCTIONS.items() if f.__annotations__["return"] == kind.__name__]
    text = f"metrics: {', '.join(plain)}; in quotes, with parameters: {', '.join(made)}"
    return textwrap.fill(text, 79, break_long_words=False, break_on_hyphens=False)


def _metrics(words: Sequence[str]) -> list[Any]:
    text = ",".join(word.strip(" ,") for word in words)
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise PrcError(f"expected metrics, such as f1, f_beta(2) or best(f1); got {text}") from None
    return [_metric(node) for node in (tree.elts if isinstance(tree, ast.Tuple) else [tree])]


def _metric(node: ast.expr) -> Any:
    """A metric with its parameters, which may be metrics; or a name, a number or a text."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(map(_metric, node.elts))
    name = node.func if isinstance(node, ast.Call) else node
    if not isinstance(name, ast.Name) or name.id not in _FUNCTIONS:
        return ast.unparse(node)  # the library knows it, or says so
    try:
        if not isinstance(node, ast.Call) or node.keywords:
            raise TypeError
        return _FUNCTIONS[name.id](*map(_metric, node.args))
    except PrcError:
        raise
    except (TypeError, ValueError):
        raise PrcError(
            f"expected {_form(name.id)}, such as f_beta(2); got {ast.unparse(node)}"
        ) from None


_READ: dict[str, Callable[[Any], Any]] = {
    "by": _listed,
    "eta": _prevalences,
    "metrics": _metrics,
    "maximize": _metrics,
    "threshold": _listed,
    "recall": _shares,
    "fpr": _shares,
    "precision": _shares,
    "alerts": _budgets,
}


# Out ------------------------------------------------------------------------------------------


def _output(path: str | None) -> Callable[[pl.LazyFrame], None]:
    """Where rows go; a file that cannot be written is refused before any work."""
    if path is None and sys.stdout.isatty():
        return _show
    return files.write_csv if path is None or path == files.STDIO else files.writer(path)


def _height(table: pl.LazyFrame) -> int:
    return int(table.select(pl.len()).collect().item())


def _say(text: str) -> None:
    """Progress, for someone who watches."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def _show(query: pl.LazyFrame) -> None:
    """The first rows and the columns that fit; what is left out is said."""
    table = query.head(_ROWS_SHOWN + 1).collect()
    rows = _height(query) if table.height > _ROWS_SHOWN else table.height
    table = table.head(_ROWS_SHOWN)
    text, columns = _fitted(table, shutil.get_terminal_size().columns)
    print(text)
    parts = [(table.height, rows, "rows"), (columns, table.width, "columns")]
    cut = [f"{shown} of {there} {what}" for shown, there, what in parts if shown < there]
    if cut:
        print(f"{', '.join(cut)}; -o FILE writes all, such as -o table.csv", file=sys.stderr)


def _fitted(table: pl.DataFrame, width: int) -> tuple[str, int]:
    """The table as text no wider than this, if need be without counts; and how many columns that has.

    Columns are left out from the end: threshold and value come before what was computed beside.
    """
    shown, text = table, _text(table)
    left = table.drop("n_pos", "n_neg", "tp", "fp", "fn", "tn", strict=False).columns
    while left and max(map(len, text.splitlines())) > width:
        shown = table.select(left)
        text = _text(shown)
        left.pop()
    return text, shown.width


def _text(table: pl.DataFrame) -> str:
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=60,
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
    ):
        return str(table)


# Messages -------------------------------------------------------------------------------------

_WORDS = {
    r"\beta= frame": "--eta file",
    r"\beta=None": "--eta own",
    r"\bpredicted_positive_rate=": "--alerts",
    r"\bn_resamples=": "--resamples",
    r"\bpass None\b": "pass own",
    r" to a frame method": "",
    r" such as pl\.col\(\.\.\.\) == .*": "",
    r"\boperating_points\b": "points",
    r"\bmetrics\.(?=\w)": "",
    r"^a metric is a name or a PointMetric; got CurveMetric\(name='(.*?)', .*": (
        r"expected metrics of a threshold; \1 is of a whole curve, for the command summary"
    ),
    r"^(could not parse .* as dtype .*)": r"\1; in text, dtypes are told from the first 10 000 rows",
}
"""What is said in terms of Python that this command line has not."""


def _in_options(message: str, arguments: Iterable[str]) -> str:
    """The first line of a message of the library, with `label=` as `--label`."""
    line = message.partition("\n")[0]
    for pattern, words in _WORDS.items():
        line = re.sub(pattern, words, line)
    names = "|".join(name for name in arguments if name not in _OURS)

    def option(found: re.Match[str]) -> str:
        value = found[2] or found[3] or ""
        return f"--{found[1].replace('_', '-')}{' ' * bool(value)}{value}"

    return re.sub(rf"""\b({names})=(?:"(\w+)"|('[^']*'))?""", option, line) if names else line
