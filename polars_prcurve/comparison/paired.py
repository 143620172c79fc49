"""Paired comparison: differences of curve metrics between models on the same examples.

    sweep of each model -> values        as in a summary
                        -> influences    of each example on each model's value, joined to the rows
    model pairs         -> differences   of values, with errors from differences of influences

What both models find easy or hard cancels out of the difference. The variance of the difference is that
of differences of influences among the examples, and mostly smaller than the sum of two variances.

At small prevalences a few false positives decide about average precision, and a sample may lack them by
chance. So its difference and the error are computed a second time, with half a false positive more at
every threshold in both models. The larger error counts, and the difference that is nearer to 0. Without
this, equally good models were told apart in a third of all test sets (eta = 0.001, 50 positives).

Sources: DeLong et al. 1988 for ROC AUC; average precision has other influences in the same formula.
Holm 1979 for several pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.argument_kinds import read_choice
from polars_prcurve.column_names import (
    COPY,
    EXAMPLE,
    GROUP,
    MODEL,
    NEG,
    ODDS,
    PAIR,
    POS,
    RESERVED,
    SCORE,
)
from polars_prcurve.curves.rows_per_metric import long_columns
from polars_prcurve.curves.segment_sums import CurveSegments, build_curves, number_metrics
from polars_prcurve.group_numbers import join_groups
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.intervals.rates import z_value
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.normal_distribution import normal_cdf, normal_quantile
from polars_prcurve.prevalence.eta_table import EtaTable
from polars_prcurve.query_checks import Check, compose_sentence
from polars_prcurve.sweep.checks_at_end import check_at_end, check_first, late_checks
from polars_prcurve.sweep.group_table import SweepTables, build_numbered_rows, keep_counted_groups
from polars_prcurve.sweep.sweep_table import build_sweep
from polars_prcurve.uncertainty.analytic import (
    build_helper_metrics,
    is_reliable_analytic,
    is_reliable_bootstrap,
)
from polars_prcurve.uncertainty.bootstrap import Bootstrap, ReplicateValues, SampleBlock
from polars_prcurve.uncertainty.influence import CLASS_SIZE_COLUMNS, build_influences, standard_error
from polars_prcurve.uncertainty.options import UncertaintyOptions

COMPARE_COLUMNS = (
    "eta",
    "metric",
    "model_a",
    "model_b",
    "difference",
    "standard_error",
    "low",
    "high",
    "p_value",
    "reliable",
    "resolved",
)

_ETA_NUMBER = f"{RESERVED}step"  # number of the prevalence in its group
_BASE_GROUP = f"{RESERVED}base"  # a number that models of one `by` group share
_ROW_NUMBER = f"{RESERVED}place"
_MODEL_COUNT = f"{RESERVED}models"
_ROUNDING = 1e-11  # standard errors up to this share of the value are rounding
_N_ROWS, _N_MODELS = f"{RESERVED}rows", f"{RESERVED}own_models"  # of one example
_UNMATCHED, _UNEQUAL = f"{RESERVED}unmatched", f"{RESERVED}unequal"
_SIDES = ("a", "b")


Adjust: TypeAlias = Literal["holm"] | None


def list_compare_columns(adjust: Adjust) -> tuple[str, ...]:
    """Return the columns of a comparison, after `by`, without those that an eta frame carries."""
    if adjust is not None:
        read_choice("adjust=", adjust, ["holm"])
    after = COMPARE_COLUMNS.index("p_value") + 1
    adjusted = [] if adjust is None else ["p_adjusted"]
    return (*COMPARE_COLUMNS[:after], *adjusted, *COMPARE_COLUMNS[after:])


class Comparison(NamedTuple):
    """A table of several models per `by` group, and what to compare them by."""

    table: ScoreTable
    grid: EtaTable
    metrics: Sequence[CurveMetric]
    uncertainty: UncertaintyOptions
    matched: bool
    """Every example surely has one row of each model: the table was made from a wide one."""
    adjust: Adjust = None
    """How levels are adjusted for several pairs of models."""

    @property
    def by_columns(self) -> dict[str, pl.DataType]:
        """The columns of `by=`, without MODEL."""
        return self.table.group_columns

    @property
    def base_group(self) -> pl.Expr:
        """A number that the models of one `by` group share: the least GROUP among them."""
        return (
            pl.col(GROUP).min().over(*self.by_columns) if self.by_columns else pl.lit(0, dtype=pl.UInt32)
        )


def build_compare_table(comparison: Comparison) -> pl.LazyFrame:
    """Return `by` without MODEL, eta, what the eta frame carries, and the rest of its columns."""
    named = number_metrics(comparison.metrics)
    analytic = comparison.uncertainty.method == "analytic"
    sweep = build_sweep(comparison.table, effective=analytic)
    # Each example is looked up by its score, so influences need the rows of all scores.
    needed = (
        [metric.with_recipe(needs="all") for metric in comparison.metrics]
        if analytic
        else comparison.metrics
    )
    curves = build_curves(comparison.table, sweep, needed)
    step = pl.col(PAIR) - pl.col(PAIR).min().over(GROUP)
    pairs = curves.build_pairs(comparison.grid).with_columns(
        step.alias(_ETA_NUMBER), comparison.base_group.alias(_BASE_GROUP)
    )
    measured = _list_measured(comparison)
    values = _check_examples(
        comparison,
        sweep,
        pairs,
        curves.compute_values(pairs, measured, etas_per_group=comparison.grid.etas_per_group),
    )
    differences = _join_models(comparison, values)
    if analytic:
        rows = build_numbered_rows(comparison.table, sweep.groups)
        differences = _with_analytic_errors(comparison, differences, rows, curves, pairs)
    else:
        differences = _with_bootstrap_errors(comparison, differences, sweep, values)
    differences = differences.with_columns(
        test.alias(f"{name}_{kind}")
        for name, metric in named.items()
        for kind, test in _judge(comparison, name, metric)._asdict().items()
    )
    long = differences.join(pl.LazyFrame({COPY: range(len(named))}), how="cross")
    long = long.sort(_BASE_GROUP, _ETA_NUMBER, COPY, *(_side_name(GROUP, side) for side in _SIDES))
    eta, *others = list_compare_columns(comparison.adjust)
    kinds = {kind: [pl.col(f"{name}_{kind}") for name in named] for kind in others[3:]}
    long = long.with_columns(long_columns(kinds, [metric.name for metric in comparison.metrics]))
    return long.with_columns(pl.col(eta).fill_nan(None)).select(
        *comparison.by_columns, eta, *comparison.grid.carried, *others
    )


def _list_measured(comparison: Comparison) -> dict[str, CurveMetric]:
    """Return the metrics asked, and those that their errors and flags are computed from, by name."""
    named = number_metrics(comparison.metrics)
    measured = dict(named)
    if comparison.uncertainty.method == "analytic":
        for name, metric in named.items():
            if metric.recipe.influence is not None:
                measured |= build_helper_metrics(name, metric)
    return measured


def _join_models(comparison: Comparison, values: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row per group, prevalence and model pair, with the difference of each metric.

    Columns of either model are named by `_side_name`.
    """
    names = list(_list_measured(comparison))
    sizes = CLASS_SIZE_COLUMNS.values() if comparison.uncertainty.method == "analytic" else ()
    own = [MODEL, GROUP, PAIR, *names]
    a, b = (
        values.select(
            *comparison.by_columns,
            _ETA_NUMBER,
            *others,
            *(pl.col(name).alias(_side_name(name, side)) for name in own),
        )
        for side, others in (
            ("a", ("eta", ODDS, *comparison.grid.carried, _BASE_GROUP, *sizes)),
            ("b", ()),
        )
    )
    keys = {**comparison.by_columns, _ETA_NUMBER: pl.UInt32()}
    model_pairs = join_groups(a, b, keys).filter(_is_ordered_pair())
    models = [pl.col(_side_name(MODEL, side)).alias(f"model_{side}") for side in _SIDES]
    if comparison.matched:  # names of score columns, which are an Enum to keep their order
        models = [model.cast(pl.String) for model in models]
    differences = (
        (pl.col(_side_name(name, "a")) - pl.col(_side_name(name, "b"))).alias(f"{name}_difference")
        for name in names
    )
    return model_pairs.with_columns(*models, *differences)


