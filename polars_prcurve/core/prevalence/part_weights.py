"""The parts of a field: what their rows weigh, so that together they are the field.

A part of a field, such as a country, has a prevalence and a share of the field, and all rows with equal
values in the `within` columns. With P positives and N negatives in the part, prevalence eta and share s,
and n examples in the group, a positive weighs `n s eta / P` and a negative `n s (1 - eta) / N`. So the
weights of a group sum to its examples, and its prevalence becomes `sum s eta`, that of the population.

    table     -> parts    one row per part of a group that has rows: both totals
    eta frame -> parts    one row per part of a group that should have rows: eta and share
    parts     -> factors  what a positive and a negative of the part weigh
              -> field    a table of the groups, whose rows have these weights, and which has its parts
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.estimates import add_eta_limits
from polars_prcurve.core.confidence.interval_input_columns import (
    ETA_CONFIDENCE,
    ETA_HIGH,
    ETA_LOW,
    UNCERTAIN_ETA_COLUMNS,
    EtaError,
)
from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground import exact_arithmetic
from polars_prcurve.core.ground.argument_checks import select_column
from polars_prcurve.core.ground.column_checks import count_check
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import (
    LARGEST_WEIGHT,
    repeat_in_rows,
    sum_shares,
    to_whole_shares,
)
from polars_prcurve.core.ground.group_joins import aggregate_by, join_groups
from polars_prcurve.core.ground.name_hints import suggest_names
from polars_prcurve.core.ground.query_guards import Check, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.group_column_checks import (
    check_forgotten_groups,
    check_group_names,
    list_key_phrases,
    read_group_keys,
)
from polars_prcurve.core.inputs.resolved_tables import (
    FieldParts,
    ResolvedTable,
    ScoreTable,
    Tallies,
    class_amounts,
)
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.prevalence import eta_table
from polars_prcurve.core.prevalence.population_column_names import Part, Population

# The parts of a table, and the weights of their rows --------------------------------------------

_FRAME_COLUMNS = (Part.ETA, Part.SHARE, *UNCERTAIN_ETA_COLUMNS)  # what the eta frame has of a part
# Of each class what a row adds to it, its total in a part, and the exponent of whole numbers of weights.
_CLASS_COLUMNS = ((Row.POS, Group.N_POS, Group.POS_EXPONENT), (Row.NEG, Group.N_NEG, Group.NEG_EXPONENT))
_N_ROWS = f"{RESERVED}rows"  # the examples of a part
_N_GROUP_ROWS = f"{RESERVED}group_rows"  # those of its group
_LARGEST_SHARE = f"{RESERVED}largest_share"  # the largest share of a part of the group
_IN_FRAME = f"{RESERVED}in_frame"  # how many rows of the eta frame are of the part


class PartKeys(NamedTuple):
    """The names of the group columns as users know them, with internal names and dtypes."""

    column_by_key: dict[str, str]  # all of them
    column_by_group: dict[str, str]
    column_by_part: dict[str, str]
    dtype_by_column: dict[str, pl.DataType]  # by internal name

    @property
    def dtype_of_key(self) -> dict[str, pl.DataType]:
        """The dtypes by the names that users know."""
        return {key: self.dtype_by_column[column] for key, column in self.column_by_key.items()}


def number_keys(table: ResolvedTable, part_columns: Sequence[str]) -> PartKeys:
    """Return the keys of a table whose groups are parts, the columns `part_columns` among them."""
    column_by_key = {key: f"{RESERVED}key_{i}" for i, key in enumerate(table.by)}
    return PartKeys(
        column_by_key,
        column_by_group={
            key: column for key, column in column_by_key.items() if key not in part_columns
        },
        column_by_part={key: column_by_key[key] for key in part_columns},
        dtype_by_column={column_by_key[key]: dtype for key, dtype in table.by.items()},
    )


def join_factors(
    table: ResolvedTable, part_factor_rows: pl.LazyFrame, part_keys: PartKeys, *, keep_order: bool
) -> pl.LazyFrame:
    """Return the user's table with the keys by internal names, and the columns of `part_factor_rows`."""
    names_and_exprs = zip(part_keys.column_by_key.values(), table.by_exprs, strict=True)
    keyed_rows = table.frame.with_columns(
        expr.alias(column_name) for column_name, expr in names_and_exprs
    )
    return join_groups(keyed_rows, part_factor_rows, part_keys.dtype_by_column, keep_order=keep_order)


