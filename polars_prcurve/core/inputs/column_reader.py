"""Columns as users name them, resolved and typed at the call, before any query runs.

`ColumnReader` looks up one column after the other. It raises for what names and dtypes show, and notes
a check for what only values show. `build_table_fields` returns what every kind of `ResolvedTable` has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import polars as pl

from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground import column_checks
from polars_prcurve.core.ground.argument_checks import select_column
from polars_prcurve.core.ground.column_checks import DtypeRule
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import join_groups
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.name_hints import suggest_names
from polars_prcurve.core.ground.query_guards import Check
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.visible_names import shorten_name
from polars_prcurve.core.inputs.resolved_tables import Tallies
from polars_prcurve.core.inputs.row_column_names import Row

Column: TypeAlias = str | pl.Expr  # a column as users pass it: its name, or an expression

Columns: TypeAlias = Column | Sequence[Column] | None  # one column, several or none, as of by=
Counts: TypeAlias = tuple[Column, Column] | tuple[Column, Column, Column, Column]
"""Numbers of positives and of negatives, and the sums of their squares if they are of weights."""
TypedExpr: TypeAlias = tuple[pl.Expr, pl.DataType]  # what to compute, and what it will be

Missing: TypeAlias = Literal["raise", "drop", "below"]
"""What becomes of nulls and NaN: an error, or rows left out; null scores may lie below all others."""
MISSING = get_args(Missing)
"""The words that missing= takes."""

Below: TypeAlias = tuple[int, int | None] | pl.DataFrame | pl.LazyFrame
"""Positives and negatives that were never scored: two numbers, or a frame with a row per group."""

MakeChecks: TypeAlias = Callable[..., list[Check]]
"""What makes checks of a column, such as a `ValueRule`."""
_MOST_NAMES = 5  # of score columns in a message

_EXPECTED_TEXT = "a column name or an expression"  # what errors write for other values
_IS_INCOMPLETE = f"{RESERVED}incomplete"  # true for examples with a missing value, null for others


class TypedColumn(NamedTuple):
    """A column of a table: how to compute it, its dtype, and its name."""

    expr: pl.Expr
    dtype: pl.DataType
    name: str
    subject_phrase: str  # what error messages call the column, such as `score column 'p'`


def list_columns(argument_name: str, names_or_exprs: Columns) -> list[Column]:
    """Return the columns of `by=` or `id=` as a list, which is empty for None."""
    if names_or_exprs is None:
        return []
    return arguments.read_list(
        argument_name,
        names_or_exprs,
        f"{_EXPECTED_TEXT}, or a list of these",
        single_type=(str, pl.Expr),
    )


def list_known_columns(names_or_exprs: Columns, user_table: pl.DataFrame | pl.LazyFrame) -> list[Column]:
    """Return those columns of `by=` that a frame has, or can compute."""
    column_names = set(user_table.lazy().collect_schema())
    return [
        name_or_expr
        for name_or_expr in list_columns("by=", names_or_exprs)
        if ({name_or_expr} if isinstance(name_or_expr, str) else set(name_or_expr.meta.root_names()))
        <= column_names
    ]


def read_expression(subject_phrase: str, name_or_expr: Any) -> pl.Expr:
    """Return the expression of one column, in a context whose schema is not known yet."""
    if isinstance(name_or_expr, str):
        return select_column(arguments.read_name(subject_phrase, name_or_expr))
    if not isinstance(name_or_expr, pl.Expr):
        raise arguments.refuse_kind(subject_phrase, _EXPECTED_TEXT, name_or_expr)
    # Polars would spread several columns over the arguments of one sort or one struct.
    if name_or_expr.meta.has_multiple_outputs():
        raise PrcError(
            f"write one expression for each column: {subject_phrase} takes one, and {name_or_expr} may "
            "match several"
        )
    return name_or_expr


def describe_expression(argument_name: str, expr: pl.Expr) -> str:
    """Return what error messages call an expression, such as `score column 'p'`."""
    return f"{argument_name} column {expr.meta.output_name()!r}"


def refuse_reserved_names(user_table: pl.DataFrame | pl.LazyFrame) -> None:
    """Raise if a column of a user's table has the name of an internal one."""
    # A schema of a thousand columns takes a millisecond to build.
    is_data_frame = isinstance(user_table, pl.DataFrame)
    column_names = user_table.columns if is_data_frame else user_table.collect_schema().names()
    if reserved_names := [name for name in column_names if name.startswith(RESERVED)]:
        raise PrcError(
            f"rename or drop the column {reserved_names[0]!r} of the table: names that start "
            f"with {RESERVED!r} are reserved"
        )


