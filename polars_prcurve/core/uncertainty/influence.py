"""Standard errors of curve metrics, from how much each example moves the estimate.

Each example has an *influence*. Except for terms of higher order, an estimate is the true value, plus
the mean influence of the positives in the sample, plus that of the negatives. With the variances V and W
of both kinds of influence among the examples, the variance of the estimate is V / n_pos + W / n_neg.

A constant added to all influences changes no variance. All examples of one score have equal influence,
and so have all negatives between two scores of positives. So a row of the curve represents all examples
down to it: `rise` is the fraction of positives on this row, `run` that of the negatives on it, and `gap`
that of the negatives between it and the row before. Influences are a sum along each curve, from the
highest score down, less their means. To be added up exactly (see `exact_arithmetic`), they are first
divided by a power of two, their scale, which none of their curve reaches.

Sources: Hampel 1974; DeLong et al. 1988; of clusters Liang and Zeger 1986; Obuchowski 1997; Wallace 1959
for Student's quantile; of parts Cochran 1977, on stratified samples, and Lumley 2004, on strata of one
example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.curves.curve_metric_values import CurveSegments
from polars_prcurve.core.ground.exact_arithmetic import (
    is_at_least,
    repeat_in_rows,
    round_up_to_power_of_two,
    sum_shares,
    to_whole_shares,
)
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric, Influence, SegmentValues
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_column_names import SquareSegment, Sweep

CLASS_SIZE_COLUMNS = {"pos": EffectiveSize.N_POS, "neg": EffectiveSize.N_NEG}
"""The columns with the number of examples of each class; of weighted examples, the effective number."""


PLACE = f"{RESERVED}place"  # number of the row among those of its curve that have influences
IS_TIED = f"{RESERVED}is_tied"  # the column with whether an example has the score of a positive


class InfluenceTable(NamedTuple):
    """The influences of metrics that go by one key, less their means."""

    key: str
    """Group.NUMBER of metrics that do not depend on prevalence, Population.NUMBER of metrics that do."""
    names: list[str]  # the names of the metrics
    # One row per key and score of positives, from the highest down, and for the last score, with
    # `<name>_pos`, `<name>_neg`, `<name>_gap`, and `<name>_pos_scale` and `<name>_neg_scale`.
    score_rows: pl.LazyFrame
    is_weighted: bool  # whether examples have weights, and add to a variance by their squares


def build_influences(
    curves: CurveSegments,
    populations: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    extra_columns: Sequence[
        str
    ] = (),  # columns of the populations that stay, beside those of the segments
) -> Iterator[InfluenceTable]:
    """Yield the influences of metrics that do not depend on prevalence, and of metrics that do."""
    is_same_group = pl.col(Group.NUMBER) == pl.col(Group.NUMBER).shift(1)
    fpr_above = pl.when(is_same_group).then(pl.col(Segment.FPR_OR_ZERO).shift(1)).otherwise(0.0)
    # Other metrics may have requested more rows, whose negatives are then in a gap.
    segments = curves.segments_by_hull[False].filter(pl.col(Segment.RISES) | pl.col(Sweep.ENDS_GROUP))
    place = pl.int_range(pl.len()).over(Group.NUMBER)
    segments = segments.with_columns(
        (pl.col(Segment.FPR_BEFORE) - fpr_above).alias(Segment.FPR_GAP), place.alias(PLACE)
    )
    if curves.has_square_shares:
        square_fpr_above = pl.when(is_same_group).then(pl.col(SquareSegment.FPR).shift(1)).otherwise(0.0)
        segments = segments.with_columns(
            (pl.col(SquareSegment.FPR_BEFORE) - square_fpr_above).alias(SquareSegment.FPR_GAP)
        )
    for key_column, depends_on_eta in ((Group.NUMBER, False), (Population.NUMBER, True)):
        influence_by_name = {
            name: metric.recipe.influence
            for name, metric in metrics_by_name.items()
            if metric.depends_on_eta == depends_on_eta and metric.recipe.influence is not None
        }
        if influence_by_name:
            influence_rows = segments
            if depends_on_eta:
                # The populations on the left, so that the join leaves each curve in order.
                influence_rows = curves.select_populations(populations, *extra_columns).join(
                    segments, on=Group.NUMBER, maintain_order="left_right"
                )
            segment = curves.make_segment_values(pl.col)
            influence_rows = add_influences(influence_rows, segment, key_column, influence_by_name)
            influence_rows = subtract_means(influence_rows, key_column, influence_by_name)
            yield InfluenceTable(
                key_column, list(influence_by_name), influence_rows, curves.has_square_shares
            )


def add_influences(
    influence_rows: pl.LazyFrame,
    segment: SegmentValues,
    key_column: str,
    influence_by_name: Mapping[str, Influence],
) -> pl.LazyFrame:
    """Add `<name>_pos`, `<name>_neg` and `<name>_gap`: influences of examples of a row."""
    sum_exprs: dict[str, pl.Expr] = {}
    influence_exprs: dict[str, pl.Expr] = {}
    for name, influence in influence_by_name.items():
        sum_exprs |= influence.sums(segment)
        kind_functions = (influence.positive, influence.negative, influence.between)
        influence_exprs |= {
            f"{name}_{kind}": kind_function(segment)
            for kind, kind_function in zip(_KINDS, kind_functions, strict=True)
        }
    # The influence sums over this score and lower ones: a constant minus the sum over higher ones, and
    # constants do not change a variance. One shift over all curves takes a tenth of one within each.
    is_in_curve = pl.col(key_column) == pl.col(key_column).shift(1)  # and not its first row
    sum_above_exprs = (
        pl.when(is_in_curve).then(pl.col(name).shift(1)).otherwise(0.0).alias(name) for name in sum_exprs
    )
    influence_rows = influence_rows.with_columns(**sum_exprs)
    running_sum_exprs = (pl.col(name).cum_sum().over(key_column) for name in sum_exprs)
    influence_rows = influence_rows.with_columns(running_sum_exprs)
    return influence_rows.with_columns(sum_above_exprs).with_columns(**influence_exprs)


def subtract_means(
    influence_rows: pl.LazyFrame, key_column: str, metric_names: Iterable[str]
) -> pl.LazyFrame:
    """Subtract from influences their means by class, and add `<name>_pos_scale` and `_neg_scale`."""
    # A scale is a power of two just above the largest influence of the class before that.
    scale_exprs, mean_exprs, centred_exprs = {}, {}, []
    for name, (class_name, share_column_by_kind) in product(metric_names, _CLASS_SHARES.items()):
        kind_columns = [f"{name}_{kind}" for kind in share_column_by_kind]
        scale_column, mean_column = f"{name}_{class_name}_scale", f"{name}_{class_name}_mean"
        largest_influence = pl.max_horizontal(pl.col(kind_columns).abs()).max().over(key_column)
        scale_exprs[scale_column] = round_up_to_power_of_two(largest_influence)
        mean_terms = to_whole_shares(_sum_kinds(name, class_name, share_column_by_kind))
        mean_exprs[mean_column] = sum_shares(mean_terms).over(key_column) * pl.col(scale_column)
        centred_exprs.append(pl.col(kind_columns) - pl.col(mean_column))
    influence_rows = influence_rows.with_columns(**scale_exprs).with_columns(**mean_exprs)
    return influence_rows.with_columns(centred_exprs)


def compute_variances(influence_table: InfluenceTable) -> pl.LazyFrame:
    """Return one row per key: the variances `<name>_pos` and `<name>_neg` of the influences."""
    # Of examples with weights they are means of squares by the squares of weights, so that over an
    # effective size W**2 / (sum of w**2) they are design-based variances. A tilt is such a mean of the
    # influences themselves, which is not 0 where heavy examples are unlike light ones.
    key_column, metric_names, score_rows, is_weighted = influence_table
    share_columns_of_class = _SQUARE_SHARES if is_weighted else _CLASS_SHARES
    power_by_ending = {"": 2, "_tilt": 1} if is_weighted else {"": 2}
    term_exprs, variance_exprs = {}, {}
    for name, class_name, (ending, power) in product(
        metric_names, _CLASS_SHARES, power_by_ending.items()
    ):
        # Less their mean, influences are at most twice as large as before.
        power_term = _sum_kinds(name, class_name, share_columns_of_class[class_name], power=power)
        variance_column = f"{name}_{class_name}{ending}"
        scale = pl.col(f"{name}_{class_name}_scale").first()
        term_exprs[variance_column] = to_whole_shares(power_term / 4)
        variance_exprs[variance_column] = sum_shares(pl.col(variance_column)) * 4 * scale**power
    scale_columns = [
        f"{name}_{class_name}_scale" for name in metric_names for class_name in _CLASS_SHARES
    ]
    return (
        score_rows.select(key_column, *scale_columns, **term_exprs)
        .group_by(key_column)
        .agg(**variance_exprs)
    )


_KINDS = ("pos", "neg", "gap")  # of influences: of positives, of negatives on a row, and above it
_CLASS_SHARES = {"pos": {"pos": Segment.RISE}, "neg": {"neg": Segment.RUN, "gap": Segment.FPR_GAP}}
"""The kinds of influences of each class, with the share of the class that has each on a row."""
_SQUARE_SHARES = {
    "pos": {"pos": SquareSegment.RISE},
    "neg": {"neg": SquareSegment.RUN, "gap": SquareSegment.FPR_GAP},
}
"""The same, with the share of the squared weights of the class."""


def _sum_kinds(
    value_name: str, class_name: str, share_column_by_kind: Mapping[str, str], *, power: int = 1
) -> pl.Expr:
    """Return the contribution of a row to the mean of a class: of influences by scale, or of squares."""
    scale = pl.col(f"{value_name}_{class_name}_scale")
    influences_and_shares = (
        (pl.col(f"{value_name}_{kind}"), pl.col(share_column))
        for kind, share_column in share_column_by_kind.items()
    )
    return pl.sum_horizontal(
        (influence / scale) ** power * share for influence, share in influences_and_shares
    )


def add_places(example_rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add PLACE, the number of scores of positives above, and whether an example IS_TIED to one."""
    scores = pl.col(Row.SCORE).filter(pl.col(Row.POS) > 0).drop_nulls().unique().sort(descending=True)
    n_higher = scores.search_sorted(pl.col(Row.SCORE), side="left", descending=True).cast(pl.Int64)
    # What was never scored lies below all of them, as one more score.
    is_unscored = pl.col(Row.SCORE).is_null()
    n_higher = pl.when(is_unscored).then(scores.len().cast(pl.Int64)).otherwise(n_higher)
    example_rows = example_rows.with_columns(n_higher.over(Group.NUMBER).alias(PLACE))
    # Scores below all positives find the null at the end; so do all scores where there are no positives.
    next_score = scores.extend_constant(None, 1).gather(pl.col(PLACE))
    is_tied = is_unscored | (next_score == pl.col(Row.SCORE)).fill_null(False)
    return example_rows.with_columns(is_tied.over(Group.NUMBER).alias(IS_TIED))