def build_factors(
    table: ResolvedTable,
    part_keys: PartKeys,
    eta_frame: pl.DataFrame | pl.LazyFrame,
    *,
    confidence: float | None = None,
    may_be_uncertain: bool = False,
) -> tuple[pl.LazyFrame, bool]:
    """Return one row per part, with both factors of Population, its eta and its share; checked.

    Part.ETA is the prevalence of the part where none is given, and the shares of a group sum to 1.
    Return also whether a prevalence is an estimate.
    """
    frame_part_rows, is_uncertain = _read_part_frame(
        eta_frame, part_keys, table.schema, confidence, may_be_uncertain
    )
    part_rows = _divide_by_share_sums(_match_parts(table, part_keys, frame_part_rows), part_keys)
    share_expr, eta_expr = pl.col(Part.SHARE), pl.col(Part.ETA)
    n_part_rows = pl.col(_N_GROUP_ROWS) * share_expr
    n_pos, n_neg = pl.col(Group.N_POS), pl.col(Group.N_NEG)
    factor_expr_by_name = {}
    eta_and_size_by_factor = {
        Population.POS_FACTOR: (eta_expr, n_pos),
        Population.NEG_FACTOR: (1 - eta_expr, n_neg),
    }
    for name, (class_share, n_of_class) in eta_and_size_by_factor.items():
        factor_expr = (
            pl.when(eta_expr.is_null())
            .then(n_part_rows / (n_pos + n_neg))
            .otherwise(n_part_rows * class_share / n_of_class)
        )
        factor_expr_by_name[name] = pl.when(n_of_class > 0).then(factor_expr).otherwise(0.0)
    return part_rows.select(
        *part_keys.column_by_key.values(),
        *(factor_expr.alias(name) for name, factor_expr in factor_expr_by_name.items()),
        eta_expr.fill_null(n_pos / (n_pos + n_neg)).fill_nan(None),
        share_expr,
        *UNCERTAIN_ETA_COLUMNS,
        pl.col(Group.N_POS, Group.N_NEG).fill_null(0.0),
    ), is_uncertain


def _match_parts(
    table: ResolvedTable, part_keys: PartKeys, frame_part_rows: pl.LazyFrame
) -> pl.LazyFrame:
    """Return the parts of the table with those of the frame, checked to be the same."""
    frame_part_rows = frame_part_rows.with_columns(pl.lit(1).alias(_IN_FRAME))
    table_part_rows = _count_parts(table, part_keys)
    group_columns = [*part_keys.column_by_group.values()]
    frame_schema = frame_part_rows.collect_schema()
    if group_columns:  # of each group every part of the frame
        frame_group_columns = [column for column in frame_schema if column in group_columns]
        frame_part_rows = join_groups(
            table_part_rows.select(group_columns).unique(),
            frame_part_rows,
            {column: part_keys.dtype_by_column[column] for column in frame_group_columns},
        )
    # A group_by finds which parts the table or the frame lacks, and null and NaN equal themselves there.
    stacked_rows = pl.concat([table_part_rows, frame_part_rows], how="diagonal")
    part_rows = stacked_rows.group_by(*part_keys.column_by_key.values()).agg(
        pl.col(Group.N_POS, Group.N_NEG, _N_ROWS, *_FRAME_COLUMNS).max(), pl.col(_IN_FRAME).sum()
    )
    total_exprs = {_N_GROUP_ROWS: pl.col(_N_ROWS).sum(), _LARGEST_SHARE: pl.col(Part.SHARE).max()}
    part_rows = part_rows.with_columns(
        (total_expr.over(group_columns) if group_columns else total_expr).alias(name)
        for name, total_expr in total_exprs.items()
    )
    frame_key_names = [key for key, column in part_keys.column_by_key.items() if column in frame_schema]
    return stop_if_broken(part_rows, _part_checks(part_keys, frame_key_names))


