"""Examples that exist and were never scored: they lie below every score.

    below=           how many of each class, in each group; `n_neg` may be unknown
    missing="below"  rows with a label and without a score

They count among the examples of their group, and no threshold flags them. Where models share their
examples, one that a model lacks is among those that `below=` counts for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import polars.selectors as cs

from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.column_checks import count_check
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import aggregate_by, join_groups
from polars_prcurve.core.ground.message_text import list_names
from polars_prcurve.core.ground.query_guards import Check, run_query, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.group_column_checks import check_forgotten_groups, read_group_keys
from polars_prcurve.core.inputs.resolved_tables import MANY, TOTALS, NeverScored, ScoreTable, Tallies
from polars_prcurve.core.inputs.row_column_names import Group, Row

_TOTALS_OF_NUMBER = {"n_pos": TOTALS[:2], "n_neg": TOTALS[2:]}
"""Of each number of `below=` the columns of a group table that it is added to."""
_TOTAL_EXPRS = [
    pl.col(number_name).cast(pl.Int64).alias(name)
    for number_name, total_columns in _TOTALS_OF_NUMBER.items()
    for name in total_columns
]
"""TOTALS from the numbers of `below=`: whoever was never scored counts among all, and below all."""
_BELOW_OF_AMOUNT = {Row.POS: Group.POS_BELOW, Row.NEG: Group.NEG_BELOW}
"""Of each class what a row adds to it, and how many of it were never scored."""
_NEGATIVE_COLUMNS = ("eta", "n_neg", "tn", "fpr", "fpr_low", "fpr_high")
"""Columns of results that change with the number of negatives, whatever the metrics."""
_UNSCORED_CLASS = f"{RESERVED}kind"
"""0 for rows with an id, else the class of those that no model scored."""
_HAS_ROW = f"{RESERVED}has_row"  # true if a model has a row for the example
_TOO_FEW = f"{RESERVED}too_few"  # 1 where below= counts fewer than are lacking
_IS_UNEQUAL = f"{RESERVED}unequal_rest"  # 1 where a model has fewer examples in all than another
# What is wrong between models, by the column of tallies that counts it.
_TROUBLE_OF_TALLY = {
    _TOO_FEW: "examples that one model lacks must be among those that below= counts for it, and below= "
    "counts fewer, in ",
    _IS_UNEQUAL: "models share their examples, so rows and below= must add up to the same number in "
    "each; they do not in ",
}
# What both sentences end with: how to pass the numbers of each model.
_REMEDY = (
    " case(s) of a model and class; pass below= as a frame with the numbers of each model, or "
    'missing="below" with null scores'
)
# What errors write for other values of below=.
_EXPECTED = "two whole numbers, of positives and of negatives (None if not known), or a frame of them"


def tells_negatives(below: Any) -> bool:
    """Return whether `below=` has the number of negatives never scored; raise if it is empty."""
    below = arguments.take_frame(below)
    if not isinstance(below, pl.DataFrame | pl.LazyFrame):
        return _read_numbers(below)[1] is not None
    schema = below.lazy().collect_schema()
    if "n_pos" not in schema:
        raise PrcError(
            "pass a below= frame with the group columns, n_pos and n_neg; got "
            f"{list_names(schema) or 'no columns'}"
        )
    if schema.get("n_neg", pl.Null()) == pl.Null:
        return False
    return not isinstance(below, pl.DataFrame) or below["n_neg"].null_count() < max(below.height, 1)


def hide_unknown(result_rows: pl.LazyFrame, user_columns: Collection[str]) -> pl.LazyFrame:
    """Return a result in which all that follows from a number of negatives that is not known is null."""
    unknown_columns = [name for name in _NEGATIVE_COLUMNS if name not in user_columns]
    return result_rows.with_columns(pl.when(False).then(cs.by_name(*unknown_columns, require_all=False)))


def add_never_scored(table: ScoreTable, below: Any, *, has_unscored_rows: bool) -> ScoreTable:
    """Return the table with the examples of `below=` below all scores, and rows without one, if any."""
    if table.has_float_sums:
        raise PrcError(
            "cast counts= to integers if they are numbers of examples; got floats, and "
            "examples that were never scored count as one each"
        )
    never_scored, below = NeverScored(has_rows=has_unscored_rows), arguments.take_frame(below)
    if below is None:
        return replace(table, unscored=never_scored)
    table = replace(table, counts_negatives=tells_negatives(below))
    if isinstance(below, pl.DataFrame | pl.LazyFrame):
        never_scored = never_scored._replace(group_rows=_read_below_frame(below, table))
    else:
        n_pos, n_neg = _read_numbers(below)
        never_scored = never_scored._replace(n_pos=n_pos, n_neg=MANY if n_neg is None else n_neg)
        if not table.by:  # an empty table has no row, and one group all the same
            group_row = pl.LazyFrame({"n_pos": never_scored.n_pos, "n_neg": never_scored.n_neg})
            never_scored = never_scored._replace(
                group_rows=group_row.select(_TOTAL_EXPRS), n_pos=0, n_neg=0
            )
    if Row.EXAMPLE in table.columns:
        return _complete_examples(table, never_scored)
    return replace(table, unscored=never_scored)


def _read_numbers(below: Any) -> tuple[int, int | None]:
    """Return the two numbers of `below=`, of which that of negatives may be None."""
    if isinstance(below, str) or not isinstance(below, Sequence):
        raise arguments.refuse_kind("below=", _EXPECTED, below)
    user_numbers = arguments.read_list("below=", below, _EXPECTED)
    if len(user_numbers) != len(_TOTALS_OF_NUMBER):
        raise arguments.refuse_kind("below=", _EXPECTED, below)
    n_pos, n_neg = user_numbers
    return (
        arguments.read_whole_number("below=, of positives,", n_pos, 0),
        None if n_neg is None else arguments.read_whole_number("below=, of negatives,", n_neg, 0),
    )


def _read_below_frame(below: pl.DataFrame | pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return the frame of `below=` with its `by` columns and TOTALS; a DataFrame is checked at once."""
    group_rows, dtype_by_group = below.lazy(), table.by
    # Of a wide table the names of score columns are its models.
    model_column = "model" if table.model_column == Row.MODEL else table.model_column
    if Row.MODEL in dtype_by_group and model_column in group_rows.collect_schema():
        group_rows = group_rows.rename({model_column: Row.MODEL}).with_columns(
            pl.col(Row.MODEL).cast(dtype_by_group[Row.MODEL])
        )
    if not table.counts_negatives:
        group_rows = group_rows.with_columns(pl.lit(MANY, dtype=pl.Int64).alias("n_neg"))
    schema = group_rows.collect_schema()
    key_names = read_group_keys("below", schema, dtype_by_group)
    if lacking_columns := [name for name in dtype_by_group if name not in key_names]:
        name = model_column if lacking_columns[0] == Row.MODEL else lacking_columns[0]
        raise PrcError(f"add the group column {name!r} to the below= frame, which needs a row per group")
    other_names = [name for name in schema if name not in (*key_names, *_TOTALS_OF_NUMBER)]
    check_forgotten_groups("below", other_names, table.schema)
    if other_names and "n_neg" not in below.lazy().collect_schema():
        raise PrcError(
            f"rename the column {other_names[0]!r} of the below= frame to n_neg if it holds the "
            "negatives, otherwise drop it: the frame has no n_neg"
        )
    for name in _TOTALS_OF_NUMBER:
        if not schema[name].is_integer():
            raise PrcError(f"cast column {name!r} of the below= frame to integers; it is {schema[name]}")
    group_rows = group_rows.select(*key_names, *_TOTALS_OF_NUMBER)
    group_rows = stop_if_broken(group_rows, _list_checks(key_names))
    checked_group_rows = run_query(group_rows).lazy() if isinstance(below, pl.DataFrame) else group_rows
    return checked_group_rows.select(*key_names, *_TOTAL_EXPRS)