def _side_name(name: str, side: str) -> str:
    """Return the name of a column of model a or b in a row of both."""
    return f"{RESERVED}{side}_{name}"


def _is_ordered_pair() -> pl.Expr:
    """Return whether model a comes before model b: each pair once, and no model with itself."""
    return pl.col(_side_name(GROUP, "a")) < pl.col(_side_name(GROUP, "b"))


class Judgement(NamedTuple):
    """What is said of a difference: whether the numbers can be relied on, and whether its sign can."""

    reliable: pl.Expr
    resolved: pl.Expr


def _with_analytic_errors(
    comparison: Comparison,
    differences: pl.LazyFrame,
    rows: pl.LazyFrame,
    curves: CurveSegments,
    pairs: pl.LazyFrame,
) -> pl.LazyFrame:
    """Add the standard error, the limits and the p-value of each difference."""
    named, measured = number_metrics(comparison.metrics), _list_measured(comparison)
    example = {**comparison.by_columns, EXAMPLE: rows.collect_schema()[EXAMPLE]}
    a, b = (
        rows.select(*example, *amounts, *(pl.col(n).alias(_side_name(n, side)) for n in (GROUP, SCORE)))
        for side, amounts in (("a", (POS, NEG)), ("b", ()))
    )
    twice = join_groups(a, b, example).filter(_is_ordered_pair())
    steps = pairs.select(PAIR, _ETA_NUMBER)
    for key, names, influences in build_influences(curves, pairs, measured):
        by_step = influences.join(steps, on=PAIR) if key == PAIR else influences
        keys = [_side_name(key, side) for side in _SIDES]
        variances = _build_pair_variances(twice, by_step, key, names)
        differences = differences.join(variances, on=keys, how="left")
    for name, metric in named.items():
        differences = differences.with_columns(
            value.alias(f"{name}_{kind}") for kind, value in _measure_errors(name, metric).items()
        )
        difference, error = pl.col(f"{name}_difference"), pl.col(f"{name}_standard_error")
        nearer = _nearer_to_zero(difference, pl.col(f"{name}_cautious_difference"))
        if "cautious" not in metric.recipe.helpers:
            nearer = difference
        p_value = pl.when(error > 0).then(normal_cdf(-(nearer / error).abs()) * 2)
        differences = differences.with_columns(p_value.alias(f"{name}_p_value"))
        if comparison.adjust == "holm":
            adjusted = adjust_p_values(pl.col(f"{name}_p_value"), [_BASE_GROUP, _ETA_NUMBER])
            differences = differences.with_columns(adjusted.alias(f"{name}_p_adjusted"))
        differences = _with_limits(comparison, differences, name, metric)
    return differences


