"""Operating points: for each target the row of the sweep that meets it, at each prevalence.

    sweep -> rows        numbered
          -> chosen      per group (and prevalence) and target the number of a row, or null
          -> points      joined back: the row, its metrics at eta, alerts

How a target finds its row, say `targets`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import polars as pl

from polars_prcurve import point_metrics as point
from polars_prcurve.bands import Bands, Collect
from polars_prcurve.columns import (
    COPY,
    GROUP,
    N_NEG,
    N_POS,
    NEG_FACTOR,
    PAIR,
    POS_FACTOR,
    RESERVED,
    SCORE,
    SWEEP,
    UNIT,
)
from polars_prcurve.curve import (
    added_by_metrics,
    by_turn,
    metric_values,
    refuse_clashes,
    rows_of,
    with_metrics,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.intervals import EXACT
from polars_prcurve.point_metrics import PointMetric
from polars_prcurve.prevalence import Grid, at_each_eta
from polars_prcurve.sweep import (
    checked_last,
    class_counts,
    class_sizes,
    counted,
    late_checks,
)
from polars_prcurve.targets import ROW, Target, chosen_row
from polars_prcurve.widths import SizeMethod, sample_size, smallest_eta

__all__ = [
    "RESOLUTION",
    "SIZES",
    "added_by_points",
    "points_at_any_eta",
    "points_table",
    "resolution_table",
    "sizes_table",
]

_TURN = f"{RESERVED}turn"
SIZES = (
    "criterion",
    "target",
    "threshold",
    "recall",
    "fpr",
    "n_pos",
    "n_neg",
    "n_pos_needed",
    "n_neg_needed",
)
RESOLUTION = (*SIZES[:7], "eta")
_ALERTS = ("alerts", "true_alerts", "missed")


def added_by_points(
    metrics: Sequence[PointMetric], *, per: float | None, long: bool, bands: bool = False
) -> tuple[str, ...]:
    """The columns that operating points add to `by` (and to what an eta frame carries)."""
    if per is not None and (
        isinstance(per, bool) or not isinstance(per, Real) or not 0 < per < math.inf
    ):
        raise PrcError(f"per= takes a number of events above 0; got {per!r}")
    alerts = () if per is None else _ALERTS
    of_metrics = added_by_metrics(metrics, long=long, bands=bands)
    columns = ("eta", "criterion", "target", *SWEEP, *of_metrics, *alerts)
    refuse_clashes(columns, [] if long else metrics)
    return columns


def points_table(
    table: Input,
    grid: Grid,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    *,
    collect: Collect,
    per: float | None = None,
    bands: Bands | None = None,
    long: bool = False,
) -> pl.LazyFrame:
    """`by`, eta, what the eta frame carries, and the rest of `added_by_points`."""
    frame, groups = counted(table, effective=bands is not None)
    rows = frame.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64))
    own = [SCORE] if isinstance(table, ScoreTable) else []
    rows = rows.select(ROW, GROUP, UNIT, *SWEEP, *own)
    rows = rows.cache()  # read twice: to choose from, and to look up what was chosen
    pairs = at_each_eta(groups, grid, *class_sizes(table), checked=False).with_row_index(PAIR)
    asked = pairs.join(pl.LazyFrame({_TURN: range(len(targets))}), how="cross")
    chosen = _chosen(asked, pairs, rows, targets, table)
    found = chosen.join(rows.drop(GROUP, UNIT), on=ROW, how="left").with_columns(*_described(targets))
    if isinstance(table, ScoreTable):
        found = _at_thresholds(found, targets, table)
    if per is not None:
        found = found.with_columns(_alerts(float(per), table))
    if long:
        found = found.join(pl.LazyFrame({COPY: range(len(metrics))}), how="cross")
    found = found.sort(PAIR, _TURN, *([COPY] if long else []))
    found = checked_last(table, found, *late_checks(table, grid))
    found = with_metrics(found, metrics, table, bands, collect=collect, long=long)
    found = found.with_columns(pl.col("eta").fill_nan(None))
    eta, *others = added_by_points(metrics, per=per, long=long, bands=bands is not None)
    return found.select(*table.by, eta, *grid.carried, *others)


def sizes_table(
    table: Input,
    targets: Sequence[Target],
    delta: float,
    confidence: float,
    method: SizeMethod,
    *,
    collect: Collect,
) -> pl.LazyFrame:
    """`by`, and SIZES: the rates at each target, the examples there are, and those needed."""
    points = points_at_any_eta(table, targets, [], collect=collect)
    needed: dict[str, Any] = {"n_pos_needed": "recall", "n_neg_needed": "fpr"}
    if method in EXACT:
        found = collect(points, f'method="{method}"')
        points = found.lazy()
        for name, rate in needed.items():
            known = found[rate].filter(found[rate] > 0).unique()
            sizes = pl.Series(sample_size(known.to_numpy(), delta, confidence, method), dtype=pl.Float64)
            needed[name] = found[rate].replace_strict(known, sizes, default=None)
    else:
        for name, rate in needed.items():
            needed[name] = sample_size(pl.col(rate), delta, confidence, method)
    return points.with_columns(**needed).select(*table.by, *SIZES)


def resolution_table(
    table: Input, targets: Sequence[Target], delta: float, bands: Bands, *, collect: Collect
) -> pl.LazyFrame:
    """`by`, and RESOLUTION: the rates at each target, the examples, and where they suffice."""
    rates = [point.recall, point.fpr]
    points = points_at_any_eta(table, targets, rates, collect=collect, bands=bands)
    ends = (pl.col(f"{rate.name}_{end}") for rate in rates for end in ("low", "high"))
    eta = smallest_eta(*ends, delta=delta)
    return points.with_columns(eta=eta).select(*table.by, *RESOLUTION)


def points_at_any_eta(
    table: Input,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    *,
    collect: Collect,
    bands: Bands | None = None,
) -> pl.LazyFrame:
    """Operating points where neither targets nor metrics depend on eta, with n_pos and n_neg."""
    grid = Grid(pl.LazyFrame({"eta": [0.5]}), count=1)
    points = points_table(table, grid, targets, metrics, collect=collect, bands=bands)
    return points.with_columns(n_pos=pl.col("tp") + pl.col("fn"), n_neg=pl.col("fp") + pl.col("tn"))


def _chosen(
    asked: pl.LazyFrame,
    pairs: pl.LazyFrame,
    rows: pl.LazyFrame,
    targets: Sequence[Target],
    table: Input,
) -> pl.LazyFrame:
    """The number of the row for each group, prevalence and target."""
    named = {f"{RESERVED}choice_{i}": target for i, target in enumerate(targets)}
    free = {name: target for name, target in named.items() if not target.depends_on_eta}
    bound = {name: target for name, target in named.items() if target.depends_on_eta}
    if free:
        asked = asked.join(_greatest(rows, GROUP, free, table), on=GROUP, how="left")
    if bound:
        at_eta = rows.join(pairs.select(GROUP, PAIR, "eta", POS_FACTOR, NEG_FACTOR), on=GROUP)
        asked = asked.join(_greatest(at_eta, PAIR, bound, table), on=PAIR, how="left")
    numbers = (chosen_row(pl.col(name)) for name in named)
    return asked.with_columns(by_turn(_TURN, numbers, pl.lit(None, dtype=pl.Int64)).alias(ROW))


def _greatest(rows: pl.LazyFrame, key: str, targets: Mapping[str, Target], table: Input) -> pl.LazyFrame:
    of_row = rows_of(table)
    choices = {name: target.choice(of_row) for name, target in targets.items()}
    return rows.select(key, **choices).group_by(key).agg(pl.exclude(key).max())


def _described(targets: Sequence[Target]) -> list[pl.Expr]:
    criteria = (pl.lit(target.criterion) for target in targets)
    values = (None if t.value is None else pl.lit(float(t.value)) for t in targets)
    return [
        by_turn(_TURN, criteria, pl.lit(None, dtype=pl.String)).alias("criterion"),
        by_turn(_TURN, values, pl.lit(None, dtype=pl.Float64)).alias("target"),
    ]


def _at_thresholds(found: pl.LazyFrame, targets: Sequence[Target], table: ScoreTable) -> pl.LazyFrame:
    """A threshold that was asked for stands as given; above all scores it raises no alert."""
    threshold = by_turn(_TURN, (target.literal for target in targets), pl.col(SCORE))
    given = pl.col("criterion") == "threshold"
    n_pos, n_neg = class_counts(table)
    zero = pl.lit(0, dtype=table.count_dtype)
    unmet = given & pl.col("tp").is_null()
    nothing = {"tp": zero, "fp": zero, "fn": n_pos, "tn": n_neg}
    rates = {"recall": pl.col(N_POS), "fpr": pl.col(N_NEG)}
    return found.with_columns(
        threshold.alias("threshold"),
        *(pl.when(unmet).then(v).otherwise(pl.col(n)).alias(n) for n, v in nothing.items()),
        *(
            pl.when(unmet & total.is_not_null()).then(0.0).otherwise(pl.col(name)).alias(name)
            for name, total in rates.items()
        ),
    )


def _alerts(per: float, table: Input) -> list[pl.Expr]:
    """Among so many events: alerts, those that are right, and positives without an alert."""
    [share] = metric_values([point.predicted_positive_rate], table)
    eta, recall = pl.col("eta"), pl.col("recall")
    counts = (share * per, eta * recall * per, eta * (1 - recall) * per)
    return [value.alias(name) for value, name in zip(counts, _ALERTS, strict=True)]
