"""Precision against recall, and its mirror, the false discovery rate."""

from __future__ import annotations

from typing import Literal

import altair as alt
import polars as pl

from polars_prcurve.charts.channels import channels_of
from polars_prcurve.charts.curves import read_sweep, said_eta, said_sizes
from polars_prcurve.charts.drawing import CHANCE, SWEPT, Chart, Look, Words, chart, part, share_axis
from polars_prcurve.charts.points import records, said_thinned, steps, thinned
from polars_prcurve.charts.words import rounded, said_level
from polars_prcurve.errors import PrcError

__all__ = ["pr_curve"]

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

    Steps, never slopes: a threshold's precision holds back to the recall of the threshold
    before it. A curve starts at recall 0 with its first defined precision; no point (0, 1) is
    invented. The dashed line is chance, precision = eta. The subtitle states eta and the size
    of the test set, and names the groups that have no curve. Shaded: the table's band, if it has one,
    at each threshold; what recall a threshold has is uncertain, too, and that is not shaded.

    Parameters
    ----------
    table
        What `curve` returns: the `by` columns, `eta`, the columns of `sweep`, and `y`.
    y
        `"precision"`, or `"fdr"` (1 - precision) of a table with `metrics=("fdr",)`.
    confidence
        The level that the table's bands have, for the subtitle: the table does not hold it.
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
    band = _band(table, y)
    curves = read_sweep("pr_curve", table, [y], more=band)
    channels = channels_of(curves, color, facet)
    points = steps(curves.rows, y, *band)
    drawn = thinned(points, pl.col("recall"), pl.col("fpr") / pl.col("recall"))
    level = curves.each["eta"] if y == "precision" else 1 - curves.each["eta"]
    chance = [{y: rounded(value), **place} for value, place in channels.places("chance", level)]
    axis = share_axis(alt.Y, y, _AXES[y])
    look = Look(
        x=share_axis(alt.X, "recall", "Recall"),
        y=axis,
        interpolate="step-before",
        tooltip=(
            *SWEPT,
            *(
                alt.Tooltip(f"{name}:Q", title=name.replace("_", " "), format=".4~g")
                for name in (y, *band)
            ),
            alt.Tooltip("prevalence:N"),
        ),
        below=(part(alt.Chart().mark_rule(**CHANCE).encode(axis), "chance"),),
        bands=(band,) if band else (),
    )
    told = ["threshold", "tp", "fp", "prevalence", "test_set"]
    data = [*chance, *records(curves, channels, drawn, ["recall", y, *band], told)]
    named = "the table's intervals" if confidence is None else f"intervals of {said_level(confidence)}"
    shaded = [f"Shaded: {named} of {_AXES[y].lower()} at each threshold"] if band else []
    words = Words(
        title or _TITLES[y],
        (*said_eta(curves), *shaded, *said_sizes(curves)),
        said_thinned(points, drawn),
    )
    return chart(look, data, channels, words)


def _band(table: object, y: str) -> tuple[str, str] | tuple[()]:
    columns = table.columns if isinstance(table, pl.DataFrame) else []
    low, high = f"{y}_low", f"{y}_high"
    return (low, high) if {low, high} <= set(columns) else ()
