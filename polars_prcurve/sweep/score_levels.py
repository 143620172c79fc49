"""Counts per level of score: of a labelled reference, and of the unlabelled rows beside it.

    reference  -> levels   cut at quantiles of the labelled scores, with the counts of both classes
    unlabelled -> groups   one row per group, with its rows at each level of its reference

The levels are made from labelled rows alone, so the unlabelled rows have no say in where they are cut.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from polars_prcurve.column_names import (
    CUM_NEG,
    CUM_NEG_ABOVE,
    CUM_POS,
    CUM_POS_ABOVE,
    GROUP,
    N_NEG,
    N_POS,
    NEG,
    NEG_BEFORE_GROUP,
    POS,
    POS_BEFORE_GROUP,
    RESERVED,
    SCORE,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.group_numbers import aggregate_by, join_groups
from polars_prcurve.inputs.group_frames import missing_row_check
from polars_prcurve.inputs.score_table import ScoreTable, count_unlabelled
from polars_prcurve.prevalence.mixture import LevelCounts
from polars_prcurve.query_checks import Check, compose_sentence, show_value, stop_if_broken
from polars_prcurve.sweep.running_sums import build_running_sums

MOST_LEVELS = 10
LEAST_PER_LEVEL = 5
"""Examples of the smaller class per level, on average; with fewer examples there are fewer levels."""

_LEVEL, _EDGES = f"{RESERVED}level", f"{RESERVED}edges"
_EDGE, _REACH = f"{RESERVED}edge_", f"{RESERVED}reach_"  # the least score of a level; rows that reach it


N_UNLABELLED = f"{RESERVED}n_unlabelled"


def count_levels(table: ScoreTable, reference: ScoreTable) -> tuple[pl.DataFrame, LevelCounts]:
    """Return the groups of unlabelled rows, `by` and N_UNLABELLED, and their counts per level.

    Raise if a group has no reference, or one that lacks a class, or has but one score.
    """
    if reference.score_dtype != table.score_dtype:
        raise PrcError(
            f"the score is {table.score_dtype} in the table and {reference.score_dtype} in the "
            "reference= table; cast one to the other, so that both are cut at the same values"
        )
    levels = _collect_levels(reference)
    groups = count_unlabelled(table, N_UNLABELLED).with_row_index(GROUP)
    groups = join_groups(groups, levels, reference.by, how="left")
    missing, keys = pl.col(_EDGES).is_null(), {name: pl.col(name) for name in reference.by}
    groups = stop_if_broken(groups, [missing_row_check("reference", keys, missing, missing.sum())])
    edges = (pl.col(_EDGES).list.get(j, null_on_oob=True) for j in range(MOST_LEVELS - 1))
    named_edges = (edge.alias(f"{_EDGE}{j}") for j, edge in enumerate(edges))
    rows = join_groups(table.rows, levels.select(*reference.by, *named_edges), reference.by, how="left")
    n = pl.lit(1) if table.labelled else pl.col(NEG)
    reaching = [
        pl.when(pl.col(SCORE) >= pl.col(f"{_EDGE}{j}")).then(n).otherwise(0).sum().alias(f"{_REACH}{j}")
        for j in range(MOST_LEVELS - 1)
    ]
    reached = aggregate_by(rows, table.by, reaching)
    both = join_groups(groups, reached, table.by, how="left")
    found = table.collect(both.sort(GROUP), "estimate_prevalence")
    return found.select(*table.by, N_UNLABELLED), _read_counts(found)


def _collect_levels(table: ScoreTable) -> pl.LazyFrame:
    """Return the levels of a reference, computed; raise if it has no rows, or cannot be cut."""
    try:
        levels = table.collect(_cut_levels(table), "estimate_prevalence")
    except PrcError as error:
        raise PrcError(f"in the reference= table, {error}") from None
    if levels.height == 0:
        raise PrcError("the reference= table has no rows; pass a labelled table of the same model")
    return levels.lazy()


def _cut_levels(reference: ScoreTable) -> pl.LazyFrame:
    """Return one row per group of the reference: `by`, and lists by falling level.

    The lists are POS, NEG, and _EDGES, the least score of each level except the lowest one. The number
    of a score's level is the weight of the rows above it and of half the rows at it, times the number of
    levels and rounded down. A positive weighs ½/P and a negative ½/N, so that both classes count alike.
    By half the rows at it, any two scores make two levels, however many rows they have.
    """
    rows, groups, _ = build_running_sums(reference, None)
    groups = stop_if_broken(groups, _class_checks(reference))
    n_pos, n_neg = pl.col(N_POS).cast(pl.Int128), pl.col(N_NEG).cast(pl.Int128)
    n_levels = (pl.min_horizontal(n_pos, n_neg) // LEAST_PER_LEVEL).clip(2, MOST_LEVELS)
    twice_tp = pl.col(CUM_POS_ABOVE) + pl.col(CUM_POS) - 2 * pl.col(POS_BEFORE_GROUP)
    twice_fp = pl.col(CUM_NEG_ABOVE) + pl.col(CUM_NEG) - 2 * pl.col(NEG_BEFORE_GROUP)
    level = n_levels * (twice_tp * n_neg + twice_fp * n_pos) // (4 * n_pos * n_neg)
    scores = rows.join(groups, on=GROUP).with_columns(level.alias(_LEVEL))
    by_level = scores.group_by(*reference.by, GROUP, _LEVEL).agg(
        pl.col(SCORE).min(),
        (pl.col(CUM_POS) - pl.col(CUM_POS_ABOVE)).sum().cast(pl.Float64).alias(POS),
        (pl.col(CUM_NEG) - pl.col(CUM_NEG_ABOVE)).sum().cast(pl.Float64).alias(NEG),
    )
    lists = (
        by_level.sort(GROUP, _LEVEL)
        .group_by(GROUP, *reference.by, maintain_order=True)
        .agg(pl.col(POS), pl.col(NEG), pl.col(SCORE).slice(0, pl.len() - 1).alias(_EDGES))
    )
    one_score = _group_check(reference, pl.col(_EDGES).list.len() == 0, "all scores are equal")
    return stop_if_broken(lists, [one_score]).drop(GROUP)


def _class_checks(reference: ScoreTable) -> list[Check]:
    """Return the checks that the reference has both classes in every group."""
    totals = {"positives": N_POS, "negatives": N_NEG}
    return [
        _group_check(reference, pl.col(total).is_null(), f"there are no {name}")
        for name, total in totals.items()
    ]


def _group_check(reference: ScoreTable, wrong: pl.Expr, trouble: str) -> Check:
    """Return the check that no group of the reference is `wrong`, with the first one in its sentence."""
    parts: list[str | pl.Expr] = []
    for name in reference.by:
        value = show_value(pl.col(name).filter(wrong).first()).fill_null("null")
        parts += [", " if parts else " where ", f"{name} = ", value]
    remedy = "; it takes positives and negatives at two scores or more to tell the classes apart"
    return Check(wrong.any(), compose_sentence(trouble, *parts, remedy))


def _read_counts(found: pl.DataFrame) -> LevelCounts:
    """Return the lists of levels as arrays, and the unlabelled rows at each level."""
    n_levels = found[POS].list.len().to_numpy()
    reached = found.select(pl.col(f"^{_REACH}.*$")).cast(pl.Float64).to_numpy()
    total = found[N_UNLABELLED].cast(pl.Float64).to_numpy()
    # Every row reaches the lowest level, and none goes below.
    places = range(MOST_LEVELS)
    cumulated = np.column_stack([reached, total])
    cumulated = np.where(np.array(places) >= n_levels[:, None] - 1, total[:, None], cumulated)
    labelled = (
        found.select(
            pl.col(name).list.get(j, null_on_oob=True).fill_null(0.0).alias(str(j)) for j in places
        )
        for name in (POS, NEG)
    )
    positives, negatives = (frame.to_numpy() for frame in labelled)
    return LevelCounts(positives, negatives, np.diff(cumulated, axis=1, prepend=0))