def _divide_by_share_sums(part_rows: pl.LazyFrame, part_keys: PartKeys) -> pl.LazyFrame:
    """Return the parts with shares that sum to 1 in each group."""
    share_expr, group_columns = pl.col(Part.SHARE), [*part_keys.column_by_group.values()]
    # Shares are added as integers, so that the order of parts changes no bit.
    exponent_expr = exact_arithmetic.weight_exponent(pl.col(_LARGEST_SHARE))
    integer_sum_expr = exact_arithmetic.to_integer(share_expr, exponent_expr).sum()
    if group_columns:
        integer_sum_expr = integer_sum_expr.over(group_columns)
    share_sum_expr = exact_arithmetic.from_integer(integer_sum_expr, exponent_expr)
    return part_rows.with_columns(share_expr / repeat_in_rows(share_sum_expr, share_expr))


def build_field(
    table: ScoreTable, eta_frame: pl.DataFrame | pl.LazyFrame, *, confidence: float | None = None
) -> ScoreTable:
    """Return the table of the fields that the groups `within` make up: the rows of parts, weighted."""
    part_keys = number_keys(table, table.within)
    factor_and_eta_rows, is_uncertain = build_factors(
        table, part_keys, eta_frame, confidence=confidence, may_be_uncertain=True
    )
    if is_uncertain:
        check_group_names(part_keys.column_by_group, UNCERTAIN_ETA_COLUMNS)
        check_group_names(part_keys.column_by_part, UNCERTAIN_ETA_COLUMNS, "parts")
    key_by_column = {column: key for key, column in part_keys.column_by_key.items()}
    if table.is_in_memory and table.may_collect and isinstance(eta_frame, pl.DataFrame):
        factor_and_eta_rows = table.collect(factor_and_eta_rows, "field()").lazy()
    else:  # several parts of the plan read these few rows
        factor_and_eta_rows = factor_and_eta_rows.cache()
    eta_limit_rows = add_eta_limits(factor_and_eta_rows.with_columns(pl.col(Part.ETA).alias("eta")))
    part_rows = eta_limit_rows.select(
        *key_by_column, Part.ETA, Part.SHARE, *EtaError.LIMITS, Group.N_POS, Group.N_NEG
    ).rename(key_by_column)
    factor_columns = (Population.POS_FACTOR, Population.NEG_FACTOR)
    factor_rows = factor_and_eta_rows.select(*key_by_column, *factor_columns)
    field_eta_rows = _combine_etas(factor_and_eta_rows, part_keys, is_uncertain=is_uncertain)
    field_eta_rows = field_eta_rows.rename(key_by_column, strict=False)
    dtype_by_group = {name: dtype for name, dtype in table.by.items() if name not in table.within}
    amount_exprs = weigh_amounts(table)
    # A row of counts represents several examples, whose weights are squared one by one.
    square_exprs = {
        Row.POS_SQUARES: amount_exprs[Row.POS] * pl.col(Population.POS_FACTOR),
        Row.NEG_SQUARES: amount_exprs[Row.NEG] * pl.col(Population.NEG_FACTOR),
    }
    return replace(
        table,
        frame=join_factors(table, factor_rows, part_keys, keep_order=False),
        by=dtype_by_group,
        by_exprs=[pl.col(part_keys.column_by_key[name]).alias(name) for name in dtype_by_group],
        columns={Row.SCORE: table.columns[Row.SCORE], **amount_exprs, **square_exprs},
        tallies=Tallies(),  # they were checked when the parts were counted
        has_float_sums=True,
        count_dtype=pl.Float64(),
        is_weighted=False,
        within=(),
        parts=FieldParts(table, part_rows, field_eta_rows, is_uncertain),
    )