def _measure_errors(name: str, metric: CurveMetric) -> dict[str, pl.Expr]:
    """Return the standard error of a difference, as its column is called, null where it is unknown."""
    error = standard_error(name, metric)
    if "cautious" in metric.recipe.helpers:
        cautious = standard_error(f"{name}_cautious", metric.recipe.helpers["cautious"])
        error = pl.when(error.is_not_null() & cautious.is_not_null()).then(
            pl.max_horizontal(error, cautious)
        )
    largest = pl.max_horizontal(_side_name(name, side) for side in _SIDES)
    # Equal models have an error of 0. Rounding would leave a tiny one, which differs by engine, and
    # with it a p-value.
    exact = pl.when(error > _ROUNDING * largest).then(error).otherwise(error * 0)
    return {"standard_error": pl.when(pl.col(f"{name}_difference").is_not_null()).then(exact)}


def _nearer_to_zero(one: pl.Expr, other: pl.Expr) -> pl.Expr:
    """Return the number of the two that is nearer to 0; 0 if their signs differ."""
    nearer = pl.when(one.abs() <= other.abs()).then(one).otherwise(other)
    return pl.when(one * other > 0).then(nearer).otherwise(0.0)


def adjust_p_values(p_value: pl.Expr, family: Sequence[str]) -> pl.Expr:
    """Return p-values that hold for all tests of a family at once, by Holm's method (1979).

    The i-th least of m p-values is multiplied by m - i + 1, and no adjusted one is less than those
    before it. Unknown ones are not counted, and stay null.
    """
    place, known = p_value.rank("min").over(family), p_value.count().over(family)
    scaled = (p_value * (known - place + 1)).clip(upper_bound=1.0)
    return scaled.cum_max().over(family, order_by=p_value)


def _with_limits(
    comparison: Comparison, differences: pl.LazyFrame, name: str, metric: CurveMetric
) -> pl.LazyFrame:
    """Add both ends of the interval of a difference, which leave out 0 if the p-value is small."""
    difference, error = pl.col(f"{name}_difference"), pl.col(f"{name}_standard_error")
    least = most = difference
    if "cautious" in metric.recipe.helpers:
        cautious = pl.col(f"{name}_cautious_difference")
        least, most = pl.min_horizontal(least, cautious), pl.max_horizontal(most, cautious)
    half = error * _find_deviations(comparison)
    return differences.with_columns(
        pl.when(error.is_not_null()).then(least - half).alias(f"{name}_low"),
        pl.when(error.is_not_null()).then(most + half).alias(f"{name}_high"),
    )


