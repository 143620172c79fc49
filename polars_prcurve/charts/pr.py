"""Precision against recall, and its mirror, the false discovery rate."""

from __future__ import annotations

from typing import Literal

import altair as alt
import polars as pl

from polars_prcurve.charts.channels import channels_of
from polars_prcurve.charts.curves import read_sweep, said_eta, said_sizes
from polars_prcurve.charts.drawing import CHANCE, SWEPT, Chart, Look, Words, chart, part, share_axis
from polars_prcurve.charts.points import records, said_thinned, steps, thinned
from polars_prcurve.charts.words import rounded
from polars_prcurve.errors import PrcError

__all__ = ["pr_curve"]

_AXES = {"precision": "Precision", "fdr": "False discovery rate"}
_TITLES = {"precision": "Precision-recall curve", "fdr": "False discovery rate by recall"}


def pr_curve(
    table: pl.DataFrame,
    *,
    y: Literal["precision", "fdr"] = "precision",
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """Precision-recall curves from the table of `curve`, in any row order.

    Steps, never slopes: a threshold's precision holds back to the recall of the threshold
    before it. A curve starts at recall 0 with its first defined precision; no point (0, 1) is
    invented. The dashed line is chance, precision = eta. The subtitle states eta and the size
    of the test set, and names the groups that have no curve.

    Parameters
    ----------
    table
        What `curve` returns: the `by` columns, `eta`, the columns of `sweep`, and `y`.
    y
        `"precision"`, or `"fdr"` (1 - precision) of a table with `metrics=("fdr",)`.
    color, facet
        A `by` column, `"eta"`, or a further column that an eta frame brought along. Left out:
        the first `by` column is colour, the others are panels, and so is eta where a group has
        several. More than 8 groups, or than 9 panels: groups are panels, and eta is colour.
    title
        In place of the chart's own title; the subtitle stays.

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
    if y not in _AXES:
        raise PrcError(f'y= of pr_curve is "precision" or "fdr"; got {y!r}')
    curves = read_sweep("pr_curve", table, [y])
    channels = channels_of(curves, color, facet)
    points = steps(curves.rows, y)
    drawn = thinned(points, pl.col("recall"), pl.col("fpr") / pl.col("recall"))
    level = curves.each["eta"] if y == "precision" else 1 - curves.each["eta"]
    chance = [{y: rounded(value), **place} for value, place in channels.places("chance", level)]
    axis = share_axis(alt.Y, y, _AXES[y])
    look = Look(
        x=share_axis(alt.X, "recall", "Recall"),
        y=axis,
        interpolate="step-before",
        tooltip=(*SWEPT, alt.Tooltip(f"{y}:Q", format=".4~g"), alt.Tooltip("prevalence:N")),
        below=(part(alt.Chart().mark_rule(**CHANCE).encode(axis), "chance"),),
    )
    told = ["threshold", "tp", "fp", "prevalence", "test_set"]
    data = [*chance, *records(curves, channels, drawn, ["recall", y], told)]
    words = Words(
        title or _TITLES[y],
        (*said_eta(curves), *said_sizes(curves)),
        said_thinned(points, drawn),
    )
    return chart(look, data, channels, words)
