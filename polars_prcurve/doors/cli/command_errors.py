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
from polars_prcurve.core.ground.argument_checks import suggest_arguments
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.ground.progress import clear_line, is_watched, print_beside
from polars_prcurve.core.ground.terminal_text import fill_lines

_METHODS = {"operating_points": "points", "estimate_prevalence": "estimate"}  # with names of their own
_PHRASES = {
    "None": "own",
    " to a frame method": "",
    " frame": " file",
    "as a frame": "as a file",
    "field()": "--parts",
    "field(...)": "FILE --parts COLUMN",
    "field(frame, parts=...)": "FILE --parts COLUMN",
    "label=None": "--unlabelled",
}
_WORDS_OF_CONFIDENCE = ("method", "rate", "simultaneous", "resamples", "seed")
_QUOTES = "'\""

_QUOTED = r"""(?<![\w'])'(?:[^'\\]|\\.)*'(?!\w)|"(?:[^"\\]|\\.)*\""""
_VALUE = rf"(?:{_QUOTED}|-?\d[\w.+-]*|\w+\([^()]*\)|\[(?:{_QUOTED}|,\ )+\]|None|True|False)"
_CODE = re.compile(
    rf"""
    (?P<quoted> {_QUOTED})
    | (?P<expression> ,?\ (?:such\ as|e\.g\.)\ (?:\w+=|1\ -\ )?pl\.(?:{_QUOTED}|[^;'"])*)
    | (?:\b(?:df|pl))?\.prc\.(?P<method> \w+)(?:\((?P<arguments> (?:{_QUOTED}|[^()'"]|\([^()]*\))*)\))?
    | (?P<metric> \bmetrics\.(?=\w))
    | \b(?P<called> \w+)\(\)
    | (?<![\w.-])(?P<name> \w+)=(?P<value> {_VALUE})?(?P<frame>\ frame\b)?
    | \boperating_points\b | \bNone\b | \ to\ a\ frame\ method\b | \bas\ a\ frame\b
    | \bfield\([^()]*\)
    """,
    re.X,
)


def name_command(method: str) -> str:
    """Return the command that asks a method."""
    return _METHODS.get(method, method.replace("_", "-"))


def name_options(parser: argparse.ArgumentParser | None) -> dict[str, str]:
    """Return the option of each argument of the library, for a command."""
    if parser is None:
        return {}
    options = {a.dest: a.option_strings[-1] for a in parser._actions if a.option_strings}
    return {**options, "level": options["confidence"]} if "confidence" in options else options


def translate_message(message: str, options: Mapping[str, str]) -> str:
    """Return an error of the library with its code in terms of the command line."""

    def translate(found: re.Match[str]) -> str:
        if found["quoted"]:
            return found[0]
        if found[0] in _PHRASES:
            return _PHRASES[found[0]]
        if found["method"]:
            code = found["arguments"] or ""
            named = {name: f"--{name.replace('_', '-')}" for name in re.findall(r"(\w+)=", code)}
            arguments = translate_message(code, {**named, **options}).replace(", --", " --")
            return f"the command {name_command(found['method'])} {arguments}".rstrip()
        if found["called"]:
            return name_command(found["called"]) if found["called"] in USES else found[0]
        if found["name"]:
            return _name_argument(found, options)
        return _METHODS.get(found[0], "")  # nothing for an expression, or for the module of a metric

    return _CODE.sub(translate, message)


