"""The parser of the command line: a command for each method, an option for each of its arguments."""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from polars_prcurve.core.binding.shared_arguments import TABLE_WORDS, TARGET_WORDS
from polars_prcurve.core.ground.argument_hints import suggest_arguments
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.ground.package_version import __version__
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_base import DECLARED_BY_NAME, list_factories
from polars_prcurve.core.metrics.metric_lookup import format_signature
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.doors.cli.options import Kind, describe_argument, find_kind
from polars_prcurve.doors.namespace.frame import LazyFramePrc

PROGRAM = "polars-prcurve"  # the name of the command, which begins each line on standard error
# What `polars-prcurve --help` prints first; its lines fit a terminal of 80 columns, as all texts here
# do.
_PROGRAM_HELP = """\
Precision-recall analysis at any prevalence, for tables in files: a row per
example, with its score and its label.

Prevalence (--eta) is a fraction or a percentage: 0.001, 1/1000 and 0.1% are
1 in 1,000. With a colon it is a ratio of positives to negatives: 1:5000 is 1
positive to 5,000 negatives, and 1/5000 is 1 positive in 5,000 cases.
"""
# What `polars-prcurve --help` prints last: questions, each with the command that answers it.
_EXAMPLES_HELP = """\
examples:
  Which model is better at a prevalence of 1 in 1,000?
    polars-prcurve summary scores.parquet --by model --eta 0.001
  Which threshold has a precision of 0.9? Which gives 500 alerts in 2 million?
    polars-prcurve operating-points scores.csv --eta 1:5000 --precision 0.9 \\
      --alerts 500/2000000
  Which model to use, at which threshold? One verdict, and a report to send:
    polars-prcurve decide scores.csv --score a,b --eta 0.1% --recall 60% \\
      --report r.html
  Precision and F1 at all thresholds, at two prevalences, into a file:
    polars-prcurve curve s.csv --eta 1% own --metrics precision f1 -o c.csv

polars-prcurve COMMAND --help lists the options of a command.
"""
# What the help of each command that reads a table prints last.
_FILES_HELP = """\
Options are the arguments of the method; errors use their Python names: eta= is
--eta. Several values of an option are separated by spaces or commas, and INPUT
comes before such options. The file extension sets the format: .parquet, .csv,
.tsv, .ndjson, .jsonl, .arrow, .feather or .ipc.

--confidence takes options after the level, as in 95%,method=bootstrap,seed=1:
method=bootstrap has intervals of all metrics (resamples=1000); rectangle has at
least the level, not the level on average; rate=jeffreys, clopper_pearson or
hoeffding is the interval of rates; simultaneous holds at all thresholds.
"""


@dataclass(frozen=True)
class Command:
    """A command, which calls a method of a table in files."""

    method: str
    run: Callable[[argparse.Namespace], int | None]
    columns: str = ""  # those of the result that a terminal shows first, with blanks between them
    own_options: str = ""  # options that are no arguments, with blanks between them
    output: str | None = None  # the document that it writes if no other file is named

    @property
    def name(self) -> str:
        return self.method.replace("_", "-")

    @property
    def about(self) -> str:
        """What the method does: the first sentence of its docstring, which `python -OO` has not."""
        docstring = getattr(LazyFramePrc, self.method).__doc__ or ""
        return " ".join(docstring.partition("\n\n")[0].split()).partition("; a LazyFrame")[0]

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(getattr(LazyFramePrc, self.method)).parameters

    def find_default(self, name: str) -> Any:
        """Return what an option is if it is not given; None for one that is no argument."""
        parameter = self.parameters.get(name)
        return parameter.default if parameter else self.output if name == "output" else None

    @cached_property
    def kind_of_option(self) -> dict[str, Kind]:
        """The kind of each option, for arguments of the method, and for words that it reads."""
        parameters = self.parameters
        names = [name for name in parameters if name not in ("self", "path")]
        names += ["parts"] if "eta" in names else []
        names += [*self.own_options.split(), *(["table"] if "score" in names else [])]
        names += [*(["qrels"] if "below" in names else []), "output"]
        return {
            name: find_kind(name, str(getattr(parameters.get(name), "annotation", ""))) for name in names
        }


