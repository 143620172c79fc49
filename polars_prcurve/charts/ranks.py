"""Ranks of models along prevalence, as a bump chart."""

from __future__ import annotations

import math
from dataclasses import replace

import altair as alt
import polars as pl

from polars_prcurve.charts.along_eta import eta_axis, lines_of, no_place, sparse, with_yes_and_no
from polars_prcurve.charts.channels import MOST_COLORS, Channels, channels_of
from polars_prcurve.charts.curves import Curves, check_table, group_fields, said_sizes
from polars_prcurve.charts.drawing import Chart, Look, Words, chart
from polars_prcurve.charts.points import records
from polars_prcurve.charts.words import said_level

__all__ = ["ranking"]

_LEAD = ("behind", "low", "high", "resolved", "reliable")
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
    between the prevalences of the table, on a log axis. If the table says what is `resolved`, a line
    has a pale band where the model is behind the first for sure, or is first and ahead of all others
    for sure. Of more than 8 models those that come highest are coloured, and the others grey.

    Parameters
    ----------
    table
        What `ranking` returns for several eta, such as `eta_grid()`.
    confidence
        The level of the table's intervals, for the subtitle: the table does not hold it.
    color, facet
        `"model"` or a `by` column. Left out: models are colour and `by` columns are panels.
    title
        In place of the chart's own title; the subtitle stays.

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
    curves = _read_ranks(table)
    whole = channels_of(curves, color or ("model" if facet != "model" else None), facet)
    channels, grey = _highlighted(curves, whole)
    rows, last = curves.rows, curves.rows["rank"].max()
    lowest = last if isinstance(last, int) else 1
    x, _, _ = eta_axis(rows)
    y = alt.Y(
        "rank:Q",
        title="Rank",
        scale=alt.Scale(domain=[lowest + 0.5, 0.5], nice=False, zero=False),
        axis=alt.Axis(values=list(range(1, lowest + 1, math.ceil(lowest / 12))), format="d"),
    )
    look = Look(
        x=x,
        y=y,
        interpolate="linear",
        tooltip=_TOOLTIP,
        pale="sure",
        dots=sparse(rows),
        height=0.65,
    )
    told = [name for name in ("value", *_LEAD) if name in rows.columns]
    if "resolved" in rows.columns:
        rows = rows.with_columns(pl.when("resolved").then("rank").alias("sure"))
    fields = [name for name in ("eta", "rank", "sure") if name in rows.columns]
    data = list(records(curves, channels, with_yes_and_no(rows), fields, [*told, "prevalence"]))
    level = "" if confidence is None else f" ({said_level(confidence)})"
    doubt = "reliable" in curves.rows.columns and not curves.rows["reliable"].all()
    sure = f"Pale band: behind the first for sure, or ahead of all{level}"
    sure += "; not all of it reliable" if doubt else ""
    subtitle = ("Rank 1 is best", *([sure] if "sure" in fields else []), *grey)
    words = Words(
        title or "Ranking by prevalence", (*subtitle, *said_sizes(curves), *no_place(table)), ""
    )
    return chart(look, data, channels, words)


def _read_ranks(table: pl.DataFrame) -> Curves:
    """Models are the first group column."""
    table = check_table("ranking", table, "ranking", ["eta", "model", "value", "rank"])
    start = table.columns.index("eta")
    names = group_fields(["model", *table.columns[:start]])
    columns = ["value", "rank", *(name for name in _LEAD if name in table.columns[start + 1 :])]
    frame = pl.DataFrame(
        [table.get_column(name).alias(field) for field, name in names.items()]
        + [table.get_column("eta").cast(pl.Float64), *(table.get_column(name) for name in columns)]
    )
    unknown = pl.lit(None, dtype=pl.Float64)
    return lines_of(frame.with_columns(n_pos=unknown, n_neg=unknown), names, ["rank"])


def _highlighted(curves: Curves, channels: Channels) -> tuple[Channels, list[str]]:
    """Colour for the models that come highest, by best and then by mean rank; grey for others."""
    color = channels.color
    if color is None or len(color.labels) <= MOST_COLORS:
        return channels, []
    labels = pl.DataFrame({"curve": curves.each["curve"], "label": color.of_curve})
    order = (
        curves.rows.join(labels, on="curve")
        .group_by("label", maintain_order=True)
        .agg(best=pl.col("rank").min(), mean=pl.col("rank").mean())
        .sort("best", "mean", maintain_order=True)
    )
    high = set(order["label"].head(MOST_COLORS))
    shown = [label for label in color.labels if label in high]
    said = (
        f"Coloured: the {MOST_COLORS} that come highest; grey: {len(color.labels) - MOST_COLORS} others"
    )
    return replace(channels, color=replace(color, shown=shown)), [said]
