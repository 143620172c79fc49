"""Examples that exist and were never scored: they lie below every score.

    below=           how many of each class, in each group; `n_neg` may be unknown
    missing="below"  rows with a label and without a score

They count among the examples of their group, and no threshold flags them. Where models share their
examples, one that a model lacks is among those that `below=` counts for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import polars as pl
import polars.selectors as cs

from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import aggregate_by, group_number, join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import Check, count_check, run_query, stop_if_broken
from polars_prcurve.core.inputs.column_reader import check_forgotten_groups, read_group_keys
from polars_prcurve.core.inputs.input_tables import (
    MANY,
    TOTALS,
    InputTable,
    NeverScored,
    ScoreTable,
    Tallies,
)
from polars_prcurve.core.inputs.row_columns import Group, Row

Below: TypeAlias = tuple[int, int | None] | pl.DataFrame | pl.LazyFrame
"""Positives and negatives that were never scored: two numbers, or a frame with a row per group."""

_COUNTS = {"n_pos": TOTALS[:2], "n_neg": TOTALS[2:]}
"""Of each number of `below=` the columns of a group table that it is added to."""
_TOTALS = [
    pl.col(count).cast(pl.Int64).alias(name) for count, names in _COUNTS.items() for name in names
]
"""TOTALS from the numbers of `below=`: whoever was never scored counts among all, and below all."""
_CLASSES = {Row.POS: Group.POS_BELOW, Row.NEG: Group.NEG_BELOW}
"""Of each class what a row adds to it, and how many of it were never scored."""
_OF_NEGATIVES = ("eta", "n_neg", "tn", "fpr", "fpr_low", "fpr_high")
"""Columns of results that change with the number of negatives, whatever the metrics."""
_KIND = f"{RESERVED}kind"  # 0 for rows with an id, else the class of those that no model scored
_HAS_ROW = f"{RESERVED}has_row"  # true if a model has a row for the example
_TOO_FEW = f"{RESERVED}too_few"  # 1 where below= counts fewer than are lacking
_UNEQUAL = f"{RESERVED}unequal_rest"  # 1 where a model has fewer examples in all than another
# What is wrong between models, by the column of tallies that counts it.
_MISFITS = {
    _TOO_FEW: "an example that one model lacks is among those that below= counts for it, and below= "
    "counts fewer, in ",
    _UNEQUAL: "models share their examples, so those with a row and those of below= add up to the "
    "same number in each; they do not in ",
}
# What both sentences end with: how to say the numbers of each model.
_REMEDY = (
    " case(s) of a model and class; pass below= as a frame with the numbers of each model, or "
    'missing="below" with null scores'
)
# What errors say of other values of below=.
_EXPECTED = "two whole numbers, of positives and of negatives (None if not known), or a frame of them"


def tells_negatives(below: Any) -> bool:
    """Return whether `below=` says how many negatives were never scored; raise if it says nothing."""
    below = arguments.take_frame(below)
    if not isinstance(below, pl.DataFrame | pl.LazyFrame):
        return _read_numbers(below)[1] is not None
    schema = below.lazy().collect_schema()
    if "n_pos" not in schema:
        raise PrcError(
            "a below= frame has the group columns, n_pos and n_neg; it has " + ", ".join(schema)
        )
    if schema.get("n_neg", pl.Null()) == pl.Null:
        return False
    return not isinstance(below, pl.DataFrame) or below["n_neg"].null_count() < max(below.height, 1)


def hide_unknown(query: pl.LazyFrame, table: InputTable) -> pl.LazyFrame:
    """Return a result in which all that follows from a number of negatives that is not known is null."""
    names = [name for name in _OF_NEGATIVES if name not in table.by]
    return query.with_columns(pl.when(False).then(cs.by_name(*names, require_all=False)))


def add_never_scored(table: ScoreTable, below: Any, *, in_rows: bool) -> ScoreTable:
    """Return the table with the examples of `below=` below all scores, and rows without one, if any."""
    if table.float_sums:
        raise PrcError(
            "examples that were never scored count as one each, and counts= holds floats; cast them to "
            "integers if that is what they are"
        )
    unscored, below = NeverScored(in_rows=in_rows), arguments.take_frame(below)
    if below is None:
        return replace(table, unscored=unscored)
    table = replace(table, counts_negatives=tells_negatives(below))
    if isinstance(below, pl.DataFrame | pl.LazyFrame):
        unscored = replace(unscored, frame=_read_frame(below, table))
    else:
        n_pos, n_neg = _read_numbers(below)
        unscored = replace(unscored, n_pos=n_pos, n_neg=MANY if n_neg is None else n_neg)
        if not table.by:  # an empty table has no row, and one group all the same
            amounts = {"n_pos": unscored.n_pos, "n_neg": unscored.n_neg}
            unscored = replace(unscored, frame=pl.LazyFrame(amounts).select(_TOTALS), n_pos=0, n_neg=0)
    if unscored.frame is not None:  # it may have groups beyond those of the table
        table = replace(table, group_expr=group_number(table.by))
    if Row.EXAMPLE in table.columns:
        return _complete_examples(table, unscored)
    return replace(table, unscored=unscored)


def _read_numbers(below: Any) -> tuple[int, int | None]:
    """Return the two numbers of `below=`, of which that of negatives may be None."""
    if isinstance(below, str) or not isinstance(below, Sequence):
        raise arguments.refuse_kind("below=", _EXPECTED, below)
    numbers = arguments.read_list("below=", below, _EXPECTED)
    if len(numbers) != len(_COUNTS):
        raise arguments.refuse_kind("below=", _EXPECTED, below)
    n_pos = arguments.read_whole_number("below=, of positives,", numbers[0], 0)
    n_neg = (
        None
        if numbers[1] is None
        else arguments.read_whole_number("below=, of negatives,", numbers[1], 0)
    )
    return n_pos, n_neg


def _read_frame(below: pl.DataFrame | pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return the frame of `below=` with its `by` columns and TOTALS; a DataFrame is checked at once."""
    frame, by = below.lazy(), table.by
    # Of a wide table the names of score columns are its models.
    model_name = "model" if table.model_name == Row.MODEL else table.model_name
    if Row.MODEL in by and model_name in frame.collect_schema():
        frame = frame.rename({model_name: Row.MODEL}).with_columns(pl.col(Row.MODEL).cast(by[Row.MODEL]))
    if not table.counts_negatives:
        frame = frame.with_columns(pl.lit(MANY, dtype=pl.Int64).alias("n_neg"))
    columns = frame.collect_schema()
    keys = read_group_keys("below", columns, by)
    if lacking := [name for name in by if name not in keys]:
        name = model_name if lacking[0] == Row.MODEL else lacking[0]
        raise PrcError(f"the below= frame has a row per group, and lacks the group column {name!r}")
    others = [name for name in columns if name not in (*keys, *_COUNTS)]
    check_forgotten_groups("below", others, table.schema)
    if others and "n_neg" not in below.lazy().collect_schema():
        raise PrcError(
            f"the below= frame has no n_neg, and a column {others[0]!r}; call it n_neg if it holds the "
            "negatives, or leave it out"
        )
    for name in _COUNTS:
        if not columns[name].is_integer():
            raise PrcError(
                f"column {name!r} of the below= frame is {columns[name]}; expected whole numbers: cast "
                "them to integers"
            )
    frame = stop_if_broken(frame.select(*keys, *_COUNTS), _list_checks(keys))
    checked = run_query(frame).lazy() if isinstance(below, pl.DataFrame) else frame
    return checked.select(*keys, *_TOTALS)