def join_influences(cells: pl.LazyFrame, influence_table: InfluenceTable) -> pl.LazyFrame:
    """Return cells of a place beside their influences, `<name>_pos` and `_neg`, and both scales."""
    endings = (*_KINDS, "pos_scale", "neg_scale")
    influence_columns = [f"{name}_{ending}" for name in influence_table.names for ending in endings]
    key_columns = dict.fromkeys((Group.NUMBER, influence_table.key, PLACE))
    return cells.join(
        influence_table.score_rows.select(*key_columns, *influence_columns), on=[Group.NUMBER, PLACE]
    ).with_columns(
        pl.when(IS_TIED).then(f"{name}_neg").otherwise(f"{name}_gap").alias(f"{name}_neg")
        for name in influence_table.names
    )


def standard_error(
    value_name: str, influence: Influence, least_variance: pl.Expr | None = None
) -> pl.Expr:
    """Return the standard error of a metric, over its variances and class sizes; null if infinite.

    The part of the negatives is at least `least_variance`.
    """
    size_by_class = {name: pl.col(column) for name, column in CLASS_SIZE_COLUMNS.items()}
    variance_by_class = {
        class_name: pl.col(f"{value_name}_{class_name}") for class_name in size_by_class
    }
    pos_variance, neg_variance = (
        variance_by_class[class_name]
        / repeat_in_rows(size - influence.ddof, variance_by_class[class_name])
        for class_name, size in size_by_class.items()
    )
    if least_variance is not None:
        neg_variance = pl.max_horizontal(neg_variance, least_variance)
    error = (pos_variance + neg_variance).sqrt()
    # One example does not show how much examples differ.
    has_two_of_each = pl.all_horizontal(is_at_least(size, 2.0) for size in size_by_class.values())
    return pl.when(has_two_of_each & error.is_finite()).then(error)