def _list_checks(key_names: Sequence[str]) -> list[Check]:
    """Return the checks of the values in a frame of `below=`."""
    has_n_pos = pl.col("n_pos").is_not_null()
    is_repeated = pl.struct(key_names).is_duplicated() if key_names else has_n_pos & (pl.len() > 1)
    is_out_of_range = pl.any_horizontal(
        ~pl.col(name).is_between(0, arguments.MOST_EXAMPLES) for name in _TOTALS_OF_NUMBER
    )
    null_advice_phrase = "; n_neg is null in all rows, or in none: evaluate groups without it separately"
    problems = [
        (~has_n_pos, "has a null n_pos", ""),
        (pl.col("n_neg").is_null(), "has a null n_neg", null_advice_phrase),
        (is_out_of_range.fill_null(False), "has a number below 0 or above 2**53", ""),
        (is_repeated, "repeats a group", "; it needs one row per group"),
    ]
    return [
        count_check(is_wrong.sum(), f"the below= frame {problem_phrase} in ", f" row(s){advice_phrase}")
        for is_wrong, problem_phrase, advice_phrase in problems
    ]


# Examples that models share, and some of them never scored ---------------------------------------

#     rows of all models -> lacking   the examples of a group that a model has no row for
#     below= less those  -> rest      the examples that no model scored: one row per model and class
#
# With both, each model has all examples of its group, and models are compared as on rows that were all
# there.


