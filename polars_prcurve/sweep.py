"""The sweep: cumulative counts at every distinct score of every group, by one sort.

    score table -> groups        one row per group: totals, checks, place in the order
                -> running sums  one row per distinct score: sums over the whole table
                -> sweep         both joined; what came before the group is subtracted

No step works group by group, so ten groups and a hundred thousand cost much the same. Sums of
weights are exact too: scaled by a power of two per group, they are sums of integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import exact
from polars_prcurve.columns import (
    COUNTS,
    FALLS,
    FIRST,
    FPR_BEFORE,
    GROUP,
    LABEL,
    N_NEG,
    N_NEG_EFFECTIVE,
    N_POS,
    N_POS_EFFECTIVE,
    NEG,
    NEG_BEFORE,
    NEG_EXPONENT,
    POS,
    POS_BEFORE,
    POS_EXPONENT,
    RECALL_BEFORE,
    RESERVED,
    RUN_NEG,
    RUN_POS,
    SCORE,
    START_NEG,
    START_POS,
    SWEEP,
    UNIT,
)
from polars_prcurve.errors import Check, PrcError, guard, sentence
from polars_prcurve.grouping import join_groups
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.ordering import Ordered, in_order
from polars_prcurve.prevalence import Grid, at_each_eta, every_group_has_eta, one_prevalence

__all__ = [
    "Thresholds",
    "checked_last",
    "class_counts",
    "class_sizes",
    "count_scores",
    "counted",
    "exact_scores",
    "from_row_before",
    "late_checks",
    "numbered_rows",
    "sweep_at",
    "sweep_table",
    "without_intermediate",
]

Thresholds: TypeAlias = int | Sequence[Any] | pl.Series | None
_KEPT = f"{RESERVED}kept"
_RUNS = (RUN_POS, RUN_NEG)
_SIZES = {N_POS_EFFECTIVE: POS, N_NEG_EFFECTIVE: NEG}


class Parts(NamedTuple):
    """What the sweep is joined from."""

    rows: pl.LazyFrame
    """By GROUP and falling score: SCORE, RUN_POS, RUN_NEG, START_POS, START_NEG. Of published
    rates, by GROUP and rising fpr: the rates, those before, and recall as RUN_POS."""
    groups: pl.LazyFrame
    """By GROUP: the `by` columns, POS_BEFORE, NEG_BEFORE, and N_POS and N_NEG, null if zero."""


def sweep_table(
    table: Input, *, drop_intermediate: bool = False, thresholds: Thresholds = None
) -> pl.LazyFrame:
    """`by`, then the columns of SWEEP."""
    frame = sweep_at(None, table, drop_intermediate=drop_intermediate, thresholds=thresholds)
    return frame.select(*table.by, *SWEEP)


def sweep_at(
    grid: Grid | None,
    table: Input,
    *,
    drop_intermediate: bool = False,
    thresholds: Thresholds = None,
    effective: bool = False,
) -> pl.LazyFrame:
    """The sweep, repeated at each prevalence of a grid, with eta and its factors beside it.

    And with the `effective` sizes of both classes.
    """
    if drop_intermediate and thresholds is not None:
        raise PrcError("drop_intermediate= and thresholds= both choose rows; pass one of them")
    steps, listed = _read_thresholds(thresholds, table)
    if isinstance(table, ScoreTable):
        rows, groups = _running_sums(table, listed, effective=effective)
    else:
        rows, groups = _points(table)
    if drop_intermediate:
        rows = without_intermediate(rows)
    if grid is None:
        frame = rows.join(groups, on=GROUP, maintain_order="left")
    else:
        groups = at_each_eta(groups, grid, *class_sizes(table))
        if grid.single:
            frame = rows.join(groups, on=GROUP, maintain_order="left")
        else:
            # With the groups on the left, the join itself puts the rows in order.
            frame = groups.join(rows, on=GROUP, maintain_order="left_right")
    frame = _with_counts(table, frame) if isinstance(table, ScoreTable) else _without_counts(frame)
    return frame if steps is None else _at_steps(frame, steps)


def counted(table: Input, *, effective: bool = False, ends_only: bool = False) -> Parts:
    """The sweep of all rows with the internal columns, and the group table, both unchecked.

    For who reads `ends_only`, scores that no positive has may be left out, and with them START_NEG.
    An error ahead of a group_by can lock the streaming engine: what adds up the rows checks
    its result instead, by `checked_last`.
    """
    if isinstance(table, ScoreTable):
        rows, groups = _running_sums(
            table, None, checked=False, effective=effective, ends_only=ends_only
        )
    else:
        rows, groups = _points(table, checked=False)
    groups = groups.cache()
    frame = rows.join(groups, on=GROUP, maintain_order="left")
    if isinstance(table, ScoreTable):
        return Parts(_with_counts(table, frame), groups)
    return Parts(_without_counts(frame), groups)


def checked_last(table: Input, frame: pl.LazyFrame, *others: Check) -> pl.LazyFrame:
    """A table in the order of GROUP that holds its tallies, if all checks hold.

    Each group counts once, by its first row; `others` may read FIRST.
    """
    first = pl.col(GROUP).ne_missing(pl.col(GROUP).shift(1))
    frame = frame.with_columns(first.alias(FIRST))
    once = (pl.when(FIRST).then(name).otherwise(0).alias(name) for name in table.tallies.tests)
    checks = [*table.tallies.checks, *others]
    return frame.with_columns(once).filter(guard(checks) == 0)


def late_checks(table: Input, grid: Grid) -> list[Check]:
    """What `checked_last` is to look at besides tallies."""
    found = every_group_has_eta(grid, pl.col(FIRST))
    if grid.shared:
        found.append(one_prevalence())
    if not isinstance(table, ScoreTable):
        found.append(_falling(pl.when(FIRST).then(FALLS).otherwise(0).sum()))
    return found


def class_sizes(table: Input) -> tuple[pl.Expr, pl.Expr]:
    """Positives and negatives of a group, in its unit; null where rates bring no counts."""
    pos, neg = (count.cast(pl.Float64) * pl.col(UNIT) for count in class_counts(table))
    return pos, neg


def class_counts(table: Input) -> tuple[pl.Expr, pl.Expr]:
    """n_pos and n_neg of the group table as users see them."""
    if not isinstance(table, ScoreTable):
        nothing = pl.lit(None, dtype=pl.Int64)
        return nothing.alias("n_pos"), nothing.alias("n_neg")
    pos = _as_count(table, pl.col(N_POS).fill_null(0))
    neg = _as_count(table, pl.col(N_NEG).fill_null(0), NEG_EXPONENT)
    return pos.alias("n_pos"), neg.alias("n_neg")


def count_scores(table: Input) -> pl.LazyFrame:
    """`by`, then the columns of COUNTS: what each distinct score adds."""
    if not isinstance(table, ScoreTable):
        raise PrcError("rates= holds no counts; counts() needs scores and labels")
    rows, groups = _running_sums(table, None)
    added = rows.with_columns(
        (pl.col(run) - pl.col(start)).alias(run)
        for run, start in ((RUN_POS, START_POS), (RUN_NEG, START_NEG))
    )
    frame = added.join(groups, on=GROUP, maintain_order="left")
    sums = (_as_count(table, pl.col(RUN_POS)), _as_count(table, pl.col(RUN_NEG), NEG_EXPONENT))
    return frame.select(
        *table.by, *(e.alias(name) for e, name in zip((pl.col(SCORE), *sums), COUNTS, strict=True))
    )


# Score tables ---------------------------------------------------------------------------------


def _running_sums(
    table: ScoreTable,
    listed: pl.Series | None,
    *,
    checked: bool = True,
    effective: bool = False,
    ends_only: bool = False,
) -> Parts:
    """Sort the rows of all groups at once, and add up."""
    sizes = _SIZES if effective and table.weighted else {}
    groups = _groups(table, _totals(table, sizes)).cache()  # used for the rows, and for what is beside
    if checked and not table.float_sums:
        groups = _checked(table, groups)
    rows = _placed(table, groups)
    if table.float_sums:
        groups = groups.join(
            _float_totals(table, groups, sizes), on=GROUP, how="left", maintain_order="left"
        )
        groups = groups.with_columns(pl.col(N_POS, N_NEG).fill_null(0))
        # Checked last: an error ahead of a group_by can lock the streaming engine.
        groups = _checked(table, groups) if checked else groups
    marks = None if listed is None else _marks(groups, listed)
    ordered = in_order(rows, table.score_dtype, labelled=table.labelled, marks=marks)
    if ends_only and ordered.negatives_first:
        running = _at_positives(ordered)
    else:
        running = _at_scores(ordered, ordered.last if marks is None else ordered.mark)
    before = [
        (pl.col(total).cum_sum() - pl.col(total)).alias(name)
        for total, name in ((N_POS, POS_BEFORE), (N_NEG, NEG_BEFORE))
    ]
    # A class without rows: a rate over null is null, at no cost per row.
    or_null = [pl.when(pl.col(total) > 0).then(total) for total in (N_POS, N_NEG)]
    unit: pl.Expr = pl.lit(1.0)
    if effective and not sizes:
        totals = zip(_SIZES, (N_POS, N_NEG), strict=True)
        before += [pl.col(total).cast(pl.Float64).alias(name) for name, total in totals]
    if table.float_sums:
        unit = exact.unit(pl.min_horizontal(POS_EXPONENT, NEG_EXPONENT))
    groups = groups.with_columns(*before, *or_null, unit.alias(UNIT))
    return Parts(running, groups)


def _at_scores(ordered: Ordered, kept: pl.Expr) -> pl.LazyFrame:
    """The sums at the rows `kept`, and at the row before it."""
    sums = ordered.pos.cum_sum().alias(RUN_POS), ordered.neg.cum_sum().alias(RUN_NEG)
    running = ordered.frame.select(*ordered.columns, *sums, kept.alias(_KEPT))
    return _decoded(ordered, running, pl.col(RUN_NEG).shift(1, fill_value=0))


def _at_positives(ordered: Ordered) -> pl.LazyFrame:
    """The same at the scores of positives, START_NEG null; nothing is added up, or held for it.

    The number of a row is that of the negatives before it and, counted later, of the positives.
    """
    positives = ordered.frame.with_row_index(RUN_NEG).filter(ordered.pos > 0).with_row_index(RUN_POS)
    before = pl.col(RUN_POS).cast(pl.Int64)
    sums = (before + 1).alias(RUN_POS), (pl.col(RUN_NEG).cast(pl.Int64) - before).alias(RUN_NEG)
    running = positives.select(*ordered.columns, *sums, ordered.last.alias(_KEPT))
    return _decoded(ordered, running, pl.lit(None, dtype=pl.Int64))


def _decoded(ordered: Ordered, running: pl.LazyFrame, start_neg: pl.Expr) -> pl.LazyFrame:
    """The kept rows by group and score."""
    start_pos = pl.col(RUN_POS).shift(1, fill_value=0)
    # Ahead of what is decoded, so that a filter on these is moved there.
    running = running.filter(_KEPT).with_columns(start_pos.alias(START_POS), start_neg.alias(START_NEG))
    group, threshold = ordered.group.alias(GROUP), ordered.threshold.alias(SCORE)
    return running.select(group, threshold, *_RUNS, START_POS, START_NEG)


def _float_totals(table: ScoreTable, groups: pl.LazyFrame, sizes: Mapping[str, str]) -> pl.LazyFrame:
    """Per group both totals of weights, and the effective `sizes`, now that exponents are known."""
    # Rows of their own, without scores: shared ones would be held in memory for both uses.
    amounts = _placed(table, groups, without=SCORE).group_by(GROUP)
    return amounts.agg(
        pl.col(POS).sum().alias(N_POS),
        pl.col(NEG).sum().alias(N_NEG),
        *(exact.effective_size(pl.col(of), scaled=True).alias(name) for name, of in sizes.items()),
    )


def _totals(table: ScoreTable, sizes: Mapping[str, str]) -> list[pl.Expr]:
    """Per group: both totals; or, for sums of floats, the exponents that they will need."""
    if table.labelled:
        n_pos = table.columns[LABEL].cast(pl.Int64).sum()
        return [n_pos.alias(N_POS), (pl.len().cast(pl.Int64) - n_pos).alias(N_NEG)]
    pos, neg = table.columns[POS], table.columns[NEG]
    if table.float_sums:
        largest = ((pos.max(), POS_EXPONENT), (neg.max(), NEG_EXPONENT))
        return [exact.exponent(value).alias(name) for value, name in largest]
    effective = (
        exact.effective_size(table.columns[of], scaled=False).alias(name) for name, of in sizes.items()
    )
    return [pos.sum().alias(N_POS), neg.sum().alias(N_NEG), *effective]


def _groups(table: Input, aggregates: Iterable[pl.Expr]) -> pl.LazyFrame:
    """One row per group in the order of `by`, with the tallies that `_checked` reads."""
    groups = table.grouped(aggregates)
    if table.number is not None:
        return groups.with_columns(table.number.alias(GROUP))
    return groups.with_row_index(GROUP).with_columns(pl.col(GROUP).cast(pl.UInt32))


def _numbered(table: Input, rows: pl.LazyFrame, groups: pl.LazyFrame, *values: str) -> pl.LazyFrame:
    """Rows with the number of their group, and values from the group table."""
    if table.number is None:
        return join_groups(rows, groups.select(*table.by, GROUP, *values), table.by)
    rows = rows.with_columns(table.number.alias(GROUP))
    return rows.join(groups.select(GROUP, *values), on=GROUP) if values else rows


def numbered_rows(table: ScoreTable, groups: pl.LazyFrame) -> pl.LazyFrame:
    """The rows that count, with the number of their group, equal scores alike, amounts as floats."""
    rows = _numbered(table, table.rows, groups)
    if table.labelled:
        amounts = {POS: pl.col(LABEL), NEG: ~pl.col(LABEL)}
    else:
        amounts = {POS: pl.col(POS), NEG: pl.col(NEG)}
    rows = rows.with_columns(amount.cast(pl.Float64).alias(name) for name, amount in amounts.items())
    rows = rows.filter((pl.col(POS) > 0) | (pl.col(NEG) > 0))
    if table.score_dtype.is_float():
        rows = rows.with_columns(exact.one_zero(pl.col(SCORE)).alias(SCORE))
    return rows


def _checked(table: Input, groups: pl.LazyFrame, *others: Check) -> pl.LazyFrame:
    """The group table, if all checks over the whole table hold; else the query stops.

    Every result is joined with this table, so that no check can be optimized away.
    """
    checks = [*table.tallies.checks, *others]
    return groups.filter(guard(checks) == 0).drop(*table.tallies.tests)


def _placed(table: ScoreTable, groups: pl.LazyFrame, *, without: str = "") -> pl.LazyFrame:
    """The rows with the number of their group; amounts as integers, and none that is zero."""
    rows = table.rows.select(pl.exclude(without)) if without else table.rows
    exponents = {POS: POS_EXPONENT, NEG: NEG_EXPONENT} if table.float_sums else {}
    rows = _numbered(table, rows, groups, *exponents.values())
    if table.labelled:
        return rows
    rows = rows.filter((pl.col(POS) != 0) | (pl.col(NEG) != 0))
    whole = (exact.to_integer(pl.col(name), pl.col(power)) for name, power in exponents.items())
    return rows.with_columns(whole)


def _marks(groups: pl.LazyFrame, listed: pl.Series) -> pl.LazyFrame:
    """A row without amounts for every group and asked-for threshold."""
    nothing = pl.lit(0, dtype=pl.Int128)
    asked = pl.LazyFrame({SCORE: listed}).with_columns(nothing.alias(POS), nothing.alias(NEG))
    counted = groups.filter((pl.col(N_POS) > 0) | (pl.col(N_NEG) > 0))
    return counted.select(GROUP).join(asked, how="cross")


def _with_counts(table: ScoreTable, frame: pl.LazyFrame) -> pl.LazyFrame:
    """Subtract what came before the group; the rates are of counts, so recall ends at 1."""
    tp, fp = pl.col(RUN_POS) - pl.col(POS_BEFORE), pl.col(RUN_NEG) - pl.col(NEG_BEFORE)
    fn, tn = pl.col(N_POS) - tp, pl.col(N_NEG) - fp
    # The joined total of a single group may be held as one number, and Polars multiplies by the
    # reciprocal of a number: 49 * (1 / 49) is not 1. A sum of columns is a column.
    of_pos = {"tp": tp, "fn": fn, N_POS: tp + fn, RECALL_BEFORE: pl.col(START_POS) - pl.col(POS_BEFORE)}
    of_neg = {"fp": fp, "tn": tn, N_NEG: fp + tn, FPR_BEFORE: pl.col(START_NEG) - pl.col(NEG_BEFORE)}
    counted = frame.with_columns(
        pl.col(SCORE).alias("threshold"),
        *(_as_count(table, value).alias(name) for name, value in of_pos.items()),
        *(_as_count(table, value, NEG_EXPONENT).alias(name) for name, value in of_neg.items()),
    )
    return counted.with_columns(
        pl.col("fn", "tn").fill_null(0),
        (pl.col("tp") / pl.col(N_POS)).alias("recall"),
        (pl.col("fp") / pl.col(N_NEG)).alias("fpr"),
        pl.col(RECALL_BEFORE) / pl.col(N_POS),
        pl.col(FPR_BEFORE) / pl.col(N_NEG),
    )


def _as_count(table: ScoreTable, value: pl.Expr, exponent: str = POS_EXPONENT) -> pl.Expr:
    """From the integers of the running sums to what users see."""
    if table.float_sums:
        return exact.from_integer(value, pl.col(exponent))
    return value.cast(table.count_dtype)


# Published rates ------------------------------------------------------------------------------


def _points(table: Input, *, checked: bool = True) -> Parts:
    """The points of each group by rising fpr, then rising recall."""
    groups = _groups(table, []).with_columns(pl.lit(1.0).alias(UNIT))
    rows = from_row_before(_numbered(table, table.rows, groups).select(GROUP, "recall", "fpr"))
    rows = rows.with_columns(pl.col("recall").alias(RUN_POS))
    falls = pl.col("recall") < pl.col(RECALL_BEFORE)
    count = rows.select(GROUP, falls.alias(FALLS)).group_by(GROUP).agg(pl.col(FALLS).sum())
    groups = groups.join(count, on=GROUP, how="left", maintain_order="left")
    if checked:  # after the group_by, as with weights
        groups = _checked(table, groups, _falling(pl.col(FALLS).sum())).drop(FALLS)
    return Parts(rows, groups)


def from_row_before(points: pl.LazyFrame) -> pl.LazyFrame:
    """ROC points in the order of the curve, each with the one before it, first the origin."""
    points = points.sort(GROUP, "fpr", "recall")
    same = pl.col(GROUP) == pl.col(GROUP).shift(1)
    starts = {RECALL_BEFORE: "recall", FPR_BEFORE: "fpr"}
    return points.with_columns(
        pl.when(same).then(pl.col(end).shift(1)).otherwise(0.0).alias(start)
        for start, end in starts.items()
    )


def _falling(falls: pl.Expr) -> Check:
    """That recall does not fall while fpr rises, by the number of points at which it does."""
    text = sentence("rates= holds ", falls.cast(pl.String), " points whose tpr falls while fpr rises")
    return Check(falls > 0, text)


def _without_counts(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Rates come without thresholds and counts: null."""
    return frame.with_columns(
        pl.lit(None, dtype=pl.Float64).alias("threshold"),
        *(pl.lit(None, dtype=pl.Int64).alias(name) for name in ("tp", "fp", "fn", "tn")),
    )


