"""Which rows to label next, so that precision at a threshold becomes known best.

    scores and labels so far -> strata      ranges of the score, on either side of the threshold
    strata                   -> rates       of positives among the labels of each stratum
    rates                    -> allocation  labels per stratum (Neyman 1934)

Once they are labelled, each row represents the rows of its stratum, as the plan has counted them, over
its labels in the table. These are counted then: the plan may have been made before the last of them.

Strata are fine near the threshold: on either side each one has three times the rows of the one that is
nearer. The variance of logit precision is that of `ln recall - ln fpr`, at any prevalence. A row adds to
it, if it is positive and flagged `a = (1 - r) / (r P)`, if it is negative and flagged
`b = -(1 - f) / (f N)`, and below the threshold `a = -1 / P` and `b = 1 / N`. In a stratum with a share p
of positives these vary with `S = sqrt(p (1 - p)) |a - b|`, and least variance comes of labels in
proportion to `rows * S`.

Of n labels in a stratum of which k are positive, p is (k + 1/2) / (n + 1). So a stratum without a
labelled positive gets labels, too, as long as positives may be in it. A curve fitted to all scores would
show that few are, and could not show positives that score as negatives do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.core.curves.long_tables import pick_by_number
from polars_prcurve.core.ground import column_checks
from polars_prcurve.core.ground.argument_checks import read_whole_number, refuse_objects, select_column
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import Floats
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import add_noun, list_names
from polars_prcurve.core.ground.query_guards import Check, show_value, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.column_reader import TypedColumn
from polars_prcurve.core.inputs.exact_thresholds import read_threshold_list, to_least_scores
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.prevalence.part_weights import check_weight_name
from polars_prcurve.core.sweep.sweep_column_names import UNLABELLED_COLUMNS
from polars_prcurve.core.sweep.sweep_table import count_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"  # one number per stratum

PLAN_COLUMNS = (
    "stratum",
    "score_low",
    "score_high",
    "n",
    "n_labelled",
    "positive_share",
    "n_next",
    "weight",
)
"""The columns of a plan, one row per stratum."""
LEAST_PER_STRATUM = 50
"""Labels that a stratum gets at least, if it has that many rows and the budget suffices."""

_GROWTH = 3  # how many times the rows of a stratum the next one has that is farther off the threshold
_MOST_STRATA = 1_000  # half of them are on a side, and floats hold powers of _GROWTH up to 646
STRATUM = "stratum"  # the column of strata that a weighed sample gets
_READ = ("stratum", "score_low", "score_high", "n")  # what is read of a plan to weigh a sample
# Whether a score is above the threshold; the place of the stratum of a row; rows of its stratum.
_IS_ABOVE, _PLACE, _IN_STRATUM, _STRATUM_SIZE = (
    f"{RESERVED}{name}" for name in ("is_above", "place", "in_stratum", "stratum_size")
)


def build_sampling_plan(
    table: ScoreTable, labelled_table: ScoreTable | None, *, threshold: Any, budget: int, n_strata: int
) -> pl.LazyFrame:
    """Return one row per stratum, from the highest scores down: PLAN_COLUMNS."""
    budget = read_whole_number("budget=", budget, 0)
    n_strata = read_whole_number("strata=", n_strata, 2, greatest_number=_MOST_STRATA)
    [exact_threshold] = read_threshold_list("threshold", [threshold], table.score_dtype)
    least_scores = to_least_scores([exact_threshold], table.score_dtype)
    score_query = count_scores(table, UNLABELLED_COLUMNS)
    if labelled_table is None:
        score_query = score_query.with_columns(pl.lit(0).alias(column) for column in ("n_pos", "n_neg"))
    else:
        score_query = score_query.join(count_scores(labelled_table), on="score", how="left")
    is_above = (pl.col("score") >= pl.lit(least_scores).first()).fill_null(False)
    n_labelled = (pl.col("n_pos") + pl.col("n_neg")).alias("n_labelled")
    score_query = score_query.with_columns(is_above.alias(_IS_ABOVE), n_labelled).sort(
        "score", descending=True
    )
    score_rows = table.collect(score_query, "sampling_plan")
    _check_sides(score_rows)
    strata_rows = _cut_strata(score_rows, n_strata)
    row_counts, label_counts, positive_counts = (
        strata_rows[column].to_numpy() for column in ("n", "n_labelled", "n_pos")
    )
    pos_shares = (positive_counts + 0.5) / (label_counts + 1)
    n_labels = int(label_counts.sum()) + min(budget, int((row_counts - label_counts).sum()))
    deviations = compute_deviations(row_counts, pos_shares, strata_rows[_IS_ABOVE].to_numpy())
    label_counts_after = allocate_labels(row_counts, deviations, label_counts, n_labels)
    n_empty = int((label_counts_after == 0).sum())
    if budget > 0 and n_empty:
        raise PrcError(
            f"pass a larger budget=, or fewer strata=: with {add_noun(budget, 'more label')}, "
            f"{n_empty} of {strata_rows.height} "
            "ranges of scores have none, and their rows cannot be weighted"
        )
    new_label_counts = label_counts_after - label_counts
    n_after = pl.col("n_labelled") + pl.col("n_next")
    weight = pl.when(n_after > 0).then(pl.col("n") / n_after).alias("weight")
    plan = strata_rows.with_columns(
        pl.Series("positive_share", pos_shares), n_next=pl.Series(new_label_counts, dtype=pl.Int64)
    )
    return plan.with_columns(weight).select(PLAN_COLUMNS).lazy()


def _check_sides(score_rows: pl.DataFrame) -> None:
    """Raise unless the threshold has scores on both sides."""
    if score_rows.is_empty():
        raise PrcError("sampling_plan() needs rows with a score; the table has none")
    if score_rows[_IS_ABOVE].n_unique() < 2:
        sentence_start = "all scores reach" if score_rows[_IS_ABOVE].all() else "no score reaches"
        raise PrcError(
            f"{sentence_start} the threshold, so there is nothing to sample on one side "
            f"of it; scores go from {score_rows['score'].min()!s} to {score_rows['score'].max()!s}"
        )


def _cut_strata(score_rows: pl.DataFrame, n_strata: int) -> pl.DataFrame:
    """Return the strata: half of them flagged rows, half the others; equal scores stay together."""
    is_above, row_counts = score_rows[_IS_ABOVE].to_numpy(), score_rows["n"].to_numpy()
    flagged_stratum_numbers = _number_outwards(row_counts[is_above][::-1], n_strata // 2)
    lower_stratum_numbers = _number_outwards(row_counts[~is_above], n_strata - n_strata // 2)
    stratum_numbers = pl.Series(
        "stratum", np.concatenate([-1 - flagged_stratum_numbers[::-1], lower_stratum_numbers])
    )
    strata_rows = score_rows.group_by(stratum_numbers, maintain_order=True).agg(
        pl.col("score").min().alias("score_low"),
        pl.col("score").max().alias("score_high"),
        pl.col("n", "n_labelled", "n_pos").sum().cast(pl.Int64),
        pl.col(_IS_ABOVE).first(),
    )
    return strata_rows.with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("stratum"))


def _number_outwards(row_counts: Integers, n_strata: int) -> Integers:
    """Return the number of the stratum of each score, from 0 at the threshold, by its middle row."""
    middle_shares = (np.cumsum(row_counts) - row_counts / 2) / row_counts.sum()
    end_shares = (_GROWTH ** np.arange(1.0, n_strata) - 1) / (_GROWTH ** float(n_strata) - 1)
    stratum_numbers: Integers = np.searchsorted(end_shares, middle_shares, side="right")
    return stratum_numbers


def compute_deviations(row_counts: Integers, pos_shares: Floats, is_above: NDArray[np.bool_]) -> Floats:
    """Return S of each stratum, from its rows, its fraction of positives, and whether it is flagged."""
    pos_counts, neg_counts = row_counts * pos_shares, row_counts * (1 - pos_shares)
    n_pos, n_neg = pos_counts.sum(), neg_counts.sum()
    recall, fpr = pos_counts[is_above].sum() / n_pos, neg_counts[is_above].sum() / n_neg
    pos_effects = np.where(is_above, (1 - recall) / (recall * n_pos), -1 / n_pos)
    neg_effects = np.where(is_above, -(1 - fpr) / (fpr * n_neg), 1 / n_neg)
    deviations: Floats = np.sqrt(pos_shares * (1 - pos_shares)) * np.abs(pos_effects - neg_effects)
    return deviations


def allocate_labels(
    row_counts: Integers, deviations: Floats, label_counts: Integers, n_labels: int
) -> Integers:
    """Return the labels of each stratum, old and new: `n_labels` in all, by `row_counts * deviations`.

    No stratum has fewer than it has already, nor more than its rows, nor fewer than LEAST_PER_STRATUM.
    If `n_labels` does not allow that, or if nothing is known yet, those that have fewest come first.
    """
    least_counts = np.maximum(label_counts, np.minimum(LEAST_PER_STRATUM, row_counts))
    if least_counts.sum() >= n_labels or label_counts.sum() == 0:
        return _distribute_labels(np.ones(len(row_counts)), label_counts, row_counts, n_labels)
    return _distribute_labels(row_counts * deviations, least_counts, row_counts, n_labels)


def _distribute_labels(
    weights: Floats, least_counts: Integers, greatest_counts: Integers, n_labels: int
) -> Integers:
    """Return whole numbers in proportion to those wanted, but within bounds, with this sum."""
    low_factor, high_factor = 0.0, 1.0
    count_bounds = least_counts, greatest_counts
    while np.clip(high_factor * weights, *count_bounds).sum() < n_labels and high_factor < 1e300:
        high_factor *= 2
    for _ in range(200):
        middle_factor = (low_factor + high_factor) / 2
        if np.clip(middle_factor * weights, *count_bounds).sum() < n_labels:
            low_factor = middle_factor
        else:
            high_factor = middle_factor
    exact_counts = np.clip(high_factor * weights, *count_bounds)
    label_counts: Integers = np.floor(exact_counts).astype(np.int64)
    # Rounded down, some labels are left over: they go where rounding cost most, and a row is left.
    # Where no more is wanted of any, as without a deviation, they go round.
    stratum_order = np.argsort(label_counts - exact_counts, kind="stable")
    while label_counts.sum() < min(float(n_labels), float(greatest_counts.sum())):
        for stratum_index in stratum_order:
            has_room = label_counts[stratum_index] < greatest_counts[stratum_index]
            if has_room and label_counts.sum() < n_labels:
                label_counts[stratum_index] += 1
    while label_counts.sum() > n_labels:
        label_counts[np.argmax(label_counts - least_counts)] -= 1
    return label_counts


# What labels of a plan represent ----------------------------------------------------------------


class Plan(NamedTuple):
    """The strata of a plan, by rising score."""

    stratum_names: pl.Series
    low_scores: pl.Series
    high_scores: pl.Series
    stratum_sizes: list[int]


def read_strata(plan: pl.DataFrame, score_dtype: pl.DataType) -> Plan:
    """Return the strata of a plan for scores of this dtype; raise for a table that is no plan."""
    if missing_columns := [column for column in _READ if column not in plan.columns]:
        raise PrcError(
            f"pass the table of sampling_plan() as plan=, with the columns {list_names(_READ)}; "
            f"it has no {list_names(missing_columns)}"
        )
    refuse_objects("the plan= frame", plan.schema)
    plan = plan.select(_READ)
    n_nulls = sum(plan.null_count().row(0))
    rows_text = f"{add_noun(plan.height, 'row')}, {add_noun(n_nulls, 'null')}"
    if plan.height == 0 or n_nulls or not plan["n"].dtype.is_integer():
        raise PrcError(
            "pass the table of sampling_plan() as plan=, a row per stratum, with whole "
            f"numbers; got {rows_text}, and n of {plan['n'].dtype}"
        )
    plan = plan.with_columns(
        to_least_scores(read_threshold_list("plan", plan[column], score_dtype), score_dtype).alias(
            column
        )
        for column in ("score_low", "score_high")
    ).sort("score_low")
    lows, highs = plan["score_low"], plan["score_high"]
    has_overlap = (lows > highs).any() or (lows[1:] <= highs[:-1]).any()
    if has_overlap or plan["stratum"].n_unique() < plan.height:
        raise PrcError("pass strata that do not overlap as plan=, each once")
    return Plan(plan["stratum"], lows, highs, plan["n"].to_list())


def build_weighed_sample(
    sample_rows: pl.LazyFrame,
    score_column: TypedColumn,
    label_column: TypedColumn,
    plan: Plan,
    *,
    weight_name: str,
    drops_missing: bool,
) -> pl.LazyFrame:
    """Return the rows with a label, in order, with STRATUM and their weights as `weight_name`.

    `drops_missing` leaves out null scores.
    """
    check_weight_name(weight_name, [STRATUM])
    column_names = sample_rows.collect_schema().names()
    if shared_names := [column for column in (STRATUM, weight_name) if column in column_names]:
        raise PrcError(
            f"drop or rename the column {shared_names[0]!r} of the table: the result has a "
            "column of that name"
        )
    if drops_missing:
        is_missing_expr = column_checks.is_missing(score_column.expr, score_column.dtype)
        sample_rows = sample_rows.filter(~is_missing_expr)
    low_exprs = (pl.lit(low, dtype=score_column.dtype) for low in plan.low_scores)
    n_reached = pl.sum_horizontal((score_column.expr >= low).cast(pl.Int64) for low in low_exprs)
    high_exprs = (pl.lit(high, dtype=score_column.dtype) for high in plan.high_scores)
    sample_rows = sample_rows.with_columns((n_reached - 1).alias(_PLACE)).with_columns(
        (score_column.expr <= pick_by_number(_PLACE, high_exprs)).alias(_IN_STRATUM),
        pick_by_number(_PLACE, plan.stratum_names).cast(plan.stratum_names.dtype).alias(STRATUM),
        pick_by_number(_PLACE, plan.stratum_sizes).cast(pl.Float64).alias(_STRATUM_SIZE),
    )
    is_labelled = label_column.expr.is_not_null()
    has_nan, is_beyond = score_column.dtype.is_float(), ~pl.col(_IN_STRATUM).fill_null(False)
    checks = [
        *column_checks.missing_checks(
            lambda test: test.sum(), score_column.subject_phrase, score_column.expr, refuses_nan=has_nan
        )
    ]
    first_parts = f"{score_column.subject_phrase} is in no stratum of the plan in ", is_beyond.sum()
    example_score, advice = score_column.expr.filter(is_beyond).first(), "; make the plan of these rows"
    sentence_parts = (*first_parts, " row(s), such as ", show_value(example_score), advice)
    checks.append(Check(is_beyond.any(), sentence_parts))
    for plan_number, (stratum_name, low, high, n_rows) in enumerate(zip(*plan, strict=True)):
        stratum_text = (
            f"stratum {stratum_name} of the plan, scores {low} to {high}, has {n_rows} row(s) and "
        )
        n_labels = (is_labelled & (pl.col(_PLACE) == plan_number)).sum()
        labels_advice = "no label; label as many as its n_next, or plan with a larger budget="
        checks.append(Check(n_labels == 0, (stratum_text + labels_advice,)))
        checks.append(Check(n_labels > n_rows, (stratum_text, n_labels, f" label(s){advice}")))
    weights = pl.col(_STRATUM_SIZE) / pl.len().over(_PLACE).cast(pl.Float64)
    labelled_rows = stop_if_broken(sample_rows, checks).filter(is_labelled)
    return labelled_rows.select(*map(select_column, column_names), STRATUM, weights.alias(weight_name))