def _combine_etas(
    part_factor_rows: pl.LazyFrame, part_keys: PartKeys, *, is_uncertain: bool
) -> pl.LazyFrame:
    """Return one row per field with FIELD_ETA, and UNCERTAIN_ETA_COLUMNS if an eta is an estimate."""
    # FIELD_ETA, the sum of share times eta, has the same bits for each model in the same field: sums of
    # weighted examples differ in the last one. Distances of parts to their ends are added in quadrature,
    # which leaves the sum between those of the ends.
    share_expr, eta_expr = pl.col(Part.SHARE), pl.col(Part.ETA)
    eta_step_by_limit = {ETA_LOW: eta_expr - pl.col(ETA_LOW), ETA_HIGH: pl.col(ETA_HIGH) - eta_expr}
    term_exprs = {Part.FIELD_ETA: share_expr * eta_expr, Part.SHARE: share_expr}
    term_exprs |= {
        f"{name}_sum": (share_expr * eta_step) ** 2 for name, eta_step in eta_step_by_limit.items()
    }
    part_rows_with_terms = part_factor_rows.filter(share_expr > 0).with_columns(
        to_whole_shares(term_expr.fill_null(0.0)).alias(name) for name, term_expr in term_exprs.items()
    )
    sum_exprs = [sum_shares(pl.col(name)).alias(name) for name in term_exprs]
    # The interval is null where each eta is exact, and where levels differ: then they make no level.
    level_expr, is_known = pl.col(ETA_CONFIDENCE), pl.col(ETA_LOW).is_not_null()
    has_one_level = is_known.any() & (level_expr.filter(is_known).n_unique() == 1)
    sum_exprs += [pl.when(has_one_level).then(level_expr.max()), has_one_level.alias(ETA_LOW)]
    group_column_names = [*part_keys.column_by_group.values()]
    field_eta_expr = pl.col(Part.FIELD_ETA) / repeat_in_rows(share_expr, pl.col(Part.FIELD_ETA))
    field_rows = aggregate_by(part_rows_with_terms, group_column_names, sum_exprs).with_columns(
        field_eta_expr
    )
    limit_expr_by_column = {
        ETA_LOW: pl.col(Part.FIELD_ETA) - pl.col(f"{ETA_LOW}_sum").sqrt(),
        ETA_HIGH: pl.col(Part.FIELD_ETA) + pl.col(f"{ETA_HIGH}_sum").sqrt(),
    }
    limit_exprs = [
        pl.when(ETA_LOW).then(limit_expr.clip(0.0, 1.0)).alias(name)
        for name, limit_expr in limit_expr_by_column.items()
    ]
    interval_exprs = (*limit_exprs, pl.col(ETA_CONFIDENCE)) if is_uncertain else ()
    return field_rows.select(*group_column_names, Part.FIELD_ETA, *interval_exprs)


def weigh_amounts(table: ResolvedTable) -> dict[str, pl.Expr]:
    """Return Row.POS and Row.NEG, what a row adds to either class, times the factors of its part."""
    factor_by_class = {Row.POS: pl.col(Population.POS_FACTOR), Row.NEG: pl.col(Population.NEG_FACTOR)}
    amount_exprs = class_amounts(table.columns)
    return {
        name: amount_expr.cast(pl.Float64) * factor_by_class[name]
        for name, amount_expr in amount_exprs.items()
    }


