"""The bump chart of ranks: the order of models by prevalence."""

from __future__ import annotations

import math
from dataclasses import replace

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import check_texts
from polars_prcurve.charts.parts.chart_assembly import Chart, ChartSpec, ChartText, build_chart
from polars_prcurve.charts.parts.chart_curves import (
    ChartCurves,
    check_table,
    describe_sizes,
    name_group_fields,
)
from polars_prcurve.charts.parts.colors_and_panels import MAX_COLORS, Channels, read_channels
from polars_prcurve.charts.parts.lines_by_prevalence import (
    build_eta_axis,
    build_lines,
    describe_eta_zero,
    is_sparse,
    with_yes_and_no,
)
from polars_prcurve.charts.parts.number_formats import format_level
from polars_prcurve.charts.parts.points_to_draw import build_records

_LEAD_COLUMNS = ("behind", "low", "high", "resolved", "reliable")
_TOOLTIP = (
    alt.Tooltip("prevalence:N"),
    alt.Tooltip("rank:Q"),
    alt.Tooltip("value:Q", format=".4~g"),
    alt.Tooltip("behind:Q", format=".4~g"),
    alt.Tooltip("low:Q", format=".4~g"),
    alt.Tooltip("high:Q", format=".4~g"),
    alt.Tooltip("resolved:N"),
    alt.Tooltip("reliable:N"),
)


def ranking(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """Ranks of models along prevalence, from the table of `ranking`, in any row order.

    Rank 1 is on top; equal models share a rank, and their lines lie on each other. Lines are straight
    between the prevalences of the table, on a log axis. If the table has the column `resolved`, a line
    has a pale band where the model is behind the first for sure, or is first and ahead of all others
    for sure. With more than 8 models, those that rank highest have a colour, and the others are grey.

    Parameters
    ----------
    table
        What `ranking` returns for several eta, such as `eta_grid()`.
    confidence
        The level of the table's intervals, for the subtitle, since the table does not hold it.
    color, facet
        `"model"` or a `by` column. By default models are colour and `by` columns are panels.
    title
        Replaces the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
    >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
    >>> chart = ranking(df.prc.ranking(eta=[0.01, 0.1, 0.9]))
    >>> chart.to_dict()["title"]["text"]
    ['Ranking by prevalence']
    """
    check_texts(color=color, facet=facet, title=title)
    curves = _read_ranks(table)
    all_colored = read_channels(curves, color or ("model" if facet != "model" else None), facet)
    channels, grey = _highlight_best(curves, all_colored)
    rows, max_rank = curves.rows, curves.rows["rank"].max()
    lowest = max_rank if isinstance(max_rank, int) else 1  # None in an empty table
    x, _, _ = build_eta_axis(rows)
    y = alt.Y(
        "rank:Q",
        title="Rank",
        scale=alt.Scale(domain=[lowest + 0.5, 0.5], nice=False, zero=False),
        axis=alt.Axis(values=list(range(1, lowest + 1, math.ceil(lowest / 12))), format="d"),
    )
    spec = ChartSpec(
        x=x,
        y=y,
        interpolate="linear",
        tooltip=_TOOLTIP,
        pale_line_field="sure",
        dots=is_sparse(rows),
        height=0.65,
    )
    tooltip_fields = [name for name in ("value", *_LEAD_COLUMNS) if name in rows.columns]
    tooltip_fields.append("prevalence")
    if "resolved" in rows.columns:
        rows = rows.with_columns(pl.when("resolved").then("rank").alias("sure"))
    fields = [name for name in ("eta", "rank", "sure") if name in rows.columns]
    data = list(build_records(curves, channels, with_yes_and_no(rows), fields, tooltip_fields))
    level = "" if confidence is None else f" ({format_level(confidence)})"
    is_doubtful = "reliable" in curves.rows.columns and not curves.rows["reliable"].all()
    band = f"Pale band: behind the first for sure, or ahead of all{level}"
    band += "; not all of it reliable" if is_doubtful else ""
    subtitle = ("Rank 1 is best", *([band] if "sure" in fields else []), *grey)
    text = ChartText(
        title or "Ranking by prevalence",
        (*subtitle, *describe_sizes(curves), *describe_eta_zero(table)),
        "",
    )
    return build_chart(spec, data, channels, text)


def _read_ranks(table: pl.DataFrame) -> ChartCurves:
    """Return a line per model from the table of `ranking`, with models as the first group column."""
    table = check_table("ranking", table, "ranking", ["eta", "model", "value", "rank"])
    start = table.columns.index("eta")
    names = name_group_fields(["model", *table.columns[:start]])
    columns = ["value", "rank", *(name for name in _LEAD_COLUMNS if name in table.columns[start + 1 :])]
    frame = pl.DataFrame(
        [table.get_column(name).alias(field) for field, name in names.items()]
        + [table.get_column("eta").cast(pl.Float64), *(table.get_column(name) for name in columns)]
    )
    unknown = pl.lit(None, dtype=pl.Float64)  # the table has no class sizes
    return build_lines(frame.with_columns(n_pos=unknown, n_neg=unknown), names, ["rank"])


def _highlight_best(curves: ChartCurves, channels: Channels) -> tuple[Channels, list[str]]:
    """Return channels in which models with the best, then best mean rank have colours, and say so."""
    color = channels.color
    if color is None or len(color.labels) <= MAX_COLORS:
        return channels, []
    labels = pl.DataFrame({"curve": curves.per_curve["curve"], "label": color.label_by_curve})
    order = (
        curves.rows.join(labels, on="curve")
        .group_by("label", maintain_order=True)
        .agg(best=pl.col("rank").min(), mean=pl.col("rank").mean())
        .sort("best", "mean", maintain_order=True)
    )
    highest = set(order["label"].head(MAX_COLORS))
    colored = [label for label in color.labels if label in highest]
    line = f"Coloured: the {MAX_COLORS} that come highest; grey: {len(color.labels) - MAX_COLORS} others"
    return replace(channels, color=replace(color, colored_labels=colored)), [line]