def _complete_examples(table: ScoreTable, never_scored: NeverScored) -> ScoreTable:
    """Return a table of several models with a row for each example of a group and model.

    What no model scored is one row per class, which counts as many examples.
    """
    class_test_exprs = {Row.POS: table.columns[Row.LABEL], Row.NEG: ~table.columns[Row.LABEL]}
    score_test_exprs = {
        name: test_expr.cast(pl.Int64) for name, test_expr in table.tallies.test_exprs.items()
    }
    column_exprs = {name: table.columns[name] for name in (Row.SCORE, Row.EXAMPLE)}
    amount_exprs = {name: test_expr.cast(pl.Int128) for name, test_expr in class_test_exprs.items()}
    model_rows = table.frame.select(*table.by_exprs, **column_exprs, **amount_exprs, **score_test_exprs)
    no_class_expr = pl.lit(0, dtype=pl.Int8).alias(_UNSCORED_CLASS)
    model_rows = model_rows.with_columns(no_class_expr).cache()
    model_groups = _list_models(model_rows, table.by, never_scored).cache()
    # The examples that a model has no row for, of all that a model of their group has.
    dtype_by_group, example_dtype = table.group_columns, model_rows.collect_schema()[Row.EXAMPLE]
    example_rows = model_rows.group_by(*dtype_by_group, Row.EXAMPLE).agg(pl.col(*_BELOW_OF_AMOUNT).max())
    scored_examples = model_rows.select(*table.by, Row.EXAMPLE).unique()
    scored_examples = scored_examples.with_columns(pl.lit(True).alias(_HAS_ROW))
    example_model_rows = join_groups(example_rows, model_groups.select(*table.by), dtype_by_group)
    dtype_of_key = {**table.by, Row.EXAMPLE: example_dtype}
    example_model_rows = join_groups(example_model_rows, scored_examples, dtype_of_key, how="left")
    lacking_examples = example_model_rows.filter(pl.col(_HAS_ROW).is_null())
    lacking_examples = lacking_examples.select(*table.by, Row.EXAMPLE, *_BELOW_OF_AMOUNT, no_class_expr)
    lacking_examples = lacking_examples.cache()
    rest_rows = _count_rest(model_groups, lacking_examples, table)
    all_rows = pl.concat([model_rows, lacking_examples, rest_rows], how="diagonal_relaxed")
    # What no model scored has no id, and one of its class.
    example_key_expr = pl.struct(Row.EXAMPLE, _UNSCORED_CLASS).alias(Row.EXAMPLE)
    unchanged_exprs = {name: pl.col(name) for name in (Row.SCORE, Row.POS, Row.NEG)}
    tallies = Tallies({name: pl.col(name) for name in score_test_exprs}, list(table.tallies.checks))
    tallies.checks += [
        count_check(tallies.count(pl.col(name)), problem_phrase, _REMEDY)
        for name, problem_phrase in _TROUBLE_OF_TALLY.items()
    ]
    return replace(
        table,
        frame=all_rows,
        by_exprs=[pl.col(name) for name in table.by],
        columns={**unchanged_exprs, Row.EXAMPLE: example_key_expr},
        tallies=tallies,
        unscored=NeverScored(has_rows=True),
    )


def _list_models(
    model_rows: pl.LazyFrame, dtype_by_group: Mapping[str, pl.DataType], never_scored: NeverScored
) -> pl.LazyFrame:
    """Return one row per group and model, with the numbers of `below=` in POS_BELOW and NEG_BELOW."""
    model_key_rows = model_rows.select(*dtype_by_group).unique()
    if never_scored.group_rows is None:
        number_by_column = {Group.POS_BELOW: never_scored.n_pos, Group.NEG_BELOW: never_scored.n_neg}
        return model_key_rows.with_columns(
            pl.lit(number, dtype=pl.Int64).alias(name) for name, number in number_by_column.items()
        )
    below_rows = never_scored.group_rows.select(*dtype_by_group, *_BELOW_OF_AMOUNT.values())
    all_model_rows = pl.concat([model_key_rows, below_rows.select(*dtype_by_group)]).unique()
    return join_groups(all_model_rows, below_rows, dtype_by_group, how="left").with_columns(
        pl.col(*_BELOW_OF_AMOUNT.values()).fill_null(0)
    )


def _count_rest(
    model_groups: pl.LazyFrame, lacking_examples: pl.LazyFrame, table: ScoreTable
) -> pl.LazyFrame:
    """Return a row per group, model and class: the examples that no model scored, and their tests."""
    group_names = list(table.group_columns)
    lacking_sum_rows = aggregate_by(lacking_examples, table.by, [pl.col(*_BELOW_OF_AMOUNT).sum()])
    model_groups_with_sums = join_groups(model_groups, lacking_sum_rows, table.by, how="left")
    rest_frames = []
    for class_number, (amount_column, below_column) in enumerate(_BELOW_OF_AMOUNT.items(), start=1):
        n_rest = pl.col(below_column) - pl.col(amount_column).fill_null(0)
        if amount_column == Row.NEG and not table.counts_negatives:
            n_rest = 0 * n_rest + MANY  # those that no model scored are not counted
        greatest_n_rest = n_rest.max().over(group_names) if group_names else n_rest.max()
        column_exprs = {
            name: (n_rest if name == amount_column else 0 * n_rest).clip(lower_bound=0)
            for name in _BELOW_OF_AMOUNT
        }
        column_exprs |= {
            _TOO_FEW: (n_rest < 0).cast(pl.Int64),
            _IS_UNEQUAL: (n_rest != greatest_n_rest).cast(pl.Int64),
            _UNSCORED_CLASS: pl.lit(class_number, dtype=pl.Int8),
        }
        rest_frames.append(model_groups_with_sums.select(*table.by, **column_exprs))
    return pl.concat(rest_frames)
