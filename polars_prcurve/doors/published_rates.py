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
from polars_prcurve.core.ground.column_checks import is_literal
from polars_prcurve.core.ground.errors import PrcError, warn_caller
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.doors.namespace import prc
from polars_prcurve.doors.namespace.frame import DataFramePrc

Numbers: TypeAlias = float | Sequence[float | None] | None
"""A rate or a size: of one test, or a list with one of each test."""
# Two rates determine what a test does: one of each row. A precision does with the prevalence.
_OF_POSITIVES = ("recall", "sensitivity")  # shares of the positives
_OF_NEGATIVES = ("fpr", "specificity", "precision")  # what gives the false positives
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
        Without them nothing has an interval, and a recall below fpr warns. A rate becomes the exact
        ratio of whole counts that rounds to it; if there is none, it stays, with a warning.
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
    numbers_by_argument = {
        "recall": recall,
        "sensitivity": sensitivity,
        "fpr": fpr,
        "specificity": specificity,
        "precision": precision,
        "n_pos": n_pos,
        "n_neg": n_neg,
        "eta": eta,
    }
    passed_numbers = {name: values for name, values in numbers_by_argument.items() if values is not None}
    hit_argument = _choose_argument(passed_numbers, _OF_POSITIVES)
    false_argument = _choose_argument(passed_numbers, _OF_NEGATIVES)
    _check_sizes(passed_numbers, false_argument)
    test_records = _list_test_records(passed_numbers, names)
    schema = {"recall": pl.Float64, "fpr": pl.Float64, "n_pos": pl.Int64, "n_neg": pl.Int64}
    point_tuples = [_read_point(record, hit_argument, false_argument) for record in test_records]
    frame = pl.DataFrame(point_tuples, schema=schema, orient="row")
    table_arguments: dict[str, Any] = {"rates": ("recall", "fpr"), "sizes": ("n_pos", "n_neg")}
    tp_expr, fp_expr = pl.col("recall") * pl.col("n_pos"), pl.col("fpr") * pl.col("n_neg")
    is_whole_expr = pl.all_horizontal(
        (count_expr - count_expr.round()).abs() < _ROUNDING for count_expr in (tp_expr, fp_expr)
    )
    if "n_pos" not in passed_numbers:
        frame, table_arguments = frame.select("recall", "fpr"), {"rates": ("recall", "fpr")}
    elif frame.select(is_whole_expr.fill_null(False).all()).item():
        tp_expr, fp_expr = tp_expr.round().cast(pl.Int64), fp_expr.round().cast(pl.Int64)
        frame = frame.select(
            tp=tp_expr, fp=fp_expr, fn=pl.col("n_pos") - tp_expr, tn=pl.col("n_neg") - fp_expr
        )
        table_arguments = {"cells": tuple(frame.columns)}
    if names is None:
        return prc(frame, **table_arguments)
    name_series = pl.Series("name", [record["names"] for record in test_records], dtype=pl.String)
    frame = frame.insert_column(0, name_series)
    return DataFramePrc(frame, {"by": "name", **table_arguments}, name_series.to_list())


def _choose_argument(passed_numbers: Mapping[str, Any], argument_names: Sequence[str]) -> str:
    """Return the one of these words that was passed; raise for none, and for several."""
    passed_names = [argument for argument in argument_names if argument in passed_numbers]
    if len(passed_names) == 1:
        return passed_names[0]
    names_text = join_words((f"{argument}=" for argument in argument_names), "or")
    fault_text = join_words([f"{argument}=" for argument in passed_names] or ["none of them"])
    raise PrcError(f"from_rates() takes one of {names_text}; got {fault_text}")


def _check_sizes(passed_numbers: Mapping[str, Any], false_argument: str) -> None:
    """Raise unless both sizes are known or neither; and for an eta without effect, or a missing one."""
    if ("n_pos" in passed_numbers) != ("n_neg" in passed_numbers):
        missing_argument = "n_neg" if "n_pos" in passed_numbers else "n_pos"
        raise PrcError(f"pass {missing_argument}= as well: both sizes are known, or neither")
    has_sizes, has_eta = "n_pos" in passed_numbers, "eta" in passed_numbers
    if has_eta and false_argument != "precision":
        raise PrcError(
            "leave out eta=, and pass it to the method that you call, such as "
            f"operating_points(eta): recall and {false_argument} do not depend on the prevalence"
        )
    if has_eta and has_sizes:
        raise PrcError("leave out eta=: n_pos= and n_neg= give the prevalence of the test")
    if false_argument == "precision" and not (has_eta or has_sizes):
        raise PrcError(
            "pass n_pos= and n_neg=, or the prevalence of the test as eta=: precision= depends on it"
        )


def _list_test_records(passed_numbers: Mapping[str, Any], names: object) -> list[dict[str, Any]]:
    """Return the arguments of each test; raise unless lists have the same lengths, and names."""
    values_by_argument: dict[str, list[Any]] = {
        argument: read_list(f"{argument}=", value, "a number, or a list of numbers", (Real, str))
        for argument, value in passed_numbers.items()
    }
    if names is not None:
        values_by_argument["names"] = read_list("names=", names, "a name, or a list of names", str)
        for test_name in values_by_argument["names"]:
            if not isinstance(test_name, str) or not is_literal(test_name):
                raise refuse_kind("names=", "texts", test_name)
        if not values_by_argument["names"]:
            raise PrcError("names= takes at least one name; got none")
        if repeated_names := find_repeats(values_by_argument["names"]):
            raise PrcError(f"give each test its own name: names= holds {repeated_names[0]!r} twice")
    n_values_by_argument = {argument: len(values) for argument, values in values_by_argument.items()}
    n_tests = max(n_values_by_argument.values()) if names is None else n_values_by_argument["names"]
    if n_tests > 1 and names is None:
        raise PrcError(
            "pass names=, one for each test; for several thresholds of one test, pass "
            'prc(table, rates=("recall", "fpr"))'
        )
    for argument, n_values in n_values_by_argument.items():
        is_number = isinstance(passed_numbers.get(argument), Real)
        if n_values != n_tests and not is_number:
            raise PrcError(f"{argument}= takes one number per name, {n_tests}; got {n_values}")
        values_by_argument[argument] *= n_tests if is_number else 1
    value_tuples = zip(*values_by_argument.values(), strict=True)
    return [
        dict(zip(values_by_argument, values_of_test, strict=True)) for values_of_test in value_tuples
    ]