def _find_deviations(comparison: Comparison) -> pl.Expr:
    """Return how many standard errors the interval of a difference reaches to either side.

    Adjusted for m pairs, its level is 1 - (1 - confidence) / m.
    """
    alpha = 1 - comparison.uncertainty.confidence
    if comparison.adjust is None:
        return pl.lit(z_value(comparison.uncertainty.confidence))
    n_pairs = pl.len().over(_BASE_GROUP, _ETA_NUMBER)
    return -normal_quantile(alpha / 2 / n_pairs)


def _judge(comparison: Comparison, name: str, metric: CurveMetric) -> Judgement:
    """Return whether the interval of a difference is reliable, and whether its sign is resolved.

    A sign is resolved if 0 is outside of an interval that is reliable, or if the difference has twice
    as many standard errors as that takes: where no interval is reliable, that happened in fewer than
    0.3 % of test sets of equally good models. Both are null where there is no error.
    """
    difference, error = pl.col(f"{name}_difference"), pl.col(f"{name}_standard_error")
    low, high = pl.col(f"{name}_low"), pl.col(f"{name}_high")
    analytic = comparison.uncertainty.method == "analytic"
    is_reliable = is_reliable_analytic if analytic else is_reliable_bootstrap
    reliable = pl.lit(True)
    if not analytic or metric.recipe.influence is not None:
        for side in _SIDES:
            reliable &= is_reliable(name, metric, partial(_side_column, side))
    outside = (low > 0) | (high < 0)
    nearer = difference
    if analytic and "cautious" in metric.recipe.helpers:
        nearer = _nearer_to_zero(difference, pl.col(f"{name}_cautious_difference"))
    decisive = nearer.abs() >= 2 * _find_deviations(comparison) * error
    known = error.is_not_null() & difference.is_not_null()
    resolved = (outside & reliable) | (decisive & (error > 0))
    return Judgement(pl.when(known).then(reliable), pl.when(known).then(resolved))


def _side_column(side: str, name: str) -> pl.Expr:
    return pl.col(_side_name(name, side))


def _build_pair_variances(
    twice: pl.LazyFrame, influences: pl.LazyFrame, key: str, names: Sequence[str]
) -> pl.LazyFrame:
    """Return one row per model pair: variances, among the examples, of differences of influences.

    `twice` has a row per example and model pair, with the score of either model. An influence is looked
    up by model and score; by prevalence, too, where `key` is PAIR.
    """
    step = [_ETA_NUMBER] if key == PAIR else []
    kinds = [f"{name}_{side}" for name in names for side in CLASS_SIZE_COLUMNS]
    for number, side in enumerate(_SIDES):
        own = [
            pl.col(name).alias(_side_name(name, side)) for name in dict.fromkeys((key, GROUP, *kinds))
        ]
        score = pl.col("threshold").alias(_side_name(SCORE, side))
        # Model a brings a row per prevalence; model b is joined at the same one.
        on = [_side_name(GROUP, side), _side_name(SCORE, side), *(step if number else [])]
        twice = twice.join(influences.select(*step, score, *own), on=on)
    keys = [_side_name(key, side) for side in _SIDES]
    squares = {
        kind: (pl.col(_side_name(kind, "a")) - pl.col(_side_name(kind, "b"))) ** 2
        * pl.col(POS if kind.endswith("_pos") else NEG)
        for kind in kinds
    }
    sums = twice.select(*keys, POS, NEG, **squares).group_by(keys).agg(pl.col(POS, NEG, *kinds).sum())
    return sums.select(
        *keys, *(pl.col(kind) / pl.col(POS if kind.endswith("_pos") else NEG) for kind in kinds)
    )


