"""Ranking: models in order at each prevalence, and whether the leader's lead is more than chance.

    summary, or operating points    what each model scores
                -> ranking          in order, within each `by` group and prevalence
    comparison, or errors of both   how far the leader is ahead, for sure

The leader is whoever scores best in the table, so that its lead is a chosen one. Still the plain
interval may be read: that the best of several passes for better than the second by chance is no more
likely than with two models, at least for normal errors of one size (Hung and Fithian 2019).
"""

from __future__ import annotations

from typing import cast

import polars as pl

from polars_prcurve.bands import Collect
from polars_prcurve.columns import EXAMPLE, MODEL, RESERVED
from polars_prcurve.compare import Comparison, compare_table
from polars_prcurve.curve_metrics import CurveMetric
from polars_prcurve.errors import PrcError
from polars_prcurve.grouping import join_groups
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.intervals import z_of
from polars_prcurve.operating_points import points_table
from polars_prcurve.prevalence import Grid
from polars_prcurve.summary import summary_table
from polars_prcurve.targets import Judge, better
from polars_prcurve.uncertainty import Uncertainty

__all__ = ["added_by_ranking", "ranking_table"]

_STEP = f"{RESERVED}step"  # number of the prevalence among equal ones of a model
_LEADER = f"{RESERVED}leader"
_HALF = f"{RESERVED}half"
_OTHER = f"{RESERVED}other"
_ROW = f"{RESERVED}row"
_LEAD = ("behind", "low", "high", "resolved", "reliable")


def added_by_ranking(*, lead: bool) -> tuple[str, ...]:
    """The columns that a ranking adds to `by` (and to what an eta frame carries)."""
    return ("eta", "model", "value", "rank", *(_LEAD if lead else ()))


def ranking_table(
    table: Input,
    grid: Grid,
    judge: Judge,
    uncertainty: Uncertainty | None,
    *,
    collect: Collect,
) -> pl.LazyFrame:
    """`by`, eta, what the eta frame carries, and the rest of `added_by_ranking`."""
    metric, targets = judge
    sign = better(metric)
    columns = added_by_ranking(lead=uncertainty is not None)
    chosen = [*table.others, "eta", *grid.carried, *columns[1:]]
    if not isinstance(metric, CurveMetric):
        if uncertainty is not None:
            raise PrcError(f"there is no confidence= for {metric.name} at a target; leave it out")
        points = points_table(table, grid, targets, [metric.alias("value")], collect=collect)
        return _ranked(table, points, sign).select(chosen)
    values = summary_table(table, grid, [metric], collect=collect, uncertainty=uncertainty)
    ranks = _ranked(table, values, sign)
    if uncertainty is not None and EXAMPLE in table.columns:
        examples = cast("ScoreTable", table)  # of which alone there is one
        of = Comparison(examples, grid, [metric], uncertainty, matched=False, run=collect)
        ranks = _with_paired_lead(table, ranks, compare_table(of), sign)
    elif uncertainty is not None:
        ranks = _with_lead(table, ranks, sign, uncertainty.confidence)
    return ranks.select(chosen)


def _ranked(table: Input, values: pl.LazyFrame, sign: float) -> pl.LazyFrame:
    """Add the rank of value times sign in each `by` group and prevalence, and sort by it.

    `values` has MODEL and comes by group, model and prevalence; models of a group share prevalences.
    """
    values = values.with_columns(_number([*table.others, MODEL, "eta"]))
    keys = _keys(table)
    rank = pl.col("value").rank("min", descending=sign > 0).over(keys)
    values = values.with_columns(rank.cast(pl.Int64).alias("rank"))
    last = [*[False] * len(table.others), True, False, True, False]
    return values.sort(*keys, "rank", MODEL, nulls_last=last).with_columns(pl.col(MODEL).alias("model"))


def _keys(table: Input) -> list[str]:
    """What models are ranked within: a model without examples has no prevalence of its own, so that the
    place of a prevalence among those of its model does not tell which one it is."""
    return [*table.others, "eta", _STEP]


def _number(keys: list[str]) -> pl.Expr:
    return pl.int_range(pl.len()).over(keys).alias(_STEP)


def _with_lead(table: Input, ranks: pl.LazyFrame, sign: float, confidence: float) -> pl.LazyFrame:
    """Add how far each model is behind the leader, if each was measured on a sample of its own."""
    keys = _keys(table)
    leader, error = (pl.col(name).first().over(keys) for name in ("value", "standard_error"))
    half = (error**2 + pl.col("standard_error") ** 2).sqrt() * z_of(confidence)
    ranks = ranks.with_columns(half.alias(_HALF), behind=(leader - pl.col("value")) * sign)
    behind, half = pl.col("behind"), pl.col(_HALF)
    ranks = ranks.with_columns(low=behind - half, high=behind + half)
    return _resolved(ranks, keys)


def _with_paired_lead(
    table: Input, ranks: pl.LazyFrame, differences: pl.LazyFrame, sign: float
) -> pl.LazyFrame:
    """The same from differences of all pairs on the same examples."""
    keys = _keys(table)
    leader, value = (pl.col(name).first().over(keys) for name in (MODEL, "value"))
    ranks = ranks.with_columns(leader.alias(_LEADER), behind=(value - pl.col("value")) * sign)
    ranks = ranks.with_row_index(_ROW)
    differences = differences.with_columns(_number([*table.others, "model_a", "model_b", "eta"]))
    low, high = pl.col("low"), pl.col("high")
    both = [
        differences.select(*keys, pl.col(a).alias(_LEADER), pl.col(b).alias(MODEL), low=least, high=most)
        for a, b, least, most in (
            ("model_a", "model_b", *((low, high) if sign > 0 else (-high, -low))),
            ("model_b", "model_a", *((-high, -low) if sign > 0 else (low, high))),
        )
    ]
    on = {
        **table.others,
        "eta": pl.Float64(),
        _STEP: pl.Int64(),
        _LEADER: table.by[MODEL],
        MODEL: table.by[MODEL],
    }
    ranks = join_groups(ranks.drop("low", "high"), pl.concat(both), on, how="left").sort(_ROW)
    return _resolved(ranks, keys)


def _resolved(ranks: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Add whether each model is behind the leader for sure, and whether both errors may be relied on;
    of the leader, whether that holds for all others."""
    leads = pl.int_range(pl.len()).over(keys) == 0
    ranks = ranks.with_columns((pl.col("value").is_not_null() & ~leads).alias(_OTHER))
    ranks = ranks.with_columns(pl.when(_OTHER).then(pl.col("low", "high")))
    ranks = ranks.with_columns((pl.col("low") > 0).alias("resolved"))
    both = pl.col("reliable") & pl.col("reliable").first().over(keys)
    ranks = ranks.with_columns(pl.when(_OTHER).then(both).alias("reliable"))
    others = pl.col(_OTHER).sum().over(keys)
    for name in ("resolved", "reliable"):
        no, yes = (~pl.col(name)).any().over(keys), pl.col(name).sum().over(keys)
        all_others = pl.when(no).then(pl.lit(False)).when((yes == others) & (yes > 0)).then(pl.lit(True))
        ranks = ranks.with_columns(all_others.alias(_LEADER))
        ranks = ranks.with_columns(pl.when(_OTHER).then(name).when(leads).then(_LEADER).alias(name))
    return ranks