def _name_argument(found: re.Match[str], options: Mapping[str, str]) -> str:
    """Return an argument, and its value, as an option; one without an option as it is."""
    name, value = found["name"], found["value"] or ""
    if name not in options:
        if name not in _WORDS_OF_CONFIDENCE:
            return found[0]
        return name if value == "True" else f"{name}={value.strip(_QUOTES)}"
    if value in ("True", "False"):  # of a switch, whose option says which
        value = ""
    if value.startswith("["):
        value = ",".join(word.strip(_QUOTES) for word in value[1:-1].split(", "))
    if re.fullmatch(r'"\w+"', value):
        value = value.strip('"')
    value = _PHRASES.get(value, value)
    return " ".join(filter(None, [options[name], value, found["frame"] and "file"]))


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
            numbers = {flag: each.nargs for each in self._actions for flag in each.option_strings}
            split: list[str] = []
            for before, word, after in zip(["", *words], words, [*words[1:], "-"], strict=False):
                parts = word.split(",")
                are_all = numbers.get(before) == len(parts) and after.startswith("-")
                split += parts if are_all else [word]
            args = (split, *args[1:])
        namespace, unknown = super().parse_known_args(*args, **options)
        if unknown:
            word = next((word for word in unknown if word.startswith("-")), unknown[0])
            if not word.startswith("-"):
                raise PrcError(
                    f"{self.prog} takes one INPUT, a file or a pattern in quotes; got {word!r}, too"
                )
            name = word.partition("=")[0]
            argument = name.lstrip("-").replace("-", "_").lower()
            flags = [flag for flag in self._option_string_actions if flag[:2] == "--"]
            known = {flag.lstrip("-").replace("-", "_"): flag for flag in flags}
            hint = suggest_arguments(argument, known, weight_spelling="--weight", spelling=name)
            raise PrcError(f"{self.prog} has no option {name!r}; {hint}")
        return namespace, unknown

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or a version; raise where that fails, as argparse does not."""
        print(message, end="", file=file, flush=True)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise for a word that is none of the choices."""
        if action.choices is not None and value not in action.choices:
            what = action.option_strings[-1] if action.option_strings else "COMMAND"
            raise PrcError(f"{what} cannot be {value!r}; {suggest_names(value, action.choices)}")


# What is said on standard error, beside the table -----------------------------------------------

PROGRAM = "polars-prcurve"
_SHOWN = 5


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
    keys = [*by, "eta", "criterion", "target"]
    unmet = points.filter(pl.col("threshold").is_null()).unique(keys, keep="first", maintain_order=True)
    for row in unmet.head(_SHOWN).to_dicts():
        where = "".join(f"{name} = {row[name]}, " for name in by) + f"eta {row['eta']:g}"
        target = row["criterion"] + ("" if row["target"] is None else f" {row['target']:g}")
        # What even perfect scores need, and what it means if the table has it.
        sizes = {"positives": row["n_pos_needed"], "negatives": row["n_neg_needed"]}
        needed = {what: n for what, n in sizes.items() if n is not None}
        numbers = " and ".join(f"{n:,.0f} {what}".replace(",", " ") for what, n in needed.items())
        columns = ", ".join(f"n_{what[:3]}_needed" for what in needed)
        need = (
            f"even perfect scores need {numbers} ({columns}); if the table has as many, it is the scores"
        )
        if not needed:
            has_budget = row["criterion"] in ("alerts", "predicted_positive_rate")
            larger = "take a larger budget, or" if has_budget else "promise less, or take"
            need = f"{larger} a larger test set"
        elif math.inf in needed.values():
            need = "no test set could prove it"
        level = f"with a guarantee of {row['guarantee']:g}"
        yield f"{where}: no threshold keeps {target} {level}; {need}"
    if unmet.height > _SHOWN:
        yield f"{unmet.height - _SHOWN} more rows have no threshold either"


def describe_needed_sizes(sizes: pl.DataFrame, delta: float | None) -> Iterator[str]:
    """Yield why sizes are missing, and that a band as wide as precision itself says little of it."""
    is_met = pl.col("recall").is_not_null()
    missing = sizes.filter(is_met & pl.col("n_neg_needed").is_null())
    if missing.height:
        rows = f"{missing.height} row{'' if missing.height == 1 else 's'}"
        yield (
            f"{rows} without numbers: no positive is found there, or no negative is flagged, so the "
            "table does not tell the rate that they depend on"
        )
    if "eta" not in sizes.columns or delta is None:  # of a share of the precision
        return
    true, false = pl.col("recall") * pl.col("eta"), pl.col("fpr") * (1 - pl.col("eta"))
    precision = sizes.select((true / (true + false)).alias("precision"))["precision"].to_list()
    low = [value for value in precision if value is not None and 0 < value <= delta]
    if low:
        least, most = f"{min(low):.2g}", f"{max(low):.2g}"
        span = least if least == most else f"{least} to {most}"
        yield (
            f"precision is {span} in {len(low)} of {sizes.height} rows, so a band {delta:g} wide says "
            f"little of it; pass --relative, or a smaller --delta, such as {min(low) / 2:.1g}"
        )
