"""Errors of differences between models that scored the same examples.

What both models find easy or hard cancels out of the difference. The variance of that of a curve metric
is that of differences of influences among the examples, and usually smaller than the sum of two
variances. All negatives between two scores of positives have one influence, so there are fewer cells,
examples of the same two influences, than examples where positives are rare. At a threshold what counts
is which examples one model alone flags.

Sources: DeLong et al. 1988 for ROC AUC; average precision has other influences in the same formula;
McNemar 1947; Agresti and Min 2005 for what is added; Vickers and Elkin 2006 for net benefit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from polars_prcurve.core.comparison.comparison_request import Comparison
from polars_prcurve.core.comparison.difference_flags import SPARE
from polars_prcurve.core.comparison.difference_limits import AdjustedLevel, adjust_p_values
from polars_prcurve.core.comparison.model_pairs import (
    BASE_GROUP,
    ETA_NUMBER,
    IS_ORDERED,
    METRIC_NUMBER,
    SIDES,
    A,
    B,
    join_sides,
)
from polars_prcurve.core.confidence.doubts import DOUBT, find_first_doubt
from polars_prcurve.core.confidence.interval_input_columns import EtaError
from polars_prcurve.core.curves.curve_metric_values import CurveSegments
from polars_prcurve.core.curves.long_tables import pick_by_number
from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.exact_arithmetic import square_integer, sum_shares, to_whole_shares
from polars_prcurve.core.ground.group_keys import join_groups
from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ScoreTable, class_amounts
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import repeat_rows
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.uncertainty.influence import (
    IS_TIED,
    PLACE,
    InfluenceTable,
    add_places,
    add_up_clusters,
    build_influences,
)

if TYPE_CHECKING:
    from polars_prcurve.core.uncertainty.bootstrap import Bootstrap, ReplicateValues

_ROW_NUMBER = f"{RESERVED}row"  # the number of a row of a block of replicates
_CLASS_OF_KIND = {"pos": "pos", "neg": "neg", "gap": "neg"}
"""The kinds of influences of a PLACE, in their order, and the class of each."""
_INFLUENCE_NUMBER = f"{RESERVED}influence"  # number of an influence in its curve, by PLACE and by kind
_AMOUNT = f"{RESERVED}amount"  # what an example counts, or the examples of a cell
_SHARE = f"{RESERVED}share"  # of the examples of a class that a cell holds
_FIRST_GROUP, _LAST_GROUP = f"{RESERVED}first", f"{RESERVED}last"  # model of a group
_IS_POS = f"{RESERVED}is_pos"  # whether a cell holds positives
_POWERS_OF_ENDING = {
    False: {"pos": ("pos", 2), "neg": ("neg", 2)},
    True: {"of_clusters": ("pos", 2), "of_fourths": ("pos", 4)},
}
"""The sums of powers of differences that an error reads, of examples and of joined rows: by the ending
of its column the class of the scale that it is over, and the power."""


# Of curve metrics, from influences -------------------------------------------------------------


def count_cells(example_rows: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return one row per model pair and cell: examples of one class, with an influence in each model."""
    by, unit_columns = table.group_columns, table.sample.unit_columns
    amount = pl.col(Row.POS) + pl.col(Row.NEG)  # an example is of one class
    if table.has_squares and not unit_columns:
        amount = square_integer(amount, is_scaled=table.has_float_sums)
    kind_number = pl.when(pl.col(Row.POS) > 0).then(0).when(IS_TIED).then(1).otherwise(2)
    example_rows = add_places(example_rows).with_columns(
        amount.alias(_AMOUNT), _number_influence(kind_number)
    )
    example_dtypes = {**by, Row.EXAMPLE: example_rows.collect_schema()[Row.EXAMPLE]}
    # Model a comes before model b, so that a is not the last model of its group, and b not the first.
    end_exprs = {_FIRST_GROUP: pl.col(Group.NUMBER).min(), _LAST_GROUP: pl.col(Group.NUMBER).max()}
    example_rows = example_rows.with_columns(
        **{name: end_expr.over(*by) if by else end_expr for name, end_expr in end_exprs.items()}
    )
    sides_and_columns = ((A, (_AMOUNT, *unit_columns), _LAST_GROUP), (B, (), _FIRST_GROUP))
    rows_of_a, rows_of_b = (
        example_rows.filter(pl.col(Group.NUMBER) != pl.col(end_column)).select(
            *example_dtypes,
            *example_columns,
            *(pl.col(column).alias(side + column) for column in (Group.NUMBER, _INFLUENCE_NUMBER)),
        )
        for side, example_columns, end_column in sides_and_columns
    )
    # _SHARE is that of the class in the cell: of weights, of their squares. Where rows come in
    # clusters, a cell is of one cluster, and weights are not squared.
    example_pairs = join_groups(rows_of_a, rows_of_b, example_dtypes)
    example_pairs = example_pairs.filter(IS_ORDERED & (pl.col(_AMOUNT) > 0))
    model_columns, influence_columns = (
        [side + column for side in SIDES] for column in (Group.NUMBER, _INFLUENCE_NUMBER)
    )
    cell_key_columns = [*model_columns, *influence_columns, *unit_columns]
    cells = example_pairs.group_by(*cell_key_columns).agg(pl.col(_AMOUNT).sum())
    is_pos = pl.col(A + _INFLUENCE_NUMBER) % len(_CLASS_OF_KIND) == 0
    class_total = pl.col(_AMOUNT).sum().over(*model_columns, _IS_POS)
    return cells.with_columns(is_pos.alias(_IS_POS)).select(
        *cell_key_columns,
        _IS_POS,
        (pl.col(_AMOUNT).cast(pl.Float64) / class_total.cast(pl.Float64)).alias(_SHARE),
    )


