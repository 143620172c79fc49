"""The PR curve: precision by recall, or its mirror, the false discovery rate."""

from __future__ import annotations

from typing import Literal

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import check_texts, read_choice
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
from polars_prcurve.charts.parts.chart_curves import describe_eta, describe_sizes, read_sweep
from polars_prcurve.charts.parts.colors_and_panels import read_channels
from polars_prcurve.charts.parts.number_formats import format_level, round_digits
from polars_prcurve.charts.parts.points_to_draw import (
    build_records,
    build_steps,
    describe_thinning,
    thin_points,
)

_AXES = {"precision": "Precision", "fdr": "False discovery rate"}
_TITLES = {"precision": "Precision-recall curve", "fdr": "False discovery rate by recall"}


def pr_curve(
    table: pl.DataFrame,
    *,
    y: Literal["precision", "fdr"] = "precision",
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """Precision-recall curves from the table of `curve`, in any row order.

    Lines are steps, never slopes: the precision of a threshold holds back to the recall of the threshold
    before it. A curve starts at recall 0 with its first defined precision; no point (0, 1) is
    invented. The dashed line is chance, precision = eta. The subtitle states eta and the size
    of the test set, and names the groups that have no curve. The shade is the table's band, if it has
    one, at each threshold. The recall of a threshold is uncertain, too, which the shade does not show.

    Parameters
    ----------
    table
        What `curve` returns: the `by` columns, `eta`, the columns of `sweep`, and `y`.
    y
        `"precision"`, or `"fdr"` (1 - precision) of a table with `metrics=("fdr",)`.
    confidence
        The level of the table's band, for the subtitle, since the table does not hold it.
    color, facet
        A `by` column, `"eta"`, or a further column that an eta frame brought along. By default the
        first `by` column is colour, and the others are panels, as is eta if a group has several. With
        more than 8 groups, or more than 9 panels, groups are panels and eta is colour.
    title
        Replaces the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = pr_curve(df.prc.curve(eta=0.001))
    >>> for line in chart.to_dict()["title"]["subtitle"]:
    ...     print(line)
    Prevalence eta = 0.001 (1 in 1 000); dashed: chance
    Test set: 2 positives : 2 negatives
    """
    check_texts(color=color, facet=facet, title=title)
    read_choice("y=", y, _AXES)
    band = _find_band(table, y)
    curves = read_sweep("pr_curve", table, [y], more=band)
    channels = read_channels(curves, color, facet)
    points = build_steps(curves.rows, y, *band)
    drawn = thin_points(points, pl.col("recall"), pl.col("fpr") / pl.col("recall"))
    level = curves.per_curve["eta"] if y == "precision" else 1 - curves.per_curve["eta"]
    chance = [
        {y: round_digits(value), **place} for value, place in channels.repeat_in_panels("chance", level)
    ]
    axis = build_share_axis(alt.Y, y, _AXES[y])
    spec = ChartSpec(
        x=build_share_axis(alt.X, "recall", "Recall"),
        y=axis,
        interpolate="step-before",
        tooltip=(
            *THRESHOLD_TOOLTIP,
            *(
                alt.Tooltip(f"{name}:Q", title=name.replace("_", " "), format=".4~g")
                for name in (y, *band)
            ),
            alt.Tooltip("prevalence:N"),
        ),
        below=(keep_part(alt.Chart().mark_rule(**CHANCE_STYLE).encode(axis), "chance"),),
        bands=(band,) if band else (),
    )
    tooltip_fields = ["threshold", "tp", "fp", "prevalence", "test_set"]
    data = [*chance, *build_records(curves, channels, drawn, ["recall", y, *band], tooltip_fields)]
    level_text = (
        "the table's intervals" if confidence is None else f"intervals of {format_level(confidence)}"
    )
    shaded = [f"Shaded: {level_text} of {_AXES[y].lower()} at each threshold"] if band else []
    text = ChartText(
        title or _TITLES[y],
        (*describe_eta(curves), *shaded, *describe_sizes(curves)),
        describe_thinning(points, drawn),
    )
    return build_chart(spec, data, channels, text)


def _find_band(table: object, y: str) -> tuple[str, str] | tuple[()]:
    """Return the two columns of the band of `y`, or none if the table has no band."""
    columns = table.columns if isinstance(table, pl.DataFrame) else []
    low, high = f"{y}_low", f"{y}_high"
    return (low, high) if {low, high} <= set(columns) else ()
