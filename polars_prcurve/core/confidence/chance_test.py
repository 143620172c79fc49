"""Whether the scores of a group are better than chance, that is, say anything of the label at all.

If they say nothing, the positives are a random draw from the examples. Two sums over the positives are
compared with those over all draws of as many: ranks tell of a model that is a little good throughout
(Mann and Whitney 1947), and reciprocal ranks of one that is good at the top alone. A place x, counted
from the top, has the reciprocal rank 1 / (x + shift), averaged over it. The shift is half a place,
and a tenth of the distance between two examples of the smaller class; without it a single example on top
would decide. Examples of one score share their mean.

Mean, variance and skewness of a sum over all draws are known. They choose a Pearson distribution of type
III, which a cube root makes normal (Wilson and Hilferty 1931). Each test has half of what a level leaves
to chance, and no threshold plays a part. Only scores of positives are read: negatives between two of
them count as if their scores differed, and where they do not, the tests are a little careful.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.confidence.intervals import z_value
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.inputs.row_columns import Group
from polars_prcurve.core.metrics.segment_columns import Segment

ABOVE_CHANCE = "above_chance"  # the column of the answer, which results show
_PLACES = 0.1
"""The shift of reciprocal ranks, beside half a place, in distances between examples of a class."""


def measure_chance(
    segments: pl.LazyFrame, groups: pl.LazyFrame, sizes: tuple[pl.Expr, pl.Expr], confidence: float
) -> pl.LazyFrame:
    """Return ABOVE_CHANCE by NUMBER, from `segments` at scores of positives; null without a class."""
    n, smaller = pl.col("n_pos") + pl.col("n_neg"), pl.min_horizontal("n_pos", "n_neg")
    shift = 0.5 + _PLACES * n / repeat_in_rows(smaller, smaller)
    counts = groups.select(Group.NUMBER, n_pos=sizes[0], n_neg=sizes[1]).with_columns(n=n, shift=shift)
    rows = segments.filter(pl.col("recall") > pl.col(Segment.RECALL_BEFORE))
    rows = rows.select(Group.NUMBER, "recall", "fpr", Segment.RECALL_BEFORE, Segment.FPR_BEFORE)
    sums = add_up_places(rows.join(counts, on=Group.NUMBER)).group_by(Group.NUMBER).sum()
    deviations = find_deviations(counts.join(sums, on=Group.NUMBER, how="left"))
    above = pl.any_horizontal(
        (pl.col(name).fill_nan(None) >= z_value(confidence)).fill_null(False)
        for name in ("ranks", "top")
    )
    has_both = (pl.col("n_pos") > 0) & (pl.col("n_neg") > 0)
    return deviations.select(Group.NUMBER, pl.when(has_both).then(above).alias(ABOVE_CHANCE))


def add_up_places(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return what each score of positives adds to the sums, from the places that it takes."""
    n_pos, n_neg, shift = map(pl.col, ("n_pos", "n_neg", "shift"))
    recall, fpr, recall_before = map(pl.col, ("recall", "fpr", Segment.RECALL_BEFORE))
    low = n_pos * recall_before + n_neg * pl.col(Segment.FPR_BEFORE).fill_null(0.0)
    high = n_pos * recall + n_neg * fpr.fill_null(0.0)
    positives = n_pos * (recall - recall_before)
    places = rows.select(Group.NUMBER, "shift", low=low, high=high, positives=positives)
    low, high, positives = map(pl.col, ("low", "high", "positives"))
    ties, first, last = high - low, low + shift, high + shift
    places = places.with_columns(total=(ties / first).log1p())  # of reciprocal ranks
    total = pl.col("total")
    # The squares and cubes of equal shares, less those of what they are the mean of.
    return places.select(
        Group.NUMBER,
        ranks=positives * (low + high) / 2,
        ties=ties**3 - ties,
        top=positives * total / ties,
        squares=total * total / ties - ties / (first * last),
        cubes=total**3 / (ties * ties) - ties * (first + last) / (2 * (first * last) ** 2),
    )


def find_deviations(sums: pl.LazyFrame) -> pl.LazyFrame:
    """Return the normal deviates of both sums, `ranks` and `top`; null where all scores are equal."""
    # That of ranks has half a place less, since ranks are whole numbers.
    n_pos, n_neg, n, shift = (pl.col(name) for name in ("n_pos", "n_neg", "n", "shift"))
    last = n + shift
    # A sum over n_pos of n values with the variance s has the variance n_pos n_neg / (n - 1) s. Of ranks
    # s is (n**2 - 1) / 12, less what ties take away, and of reciprocal ranks it is `spread`.
    # Untied places have the integrals of the squares and of the cubes; scores of positives differ.
    ranks_variance = n_pos * n_neg * (1 / 12) * (n + 1 - pl.col("ties") / (n * (n - 1)))
    mean = (n / shift).log1p() / n
    second = (n / (shift * last) + pl.col("squares")) / n
    third = (n * (shift + last) / (2 * (shift * last) ** 2) + pl.col("cubes")) / n
    spread, skew = second - mean * mean, third - 3 * mean * second + 2 * mean**3
    variance = n_pos * n_neg / (n - 1) * spread
    varies = spread > 1e-9 * second
    sums = sums.select(
        Group.NUMBER,
        "n_pos",
        "n_neg",
        ranks=pl.when(varies).then((n_pos * n / 2 - pl.col("ranks") - 0.5) / ranks_variance.sqrt()),
        deviation=pl.when(varies).then((pl.col("top") - n_pos * mean) / variance.sqrt()),
        skewness=variance ** (-0.5) * (n_neg - n_pos) / (n - 2) * (skew / spread),
    )
    deviation, skewness = pl.col("deviation"), pl.col("skewness")
    # The cube root of a gamma variable is nearly normal (Wilson and Hilferty 1931).
    cube_root = (1 + skewness * deviation / 2).cbrt()
    normal = 6 / skewness * (cube_root - 1 + skewness**2 * (1 / 36))
    top = pl.when(skewness.abs() > 1e-6).then(normal).otherwise(deviation)
    return sums.select(Group.NUMBER, "n_pos", "n_neg", "ranks", top=top)
