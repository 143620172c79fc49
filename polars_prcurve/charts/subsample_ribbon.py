"""The ribbon chart: the precision that test sets with fewer negatives would have found."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_prcurve.argument_kinds import Title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts import points_to_draw
from polars_prcurve.charts.parts.canvas import Canvas, check_words
from polars_prcurve.charts.parts.chart_assembly import Chart
from polars_prcurve.charts.parts.chart_axes import RECALL_AXIS, ChartAxis, ChartSpec, fit_shares
from polars_prcurve.charts.parts.colors_and_panels import choose_channels
from polars_prcurve.charts.parts.curves_to_draw import read_sweep
from polars_prcurve.charts.parts.findings import find_half
from polars_prcurve.charts.parts.number_formats import add_threshold, format_range
from polars_prcurve.number_words import say_estimate, say_share

_RIBBON_COLUMNS = ("low", "q1", "q3", "high")


@hint_at_arguments
def ribbon(
    table: pl.DataFrame, *, color: str | None = None, facet: str | None = None, title: Title = None
) -> Chart:
    """PR curves with ribbons for samples of the negatives, from the table of `subsample_negatives`.

    After Brabec et al. 2020, fig. 6. The line is the precision with all negatives, adjusted to eta. The
    ribbons around it are the precision found in samples of the negatives, at the same thresholds: the
    light one from the least to the greatest, the dark one the middle half. Lines are steps, and dotted
    where fewer than five false positives are behind them, as in `pr_curve`.

    Parameters
    ----------
    table
        What `subsample_negatives` returns, in any row order.
    color, facet, title
        As in `pr_curve`.

    Examples
    --------
    >>> counts = pl.DataFrame({"score": [2, 1, 0], "n_pos": [6, 3, 1], "n_neg": [5, 50, 945]})
    >>> chart = ribbon(counts.prc.subsample_negatives(0.1, seed=1, counts=("n_pos", "n_neg")))
    >>> print(chart.to_dict()["title"]["subtitle"][0].replace("\xa0", " "))
    Precision by recall where 1 in 10 is positive, in samples of 90 negatives
    """
    check_words(title, color=color, facet=facet)
    more = [*_RIBBON_COLUMNS, "n_kept"]
    curves = read_sweep("ribbon", table, ["precision"], made_by="subsample_negatives", more=more)
    steps = points_to_draw.build_steps(
        points_to_draw.find_few_false_alerts(curves.rows), "precision", *_RIBBON_COLUMNS, "doubt"
    )
    y = ChartAxis("precision", "Precision", 0.0, fit_shares(steps["high"])[1])
    spec = ChartSpec(RECALL_AXIS, y, "step-before", bands=(("low", "high"), ("q1", "q3")))
    channels = choose_channels(curves, color, facet, points_to_draw.measure_steps(steps, "precision"))
    canvas = Canvas(curves, channels, spec)
    drawn = canvas.thin(steps, pl.col("recall"), pl.col("fpr") / pl.col("recall"))
    drawn = points_to_draw.split_by_doubt(drawn, "step-before")
    canvas.draw_level(curves.per_curve["eta"], "alerts at random")
    canvas.draw_lines(drawn)
    canvas.follow_pointer(points_to_draw.keep_rises(curves.rows), "forward", _say_row)
    sizes = curves.rows["n_kept"].drop_nulls()
    samples = f", in samples of {format_range(sizes)} negatives" if len(sizes) else ""
    note = ["Line: all negatives. Pale: all samples; darker: their middle half"] if len(sizes) else []
    note += [channels.picked, *points_to_draw.describe_doubt(drawn), *curves.describe_sizes()]
    finding = _find_title(canvas) or "What a test with fewer negatives would have found"
    subtitle = f"{curves.join_etas('Precision by recall')}{samples}"
    return canvas.finish(title, finding, subtitle, note, points_to_draw.describe_thinning(steps, drawn))


def _find_title(canvas: Canvas) -> str:
    """Return what samples make of the precision at half recall, of the line where they differ most."""
    # It is empty for panels, where no sample differs, or where few false positives are behind a point.
    curves, color = canvas.curves, canvas.channels.color
    if canvas.channels.facet is not None or len(curves.per_curve) > 2:
        return ""
    half = find_half(curves).filter(pl.col("low") < pl.col("high"))
    if half.is_empty() or half["doubt"].fill_null(True).any():
        return ""
    row = half.row((half["high"] - half["low"]).arg_max() or 0, named=True)
    found, span = say_estimate(row["precision"], row["low"], row["high"])
    if say_share(row["low"]) == say_share(row["high"]):
        return ""
    name = "" if color is None else f"{color.label_of[row['curve']]}: "
    return f"{name}{found} precision at half recall reads as {span} with fewer negatives"


def _say_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: precision with all negatives, and in the samples."""
    at = add_threshold(row)
    value, span = say_estimate(row["precision"], row["low"], row["high"])
    found = f" (samples {span})" if span else ""
    return f"at least {say_share(row['at'])}", f"{value}{found}{at}"
