"""Lines along eta, read from tables with a row per prevalence, and their log axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.charts.parts.chart_axes import ChartAxis
from polars_prcurve.charts.parts.chart_curves import (
    ChartCurves,
    build_chart_curves,
    check_table,
    name_group_fields,
    number_curves,
)
from polars_prcurve.errors import PrcError

_ALERT_COLUMNS = ("alerts", "true_alerts", "missed")
_MAX_DOTS = 12
_TOOLTIP_COLUMNS = ("threshold", "tp", "fp", "recall", "fpr")


def read_lines(chart: str, table: object, only: str | None = None) -> ChartCurves:
    """Return a line per group, metric and target, or only the lines of the metric `only`.

    Rows have `eta`, `value`, and `low` and `high` if the table has intervals. A null value between
    others is a gap in its line.
    """
    made_by = "operating_points" if only else "summary or operating_points"
    table = check_table(chart, table, made_by, ["eta"])
    start = table.columns.index("eta")
    names, after_eta = name_group_fields(table.columns[:start]), table.columns[start + 1 :]
    base = [table.get_column(name).alias(field) for field, name in names.items()]
    base += [table.get_column("eta").cast(pl.Float64), *_read_sizes(table, after_eta)]
    if "criterion" in after_eta:
        names["target"] = "target"
        base.append(table.select(target=pl.struct("criterion", "target")).to_series())
        base += [table.get_column(name) for name in _TOOLTIP_COLUMNS if name in after_eta]
    names["metric"] = "metric"
    values = _read_values(chart, table, after_eta, made_by)
    frame = pl.concat([pl.DataFrame([*base, *columns]) for columns in values], how="diagonal")
    if only:
        frame = frame.filter(pl.col("metric") == only)
        if frame.is_empty() and len(table):
            remedy = f'pass metrics=("{only}",) to operating_points'
            raise PrcError(f"{chart} draws {only}, which the table lacks; {remedy}")
    return build_lines(frame, names, ["value"])


def build_lines(frame: pl.DataFrame, names: dict[str, str], values: Sequence[str]) -> ChartCurves:
    """Return the lines of a frame, numbered and sorted; raise if one has two rows at a prevalence."""
    number = pl.col(pl.Float64).exclude(list(names))
    frame = frame.with_columns(pl.when(number.is_finite()).then(number)).filter(pl.col("eta") > 0)
    frame = number_curves(frame.sort(*names, "eta"), list(names))
    frame = frame.unique(["curve", "eta", *values], keep="first", maintain_order=True)
    if frame.select(pl.struct("curve", "eta").is_duplicated().any()).item():
        raise PrcError(
            "some lines have several values at one prevalence; keep the group columns of the table, and "
            "keep them before eta"
        )
    value = pl.col(values[0])
    is_within_line = value.forward_fill().is_not_null() & value.backward_fill().is_not_null()
    return build_chart_curves(frame, names, is_within_line.over("curve"))


def _read_sizes(table: pl.DataFrame, after_eta: list[str]) -> list[pl.Series]:
    """Return the class sizes of each row, which are null if the table does not tell them."""
    if "n_pos" in after_eta and "n_neg" in after_eta:
        return [table.get_column("n_pos"), table.get_column("n_neg")]
    if set(c.SWEEP_COLUMNS) <= set(after_eta):
        tp, fp, fn, tn = (table.get_column(name) for name in ("tp", "fp", "fn", "tn"))
        return [(tp + fn).alias("n_pos"), (fp + tn).alias("n_neg")]
    return [pl.Series(name, [None] * table.height, pl.Float64) for name in ("n_pos", "n_neg")]


def _read_values(
    chart: str, table: pl.DataFrame, after_eta: list[str], made_by: str
) -> list[list[pl.Series]]:
    """Return `metric`, `value` and its interval: once for a long table, else once per metric column."""
    shared = [table.get_column(name) for name in ("reliable", "interval_of") if name in after_eta]
    if "metric" in after_eta and "value" in after_eta:
        columns = [name for name in ("metric", "value", "low", "high") if name in after_eta]
        return [[*(table.get_column(name) for name in columns), *shared]]
    is_wide = "criterion" in after_eta and "fpr" in after_eta
    metrics = after_eta[after_eta.index("fpr") + 1 :] if is_wide else []
    beside = [f"{name}_{kind}" for name in after_eta for kind in ("low", "high", "corrected")]
    metrics = [name for name in metrics if name not in [*beside, *_ALERT_COLUMNS, "reliable"]]
    if not metrics:
        raise PrcError(
            f"{chart} takes the table that {made_by} returns, with all its columns; this one has "
            "neither metric and value, nor criterion, target and a column per metric"
        )
    return [
        [
            pl.Series("metric", [name] * table.height, pl.String),
            *(
                table.get_column(column).alias(field).cast(pl.Float64)
                for field, column in (("value", name), ("low", f"{name}_low"), ("high", f"{name}_high"))
                if column in after_eta
            ),
            *shared,
        ]
        for name in metrics
    ]


# The axis -------------------------------------------------------------------------------------


def build_eta_axis(rows: pl.DataFrame) -> ChartAxis:
    """Return a log axis over the prevalences of the rows, rare ones on the left."""
    etas = rows["eta"]
    low, high = (etas.min(), etas.max()) if len(etas) else (0.001, 1.0)
    assert isinstance(low, float)
    assert isinstance(high, float)
    if high < 1.01 * low:  # one prevalence: half a decade to either side
        low, high = low / math.sqrt(10), min(high * math.sqrt(10), 1.0)
    return ChartAxis("eta", "Share of positives", low, high, "one in", is_log=True)


def is_sparse(rows: pl.DataFrame) -> bool:
    """Return whether every line has few prevalences, so that each should be a visible dot."""
    return bool(rows.select((pl.len().over("curve") <= _MAX_DOTS).all()).item())


def is_within(eta: float | None, low: float, high: float) -> bool:
    """Return whether eta lies on an axis from low to high, whose ends may be rounded."""
    return eta is not None and low * (1 - 1e-6) <= eta <= high * (1 + 1e-6)


def describe_eta_zero(table: pl.DataFrame) -> list[str]:
    """Return a sentence for the note if the table has prevalence 0, which no log axis shows."""
    return ["Not drawn: prevalence 0"] if (table["eta"] == 0).any() else []
