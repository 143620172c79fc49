"""The ribbon chart: the precision that test sets with fewer negatives would have found."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_prcurve.argument_kinds import Title, check_texts, check_title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.chart_assembly import (
    Chart,
    ChartSpec,
    ChartText,
    arrange_panels,
    build_chart,
)
from polars_prcurve.charts.parts.chart_axes import ChartAxis, fit_shares
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
from polars_prcurve.charts.parts.hover import build_hover_records, list_places
from polars_prcurve.charts.parts.number_formats import add_threshold, format_range
from polars_prcurve.charts.parts.points_to_draw import (
    build_records,
    build_steps,
    describe_doubt,
    describe_thinning,
    find_few_false_alerts,
    keep_rises,
    measure_steps,
    split_by_doubt,
    thin_points,
)
from polars_prcurve.charts.parts.references import draw_level
from polars_prcurve.number_words import say_estimate, say_share

_RIBBON_COLUMNS = ("low", "q1", "q3", "high")
_X = ChartAxis("recall", "Recall", 0.0, 1.0)


@hint_at_arguments
def ribbon(
    table: pl.DataFrame,
    *,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
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
    color, facet
        As in `pr_curve`.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> counts = pl.DataFrame({"score": [2, 1, 0], "n_pos": [6, 3, 1], "n_neg": [5, 50, 945]})
    >>> chart = ribbon(counts.prc.subsample_negatives(0.1, seed=1, counts=("n_pos", "n_neg")))
    >>> print(chart.to_dict()["title"]["subtitle"][0].replace("\xa0", " "))
    Precision by recall where 1 in 10 is positive, in samples of 90 negatives
    """
    check_texts(color=color, facet=facet)
    check_title(title)
    more = [*_RIBBON_COLUMNS, "n_kept"]
    curves = read_sweep("ribbon", table, ["precision"], made_by="subsample_negatives", more=more)
    steps = build_steps(find_few_false_alerts(curves.rows), "precision", *_RIBBON_COLUMNS, "doubt")
    areas = measure_steps(steps, "precision")
    channels = sort_panels(read_channels(curves, color, facet), areas, curves)
    channels, picked = pick_out(channels, areas, curves)
    y = ChartAxis("precision", "Precision", *fit_shares(steps["low"]))
    spec = ChartSpec(_X, y, "step-before", bands=(("low", "high"), ("q1", "q3")))
    pixels = arrange_panels(channels.facet, spec).width
    drawn = thin_points(steps, pl.col("recall"), pl.col("fpr") / pl.col("recall"), pixels)
    drawn = split_by_doubt(drawn, "step-before")
    chance, words = draw_level(channels, curves.per_curve["eta"], (_X, y), "alerts at random")
    lines = build_records(curves, channels, drawn, ["recall", "precision", *_RIBBON_COLUMNS])
    data = [*chance, *lines, *_read_along(curves, channels, y)]
    sizes = curves.rows["n_kept"].drop_nulls()
    samples = f", in samples of {format_range(sizes)} negatives" if len(sizes) else ""
    note = ("Line: all negatives. Pale: all samples; darker: their middle half",) if len(sizes) else ()
    text = ChartText(
        title,
        f"{join_etas('Precision by recall', curves)}{samples}",
        (*note, picked, *describe_doubt(drawn), *describe_sizes(curves)),
        _find_title(curves, channels) or "What a test with fewer negatives would have found",
        describe_thinning(steps, drawn),
    )
    return build_chart(spec, data, channels, text, words)


def _find_title(curves: ChartCurves, channels: Channels) -> str:
    """Return what samples make of the precision at half recall, of the line where they differ most.

    It is empty for panels, where no sample differs, or where few false positives are behind a point.
    """
    if channels.facet is not None or len(curves.per_curve) > 2:
        return ""
    half = find_few_false_alerts(keep_rises(curves.rows)).filter(pl.col("recall") >= 0.5)
    half = half.sort("curve", "recall", maintain_order=True).unique("curve", maintain_order=True)
    half = half.filter(pl.col("low") < pl.col("high"))
    if half.is_empty() or half["doubt"].fill_null(True).any():
        return ""
    row = half.row((half["high"] - half["low"]).arg_max() or 0, named=True)
    found, span = say_estimate(row["precision"], row["low"], row["high"])
    if say_share(row["low"]) == say_share(row["high"]):
        return ""
    name = "" if channels.color is None else f"{_find_label(curves, channels, row['curve'])}: "
    return f"{name}{found} precision at half recall reads as {span} with fewer negatives"


def _find_label(curves: ChartCurves, channels: Channels, curve: int) -> str:
    """Return the name of a curve that has a colour."""
    assert channels.color is not None
    return channels.color.label_by_curve[curves.per_curve["curve"].to_list().index(curve)]


def _read_along(curves: ChartCurves, channels: Channels, y: ChartAxis) -> list[dict[str, Any]]:
    """Return what the pointer reads: precision with all negatives, and in the samples."""

    def say(row: dict[str, Any]) -> tuple[str, str]:
        at = add_threshold(row["threshold"])
        value, span = say_estimate(row["precision"], row["low"], row["high"])
        found = f" (samples {span})" if span else ""
        return f"at least {say_share(row['at'])}", f"{value}{found}{at}"

    places = list_places(_X, len(curves.per_curve))
    rows = keep_rises(curves.rows)
    return build_hover_records(curves, channels, rows, (_X, y), places, strategy="forward", say=say)
