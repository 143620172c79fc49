"""The gain curve: recall by the share of cases that are looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from polars_prcurve.argument_kinds import Title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts import points_to_draw
from polars_prcurve.charts.parts.canvas import Canvas, check_words
from polars_prcurve.charts.parts.chart_assembly import Chart
from polars_prcurve.charts.parts.chart_axes import ChartAxis, ChartSpec
from polars_prcurve.charts.parts.colors_and_panels import choose_channels
from polars_prcurve.charts.parts.curves_to_draw import read_sweep
from polars_prcurve.charts.parts.findings import say_values
from polars_prcurve.charts.parts.number_formats import add_threshold
from polars_prcurve.number_words import say_share, say_shares

_X = ChartAxis("alerted", "Cases looked at, highest scores first", 0.0, 1.0)
_Y = ChartAxis("recall", "Recall", 0.0, 1.0)
_TENTH = 0.1
# Lines of a panel, at most, that have a number each: those of more would lie on lines.
_MOST_LABELS = 4


@hint_at_arguments
def gain_curve(
    table: pl.DataFrame, *, color: str | None = None, facet: str | None = None, title: Title = None
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
    color, facet, title
        As in `pr_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> gain_curve(df.prc.curve(eta=0.5)).to_dict()["layer"][1]["encoding"]["x"]["title"]
    'Cases looked at, highest scores first'
    """
    check_words(title, color=color, facet=facet)
    curves = read_sweep("gain_curve", table)
    etas = curves.per_curve.select("curve", "eta")
    # Alerts are the recall of the positives and the fpr of the negatives, in the shares of both.
    alerted = pl.col("eta") * pl.col("recall") + (1 - pl.col("eta")) * pl.col("fpr")
    rows, points = (
        part.join(etas, on="curve", maintain_order="left").with_columns(alerted=alerted)
        for part in (curves.rows, points_to_draw.start_at_origin(curves.rows))
    )
    tenths = _read_tenths(points)
    channels = choose_channels(curves, color, facet, tenths)
    x = replace(_X, title="Cases looked at") if channels.facet else _X
    canvas = Canvas(curves, channels, ChartSpec(x, _Y, "linear", width=0.8, height=0.88))
    kept = points_to_draw.drop_straight_points(points_to_draw.find_few_positives(points, curves))
    canvas.draw_diagonal("in random order")
    drawn = canvas.draw_curves(kept, pl.col("alerted"), pl.col("recall"))
    has_dots = canvas.draw_published(rows)
    n_colors = len(channels.color.labels) if channels.color else 1
    is_crowd = len(tenths) > 12 or n_colors > _MOST_LABELS
    marks = {} if is_crowd else dict(zip(tenths, say_shares([*tenths.values()]), strict=True))
    for curve, label in marks.items():
        lift = f"lift {tenths[curve] / _TENTH:.3g}"
        said = f"a tenth of the cases holds {label} of the positives, {lift}"
        place = {"alerted": _TENTH, "recall": tenths[curve], **channels.curve_fields(curve)}
        canvas.data.append({"part": "mark", "said": said, "recall_label": label, **place})
    canvas.follow_pointer(rows, "backward", _say_row)
    tenth = f"{'Large dots' if has_dots else 'Dots'}: a tenth of the cases" if marks else ""
    note = [
        *(canvas.channels.picked, tenth, points_to_draw.DOTS_OF_SLOPES if has_dots else ""),
        *(points_to_draw.DOTTED_FEW if drawn["doubt"].any() else "", *curves.describe_sizes()),
    ]
    subtitle = curves.join_etas("Share of positives that are found, by cases looked at,")
    finding = "Positives found by cases looked at"
    if tenths and len(tenths) == len(curves.per_curve) and not curves.has_few_positives:
        start = "A tenth of the cases holds"
        finding = say_values(start, "of the positives", tenths, curves, channels) or finding
    return canvas.finish(title, finding, subtitle, note)


def _read_tenths(points: pl.DataFrame) -> dict[int, float]:
    """Return the recall of each curve at a tenth of the cases, on its straight lines."""
    found = {}
    points = points.sort("curve", "alerted", maintain_order=True)
    for (curve,), line in points.group_by("curve", maintain_order=True):
        before = line.filter(pl.col("alerted") <= _TENTH).tail(1)
        after = line.filter(pl.col("alerted") > _TENTH).head(1)
        if before.is_empty() or after.is_empty():
            continue
        # Tied scores share a slope, on which the tenth may lie.
        (x0, y0), (x1, y1) = (part.select("alerted", "recall").row(0) for part in (before, after))
        found[curve] = y0 + (y1 - y0) * (_TENTH - x0) / (x1 - x0)
    return found


def _say_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: at each share of cases the lowest threshold that fits into it."""
    lift = f", lift {row['recall'] / row['alerted']:.3g}" if row["alerted"] else ""
    recall = f"recall {say_share(row['recall'])}"
    return f"up to {say_share(row['at'])}", f"{recall}{lift}{add_threshold(row)}"
