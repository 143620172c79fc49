"""The gain curve: recall by the share of cases that are looked at."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_prcurve.argument_kinds import Title, check_texts, check_title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.chart_assembly import (
    Chart,
    ChartSpec,
    ChartText,
    add_ghosts,
    arrange_panels,
    build_chart,
)
from polars_prcurve.charts.parts.chart_axes import ChartAxis
from polars_prcurve.charts.parts.chart_curves import (
    ChartCurves,
    describe_sizes,
    join_etas,
    read_sweep,
)
from polars_prcurve.charts.parts.colors_and_panels import (
    Channels,
    pick_out,
    read_channels,
    sort_panels,
)
from polars_prcurve.charts.parts.findings import name_curves, say_by_eta, say_each
from polars_prcurve.charts.parts.hover import build_hover_records, list_places
from polars_prcurve.charts.parts.number_formats import add_threshold
from polars_prcurve.charts.parts.points_to_draw import (
    DOTS_OF_SLOPES,
    build_dots,
    build_records,
    describe_thinning,
    drop_straight_points,
    has_few_positives,
    start_at_origin,
    thin_points,
)
from polars_prcurve.charts.parts.references import draw_diagonal
from polars_prcurve.number_words import say_share, say_shares

_X = ChartAxis("alerted", "Cases looked at, highest scores first", 0.0, 1.0)
_Y = ChartAxis("recall", "Recall", 0.0, 1.0)
_TENTH = 0.1


@hint_at_arguments
def gain_curve(
    table: pl.DataFrame,
    *,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Gain curves from the table of `curve`, in any row order: recall by the share of cases alerted.

    At prevalence eta a threshold flags the share eta * recall + (1 - eta) * fpr of all cases. Lines are
    straight from point to point, from the origin, as in a ROC curve: tied scores make a slope. The
    pointer reads lift, too, which is recall divided by that share. The grey diagonal is cases in
    random order.

    Parameters
    ----------
    table
        What `curve` returns, with any metrics.
    color, facet
        As in `pr_curve`.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> gain_curve(df.prc.curve(eta=0.5)).to_dict()["layer"][1]["encoding"]["x"]["title"]
    'Cases looked at, highest scores first'
    """
    check_texts(color=color, facet=facet)
    check_title(title)
    curves = read_sweep("gain_curve", table)
    points = _add_alerted(start_at_origin(curves.rows), curves)
    tenths = _read_tenths(points)
    channels = sort_panels(read_channels(curves, color, facet), tenths, curves)
    channels, picked = pick_out(channels, tenths, curves)
    spec = ChartSpec(_X, _Y, "linear", width=0.8, height=0.88)
    kept = drop_straight_points(points)
    drawn = thin_points(
        kept, pl.col("alerted"), pl.col("recall"), arrange_panels(channels.facet, spec).width
    )
    etas = curves.per_curve["eta"]
    grey, words = draw_diagonal(channels, etas, (_X, _Y), "in random order")
    lines = build_records(curves, channels, drawn, ["alerted", "recall"])
    dots = _mark_tenths(tenths, curves, channels)
    published = build_dots(curves, channels, _add_alerted(curves.rows, curves), ["alerted", "recall"])
    data = [*grey, *add_ghosts(lines, channels, _X), *published, *dots]
    data += _read_along(curves, channels)
    size = "Large dots" if published else "Dots"
    said = [f"{size}: a tenth of the cases"] if dots else []
    note = [picked, *said, DOTS_OF_SLOPES if published else "", *describe_sizes(curves)]
    text = ChartText(
        title,
        join_etas("Share of positives that are found, by cases looked at,", curves),
        tuple(note),
        _find_title(curves, channels, tenths),
        describe_thinning(kept, drawn),
    )
    return build_chart(spec, data, channels, text, words)


