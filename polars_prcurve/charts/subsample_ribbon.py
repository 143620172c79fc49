"""The ribbon chart: the precision that test sets with fewer negatives would have found."""

from __future__ import annotations

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import check_texts
from polars_prcurve.charts.parts.chart_assembly import (
    CHANCE_STYLE,
    THRESHOLD_TOOLTIP,
    Chart,
    ChartSpec,
    ChartText,
    build_chart,
    build_share_axis,
    keep_part,
)
from polars_prcurve.charts.parts.chart_curves import (
    ChartCurves,
    describe_eta,
    describe_sizes,
    read_sweep,
)
from polars_prcurve.charts.parts.colors_and_panels import read_channels
from polars_prcurve.charts.parts.number_formats import format_range, round_digits
from polars_prcurve.charts.parts.points_to_draw import (
    build_records,
    build_steps,
    describe_thinning,
    thin_points,
)

_RIBBON_COLUMNS = ("low", "q1", "q3", "high")
_TOOLTIP = (
    *THRESHOLD_TOOLTIP,
    alt.Tooltip("precision:Q", format=".4~g"),
    *(alt.Tooltip(f"{name}:Q", title=f"{name} of samples", format=".4~g") for name in _RIBBON_COLUMNS),
    alt.Tooltip("prevalence:N"),
)


def ribbon(
    table: pl.DataFrame,
    *,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """PR curves with ribbons for samples of the negatives, from the table of `subsample_negatives`.

    After Brabec et al. 2020, fig. 6. The line is the precision with all negatives, adjusted to eta. The
    ribbons around it are the precision found in samples of the negatives, at the same thresholds: the
    light one from the least to the greatest, the dark one the middle half. Lines are steps, as in
    `pr_curve`.

    Parameters
    ----------
    table
        What `subsample_negatives` returns, in any row order.
    color, facet
        As in `pr_curve`.
    title
        Replaces the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> counts = pl.DataFrame({"score": [2, 1, 0], "n_pos": [6, 3, 1], "n_neg": [5, 50, 945]})
    >>> chart = ribbon(counts.prc.subsample_negatives(0.1, seed=1, counts=("n_pos", "n_neg")))
    >>> for line in chart.to_dict()["title"]["subtitle"][1:]:
    ...     print(line)
    Line: all negatives, adjusted to eta
    Ribbons: samples of 90 negatives, light all, dark half
    Test set: 10 positives : 1 000 negatives
    """
    check_texts(color=color, facet=facet, title=title)
    more = [*_RIBBON_COLUMNS, "n_kept"]
    curves = read_sweep("ribbon", table, ["precision"], made_by="subsample_negatives", more=more)
    channels = read_channels(curves, color, facet)
    points = build_steps(curves.rows, "precision", *_RIBBON_COLUMNS)
    drawn = thin_points(points, pl.col("recall"), pl.col("fpr") / pl.col("recall"))
    levels = channels.repeat_in_panels("chance", curves.per_curve["eta"])
    chance = [{"precision": round_digits(value), **place} for value, place in levels]
    x, y = build_share_axis(alt.X, "recall", "Recall"), build_share_axis(alt.Y, "precision", "Precision")
    spec = ChartSpec(
        x=x,
        y=y,
        interpolate="step-before",
        tooltip=_TOOLTIP,
        below=(keep_part(alt.Chart().mark_rule(**CHANCE_STYLE).encode(y), "chance"),),
        bands=(("low", "high"), ("q1", "q3")),
    )
    fields = ["recall", "precision", *_RIBBON_COLUMNS]
    tooltip_fields = ["threshold", "tp", "fp", "prevalence", "test_set"]
    data = [*chance, *build_records(curves, channels, drawn, fields, tooltip_fields)]
    text = ChartText(
        title or "Precision-recall curve of fewer negatives",
        (*describe_eta(curves), *_describe_samples(curves), *describe_sizes(curves)),
        describe_thinning(points, drawn),
    )
    return build_chart(spec, data, channels, text)


def _describe_samples(curves: ChartCurves) -> list[str]:
    """Return lines for the subtitle on the size of the samples, and on what line and ribbons are."""
    sizes = curves.rows["n_kept"].drop_nulls()
    if not len(sizes):
        return []
    samples = f"samples of {format_range(sizes)} negatives"
    return ["Line: all negatives, adjusted to eta", f"Ribbons: {samples}, light all, dark half"]
