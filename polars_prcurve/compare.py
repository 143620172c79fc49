"""Paired comparison: differences of curve metrics between models on the same examples.

    sweep of each model -> values      as in a summary
                        -> influence   of each example on each model's value, joined back to the rows
    pairs of models     -> difference, and its error from the difference of both influences

What two models have in common, easy examples and hard ones, leaves with the difference: its error is
that of the pair, not of both models apart.

Source: DeLong et al. 1988, and the same for average precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from polars_prcurve.bands import Collect
from polars_prcurve.bootstrap import Block, Bootstrap, Estimates
from polars_prcurve.columns import (
    COPY,
    EXAMPLE,
    GROUP,
    MODEL,
    NEG,
    PAIR,
    POS,
    RESERVED,
    SCORE,
)
from polars_prcurve.curve import stacked
from polars_prcurve.curve_metrics import CurveMetric
from polars_prcurve.curves import Curves, curves_of, numbered
from polars_prcurve.errors import Check, sentence
from polars_prcurve.exact import normal_cdf
from polars_prcurve.grouping import join_groups
from polars_prcurve.influence import SIZES, standard_error
from polars_prcurve.inputs import ScoreTable
from polars_prcurve.intervals import z_of
from polars_prcurve.prevalence import Grid
from polars_prcurve.sweep import Parts, checked_last, counted, late_checks, numbered_rows
from polars_prcurve.uncertainty import Uncertainty

__all__ = ["COMPARED", "Comparison", "compare_table"]

COMPARED = (
    "eta",
    "metric",
    "model_a",
    "model_b",
    "difference",
    "standard_error",
    "low",
    "high",
    "p_value",
)

_STEP = f"{RESERVED}step"  # number of the prevalence in its group
_BASE = f"{RESERVED}base"  # what models that are compared have in common
_PLACE = f"{RESERVED}place"
_MODELS = f"{RESERVED}models"
_ROUNDING = 1e-11
_UNMATCHED, _UNLIKE = f"{RESERVED}unmatched", f"{RESERVED}unlike"
_SIDES = ("a", "b")


class Comparison(NamedTuple):
    """What is compared: the models of a group are those of one `by` but for MODEL."""

    table: ScoreTable
    grid: Grid
    metrics: Sequence[CurveMetric]
    uncertainty: Uncertainty
    matched: bool
    """Known to have one row of each model for every example."""
    run: Collect

    @property
    def by(self) -> dict[str, pl.DataType]:
        return self.table.others

    @property
    def base(self) -> pl.Expr:
        """A number that models of one group have in common."""
        return pl.col(GROUP).min().over(*self.by) if self.by else pl.lit(0, dtype=pl.UInt32)


def compare_table(of: Comparison) -> pl.LazyFrame:
    """`by` but for MODEL, eta, what the eta frame carries, and the rest of COMPARED."""
    named = numbered(of.metrics)
    analytic = of.uncertainty.method == "analytic"
    found = counted(of.table, effective=analytic)
    # Influences are those of examples, on any row.
    needed = [replace(metric, needs="all") for metric in of.metrics] if analytic else of.metrics
    curves = curves_of(of.table, found, needed, collect=of.run)
    step = pl.col(PAIR) - pl.col(PAIR).min().over(GROUP)
    pairs = curves.at(of.grid).with_columns(step.alias(_STEP), of.base.alias(_BASE))
    values = curves.values(pairs, named, each=of.grid.count)
    tests = late_checks(of.table, of.grid)
    if not of.matched:
        values = values.join(_unmatched(of, found), how="cross")
        tests += [_of_two_models(), *_matching()]
    values = checked_last(of.table, values.sort(PAIR), *tests)
    both = _side_by_side(of, values)
    if analytic:
        both = _analytic(of, both, numbered_rows(of.table, found.groups), curves, pairs)
    else:
        errors = _bootstrapped(of, found, values)
        both = both.join(errors, on=[_sided(PAIR, side) for side in _SIDES], how="left")
    long = both.join(pl.LazyFrame({COPY: range(len(named))}), how="cross")
    long = long.sort(_BASE, _STEP, COPY, *(_sided(GROUP, side) for side in _SIDES))
    kinds = {kind: [pl.col(f"{name}_{kind}") for name in named] for kind in COMPARED[4:]}
    long = long.with_columns(stacked(kinds, [metric.name for metric in of.metrics]))
    eta, *others = COMPARED
    return long.with_columns(pl.col(eta).fill_nan(None)).select(*of.by, eta, *of.grid.carried, *others)


def _side_by_side(of: Comparison, values: pl.LazyFrame) -> pl.LazyFrame:
    """One row per group, prevalence and pair of models, in the order of the models."""
    names = list(numbered(of.metrics))
    sizes = SIZES.values() if of.uncertainty.method == "analytic" else ()
    own = [MODEL, GROUP, PAIR, *names]
    a, b = (
        values.select(*of.by, _STEP, *others, *(pl.col(name).alias(_sided(name, side)) for name in own))
        for side, others in (("a", ("eta", *of.grid.carried, _BASE, *sizes)), ("b", ()))
    )
    both = join_groups(a, b, {**of.by, _STEP: pl.UInt32()}).filter(_rising())
    models = (pl.col(_sided(MODEL, side)).alias(f"model_{side}") for side in _SIDES)
    differences = (
        (pl.col(_sided(name, "a")) - pl.col(_sided(name, "b"))).alias(f"{name}_difference")
        for name in names
    )
    return both.with_columns(*models, *differences)


def _sided(name: str, side: str) -> str:
    return f"{RESERVED}{side}_{name}"


def _rising() -> pl.Expr:
    return pl.col(_sided(GROUP, "a")) < pl.col(_sided(GROUP, "b"))


def _analytic(
    of: Comparison, both: pl.LazyFrame, rows: pl.LazyFrame, curves: Curves, pairs: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the error of each difference, and what follows from it."""
    named, z = numbered(of.metrics), z_of(of.uncertainty.confidence)
    example = {**of.by, EXAMPLE: rows.collect_schema()[EXAMPLE]}
    a, b = (
        rows.select(*example, *amounts, *(pl.col(n).alias(_sided(n, side)) for n in (GROUP, SCORE)))
        for side, amounts in (("a", (POS, NEG)), ("b", ()))
    )
    twice = join_groups(a, b, example).filter(_rising())
    steps = pairs.select(PAIR, _STEP)
    for key, names, influences in curves.influences(pairs, named):
        by_step = influences.join(steps, on=PAIR) if key == PAIR else influences
        keys = [_sided(key, side) for side in _SIDES]
        both = both.join(_squares(twice, by_step, key, names), on=keys, how="left")
    for name, metric in named.items():
        difference, error = pl.col(f"{name}_difference"), standard_error(name, metric)
        largest = pl.max_horizontal(_sided(name, side) for side in _SIDES)
        # Equal influences differ by rounding, and by engine.
        exact = pl.when(error > _ROUNDING * largest).then(error).otherwise(error * 0)
        known = pl.when(difference.is_not_null()).then(exact)
        both = both.with_columns(known.alias(f"{name}_standard_error"))
        error = pl.col(f"{name}_standard_error")
        p_value = normal_cdf(-(difference / error).abs()) * 2
        both = both.with_columns(
            (difference - z * error).alias(f"{name}_low"),
            (difference + z * error).alias(f"{name}_high"),
            pl.when(error > 0).then(p_value).alias(f"{name}_p_value"),
        )
    return both


