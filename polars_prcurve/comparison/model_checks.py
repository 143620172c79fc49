"""Checks of tables of several models: two models to compare, and the same examples in each."""

from __future__ import annotations

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.model_pairs import BASE_GROUP
from polars_prcurve.group_numbers import aggregate_by, join_groups
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.prevalence.eta_table import EtaTable
from polars_prcurve.query_checks import Check, compose_sentence, stop_if_broken
from polars_prcurve.sweep.checks_at_end import check_at_end, check_first, late_checks
from polars_prcurve.sweep.group_table import SweepTables, build_numbered_rows, keep_counted_groups
from polars_prcurve.sweep.sweep_table import build_sweep

_MODEL_COUNT = f"{c.RESERVED}models"
_N_ROWS, _N_MODELS = f"{c.RESERVED}rows", f"{c.RESERVED}own_models"  # of one example
_UNMATCHED, _UNEQUAL = f"{c.RESERVED}unmatched", f"{c.RESERVED}unequal"


def check_models(
    table: ScoreTable,
    sweep: SweepTables,
    pairs: pl.LazyFrame,
    values: pl.LazyFrame,
    grid: EtaTable,
    *,
    count_examples: bool,
    needs_pairs: bool,
) -> pl.LazyFrame:
    """Return `values`, which has a row per pair; stop if a check of the table or of its models fails.

    Of a table in memory the checks are made at once, over `pairs`, before the values are computed.
    """
    checks = late_checks(table, grid)
    if needs_pairs:
        checks.append(two_models_check())
    if not count_examples:
        check_first(table, pairs, *checks)
        return check_at_end(table, values.sort(c.PAIR), *checks)
    counts = _count_unmatched(table, sweep)
    if table.is_in_memory:  # the examples are counted once, and not again at the end
        check_first(table, pairs.join(counts, how="cross"), *checks, *_matching_checks())
        return check_at_end(table, values.sort(c.PAIR), *checks)
    counted = values.join(counts, how="cross").sort(c.PAIR)
    return check_at_end(table, counted, *checks, *_matching_checks())


def two_models_check() -> Check:
    """Return the check that some `by` group has two models."""
    groups, models = pl.col(BASE_GROUP).n_unique(), pl.col(c.GROUP).n_unique()
    text = "models are compared in pairs, and no group has two; check model=, and leave it out of by="
    return Check((models > 0) & (models == groups), compose_sentence(text))


def check_matching(table: ScoreTable, points: pl.LazyFrame) -> pl.LazyFrame:
    """Return `points`; the query stops if examples, by id=, do not match between models."""
    counts = _count_unmatched(table, build_sweep(table))
    checked = stop_if_broken(points.join(counts, how="cross"), _matching_checks())
    return checked.drop(_UNMATCHED, _UNEQUAL)


def _count_unmatched(table: ScoreTable, sweep: SweepTables) -> pl.LazyFrame:
    """Return one row: the number of examples without just one row per model, and of unequal examples.

    An example is unequal if its label, weight, stratum or cluster differs between models.
    """
    by, groups = table.group_columns, keep_counted_groups(table, sweep.groups)
    differs = [(pl.col(side).min() != pl.col(side).max()) for side in (c.POS, c.NEG)]
    together = [name for name in (c.CLUSTER, c.STRATUM) if name in table.columns]
    differs += [pl.col(name).n_unique() > 1 for name in together]
    examples = (
        build_numbered_rows(table, groups)
        .group_by(*by, c.EXAMPLE)
        .agg(
            pl.len().alias(_N_ROWS),
            pl.col(c.GROUP).n_unique().alias(_N_MODELS),
            pl.any_horizontal(*differs).alias(_UNEQUAL),
        )
    )
    models = aggregate_by(groups, by, [pl.len().alias(_MODEL_COUNT)])
    examples = join_groups(examples, models, by)
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
                " example(s) lack a row or repeat one; if an id has several examples, such as the "
                'images of a patient, pass more columns, such as id=["patient", "image"]; otherwise '
                "filter these out",
            ),
        ),
        Check(
            unequal > 0,
            compose_sentence(
                unequal.cast(pl.String),
                " example(s), by id=, have another label, weight, stratum or cluster in another model; "
                "mend these, or filter them out",
            ),
        ),
    ]
