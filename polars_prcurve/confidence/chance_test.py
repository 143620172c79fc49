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

from polars_prcurve import column_names as c
from polars_prcurve.confidence.intervals import z_value
from polars_prcurve.exact_arithmetic import repeat_in_rows

ABOVE_CHANCE = "above_chance"
_PLACES = 0.1
"""The shift of reciprocal ranks, beside half a place, in distances between examples of a class."""


def measure_chance(
    segments: pl.LazyFrame, groups: pl.LazyFrame, sizes: tuple[pl.Expr, pl.Expr], confidence: float
) -> pl.LazyFrame:
    """Return ABOVE_CHANCE by GROUP, from `segments` at scores of positives; null without a class."""
    n_pos, n_neg = sizes
    counts = groups.select(c.GROUP, n_pos=n_pos, n_neg=n_neg)
    counts = counts.with_columns(n=pl.col("n_pos") + pl.col("n_neg"))
    smaller = pl.min_horizontal("n_pos", "n_neg")
    counts = counts.with_columns(shift=0.5 + _PLACES * pl.col("n") / repeat_in_rows(smaller, smaller))
    rows = segments.filter(pl.col("recall") > pl.col(c.RECALL_BEFORE))
    rows = rows.select(c.GROUP, "recall", "fpr", c.RECALL_BEFORE, c.FPR_BEFORE)
    sums = add_up_places(rows.join(counts, on=c.GROUP)).group_by(c.GROUP).sum()
    found = find_deviations(counts.join(sums, on=c.GROUP, how="left"))
    above = pl.any_horizontal(
        (pl.col(name).fill_nan(None) >= z_value(confidence)).fill_null(False)
        for name in ("ranks", "top")
    )
    both = (pl.col("n_pos") > 0) & (pl.col("n_neg") > 0)
    return found.select(c.GROUP, pl.when(both).then(above).alias(ABOVE_CHANCE))


def add_up_places(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return what each score of positives adds to the sums, from the places that it takes."""
    recall, fpr = (pl.col(name) for name in ("recall", "fpr"))
    before = pl.col(c.RECALL_BEFORE), pl.col(c.FPR_BEFORE)
    places = rows.select(
        *(c.GROUP, "shift"),
        low=pl.col("n_pos") * before[0] + pl.col("n_neg") * before[1].fill_null(0.0),
        high=pl.col("n_pos") * recall + pl.col("n_neg") * fpr.fill_null(0.0),
        positives=pl.col("n_pos") * (recall - before[0]),
    )
    low, high = pl.col("low"), pl.col("high")
    places = places.with_columns(
        ties=high - low, first=low + pl.col("shift"), last=high + pl.col("shift")
    )
    ties, first, last = pl.col("ties"), pl.col("first"), pl.col("last")
    places = places.with_columns(total=(ties / first).log1p())  # of reciprocal ranks
    total, positives = pl.col("total"), pl.col("positives")
    # The squares and cubes of equal shares, less those of what they are the mean of.
    return places.select(
        c.GROUP,
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
    sums = sums.with_columns(
        of_ranks=n_pos * n_neg * (1 / 12) * (n + 1 - pl.col("ties") / (n * (n - 1))),
        mean=(n / shift).log1p() / n,
        second=(n / (shift * last) + pl.col("squares")) / n,
        third=(n * (shift + last) / (2 * (shift * last) ** 2) + pl.col("cubes")) / n,
    )
    mean, second, third = pl.col("mean"), pl.col("second"), pl.col("third")
    sums = sums.with_columns(spread=second - mean * mean, skew=third - 3 * mean * second + 2 * mean**3)
    sums = sums.with_columns(variance=n_pos * n_neg / (n - 1) * pl.col("spread"))
    variance = pl.col("variance")
    sums = sums.with_columns(
        ranks=(n_pos * n / 2 - pl.col("ranks") - 0.5) / pl.col("of_ranks").sqrt(),
        deviation=(pl.col("top") - n_pos * mean) / variance.sqrt(),
        skewness=variance ** (-0.5) * (n_neg - n_pos) / (n - 2) * (pl.col("skew") / pl.col("spread")),
    )
    deviation, skewness = pl.col("deviation"), pl.col("skewness")
    # The cube root of a gamma variable is nearly normal (Wilson and Hilferty 1931).
    curved = 6 / skewness * ((1 + skewness * deviation / 2).cbrt() - 1 + skewness**2 * (1 / 36))
    varies = pl.col("spread") > 1e-9 * second
    return sums.select(
        *(c.GROUP, "n_pos", "n_neg"),
        ranks=pl.when(varies).then("ranks"),
        top=pl.when(varies).then(pl.when(skewness.abs() > 1e-6).then(curved).otherwise(deviation)),
    )
