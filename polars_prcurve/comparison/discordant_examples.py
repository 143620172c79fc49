"""Differences of point metrics between models that flag the same examples, at given thresholds.

A metric that is a weighted sum of recall and fpr, such as net benefit, has a difference that is one of
differences of rates. A difference of rates is (b - c) / n, with b of n examples flagged by model a alone
and c by model b alone. Its variance is that of a number that is 1, -1 or 0 per example, after half an
example is added to b and to c: a sample without discordant examples proves nothing.

An interval is reliable if b times c is at least 25 in each class that counts. Chance moves the product
and b - c independently, to the first order. The sum b + c goes along with b - c where one model finds
nearly all of both: it would mark just the samples whose difference is too large.

Sources: McNemar 1947; Agresti and Min 2005 for what is added; Vickers and Elkin 2006 for net benefit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve import exact_arithmetic
from polars_prcurve.comparison.difference_tests import Level, adjust_p_values, is_resolved
from polars_prcurve.comparison.model_pairs import ETA_NUMBER, SIDES, A, B, join_sides
from polars_prcurve.curves.curve_table import pick_by_number
from polars_prcurve.group_keys import join_groups
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.normal_distribution import normal_cdf

AMOUNTS = {"pos": c.POS, "neg": c.NEG}  # the column of what a row adds to a class, by class
BOTH, OF_ALL = f"{c.RESERVED}both_", f"{c.RESERVED}n_"
"""What the columns with the examples of a class begin with that both models flag, and with all examples;
those that one model alone flags begin with A or B."""
_SUMS = pl.col(*AMOUNTS.values()).sum()
_SQUARED = "_squared"  # what the name of an amount ends with, if it is the sum of its squares
_LEVEL, _IS_MARK, _LEAST = (f"{c.RESERVED}{name}" for name in ("level", "is_mark", "least"))
_SIDE_GROUPS = [side + c.GROUP for side in SIDES]
_SIDE_LEVELS = [side + _LEVEL for side in SIDES]
_LEAST_LEVELS = [f"{name}_least" for name in _SIDE_LEVELS]
_WEIGHTS = {name: f"{c.RESERVED}weight_{name}" for name in AMOUNTS}
_IS_SUM, _ERROR = f"{c.RESERVED}is_sum", f"{c.RESERVED}error_of_sum"
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
    rows, thresholds = _read_models(table, points, by)
    flagged, thresholds = _number_levels(rows, thresholds)
    example = {**by, c.EXAMPLE: table.all_rows.collect_schema()[c.EXAMPLE]}
    own, amounts = [c.GROUP, _LEVEL], list(AMOUNTS.values())
    of_both = join_sides(flagged, example, own, amounts).group_by(*_SIDE_GROUPS, *_SIDE_LEVELS)
    steps = join_sides(thresholds, {**by, ETA_NUMBER: pl.UInt32()}, own, [])
    steps = steps.rename(dict(zip(_SIDE_LEVELS, _LEAST_LEVELS, strict=True)))
    counted = [_count_flagged(steps, of_both.agg(_SUMS.name.prefix(BOTH)), SIDES, BOTH)]
    of_one = flagged.group_by(c.GROUP, _LEVEL).agg(_SUMS)
    sides = {side: of_one.select(pl.all().name.prefix(side)) for side in SIDES}
    counted += [_count_flagged(steps, cells, (side,), side) for side, cells in sides.items()]
    # Of weighted examples a class counts as sum(w)**2 / sum(w**2) in all (Kish 1965).
    squares = pl.col(*amounts)  # a row that stands for several examples is no heavy example
    if table.has_squares:
        squares = exact_arithmetic.square_integer(squares, scaled=table.float_sums)
    totals = rows.group_by(c.GROUP).agg(_SUMS.name.prefix(OF_ALL), squares.sum().name.suffix(_SQUARED))
    pairs = steps.select(*_SIDE_GROUPS, ETA_NUMBER)
    pairs = pairs.join(totals, left_on=A + c.GROUP, right_on=c.GROUP, how="left")
    for found in counted:
        pairs = pairs.join(found, on=[*_SIDE_GROUPS, ETA_NUMBER], how="left")
    counts: dict[str, pl.Expr] = {}
    for name, amount in AMOUNTS.items():
        both, square = pl.col(BOTH + amount), pl.col(amount + _SQUARED)
        kinds = {side: pl.col(side + amount) - both for side in SIDES}
        kinds |= {BOTH: both, OF_ALL: pl.col(OF_ALL + amount)}
        if table.float_sums:
            kinds = {kind: of.cast(pl.Float64) * exact_arithmetic.NEAR_ONE for kind, of in kinds.items()}
            square = square.cast(pl.Float64) * exact_arithmetic.SQUARES_NEAR_ONE
        # What a weight of 1 counts as.
        unit = pl.when(square > 0).then(kinds[OF_ALL] / square).otherwise(1.0)
        counts |= {kind + name: of.cast(pl.Float64) * unit for kind, of in kinds.items()}
    return pairs.select(*_SIDE_GROUPS, ETA_NUMBER, **counts)


def _count_flagged(
    steps: pl.LazyFrame, cells: pl.LazyFrame, sides: Sequence[str], kind: str
) -> pl.LazyFrame:
    """Return one row per step and model pair, with the amounts in cells that models of `sides` flag."""
    levels = (pl.col(side + _LEVEL) >= pl.col(f"{side}{_LEVEL}_least") for side in sides)
    amounts = pl.col(*(kind + amount for amount in AMOUNTS.values()))
    joined = steps.join(cells, on=[side + c.GROUP for side in sides], how="left")
    is_flagged = pl.all_horizontal(levels)
    return joined.group_by(*_SIDE_GROUPS, ETA_NUMBER).agg(amounts.filter(is_flagged).sum())


def _read_models(
    table: ScoreTable, points: pl.LazyFrame, by: Mapping[str, pl.DataType]
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return the examples of all models, with GROUP and whole AMOUNTS, and thresholds as SCORE."""
    amounts = [pl.col(amount) for amount in AMOUNTS.values()]
    if c.LABEL in table.columns:
        members = (pl.col(c.LABEL), ~pl.col(c.LABEL))
        whole = [of.cast(pl.Int128).alias(a) for of, a in zip(members, AMOUNTS.values(), strict=True)]
    elif not table.float_sums:
        whole = [amount.cast(pl.Int128) for amount in amounts]
    else:  # the models of a table have the same weights, and so the same scale
        exponents = (exact_arithmetic.weight_exponent(amount.max().over(c.GROUP)) for amount in amounts)
        whole = [
            exact_arithmetic.to_integer(of, exponent)
            for of, exponent in zip(amounts, exponents, strict=True)
        ]
    of_model: dict[str, pl.DataType] = {**by, c.MODEL: table.by[c.MODEL]}
    thresholds = points.select(*of_model, c.GROUP, ETA_NUMBER, "tp", pl.col("threshold").alias(c.SCORE))
    groups = thresholds.select(*of_model, c.GROUP).unique()
    columns = [c.LABEL] if c.LABEL in table.columns else list(AMOUNTS.values())
    rows = join_groups(table.all_rows.select(*of_model, c.EXAMPLE, c.SCORE, *columns), groups, of_model)
    rows = rows.select(pl.exclude(c.MODEL, *columns), *whole)
    return rows.cache(), thresholds.drop(c.MODEL)  # rows are added up, and those flagged are joined


