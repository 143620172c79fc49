"""The reliability diagram: may these scores be read as probabilities?"""

from __future__ import annotations

import polars as pl

from polars_prcurve.argument_kinds import Title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.canvas import check_words
from polars_prcurve.charts.parts.chart_assembly import Chart
from polars_prcurve.charts.parts.chart_curves import describe_sizes, read_sweep
from polars_prcurve.charts.parts.colors_and_panels import read_panels_of_one
from polars_prcurve.charts.parts.findings import say_reliability
from polars_prcurve.charts.parts.points_to_draw import has_counts
from polars_prcurve.charts.parts.score_ranges import (
    check_etas,
    describe_ranges,
    draw_ranges,
    judge_ranges,
    split_ranges,
)
from polars_prcurve.confidence.rates import check_confidence
from polars_prcurve.number_words import say_eta


@hint_at_arguments
def reliability(
    table: pl.DataFrame,
    eta: float | None = None,
    *,
    eta_train: float | None = None,
    confidence: float | None = 0.95,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Reliability diagrams from the table of `sweep`: the share of positives in ranges of scores.

    Scores are probabilities where the points lie on the diagonal. There are at most 8 ranges; each holds
    an equal part of the sum of `p (1 - p)`, which is the variance of its positives. The line at a point
    is Wilson's interval of that range alone. A point is filled where more, or less, is positive than the
    scores say: exact binomial tails, corrected for all ranges of the chart (Bonferroni), so that of
    calibrated scores the chart calls any range wrong in at most `1 - confidence` of all test sets. The
    title says what the filled points show, and no more.

    Parameters
    ----------
    table
        What `sweep` returns, with all its rows. Its scores are in [0, 1].
    eta, eta_train
        The prevalence to show, and the one at which the scores are probabilities, as in
        `decision_curve`. Without both, the test set's own, and the scores as they stand.
    confidence
        The level of the intervals and of the test; None has neither, and so have sums of weights.
    color, facet, title
        As in `alerts`.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> reliability(pl.concat([df] * 20).prc.sweep()).to_dict()["title"]["text"]
    ['Scores are too low below 80\\xa0% and too high above 80\\xa0%']
    """
    check_words(title, color=color, facet=facet)
    at, train = check_etas(eta, eta_train) or (None, None)
    level = None if confidence is None else check_confidence(confidence)
    curves = read_sweep("reliability", table, by_eta=False, made_by="sweep")
    level = level if has_counts(curves.rows) else None
    ranges = judge_ranges(split_ranges(curves, train), level, at)
    canvas = draw_ranges(curves, read_panels_of_one(curves, color, facet), ranges, at)
    note = [*describe_ranges(ranges, level), *describe_sizes(curves)]
    subtitle = "Share of positives in ranges of scores, by what these scores say"
    subtitle += "" if at is None else f", moved to where {say_eta(at)} is positive"
    finding = say_reliability(ranges, curves, canvas.channels) if level else ""
    finding = finding or "Share of positives by score"
    return canvas.finish(title, finding, subtitle, note)