def _list_checks(keys: Sequence[str]) -> list[Check]:
    """Return the checks of the values in a frame of `below=`."""
    is_there = pl.col("n_pos").is_not_null()
    repeats = pl.struct(keys).is_duplicated() if keys else is_there & (pl.len() > 1)
    outside = pl.any_horizontal(~pl.col(name).is_between(0, arguments.MOST_EXAMPLES) for name in _COUNTS)
    unknown = "; n_neg is null in all rows, or in none: ask the groups in which it is not known apart"
    troubles = [
        (~is_there, "has a null n_pos", ""),
        (pl.col("n_neg").is_null(), "has a null n_neg", unknown),
        (outside.fill_null(False), "has a number below 0 or above 2**53", ""),
        (repeats, "repeats a group", "; it has one row per group"),
    ]
    return [
        count_check(rows.sum(), f"the below= frame {what} in ", f" row(s){advice}")
        for rows, what, advice in troubles
    ]


# Examples that models share, and some of them never scored ---------------------------------------

#     rows of all models -> lacking   the examples of a group that a model has no row for
#     below= less those  -> rest      the examples that no model scored: one row per model and class
#
# With both, each model has all examples of its group, and models are compared as on rows that were all
# there.


def _complete_examples(table: ScoreTable, unscored: NeverScored) -> ScoreTable:
    """Return a table of several models with a row for each example of a group and model.

    What no model scored is one row per class, which counts as many examples.
    """
    amounts = {Row.POS: table.columns[Row.LABEL], Row.NEG: ~table.columns[Row.LABEL]}
    tests = {name: test.cast(pl.Int64) for name, test in table.tallies.tests.items()}
    columns = {name: table.columns[name] for name in (Row.SCORE, Row.EXAMPLE)}
    counts = {name: amount.cast(pl.Int128) for name, amount in amounts.items()}
    rows = table.frame.select(*table.by_exprs, **columns, **counts, **tests)
    no_kind = pl.lit(0, dtype=pl.Int8).alias(_KIND)
    rows = rows.with_columns(no_kind).cache()
    below = _list_models(rows, table.by, unscored).cache()
    # The examples that a model has no row for, of all that a model of their group has.
    group, dtype = table.group_columns, rows.collect_schema()[Row.EXAMPLE]
    examples = rows.group_by(*group, Row.EXAMPLE).agg(pl.col(*_CLASSES).max())
    has_row = rows.select(*table.by, Row.EXAMPLE).unique().with_columns(pl.lit(True).alias(_HAS_ROW))
    pairs = join_groups(examples, below.select(*table.by), group)
    pairs = join_groups(pairs, has_row, {**table.by, Row.EXAMPLE: dtype}, how="left")
    lacking = pairs.filter(pl.col(_HAS_ROW).is_null())
    lacking = lacking.select(*table.by, Row.EXAMPLE, *_CLASSES, no_kind).cache()
    rest = _count_rest(below, lacking, table)
    every = pl.concat([rows, lacking, rest], how="diagonal_relaxed")
    # What no model scored has no id, and one of its class.
    example = pl.struct(Row.EXAMPLE, _KIND).alias(Row.EXAMPLE)
    names = {name: pl.col(name) for name in (Row.SCORE, Row.POS, Row.NEG)}
    tallies = Tallies({name: pl.col(name) for name in tests}, list(table.tallies.checks))
    tallies.checks += [
        count_check(tallies.count(pl.col(name)), text, _REMEDY) for name, text in _MISFITS.items()
    ]
    return replace(
        table,
        frame=every,
        by_exprs=[pl.col(name) for name in table.by],
        columns={**names, Row.EXAMPLE: example},
        tallies=tallies,
        unscored=NeverScored(in_rows=True),
    )


