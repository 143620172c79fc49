"""Whether the scores of a group are better than chance, that is, say anything of the label at all.

If they say nothing, the positives are a random draw from the examples. Two sums over the positives are
compared with those over all draws of as many examples:

    ranks               tell of a model that is a little good throughout (Mann and Whitney 1947)
    reciprocal ranks    tell of a model that is good at the top alone, as average precision does

A place x, counted from the top, has the reciprocal rank 1 / (x + shift), averaged over the place. The
shift is half a place, and a tenth of the distance between two examples of the smaller class; without it
a single example on top would decide. Examples of one score share their mean.

Mean, variance and skewness of a sum over all draws are known. They choose a Pearson distribution of type
III, which a cube root makes normal (Wilson and Hilferty 1931). Each test has half of what a level leaves
to chance. The threshold plays no part, so the answer holds however one is chosen.

Only scores of positives are read. Negatives between two of them count as if their scores differed, and
where they do not, the tests are a little careful.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.rates import z_value
from polars_prcurve.float_bits import repeat_in_rows

ABOVE_CHANCE = "above_chance"
_PLACES = 0.1
"""The shift of reciprocal ranks, beside half a place, in distances between examples of a class."""
_POS, _NEG = f"{c.RESERVED}n_of_pos", f"{c.RESERVED}n_of_neg"
_RANKS, _TIES = f"{c.RESERVED}sum_of_ranks", f"{c.RESERVED}sum_of_ties"
_TOP, _SQUARES, _CUBES = (f"{c.RESERVED}{name}" for name in ("of_top", "top_squares", "top_cubes"))


def measure_chance(
    segments: pl.LazyFrame, groups: pl.LazyFrame, sizes: tuple[pl.Expr, pl.Expr], confidence: float
) -> pl.LazyFrame:
    """Return ABOVE_CHANCE by GROUP, null without examples of both classes.

    The rows of `segments` are those of scores of positives, with both rates there and before. The sizes
    are over the columns of `groups`.
    """
    named = zip(sizes, (_POS, _NEG), strict=True)
    counts = groups.select(c.GROUP, *(n.alias(name) for n, name in named))
    rows = segments.filter(pl.col("recall") > pl.col(c.RECALL_BEFORE))
    rows = rows.select(c.GROUP, "recall", "fpr", c.RECALL_BEFORE, c.FPR_BEFORE)
    sums = rows.join(counts, on=c.GROUP).select(c.GROUP, *_list_terms()).group_by(c.GROUP).sum()
    deviations = _find_rank_deviation(), _find_top_deviation()
    # One class alone, or one score, decides nothing.
    tells = (pl.col(_POS) > 0) & (pl.col(_NEG) > 0)
    z = z_value(confidence)
    above = pl.any_horizontal((of.fill_nan(None) >= z).fill_null(False) for of in deviations)
    found = counts.join(sums, on=c.GROUP, how="left")
    return found.select(c.GROUP, pl.when(tells).then(above).alias(ABOVE_CHANCE))


def _find_shift() -> pl.Expr:
    smaller = pl.min_horizontal(_POS, _NEG)
    return 0.5 + _PLACES * (pl.col(_POS) + pl.col(_NEG)) / repeat_in_rows(smaller, smaller)


def _list_terms() -> list[pl.Expr]:
    """Return what a score of positives adds to the sums, from the places that it takes."""
    n_pos, n_neg, shift = pl.col(_POS), pl.col(_NEG), _find_shift()
    low = n_pos * pl.col(c.RECALL_BEFORE) + n_neg * pl.col(c.FPR_BEFORE).fill_null(0.0)
    high = n_pos * pl.col("recall") + n_neg * pl.col("fpr").fill_null(0.0)
    n, positives = high - low, n_pos * (pl.col("recall") - pl.col(c.RECALL_BEFORE))
    first, last = low + shift, high + shift
    total = (n / first).log1p()  # of reciprocal ranks
    # The squares and cubes of equal shares, less those of what they are the mean of.
    squares = total**2 / n - n / (first * last)
    cubes = total**3 / n**2 - n * (first + last) / (2 * first**2 * last**2)
    terms = {_RANKS: positives * (low + high) / 2, _TIES: n**3 - n}
    terms |= {_TOP: positives * total / n, _SQUARES: squares, _CUBES: cubes}
    return [term.alias(name) for name, term in terms.items()]


def _find_rank_deviation() -> pl.Expr:
    """Return by how many standard errors, less half a place, positives are higher than by chance."""
    n_pos, n_neg = pl.col(_POS), pl.col(_NEG)
    n = n_pos + n_neg
    variance = n_pos * n_neg * (1 / 12) * (n + 1 - pl.col(_TIES) / (n * (n - 1)))
    difference = n_pos * n / 2 - pl.col(_RANKS) - 0.5
    return pl.when(variance > 1e-9 * n).then(difference / variance.sqrt())


def _find_top_deviation() -> pl.Expr:
    """Return the normal deviate of the sum of reciprocal ranks."""
    n_pos, n_neg, shift = pl.col(_POS), pl.col(_NEG), _find_shift()
    n = n_pos + n_neg
    last = n + shift
    mean = (n / shift).log1p() / n
    # Untied places have the integrals of the squares and of the cubes; scores of positives differ.
    second = (n / (shift * last) + pl.col(_SQUARES)) / n
    third = (n * (shift + last) / (2 * shift**2 * last**2) + pl.col(_CUBES)) / n
    spread = second - mean**2
    variance = n_pos * n_neg / (n - 1) * spread
    skew = third - 3 * mean * second + 2 * mean**3
    moment = n_pos * n_neg * (n_neg - n_pos) / ((n - 1) * (n - 2)) * skew
    deviation = (pl.col(_TOP) - n_pos * mean) / variance.sqrt()
    skewness = moment / variance**1.5
    curved = 6 / skewness * ((1 + skewness * deviation / 2).cbrt() - 1 + skewness**2 * (1 / 36))
    known = pl.when(skewness.abs() > 1e-6).then(curved).otherwise(deviation)
    return pl.when(spread > 1e-9 * second).then(known)
