"""From what a user has to one shape: rows that each add to two sums, under a score.

A row with a label adds one to the positives or to the negatives of its group, a weighted row
adds its weight, a row of counts adds both. Published rates are the one form without counts.
Columns are resolved and typed here, at the call; what only values can tell is written down as
checks over *tallies*, row-wise tests that the group table sums up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import polars as pl

from polars_prcurve import checks
from polars_prcurve.columns import CLUSTER, EXAMPLE, LABEL, MODEL, NEG, POS, RESERVED, SCORE
from polars_prcurve.errors import Check, PrcError, did_you_mean
from polars_prcurve.grouping import group_number

__all__ = [
    "Column",
    "Columns",
    "Missing",
    "Rates",
    "ScoreTable",
    "listed",
    "read_input",
    "read_posteriors",
]

Column: TypeAlias = str | pl.Expr
Columns: TypeAlias = Column | Sequence[Column] | None
Missing: TypeAlias = Literal["raise", "drop"]

_LEN = f"{RESERVED}len"


@dataclass
class Tallies:
    """Row-wise tests, and the checks that read their sums off the group table."""

    tests: dict[str, pl.Expr] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    of_scores: int = 0
    """The first so many tests hold for all rows of a score, or for none."""

    def count(self, test: pl.Expr) -> pl.Expr:
        name = f"{RESERVED}tally_{len(self.tests)}"
        self.tests[name] = test
        return pl.col(name).sum()


@dataclass(frozen=True)
class Input:
    """A user's table, and what its columns mean."""

    frame: pl.LazyFrame
    by: dict[str, pl.DataType]
    by_exprs: list[pl.Expr]
    columns: dict[str, pl.Expr]
    """From internal names to expressions over `frame`."""
    tallies: Tallies
    number: pl.Expr | None
    """The number of a group, from its `by` columns; see `group_number`."""

    @property
    def others(self) -> dict[str, pl.DataType]:
        """The group columns but for MODEL."""
        return {name: dtype for name, dtype in self.by.items() if name != MODEL}

    @property
    def rows(self) -> pl.LazyFrame:
        """The rows to count: `by` under the user's names, the rest under internal ones."""
        return self.frame.select(*self.by_exprs, **self.columns)

    def grouped(self, aggregates: Iterable[pl.Expr]) -> pl.LazyFrame:
        """One row per group, sorted; aggregates and tallies over `frame`.

        Not over `rows`: Polars would compute and keep their columns for both uses.
        """
        sums = (test.sum().cast(pl.Int64).alias(name) for name, test in self.tallies.tests.items())
        if self.by:
            return self.frame.group_by(*self.by_exprs).agg(*aggregates, *sums).sort(*self.by)
        counted = self.frame.select(*aggregates, *sums, pl.len().alias(_LEN))
        return counted.filter(pl.col(_LEN) > 0).drop(_LEN)


@dataclass(frozen=True)
class ScoreTable(Input):
    """Its columns are SCORE, and either LABEL or both POS and NEG."""

    score_dtype: pl.DataType
    labelled: bool
    """Each row is one example: LABEL instead of POS and NEG."""
    float_sums: bool
    """POS and NEG are Float64, not Int128."""
    count_dtype: pl.DataType
    """What tp, fp, fn and tn come out as: Int64, or Float64 with weights."""
    weighted: bool
    """Each row is one example with a weight."""

    @property
    def coarse(self) -> bool:
        """The dtype alone says that there are few distinct scores."""
        return self.score_dtype in (pl.Boolean, pl.Int8, pl.UInt8)

    def of_examples(self) -> ScoreTable:
        """The same table, if it tells how many examples stand behind its sums."""
        if self.float_sums and not self.weighted:
            raise PrcError(
                "confidence= needs numbers of examples, and counts= holds floats; cast them to integers "
                "if that is what they are"
            )
        return self

    def aggregated(self) -> ScoreTable:
        """The same table with one row per group and score, which pays where scores repeat."""
        score, again = pl.col(SCORE), Tallies()
        if self.tallies.of_scores > 0:
            list(checks.missing_checks(again.count, "", score, nan=self.score_dtype.is_float()))
        of_rows = {n: test for n, test in self.tallies.tests.items() if n not in again.tests}
        rows, positive = pl.len().cast(pl.Int64), self.columns[LABEL].cast(pl.Int64).sum()
        frame = self.frame.group_by(*self.by_exprs, self.columns[SCORE].alias(SCORE)).agg(
            rows.alias(_LEN),
            positive.alias(POS),
            *(test.sum().cast(pl.Int64).alias(name) for name, test in of_rows.items()),
        )
        frame = frame.cache()  # else each of its two uses would aggregate again
        tests = {name: pl.when(test).then(_LEN).otherwise(0) for name, test in again.tests.items()}
        tests |= {name: pl.col(name) for name in of_rows}
        return replace(
            self,
            frame=frame,
            by_exprs=[pl.col(name) for name in self.by],
            columns={
                SCORE: score,
                POS: pl.col(POS).cast(pl.Int128),
                NEG: (pl.col(_LEN) - pl.col(POS)).cast(pl.Int128),
            },
            tallies=Tallies(tests, self.tallies.checks),
            labelled=False,
        )