def _squares(
    twice: pl.LazyFrame, influences: pl.LazyFrame, key: str, names: Sequence[str]
) -> pl.LazyFrame:
    """By pair of models, variances of the difference of both influences among the examples."""
    step = [_STEP] if key == PAIR else []
    kinds = [f"{name}_{side}" for name in names for side in SIZES]
    for number, side in enumerate(_SIDES):
        own = [pl.col(name).alias(_sided(name, side)) for name in dict.fromkeys((key, GROUP, *kinds))]
        score = pl.col("threshold").alias(_sided(SCORE, side))
        on = [_sided(GROUP, side), _sided(SCORE, side), *(step if number else [])]
        twice = twice.join(influences.select(*step, score, *own), on=on)
    keys = [_sided(key, side) for side in _SIDES]
    squares = {
        kind: (pl.col(_sided(kind, "a")) - pl.col(_sided(kind, "b"))) ** 2
        * pl.col(POS if kind.endswith("_pos") else NEG)
        for kind in kinds
    }
    sums = twice.select(*keys, POS, NEG, **squares).group_by(keys).agg(pl.col(POS, NEG, *kinds).sum())
    return sums.select(
        *keys, *(pl.col(kind) / pl.col(POS if kind.endswith("_pos") else NEG) for kind in kinds)
    )


