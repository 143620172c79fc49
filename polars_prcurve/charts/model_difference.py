"""The difference of two models by prevalence, with its interval and where it is settled."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

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
    name_group_fields,
)
from polars_prcurve.charts.parts.chart_words import Word
from polars_prcurve.charts.parts.colors_and_panels import Channels, build_channel
from polars_prcurve.charts.parts.findings import is_higher_better
from polars_prcurve.charts.parts.grey_lines import draw_level
from polars_prcurve.charts.parts.number_formats import (
    format_level,
    format_metric,
    format_value,
    say_eta_range,
)
from polars_prcurve.charts.parts.points_to_draw import split_by_doubt
from polars_prcurve.number_words import say_eta

_SIDE_COLORS = (style.COLORS[0], style.COLORS[1], style.QUIET)
"""Colours of the band where it is above 0, below 0, and where it holds 0."""
_HOLDS_0 = 2
_HEIGHT = 0.55
_PAIR = ("group_a", "group_b")
_COLUMNS = ("model_a", "model_b", "metric", "difference", "low", "high")


@hint_at_arguments
def difference(table: pl.DataFrame, *, confidence: float | None = None, title: Title = None) -> Chart:
    """Differences of two models by prevalence, from the table of `compare`, in any row order.

    The line is the value of model a minus that of model b, and the shade its interval, which has one
    colour above 0, another below it, and is grey where it holds 0. Above 0 model a is better, and below
    it model b; of a metric where less is better it is the other way round, and the chart names no
    winner. The line is dotted where the sign of the difference is not certain (`resolved`). Several
    pairs, metrics or groups are panels.

    Parameters
    ----------
    table
        What `compare` returns for several eta, such as `eta_grid()`.
    confidence
        The level of the table's intervals, for the note, since the table does not hold it.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> a, b = [6, 5, 3, 4, 2, 1], [6, 3, 1, 5, 4, 2]
    >>> df = pl.DataFrame({"label": [1, 1, 1, 0, 0, 0], "a": a, "b": b})
    >>> table = df.prc.compare(eta=[0.01, 0.1, 0.5], score=["a", "b"], metrics="average_precision")
    >>> chart = difference(table)
    >>> chart.to_dict()["title"]["subtitle"]
    ['a minus b: average precision, in points, by share of positives']
    """
    check_words(title)
    curves = _read_differences(table)
    rows, is_one = curves.rows, len(curves.per_curve) == 1
    spec = ChartSpec(
        build_eta_axis(rows),
        _build_axis(rows),
        "linear",
        bands=(("low", "high"),),
        height=_HEIGHT,
        is_neutral=True,
        side_colors=_SIDE_COLORS,
    )
    canvas = Canvas(curves, _build_panels(curves), spec)
    draw_level(canvas, [0.0] * len(curves.per_curve), "")
    canvas.words.clear()  # 0 needs no name
    doubt = rows.with_columns(doubt=pl.col("resolved").not_().fill_null(True))
    points = split_by_doubt(_add_sides(doubt), "linear", ["side"])
    lines = canvas.draw_lines(points, ["side"])
    canvas.draw_few_places(row for row in lines if "difference" in row)
    canvas.follow_pointer(rows, "nearest", _say_row, rows["eta"])
    level = "intervals of the table" if confidence is None else f"{format_level(confidence)} intervals"
    note = (
        f"Shaded: {level}{', grey where they hold 0' if _HOLDS_0 in points['side'] else ''}",
        *(*_describe_doubt(rows), curves.left_out, *describe_eta_zero(table)),
    )
    subtitle, finding = "The first model minus the second", ""
    if is_one:
        first = curves.per_curve.row(0, named=True)
        metric, names = format_metric(first["metric"]), _name_models(first)
        subtitle = f"{' minus '.join(names)}: {metric[:1].lower()}{metric[1:]}"
        if is_higher_better(first["metric"]):
            canvas.words += _name_sides(names, spec.y)
            finding = _find_title(rows, names)
    subtitle += ", in points, by share of positives"
    return canvas.finish(title, finding or "Differences of models by prevalence", subtitle, note)


def _name_models(pair: dict[str, Any]) -> tuple[str, str]:
    """Return the names of both models of a pair."""
    return format_value("", pair["group_a"]), format_value("", pair["group_b"])


def _add_sides(rows: pl.DataFrame) -> pl.DataFrame:
    """Add `side`, the number in _SIDE_COLORS of the stretch that leads to a point."""
    here = pl.when(pl.col("low") > 0).then(0).when(pl.col("high") < 0).then(1).otherwise(_HOLDS_0)
    before, after = (pl.col("here").shift(by).over("curve") for by in (1, -1))
    is_first = pl.int_range(pl.len()).over("curve") == 0
    start = pl.when(is_first).then(after.fill_null(pl.col("here"))).otherwise(before)
    side = pl.when(start == pl.col("here")).then("here").otherwise(_HOLDS_0)
    return rows.with_columns(here=here).with_columns(side=side.fill_null(_HOLDS_0)).drop("here")


def _read_differences(table: object) -> ChartCurves:
    """Return a line per group, metric and pair of models."""
    frame = check_table("difference", table, "compare", ["eta", *_COLUMNS, "resolved"])
    start = frame.columns.index("eta")
    names = name_group_fields(frame.columns[:start]) | {"metric": "metric"}
    names |= {"group_a": "model_a", "group_b": "model_b"}
    columns = [*_COLUMNS[3:], "resolved", *(["reliable"] if "reliable" in frame.columns else [])]
    read = pl.DataFrame(
        [frame.get_column(name).alias(field) for field, name in names.items()]
        + [frame.get_column("eta").cast(pl.Float64), *(frame.get_column(name) for name in columns)]
    )
    unknown = pl.lit(None, dtype=pl.Float64)  # the table has no class sizes
    return build_lines(read.with_columns(n_pos=unknown, n_neg=unknown), names, ["difference"])


def _build_panels(curves: ChartCurves) -> Channels:
    """Return the channels: all that differs among the lines is in the name of their panel."""
    if len(curves.per_curve) < 2:
        return Channels(None, None)
    fields = [name for name in curves.field_names if curves.count_distinct([name]) > 1]
    others = [name for name in fields if name not in _PAIR]
    if len(others) == len(fields):
        return Channels(None, build_channel(curves, fields, with_eta=False))
    pairs = build_channel(curves, [*others, *_PAIR], with_eta=False)
    names = {}
    for row, label in zip(curves.per_curve.to_dicts(), pairs.label_by_curve, strict=True):
        a, b = _name_models(row)
        names[label] = f"{label.removesuffix(f'{a} · {b}')}{a} minus {b}"
    labels = [names[label] for label in pairs.labels]
    title = " · ".join([*(curves.field_names[name] for name in others), "two models"])
    by_curve = [names[label] for label in pairs.label_by_curve]
    return Channels(None, replace(pairs, title=title, labels=labels, label_by_curve=by_curve))


def _build_axis(rows: pl.DataFrame) -> ChartAxis:
    """Return an axis around all intervals and 0."""
    values = pl.concat(
        [rows[name].cast(pl.Float64) for name in ("difference", "low", "high")]
    ).drop_nulls()
    ends = [0.0, *([] if values.is_empty() else [float(values.min()), float(values.max())])]  # type: ignore[arg-type]
    room = 0.08 * (max(ends) - min(ends)) or 0.05
    return ChartAxis("difference", "Difference in points", min(ends) - room, max(ends) + room, "points")


def _name_sides(names: tuple[str, str], y: ChartAxis) -> list[Word]:
    """Return the words above and below 0: which model is better there."""
    height = round(540 * _HEIGHT)
    above: dict[str, Any] = {"py": 6, "baseline": "top", "color": _SIDE_COLORS[0]}
    below: dict[str, Any] = {"py": height - 6, "baseline": "bottom", "color": _SIDE_COLORS[1]}
    return [
        Word(text=f"{name} better", px=8, weight="bold", **side)
        for name, side, room in zip(names, (above, below), (y.high, -y.low), strict=True)
        if room > 0.2 * (y.high - y.low)
    ]


def _find_title(rows: pl.DataFrame, names: tuple[str, str]) -> str:
    """Return where the sign of the difference is certain, and where it is not."""
    known = rows.drop_nulls("difference").sort("eta")
    if known.is_empty():
        return ""
    sure = known.filter(pl.col("resolved").fill_null(False))
    a, b = names
    if sure.is_empty():
        return f"The test cannot tell {a} and {b} apart"
    is_open = known["resolved"].fill_null(False).not_()
    signs = sure["difference"].sign().unique()
    ahead = (a if signs[0] > 0 else b) if len(signs) == 1 else ""
    if not is_open.any() and ahead:
        return f"{ahead} is better at every share of positives shown"
    runs = is_open.rle_id().n_unique()
    etas = known.filter(is_open)["eta"]
    if not is_open.any() or runs > 3 or (runs == 3 and is_open[0]):
        both = _say_both_leads(known, (a, b))
        return f"{ahead} is better where the difference is certain" if ahead else both
    low, high = say_eta(etas[0]), say_eta(etas[-1])
    if len(signs) == 2:
        return f"Between {high} and {low} the test cannot tell the two apart"
    where = (
        f"where more than {high} are positive" if is_open[0] else f"where fewer than {low} are positive"
    )
    if runs > 2:
        where = "where the difference is certain"
    return f"{ahead} is better {where}{'; elsewhere the test cannot tell' if runs == 2 else ''}"


def _say_both_leads(known: pl.DataFrame, names: tuple[str, str]) -> str:
    """Return who is better where more are positive, and who at rarer prevalences.

    Empty if the models take turns more than once, or if nothing is certain at the common end.
    """
    sign = pl.col("difference").sign().cast(pl.Int8)
    sides = known.select("eta", side=pl.when(pl.col("resolved").fill_null(False)).then(sign))
    side = sides["side"]
    if side[-1] is None or side.drop_nulls().rle_id().n_unique() != 2:
        return ""
    common, rare = names if side[-1] > 0 else names[::-1]
    other = sides.filter(-side == side[-1])["eta"]
    last_open = sides.filter(side.is_null())["eta"].max()
    start, end = float(other[0]), float(other[-1])
    if not isinstance(last_open, float) or last_open < end:
        last_open = end
    first = f"{common} is better where more than {say_eta(last_open)} are positive"
    if start == known["eta"][0]:
        return f"{first}, {rare} where fewer than {say_eta(end)} are"
    is_whole = sides.filter(pl.col("eta").is_between(start, end))["side"].null_count() == 0
    some = "" if is_whole else "at some shares "
    low, to, high = say_eta_range([start, end]).partition(" to ")
    return f"{first}, {rare} {some}{f'between {low} and {high}' if to else f'around {low}'}"


def _describe_doubt(rows: pl.DataFrame) -> list[str]:
    """Return what dotted means, if a part is; also where an interval leaves out 0 all the same."""
    is_open = rows.filter(pl.col("resolved").fill_null(False).not_())
    if is_open.is_empty():
        return []
    if is_open.filter((pl.col("low") > 0) | (pl.col("high") < 0)).is_empty():
        return ["Dotted: the test does not settle which is better"]
    return [
        "Dotted: the test does not settle which is better, even where all of the shade is on one side "
        "of 0: intervals from so few examples may be too narrow"
    ]


def _say_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each prevalence of the table."""

    def write(value: float) -> str:
        sign = "" if math.isclose(value, 0, abs_tol=1e-12) else "+" if value > 0 else "\u2212"
        return f"{sign}{abs(100 * value):.3g}"

    ends = (row["low"], row["high"])
    within = "" if None in ends else f" ({write(ends[0])} to {write(ends[1])})"
    sure = {True: ", certain", False: ", not certain", None: ""}[row["resolved"]]
    return say_eta(row["eta"]), f"{write(row['difference'])}{within}{sure}"