def _number_influence(kind_number: pl.Expr) -> pl.Expr:
    """Return _INFLUENCE_NUMBER of a kind; narrow, since cells are grouped by two of them."""
    influence_number = pl.col(PLACE) * len(_CLASS_OF_KIND) + kind_number
    return influence_number.cast(pl.UInt32).alias(_INFLUENCE_NUMBER)


def add_pair_variances(
    differences: pl.LazyFrame,
    cells: pl.LazyFrame,
    curves: CurveSegments,
    populations: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    *,
    comparison: Comparison,
) -> pl.LazyFrame:
    """Add variances among examples, or sums over clusters, of differences of influences of `cells`."""
    table = comparison.table
    by, joins_rows = table.group_columns, table.sample.joins_rows
    for influence_table in build_influences(curves, populations, metrics_by_name, [ETA_NUMBER]):
        key_columns = [A + influence_table.key, B + Group.NUMBER]
        pair_totals = _sum_squared_gaps(cells, influence_table, key_columns, by, joins_rows=joins_rows)
        differences = differences.join(pair_totals, on=key_columns, how="left")
    return differences


def _sum_squared_gaps(
    cells: pl.LazyFrame,
    influence_table: InfluenceTable,
    key_columns: Sequence[str],
    by: Iterable[str],
    *,
    joins_rows: bool,
) -> pl.LazyFrame:
    """Return variances, or sums over clusters, by the key of model a and group of model b."""
    # Read for the scales and for the list, and Polars would compute it anew for each.
    influence_table = influence_table._replace(score_rows=influence_table.score_rows.cache())
    key_column, metric_names = influence_table.key, influence_table.names
    step_columns = [ETA_NUMBER] if key_column == Population.NUMBER else []
    influence_rows, scale_rows = _list_influences(
        influence_table, [*by, *step_columns], joins_rows=joins_rows
    )
    cell_pairs = cells
    # Model a brings a row for each prevalence; model b is joined at the same ones.
    for side, value_columns, shared_columns in (
        (A, [key_column, *metric_names], []),
        (B, metric_names, step_columns),
    ):
        side_columns = dict.fromkeys((Group.NUMBER, _INFLUENCE_NUMBER, *value_columns))
        side_rows = influence_rows.select(
            *step_columns, *(pl.col(name).alias(side + name) for name in side_columns)
        )
        place_columns = [side + name for name in (Group.NUMBER, _INFLUENCE_NUMBER)]
        cell_pairs = cell_pairs.join(side_rows, on=[*place_columns, *shared_columns])
    gap_exprs = {name: pl.col(A + name) - pl.col(B + name) for name in metric_names}
    share = pl.col(_SHARE)
    if joins_rows:  # the shares of both classes add up to 2
        term_and_scale_by_name = {name: (gap * share, pl.lit(2.0)) for name, gap in gap_exprs.items()}
        pair_totals = add_up_clusters(cell_pairs, key_columns, term_and_scale_by_name)
    else:
        square_exprs = {name: to_whole_shares(gap**2 * share) for name, gap in gap_exprs.items()}
        sum_exprs = {name: sum_shares(pl.col(name)) for name in metric_names}
        class_squares = cell_pairs.select(*key_columns, _IS_POS, **square_exprs)
        class_sums = class_squares.group_by(*key_columns, _IS_POS).agg(**sum_exprs)
        pair_totals = class_sums.group_by(key_columns).agg(
            pl.col(name).filter(is_member).sum().alias(f"{name}_{class_name}")
            for name in metric_names
            for class_name, is_member in (("pos", pl.col(_IS_POS)), ("neg", ~pl.col(_IS_POS)))
        )
    pair_totals = pair_totals.join(scale_rows, left_on=key_columns[0], right_on=key_column)
    total_exprs = (
        pl.col(f"{name}_{ending}") * pl.col(f"{name}_{class_name}_scale") ** power
        for name in metric_names
        for ending, (class_name, power) in _POWERS_OF_ENDING[joins_rows].items()
    )
    return pair_totals.select(*key_columns, *total_exprs)


