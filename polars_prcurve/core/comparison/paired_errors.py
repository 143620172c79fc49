"""Errors of differences between models that scored the same examples.

What both models find easy or hard cancels out of the difference. The variance of that of a curve metric
is that of differences of influences among the examples, and mostly smaller than the sum of two
variances. All negatives between two scores of positives have one influence, so there are fewer cells,
examples of the same two influences, than examples where positives are rare. An influence has a number in
its curve, so that one look-up per model finds those of a cell at several prevalences, side by side: see
`EtaLanes`. At a threshold what counts is which examples one model alone flags.

Sources: DeLong et al. 1988 for ROC AUC; average precision has other influences in the same formula;
McNemar 1947; Agresti and Min 2005 for what is added; Vickers and Elkin 2006 for net benefit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from polars_prcurve.core.comparison.difference_tests import Level, adjust_p_values, is_resolved
from polars_prcurve.core.comparison.model_pairs import (
    BASE_GROUP,
    ETA_NUMBER,
    IS_ORDERED,
    SIDES,
    A,
    B,
    Comparison,
    join_sides,
)
from polars_prcurve.core.confidence.interval_inputs import EtaError
from polars_prcurve.core.curves.curve_segments import CurveSegments
from polars_prcurve.core.curves.curve_table import pick_by_number
from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.exact_arithmetic import square_integer, sum_shares, to_whole_shares
from polars_prcurve.core.ground.group_joins import join_groups
from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.input_tables import ScoreTable, class_amounts
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_grid import repeat_rows
from polars_prcurve.core.prevalence.group_eta_columns import Pair
from polars_prcurve.core.sweep.grouped_rows import SweepTables
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
_KINDS = {"pos": "pos", "neg": "neg", "gap": "neg"}
"""The kinds of influences of a PLACE, in their order, and the class of each."""
_INFLUENCE = f"{RESERVED}influence"  # number of an influence in its curve, by PLACE and by kind
_AMOUNT = f"{RESERVED}amount"  # what an example counts, or the examples of a cell
_SHARE = f"{RESERVED}share"  # of the examples of a class that a cell holds
_FIRST, _LAST = f"{RESERVED}first", f"{RESERVED}last"  # model of a group
_IS_POS = f"{RESERVED}is_pos"  # whether a cell holds positives
_POWERS = {
    False: {"pos": ("pos", 2), "neg": ("neg", 2)},
    True: {"of_clusters": ("pos", 2), "of_fourths": ("pos", 4)},
}
"""The sums of powers of differences that an error reads, of examples and of joined rows: by the ending
of its column the class of the size that it is over, and the power."""


# Of curve metrics, from influences -------------------------------------------------------------


def count_cells(rows: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return one row per model pair and cell: examples of one class, with an influence in each model."""
    by, unit_columns = table.group_columns, table.sample.unit_columns
    amount = pl.col(Row.POS) + pl.col(Row.NEG)  # an example is of one class
    if table.has_squares and not unit_columns:
        amount = square_integer(amount, is_scaled=table.float_sums)
    kind = pl.when(pl.col(Row.POS) > 0).then(0).when(IS_TIED).then(1).otherwise(2)
    rows = add_places(rows).with_columns(
        amount.alias(_AMOUNT), (pl.col(PLACE) * len(_KINDS) + kind).alias(_INFLUENCE)
    )
    example = {**by, Row.EXAMPLE: rows.collect_schema()[Row.EXAMPLE]}
    # Model a comes before model b, so that a is not the last model of its group, and b not the first.
    ends = {_FIRST: pl.col(Group.NUMBER).min(), _LAST: pl.col(Group.NUMBER).max()}
    rows = rows.with_columns(**{name: end.over(*by) if by else end for name, end in ends.items()})
    sides = ((A, (_AMOUNT, *unit_columns), _LAST), (B, (), _FIRST))
    a, b = (
        rows.filter(pl.col(Group.NUMBER) != pl.col(end)).select(
            *example, *of_example, *(pl.col(n).alias(side + n) for n in (Group.NUMBER, _INFLUENCE))
        )
        for side, of_example, end in sides
    )
    # _SHARE is that of the class in the cell: of weights, of their squares. Where rows come in
    # clusters, a cell is of one cluster, and weights are not squared.
    example_pairs = join_groups(a, b, example).filter(IS_ORDERED & (pl.col(_AMOUNT) > 0))
    models, numbers = ([side + n for side in SIDES] for n in (Group.NUMBER, _INFLUENCE))
    cells = example_pairs.group_by(*models, *numbers, *unit_columns).agg(pl.col(_AMOUNT).sum())
    is_pos = pl.col(A + _INFLUENCE) % len(_KINDS) == 0
    total = pl.col(_AMOUNT).sum().over(*models, _IS_POS)
    return cells.with_columns(is_pos.alias(_IS_POS)).select(
        *models,
        *numbers,
        *unit_columns,
        _IS_POS,
        (pl.col(_AMOUNT).cast(pl.Float64) / total.cast(pl.Float64)).alias(_SHARE),
    )


