"""Tables with a row per prevalence: lines along eta, under safe names, and their axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import polars as pl

from polars_prcurve.charts.curves import Curves, check_table, curves_of, group_fields, number_curves
from polars_prcurve.charts.drawing import log_axis
from polars_prcurve.columns import SWEEP
from polars_prcurve.errors import PrcError

__all__ = ["eta_axis", "lines_of", "no_place", "read_lines", "sparse", "with_yes_and_no", "within"]

_NO_METRICS = ("alerts", "true_alerts", "missed")
_FEW = 12
_TOLD = ("threshold", "tp", "fp", "recall", "fpr")


def read_lines(chart: str, table: object, only: str | None = None) -> Curves:
    """`eta`, `value`, and `low` and `high` where there are any, of each metric and target, or of one
    metric; a value that is null between others is a gap in its line."""
    made_by = "operating_points" if only else "summary or operating_points"
    table = check_table(chart, table, made_by, ["eta"])
    start = table.columns.index("eta")
    names, rest = group_fields(table.columns[:start]), table.columns[start + 1 :]
    base = [table.get_column(name).alias(field) for field, name in names.items()]
    base += [table.get_column("eta").cast(pl.Float64), *_sizes(table, rest)]
    if "criterion" in rest:
        names["target"] = "target"
        base.append(table.select(target=pl.struct("criterion", "target")).to_series())
        base += [table.get_column(name) for name in _TOLD if name in rest]
    names["metric"] = "metric"
    frames = [pl.DataFrame([*base, *values]) for values in _values(chart, table, rest, made_by)]
    frame = pl.concat(frames, how="diagonal")
    if only:
        frame = frame.filter(pl.col("metric") == only)
        if frame.is_empty() and len(table):
            todo = f'pass metrics=("{only}",) to operating_points'
            raise PrcError(f"{chart} draws {only}, which the table lacks; {todo}")
    return lines_of(frame, names, ["value"])


def lines_of(frame: pl.DataFrame, names: dict[str, str], values: Sequence[str]) -> Curves:
    """Number and sort the lines, and check that each has one row per prevalence."""
    number = pl.col(pl.Float64).exclude(list(names))
    frame = frame.with_columns(pl.when(number.is_finite()).then(number)).filter(pl.col("eta") > 0)
    frame = number_curves(frame.sort(*names, "eta"), list(names))
    frame = frame.unique(["curve", "eta", *values], keep="first", maintain_order=True)
    if frame.select(pl.struct("curve", "eta").is_duplicated().any()).item():
        raise PrcError(
            "some lines have several values at one prevalence; keep the group columns of the table, and "
            "keep them before eta"
        )
    known = pl.col(values[0])
    inside = known.forward_fill().is_not_null() & known.backward_fill().is_not_null()
    return curves_of(frame, names, inside.over("curve"))


def _sizes(table: pl.DataFrame, rest: list[str]) -> list[pl.Series]:
    if "n_pos" in rest and "n_neg" in rest:
        return [table.get_column("n_pos"), table.get_column("n_neg")]
    if set(SWEEP) <= set(rest):
        tp, fp, fn, tn = (table.get_column(name) for name in ("tp", "fp", "fn", "tn"))
        return [(tp + fn).alias("n_pos"), (fp + tn).alias("n_neg")]
    return [pl.Series(name, [None] * table.height, pl.Float64) for name in ("n_pos", "n_neg")]


def _values(chart: str, table: pl.DataFrame, rest: list[str], made_by: str) -> list[list[pl.Series]]:
    """`metric`, `value`, `low`, `high` and `reliable`, once, or once per metric column."""
    if "metric" in rest and "value" in rest:
        wanted = [name for name in ("metric", "value", "low", "high", "reliable") if name in rest]
        return [[table.get_column(name) for name in wanted]]
    metrics = rest[rest.index("fpr") + 1 :] if "criterion" in rest and "fpr" in rest else []
    bands = [f"{name}_{end}" for name in metrics for end in ("low", "high")]
    metrics = [name for name in metrics if name not in [*bands, *_NO_METRICS]]
    if not metrics:
        raise PrcError(
            f"{chart} takes the table that {made_by} returns, with all its columns; this one has "
            "neither metric and value, nor criterion, target and a column per metric"
        )
    return [
        [
            pl.Series("metric", [name] * table.height, pl.String),
            *(
                table.get_column(found).alias(field).cast(pl.Float64)
                for field, found in (("value", name), ("low", f"{name}_low"), ("high", f"{name}_high"))
                if found in rest
            ),
        ]
        for name in metrics
    ]


# The axis -------------------------------------------------------------------------------------


def eta_axis(rows: pl.DataFrame) -> tuple[alt.X, float, float]:
    """A log axis over the prevalences of the rows, and its ends."""
    etas = rows["eta"]
    low, high = (etas.min(), etas.max()) if len(etas) else (0.001, 1.0)
    assert isinstance(low, float)
    assert isinstance(high, float)
    if high < 1.01 * low:  # one prevalence: half a decade to either side
        low, high = low / math.sqrt(10), min(high * math.sqrt(10), 1.0)
    return log_axis(alt.X, "eta", "Prevalence eta", low, high), low, high


def sparse(rows: pl.DataFrame) -> bool:
    """Whether every line has so few prevalences that each is to be seen."""
    return bool(rows.select((pl.len().over("curve") <= _FEW).all()).item())


def with_yes_and_no(rows: pl.DataFrame) -> pl.DataFrame:
    """`resolved` and `reliable` as tooltips say it."""
    names = [name for name in ("resolved", "reliable") if name in rows.columns]
    return rows.with_columns(pl.col(names).replace_strict({True: "yes", False: "no"}))


def within(eta: float | None, low: float, high: float) -> bool:
    return eta is not None and low * (1 - 1e-6) <= eta <= high * (1 + 1e-6)


def no_place(table: pl.DataFrame) -> list[str]:
    """What a log axis has no place for."""
    return ["Not drawn: prevalence 0"] if (table["eta"] == 0).any() else []