@dataclass(frozen=True)
class Rates(Input):
    """Its columns are recall and fpr: published ROC points without counts."""

    def of_examples(self) -> Rates:
        raise PrcError("rates= holds no counts, so there is no confidence=; leave it out")


def read_input(
    frame: pl.LazyFrame,
    *,
    makes: Iterable[str],
    by: Columns = None,
    score: Column = "score",
    label: Column = "label",
    pos_label: Any = None,
    weight: Column | None = None,
    counts: tuple[Column, Column] | None = None,
    rates: tuple[Column, Column] | None = None,
    cluster: Column | None = None,
    model: Column | None = None,
    example: Column | None = None,
    missing: Missing = "raise",
) -> ScoreTable | Rates:
    """Resolve and type every column; `makes` are the names that the output adds to `by`."""
    reader = _Reader(frame, missing)
    groups, by_dtypes = reader.read_by(by, makes)
    if model is not None:
        name, dtype = reader.read("model", model)
        if (shown := name.meta.output_name()) in by_dtypes:
            raise PrcError(f"by= and model= both hold the column {shown!r}; leave it out of by=")
        by_dtypes[MODEL] = dtype
        groups.append(name.alias(MODEL))
    number = group_number(by_dtypes)
    if rates is not None:
        _alone("rates", cluster=cluster, counts=counts, weight=weight, pos_label=pos_label)
        points = _read_rates(reader, _pair("rates", rates))
        return Rates(reader.kept(), by_dtypes, groups, points, reader.tallies, number)
    value, score_dtype = _read_score(reader, score)
    if counts is not None:
        _alone("counts", cluster=cluster, weight=weight, pos_label=pos_label)
        amounts = _read_counts(reader, _pair("counts", counts))
    else:
        amounts = _read_labels(reader, label, pos_label, weight)
    named = {CLUSTER: ("cluster", cluster), EXAMPLE: ("id", example)}
    names = {to: _read_name(reader, name, e) for to, (name, e) in named.items() if e is not None}
    fractional = any(expr_dtype == pl.Float64 for _, expr_dtype in amounts.values())
    cast = {name: e.cast(pl.Float64) if fractional else e for name, (e, _) in amounts.items()}
    return ScoreTable(
        reader.kept(),
        by_dtypes,
        groups,
        {SCORE: value, **cast, **names},
        reader.tallies,
        number,
        score_dtype=score_dtype,
        labelled=LABEL in amounts,
        float_sums=fractional,
        count_dtype=pl.Float64() if fractional or weight is not None else pl.Int64(),
        weighted=weight is not None,
    )


def read_posteriors(
    frame: pl.LazyFrame,
    *,
    makes: Iterable[str],
    by: Columns = None,
    score: Column = "score",
    missing: Missing = "raise",
) -> Input:
    """A table without labels, whose scores are probabilities: SCORE is its one column, a Float64."""
    reader = _Reader(frame, missing)
    groups, by_dtypes = reader.read_by(by, makes)
    value, _ = _read_score(reader, score)
    value = value.cast(pl.Float64)
    reader.check(checks.posterior_checks(reader.tallies.count, _shown("score", score), value))
    number = group_number(by_dtypes)
    return Input(reader.kept(), by_dtypes, groups, {SCORE: value}, reader.tallies, number)