def _count_parts(table: ResolvedTable, part_keys: PartKeys) -> pl.LazyFrame:
    """Return one row per part that has rows: N_POS and N_NEG as floats, and its examples, _N_ROWS."""
    amount_exprs, n_rows = class_amounts(table.columns), pl.len().cast(pl.Int64).alias(_N_ROWS)
    if Row.LABEL in table.columns:
        total_exprs = (
            amount_exprs[amount_name].sum().alias(total_name)
            for amount_name, total_name, _ in _CLASS_COLUMNS
        )
        part_total_rows = table.aggregate_groups([*total_exprs, n_rows])
    else:
        # Weights are added as integers, so that the order of rows changes no bit.
        exponent_exprs, sum_exprs = {}, {}
        for amount_name, total_name, exponent_name in _CLASS_COLUMNS:
            greatest_amount_expr = amount_exprs[amount_name].cast(pl.Float64).max()
            exponent_exprs[exponent_name] = exact_arithmetic.weight_exponent(greatest_amount_expr)
            amount_expr, exponent_expr = pl.col(amount_name).cast(pl.Float64), pl.col(exponent_name)
            sum_exprs[total_name] = exact_arithmetic.to_integer(amount_expr, exponent_expr).sum()
        named_exponent_exprs = (
            exponent_expr.alias(name) for name, exponent_expr in exponent_exprs.items()
        )
        part_total_rows = table.aggregate_groups([*named_exponent_exprs, n_rows]).cache()
        rows_with_exponents = join_groups(
            table.rows, part_total_rows.select(*table.by, *exponent_exprs), table.by
        )
        weight_sum_rows = rows_with_exponents.group_by(*table.by).agg(**sum_exprs)
        part_total_rows = join_groups(
            part_total_rows, weight_sum_rows, table.by, how="left"
        ).with_columns(
            exact_arithmetic.from_integer(pl.col(total_name), pl.col(exponent_name))
            for _, total_name, exponent_name in _CLASS_COLUMNS
        )
    checked_total_rows = stop_if_broken(part_total_rows, table.tallies.checks)
    key_exprs = [pl.col(key).alias(column) for key, column in part_keys.column_by_key.items()]
    part_rows = checked_total_rows.select(
        *key_exprs, pl.col(Group.N_POS, Group.N_NEG).cast(pl.Float64), _N_ROWS
    )
    if not isinstance(table, ScoreTable):
        return part_rows
    return part_rows.with_columns((pl.col(Group.N_POS) + pl.col(Group.N_NEG)).alias(_N_ROWS))


def _read_part_frame(
    eta_frame: pl.DataFrame | pl.LazyFrame,
    part_keys: PartKeys,
    table_schema: Mapping[str, pl.DataType],
    confidence: float | None,
    may_be_uncertain: bool,
) -> tuple[pl.LazyFrame, bool]:
    """Return the frame with internal names, Part.ETA, Part.SHARE and ends of eta; it may raise."""
    schema = eta_frame.lazy().collect_schema()
    key_names = read_group_keys("eta", schema, part_keys.dtype_of_key)
    if not may_be_uncertain and {ETA_LOW, ETA_HIGH} & (set(schema) - set(key_names)):
        raise PrcError(
            "pass eta=field(...) to curve, operating_points or summary instead of weights, or "
            "drop eta_low and eta_high from the frame: a weight cannot carry the error of eta"
        )
    for column in (*part_keys.column_by_part, "eta", "share"):
        if column not in schema:
            raise PrcError(f"the eta= frame has no column {column!r}; {suggest_names(column, schema)}")
    for column in ("eta", "share"):
        if not (schema[column].is_numeric() or schema[column] == pl.Null):
            raise PrcError(f"column {column!r} of the eta= frame is {schema[column]}; expected numbers")
    is_uncertain = may_be_uncertain and eta_table.has_uncertain_eta(schema, key_names)
    known_columns = {*key_names, "eta", "share", *(UNCERTAIN_ETA_COLUMNS if is_uncertain else ())}
    other_columns = (column for column in schema if column not in known_columns)
    check_forgotten_groups("eta", other_columns, table_schema)
    part_rows = eta_frame.lazy().with_columns(pl.col("eta", "share").cast(pl.Float64))
    problems: list[tuple[pl.Expr, str]] = []
    if is_uncertain:
        part_rows, problems = eta_table.add_uncertain_eta(part_rows, schema, confidence)
    eta_expr, share_expr, null_expr = pl.col("eta"), pl.col("share"), pl.lit(None, dtype=pl.Float64)
    is_outside = eta_expr.is_nan() | ~eta_expr.is_between(0, 1)
    lacks_share = share_expr.is_null() | ~share_expr.is_between(0, LARGEST_WEIGHT)
    problems += [
        (is_outside, "holds an eta outside [0, 1] (a share, not percent)"),
        (lacks_share, "holds a 'share' that is no number from 0 to 1e100"),
    ]
    checks = [
        count_check(is_wrong.sum(), f"the eta= frame {problem_phrase}, in ", " row(s)")
        for is_wrong, problem_phrase in problems
    ]
    return stop_if_broken(part_rows, checks).select(
        *(pl.col(key).alias(part_keys.column_by_key[key]) for key in key_names),
        eta_expr.alias(Part.ETA),
        share_expr.alias(Part.SHARE),
        *((pl.col(name) if is_uncertain else null_expr).alias(name) for name in UNCERTAIN_ETA_COLUMNS),
    ), is_uncertain