# Choosing rows --------------------------------------------------------------------------------


def without_intermediate(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Leave out the inside of runs of negatives: rows whose neighbours have the same recall."""
    group, run = pl.col(GROUP), pl.col(RUN_POS)
    above = group.ne_missing(group.shift(1)) | (run != run.shift(1))
    below = group.ne_missing(group.shift(-1)) | (run != run.shift(-1))
    return rows.filter(above | below)


def _at_steps(frame: pl.LazyFrame, steps: int) -> pl.LazyFrame:
    """Keep the rows at which recall first reaches a further one of 1/steps, 2/steps, ..., 1."""

    def reached(recall: pl.Expr) -> pl.Expr:
        # The product may round across a step, so both neighbours are compared as k / steps,
        # with a column below: Polars multiplies by the reciprocal of a number.
        step = (recall * steps).floor()
        divisor = step * 0 + steps
        over = (recall < step / divisor).cast(pl.Int64)
        return step - over + (recall >= (step + 1) / divisor).cast(pl.Int64)

    return frame.filter(reached(pl.col("recall")) > reached(pl.col(RECALL_BEFORE)))


def _read_thresholds(thresholds: Thresholds, table: Input) -> tuple[int | None, pl.Series | None]:
    """A number of recall steps, or the listed thresholds in the dtype of the score."""
    if thresholds is None:
        return None, None
    if isinstance(thresholds, int) and not isinstance(thresholds, bool):
        if thresholds < 1:
            raise PrcError(f"thresholds= as a number of recall steps is at least 1; got {thresholds}")
        return thresholds, None
    if not isinstance(table, ScoreTable):
        raise PrcError(
            "rates= has no thresholds to look up; pass thresholds= as a number of recall steps"
        )
    if isinstance(thresholds, str) or not isinstance(thresholds, Iterable):
        raise PrcError(f"thresholds= takes a whole number or a list of scores; got {thresholds!r}")
    return None, exact_scores("thresholds", list(thresholds), table.score_dtype).unique()


def exact_scores(argument: str, given: list[Any], dtype: pl.DataType) -> pl.Series:
    """Thresholds in the dtype of the score, if they are values of it."""
    for value in given:
        if not _is_exactly(value, dtype):
            raise PrcError(
                f"{argument}= holds {value!r}, which is not a value of the score's dtype {dtype}; "
                "a threshold is compared exactly, so pass one that is"
            )
    return pl.Series(given, dtype=dtype)


def _is_exactly(value: Any, dtype: pl.DataType) -> bool:
    try:
        held = pl.Series([value], dtype=dtype).item()
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return False
    return held is not None and bool(held == value)  # NaN equals nothing, itself included