class ColumnReader:
    """Looks up columns in one table, and collects the checks of their values.

    `user_table` is given if `input_rows` are another table, that was made from it. A long one, of a wide
    table with the columns `wide_score_names`, has each row of the user once for each of these.
    """

    def __init__(
        self,
        input_rows: pl.DataFrame | pl.LazyFrame,
        missing: Missing,
        *,
        may_collect: bool,
        user_table: pl.DataFrame | pl.LazyFrame | None = None,
        wide_score_names: Sequence[str] = (),
    ) -> None:
        self.input_rows = input_rows.lazy()
        self.user_table = input_rows if user_table is None else user_table
        self.may_collect = may_collect
        self.schema = self.input_rows.collect_schema()
        self.tallies = Tallies()
        self.wide_score_names = wide_score_names
        self.drops_incomplete = arguments.read_choice("missing=", missing, MISSING) == "drop"
        self.lets_null_scores = missing == "below"
        self.by: dict[str, pl.DataType] = {}
        self.by_exprs: list[pl.Expr] = []
        self.missing_test_exprs: list[pl.Expr] = []
        self.stopping_test_exprs: list[pl.Expr] = []
        """As `missing_test_exprs`, but without those of scores, which missing="below" ranks last."""
        self.example_key_exprs: list[pl.Expr] = []
        """What rows of one example share, where an example is left out as a whole."""

    def read_column(self, argument_name: str, name_or_expr: Column | None) -> TypedColumn:
        """Return one column; raise if it is not in the table, or if there are several."""
        expr = self.read_expr(argument_name, name_or_expr)
        if isinstance(name_or_expr, str):
            name, dtype = name_or_expr, self.schema[name_or_expr]
        elif expr.meta.is_regex_projection():
            raise PrcError(
                f"pass the plain name as {argument_name}=, which is taken literally: Polars reads "
                f"{name_or_expr} as a pattern"
            )
        else:
            dtype_by_name = self.read_dtypes(argument_name, [expr])
            if len(dtype_by_name) != 1:
                found_names_text = ", ".join(map(repr, list(dtype_by_name)[:5]))
                found_names_text += ", ..." if len(dtype_by_name) > 5 else ""
                raise PrcError(
                    f"{argument_name}= must be one column; got {len(dtype_by_name)}: {found_names_text}"
                )
            [(name, dtype)] = dtype_by_name.items()
        if dtype == pl.Object:
            arguments.refuse_objects(f"{argument_name}=", {name: dtype})
        return TypedColumn(expr, dtype, name, f"{argument_name} column {name!r}")

    def read_expr(self, argument_name: str, name_or_expr: Any) -> pl.Expr:
        """Return the column as an expression; raise if it reads a column that is not in the table."""
        if not isinstance(name_or_expr, str | pl.Expr):
            raise arguments.refuse_kind(f"{argument_name}=", _EXPECTED_TEXT, name_or_expr)
        for name in [name_or_expr] if isinstance(name_or_expr, str) else name_or_expr.meta.root_names():
            if name not in self.schema:
                arguments.read_name(f"{argument_name}=", name)
                user_column_names = self.user_table.lazy().collect_schema()
                name_text = repr(shorten_name(name))
                if name in user_column_names:  # a score column of a wide table, which is stacked by now
                    raise PrcError(
                        f"leave {name_text} out of score= or out of {argument_name}=: one column cannot "
                        "be both"
                    )
                if argument_name == name == "model":  # nobody named one
                    raise PrcError(
                        "pass the columns of two or more models as score=[...], or model=, the column "
                        "that names the models: there is no column 'model'"
                    )
                hint = suggest_names(name, user_column_names)
                raise PrcError(f"there is no column {name_text} for {argument_name}=; {hint}")
        return select_column(name_or_expr) if isinstance(name_or_expr, str) else name_or_expr

    def read_dtypes(self, argument_name: str, exprs: Sequence[pl.Expr]) -> dict[str, pl.DataType]:
        """Return the names and dtypes of what expressions make of the table."""
        try:
            return dict(self.input_rows.select(exprs).collect_schema())
        except pl.exceptions.PolarsError as error:
            first_error_line = str(error).partition("\n")[0]  # below it Polars prints the plan
            raise PrcError(f"{argument_name}= does not fit the table: {first_error_line}") from error

    def read_by(self, names_or_exprs: Columns, argument_name: str = "by") -> dict[str, pl.DataType]:
        """Add group columns, and return their dtypes."""
        group_exprs = [
            self.read_expr(argument_name, name_or_expr)
            for name_or_expr in list_columns(f"{argument_name}=", names_or_exprs)
        ]
        if len(group_exprs) > 1:
            group_names = [expr.meta.output_name(raise_if_undetermined=False) for expr in group_exprs]
            for name in filter(None, arguments.find_repeats(group_names)):
                raise PrcError(f"name the column {name!r} only once in {argument_name}=")
        dtype_by_name = self.read_dtypes(argument_name, group_exprs) if group_exprs else {}
        for name, dtype in dtype_by_name.items():
            advice_phrase = f"rename the column {name!r} of {argument_name}="
            if name.startswith(RESERVED):
                raise PrcError(f"{advice_phrase}: names that start with {RESERVED!r} are reserved")
            if arguments.is_pattern(name):
                raise PrcError(f"{advice_phrase}: Polars reads it as a pattern")
            if dtype in (pl.Object, pl.Unknown):
                raise PrcError(f"cast the column {name!r} of {argument_name}=: {dtype} cannot be sorted")
        if repeated_names := [name for name in dtype_by_name if name in self.by]:
            raise PrcError(
                f"name the column {repeated_names[0]!r} in by= or in {argument_name}=, not in both"
            )
        self.by_exprs += group_exprs
        self.by |= dtype_by_name
        return dtype_by_name

    def check(self, make_checks: MakeChecks, subject_phrase: str, *checked_values: Any) -> None:
        """Add checks of values, which `column_checks` makes over the sums of `tallies`."""
        n_copies_of_rows = len(self.wide_score_names)
        self.tallies.checks += make_checks(
            (lambda test: self.tallies.count(test) // n_copies_of_rows)
            if n_copies_of_rows
            else self.tallies.count,
            subject_phrase,
            *checked_values,
        )

    def check_scores(
        self, make_checks: MakeChecks, typed_score_column: TypedColumn, score_expr: pl.Expr
    ) -> None:
        """Add checks of scores, which name the columns that the user's table has them in."""
        if len(self.wide_score_names) < 2:
            self.tallies.checks += make_checks(
                self.tallies.count, typed_score_column.subject_phrase, score_expr
            )
            return
        quoted_names = list(map(repr, self.wide_score_names))
        names_text = join_words(
            quoted_names if len(quoted_names) <= _MOST_NAMES else [*quoted_names[:_MOST_NAMES], "others"]
        )
        # A row may lack several scores, so these are counted.
        for check in make_checks(self.tallies.count, f"a score of the columns {names_text}", score_expr):
            sentence_parts = check.sentence_parts
            changed_parts = (
                part.replace("row(s)", "place(s)") if isinstance(part, str) else part
                for part in sentence_parts
            )
            self.tallies.checks.append(check._replace(sentence_parts=tuple(changed_parts)))

    def read_values(
        self, argument_name: str, name_or_expr: Column, dtype_rule: DtypeRule | None = None
    ) -> TypedColumn:
        """Return one column of a dtype that `dtype_rule` allows, of which no value may be missing."""
        typed_column = self.read_column(argument_name, name_or_expr)
        if dtype_rule is not None:
            dtype_rule.require(typed_column.subject_phrase, typed_column.dtype)
        self.handle_missing(typed_column)
        return typed_column

    def handle_missing(
        self, typed_column: TypedColumn, model_names: Sequence[str] = (), *, is_score: bool = False
    ) -> None:
        """Add a check that no value is null or NaN; with missing="drop", leave such rows out instead.

        `model_names` are those of a wide table whose models are compared: each has a check of its own.
        """
        if self.drops_incomplete:
            is_value_missing = column_checks.is_missing(typed_column.expr, typed_column.dtype)
            self.missing_test_exprs.append(is_value_missing)
            if not is_score:
                self.stopping_test_exprs.append(is_value_missing)
            return
        make_checks = partial(
            column_checks.missing_checks,
            refuses_nan=typed_column.dtype.is_float(),
            may_rank_last=is_score,
        )
        if not is_score:
            self.check(make_checks, typed_column.subject_phrase, typed_column.expr)
        elif not model_names:
            self.check_scores(make_checks, typed_column, typed_column.expr)
        for model_name in model_names:
            count_rows = partial(self.tallies.count, subset_expr=pl.col(Row.MODEL) == model_name)
            self.tallies.checks += make_checks(
                count_rows, f"score column {model_name!r}", typed_column.expr
            )

    def _count_rows(
        self, complete_rows: pl.LazyFrame, column_exprs: Mapping[str, pl.Expr]
    ) -> pl.LazyFrame:
        """Return the numbers of all rows and of those kept, and of the positives of both.

        Of all rows also those without a score are counted, and those that missing="below" refuses.
        """
        # A label that is missing is of no class.
        n_pos = column_exprs[Row.LABEL].sum() if Row.LABEL in column_exprs else pl.lit(None)
        counts_of_all = self.input_rows.select(
            all=pl.len(),
            all_positive=n_pos,
            without_score=column_exprs.get(Row.SCORE, pl.lit(0)).is_null().sum(),
            refused=pl.any_horizontal(pl.lit(value=False), *self.stopping_test_exprs).sum(),
        )
        counts_of_kept = complete_rows.select(kept=pl.len(), kept_positive=n_pos)
        return counts_of_all.join(counts_of_kept, how="cross")

    def build_table_fields(self, column_exprs: dict[str, pl.Expr]) -> dict[str, Any]:
        """Return the fields of an `ResolvedTable`, without the rows that are left out."""
        complete_rows, row_counts = self.input_rows, None
        if self.drops_incomplete:
            is_incomplete = pl.any_horizontal(self.missing_test_exprs)
            if self.example_key_exprs:  # an example is left out as a whole
                key_exprs = {
                    f"{RESERVED}example_key_{key_number}": key_expr
                    for key_number, key_expr in enumerate(self.example_key_exprs)
                }
                incomplete_key_rows = complete_rows.filter(is_incomplete).select(**key_exprs).unique()
                dtype_of_key = dict(incomplete_key_rows.collect_schema())
                flagged_key_rows = incomplete_key_rows.with_columns(pl.lit(True).alias(_IS_INCOMPLETE))
                keyed_rows = complete_rows.with_columns(**key_exprs)
                complete_rows = join_groups(keyed_rows, flagged_key_rows, dtype_of_key, how="left")
                complete_rows = complete_rows.filter(pl.col(_IS_INCOMPLETE).is_null())
                complete_rows = complete_rows.drop(*key_exprs, _IS_INCOMPLETE)
            else:
                complete_rows = complete_rows.filter(~is_incomplete)
            row_counts = self._count_rows(complete_rows, column_exprs)
        return {
            "frame": complete_rows,
            "by": self.by,
            "by_exprs": self.by_exprs,
            "columns": column_exprs,
            "tallies": self.tallies,
            "schema": self.schema,
            "may_collect": self.may_collect,
            "n_rows": self.user_table.height if isinstance(self.user_table, pl.DataFrame) else None,
            "row_counts": row_counts,
        }


# Such a frame is joined with the groups on the columns that are among those of `by=`.


# What the columns of a user's table hold, in one object, which every reader takes --------------


Cells: TypeAlias = tuple[Column, Column, Column, Column]  # the columns of tp, fp, fn and tn

Sizes: TypeAlias = tuple[Column | int, Column | int]
"""The numbers of positives and of negatives behind rates, as columns or as two numbers.

They are null in the rows of a group of which a number is not known.
"""


class InputColumns(NamedTuple):
    """What the columns of a user's table hold; None where nothing was passed."""

    score: Any = "score"
    """The column of scores; of a wide table those of models, or a mapping from classes to theirs."""
    label: Column | None = "label"
    """The column of labels; None if rows have none."""
    pos_label: Any = None
    by: Columns = None
    model: Column | None = None
    """The column of models, where they are compared; elsewhere it is one more of `by`."""
    id: Columns = None
    """The columns that distinguish examples, where models are compared."""
    weight: Column | None = None
    stratum: Column | None = None
    cluster: Column | None = None
    counts: Counts | Column | None = None
    """Numbers of positives and of negatives; without labels one column, the number of rows."""
    rates: tuple[Column, Column] | None = None
    sizes: Sizes | None = None
    cells: Cells | None = None
    below: Below | None = None
    missing: Missing = "raise"
    parts: Columns = None
    """The columns that distinguish the parts of a field; they are the last groups."""
    is_matched: bool = False
    """Whether the rows of an example were made from one row: they share the label and have scores."""

    @classmethod
    def read_words(cls, arguments: Mapping[str, Any]) -> InputColumns:
        """Return what the words of a call mean; None counts as not passed, except for the label."""
        return cls(
            **{word: value for word, value in arguments.items() if value is not None or word == "label"}
        )

    @property
    def points(self) -> Any:
        """The columns of published points; None of a table of examples or counts."""
        return self.rates if self.cells is None else self.cells