def listed(columns: Columns) -> list[Column]:
    """None, one or several."""
    if columns is None:
        return []
    return [columns] if isinstance(columns, str | pl.Expr) else list(columns)


Typed: TypeAlias = tuple[pl.Expr, pl.DataType]


class _Reader:
    """Looks columns up in one frame, and gathers the checks on them."""

    def __init__(self, frame: pl.LazyFrame, missing: Missing) -> None:
        if missing not in ("raise", "drop"):
            raise PrcError(f'missing= is "raise" or "drop"; got {missing!r}')
        self.frame = frame
        self.schema = frame.collect_schema()
        self.tallies = Tallies()
        self.drop = missing == "drop"
        self.missing: list[pl.Expr] = []

    def read(self, argument: str, column: Column) -> Typed:
        """The expression and dtype of one column."""
        expr = self.known(argument, column)
        if isinstance(column, str):
            return expr, self.schema[column]
        dtypes = self.typed(argument, [expr])
        if len(dtypes) != 1:
            raise PrcError(f"{argument}= must be one column; got {len(dtypes)}: {list(dtypes)}")
        return expr, dtypes.popitem()[1]

    def known(self, argument: str, column: Column) -> pl.Expr:
        """The column as an expression, if the frame holds what it is made from."""
        if not isinstance(column, str | pl.Expr):
            raise PrcError(f"{argument}= takes a column name or an expression; got {column!r}")
        for name in [column] if isinstance(column, str) else column.meta.root_names():
            if name not in self.schema:
                raise PrcError(
                    f"{argument}= names the column {name!r}, which is not in the table; "
                    f"{did_you_mean(name, self.schema)}"
                )
        return pl.col(column) if isinstance(column, str) else column

    def typed(self, argument: str, exprs: Sequence[pl.Expr]) -> dict[str, pl.DataType]:
        try:
            return dict(self.frame.select(exprs).collect_schema())
        except pl.exceptions.PolarsError as error:
            raise PrcError(f"{argument}= does not fit the table: {_reason(error)}") from error

    def read_by(self, by: Columns, makes: Iterable[str]) -> tuple[list[pl.Expr], dict[str, pl.DataType]]:
        exprs = [self.known("by", column) for column in listed(by)]
        dtypes = self.typed("by", exprs) if exprs else {}
        for name, dtype in dtypes.items():
            if name in set(makes):
                raise PrcError(
                    f"by= holds a column {name!r}, and the result has a column of that name; "
                    f"rename it, e.g. by=pl.col({name!r}).alias({name + '_group'!r})"
                )
            if name.startswith(RESERVED):
                raise PrcError(
                    f"by= holds a column {name!r}; names that start with {RESERVED!r} are reserved"
                )
            if name == "*" or (name.startswith("^") and name.endswith("$")):
                raise PrcError(
                    f"by= holds a column {name!r}, which Polars reads as a pattern; rename it"
                )
            if dtype in (pl.Object, pl.Unknown):
                raise PrcError(
                    f"by= holds a column {name!r} of dtype {dtype}, which cannot be sorted; cast it"
                )
        return exprs, dtypes

    def check(self, found: Iterator[Check]) -> None:
        self.tallies.checks.extend(found)

    def present(self, what: str, value: pl.Expr, dtype: pl.DataType) -> None:
        """Nulls and NaN raise, or their rows are dropped."""
        self.missing.append(checks.is_missing(value, dtype))
        if not self.drop:
            self.check(checks.missing_checks(self.tallies.count, what, value, nan=dtype.is_float()))

    def kept(self) -> pl.LazyFrame:
        """The table without the rows that are to be dropped."""
        return self.frame.filter(~pl.any_horizontal(self.missing)) if self.drop else self.frame


def _shown(argument: str, column: Column) -> str:
    name = column if isinstance(column, str) else column.meta.output_name()
    return f"{argument} column {name!r}"


def _read_score(reader: _Reader, score: Column) -> Typed:
    value, dtype = reader.read("score", score)
    what = _shown("score", score)
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise PrcError(f"{what} is {dtype}; a score is a float, an integer, a Decimal or a Boolean")
    reader.present(what, value, dtype)
    reader.tallies.of_scores = len(reader.tallies.tests)
    return value, dtype