def _part_checks(part_keys: PartKeys, frame_key_names: Sequence[str]) -> list[Check]:
    """Return the checks that table and frame have the same parts, with the classes that they need."""
    # The frame lacks a part by its own keys, whatever the groups, such as models, that it serves.
    n_pos, n_neg = pl.col(Group.N_POS).fill_null(0), pl.col(Group.N_NEG).fill_null(0)
    eta_expr, share_expr, n_in_frame = pl.col(Part.ETA), pl.col(Part.SHARE), pl.col(_IN_FRAME)
    key_exprs = {key: pl.col(column) for key, column in part_keys.column_by_key.items()}
    lacks_row = n_in_frame == 0
    is_absent = (share_expr > 0) & (n_pos + n_neg == 0) & (pl.col(_N_GROUP_ROWS) > 0)
    remedy_phrase = "; both classes are needed to reach an eta between 0 and 1"
    has_rows = (share_expr > 0) & (n_pos + n_neg > 0)
    greatest_eta, least_eta = pl.max_horizontal(eta_expr, ETA_HIGH), pl.min_horizontal(eta_expr, ETA_LOW)
    lacks_pos = has_rows & (greatest_eta > 0) & (n_pos == 0)
    lacks_neg = has_rows & (least_eta < 1) & (n_neg == 0)
    problems = [
        (n_in_frame > 1, "the eta= frame holds a part more than once, ", ""),
        (is_absent, "the eta= frame gives a share to a part without rows, ", ""),
        (lacks_pos, "a part has no positives and an eta above 0, ", remedy_phrase),
        (lacks_neg, "a part has no negatives and an eta below 1, ", remedy_phrase),
    ]
    lacking_key_exprs = {key: key_exprs[key] for key in frame_key_names}
    n_lacking_parts = pl.struct(*lacking_key_exprs.values()).filter(lacks_row).n_unique()
    message_start_parts = ("eta= has no share for ", n_lacking_parts, " part(s), such as ")
    zero_message_parts = ("the shares of the eta= frame are all 0 in a group",)
    return [
        Check(
            lacks_row.any(),
            (
                *message_start_parts,
                *list_key_phrases(lacking_key_exprs, lacks_row),
                "; add each, with 0 if it is absent",
            ),
        ),
        *(
            Check(
                is_wrong.any(), (problem_phrase, *list_key_phrases(key_exprs, is_wrong), advice_phrase)
            )
            for is_wrong, problem_phrase, advice_phrase in problems
        ),
        Check((pl.col(_LARGEST_SHARE) == 0).any(), zero_message_parts),
    ]


# Weights that give the parts of a field their prevalences and shares ----------------------------


def check_weight_name(name: object, column_names: Collection[str]) -> None:
    """Raise unless a table with these columns can have one more of this name, of weights."""
    weight_name = arguments.read_name("name=", name)
    if (
        arguments.is_pattern(weight_name)
        or weight_name in column_names
        or weight_name.startswith(RESERVED)
    ):
        raise PrcError(
            f"choose another name=: {name!r} is already a column of the table, or cannot be a "
            "column name"
        )


def build_reweighted_table(
    table: ResolvedTable, part_columns: list[str], eta: pl.DataFrame | pl.LazyFrame, *, name: str
) -> pl.LazyFrame:
    """Return the table, in its order, with the column `name` of weights; its groups are the parts."""
    check_weight_name(name, table.schema)
    part_keys = number_keys(table, part_columns)
    part_factor_rows, _ = build_factors(table, part_keys, eta)
    part_factor_rows = part_factor_rows.select(
        *part_keys.column_by_key.values(), Population.POS_FACTOR, Population.NEG_FACTOR
    )
    weighted_rows = join_factors(table, part_factor_rows, part_keys, keep_order=True)
    amount_exprs = weigh_amounts(table)  # one of both is 0
    return weighted_rows.select(
        *map(select_column, table.schema), (amount_exprs[Row.POS] + amount_exprs[Row.NEG]).alias(name)
    )
