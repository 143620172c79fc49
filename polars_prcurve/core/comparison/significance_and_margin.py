"""Whether a difference is certain: its interval leaves out 0, or a margin by which a model may be worse.

An interval that leaves out such a bound counts if it can be relied upon. One in doubt counts if it
would leave it out at twice the width: equally good models, each class with 10 examples, were so far
apart in at most 0.3% of test sets.
"""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.metrics.metric_base import Metric, direction_sign
from polars_prcurve.core.metrics.metric_lookup import find_metrics

SPARE = f"{RESERVED}spare"
"""How far an interval must end from a bound to count, in units of how far it reaches: 0 for one that can
be relied upon, 1 for one in doubt, and null where no distance is enough."""


def judge_sign() -> pl.Expr:
    """Return whether a sign is certain: null where an interval that leaves out 0 is in doubt."""
    difference, low, high = pl.col("difference"), pl.col("low"), pl.col("high")
    is_positive = low > 0
    distance = pl.when(is_positive).then(low).otherwise(-high)
    reach = pl.when(is_positive).then(difference - low).otherwise(high - difference)
    is_known = pl.all_horizontal(pl.col("difference", "low", "high").is_not_null())
    return pl.when(is_known).then(_rely_upon(is_positive | (high < 0), distance, reach))


def read_margin(margin: object) -> float | None:
    """Return the argument margin= as a float; raise unless it is None or a number of at least 0."""
    expected_phrase = "a number of at least 0 on the scale of the metric, such as 0.02 or '2%'"
    if margin is None:
        return None
    return read_share("margin=", margin, expected_phrase, lambda number: 0 <= number < math.inf)


def add_not_worse(differences: pl.LazyFrame, margin: float | None, metrics: Any) -> pl.LazyFrame:
    """Replace SPARE by whether model a is not worse by more than a margin, behind `significant`.

    `metrics` are those of the call; those of a comparison that names none go from 0 to 1, and more is
    better. Raises for a margin that is as wide as the range of a metric, such as 2 for 2 points.
    """
    if margin is None:
        return differences.drop(SPARE)
    chosen_metrics = [] if metrics is None else find_metrics(metrics, Metric)
    names_and_ranges = [(m.name, *m.range) for m in chosen_metrics] or [("average_precision", 0.0, 1.0)]
    for metric_name, least, greatest in names_and_ranges:
        if margin >= greatest - least:
            raise PrcError(
                f"margin= is on the scale of the metric, 0.02 for 2 points; {metric_name} goes from "
                f"{least:g} to {greatest:g}; got {margin:g}"
            )
    falling_metric_names = [m.name for m in chosen_metrics if direction_sign(m) < 0]
    difference, low, high = pl.col("difference"), pl.col("low"), pl.col("high")
    is_falling = pl.col("metric").is_in(falling_metric_names)
    distance = pl.when(is_falling).then(margin - high).otherwise(low + margin)
    reach = pl.when(is_falling).then(high - difference).otherwise(difference - low)
    is_not_worse = _rely_upon(distance >= 0, distance, reach).alias("not_worse")
    column_names = differences.drop(SPARE).collect_schema().names()
    insert_index = column_names.index("significant") + 1
    return differences.select(*column_names[:insert_index], is_not_worse, *column_names[insert_index:])


def _rely_upon(leaves_out: pl.Expr, distance: pl.Expr, reach: pl.Expr) -> pl.Expr:
    """Return whether an interval leaves out a bound: null if it does by less than SPARE requires."""
    is_enough = (pl.col(SPARE) == 0) | ((reach > 0) & (distance >= pl.col(SPARE) * reach))
    return pl.when(~leaves_out | is_enough).then(leaves_out)