def _read_labels(
    reader: _Reader, label: Column, pos_label: Any, weight: Column | None
) -> dict[str, Typed]:
    value, dtype = reader.read("label", label)
    what = _shown("label", label)
    reader.present(what, value, dtype)
    if pos_label is not None:
        positive = value == _literal(what, dtype, pos_label)
        reader.check(checks.pos_label_check(reader.tallies.count, what, positive, pos_label))
    elif dtype == pl.Boolean:
        positive = value
    elif dtype.is_numeric():
        positive = value == 1
        reader.check(checks.label_checks(reader.tallies.count, what, value))
    else:
        raise PrcError(
            f"{what} is {dtype}; pass pos_label=, the value that is positive, or a Boolean label"
        )
    if weight is None:
        return {LABEL: (positive, pl.Boolean())}
    mass, mass_dtype = _read_amount(reader, "weight", weight)
    nothing = pl.lit(0, dtype=mass_dtype)
    return {
        POS: (pl.when(positive).then(mass).otherwise(nothing), mass_dtype),
        NEG: (pl.when(positive).then(nothing).otherwise(mass), mass_dtype),
    }


def _read_counts(reader: _Reader, counts: tuple[Column, Column]) -> dict[str, Typed]:
    return {
        name: _read_amount(reader, "counts", column)
        for name, column in zip((POS, NEG), counts, strict=True)
    }


def _read_amount(reader: _Reader, argument: str, column: Column) -> Typed:
    """A weight or a count: Int128 if it is an integer, else Float64; neither can overflow."""
    value, dtype = reader.read(argument, column)
    what = _shown(argument, column)
    if not dtype.is_numeric():
        raise PrcError(f"{what} is {dtype}; expected numbers >= 0")
    reader.present(what, value, dtype)
    reader.check(checks.amount_checks(reader.tallies.count, what, value))
    wide: pl.DataType = pl.Int128() if dtype.is_integer() else pl.Float64()
    return value.cast(wide), wide


def _read_name(reader: _Reader, argument: str, column: Column) -> pl.Expr:
    """A column of any dtype that tells rows apart."""
    value, dtype = reader.read(argument, column)
    reader.present(_shown(argument, column), value, dtype)
    return value


def _read_rates(reader: _Reader, rates: tuple[Column, Column]) -> dict[str, pl.Expr]:
    points = {}
    for name, column in zip(("recall", "fpr"), rates, strict=True):
        value, dtype = reader.read("rates", column)
        what = _shown("rates", column)
        if not dtype.is_numeric():
            raise PrcError(f"{what} is {dtype}; expected rates in [0, 1]")
        reader.present(what, value, dtype)
        reader.check(checks.rate_checks(reader.tallies.count, what, value))
        points[name] = value.cast(pl.Float64)
    return points


def _pair(argument: str, given: Any) -> tuple[Column, Column]:
    if isinstance(given, str | pl.Expr) or len(pair := tuple(given)) != 2:
        raise PrcError(f"{argument}= takes two columns, of positives and of negatives; got {given!r}")
    return pair


def _alone(argument: str, **others: Any) -> None:
    for name, value in others.items():
        if value is not None:
            raise PrcError(f"{argument}= stands in place of labels and weights; leave out {name}=")


def _literal(what: str, dtype: pl.DataType, pos_label: Any) -> pl.Expr:
    """The positive label, if a column of this dtype can hold it."""
    if isinstance(dtype, pl.Enum) and pos_label not in dtype.categories.to_list():
        raise PrcError(
            f"{what} has no category {pos_label!r}; {did_you_mean(str(pos_label), dtype.categories)}"
        )
    literal = pl.lit(pos_label)
    try:
        pl.LazyFrame(schema={"label": dtype}).select(pl.col("label") == literal).collect()
    except (pl.exceptions.PolarsError, TypeError) as error:
        raise PrcError(
            f"{what} is {dtype} and cannot equal pos_label={pos_label!r}; {_reason(error)}"
        ) from None
    return literal


def _reason(error: Exception) -> str:
    """What Polars says ahead of its plan."""
    return str(error).partition("\n")[0]