def _bootstrapped(of: Comparison, found: Parts, values: pl.LazyFrame) -> pl.LazyFrame:
    """The same from replicates of the examples, which all models share."""
    bootstrap = Bootstrap(of.metrics, of.uncertainty, of.run)
    whole = bootstrap.collected(values)
    groups = whole.select(GROUP, _BASE).unique().sort(GROUP).partition_by(_BASE, maintain_order=True)
    samples = bootstrap.samples(of.table, found, [part[GROUP].to_list() for part in groups])
    return bootstrap.errors(map(_differences, bootstrap.blocks(samples, whole)))


def _differences(block: Block) -> tuple[dict[str, pl.Series], Estimates]:
    """Of each pair of models in the block, by the numbers of both pairs of group and prevalence."""
    place = block.pairs.select(_BASE, _STEP, GROUP, PAIR).with_row_index(_PLACE)
    met = place.join(place, on=[_BASE, _STEP], suffix="_b").filter(pl.col(GROUP) < pl.col(f"{GROUP}_b"))
    a, b = (met[name].to_numpy() for name in (_PLACE, f"{_PLACE}_b"))
    keys = {_sided(PAIR, "a"): met[PAIR], _sided(PAIR, "b"): met[f"{PAIR}_b"]}
    values, replicates, sizes = block.estimates
    return keys, Estimates(values[a] - values[b], replicates[:, a] - replicates[:, b], sizes[a])


# Checks ---------------------------------------------------------------------------------------


def _of_two_models() -> Check:
    groups, models = pl.col(_BASE).n_unique(), pl.col(GROUP).n_unique()
    text = "models are compared in pairs, and no group has two; check model=, and leave it out of by="
    return Check((models > 0) & (models == groups), sentence(text))


def _unmatched(of: Comparison, found: Parts) -> pl.LazyFrame:
    """One row: how many examples lack a row of some model or have two, and how many differ in label."""
    by, groups = of.by, found.groups
    amounts = ((pl.col(side).min() != pl.col(side).max()) for side in (POS, NEG))
    examples = (
        numbered_rows(of.table, groups)
        .group_by(*by, EXAMPLE)
        .agg(
            pl.len().alias(_UNMATCHED),
            pl.col(GROUP).n_unique().alias(_UNLIKE),
            pl.any_horizontal(*amounts).alias(_BASE),
        )
    )
    count = pl.len().alias(_MODELS)
    if by:
        examples = join_groups(examples, groups.group_by(*by).agg(count), by)
    else:
        examples = examples.join(groups.select(count), how="cross")
    once = (pl.col(_UNMATCHED) == pl.col(_MODELS)) & (pl.col(_UNLIKE) == pl.col(_MODELS))
    return examples.select(
        (~once).sum().cast(pl.Int64).alias(_UNMATCHED),
        pl.col(_BASE).sum().cast(pl.Int64).alias(_UNLIKE),
    )


def _matching() -> list[Check]:
    unmatched, unlike = pl.col(_UNMATCHED).max(), pl.col(_UNLIKE).max()
    return [
        Check(
            unmatched > 0,
            sentence(
                "models are compared on the same examples, and ",
                unmatched.cast(pl.String),
                " of them, by id=, have not exactly one row for each model; filter those out",
            ),
        ),
        Check(
            unlike > 0,
            sentence(
                unlike.cast(pl.String),
                " examples, by id=, differ in label or weight between models",
            ),
        ),
    ]
