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
from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.ground.exact_arithmetic import (
    LARGEST_WEIGHT,
    repeat_in_rows,
    sum_shares,
    to_whole_shares,
)
from polars_prcurve.core.ground.group_keys import aggregate_by, join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import Check, count_check, stop_if_broken
from polars_prcurve.core.inputs.column_reader import (
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

    column_of_key: dict[str, str]  # all of them
    column_of_group: dict[str, str]
    column_of_part: dict[str, str]
    dtypes: dict[str, pl.DataType]  # by internal name


def number_keys(table: ResolvedTable, within: Sequence[str]) -> PartKeys:
    """Return the keys of a table whose groups are parts, the columns `within` among them."""
    column_of_key = {key: f"{RESERVED}key_{i}" for i, key in enumerate(table.by)}
    return PartKeys(
        column_of_key,
        column_of_group={key: column for key, column in column_of_key.items() if key not in within},
        column_of_part={key: column_of_key[key] for key in within},
        dtypes={column_of_key[key]: dtype for key, dtype in table.by.items()},
    )


def join_factors(
    table: ResolvedTable, part_factors: pl.LazyFrame, keys: PartKeys, *, keep_order: bool
) -> pl.LazyFrame:
    """Return the user's table with the keys by internal names, and the columns of `part_factors`."""
    named_exprs = zip(keys.column_of_key.values(), table.by_exprs, strict=True)
    keyed_rows = table.frame.with_columns(expr.alias(column) for column, expr in named_exprs)
    return join_groups(keyed_rows, part_factors, keys.dtypes, keep_order=keep_order)


def build_factors(
    table: ResolvedTable,
    keys: PartKeys,
    eta_frame: pl.DataFrame | pl.LazyFrame,
    *,
    confidence: float | None = None,
    may_be_uncertain: bool = False,
) -> tuple[pl.LazyFrame, bool]:
    """Return one row per part, with both factors of Population, its eta and its share; checked.

    Part.ETA is the prevalence of the part where none is given, and the shares of a group sum to 1.
    Return also whether a prevalence is an estimate.
    """
    asked_parts, is_uncertain = _read_frame(eta_frame, keys, table.schema, confidence, may_be_uncertain)
    parts, asked_parts = _count_parts(table, keys), asked_parts.with_columns(pl.lit(1).alias(_IN_FRAME))
    by = [*keys.column_of_group.values()]
    asked_columns = asked_parts.collect_schema()
    if by:  # of each group every part of the frame
        dtype_of_group = {column: keys.dtypes[column] for column in asked_columns if column in by}
        asked_parts = join_groups(parts.select(by).unique(), asked_parts, dtype_of_group)
    # A group_by finds which parts the table or the frame lacks, and null and NaN equal themselves there.
    stacked = pl.concat([parts, asked_parts], how="diagonal").group_by(*keys.column_of_key.values())
    all_parts = stacked.agg(
        pl.col(Group.N_POS, Group.N_NEG, _N_ROWS, *_FRAME_COLUMNS).max(), pl.col(_IN_FRAME).sum()
    )
    share = pl.col(Part.SHARE)
    total_of_name = {_N_GROUP_ROWS: pl.col(_N_ROWS).sum(), _LARGEST_SHARE: share.max()}
    all_parts = all_parts.with_columns(
        (total.over(by) if by else total).alias(name) for name, total in total_of_name.items()
    )
    frame_keys = [key for key, column in keys.column_of_key.items() if column in asked_columns]
    all_parts = stop_if_broken(all_parts, _part_checks(keys, frame_keys))
    # Shares are added as integers, so that the order of parts changes no bit.
    exponent = exact_arithmetic.weight_exponent(pl.col(_LARGEST_SHARE))
    share_sum = exact_arithmetic.to_integer(share, exponent).sum()
    share_sum = exact_arithmetic.from_integer(share_sum.over(by) if by else share_sum, exponent)
    all_parts = all_parts.with_columns(share / repeat_in_rows(share_sum, share))
    n_rows, eta = pl.col(_N_GROUP_ROWS) * share, pl.col(Part.ETA)
    n_pos, n_neg = pl.col(Group.N_POS), pl.col(Group.N_NEG)
    factor_of_name = {}
    etas_and_sizes = {Population.POS_FACTOR: (eta, n_pos), Population.NEG_FACTOR: (1 - eta, n_neg)}
    for name, (class_eta, n) in etas_and_sizes.items():
        factor = pl.when(eta.is_null()).then(n_rows / (n_pos + n_neg)).otherwise(n_rows * class_eta / n)
        factor_of_name[name] = pl.when(n > 0).then(factor).otherwise(0.0)
    return all_parts.select(
        *keys.column_of_key.values(),
        *(factor.alias(name) for name, factor in factor_of_name.items()),
        eta.fill_null(n_pos / (n_pos + n_neg)).fill_nan(None),
        share,
        *UNCERTAIN_ETA_COLUMNS,
        pl.col(Group.N_POS, Group.N_NEG).fill_null(0.0),
    ), is_uncertain


def build_field(
    table: ScoreTable, eta_frame: pl.DataFrame | pl.LazyFrame, *, confidence: float | None = None
) -> ScoreTable:
    """Return the table of the fields that the groups `within` make up: the rows of parts, weighted."""
    keys = number_keys(table, table.within)
    factors_and_etas, is_uncertain = build_factors(
        table, keys, eta_frame, confidence=confidence, may_be_uncertain=True
    )
    if is_uncertain:
        check_group_names(keys.column_of_group, UNCERTAIN_ETA_COLUMNS)
        check_group_names(keys.column_of_part, UNCERTAIN_ETA_COLUMNS, "parts")
    key_of_column = {column: key for key, column in keys.column_of_key.items()}
    if table.is_in_memory and table.may_collect and isinstance(eta_frame, pl.DataFrame):
        factors_and_etas = table.collect(factors_and_etas, "field()").lazy()
    else:  # several parts of the plan read these few rows
        factors_and_etas = factors_and_etas.cache()
    limits = add_eta_limits(factors_and_etas.with_columns(pl.col(Part.ETA).alias("eta")))
    parts = limits.select(
        *key_of_column, Part.ETA, Part.SHARE, *EtaError.LIMITS, Group.N_POS, Group.N_NEG
    ).rename(key_of_column)
    factors = factors_and_etas.select(*key_of_column, Population.POS_FACTOR, Population.NEG_FACTOR)
    field_etas = _combine_etas(factors_and_etas, keys, is_uncertain=is_uncertain)
    field_etas = field_etas.rename(key_of_column, strict=False)
    dtypes = {name: dtype for name, dtype in table.by.items() if name not in table.within}
    amount_exprs = weigh_amounts(table)
    # A row of counts represents several examples, whose weights are squared one by one.
    square_exprs = {
        Row.POS_SQUARES: amount_exprs[Row.POS] * pl.col(Population.POS_FACTOR),
        Row.NEG_SQUARES: amount_exprs[Row.NEG] * pl.col(Population.NEG_FACTOR),
    }
    return replace(
        table,
        frame=join_factors(table, factors, keys, keep_order=False),
        by=dtypes,
        by_exprs=[pl.col(keys.column_of_key[name]).alias(name) for name in dtypes],
        columns={Row.SCORE: table.columns[Row.SCORE], **amount_exprs, **square_exprs},
        tallies=Tallies(),  # they were checked when the parts were counted
        has_float_sums=True,
        count_dtype=pl.Float64(),
        is_weighted=False,
        within=(),
        parts=FieldParts(table, parts, field_etas, is_uncertain),
    )


def _combine_etas(part_factors: pl.LazyFrame, keys: PartKeys, *, is_uncertain: bool) -> pl.LazyFrame:
    """Return one row per field with FIELD_ETA, and UNCERTAIN_ETA_COLUMNS if an eta is an estimate."""
    # FIELD_ETA, the sum of share times eta, has the same bits for each model in the same field: sums of
    # weighted examples differ in the last one. Distances of parts to their ends are added in quadrature,
    # which leaves the sum between those of the ends.
    share, eta = pl.col(Part.SHARE), pl.col(Part.ETA)
    step_of_limit = {ETA_LOW: eta - pl.col(ETA_LOW), ETA_HIGH: pl.col(ETA_HIGH) - eta}
    term_exprs = {Part.FIELD_ETA: share * eta, Part.SHARE: share}
    term_exprs |= {f"{name}_sum": (share * step) ** 2 for name, step in step_of_limit.items()}
    parts_with_terms = part_factors.filter(share > 0).with_columns(
        to_whole_shares(term.fill_null(0.0)).alias(name) for name, term in term_exprs.items()
    )
    sum_exprs = [sum_shares(pl.col(name)).alias(name) for name in term_exprs]
    # The interval is null where each eta is exact, and where levels differ: then they make no level.
    level, is_known = pl.col(ETA_CONFIDENCE), pl.col(ETA_LOW).is_not_null()
    has_one_level = is_known.any() & (level.filter(is_known).n_unique() == 1)
    sum_exprs += [pl.when(has_one_level).then(level.max()), has_one_level.alias(ETA_LOW)]
    group_names = [*keys.column_of_group.values()]
    field_eta = pl.col(Part.FIELD_ETA) / repeat_in_rows(share, pl.col(Part.FIELD_ETA))
    field_rows = aggregate_by(parts_with_terms, group_names, sum_exprs).with_columns(field_eta)
    limit_columns = {
        ETA_LOW: pl.col(Part.FIELD_ETA) - pl.col(f"{ETA_LOW}_sum").sqrt(),
        ETA_HIGH: pl.col(Part.FIELD_ETA) + pl.col(f"{ETA_HIGH}_sum").sqrt(),
    }
    limit_exprs = [
        pl.when(ETA_LOW).then(limit.clip(0.0, 1.0)).alias(name) for name, limit in limit_columns.items()
    ]
    interval_exprs = (*limit_exprs, pl.col(ETA_CONFIDENCE)) if is_uncertain else ()
    return field_rows.select(*group_names, Part.FIELD_ETA, *interval_exprs)


def weigh_amounts(table: ResolvedTable) -> dict[str, pl.Expr]:
    """Return Row.POS and Row.NEG, what a row adds to either class, times the factors of its part."""
    factor_of_class = {Row.POS: pl.col(Population.POS_FACTOR), Row.NEG: pl.col(Population.NEG_FACTOR)}
    amount_exprs = class_amounts(table.columns)
    return {
        name: amount.cast(pl.Float64) * factor_of_class[name] for name, amount in amount_exprs.items()
    }


def _count_parts(table: ResolvedTable, keys: PartKeys) -> pl.LazyFrame:
    """Return one row per part that has rows: N_POS and N_NEG as floats, and its examples, _N_ROWS."""
    amount_exprs, n_rows = class_amounts(table.columns), pl.len().cast(pl.Int64).alias(_N_ROWS)
    if Row.LABEL in table.columns:
        totals = (amount_exprs[amount].sum().alias(total) for amount, total, _ in _CLASS_COLUMNS)
        part_totals = table.aggregate_groups([*totals, n_rows])
    else:
        # Weights are added as integers, so that the order of rows changes no bit.
        exponent_exprs, sum_exprs = {}, {}
        for amount_name, total_name, exponent_name in _CLASS_COLUMNS:
            greatest_amount = amount_exprs[amount_name].cast(pl.Float64).max()
            exponent_exprs[exponent_name] = exact_arithmetic.weight_exponent(greatest_amount)
            amount, exponent = pl.col(amount_name).cast(pl.Float64), pl.col(exponent_name)
            sum_exprs[total_name] = exact_arithmetic.to_integer(amount, exponent).sum()
        named_exponents = (exponent.alias(name) for name, exponent in exponent_exprs.items())
        part_totals = table.aggregate_groups([*named_exponents, n_rows]).cache()
        rows = join_groups(table.rows, part_totals.select(*table.by, *exponent_exprs), table.by)
        weight_sums = rows.group_by(*table.by).agg(**sum_exprs)
        part_totals = join_groups(part_totals, weight_sums, table.by, how="left").with_columns(
            exact_arithmetic.from_integer(pl.col(total_name), pl.col(exponent_name))
            for _, total_name, exponent_name in _CLASS_COLUMNS
        )
    checked_parts = stop_if_broken(part_totals, table.tallies.checks)
    key_exprs = [pl.col(key).alias(column) for key, column in keys.column_of_key.items()]
    parts = checked_parts.select(*key_exprs, pl.col(Group.N_POS, Group.N_NEG).cast(pl.Float64), _N_ROWS)
    if not isinstance(table, ScoreTable):
        return parts
    return parts.with_columns((pl.col(Group.N_POS) + pl.col(Group.N_NEG)).alias(_N_ROWS))


def _read_frame(
    eta_frame: pl.DataFrame | pl.LazyFrame,
    keys: PartKeys,
    table_schema: Mapping[str, pl.DataType],
    confidence: float | None,
    may_be_uncertain: bool,
) -> tuple[pl.LazyFrame, bool]:
    """Return the frame with internal names, Part.ETA, Part.SHARE and ends of eta; it may raise."""
    schema = eta_frame.lazy().collect_schema()
    dtypes = {key: keys.dtypes[column] for key, column in keys.column_of_key.items()}
    key_names = read_group_keys("eta", schema, dtypes)
    if not may_be_uncertain and {ETA_LOW, ETA_HIGH} & (set(schema) - set(key_names)):
        raise PrcError(
            "pass eta=field(...) to curve, operating_points or summary instead of weights, or "
            "drop eta_low and eta_high from the frame: a weight cannot carry the error of eta"
        )
    for column in (*keys.column_of_part, "eta", "share"):
        if column not in schema:
            raise PrcError(f"the eta= frame has no column {column!r}; {suggest_names(column, schema)}")
    for column in ("eta", "share"):
        if not (schema[column].is_numeric() or schema[column] == pl.Null):
            raise PrcError(f"column {column!r} of the eta= frame is {schema[column]}; expected numbers")
    is_uncertain = may_be_uncertain and eta_table.has_uncertain_eta(schema, key_names)
    known_names = {*key_names, "eta", "share", *(UNCERTAIN_ETA_COLUMNS if is_uncertain else ())}
    other_names = (column for column in schema if column not in known_names)
    check_forgotten_groups("eta", other_names, table_schema)
    part_rows = eta_frame.lazy().with_columns(pl.col("eta", "share").cast(pl.Float64))
    troubles: list[tuple[pl.Expr, str]] = []
    if is_uncertain:
        part_rows, troubles = eta_table.add_uncertain_eta(part_rows, schema, confidence)
    part_eta, share, no_value = pl.col("eta"), pl.col("share"), pl.lit(None, dtype=pl.Float64)
    is_outside = part_eta.is_nan() | ~part_eta.is_between(0, 1)
    lacks_share = share.is_null() | ~share.is_between(0, LARGEST_WEIGHT)
    troubles += [
        (is_outside, "holds an eta outside [0, 1] (a share, not percent)"),
        (lacks_share, "holds a 'share' that is no number from 0 to 1e100"),
    ]
    checks = [
        count_check(is_wrong.sum(), f"the eta= frame {trouble}, in ", " row(s)")
        for is_wrong, trouble in troubles
    ]
    return stop_if_broken(part_rows, checks).select(
        *(pl.col(key).alias(keys.column_of_key[key]) for key in key_names),
        part_eta.alias(Part.ETA),
        share.alias(Part.SHARE),
        *((pl.col(name) if is_uncertain else no_value).alias(name) for name in UNCERTAIN_ETA_COLUMNS),
    ), is_uncertain


def _part_checks(keys: PartKeys, frame_keys: Sequence[str]) -> list[Check]:
    """Return the checks that table and frame have the same parts, with the classes that they need."""
    # The frame lacks a part by its own keys, whatever the groups, such as models, that it serves.
    n_pos, n_neg = pl.col(Group.N_POS).fill_null(0), pl.col(Group.N_NEG).fill_null(0)
    eta, share, n_in_frame = pl.col(Part.ETA), pl.col(Part.SHARE), pl.col(_IN_FRAME)
    key_exprs = {key: pl.col(column) for key, column in keys.column_of_key.items()}
    lacks_row = n_in_frame == 0
    is_absent = (share > 0) & (n_pos + n_neg == 0) & (pl.col(_N_GROUP_ROWS) > 0)
    remedy = "; both classes are needed to reach an eta between 0 and 1"
    has_rows = (share > 0) & (n_pos + n_neg > 0)
    greatest_eta, least_eta = pl.max_horizontal(eta, ETA_HIGH), pl.min_horizontal(eta, ETA_LOW)
    lacks_pos = has_rows & (greatest_eta > 0) & (n_pos == 0)
    lacks_neg = has_rows & (least_eta < 1) & (n_neg == 0)
    troubles = [
        (n_in_frame > 1, "the eta= frame holds a part more than once, ", ""),
        (is_absent, "the eta= frame gives a share to a part without rows, ", ""),
        (lacks_pos, "a part has no positives and an eta above 0, ", remedy),
        (lacks_neg, "a part has no negatives and an eta below 1, ", remedy),
    ]
    lacked_exprs = {key: key_exprs[key] for key in frame_keys}
    n_lacked = pl.struct(*lacked_exprs.values()).filter(lacks_row).n_unique()
    beginning = ("eta= has no share for ", n_lacked, " part(s), such as ")
    zero_message = ("the shares of the eta= frame are all 0 in a group",)
    return [
        Check(
            lacks_row.any(),
            (
                *beginning,
                *list_key_phrases(lacked_exprs, lacks_row),
                "; add each, with 0 if it is absent",
            ),
        ),
        *(
            Check(is_wrong.any(), (trouble, *list_key_phrases(key_exprs, is_wrong), advice))
            for is_wrong, trouble, advice in troubles
        ),
        Check((pl.col(_LARGEST_SHARE) == 0).any(), zero_message),
    ]


# Weights that give the parts of a field their prevalences and shares ----------------------------


def check_weight_name(name: object, columns: Collection[str]) -> None:
    """Raise unless a table with these columns can have one more of this name, of weights."""
    weight_name = arguments.read_name("name=", name)
    if arguments.is_pattern(weight_name) or weight_name in columns or weight_name.startswith(RESERVED):
        raise PrcError(
            f"choose another name=: {name!r} is already a column of the table, or cannot be a "
            "column name"
        )


def build_reweighted_table(
    table: ResolvedTable, part_names: list[str], eta: pl.DataFrame | pl.LazyFrame, *, name: str
) -> pl.LazyFrame:
    """Return the table, in its order, with the column `name` of weights; its groups are the parts."""
    check_weight_name(name, table.schema)
    keys = number_keys(table, part_names)
    part_factors, _ = build_factors(table, keys, eta)
    part_factors = part_factors.select(
        *keys.column_of_key.values(), Population.POS_FACTOR, Population.NEG_FACTOR
    )
    weighted_rows = join_factors(table, part_factors, keys, keep_order=True)
    amount_exprs = weigh_amounts(table)  # one of both is 0
    return weighted_rows.select(
        *map(select_column, table.schema), (amount_exprs[Row.POS] + amount_exprs[Row.NEG]).alias(name)
    )