class RaisingParser(argparse.ArgumentParser):
    """A parser that raises `PrcError`, so that all errors are printed in one way."""

    def error(self, message: str) -> NoReturn:
        """Raise the message, with the place of the table if it is missing."""
        if message.endswith("required: INPUT"):
            message += f"; it comes first: {self.prog} INPUT --eta 0.001 ..."
        raise PrcError(message)

    def parse_known_args(self, *args: Any, **options: Any) -> Any:
        """Parse the words of this command; raise for words that it does not take."""
        namespace, unknown_words = super().parse_known_args(*args, **options)
        if unknown_words:
            word = next((word for word in unknown_words if word.startswith("-")), unknown_words[0])
            if not word.startswith("-"):
                raise PrcError(
                    f"{self.prog} takes one INPUT, a file or a pattern in quotes; got {word!r} as well"
                )
            flag = word.partition("=")[0]
            hint = suggest_arguments(
                _name_argument(flag).lower(),
                {_name_argument(flag): flag for flag in self._option_string_actions if flag[:2] == "--"},
                weight_spelling="--weight",
                spelling=flag,
                target_names=TARGET_WORDS,
            )
            raise PrcError(f"{self.prog} has no option {flag!r}; {hint}")
        return namespace, unknown_words

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or a version; raise where that fails, as argparse does not."""
        print(message, end="", file=file, flush=True)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise for a word that is no command."""
        if action.choices is not None and value not in action.choices:
            raise PrcError(f"COMMAND cannot be {value!r}; {suggest_names(value, action.choices)}")


def _name_argument(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")


def build_parser(commands: list[Command], asked_name: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the program, with the options of the command that is called, or of all."""
    settings: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    settings["allow_abbrev"] = False
    parser = RaisingParser(PROGRAM, description=_PROGRAM_HELP, epilog=_EXAMPLES_HELP, **settings)
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in commands:
        about, usage = command.about, f"{PROGRAM} {command.name} INPUT [options]"
        description = textwrap.fill(about, 79)
        command_parser = subparsers.add_parser(
            command.name, help=about, description=description, usage=usage, **settings
        )
        if asked_name in (None, command.name):
            _add_options(command_parser, command)
    return parser


def _add_options(parser: argparse.ArgumentParser, command: Command) -> None:
    """Add an option for each argument of the method of a command."""
    types = [str(item.annotation) for name, item in command.parameters.items() if "metric" in name]
    parser.epilog = "\n".join([_FILES_HELP, *describe_metrics("".join(types))])
    input_help = "a file, a pattern such as 'days/*.parquet', or - for CSV from standard input"
    parser.add_argument("input", metavar="INPUT", help=input_help)
    targets, table = (parser.add_argument_group(title) for title in ("targets", "the table"))
    group_of_word = dict.fromkeys((*TABLE_WORDS, "table", "qrels"), table)
    group_of_word |= dict.fromkeys(TARGET_WORDS, targets)
    for name, kind in command.kind_of_option.items():
        default = command.find_default(name)
        description = describe_argument(command.method, name)
        if not kind.metavar:  # a switch has no value
            description = re.sub("^True,? ", "", description)
        if type(default) in (str, int, float) and "(default" not in description:
            description += f" (default: {default})"
        settings: dict[str, Any] = {"dest": name, "required": default is inspect.Parameter.empty}
        if kind.metavar:
            settings["metavar"] = kind.metavar
            settings |= {"nargs": "+", "action": "extend"} if kind.takes_several else {}
        else:  # a switch of what is on by default turns it off
            settings |= {"action": "store_const", "const": default is not True}
        flags = ["-o"] if name == "output" else []
        flags.append(f"--{'no-' if default is True else ''}{name.replace('_', '-')}")
        group = group_of_word.get(name, parser)
        group.add_argument(*flags, help=description.replace("%", "%%"), **settings)
    parser.set_defaults(command=command, run=command.run, output=command.output)


def describe_metrics(annotation: str) -> Iterator[str]:
    """Yield the names of all point metrics, or of all curve metrics, if a type holds them."""
    metric_classes: list[type[PointMetric | CurveMetric]] = [CurveMetric, PointMetric]
    for metric_class in metric_classes:
        if metric_class.__name__ in annotation:
            names = [
                name for name, metric in DECLARED_BY_NAME.items() if isinstance(metric, metric_class)
            ]
            signatures = ", ".join(map(format_signature, list_factories(metric_class)))
            text = f"metrics: {', '.join(sorted(names))}; in quotes, with parameters: {signatures}"
            yield textwrap.fill(text, 79, break_long_words=False, break_on_hyphens=False)