def _read_point(
    test_record: Mapping[str, Any], hit_argument: str, false_argument: str
) -> tuple[Any, ...]:
    """Return recall, fpr and the sizes of a test; raise for rates that no test has."""
    hit_rate = _read_share(hit_argument, test_record[hit_argument])
    false_rate = _read_share(false_argument, test_record[false_argument])
    n_pos, n_neg = (_read_size(argument, test_record.get(argument)) for argument in ("n_pos", "n_neg"))
    if (n_pos is None) != (n_neg is None):
        raise PrcError("pass both sizes of a test, n_pos= and n_neg=, or None for both")
    hit_argument_text = f"{hit_argument}={hit_rate!r}"
    false_argument_text = f"{false_argument}={false_rate!r}"
    recall = _round_to_count(hit_argument_text, hit_rate, n_pos)
    if false_argument == "fpr":
        return recall, _round_to_count(false_argument_text, false_rate, n_neg), n_pos, n_neg
    if false_argument == "specificity":
        # In decimals, so that 1 less 0.886 is 0.114, as a paper has it.
        fpr = float(1 - Decimal(repr(false_rate)))
        return recall, _round_to_count(false_argument_text, fpr, n_neg), n_pos, n_neg
    if n_pos is None and "eta" not in test_record:
        raise PrcError(
            "pass n_pos= and n_neg= of the test, or eta=, with precision=: without them the "
            "prevalence is unknown"
        )
    eta = (
        _read_share("eta", test_record["eta"])
        if n_pos is None or n_neg is None
        else n_pos / (n_pos + n_neg)
    )
    if not (0 < eta < 1 and recall > 0 and false_rate > 0):
        raise PrcError(
            f"pass {hit_argument}= and precision= above 0, and a prevalence between 0 and 1: "
            f"otherwise they do not determine fpr; got {hit_argument_text}, "
            f"precision={false_rate!r} and a prevalence of {eta:.4g}"
        )
    fpr_of_precision = _find_fpr(recall, eta, false_rate, hit_argument_text)
    if n_pos is None or n_neg is None:
        return recall, fpr_of_precision, None, None
    n_tp, n_fp = recall * n_pos, round(fpr_of_precision * n_neg)
    if _prints_as(n_tp / (n_tp + n_fp), false_rate):
        return recall, n_fp / n_neg, n_pos, n_neg
    _warn(false_argument_text, f"{n_tp:.10g} true positives and a whole number of false ones")
    return recall, fpr_of_precision, n_pos, n_neg


def _find_fpr(recall: float, eta: float, precision: float, hit_argument_text: str) -> float:
    """Return the fpr with this precision; raise if it would be above 1."""
    fpr = recall * eta * (1 - precision) / (precision * (1 - eta))
    if fpr > 1:
        least_precision = recall * eta / (recall * eta + 1 - eta)
        raise PrcError(
            f"check the sizes, or eta=: no fpr gives precision={precision!r} at {hit_argument_text} "
            f"and a prevalence of {eta:.4g}, where precision is at least {least_precision:.4g}"
        )
    return fpr


def _round_to_count(argument_text: str, rate: float, n_examples: int | None) -> float:
    """Return the rate of the whole count that prints as a rate does; the rate if there is none."""
    if n_examples is None or _prints_as(round(rate * n_examples) / n_examples, rate):
        return rate if n_examples is None else round(rate * n_examples) / n_examples
    _warn(argument_text, f"a whole number of {n_examples:,} examples")
    return rate


def _prints_as(exact_value: float, printed_rate: float) -> bool:
    """Return whether a value, in as many decimals as a rate has, is that rate."""
    rounding_unit = Decimal(1).scaleb(int(Decimal(repr(printed_rate)).as_tuple().exponent))
    # Either neighbour, where the value is in the middle of both: papers round in both ways.
    return abs(Decimal(exact_value) - Decimal(repr(printed_rate))) <= rounding_unit / 2 + Decimal(
        _ROUNDING
    )


def _warn(argument_text: str, whole_counts_text: str) -> None:
    """Warn of a rate that is not what a paper can have counted."""
    warn_caller(
        f"check the sizes: {argument_text} is not the share of {whole_counts_text}; it stays as it is"
    )


def _read_share(argument: str, value: object) -> float:
    """Return a rate as a float; raise unless it is a share."""
    expected_phrase = 'a share, such as 0.873 or "87.3%"'
    return read_share(f"{argument}=", value, expected_phrase, lambda share: 0 <= share <= 1)


def _read_size(argument: str, value: object) -> int | None:
    """Return a number of examples; raise unless it is a whole one that a float holds, or None."""
    if value is None:
        return None
    expected_phrase = "a whole number of examples, from 1 to 2**53"
    return int(
        read_number(f"{argument}=", value, expected_phrase, lambda x: 1 <= x <= 2**53 and x % 1 == 0)
    )