def _list_influences(
    influence_table: InfluenceTable, scale_key_columns: Sequence[str], *, joins_rows: bool
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return one row per influence, with `<name>` over the scale of its class, and the scales by key."""
    scale_exprs, kind_exprs_of_name, key_column = {}, {}, influence_table.key
    for name in influence_table.names:
        # No difference between models exceeds the scale, a power of two, where these keys are equal.
        scale_column_by_class = {
            class_name: f"{name}_{class_name}_scale" for class_name in ("pos", "neg")
        }
        for scale_column in scale_column_by_class.values():
            scale = (
                pl.max_horizontal(*scale_column_by_class.values())
                if joins_rows
                else pl.col(scale_column)
            )
            largest_scale = scale.max().over(scale_key_columns) if scale_key_columns else scale.max()
            # Less their means, influences are at most twice as large, and differences four times.
            scale_exprs[scale_column] = 4 * largest_scale
        kind_exprs_of_name[name] = [
            pl.col(f"{name}_{kind}") / pl.col(scale_column_by_class[class_name])
            for kind, class_name in _CLASS_OF_KIND.items()
        ]
    scale_rows = (
        influence_table.score_rows.group_by(key_column, *scale_key_columns)
        .agg(pl.col(*scale_exprs).first())
        .select(key_column, **scale_exprs)
    )
    influence_rows = influence_table.score_rows.drop(*scale_exprs).join(scale_rows, on=key_column)
    influence_rows = repeat_rows(influence_rows, len(_CLASS_OF_KIND)).select(
        *dict.fromkeys((Group.NUMBER, key_column)),
        *((ETA_NUMBER,) if key_column == Population.NUMBER else ()),
        _number_influence(pl.col(Population.COPY)),
        *(
            pick_by_number(Population.COPY, kind_exprs, pl.lit(None)).alias(name)
            for name, kind_exprs in kind_exprs_of_name.items()
        ),
    )
    return influence_rows, scale_rows


# Of curve metrics, from replicates -------------------------------------------------------------


def add_bootstrap_errors(
    bootstrap: Bootstrap, sweep: SweepTables, model_values: pl.LazyFrame, differences: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the errors of differences, from replicates that all models share, and the class sizes."""

    def subtract_models(
        populations: pl.DataFrame, replicate_values: ReplicateValues
    ) -> tuple[dict[str, pl.Series], ReplicateValues]:
        """Return both numbers of each model pair in a block, and the differences of all values."""
        numbered_populations = populations.select(
            BASE_GROUP, ETA_NUMBER, Group.NUMBER, Population.NUMBER
        ).with_row_index(_ROW_NUMBER)
        model_pairs = numbered_populations.join(
            numbered_populations, on=[BASE_GROUP, ETA_NUMBER], suffix="_b"
        ).filter(pl.col(Group.NUMBER) < pl.col(f"{Group.NUMBER}_b"))
        row_numbers_of_a, row_numbers_of_b = (
            model_pairs[name].to_numpy() for name in (_ROW_NUMBER, f"{_ROW_NUMBER}_b")
        )
        key_series = {
            A + Population.NUMBER: model_pairs[Population.NUMBER],
            B + Population.NUMBER: model_pairs[f"{Population.NUMBER}_b"],
        }
        estimates, replicates, smaller_sizes = replicate_values
        gap_arrays = {
            "estimates": estimates[row_numbers_of_a] - estimates[row_numbers_of_b],
            "replicates": replicates[:, row_numbers_of_a] - replicates[:, row_numbers_of_b],
        }
        return key_series, replicate_values._replace(
            **gap_arrays, smaller_class_sizes=smaller_sizes[row_numbers_of_a]
        )

    _, error_rows, size_rows = bootstrap.measure(sweep, model_values, BASE_GROUP, subtract_models)
    differences = differences.join(
        error_rows, on=[side + Population.NUMBER for side in SIDES], how="left"
    )
    return differences.join(size_rows, on=BASE_GROUP, how="left")


# Of weighted sums of rates, from discordant examples ---------------------------------------------

# A metric that is a weighted sum of recall and fpr, such as net benefit, has a difference that is one of
# differences of rates, at given thresholds. A difference of rates is (b - c) / n, with b of n examples
# flagged by model a alone and c by model b alone. Its variance is that of a number that is 1, -1 or 0
# per example, after half an example is added to b and to c: a sample without discordant examples proves
# nothing.
#
# An interval is reliable if b times c is at least 25 in each class that counts. Chance moves the product
# and b - c independently, to the first order. The sum b + c goes along with b - c where one model finds
# nearly all of both: it would mark just the samples whose difference is too large.

AMOUNTS = {"pos": Row.POS, "neg": Row.NEG}  # the column of what a row adds to a class, by class
BOTH_PREFIX, ALL_PREFIX = f"{RESERVED}both_", f"{RESERVED}n_"
"""What the columns with the examples of a class begin with that both models flag, and with all examples;
those that one model alone flags begin with A or B."""
_AMOUNT_SUMS = pl.col(*AMOUNTS.values()).sum()  # of the amounts of both classes
_SQUARED_ENDING = "_squared"  # what the name of an amount ends with, if it is the sum of its squares
# The number of the highest threshold that flags an example, whether a row is a threshold, and the lowest
# threshold of a model.
_LEVEL_NUMBER, _IS_MARK, _LEAST_SCORE = (f"{RESERVED}{name}" for name in ("level", "is_mark", "least"))
_SIDE_GROUPS = [side + Group.NUMBER for side in SIDES]  # the groups of both models
_SIDE_LEVELS = [side + _LEVEL_NUMBER for side in SIDES]  # the levels of an example in both
_LEAST_LEVELS = [f"{name}_least" for name in _SIDE_LEVELS]  # the least levels that thresholds flag
_WEIGHT_COLUMNS = {name: f"{RESERVED}weight_{name}" for name in AMOUNTS}  # of rates
_IS_SUM = f"{RESERVED}is_sum"  # whether the metric of a row is a weighted sum of rates
_SUM_ERROR = f"{RESERVED}error_of_sum"  # the standard error of such a difference
_LEAST_PRODUCT = 25
"""Of the discordant examples of either kind in a class. From it on, intervals covered the true value in
at least 93% of the samples that are marked, wherever these are 5% of all (docs/which-model.md)."""


def is_weighted_sum(metric: PointMetric) -> bool:
    """Return whether a metric is a weighted sum of recall and fpr, at each prevalence."""
    return metric.is_linear or metric.of_rates is not None


def count_discordant(
    table: ScoreTable, point_rows: pl.LazyFrame, by: Mapping[str, pl.DataType]
) -> pl.LazyFrame:
    """Return how many examples one model alone flags, or both, and all, by class, pair, ETA_NUMBER."""
    # Only examples that both models flag are joined, which usually are few: what one model alone flags
    # is what it flags less what both flag. Examples between two thresholds are flagged alike, so they
    # are counted together, once for all steps.
    example_rows, flagged_rows, threshold_rows = _read_examples(table, point_rows, by)
    example_dtypes = {**by, Row.EXAMPLE: table.all_rows.collect_schema()[Row.EXAMPLE]}
    level_columns, amount_columns = [Group.NUMBER, _LEVEL_NUMBER], list(AMOUNTS.values())
    jointly_flagged_groups = join_sides(
        flagged_rows, example_dtypes, level_columns, amount_columns
    ).group_by(*_SIDE_GROUPS, *_SIDE_LEVELS)
    step_rows = join_sides(threshold_rows, {**by, ETA_NUMBER: pl.UInt32()}, level_columns, [])
    step_rows = step_rows.rename(dict(zip(_SIDE_LEVELS, _LEAST_LEVELS, strict=True)))
    count_frames = [
        _count_flagged(
            step_rows,
            jointly_flagged_groups.agg(_AMOUNT_SUMS.name.prefix(BOTH_PREFIX)),
            SIDES,
            BOTH_PREFIX,
        )
    ]
    flagged_counts = flagged_rows.group_by(Group.NUMBER, _LEVEL_NUMBER).agg(_AMOUNT_SUMS)
    counts_by_side = {side: flagged_counts.select(pl.all().name.prefix(side)) for side in SIDES}
    count_frames += [
        _count_flagged(step_rows, cell_rows, (side,), side) for side, cell_rows in counts_by_side.items()
    ]
    # Of weighted examples a class counts as sum(w)**2 / sum(w**2) in all (Kish 1965).
    square_exprs = pl.col(*amount_columns)  # a row that represents several examples is no heavy example
    if table.has_squares:
        square_exprs = exact_arithmetic.square_integer(square_exprs, is_scaled=table.has_float_sums)
    total_rows = example_rows.group_by(Group.NUMBER).agg(
        _AMOUNT_SUMS.name.prefix(ALL_PREFIX), square_exprs.sum().name.suffix(_SQUARED_ENDING)
    )
    pair_rows = step_rows.select(*_SIDE_GROUPS, ETA_NUMBER)
    pair_rows = pair_rows.join(total_rows, left_on=A + Group.NUMBER, right_on=Group.NUMBER, how="left")
    for count_rows in count_frames:
        pair_rows = pair_rows.join(count_rows, on=[*_SIDE_GROUPS, ETA_NUMBER], how="left")
    return pair_rows.select(*_SIDE_GROUPS, ETA_NUMBER, **_build_counts(table))


def _build_counts(table: ScoreTable) -> dict[str, pl.Expr]:
    """Return the numbers of examples of each kind and class, by column, from sums of amounts."""
    count_exprs: dict[str, pl.Expr] = {}
    for class_name, amount_column in AMOUNTS.items():
        n_both, square_sum = pl.col(BOTH_PREFIX + amount_column), pl.col(amount_column + _SQUARED_ENDING)
        count_by_prefix = {side: pl.col(side + amount_column) - n_both for side in SIDES}
        count_by_prefix |= {BOTH_PREFIX: n_both, ALL_PREFIX: pl.col(ALL_PREFIX + amount_column)}
        if table.has_float_sums:
            count_by_prefix = {
                prefix: count.cast(pl.Float64) * exact_arithmetic.NEAR_ONE
                for prefix, count in count_by_prefix.items()
            }
            square_sum = square_sum.cast(pl.Float64) * exact_arithmetic.SQUARES_NEAR_ONE
        # What a weight of 1 counts as.
        unit_count = (
            pl.when(square_sum > 0).then(count_by_prefix[ALL_PREFIX] / square_sum).otherwise(1.0)
        )
        count_exprs |= {
            prefix + class_name: count.cast(pl.Float64) * unit_count
            for prefix, count in count_by_prefix.items()
        }
    return count_exprs


def _count_flagged(
    step_rows: pl.LazyFrame, cell_rows: pl.LazyFrame, sides: Sequence[str], amount_prefix: str
) -> pl.LazyFrame:
    """Return one row per step and model pair, with the amounts in cells that models of `sides` flag."""
    is_reached_exprs = (
        pl.col(side + _LEVEL_NUMBER) >= pl.col(f"{side}{_LEVEL_NUMBER}_least") for side in sides
    )
    amount_exprs = pl.col(*(amount_prefix + amount for amount in AMOUNTS.values()))
    step_cells = step_rows.join(cell_rows, on=[side + Group.NUMBER for side in sides], how="left")
    is_flagged = pl.all_horizontal(is_reached_exprs)
    return step_cells.group_by(*_SIDE_GROUPS, ETA_NUMBER).agg(amount_exprs.filter(is_flagged).sum())


def _read_examples(
    table: ScoreTable, point_rows: pl.LazyFrame, by: Mapping[str, pl.DataType]
) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
    """Return examples with whole AMOUNTS of all models, and those flagged and thresholds with levels."""
    amount_columns = [Row.LABEL] if Row.LABEL in table.columns else list(AMOUNTS.values())
    amount_expr_of_name = class_amounts({name: pl.col(name) for name in amount_columns})
    whole_amount_exprs = [
        amount_expr.cast(pl.Int128).alias(name) for name, amount_expr in amount_expr_of_name.items()
    ]
    if table.has_float_sums:  # the models of a table have the same weights, and so the same scale
        largest_amount_exprs = (
            amount_expr.max().over(Group.NUMBER) for amount_expr in amount_expr_of_name.values()
        )
        exponents = map(exact_arithmetic.weight_exponent, largest_amount_exprs)
        whole_amount_exprs = list(
            map(exact_arithmetic.to_integer, amount_expr_of_name.values(), exponents)
        )
    model_dtypes: dict[str, pl.DataType] = {**by, Row.MODEL: table.by[Row.MODEL]}
    threshold_rows = point_rows.select(
        *model_dtypes, Group.NUMBER, ETA_NUMBER, "tp", pl.col("threshold").alias(Row.SCORE)
    )
    group_rows = threshold_rows.select(*model_dtypes, Group.NUMBER).unique()
    example_rows = table.all_rows.select(*model_dtypes, Row.EXAMPLE, Row.SCORE, *amount_columns)
    example_rows = join_groups(example_rows, group_rows, model_dtypes)
    # Rows are added up, and those flagged are joined: each model with others.
    example_rows = example_rows.select(
        pl.exclude(Row.MODEL, *amount_columns), *whole_amount_exprs
    ).cache()
    group_thresholds = threshold_rows.select(Group.NUMBER, Row.SCORE).drop_nulls().unique()
    group_thresholds = group_thresholds.sort(Group.NUMBER, Row.SCORE)
    flagged_rows = _number_levels(example_rows, group_thresholds)
    # Flagged are levels from that of the threshold on: of none, it is beyond all; of no threshold, null.
    level_beyond_all = pl.when(pl.col("tp").is_not_null()).then(pl.lit(2**32 - 1, dtype=pl.UInt32))
    level_rows = group_thresholds.with_row_index(_LEVEL_NUMBER, offset=1)
    threshold_rows = threshold_rows.drop(Row.MODEL).join(
        level_rows, on=[Group.NUMBER, Row.SCORE], how="left"
    )
    level_expr = pl.coalesce(_LEVEL_NUMBER, level_beyond_all).alias(_LEVEL_NUMBER)
    threshold_rows = threshold_rows.select(pl.exclude(Row.SCORE, "tp", _LEVEL_NUMBER), level_expr)
    return example_rows, flagged_rows, threshold_rows


def _number_levels(example_rows: pl.LazyFrame, group_thresholds: pl.LazyFrame) -> pl.LazyFrame:
    """Return the examples that the lowest threshold flags, with the number of the highest that does."""
    least_score_rows = group_thresholds.group_by(Group.NUMBER).agg(
        pl.col(Row.SCORE).min().alias(_LEAST_SCORE)
    )
    # What was never scored has no score that is as high.
    rows_with_least = example_rows.join(least_score_rows, on=Group.NUMBER)
    flagged_rows = rows_with_least.filter(pl.col(Row.SCORE) >= pl.col(_LEAST_SCORE)).drop(_LEAST_SCORE)
    mark_rows = group_thresholds.with_columns(pl.lit(True).alias(_IS_MARK))
    # A score that equals a threshold comes after it.
    ordered_rows = pl.concat([flagged_rows, mark_rows], how="diagonal")
    ordered_rows = ordered_rows.sort(Group.NUMBER, Row.SCORE, _IS_MARK, nulls_last=True)
    numbered_rows = ordered_rows.with_columns(
        pl.col(_IS_MARK).is_not_null().cum_sum().alias(_LEVEL_NUMBER)
    )
    return numbered_rows.filter(pl.col(_IS_MARK).is_null()).drop(_IS_MARK).cache()


def replace_weighted_sums(
    point_pairs: pl.LazyFrame, metrics: Sequence[PointMetric], adjusted_level: AdjustedLevel
) -> pl.LazyFrame:
    """Replace errors, limits and doubts of differences of metrics that are such sums."""
    are_weighted_sums = [is_weighted_sum(metric) for metric in metrics]
    difference, is_sum = (
        pl.col("difference"),
        pick_by_number(METRIC_NUMBER, map(pl.lit, are_weighted_sums), pl.lit(False)),
    )
    point_pairs, variance, has_enough_exprs = _measure_sums(point_pairs, metrics, are_weighted_sums)
    point_pairs = point_pairs.with_columns(
        pl.when(difference.is_not_null()).then(variance.sqrt()).alias(_SUM_ERROR), is_sum.alias(_IS_SUM)
    )
    error, half_width = pl.col(_SUM_ERROR), adjusted_level.n_deviations * pl.col(_SUM_ERROR)
    is_known, is_reliable = error.is_not_null(), pl.all_horizontal(has_enough_exprs)
    low, high = difference - half_width, difference + half_width
    p_value = pl.when(error > 0).then(normal_cdf(-(difference / error).abs()) * 2)
    sum_exprs = {
        "standard_error": error,
        "low": low,
        "high": high,
        "p_value": p_value,
        SPARE: pl.when(is_reliable).then(0.0).otherwise(1.0),
        DOUBT: find_first_doubt({"few discordant examples": ~is_reliable}, is_known),
    }
    point_pairs = point_pairs.with_columns(
        pl.when(_IS_SUM).then(sum_expr).otherwise(name).alias(name)
        for name, sum_expr in sum_exprs.items()
    )
    if adjusted_level.adjust is None:
        return point_pairs
    return point_pairs.with_columns(
        adjust_p_values(pl.col("p_value"), adjusted_level.family_columns).alias("p_adjusted")
    )


def _measure_sums(
    point_pairs: pl.LazyFrame, metrics: Sequence[PointMetric], are_weighted_sums: Sequence[bool]
) -> tuple[pl.LazyFrame, pl.Expr, list[pl.Expr]]:
    """Return the variance of the difference of weighted sums, and which classes have enough examples."""
    weights_of_metrics: list[Mapping[str, pl.Expr]] = []
    slopes: list[pl.Expr | None] = []
    eta, null_float = pl.col("eta"), pl.lit(None, dtype=pl.Float64)
    rate_gap_by_class = {
        class_name: (pl.col(A + class_name) - pl.col(B + class_name)) / pl.col(ALL_PREFIX + class_name)
        for class_name in AMOUNTS
    }
    for metric, is_sum in zip(metrics, are_weighted_sums, strict=True):
        weights_of_metrics.append(_find_weights(metric, eta) if is_sum else {})
        # A difference is linear in the prevalence, too; this is its growth with the logit.
        weights_at_ends = [_find_weights(metric, pl.lit(end)) for end in ((0.0, 1.0) if is_sum else ())]
        values_at_ends = [
            sum(
                (gap * weights[class_name] for class_name, gap in rate_gap_by_class.items()), pl.lit(0.0)
            )
            for weights in weights_at_ends
        ]
        slopes.append(eta * (1 - eta) * (values_at_ends[1] - values_at_ends[0]) if is_sum else None)
    weights_by_column = {
        column: [weights.get(class_name) for weights in weights_of_metrics]
        for class_name, column in _WEIGHT_COLUMNS.items()
    }
    point_pairs = point_pairs.with_columns(
        pick_by_number(METRIC_NUMBER, class_weights, null_float).alias(column)
        for column, class_weights in weights_by_column.items()
    )
    variance_terms, has_enough_exprs = [], []
    for class_name, column in _WEIGHT_COLUMNS.items():
        weight = pl.col(column)
        n_a_alone, n_b_alone, n_examples = (pl.col(kind + class_name) for kind in (A, B, ALL_PREFIX))
        # See the module for why the product shows whether enough examples are discordant.
        has_enough_exprs.append((weight == 0) | (n_a_alone * n_b_alone >= _LEAST_PRODUCT))
        n_a_alone, n_b_alone, n_examples = n_a_alone + 0.5, n_b_alone + 0.5, n_examples + 1
        rate_gap = (n_a_alone - n_b_alone) / n_examples
        rate_variance = ((n_a_alone + n_b_alone) / n_examples - rate_gap**2) / n_examples
        variance_terms.append(pl.when(weight == 0).then(0.0).otherwise(weight**2 * rate_variance))
    eta_error = pl.col(A + EtaError.STANDARD_ERROR)
    eta_variance = (pick_by_number(METRIC_NUMBER, slopes, null_float) * eta_error) ** 2
    variance_terms.append(pl.when(eta_error > 0).then(eta_variance).otherwise(0.0))
    return point_pairs, sum(variance_terms, pl.lit(0.0)), has_enough_exprs


def _find_weights(metric: PointMetric, eta: pl.Expr) -> dict[str, pl.Expr]:
    """Return the weights of recall and of fpr, by class, in a metric that is a weighted sum of both."""
    zero, one = pl.lit(0.0), pl.lit(1.0)
    rates_by_class = {"pos": (one, zero), "neg": (zero, one)}
    value_at_zero = metric.from_columns(zero, zero, eta)
    return {
        class_name: metric.from_columns(*rates, eta) - value_at_zero
        for class_name, rates in rates_by_class.items()
    }