def _add_alerted(points: pl.DataFrame, curves: ChartCurves) -> pl.DataFrame:
    """Add `alerted`, the share of cases that are flagged at the prevalence of the curve."""
    etas = curves.per_curve.select("curve", "eta")
    alerted = pl.col("eta") * pl.col("recall") + (1 - pl.col("eta")) * pl.col("fpr")
    joined = points.join(etas, on="curve", maintain_order="left")
    return joined.filter(pl.col("fpr").is_not_null()).with_columns(alerted=alerted)


def _read_tenths(points: pl.DataFrame) -> dict[int, float]:
    """Return the recall of each curve at a tenth of the cases, on its straight lines."""
    found = {}
    for (curve,), line in points.sort("curve", "alerted", maintain_order=True).group_by(
        "curve", maintain_order=True
    ):
        before = line.filter(pl.col("alerted") <= _TENTH).tail(1)
        after = line.filter(pl.col("alerted") > _TENTH).head(1)
        if before.is_empty() or after.is_empty():
            continue
        (x0, y0), (x1, y1) = (part.select("alerted", "recall").row(0) for part in (before, after))
        found[curve] = y0 + (y1 - y0) * (_TENTH - x0) / (x1 - x0)
    return found


def _mark_tenths(
    tenths: dict[int, float], curves: ChartCurves, channels: Channels
) -> list[dict[str, Any]]:
    """Return a marked point per curve at a tenth of the cases; none for many curves."""
    if len(tenths) > 12 or (channels.color and channels.color.colored_labels is not None):
        return []
    records, labels = [], dict(zip(tenths, say_shares([*tenths.values()]), strict=True))
    for number, curve in enumerate(curves.per_curve["curve"].to_list()):
        if curve in tenths:
            recall, label = tenths[curve], labels[curve]
            lift = f"lift {recall / _TENTH:.3g}"
            said = f"a tenth of the cases holds {label} of the positives, {lift}"
            place = {"alerted": _TENTH, "recall": recall, **channels.curve_fields(number)}
            records.append({"part": "mark", "said": said, "recall_label": label, **place})
    return records


def _find_title(curves: ChartCurves, channels: Channels, tenths: dict[int, float]) -> str:
    """Return what a tenth of the cases holds, or the name of the chart."""
    if has_few_positives(curves):
        return "Positives found by cases looked at"
    numbers = curves.per_curve["curve"].to_list()
    values = {curve: tenths[curve] for curve in numbers if curve in tenths}
    etas, names = curves.per_curve["eta"], name_curves(curves, channels)
    is_by_eta = channels.facet is None or channels.facet.fields == ["eta"]
    if not values or len(values) < len(numbers) or not (is_by_eta or names):
        return "Positives found by cases looked at"
    start, end = "A tenth of the cases holds", "of the positives"
    n_groups = curves.count_distinct(curves.group_fields)
    if etas.n_unique() == 1 or (len(etas) == n_groups and names):  # or each group at its own share
        return say_each(start, end, values, names)
    if not is_by_eta or len(etas) != etas.n_unique() * n_groups:
        return "Positives found by cases looked at"
    at = dict(curves.per_curve.select("curve", "eta").rows())
    return say_by_eta(start, end, [(at[curve], value) for curve, value in values.items()])


def _read_along(curves: ChartCurves, channels: Channels) -> list[dict[str, Any]]:
    """Return what the pointer reads: at each share of cases the lowest threshold that fits into it."""

    def say(row: dict[str, Any]) -> tuple[str, str]:
        lift = f", lift {row['recall'] / row['alerted']:.3g}" if row["alerted"] else ""
        at = add_threshold(row["threshold"])
        return f"up to {say_share(row['at'])}", f"recall {say_share(row['recall'])}{lift}{at}"

    places = list_places(_X, len(curves.per_curve))
    rows = _add_alerted(curves.rows, curves)
    return build_hover_records(curves, channels, rows, (_X, _Y), places, strategy="backward", say=say)
