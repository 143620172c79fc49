"""The bump chart of ranks: the order of models by prevalence."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl

from polars_prcurve.argument_kinds import Title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts import chart_style as style
from polars_prcurve.charts.parts.canvas import Canvas, check_words
from polars_prcurve.charts.parts.chart_assembly import Chart
from polars_prcurve.charts.parts.chart_axes import ChartAxis, ChartSpec, build_eta_axis
from polars_prcurve.charts.parts.chart_curves import (
    ChartCurves,
    build_lines,
    check_table,
    describe_eta_zero,
    describe_sizes,
    name_group_fields,
)
from polars_prcurve.charts.parts.chart_words import Word
from polars_prcurve.charts.parts.colors_and_panels import MAX_COLORS, Channels, pick_out, read_channels
from polars_prcurve.charts.parts.number_formats import format_level
from polars_prcurve.charts.parts.points_to_draw import split_by_doubt
from polars_prcurve.number_words import NO_BREAK, say_eta

_LEAD_COLUMNS = ("behind", "low", "high", "resolved", "reliable")
_MOST_NAMES = 30
"""Models whose names stand at their ranks, at most."""


@hint_at_arguments
def ranking(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Ranks of models along prevalence, from the table of `ranking`, in any row order.

    Rank 1 is on top; equal models share a rank, and their lines lie on each other. Lines are straight
    between the prevalences of the table, on a log axis, and have their names at both ends. If the table
    has the column `resolved`, a line is dotted where it is not certain that the model is behind the
    first, or that the first is ahead. With the limits of `coarse=True` it is dotted where more than one
    model may be the best, and this is one of them. With more than 8 models, those that rank highest have
    a colour, and the others are grey.

    Parameters
    ----------
    table
        What `ranking` returns for several eta, such as `eta_grid()`.
    confidence
        The level of the table's intervals, for the subtitle, since the table does not hold it.
    color, facet
        `"model"` or a `by` column. By default models are colour and `by` columns are panels.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
    >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
    >>> chart = ranking(df.prc.ranking(eta=[0.01, 0.1, 0.9]))
    >>> chart.to_dict()["title"]["subtitle"]
    ['Order of models by share of positives; rank 1 is best']
    """
    check_words(title, color=color, facet=facet)
    curves = _read_ranks(table)
    channels = read_channels(curves, color or ("model" if facet != "model" else None), facet)
    # Models with the best, then the best mean rank have colours.
    ranks = curves.rows.group_by("curve").agg(pl.col("rank").min() + pl.col("rank").mean() / 1e6)
    channels = pick_out(channels, {curve: -rank for curve, rank in ranks.rows()}, curves, MAX_COLORS)
    rows, max_rank = curves.rows, curves.rows["rank"].max()
    lowest = max_rank if isinstance(max_rank, int) else 1  # None in an empty table
    x = build_eta_axis(rows)
    has_names = channels.facet is None and channels.color is not None and lowest <= _MOST_NAMES
    words = _name_both_ends(curves, channels, x) if has_names else []
    left = [style.measure_text(word.text) for word in words if word.align == "right"]
    y = ChartAxis(
        "rank",
        "" if has_names else "Rank",
        lowest + 0.5,
        0.5,
        "none" if has_names else "plain",
        ticks=tuple(float(rank) for rank in range(1, lowest + 1, -(-lowest // 12))),  # about twelve
        room=round(max(left)) + 10 if left else 0,
    )
    names: Literal["none", "beside"] = "none" if has_names else "beside"
    height = min(max(0.12 + 0.05 * lowest, 0.3), 0.9)
    spec = ChartSpec(x, y, "linear", height=height, width=0.8, line_width=3.4, names=names)
    canvas = Canvas(curves, channels, spec)
    canvas.words += words
    is_open = pl.col("resolved").not_() if "resolved" in rows.columns else pl.lit(False)
    points = split_by_doubt(rows.with_columns(doubt=is_open), "linear")
    canvas.draw_few_places(canvas.draw_lines(points))
    canvas.follow_pointer(rows, "nearest", _say_row, rows["eta"])
    doubt = _describe_doubt(points, confidence)
    note = [channels.picked, doubt, *describe_sizes(curves), *describe_eta_zero(table)]
    subtitle = "Order of models by share of positives; rank 1 is best"
    finding = _find_title(curves, channels) or "Ranking by prevalence"
    return canvas.finish(title, finding, subtitle, note)


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
    if "may_be_best" in table.columns and "resolved" not in columns:  # by limits, not by chance
        may_be = table["may_be_best"].fill_null(True).alias("may_be")
        rivals = pl.col("may_be").sum().over("eta", *[name for name in names if name != "group_0"])
        is_open = pl.col("may_be") & (rivals > 1)
        frame = frame.with_columns(may_be).with_columns(resolved=is_open.not_()).drop("may_be")
    if {"resolved", "high"} <= set(columns):  # the lead of the first is sure if no other may be best
        surely_first = (pl.col("rank") == 1) & (pl.col("high") < 0)
        frame = frame.with_columns(resolved=pl.col("resolved") | surely_first)
    unknown = pl.lit(None, dtype=pl.Float64)  # the table has no class sizes
    return build_lines(frame.with_columns(n_pos=unknown, n_neg=unknown), names, ["rank"])


def _say_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each prevalence of the table."""
    sure = {True: ", certain", False: ", not certain", None: ""}[row.get("resolved")]
    return say_eta(row["eta"]), f"rank {row['rank']}, value {row['value']:.4g}{sure}"


def _describe_doubt(points: pl.DataFrame, confidence: float | None) -> str:
    """Return what dotted means, or that nothing is known of how certain the order is."""
    if "resolved" not in points.columns:
        return "Not tested: whether another test set would give this order"
    if not points["doubt"].any():
        return ""
    if "low" not in points.columns:
        unknown = "the table does not tell what lies between its points or within equal scores"
        return f"Dotted: any of these may be the best, since {unknown}"
    level = "" if confidence is None else f" ({format_level(confidence)})"
    return f"Dotted: not certain to be behind the first, or ahead of all{level}"


def _find_title(curves: ChartCurves, channels: Channels) -> str:
    """Return who ranks first at both ends of the axis, or who moves most; empty for panels and ties.

    Where nothing is resolved, no order is told. It is only the order of this test unless the ranking
    says that the first is ahead of all.
    """
    if channels.facet is not None or channels.color is None or curves.rows.is_empty():
        return ""
    label = dict(zip(curves.per_curve["curve"], channels.color.label_by_curve, strict=True))
    if "resolved" in curves.rows.columns and not curves.rows["resolved"].fill_null(False).any():
        both = " and ".join(label.values()) if len(label) == 2 else "these models"
        return f"The test cannot tell {both} apart"
    first = curves.rows.filter(pl.col("rank") == 1)
    etas = curves.rows["eta"].unique().sort()
    ends = [first.filter(pl.col("eta") == eta)["curve"].to_list() for eta in (etas[0], etas[-1])]
    if any(len(end) != 1 for end in ends) or len(etas) < 2:
        return ""
    if ends[0] != ends[1]:
        shown = first.filter(pl.col("eta").is_in([etas[0], etas[-1]])).sort("eta")
        return _say_firsts(shown, label)
    if first["curve"].n_unique() == 1:
        prefix = "" if all(_list_certain(first)) else "In the test "
        return f"{prefix}{label[ends[0][0]]} ranks first at every share of positives shown"
    return _describe_mover(curves.rows.filter(pl.col("eta").is_in([etas[0], etas[-1]])), label)


def _list_certain(rows: pl.DataFrame) -> list[bool]:
    """Return of each row whether the rank is more than chance."""
    has_test = "resolved" in rows.columns
    return rows["resolved"].fill_null(False).to_list() if has_test else [False] * len(rows)


def _say_firsts(ends: pl.DataFrame, label: dict[int, str]) -> str:
    """Return who ranks first at both ends of the axis, and whether that is certain."""
    rare, common = (label[curve] for curve in ends["curve"])
    at_rare, at_common = (f"where {say_eta(eta)} is" for eta in ends["eta"])
    certain = _list_certain(ends)
    if certain == [True, False]:
        return f"{rare} ranks first {at_rare} positive; {at_common}, the test cannot tell"
    if certain == [False, True]:
        return f"{common} ranks first {at_common} positive; {at_rare}, the test cannot tell"
    prefix = "" if all(certain) else "In the test "
    return f"{prefix}{rare} ranks first {at_rare} positive, {common} {at_common}"


def _describe_mover(ends: pl.DataFrame, label: dict[int, str]) -> str:
    """Return the two ranks of the model that moves most between both ends; empty if none stands out."""
    known = ends.drop_nulls("rank").sort("curve", "eta")
    ranks = dict(known.group_by("curve", maintain_order=True).agg("rank").rows())
    moves = {curve: abs(pair[1] - pair[0]) for curve, pair in ranks.items() if len(pair) == 2}
    most = [curve for curve, move in moves.items() if move == max(moves.values()) and move > 1]
    if len(most) != 1:
        return ""
    before, after = ranks[most[0]]
    rare, common = (say_eta(eta) for eta in (known["eta"].min(), known["eta"].max()))  # type: ignore[arg-type]
    where = f"ranks {before} where {rare} is positive, {after} where {common} is"
    return f"In the test {label[most[0]]} {where}"


def _name_both_ends(curves: ChartCurves, channels: Channels, x: ChartAxis) -> list[Word]:
    """Return the names of models at the ranks of both ends."""
    if channels.color is None:
        return []
    colors = channels.color.colors
    label_of = dict(zip(curves.per_curve["curve"], channels.color.label_by_curve, strict=True))
    words: list[Word] = []
    rows = curves.rows.drop_nulls("rank")
    sides: list[tuple[float, Literal["left", "right"], int]]
    sides = [(x.low, "right", -10), (x.high, "left", 10)]
    for eta, align, dx in sides:
        at = rows.filter((pl.col("eta") / eta - 1).abs() < 1e-6)
        for rank, numbers in at.group_by("rank", maintain_order=True).agg("curve").rows():
            labels = [label_of[number] for number in numbers]
            color = colors[labels[0]]
            both = [", ".join(labels), str(rank)]
            said = (2 * NO_BREAK).join(both if align == "right" else both[::-1])
            is_grey = color == style.OTHERS
            words.append(
                Word(
                    text=said,
                    x=eta,
                    y=float(rank),
                    dx=dx,
                    align=align,
                    weight="normal" if is_grey else "bold",
                    color=style.QUIET if is_grey else color,
                )
            )
    return words