def add_pair_variances(
    differences: pl.LazyFrame,
    cells: pl.LazyFrame,
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    metrics: Mapping[str, CurveMetric],
    *,
    comparison: Comparison,
) -> pl.LazyFrame:
    """Add variances among examples, or sums over clusters, of differences of influences of `cells`."""
    table, n_etas = comparison.table, comparison.grid.etas_per_group
    by, joins_rows = table.group_columns, table.sample.joins_rows
    for influences in build_influences(curves, pairs, metrics, [ETA_NUMBER], etas_per_group=n_etas):
        keys = [A + influences.key, B + Group.NUMBER]
        totals = _sum_squared_gaps(cells, influences, keys, by, joins_rows=joins_rows)
        columns = [f"{name}_{kind}" for name in influences.names for kind in _POWERS[joins_rows]]
        differences = differences.join(
            influences.lanes.unpack(totals, columns, *keys), on=keys, how="left"
        )
    return differences


def _sum_squared_gaps(
    cells: pl.LazyFrame,
    influences: InfluenceTable,
    keys: Sequence[str],
    by: Iterable[str],
    *,
    joins_rows: bool,
) -> pl.LazyFrame:
    """Return variances, or sums over clusters, in lanes, by the key of model a and group of model b."""
    # Read for the sizes and for the list, and Polars would compute it anew for each.
    influences = influences._replace(score_rows=influences.score_rows.cache())
    key, names = influences.key, influences.lanes.list_names(influences.names)
    step = [ETA_NUMBER] if key == Pair.NUMBER else []
    listed, sizes = _list_influences(influences, [*by, *step], joins_rows=joins_rows)
    cell_pairs = cells
    # Model a brings a row for some prevalences; model b is joined at the same ones.
    for side, columns, shared in ((A, [key, *names], []), (B, names, step)):
        renamed = dict.fromkeys((Group.NUMBER, _INFLUENCE, *columns))
        of_side = listed.select(*step, *(pl.col(name).alias(side + name) for name in renamed))
        places = [side + name for name in (Group.NUMBER, _INFLUENCE)]
        cell_pairs = cell_pairs.join(of_side, on=[*places, *shared])
    gaps = {name: pl.col(A + name) - pl.col(B + name) for name in names}
    if joins_rows:  # the shares of both classes add up to 2
        terms = {name: (gap * pl.col(_SHARE), pl.lit(2.0)) for name, gap in gaps.items()}
        totals = add_up_clusters(cell_pairs, keys, terms)
    else:
        squares = {n: to_whole_shares(gap**2 * pl.col(_SHARE)) for n, gap in gaps.items()}
        variances = {n: sum_shares(pl.col(n)) for n in names}
        by_class = cell_pairs.select(*keys, _IS_POS, **squares).group_by(*keys, _IS_POS).agg(**variances)
        totals = by_class.group_by(keys).agg(
            pl.col(name).filter(members).sum().alias(f"{name}_{side}")
            for name in names
            for side, members in (("pos", pl.col(_IS_POS)), ("neg", ~pl.col(_IS_POS)))
        )
    totals = totals.join(sizes, left_on=keys[0], right_on=key)
    return totals.select(
        *keys,
        *(
            pl.col(f"{name}_{kind}") * pl.col(f"{name}_{side}_size") ** power
            for name in names
            for kind, (side, power) in _POWERS[joins_rows].items()
        ),
    )


