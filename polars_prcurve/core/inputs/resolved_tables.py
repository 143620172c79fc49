"""The one shape of every input: rows with a score, each of which adds to two sums.

A row with a label adds 1 to the positives or to the negatives of its group. A weighted row adds its
weight, and a row of counts adds to both sums. Published points are no rows of examples: they are ROC
points, with or without counts, in a `RateTable`.

Checks of values cannot be made before the query runs. They are written down over *tallies*, row-wise
tests that are summed in the table of groups, and are read there by a guard.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

import polars as pl

from polars_prcurve.core.ground import column_checks
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.query_guards import Check, run_query, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.inputs.sample_kinds import IN_PARTS, INDEPENDENT, SampleKind, find_sample_kind

_LEN = f"{RESERVED}len"  # the number of rows of a group, or of equal scores


@dataclass(eq=False)
class Tallies:
    """Row-wise tests, and the checks of their sums."""

    test_exprs: dict[str, pl.Expr] = field(default_factory=dict)
    """Boolean or integer expressions over rows, by the names of their sums in the table of groups."""
    checks: list[Check] = field(default_factory=list)  # checks over the table of groups
    n_score_tests: int = 0  # the number of tests, the first ones, that read the score alone

    def count(
        self, test_expr: pl.Expr, subset_expr: pl.Expr | None = None, *, is_per_group: bool = False
    ) -> pl.Expr:
        """Add a test of rows, or of a subset of them; return the number that satisfy it.

        That is a number of the whole table, or a column of the table of groups.
        """
        tally_name = f"{RESERVED}tally_{len(self.test_exprs)}"
        self.test_exprs[tally_name] = test_expr if subset_expr is None else test_expr & subset_expr
        return pl.col(tally_name) if is_per_group else pl.col(tally_name).sum()

    def list_sums(self) -> list[pl.Expr]:
        """Return the sums of tests over rows, by their names; those of counts fit into an Int128."""
        return [test.sum().cast(pl.Int128).alias(name) for name, test in self.test_exprs.items()]

    @property
    def is_broken(self) -> pl.Expr:
        """Whether a check fails, over the sums of a group or of some."""
        return pl.any_horizontal(False, *(check.is_broken.any() for check in self.checks))


TOTALS = (Group.N_POS, Group.POS_BELOW, Group.N_NEG, Group.NEG_BELOW)
"""What a group table holds of each class: all examples, and those of them that were never scored."""

MANY = 10**9
"""Stands for a number of negatives that is not known, of which no result depends: where there are many,
false positives are as random as Poisson's numbers, whatever their share."""


class NeverScored(NamedTuple):
    """The examples below all scores; see `inputs.never_scored`."""

    n_pos: int = 0
    n_neg: int = 0  # numbers that each group of the table has
    group_rows: pl.LazyFrame | None = None
    """One row per group that has some: the `by` columns and TOTALS."""
    has_rows: bool = False  # whether rows of the table without a score are among them