def _number_levels(rows: pl.LazyFrame, thresholds: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return the examples that any threshold flags, and the thresholds, both with _LEVEL."""
    marks = thresholds.select(c.GROUP, c.SCORE).drop_nulls().unique().sort(c.GROUP, c.SCORE)
    least = marks.group_by(c.GROUP).agg(pl.col(c.SCORE).min().alias(_LEAST))
    # What was never scored has no score that is as high.
    rows = rows.join(least, on=c.GROUP).filter(pl.col(c.SCORE) >= pl.col(_LEAST)).drop(_LEAST)
    levels = marks.with_row_index(_LEVEL, offset=1)
    marked = marks.with_columns(pl.lit(True).alias(_IS_MARK))
    # A score that equals a threshold comes after it.
    ordered = pl.concat([rows, marked], how="diagonal").sort(c.GROUP, c.SCORE, _IS_MARK, nulls_last=True)
    numbered = ordered.with_columns(pl.col(_IS_MARK).is_not_null().cum_sum().alias(_LEVEL))
    # Flagged are levels from that of the threshold on: of none, it is beyond all; of no threshold, null.
    beyond = pl.when(pl.col("tp").is_not_null()).then(pl.lit(2**32 - 1, dtype=pl.UInt32))
    thresholds = thresholds.join(levels, on=[c.GROUP, c.SCORE], how="left")
    level = pl.coalesce(_LEVEL, beyond).alias(_LEVEL)
    thresholds = thresholds.select(pl.exclude(c.SCORE, "tp", _LEVEL), level)
    # Cached, as each model is paired with others.
    return numbered.filter(pl.col(_IS_MARK).is_null()).drop(_IS_MARK).cache(), thresholds


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
    known, reliable = error.is_not_null(), pl.all_horizontal(enough)
    low, high = difference - half, difference + half
    decisive = (difference.abs() >= 2 * half) & (error > 0)
    p_value = pl.when(error > 0).then(normal_cdf(-(difference / error).abs()) * 2)
    of_sums = {
        "standard_error": error,
        "low": low,
        "high": high,
        "p_value": p_value,
        "reliable": pl.when(known).then(reliable),
        "why": pl.when(known & ~reliable).then(pl.lit("few discordant examples")),
        "resolved": pl.when(known).then(is_resolved(low, high, reliable, decisive)),
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
        at = [sum((rates[name] * of[name] for name in rates), pl.lit(0.0)) for of in ends]
        slopes.append(eta * (1 - eta) * (at[1] - at[0]) if is_sum else None)
    pairs = pairs.with_columns(
        pick_by_number(number, (of.get(name) for of in weights), unknown).alias(column)
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
    eta_error = pl.col(A + c.ETA_ERROR)
    of_eta = (pick_by_number(number, slopes, unknown) * eta_error) ** 2
    variances.append(pl.when(eta_error > 0).then(of_eta).otherwise(0.0))
    return pairs, sum(variances, pl.lit(0.0)), enough


def _find_weights(metric: PointMetric, eta: pl.Expr) -> dict[str, pl.Expr]:
    """Return the weights of recall and of fpr, by class, in a metric that is a weighted sum of both."""
    zero, one = pl.lit(0.0), pl.lit(1.0)
    of_class = {"pos": (one, zero), "neg": (zero, one)}
    none = metric.from_columns(zero, zero, eta)
    return {name: metric.from_columns(*rates, eta) - none for name, rates in of_class.items()}
