"""Labelled rows with the stratum of a sampling plan, and with how many rows each of them stands for.

    score of a row -> stratum    the one whose range holds it
    stratum        -> weight     its rows, as the plan has counted them, over its labels in the table

Labels are counted here, and not read from the plan: it may have been made before the last of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import refuse_objects
from polars_prcurve.curves.curve_table import pick_by_number
from polars_prcurve.errors import PrcError, list_names
from polars_prcurve.inputs import value_checks
from polars_prcurve.inputs.column_reader import ReadColumn
from polars_prcurve.inputs.threshold_values import read_threshold_list, to_least_scores
from polars_prcurve.query_checks import Check, compose_sentence, show_value, stop_if_broken

SAMPLE_COLUMNS = ("stratum", "weight")
_READ = ("stratum", "score_low", "score_high", "n")
_PLACE, _IN_STRATUM = f"{c.RESERVED}place", f"{c.RESERVED}in_stratum"


class Plan(NamedTuple):
    """The strata of a plan, by rising score."""

    strata: pl.Series
    lows: pl.Series
    highs: pl.Series
    sizes: list[int]

    @property
    def names(self) -> list[str]:
        """How errors call each stratum."""
        ends = zip(self.strata, self.lows, self.highs, strict=True)
        return [f"stratum {stratum} of the plan, scores {low} to {high}," for stratum, low, high in ends]


def read_strata(plan: pl.DataFrame, dtype: pl.DataType) -> Plan:
    """Return the strata of a plan for scores of this dtype; raise for a table that is no plan."""
    if lacking := [name for name in _READ if name not in plan.columns]:
        raise PrcError(
            f"plan= takes the table of sampling_plan(), with the columns {list_names(_READ)}; it has no "
            f"{list_names(lacking)}"
        )
    refuse_objects("the plan= frame", plan.schema)
    plan = plan.select(_READ).sort("score_low")
    nulls = sum(plan.null_count().row(0))
    if plan.height == 0 or nulls or not plan["n"].dtype.is_integer():
        raise PrcError(
            "plan= takes the table of sampling_plan(), a row per stratum, with whole numbers; got "
            f"{plan.height} row(s), n of {plan['n'].dtype}, and {nulls} null(s)"
        )
    lows, highs = (
        to_least_scores(read_threshold_list("plan", plan[name], dtype), dtype)
        for name in ("score_low", "score_high")
    )
    if (
        (lows > highs).any()
        or (lows[1:] <= highs[:-1]).any()
        or plan["stratum"].n_unique() < plan.height
    ):
        raise PrcError("plan= takes strata that are apart, each once; got some that overlap")
    return Plan(plan["stratum"], lows, highs, plan["n"].to_list())


def build_weighed_sample(
    frame: pl.LazyFrame, score: ReadColumn, label: ReadColumn, plan: Plan, *, drop: bool
) -> pl.LazyFrame:
    """Return the rows with a label, in order, with SAMPLE_COLUMNS; `drop` leaves out null scores."""
    names = frame.collect_schema().names()
    if both := [name for name in SAMPLE_COLUMNS if name in names]:
        raise PrcError(f"the table has a column {both[0]!r} already; drop or rename it")
    if drop:
        frame = frame.filter(~value_checks.is_missing(score.value, score.dtype))
    reaches = (score.value >= pl.lit(low, dtype=score.dtype) for low in plan.lows)
    place = pl.sum_horizontal(reached.cast(pl.Int64) for reached in reaches) - 1
    highs = (pl.lit(high, dtype=score.dtype) for high in plan.highs)
    frame = frame.with_columns(place.alias(_PLACE)).with_columns(
        (score.value <= pick_by_number(_PLACE, highs, pl.lit(None))).alias(_IN_STRATUM)
    )
    is_labelled = label.value.is_not_null()
    rows = stop_if_broken(frame, _list_checks(score, is_labelled, plan)).filter(is_labelled)
    size = pick_by_number(_PLACE, map(pl.lit, plan.sizes), pl.lit(None)).cast(pl.Float64)
    stratum = pick_by_number(_PLACE, map(pl.lit, plan.strata), pl.lit(None)).cast(plan.strata.dtype)
    weight = size / pl.len().over(_PLACE).cast(pl.Float64)
    return rows.select(*map(c.select_column, names), stratum.alias("stratum"), weight.alias("weight"))


def _list_checks(score: ReadColumn, is_labelled: pl.Expr, plan: Plan) -> Iterator[Check]:
    """Yield the checks that each score is in a stratum, and that labels can stand for each stratum."""
    nan = score.dtype.is_float()
    yield from value_checks.missing_checks(lambda test: test.sum(), score.what, score.value, nan=nan)
    beyond = ~pl.col(_IN_STRATUM).fill_null(False)
    yield Check(
        beyond.any(),
        compose_sentence(
            f"{score.what} is in no stratum of the plan in ",
            beyond.sum().cast(pl.String),
            " row(s), such as ",
            show_value(score.value.filter(beyond).first()),
            "; make the plan of these rows",
        ),
    )
    for place, (name, size) in enumerate(zip(plan.names, plan.sizes, strict=True)):
        n = (is_labelled & (pl.col(_PLACE) == place)).sum()
        text = f"{name} has {size} row(s) and no label; label as many as its n_next"
        yield Check(n == 0, compose_sentence(text))
        many = " label(s); make the plan of these rows"
        yield Check(
            n > size, compose_sentence(f"{name} has {size} row(s) and ", n.cast(pl.String), many)
        )