def _list_models(
    rows: pl.LazyFrame, by: Mapping[str, pl.DataType], unscored: NeverScored
) -> pl.LazyFrame:
    """Return one row per group and model, with the numbers of `below=` in POS_BELOW and NEG_BELOW."""
    models = rows.select(*by).unique()
    if unscored.frame is None:
        numbers = {Group.POS_BELOW: unscored.n_pos, Group.NEG_BELOW: unscored.n_neg}
        return models.with_columns(pl.lit(n, dtype=pl.Int64).alias(name) for name, n in numbers.items())
    frame = unscored.frame.select(*by, *_CLASSES.values())
    every = pl.concat([models, frame.select(*by)]).unique()
    return join_groups(every, frame, by, how="left").with_columns(
        pl.col(*_CLASSES.values()).fill_null(0)
    )


def _count_rest(below: pl.LazyFrame, lacking: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return a row per group, model and class: the examples that no model scored, and their tests."""
    group = list(table.group_columns)
    sums = aggregate_by(lacking, table.by, [pl.col(*_CLASSES).sum()])
    models = join_groups(below, sums, table.by, how="left")
    parts = []
    for kind, (amount_column, below_column) in enumerate(_CLASSES.items(), start=1):
        rest = pl.col(below_column) - pl.col(amount_column).fill_null(0)
        if amount_column == Row.NEG and not table.counts_negatives:
            rest = 0 * rest + MANY  # those that no model scored are not counted
        most = rest.max().over(group) if group else rest.max()
        amounts = {name: rest if name == amount_column else 0 * rest for name in _CLASSES}
        columns = {name: amount.clip(lower_bound=0) for name, amount in amounts.items()}
        columns |= {_TOO_FEW: (rest < 0).cast(pl.Int64), _UNEQUAL: (rest != most).cast(pl.Int64)}
        parts.append(models.select(*table.by, **columns, **{_KIND: pl.lit(kind, dtype=pl.Int8)}))
    return pl.concat(parts)