def _list_influences(
    influences: InfluenceTable, alike: Sequence[str], *, joins_rows: bool
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return one row per influence, with `<name>` over the size of its class, and the sizes by key."""
    sizes, listed, key = {}, {}, influences.key
    for name in influences.lanes.list_names(influences.names):
        # The size is a power of two that no difference between models of rows `alike` exceeds.
        of_class = {side: f"{name}_{side}_size" for side in ("pos", "neg")}
        for size in of_class.values():
            largest_size = (pl.max_horizontal(*of_class.values()) if joins_rows else pl.col(size)).max()
            # Less their means, influences are at most twice as large, and differences four times.
            sizes[size] = 4 * (largest_size.over(alike) if alike else largest_size)
        listed[name] = [
            pl.col(f"{name}_{kind}") / pl.col(of_class[side]) for kind, side in _KINDS.items()
        ]
    of_key = influences.score_rows.group_by(key, *alike).agg(pl.col(*sizes).first()).select(key, **sizes)
    rows = influences.score_rows.drop(*sizes).join(of_key, on=key)
    rows = repeat_rows(rows, len(_KINDS)).select(
        *dict.fromkeys((Group.NUMBER, key)),
        *((ETA_NUMBER,) if key == Pair.NUMBER else ()),
        (pl.col(PLACE) * len(_KINDS) + pl.col(Pair.COPY)).alias(_INFLUENCE),
        *(pick_by_number(Pair.COPY, values, pl.lit(None)).alias(n) for n, values in listed.items()),
    )
    return rows, of_key


# Of curve metrics, from replicates -------------------------------------------------------------


def add_bootstrap_errors(
    bootstrap: Bootstrap, sweep: SweepTables, values: pl.LazyFrame, differences: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the errors of differences, from replicates that all models share, and the class sizes."""

    def subtract_models(
        pairs: pl.DataFrame, of_models: ReplicateValues
    ) -> tuple[dict[str, pl.Series], ReplicateValues]:
        """Return both numbers of each model pair in a block, and the differences of all values."""
        rows = pairs.select(BASE_GROUP, ETA_NUMBER, Group.NUMBER, Pair.NUMBER).with_row_index(
            _ROW_NUMBER
        )
        model_pairs = rows.join(rows, on=[BASE_GROUP, ETA_NUMBER], suffix="_b").filter(
            pl.col(Group.NUMBER) < pl.col(f"{Group.NUMBER}_b")
        )
        a, b = (model_pairs[name].to_numpy() for name in (_ROW_NUMBER, f"{_ROW_NUMBER}_b"))
        keys = {
            A + Pair.NUMBER: model_pairs[Pair.NUMBER],
            B + Pair.NUMBER: model_pairs[f"{Pair.NUMBER}_b"],
        }
        values, replicates, sizes = of_models
        gaps = {"estimates": values[a] - values[b], "replicates": replicates[:, a] - replicates[:, b]}
        return keys, of_models._replace(**gaps, smaller_class_sizes=sizes[a])

    _, errors, sizes = bootstrap.measure(sweep, values, BASE_GROUP, subtract_models)
    differences = differences.join(errors, on=[side + Pair.NUMBER for side in SIDES], how="left")
    return differences.join(sizes, on=BASE_GROUP, how="left")


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
BOTH, OF_ALL = f"{RESERVED}both_", f"{RESERVED}n_"
"""What the columns with the examples of a class begin with that both models flag, and with all examples;
those that one model alone flags begin with A or B."""
_SUMS = pl.col(*AMOUNTS.values()).sum()  # of the amounts of both classes
_SQUARED = "_squared"  # what the name of an amount ends with, if it is the sum of its squares
# The number of the highest threshold that flags an example, whether a row is a threshold, and the lowest
# threshold of a model.
_LEVEL, _IS_MARK, _LEAST = (f"{RESERVED}{name}" for name in ("level", "is_mark", "least"))
_SIDE_GROUPS = [side + Group.NUMBER for side in SIDES]  # the groups of both models
_SIDE_LEVELS = [side + _LEVEL for side in SIDES]  # the levels of an example in both
_LEAST_LEVELS = [f"{name}_least" for name in _SIDE_LEVELS]  # the least levels that thresholds flag
_WEIGHTS = {name: f"{RESERVED}weight_{name}" for name in AMOUNTS}  # of rates
_IS_SUM = f"{RESERVED}is_sum"  # whether the metric of a row is a weighted sum of rates
_ERROR = f"{RESERVED}error_of_sum"  # the standard error of such a difference
_LEAST_PRODUCT = 25
"""Of the discordant examples of either kind in a class. From it on, intervals held the truth in at least
93 % of the samples that are marked, wherever these are 5 % of all (docs/is-it-better.md)."""


def is_weighted_sum(metric: PointMetric) -> bool:
    """Return whether a metric is a weighted sum of recall and fpr, at each prevalence."""
    return metric.is_linear or metric.of_rates is not None


def count_discordant(
    table: ScoreTable, points: pl.LazyFrame, by: Mapping[str, pl.DataType]
) -> pl.LazyFrame:
    """Return how many examples one model alone flags, or both, and all, by class, pair, ETA_NUMBER."""
    # Only examples that both models flag are joined, which mostly are few: what one model alone flags is
    # what it flags less what both flag. Examples between two thresholds are flagged alike, so they are
    # counted together, once for all steps.
    rows, flagged, thresholds = _read_examples(table, points, by)
    example = {**by, Row.EXAMPLE: table.all_rows.collect_schema()[Row.EXAMPLE]}
    level_columns, amounts = [Group.NUMBER, _LEVEL], list(AMOUNTS.values())
    of_both = join_sides(flagged, example, level_columns, amounts).group_by(*_SIDE_GROUPS, *_SIDE_LEVELS)
    steps = join_sides(thresholds, {**by, ETA_NUMBER: pl.UInt32()}, level_columns, [])
    steps = steps.rename(dict(zip(_SIDE_LEVELS, _LEAST_LEVELS, strict=True)))
    count_tables = [_count_flagged(steps, of_both.agg(_SUMS.name.prefix(BOTH)), SIDES, BOTH)]
    of_one = flagged.group_by(Group.NUMBER, _LEVEL).agg(_SUMS)
    sides = {side: of_one.select(pl.all().name.prefix(side)) for side in SIDES}
    count_tables += [_count_flagged(steps, cells, (side,), side) for side, cells in sides.items()]
    # Of weighted examples a class counts as sum(w)**2 / sum(w**2) in all (Kish 1965).
    squares = pl.col(*amounts)  # a row that stands for several examples is no heavy example
    if table.has_squares:
        squares = exact_arithmetic.square_integer(squares, is_scaled=table.float_sums)
    totals = rows.group_by(Group.NUMBER).agg(
        _SUMS.name.prefix(OF_ALL), squares.sum().name.suffix(_SQUARED)
    )
    pairs = steps.select(*_SIDE_GROUPS, ETA_NUMBER)
    pairs = pairs.join(totals, left_on=A + Group.NUMBER, right_on=Group.NUMBER, how="left")
    for count_table in count_tables:
        pairs = pairs.join(count_table, on=[*_SIDE_GROUPS, ETA_NUMBER], how="left")
    counts: dict[str, pl.Expr] = {}
    for name, amount in AMOUNTS.items():
        n_both, square = pl.col(BOTH + amount), pl.col(amount + _SQUARED)
        kinds = {side: pl.col(side + amount) - n_both for side in SIDES}
        kinds |= {BOTH: n_both, OF_ALL: pl.col(OF_ALL + amount)}
        if table.float_sums:
            kinds = {k: n.cast(pl.Float64) * exact_arithmetic.NEAR_ONE for k, n in kinds.items()}
            square = square.cast(pl.Float64) * exact_arithmetic.SQUARES_NEAR_ONE
        # What a weight of 1 counts as.
        unit = pl.when(square > 0).then(kinds[OF_ALL] / square).otherwise(1.0)
        counts |= {kind + name: n.cast(pl.Float64) * unit for kind, n in kinds.items()}
    return pairs.select(*_SIDE_GROUPS, ETA_NUMBER, **counts)


def _count_flagged(
    steps: pl.LazyFrame, cells: pl.LazyFrame, sides: Sequence[str], kind: str
) -> pl.LazyFrame:
    """Return one row per step and model pair, with the amounts in cells that models of `sides` flag."""
    levels = (pl.col(side + _LEVEL) >= pl.col(f"{side}{_LEVEL}_least") for side in sides)
    amounts = pl.col(*(kind + amount for amount in AMOUNTS.values()))
    cells_of_steps = steps.join(cells, on=[side + Group.NUMBER for side in sides], how="left")
    is_flagged = pl.all_horizontal(levels)
    return cells_of_steps.group_by(*_SIDE_GROUPS, ETA_NUMBER).agg(amounts.filter(is_flagged).sum())


def _read_examples(
    table: ScoreTable, points: pl.LazyFrame, by: Mapping[str, pl.DataType]
) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
    """Return examples with whole AMOUNTS of all models, and those flagged and thresholds with _LEVEL."""
    columns = [Row.LABEL] if Row.LABEL in table.columns else list(AMOUNTS.values())
    amounts = class_amounts({name: pl.col(name) for name in columns})
    whole = [amount_column.cast(pl.Int128).alias(name) for name, amount_column in amounts.items()]
    if table.float_sums:  # the models of a table have the same weights, and so the same scale
        largest = (amount_column.max().over(Group.NUMBER) for amount_column in amounts.values())
        exponents = map(exact_arithmetic.weight_exponent, largest)
        whole = list(map(exact_arithmetic.to_integer, amounts.values(), exponents))
    of_model: dict[str, pl.DataType] = {**by, Row.MODEL: table.by[Row.MODEL]}
    thresholds = points.select(
        *of_model, Group.NUMBER, ETA_NUMBER, "tp", pl.col("threshold").alias(Row.SCORE)
    )
    groups = thresholds.select(*of_model, Group.NUMBER).unique()
    rows = join_groups(
        table.all_rows.select(*of_model, Row.EXAMPLE, Row.SCORE, *columns), groups, of_model
    )
    # Rows are added up, and those flagged are joined: each model with others.
    rows = rows.select(pl.exclude(Row.MODEL, *columns), *whole).cache()
    marks = (
        thresholds.select(Group.NUMBER, Row.SCORE).drop_nulls().unique().sort(Group.NUMBER, Row.SCORE)
    )
    least_scores = marks.group_by(Group.NUMBER).agg(pl.col(Row.SCORE).min().alias(_LEAST))
    # What was never scored has no score that is as high.
    with_least = rows.join(least_scores, on=Group.NUMBER)
    flagged = with_least.filter(pl.col(Row.SCORE) >= pl.col(_LEAST)).drop(_LEAST)
    marked = marks.with_columns(pl.lit(True).alias(_IS_MARK))
    # A score that equals a threshold comes after it.
    ordered = pl.concat([flagged, marked], how="diagonal")
    ordered = ordered.sort(Group.NUMBER, Row.SCORE, _IS_MARK, nulls_last=True)
    numbered = ordered.with_columns(pl.col(_IS_MARK).is_not_null().cum_sum().alias(_LEVEL))
    flagged = numbered.filter(pl.col(_IS_MARK).is_null()).drop(_IS_MARK).cache()
    # Flagged are levels from that of the threshold on: of none, it is beyond all; of no threshold, null.
    beyond = pl.when(pl.col("tp").is_not_null()).then(pl.lit(2**32 - 1, dtype=pl.UInt32))
    levels = marks.with_row_index(_LEVEL, offset=1)
    thresholds = thresholds.drop(Row.MODEL).join(levels, on=[Group.NUMBER, Row.SCORE], how="left")
    level = pl.coalesce(_LEVEL, beyond).alias(_LEVEL)
    return rows, flagged, thresholds.select(pl.exclude(Row.SCORE, "tp", _LEVEL), level)


def replace_weighted_sums(
    pairs: pl.LazyFrame, metrics: Sequence[PointMetric], number: str, level: Level
) -> pl.LazyFrame:
    """Replace errors, limits and verdicts of differences where metric number `number` is such a sum."""
    sums = [is_weighted_sum(metric) for metric in metrics]
    difference, is_sum = pl.col("difference"), pick_by_number(number, map(pl.lit, sums), pl.lit(False))
    pairs, variance, enough = _measure_sums(pairs, metrics, sums, number)
    pairs = pairs.with_columns(
        pl.when(difference.is_not_null()).then(variance.sqrt()).alias(_ERROR), is_sum.alias(_IS_SUM)
    )
    error, half = pl.col(_ERROR), level.deviations * pl.col(_ERROR)
    is_known, reliable = error.is_not_null(), pl.all_horizontal(enough)
    low, high = difference - half, difference + half
    decisive = (difference.abs() >= 2 * half) & (error > 0)
    p_value = pl.when(error > 0).then(normal_cdf(-(difference / error).abs()) * 2)
    of_sums = {
        "standard_error": error,
        "low": low,
        "high": high,
        "p_value": p_value,
        "reliable": pl.when(is_known).then(reliable),
        "why": pl.when(is_known & ~reliable).then(pl.lit("few discordant examples")),
        "resolved": pl.when(is_known).then(is_resolved(low, high, reliable, decisive)),
    }
    pairs = pairs.with_columns(
        pl.when(_IS_SUM).then(column).otherwise(name).alias(name) for name, column in of_sums.items()
    )
    if level.adjust is None:
        return pairs
    return pairs.with_columns(adjust_p_values(pl.col("p_value"), level.family).alias("p_adjusted"))


def _measure_sums(
    pairs: pl.LazyFrame, metrics: Sequence[PointMetric], sums: Sequence[bool], number: str
) -> tuple[pl.LazyFrame, pl.Expr, list[pl.Expr]]:
    """Return the variance of the difference of weighted sums, and which classes have enough examples."""
    weights: list[Mapping[str, pl.Expr]] = []
    slopes: list[pl.Expr | None] = []
    eta, unknown = pl.col("eta"), pl.lit(None, dtype=pl.Float64)
    rates = {n: (pl.col(A + n) - pl.col(B + n)) / pl.col(OF_ALL + n) for n in AMOUNTS}
    for metric, is_sum in zip(metrics, sums, strict=True):
        weights.append(_find_weights(metric, eta) if is_sum else {})
        # A difference is linear in the prevalence, too; this is its growth with the logit.
        ends = [_find_weights(metric, pl.lit(end)) for end in ((0.0, 1.0) if is_sum else ())]
        ends_of_rates = [
            sum((rates[name] * weight[name] for name in rates), pl.lit(0.0)) for weight in ends
        ]
        slopes.append(eta * (1 - eta) * (ends_of_rates[1] - ends_of_rates[0]) if is_sum else None)
    pairs = pairs.with_columns(
        pick_by_number(number, (row_weights.get(name) for row_weights in weights), unknown).alias(column)
        for name, column in _WEIGHTS.items()
    )
    variances, enough = [], []
    for name, column in _WEIGHTS.items():
        weight = pl.col(column)
        a, b, n = (pl.col(kind + name) for kind in (A, B, OF_ALL))
        # See the module for why the product tells whether enough examples are discordant.
        enough.append((weight == 0) | (a * b >= _LEAST_PRODUCT))
        a, b, n = a + 0.5, b + 0.5, n + 1
        of_rate = ((a + b) / n - ((a - b) / n) ** 2) / n
        variances.append(pl.when(weight == 0).then(0.0).otherwise(weight**2 * of_rate))
    eta_error = pl.col(A + EtaError.STANDARD_ERROR)
    of_eta = (pick_by_number(number, slopes, unknown) * eta_error) ** 2
    variances.append(pl.when(eta_error > 0).then(of_eta).otherwise(0.0))
    return pairs, sum(variances, pl.lit(0.0)), enough


def _find_weights(metric: PointMetric, eta: pl.Expr) -> dict[str, pl.Expr]:
    """Return the weights of recall and of fpr, by class, in a metric that is a weighted sum of both."""
    zero, unit = pl.lit(0.0), pl.lit(1.0)
    of_class = {"pos": (unit, zero), "neg": (zero, unit)}
    none = metric.from_columns(zero, zero, eta)
    return {name: metric.from_columns(*rates, eta) - none for name, rates in of_class.items()}