def _with_bootstrap_errors(
    comparison: Comparison, differences: pl.LazyFrame, sweep: SweepTables, values: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the errors of differences, from replicates that all models share, and the class sizes."""
    bootstrap = Bootstrap(comparison.table, comparison.metrics, comparison.uncertainty)
    collected = bootstrap.collect_query(values)
    groups = (
        collected.select(GROUP, _BASE_GROUP)
        .unique()
        .sort(GROUP)
        .partition_by(_BASE_GROUP, maintain_order=True)
    )
    samples = list(bootstrap.build_samples(sweep, [part[GROUP].to_list() for part in groups]))
    blocks = bootstrap.compute_blocks(samples, collected)
    errors = bootstrap.estimate_errors(map(_subtract_models, blocks))
    on = [_side_name(PAIR, side) for side in _SIDES]
    differences = differences.join(errors, on=on, how="left")
    size_schema = dict.fromkeys(CLASS_SIZE_COLUMNS.values(), pl.Float64)
    sizes = pl.DataFrame([sample.sizes for sample in samples], schema=size_schema, orient="row")
    first = pl.concat([part.head(1) for part in groups]) if groups else collected.head(0)
    sizes = sizes.with_columns(first[_BASE_GROUP])
    return differences.join(sizes.lazy(), on=_BASE_GROUP, how="left")


def _subtract_models(block: SampleBlock) -> tuple[dict[str, pl.Series], ReplicateValues]:
    """Return both PAIR numbers of each model pair in the block, and the differences of all values."""
    rows = block.pairs.select(_BASE_GROUP, _ETA_NUMBER, GROUP, PAIR).with_row_index(_ROW_NUMBER)
    model_pairs = rows.join(rows, on=[_BASE_GROUP, _ETA_NUMBER], suffix="_b").filter(
        pl.col(GROUP) < pl.col(f"{GROUP}_b")
    )
    a, b = (model_pairs[name].to_numpy() for name in (_ROW_NUMBER, f"{_ROW_NUMBER}_b"))
    keys = {_side_name(PAIR, "a"): model_pairs[PAIR], _side_name(PAIR, "b"): model_pairs[f"{PAIR}_b"]}
    values, replicates, sizes = block.values
    return keys, ReplicateValues(values[a] - values[b], replicates[:, a] - replicates[:, b], sizes[a])


# Checks ---------------------------------------------------------------------------------------


def _check_examples(
    comparison: Comparison, sweep: SweepTables, pairs: pl.LazyFrame, values: pl.LazyFrame
) -> pl.LazyFrame:
    """Return `values`, which has a row per pair; stop if a check of the table or of its examples fails.

    Of a table in memory the checks are made at once, over `pairs`, before the values are computed.
    """
    table, tests = comparison.table, late_checks(comparison.table, comparison.grid)
    if comparison.matched:
        check_first(table, pairs, *tests)
        return check_at_end(table, values.sort(PAIR), *tests)
    of_examples = [_two_models_check(), *_matching_checks()]
    counted = (pairs if table.in_memory else values).join(
        _count_unmatched(comparison, sweep), how="cross"
    )
    if table.in_memory:  # the examples are counted once, and not again at the end
        check_first(table, counted, *tests, *of_examples)
        return check_at_end(table, values.sort(PAIR), *tests)
    return check_at_end(table, counted.sort(PAIR), *tests, *of_examples)


def _two_models_check() -> Check:
    """Return the check that some `by` group has two models."""
    groups, models = pl.col(_BASE_GROUP).n_unique(), pl.col(GROUP).n_unique()
    text = "models are compared in pairs, and no group has two; check model=, and leave it out of by="
    return Check((models > 0) & (models == groups), compose_sentence(text))


def _count_unmatched(comparison: Comparison, sweep: SweepTables) -> pl.LazyFrame:
    """Return one row: the number of examples without just one row per model, and of unequal examples.

    An example is unequal if its label or weight differs between models.
    """
    by, groups = comparison.by_columns, keep_counted_groups(comparison.table, sweep.groups)
    differs = ((pl.col(side).min() != pl.col(side).max()) for side in (POS, NEG))
    examples = (
        build_numbered_rows(comparison.table, groups)
        .group_by(*by, EXAMPLE)
        .agg(
            pl.len().alias(_N_ROWS),
            pl.col(GROUP).n_unique().alias(_N_MODELS),
            pl.any_horizontal(*differs).alias(_UNEQUAL),
        )
    )
    count = pl.len().alias(_MODEL_COUNT)
    if by:
        examples = join_groups(examples, groups.group_by(*by).agg(count), by)
    else:
        examples = examples.join(groups.select(count), how="cross")
    matched = pl.all_horizontal(pl.col(_N_ROWS, _N_MODELS) == pl.col(_MODEL_COUNT))
    return examples.select(
        (~matched).sum().cast(pl.Int64).alias(_UNMATCHED),
        pl.col(_UNEQUAL).sum().cast(pl.Int64),
    )


def _matching_checks() -> list[Check]:
    """Return the checks over the counts of `_count_unmatched`."""
    unmatched, unequal = pl.col(_UNMATCHED).max(), pl.col(_UNEQUAL).max()
    return [
        Check(
            unmatched > 0,
            compose_sentence(
                "each example, by id=, needs exactly one row for each model, and ",
                unmatched.cast(pl.String),
                " examples have missing or repeated rows; filter these out",
            ),
        ),
        Check(
            unequal > 0,
            compose_sentence(
                unequal.cast(pl.String),
                " examples, by id=, differ in label or weight between models; mend or filter these",
            ),
        ),
    ]
