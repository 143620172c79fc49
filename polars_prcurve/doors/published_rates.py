"""Tests of which a paper prints rates: `from_rates` makes them a bound table.

A paper rounds a rate to a few digits. The whole count that prints as it does is what was counted, so
intervals are those of counts: a recall of 0.873 of 142 positives is 124 of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import polars as pl

from polars_prcurve.core.ground.argument_checks import find_repeats, read_list, read_number, refuse_kind
from polars_prcurve.core.ground.argument_hints import hint_at_arguments
from polars_prcurve.core.ground.errors import PrcError, warn_caller
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.ground.value_checks import is_literal
from polars_prcurve.doors.namespace import prc
from polars_prcurve.doors.namespace.frame import DataFramePrc

Numbers: TypeAlias = float | Sequence[float | None] | None
"""A rate or a size: of one test, or a list with one of each test."""
_OF_POSITIVES = ("recall", "sensitivity")
_OF_NEGATIVES = ("fpr", "specificity", "precision")
"""Two rates determine what a test does: one of each row. A precision does with the prevalence."""
_ROUNDING = 1e-9  # how far a product of floats may be from the whole number that it is


@hint_at_arguments
def from_rates(
    *,
    recall: Numbers = None,
    fpr: Numbers = None,
    sensitivity: Numbers = None,
    specificity: Numbers = None,
    precision: Numbers = None,
    n_pos: Numbers = None,
    n_neg: Numbers = None,
    eta: Numbers = None,
    names: str | Sequence[str] | None = None,
) -> DataFramePrc:
    """Return a bound table of tests for which a paper reports two rates.

    One rate describes the positives, `recall` or `sensitivity`; the other is `fpr`, `specificity` or
    `precision`. Each argument is a number or, with `names`, a list of numbers, one for each test.

    Parameters
    ----------
    precision
        At the test's prevalence eta, `fpr = recall * eta * (1 - precision) / (precision * (1 - eta))`.
    n_pos, n_neg
        How many positives and negatives were tested; None in a list if a paper does not report them.
        Without them nothing has an interval. A rate becomes the exact ratio of whole counts that rounds
        to it; if there is none, it stays, with a warning.
    eta
        The prevalence of the test behind `precision`, if its sizes are not known.
    names
        The names of tests.

    Returns
    -------
    A bound table with a row for each test, by `name` if there are names. It holds `cells=`, or if some
    count is not known `rates=`, with `sizes=` where these are known. One point needs no target in
    `operating_points`, `decide`, `sample_size`, `plot.p3_curve` and `plot.metric_by_eta`.

    Examples
    --------
    >>> from polars_prcurve import from_rates
    >>> test = from_rates(sensitivity=0.873, specificity=0.886, n_pos=142, n_neg=5_780)
    >>> pl.DataFrame(test).rows()
    [(124, 659, 18, 5121)]
    >>> points = test.operating_points(0.005, metrics="precision", confidence=0.95)
    >>> points.select(pl.col("precision", "precision_low", "precision_high").round(3)).row(0)
    (0.037, 0.033, 0.04)

    An abstract has recall, precision and the prevalence, 12%. What is the precision at 1%?

    >>> paper = from_rates(recall=0.81, precision=0.64, eta=0.12)
    >>> paper.operating_points(0.01, metrics="precision")["precision"].round(3).item()
    0.116
    """
    numbers_of_argument = {
        "recall": recall,
        "sensitivity": sensitivity,
        "fpr": fpr,
        "specificity": specificity,
        "precision": precision,
        "n_pos": n_pos,
        "n_neg": n_neg,
        "eta": eta,
    }
    passed = {name: numbers for name, numbers in numbers_of_argument.items() if numbers is not None}
    hit_word, false_word = (_choose_word(passed, words) for words in (_OF_POSITIVES, _OF_NEGATIVES))
    _check_sizes(passed, false_word)
    rows = _list_rows(passed, names)
    schema = {"recall": pl.Float64, "fpr": pl.Float64, "n_pos": pl.Int64, "n_neg": pl.Int64}
    points = [_read_point(row, hit_word, false_word) for row in rows]
    frame = pl.DataFrame(points, schema=schema, orient="row")
    source: dict[str, Any] = {"rates": ("recall", "fpr"), "sizes": ("n_pos", "n_neg")}
    tp, fp = pl.col("recall") * pl.col("n_pos"), pl.col("fpr") * pl.col("n_neg")
    is_whole = pl.all_horizontal((count - count.round()).abs() < _ROUNDING for count in (tp, fp))
    if "n_pos" not in passed:
        frame, source = frame.select("recall", "fpr"), {"rates": ("recall", "fpr")}
    elif frame.select(is_whole.fill_null(False).all()).item():
        tp, fp = tp.round().cast(pl.Int64), fp.round().cast(pl.Int64)
        frame = frame.select(tp=tp, fp=fp, fn=pl.col("n_pos") - tp, tn=pl.col("n_neg") - fp)
        source = {"cells": tuple(frame.columns)}
    if names is None:
        return prc(frame, **source)
    name_series = pl.Series("name", [row["names"] for row in rows], dtype=pl.String)
    frame = frame.insert_column(0, name_series)
    return DataFramePrc(frame, {"by": "name", **source}, name_series.to_list())


def _choose_word(passed: Mapping[str, Any], words: Sequence[str]) -> str:
    """Return the one of these words that was passed; raise for none, and for several."""
    passed_words = [word for word in words if word in passed]
    if len(passed_words) == 1:
        return passed_words[0]
    words_text = join_words((f"{word}=" for word in words), "or")
    fault_text = join_words([f"{word}=" for word in passed_words] or ["none of them"])
    raise PrcError(f"from_rates() takes one of {words_text}; got {fault_text}")


def _check_sizes(passed: Mapping[str, Any], false_word: str) -> None:
    """Raise unless both sizes are known or neither; and for an eta without effect, or a missing one."""
    if ("n_pos" in passed) != ("n_neg" in passed):
        missing_word = "n_neg" if "n_pos" in passed else "n_pos"
        raise PrcError(f"pass {missing_word}= as well: both sizes are known, or neither")
    has_sizes, has_eta = "n_pos" in passed, "eta" in passed
    if has_eta and false_word != "precision":
        raise PrcError(
            "leave out eta=, and pass it to the method that you call, such as "
            f"operating_points(eta): recall and {false_word} do not depend on the prevalence"
        )
    if has_eta and has_sizes:
        raise PrcError("leave out eta=: n_pos= and n_neg= give the prevalence of the test")
    if false_word == "precision" and not (has_eta or has_sizes):
        raise PrcError(
            "pass n_pos= and n_neg=, or the prevalence of the test as eta=: precision= depends on it"
        )


def _list_rows(passed: Mapping[str, Any], names: object) -> list[dict[str, Any]]:
    """Return the arguments of each test; raise unless lists have the same lengths, and names."""
    values_of_word: dict[str, list[Any]] = {
        word: read_list(f"{word}=", value, "a number, or a list of numbers", (Real, str))
        for word, value in passed.items()
    }
    if names is not None:
        values_of_word["names"] = read_list("names=", names, "a name, or a list of names", str)
        for name in values_of_word["names"]:
            if not isinstance(name, str) or not is_literal(name):
                raise refuse_kind("names=", "texts", name)
        if not values_of_word["names"]:
            raise PrcError("names= takes at least one name; got none")
        if repeats := find_repeats(values_of_word["names"]):
            raise PrcError(f"give each test its own name: names= holds {repeats[0]!r} twice")
    lengths = {word: len(values) for word, values in values_of_word.items()}
    n_tests = max(lengths.values()) if names is None else lengths["names"]
    if n_tests > 1 and names is None:
        raise PrcError(
            "pass names=, one for each test; for several thresholds of one test, pass "
            'prc(table, rates=("recall", "fpr"))'
        )
    for word, length in lengths.items():
        is_number = isinstance(passed.get(word), Real)
        if length != n_tests and not is_number:
            raise PrcError(f"{word}= takes one number per name, {n_tests}; got {length}")
        values_of_word[word] *= n_tests if is_number else 1
    rows = zip(*values_of_word.values(), strict=True)
    return [dict(zip(values_of_word, row, strict=True)) for row in rows]


def _read_point(row: Mapping[str, Any], hit_word: str, false_word: str) -> tuple[Any, ...]:
    """Return recall, fpr and the sizes of a test; raise for rates that no test has."""
    hit_rate, false_rate = (_read_share(word, row[word]) for word in (hit_word, false_word))
    n_pos, n_neg = (_read_size(word, row.get(word)) for word in ("n_pos", "n_neg"))
    if (n_pos is None) != (n_neg is None):
        raise PrcError("pass both sizes of a test, n_pos= and n_neg=, or None for both")
    recall = _round_to_count(f"{hit_word}={hit_rate!r}", hit_rate, n_pos)
    false_argument_text = f"{false_word}={false_rate!r}"
    if false_word == "fpr":
        return recall, _round_to_count(false_argument_text, false_rate, n_neg), n_pos, n_neg
    if false_word == "specificity":
        # In decimals, so that 1 less 0.886 is 0.114, as a paper has it.
        fpr = float(1 - Decimal(repr(false_rate)))
        return recall, _round_to_count(false_argument_text, fpr, n_neg), n_pos, n_neg
    if n_pos is None and "eta" not in row:
        raise PrcError(
            "pass n_pos= and n_neg= of the test, or eta=, with precision=: without them the "
            "prevalence is unknown"
        )
    eta = _read_share("eta", row["eta"]) if n_pos is None or n_neg is None else n_pos / (n_pos + n_neg)
    if not (0 < eta < 1 and recall > 0 and false_rate > 0):
        raise PrcError(
            f"pass {hit_word}= and precision= above 0, and a prevalence between 0 and 1: "
            f"otherwise they do not determine fpr; got {hit_word}={hit_rate!r}, "
            f"precision={false_rate!r} and a prevalence of {eta:.4g}"
        )
    false_per_negative = recall * eta * (1 - false_rate) / (false_rate * (1 - eta))
    if false_per_negative > 1:
        least = recall * eta / (recall * eta + 1 - eta)
        raise PrcError(
            f"check the sizes, or eta=: no fpr gives precision={false_rate!r} at "
            f"{hit_word}={hit_rate!r} and a prevalence of {eta:.4g}, where precision is at "
            f"least {least:.4g}"
        )
    if n_pos is None or n_neg is None:
        return recall, false_per_negative, None, None
    n_hits, n_false = recall * n_pos, round(false_per_negative * n_neg)
    if _prints_as(n_hits / (n_hits + n_false), false_rate):
        return recall, n_false / n_neg, n_pos, n_neg
    _warn(false_argument_text, f"{n_hits:.10g} true positives and a whole number of false ones")
    return recall, false_per_negative, n_pos, n_neg


def _round_to_count(passed_text: str, rate: float, size: int | None) -> float:
    """Return the rate of the whole count that prints as a rate does; the rate if there is none."""
    if size is None or _prints_as(round(rate * size) / size, rate):
        return rate if size is None else round(rate * size) / size
    _warn(passed_text, f"a whole number of {size:,} examples")
    return rate


def _prints_as(value: float, rate: float) -> bool:
    """Return whether a value, in as many decimals as a rate has, is that rate."""
    unit = Decimal(1).scaleb(int(Decimal(repr(rate)).as_tuple().exponent))
    # Either neighbour, where the value is in the middle of both: papers round in both ways.
    return abs(Decimal(value) - Decimal(repr(rate))) <= unit / 2 + Decimal(_ROUNDING)


def _warn(passed_text: str, whole_text: str) -> None:
    """Warn of a rate that is not what a paper can have counted."""
    warn_caller(f"check the sizes: {passed_text} is not the share of {whole_text}; it stays as it is")


def _read_share(word: str, value: object) -> float:
    """Return a rate as a float; raise unless it is a share."""
    expected_phrase = 'a share, such as 0.873 or "87.3%"'
    return read_share(f"{word}=", value, expected_phrase, lambda share: 0 <= share <= 1)


def _read_size(word: str, value: object) -> int | None:
    """Return a number of examples; raise unless it is a whole one, or None."""
    if value is None:
        return None
    expected_phrase = "a whole number of examples, at least 1"
    return int(read_number(f"{word}=", value, expected_phrase, lambda x: x >= 1 and x % 1 == 0))
