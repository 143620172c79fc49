"""Whether the scores of a group are better than chance, that is, depend on the label at all.

If they do not, the positives are a random draw from the examples. Two sums over the positives are
compared with those over all draws of as many: ranks detect a model that is a little good throughout
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

from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.segment_column_names import Segment

ABOVE_CHANCE = "above_chance"  # the column of the answer, which results show
_SHIFT_IN_DISTANCES = 0.1
"""The shift of reciprocal ranks, beside half a place, in distances between examples of a class."""


def measure_chance(
    segments: pl.LazyFrame,
    groups: pl.LazyFrame,
    sizes_of_classes: tuple[pl.Expr, pl.Expr],
    confidence: float,
) -> pl.LazyFrame:
    """Return ABOVE_CHANCE by NUMBER, from `segments` at scores of positives; null without a class."""
    n_examples = pl.col("n_pos") + pl.col("n_neg")
    size_of_smaller_class = pl.min_horizontal("n_pos", "n_neg")
    place_shift = 0.5 + _SHIFT_IN_DISTANCES * n_examples / repeat_in_rows(
        size_of_smaller_class, size_of_smaller_class
    )
    counts_per_group = groups.select(
        Group.NUMBER, n_pos=sizes_of_classes[0], n_neg=sizes_of_classes[1]
    ).with_columns(n=n_examples, place_shift=place_shift)
    positive_segments = segments.filter(pl.col("recall") > pl.col(Segment.RECALL_BEFORE))
    positive_segments = positive_segments.select(
        Group.NUMBER, "recall", "fpr", Segment.RECALL_BEFORE, Segment.FPR_BEFORE
    )
    place_sums = add_up_places(positive_segments.join(counts_per_group, on=Group.NUMBER))
    sums_per_group = place_sums.group_by(Group.NUMBER).sum()
    deviations_per_group = find_deviations(
        counts_per_group.join(sums_per_group, on=Group.NUMBER, how="left")
    )
    is_above_chance = pl.any_horizontal(
        (pl.col(deviation_column).fill_nan(None) >= z_value(confidence)).fill_null(False)
        for deviation_column in ("ranks", "top")
    )
    has_both_classes = (pl.col("n_pos") > 0) & (pl.col("n_neg") > 0)
    return deviations_per_group.select(
        Group.NUMBER, pl.when(has_both_classes).then(is_above_chance).alias(ABOVE_CHANCE)
    )


def add_up_places(positive_segments: pl.LazyFrame) -> pl.LazyFrame:
    """Return what each score of positives adds to the sums, from the places that it takes."""
    n_pos, n_neg, place_shift = map(pl.col, ("n_pos", "n_neg", "place_shift"))
    recall, fpr, recall_before = map(pl.col, ("recall", "fpr", Segment.RECALL_BEFORE))
    first_place = n_pos * recall_before + n_neg * pl.col(Segment.FPR_BEFORE).fill_null(0.0)
    last_place = n_pos * recall + n_neg * fpr.fill_null(0.0)
    n_positives = n_pos * (recall - recall_before)
    places_per_score = positive_segments.select(
        Group.NUMBER, "place_shift", low=first_place, high=last_place, positives=n_positives
    )
    first_place, last_place, n_positives = map(pl.col, ("low", "high", "positives"))
    n_tied = last_place - first_place
    first_shifted_place = first_place + place_shift
    last_shifted_place = last_place + place_shift
    # Of reciprocal ranks.
    places_per_score = places_per_score.with_columns(total=(n_tied / first_shifted_place).log1p())
    reciprocal_sum = pl.col("total")
    # The squares and cubes of equal shares, less those of what they are the mean of.
    return places_per_score.select(
        Group.NUMBER,
        ranks=n_positives * (first_place + last_place) / 2,
        ties=n_tied**3 - n_tied,
        top=n_positives * reciprocal_sum / n_tied,
        squares=reciprocal_sum * reciprocal_sum / n_tied
        - n_tied / (first_shifted_place * last_shifted_place),
        cubes=reciprocal_sum**3 / (n_tied * n_tied)
        - n_tied
        * (first_shifted_place + last_shifted_place)
        / (2 * (first_shifted_place * last_shifted_place) ** 2),
    )


def find_deviations(sums_per_group: pl.LazyFrame) -> pl.LazyFrame:
    """Return the normal deviates of both sums, `ranks` and `top`; null where all scores are equal."""
    # That of ranks has half a place less, since ranks are whole numbers.
    n_pos, n_neg, n_examples, place_shift = (
        pl.col(name) for name in ("n_pos", "n_neg", "n", "place_shift")
    )
    last_shifted_place = n_examples + place_shift
    # A sum over n_pos of n values with the variance s has the variance n_pos n_neg / (n - 1) s. Of ranks
    # s is (n**2 - 1) / 12, less what ties take away, and of reciprocal ranks it is `place_variance`.
    # Untied places have the integrals of the squares and of the cubes; scores of positives differ.
    ranks_variance = (
        n_pos * n_neg * (1 / 12) * (n_examples + 1 - pl.col("ties") / (n_examples * (n_examples - 1)))
    )
    mean = (n_examples / place_shift).log1p() / n_examples
    second_moment = (n_examples / (place_shift * last_shifted_place) + pl.col("squares")) / n_examples
    third_moment = (
        n_examples * (place_shift + last_shifted_place) / (2 * (place_shift * last_shifted_place) ** 2)
        + pl.col("cubes")
    ) / n_examples
    place_variance = second_moment - mean * mean
    third_central_moment = third_moment - 3 * mean * second_moment + 2 * mean**3
    sum_variance = n_pos * n_neg / (n_examples - 1) * place_variance
    has_variance = place_variance > 1e-9 * second_moment
    sums_per_group = sums_per_group.select(
        Group.NUMBER,
        "n_pos",
        "n_neg",
        ranks=pl.when(has_variance).then(
            (n_pos * n_examples / 2 - pl.col("ranks") - 0.5) / ranks_variance.sqrt()
        ),
        deviation=pl.when(has_variance).then((pl.col("top") - n_pos * mean) / sum_variance.sqrt()),
        skewness=sum_variance ** (-0.5)
        * (n_neg - n_pos)
        / (n_examples - 2)
        * (third_central_moment / place_variance),
    )
    deviation, skewness = pl.col("deviation"), pl.col("skewness")
    # The cube root of a gamma variable is nearly normal (Wilson and Hilferty 1931).
    cube_root = (1 + skewness * deviation / 2).cbrt()
    normal_deviate = 6 / skewness * (cube_root - 1 + skewness**2 * (1 / 36))
    top_deviate = pl.when(skewness.abs() > 1e-6).then(normal_deviate).otherwise(deviation)
    return sums_per_group.select(Group.NUMBER, "n_pos", "n_neg", "ranks", top=top_deviate)
