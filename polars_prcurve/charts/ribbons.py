"""What precision a test set with fewer negatives would have found, as ribbons."""

from __future__ import annotations

import altair as alt
import polars as pl

from polars_prcurve.charts.channels import channels_of
from polars_prcurve.charts.curves import Curves, read_sweep, said_eta, said_sizes
from polars_prcurve.charts.drawing import CHANCE, SWEPT, Chart, Look, Words, chart, part, share_axis
from polars_prcurve.charts.points import records, said_thinned, steps, thinned
from polars_prcurve.charts.words import rounded, said_range

__all__ = ["ribbon"]

_ENDS = ("low", "q1", "q3", "high")
_TOOLTIP = (
    *SWEPT,
    alt.Tooltip("precision:Q", format=".4~g"),
    *(alt.Tooltip(f"{name}:Q", title=f"{name} of samples", format=".4~g") for name in _ENDS),
    alt.Tooltip("prevalence:N"),
)


def ribbon(
    table: pl.DataFrame,
    *,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """What leaving negatives out does to a PR curve, from the table of `subsample_negatives`.

    After Brabec et al. 2020, fig. 6. The line is the precision of all negatives, adjusted to eta. Around
    it the precision found in samples of them, at the same thresholds: light from the least to the
    greatest, dark the middle half. Steps, as in `pr_curve`.

    Parameters
    ----------
    table
        What `subsample_negatives` returns, in any row order.
    color, facet
        As in `pr_curve`.
    title
        In place of the chart's own title; the subtitle stays.

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
    more = [*_ENDS, "n_kept"]
    curves = read_sweep("ribbon", table, ["precision"], made_by="subsample_negatives", more=more)
    channels = channels_of(curves, color, facet)
    points = steps(curves.rows, "precision", *_ENDS)
    drawn = thinned(points, pl.col("recall"), pl.col("fpr") / pl.col("recall"))
    levels = channels.places("chance", curves.each["eta"])
    chance = [{"precision": rounded(value), **place} for value, place in levels]
    x, y = share_axis(alt.X, "recall", "Recall"), share_axis(alt.Y, "precision", "Precision")
    look = Look(
        x=x,
        y=y,
        interpolate="step-before",
        tooltip=_TOOLTIP,
        below=(part(alt.Chart().mark_rule(**CHANCE).encode(y), "chance"),),
        bands=(("low", "high"), ("q1", "q3")),
    )
    told = ["threshold", "tp", "fp", "prevalence", "test_set"]
    data = [*chance, *records(curves, channels, drawn, ["recall", "precision", *_ENDS], told)]
    words = Words(
        title or "Precision-recall curve of fewer negatives",
        (*said_eta(curves), *_said_samples(curves), *said_sizes(curves)),
        said_thinned(points, drawn),
    )
    return chart(look, data, channels, words)


def _said_samples(curves: Curves) -> list[str]:
    kept = curves.rows["n_kept"].drop_nulls()
    if not len(kept):
        return []
    samples = f"samples of {said_range(kept)} negatives"
    return ["Line: all negatives, adjusted to eta", f"Ribbons: {samples}, light all, dark half"]
