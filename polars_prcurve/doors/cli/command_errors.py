"""Errors of the library in the words of the command line.

Messages of the library are text in which code has a fixed form, so that it can be told from words:

    'a', "b"                  a value or a name, which stays as it is, whatever it holds
    eta=, missing="drop"      an argument, which becomes an option: --eta, --missing drop
    eta=None                  the own prevalence: --eta own
    eta=field(...)            a field of several parts: --eta FILE --parts COLUMN
    method="bootstrap"        a word of --confidence: method=bootstrap
    metrics.f_beta(2)         a metric: f_beta(2)
    .prc.curve(thresholds=9)  a method, which becomes a command: curve --thresholds 9
    such as pl.col("x")       an expression, which a command line has not: left out
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from shutil import get_terminal_size
from typing import Any, NoReturn

import polars as pl

from polars_prcurve.core.binding.argument_rules import USES
from polars_prcurve.core.binding.word_groups import TARGET_WORDS
from polars_prcurve.core.ground.argument_checks import suggest_arguments
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.ground.progress import clear_line, is_watched, print_beside
from polars_prcurve.core.ground.terminal_text import fill_lines
from polars_prcurve.core.metrics.target_kinds import ALERT_WORDS

_PHRASES = {  # code and words of the library, as a whole, and what a command line says in their place
    "None": "own",
    " to a frame method": "",
    " frame": " file",
    "as a frame": "as a file",
    "field()": "--parts",
    "field(...)": "FILE --parts COLUMN",
    "field(frame, parts=...)": "FILE --parts COLUMN",
    "label=None": "--unlabelled",
}
# Words that follow the level in --confidence, and so are no options of their own.
_WORDS_OF_CONFIDENCE = ("method", "rate", "simultaneous", "resamples", "seed")
_QUOTES = "'\""  # what stands around a text in Python, and is not typed on a command line

# A text in quotes, as `repr` writes it; the apostrophe of a word, as in `don't`, opens none.
_QUOTED = r"""(?<![\w'])'(?:[^'\\]|\\.)*'(?!\w)|"(?:[^"\\]|\\.)*\""""
# What may follow `name=`: a text, a number, a call such as `field(...)`, a list of texts, or a constant.
_VALUE = rf"(?:{_QUOTED}|-?\d[\w.+-]*|\w+\([^()]*\)|\[(?:{_QUOTED}|,\ )+\]|None|True|False)"
# The code in a message, in the forms that the docstring of this module lists, tried from the top: a text
# in quotes comes first, so that nothing inside it is taken for code.
_CODE = re.compile(
    rf"""
    (?P<quoted> {_QUOTED})                              # 'a', "b"
    | (?P<expression> ,?\ (?:such\ as|e\.g\.)\          # such as pl.col("x"), up to the next ; or quote
        (?:\w+=|1\ -\ )?pl\.(?:{_QUOTED}|[^;'"])*)
    | (?:\b(?:df|pl))?\.prc\.(?P<method> \w+)           # df.prc.curve, and what it is called with
        (?:\((?P<arguments> (?:{_QUOTED}|[^()'"]|\([^()]*\))*)\))?
    | (?P<metric> \bmetrics\.(?=\w))                    # metrics. before f_beta(2)
    | \b(?P<called> \w+)\(\)                            # curve(), a method by its name alone
    | (?<![\w.-])(?P<name> \w+)=(?P<value> {_VALUE})?   # eta=0.1, or eta= and a word after it
        (?P<frame>\ frame\b)?
    | \boperating_points\b | \bNone\b                   # and phrases that stand in _PHRASES
    | \ to\ a\ frame\ method\b | \bas\ a\ frame\b
    | \bfield\([^()]*\)
    """,
    re.X,
)


def name_command(method: str) -> str:
    """Return the command that asks a method."""
    return method.replace("_", "-")


def name_options(parser: argparse.ArgumentParser | None) -> dict[str, str]:
    """Return the option of each argument of the library, for a command."""
    if parser is None:
        return {}
    flag_of_argument = {
        action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings
    }
    return (
        {**flag_of_argument, "level": flag_of_argument["confidence"]}
        if "confidence" in flag_of_argument
        else flag_of_argument
    )


def translate_message(message: str, flag_of_argument: Mapping[str, str]) -> str:
    """Return an error of the library with its code in terms of the command line."""

    def translate(match: re.Match[str]) -> str:
        if match["quoted"]:
            return match[0]
        if match[0] in _PHRASES:
            return _PHRASES[match[0]]
        if match["method"]:
            call_arguments = match["arguments"] or ""
            own_flags = {
                name: f"--{name.replace('_', '-')}" for name in re.findall(r"(\w+)=", call_arguments)
            }
            call_options = translate_message(call_arguments, {**own_flags, **flag_of_argument}).replace(
                ", --", " --"
            )
            return f"the command {name_command(match['method'])} {call_options}".rstrip()
        if match["called"]:
            return name_command(match["called"]) if match["called"] in USES else match[0]
        if match["name"]:
            return _name_argument(match, flag_of_argument)
        # Nothing stands for an expression, or for the module of a metric.
        return name_command(match[0]) if match[0] in USES else ""

    return _CODE.sub(translate, message)


def _name_argument(match: re.Match[str], flag_of_argument: Mapping[str, str]) -> str:
    """Return an argument, and its value, as an option; one without an option as it is."""
    name, value_text = match["name"], match["value"] or ""
    if name not in flag_of_argument:
        if name not in _WORDS_OF_CONFIDENCE:
            return match[0]
        return name if value_text == "True" else f"{name}={value_text.strip(_QUOTES)}"
    if value_text in ("True", "False"):  # of a switch, whose option says which
        value_text = ""
    if value_text.startswith("["):
        value_text = ",".join(word.strip(_QUOTES) for word in value_text[1:-1].split(", "))
    if re.fullmatch(r'"\w+"', value_text):
        value_text = value_text.strip('"')
    value_text = _PHRASES.get(value_text, value_text)
    return " ".join(filter(None, [flag_of_argument[name], value_text, match["frame"] and "file"]))


class RaisingParser(argparse.ArgumentParser):
    """A parser that raises `PrcError`, so that all errors are printed in one way."""

    def error(self, message: str) -> NoReturn:
        """Raise the message; say where the table stands if it is lacking."""
        if message.endswith("required: INPUT"):
            message += f"; it comes first: {self.prog} INPUT --eta 0.001 ..."
        raise PrcError(message)

    def parse_known_args(self, *args: Any, **options: Any) -> Any:
        """Parse the words of this command; raise for words that it does not take."""
        if args and args[0] is not None:
            # Of an option of several values one word with commas becomes these; but a name may have
            # commas, so a word stays whole if others follow it.
            words = args[0]
            actions = self._actions
            n_values_of_flag = {
                flag: action.nargs for action in actions for flag in action.option_strings
            }
            single_words: list[str] = []
            for previous, word, following in zip(["", *words], words, [*words[1:], "-"], strict=False):
                single_values = word.split(",")
                is_complete = n_values_of_flag.get(previous) == len(
                    single_values
                ) and following.startswith("-")
                single_words += single_values if is_complete else [word]
            args = (single_words, *args[1:])
        namespace, unknown_words = super().parse_known_args(*args, **options)
        if unknown_words:
            word = next((word for word in unknown_words if word.startswith("-")), unknown_words[0])
            if not word.startswith("-"):
                raise PrcError(
                    f"{self.prog} takes one INPUT, a file or a pattern in quotes; got {word!r}, too"
                )
            name = word.partition("=")[0]
            argument = name.lstrip("-").replace("-", "_").lower()
            flags = [flag for flag in self._option_string_actions if flag[:2] == "--"]
            flag_of_argument = {flag.lstrip("-").replace("-", "_"): flag for flag in flags}
            hint = suggest_arguments(
                argument,
                flag_of_argument,
                weight_spelling="--weight",
                spelling=name,
                target_names=TARGET_WORDS,
            )
            raise PrcError(f"{self.prog} has no option {name!r}; {hint}")
        return namespace, unknown_words

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or a version; raise where that fails, as argparse does not."""
        print(message, end="", file=file, flush=True)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise for a word that is none of the choices."""
        if action.choices is not None and value not in action.choices:
            subject = action.option_strings[-1] if action.option_strings else "COMMAND"
            raise PrcError(f"{subject} cannot be {value!r}; {suggest_names(value, action.choices)}")


# What is said on standard error, beside the table -----------------------------------------------

PROGRAM = "polars-prcurve"  # the name of the command, which begins each line on standard error
_MOST_SENTENCES = 5  # rows without a threshold, at most, that have a sentence each


def print_note(text: str) -> None:
    """Print a sentence on what the result lacks, whoever reads standard error."""
    clear_line()
    print_sentence(f"{PROGRAM}: {text}")


def print_sentence(text: str) -> None:
    """Print a sentence on standard error: in one line, or as a terminal has room for."""
    if is_watched():
        text = "\n".join(fill_lines(text, get_terminal_size().columns))
    print_beside(text)


def print_progress(text: str) -> None:
    """Print a line on what is done, if a person watches."""
    if is_watched():
        print_beside(text)


def describe_unmet_promises(points: pl.DataFrame, by: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for the first rows of operating points that have no threshold, and a count."""
    key_columns = [*by, "eta", "criterion", "target"]
    unmet_rows = points.filter(pl.col("threshold").is_null())
    unmet_rows = unmet_rows.unique(key_columns, keep="first", maintain_order=True)
    for row in unmet_rows.head(_MOST_SENTENCES).to_dicts():
        place_phrase = "".join(f"{name} = {row[name]}, " for name in by) + f"eta {row['eta']:g}"
        target_phrase = row["criterion"] + ("" if row["target"] is None else f" {row['target']:g}")
        # What even perfect scores need, and what it means if the table has it.
        size_of_class = {"positives": row["n_pos_needed"], "negatives": row["n_neg_needed"]}
        needed_size_of_class = {
            class_name: size for class_name, size in size_of_class.items() if size is not None
        }
        numbers = " and ".join(
            f"{size:,.0f} {class_name}" for class_name, size in needed_size_of_class.items()
        )
        columns = ", ".join(f"n_{class_name[:3]}_needed" for class_name in needed_size_of_class)
        remedy = (
            f"even perfect scores need {numbers} ({columns}); if the table has as many, it is the scores"
        )
        if not needed_size_of_class:
            has_budget = row["criterion"] in ALERT_WORDS
            advice = "take a larger budget, or" if has_budget else "lower the guarantee, or take"
            remedy = f"{advice} a larger test set"
        elif math.inf in needed_size_of_class.values():
            remedy = "no test set could prove it"
        level_phrase = f"with a guarantee of {row['guarantee']:g}"
        yield f"{place_phrase}: no threshold keeps {target_phrase} {level_phrase}; {remedy}"
    if unmet_rows.height > _MOST_SENTENCES:
        yield f"{unmet_rows.height - _MOST_SENTENCES} more rows have no threshold either"


def describe_needed_sizes(sizes: pl.DataFrame, delta: float | None) -> Iterator[str]:
    """Yield why sizes are missing, and that a band as wide as precision itself says little of it."""
    is_met = pl.col("recall").is_not_null()
    rows_without_sizes = sizes.filter(is_met & pl.col("n_neg_needed").is_null())
    if rows_without_sizes.height:
        rows = f"{rows_without_sizes.height} row{'' if rows_without_sizes.height == 1 else 's'}"
        yield (
            f"{rows} without numbers: no positive or no negative is flagged there, so the "
            "table has no such rate"
        )
    if "eta" not in sizes.columns or delta is None:  # of a share of the precision
        return
    true_share, false_share = pl.col("recall") * pl.col("eta"), pl.col("fpr") * (1 - pl.col("eta"))
    precisions = sizes.select((true_share / (true_share + false_share)).alias("precision"))[
        "precision"
    ].to_list()
    low_precisions = [
        precision for precision in precisions if precision is not None and 0 < precision <= delta
    ]
    if low_precisions:
        n_low, lowest_text, highest_text = (
            len(low_precisions),
            f"{min(low_precisions):.2g}",
            f"{max(low_precisions):.2g}",
        )
        span_text = lowest_text if lowest_text == highest_text else f"{lowest_text} to {highest_text}"
        yield (
            f"precision is {span_text} in {n_low} of {sizes.height} rows, so a band {delta:g} wide is "
            f"useless; pass --relative, or a smaller --delta, such as {min(low_precisions) / 2:.1g}"
        )