@dataclass(frozen=True, eq=False)
class KeptCounts:
    """The rows of a table that is called again, and what was counted of them, by the request."""

    rows: pl.LazyFrame
    results: dict[Hashable, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class ResolvedTable:
    """The table of the user, and what its columns mean."""

    frame: pl.LazyFrame
    by: dict[str, pl.DataType]
    """The names and dtypes of the group columns; the last one is Row.MODEL where models are compared."""
    by_exprs: list[pl.Expr]  # the group columns, as expressions over `frame`
    columns: dict[str, pl.Expr]  # the other columns, by internal names, as expressions over `frame`
    tallies: Tallies
    schema: pl.Schema  # the columns of `frame`, whether used or not
    may_collect: bool
    """Whether queries may be run half way: the user gave a DataFrame, or the method collects anyway."""
    row_counts: pl.LazyFrame | None
    """A query for the numbers of rows of the user's table and of those kept; None if all are kept."""
    n_rows: int | None = None
    """The rows of the user's table; None for a LazyFrame."""
    model_column: str = ""  # what users call the column Row.MODEL
    unscored: NeverScored | None = None
    """The examples below all scores; None if there are none."""
    counts_negatives: bool = True
    """Whether it is known how many negatives there are; otherwise only those with a score are."""
    score_dtype: pl.DataType | None = None
    """The dtype of Row.SCORE, which thresholds have, too; None if they are not known."""
    count_dtype: pl.DataType | None = None
    """The dtype of tp, fp, fn and tn in results: Int64, or Float64 with weights and from rates of known
    sizes; None without counts."""
    has_cells: bool = True
    """Whether metrics are computed from the four counts of a row, and not from its rates."""
    counts: KeptCounts | None = None
    """What was counted of these rows, or of those that this table was made from, if that is kept."""
    name_by_inner: Mapping[str, str] = field(default_factory=dict)
    """The names that columns of the result get back at the end; see `binding.group_renaming`."""

    @property
    def kept_counts(self) -> dict[Hashable, Any] | None:
        """What was counted of these very rows, by the request; None of a table that keeps none."""
        has_own_rows = self.counts is not None and self.counts.rows is self.frame
        return self.counts.results if self.counts is not None and has_own_rows else None

    @property
    def is_in_memory(self) -> bool:
        """Whether the user gave a DataFrame, so that a second pass over it costs little."""
        return self.n_rows is not None

    @cached_property
    def sample(self) -> SampleKind:
        """How the examples were drawn."""
        return INDEPENDENT

    @property
    def has_counts(self) -> bool:
        """Whether the numbers of examples in each group are known."""
        return self.count_dtype is not None

    def collect(self, query: pl.LazyFrame, purpose: str, *, n_etas: int | None = None) -> pl.DataFrame:
        """Run a query half way, where Polars has no expression; raise if the user gave a LazyFrame.

        `purpose` names in the message what needs the values. It may be faster if `n_etas` is known,
        how many rows of the query represent one of the table.
        """
        if not self.may_collect:
            raise PrcError(
                f"call .collect() first, on the table or on its .prc.counts(): {purpose} needs a "
                "DataFrame"
            )
        n_rows = None if self.n_rows is None or n_etas is None else self.n_rows * n_etas
        return run_query(query, n_rows)

    def require_example_counts(self, argument_name: str = "confidence=") -> ResolvedTable:
        """Return the table; raise if it does not have the number of examples, for an argument."""
        raise NotImplementedError(argument_name)

    @property
    def group_columns(self) -> dict[str, pl.DataType]:
        """The names and dtypes of the group columns, without Row.MODEL."""
        return {name: dtype for name, dtype in self.by.items() if name != Row.MODEL}

    @property
    def all_rows(self) -> pl.LazyFrame:
        """The rows to count, and those without a score: group columns and, by internal names, others."""
        return self.frame.select(*self.by_exprs, **self.columns)

    @property
    def rows(self) -> pl.LazyFrame:
        """The rows to count at a score."""
        if self.unscored is None or not self.unscored.has_rows:
            return self.all_rows
        return self.all_rows.filter(pl.col(Row.SCORE).is_not_null())

    def aggregate_groups(self, aggregate_exprs: Iterable[pl.Expr]) -> pl.LazyFrame:
        """Return one row per group, in order: aggregates over `frame`, tallies, rows of `below=`."""
        # Over `frame` and not over `rows`: Polars would compute the columns of `rows`, and hold them in
        # memory for both uses.
        test_sum_exprs = self.tallies.list_sums()
        if self.by:
            groups = self.frame.group_by(*self.by_exprs).agg(*aggregate_exprs, *test_sum_exprs)
            groups = groups.sort(*self.by)
        else:  # a select makes one row of an empty table, which has no group
            total_row = self.frame.select(*aggregate_exprs, *test_sum_exprs, pl.len().alias(_LEN))
            groups = total_row.filter(pl.col(_LEN) > 0).drop(_LEN)
        if self.unscored is None or self.unscored.group_rows is None:
            return groups
        unscored_rows = self.unscored.group_rows.select(
            *self.by, *(name for name in TOTALS if name in groups.collect_schema())
        )
        partial_groups = pl.concat([groups, unscored_rows], how="diagonal_relaxed")
        if not self.by:
            return partial_groups.sum()
        return partial_groups.group_by(*self.by).agg(pl.exclude(*self.by).sum()).sort(*self.by)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreTable(ResolvedTable):
    """A table of scores, with the columns Row.SCORE and either Row.LABEL or both Row.POS and Row.NEG.

    With Row.LABEL each row is one example, without a weight.
    """

    score_dtype: pl.DataType
    count_dtype: pl.DataType
    has_float_sums: bool  # whether Row.POS and Row.NEG are Float64; otherwise they are Int128
    is_weighted: bool  # whether each row is one example with a weight
    within: tuple[str, ...] = ()
    """The last group columns, if they distinguish the parts of a field."""
    parts: FieldParts | None = None
    """The parts of the field that each group is, if it is one; its rows are weighted then."""

    def keep_counts(self) -> ScoreTable:
        """Return the table, checked now, which keeps what is counted of it for further questions."""
        if self.parts is None:
            run_query(stop_if_broken(self.aggregate_groups([]), self.tallies.checks), self.n_rows)
        return replace(self, tallies=Tallies(), counts=KeptCounts(self.frame))

    @cached_property
    def sample(self) -> SampleKind:
        if self.parts is not None:
            return IN_PARTS
        return find_sample_kind(self.columns, is_weighted=self.has_squares)

    @property
    def has_squares(self) -> bool:
        """Whether sums of squared weights are known, which give the error of a sum of weights."""
        # Those of a field do not: its errors add up over its parts.
        return self.parts is None and (self.is_weighted or Row.POS_SQUARES in self.columns)

    def require_example_counts(self, argument_name: str = "confidence=") -> ScoreTable:
        """Return the table; raise if its sums do not give the number of examples."""
        if self.parts is not None:
            self.parts.table.require_example_counts(argument_name)
        elif self.has_float_sums and not self.has_squares:
            raise PrcError(
                "cast counts= to integers if they are numbers of examples, or add the columns "
                f"n_pos_squares and n_neg_squares for weighted counts: {argument_name} cannot use "
                "floats alone"
            )
        return self

    def aggregate_scores(self) -> ScoreTable:
        """Return the table with one row per group and score, which is faster where scores repeat."""
        # The tests of the score come first, so that made again over the new rows they have their names.
        # All rows of a score satisfy them, or none. The sums of the other tests become columns.
        score_expr, score_tallies = pl.col(Row.SCORE), Tallies()
        if self.tallies.n_score_tests > 0:
            may_have_nan = self.score_dtype.is_float()
            column_checks.missing_checks(score_tallies.count, "", score_expr, refuses_nan=may_have_nan)
        other_test_exprs = {
            name: test_expr
            for name, test_expr in self.tallies.test_exprs.items()
            if name not in score_tallies.test_exprs
        }
        sum_exprs = {
            name: test_expr.sum().cast(pl.Int64) for name, test_expr in other_test_exprs.items()
        }
        sum_exprs[_LEN] = pl.len().cast(pl.Int64)
        sum_exprs[Row.POS] = self.columns[Row.LABEL].cast(pl.Int64).sum()
        rows_by_score = self.frame.group_by(*self.by_exprs, self.columns[Row.SCORE].alias(Row.SCORE))
        # Cached, or else each of the two uses would aggregate again.
        score_rows = rows_by_score.agg(**sum_exprs).cache()
        test_exprs = {
            name: pl.when(test_expr).then(_LEN).otherwise(0)
            for name, test_expr in score_tallies.test_exprs.items()
        }
        test_exprs |= {name: pl.col(name) for name in other_test_exprs}
        n_pos, n_neg = pl.col(Row.POS), pl.col(_LEN) - pl.col(Row.POS)
        amount_exprs = {Row.POS: n_pos.cast(pl.Int128), Row.NEG: n_neg.cast(pl.Int128)}
        return replace(
            self,
            frame=score_rows,
            by_exprs=[pl.col(name) for name in self.by],
            columns={Row.SCORE: score_expr, **amount_exprs},
            tallies=Tallies(test_exprs, self.tallies.checks),
        )


class FieldParts(NamedTuple):
    """The parts of a field, such as countries: their examples, and where they stand in the `field`."""

    table: ScoreTable  # the examples; its groups are the parts
    part_rows: pl.LazyFrame
    """One row per part: its group columns, Part.ETA, Part.SHARE, LIMITS, and N_POS and N_NEG, its
    examples."""
    etas: pl.LazyFrame
    """One row per field: its group columns, FIELD_ETA, and the interval of that if a prevalence is an
    estimate."""
    uncertain_eta: bool  # whether a prevalence is an estimate


def class_amounts(column_exprs: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
    """Return Row.POS and Row.NEG, what a row adds to either class, from the columns of a table."""
    if (label_expr := column_exprs.get(Row.LABEL)) is not None:
        return {Row.POS: label_expr.cast(pl.Int64), Row.NEG: (~label_expr).cast(pl.Int64)}
    return {Row.POS: column_exprs[Row.POS], Row.NEG: column_exprs[Row.NEG]}


def has_unscored(table: ResolvedTable) -> TypeGuard[ScoreTable]:
    """Return whether there may be examples that were never scored."""
    return table.unscored is not None


def is_field(table: ResolvedTable) -> TypeGuard[ScoreTable]:
    """Return whether groups are fields of several parts."""
    return isinstance(table, ScoreTable) and table.parts is not None


def refuse_points(argument_name: str, comparer_phrase: str, other_remedy: str = "") -> PrcError:
    """Return the error for points where models are compared by their examples: which call takes them.

    `argument_name` names the points, and `comparer_phrase` what compares. Another remedy comes first.
    """
    return PrcError(
        f'{other_remedy}call compare(paired=False, metrics="precision") for one point per model, or '
        f"ranking(coarse=True) for several: {comparer_phrase} needs examples, and {argument_name}= "
        "holds points"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RateTable(ResolvedTable):
    """A table of ROC points, with the columns recall and fpr; with counts, also tp, fp, fn and tn."""

    has_cells: bool = False  # whether the user named the counts of points, and not their rates

    @property
    def argument(self) -> str:
        """The argument that names the points."""
        return "cells" if self.has_cells else "rates"

    @property
    def may_lack_sizes(self) -> bool:
        """Whether the numbers of examples may be known of some groups alone."""
        return self.has_counts and not self.has_cells

    def require_example_counts(self, argument_name: str = "confidence=") -> RateTable:
        """Return the table; raise if it does not have the number of examples."""
        if not self.has_counts:
            raise PrcError(
                f'pass sizes=("n_pos", "n_neg"), or n_pos= and n_neg= to from_rates: {argument_name} '
                "needs numbers of examples, and rates= holds none"
            )
        return self


def breaks_checks(table: ResolvedTable) -> bool:
    """Return whether a check fails over the sums of all rows of a table in memory."""
    if not table.tallies.checks:
        return False
    broken_query = table.frame.select(table.tallies.list_sums()).select(table.tallies.is_broken)
    return bool(table.collect(broken_query, "", n_etas=0).item())


def read_score_dtype(table: ResolvedTable) -> pl.DataType | None:
    """Return the dtype of thresholds; None if the table has none, and raise if they could be named."""
    if isinstance(table, RateTable) and table.has_cells and table.score_dtype is None:
        raise PrcError(
            "pass score=, or recall= or fpr=: threshold= finds nothing, because the table of "
            "cells= has no thresholds"
        )
    return table.score_dtype
