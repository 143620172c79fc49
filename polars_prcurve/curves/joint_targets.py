"""Targets that a threshold meets in truth, with confidence, and targets that it must meet together.

    targets -> promised   each with a search for a threshold that keeps its promise
            -> joined     one target that is met where all of them are

Without a guarantee each row tells whether it meets all targets. With one, each target has a stretch of
rows for which its promise holds, and the stretches have rows in common, or none:

    target   ->  first and last row of its stretch
    targets  ->  the rows from the last of the first ones to the first of the last ones

The lowest threshold of those has the most recall.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_number, take_frame
from polars_prcurve.curves.curve_table import pick_by_number
from polars_prcurve.curves.guarantee_searches import ALPHA, PROMISES, Guarantee
from polars_prcurve.curves.targets import (
    ROW_NUMBER,
    TARGET_NUMBER,
    ClassSizes,
    Extreme,
    Found,
    Needed,
    Promise,
    Search,
    Target,
    choose_row,
    find_greatest_rate,
    merge_steps,
)
from polars_prcurve.curves.threshold_frames import LEAST_SCORE, read_group_thresholds
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_and_rate_tables import InputTable, ScoreTable, has_unlike_examples
from polars_prcurve.inputs.threshold_values import read_threshold_list, to_least_scores
from polars_prcurve.metrics.curve_metric import Rows
from polars_prcurve.prevalence.eta_argument import EtaTable
from polars_prcurve.query_checks import Check
from polars_prcurve.sweep.grouped_rows import class_counts

GUARANTEE_COLUMNS = ("guarantee", "holds_from", "holds_to", "n_pos_needed", "n_neg_needed")


def promise_and_join(
    targets: Sequence[Target],
    table: InputTable,
    grid: EtaTable,
    *,
    guarantee: Any,
    start: Any,
    together: Any,
) -> list[Target]:
    """Return the targets as promised by `guarantee=`, and as one if all must be met `together`."""
    if together and len(targets) < 2:
        raise PrcError(
            f"together= joins several targets, and there is one, {targets[0].criterion}; leave "
            "together= out, or add a target"
        )
    level = _read_level(guarantee, targets)
    if level is not None:
        assert isinstance(table, ScoreTable)  # points have no promises, by the rules of calls
        if table.parts is not None and table.parts.uncertain_eta:
            raise PrcError(
                "guarantee= takes the eta of each part of a field as exact: choose the threshold "
                "without eta_low and eta_high, and then pass it as threshold= with them, for its "
                "interval"
            )
        table = table.require_example_counts("guarantee=")
        starts, value, start = None, None, take_frame(start)
        if isinstance(start, pl.DataFrame | pl.LazyFrame):
            starts = read_group_thresholds(table, start, at_eta=True, one_each=True, argument="start")
            value = pl.col(LEAST_SCORE)
        elif start is not None:
            numbers = read_threshold_list("start", [start], table.score_dtype)
            value = pl.lit(to_least_scores(numbers, table.score_dtype)).first()
        in_field, sized = table.parts is not None, has_unlike_examples(table)
        shared = len(targets) if together else 1
        targets = Guarantee(level, value, starts, grid.uncertain, shared, in_field, sized).promise(
            targets
        )
    return [_join_targets(targets)] if together else list(targets)


def promise_targets_of_expression(
    targets: Sequence[Target], guarantee: Any, start: Any, *, weighted: bool
) -> list[Target]:
    """Return the targets of an expression as promised by `guarantee=`; scores are Float64 there."""
    if (level := _read_level(guarantee, targets)) is None:
        return list(targets)
    if weighted:
        raise PrcError(
            "guarantee= takes no weights in an expression; ask a frame for it with "
            ".prc.operating_points(weight=...)"
        )
    if find_greatest_rate(targets) is not None:
        raise PrcError(
            "guarantee= of alerts or predicted_positive_rate needs beta quantiles, for which Polars "
            "has no expression; ask a DataFrame for it with .prc.operating_points"
        )
    value = None
    if start is not None:
        value = pl.lit(read_number("start=", start, "a score", lambda score: not math.isnan(score)))
    return Guarantee(level, value).promise(targets)


def _read_level(guarantee: Any, targets: Sequence[Target]) -> float | None:
    """Return the level, or None without `guarantee=`; raise for targets that cannot be promised."""
    if guarantee is None:
        return None
    level = read_number("guarantee=", guarantee, "a level such as 0.95", lambda at: 0.5 < at < 1)
    for target in targets:
        if target.criterion not in PROMISES:
            raise PrcError(
                f"guarantee= cannot promise {target.criterion}: it does not go one way with the "
                "threshold, so thresholds have no natural order of tests; it takes precision=, npv=, "
                "fdr=, lift=, recall=, fpr=, predicted_positive_rate= and alerts="
            )
    return level


def list_promise_checks(targets: Sequence[Target], grid: EtaTable) -> list[Check]:
    """Return the checks of starts, and of levels of estimates of eta, over points at their pairs."""
    promise, checks = targets[0].promise, []
    if promise is not None and promise.starts is not None:
        checks.append(promise.starts.missing_row_check(pl.col(TARGET_NUMBER) == 0))
    if promise is None or not grid.uncertain or not any(target.depends_on_eta for target in targets):
        return checks
    given, interval = pl.col(c.ETA_LOW).is_not_null(), pl.col(c.ETA_CONFIDENCE)
    unknown = (
        "guarantee= shares its error with the interval of eta, whose level is not known; add a column "
        "eta_confidence to the eta= frame",
    )
    level, alpha = promise.level, promise.alpha
    share = "" if math.isclose(level, 1 - alpha) else f" ({alpha:.12g} for each of the targets)"
    no_room = (
        "an eta_confidence of ",
        interval.min(),
        f" leaves no room for the error of a test in guarantee={level}{share}; pass an interval of eta "
        f"of a level above {1 - 2 * alpha:.12g}",
    )
    checks.append(Check((given & interval.is_null()).any(), unknown))
    return [*checks, Check((given & pl.col(ALPHA).is_null()).any(), no_room)]


def add_guarantee_columns(
    points: pl.LazyFrame, targets: Sequence[Target], ends: Sequence[pl.Expr], table: InputTable
) -> pl.LazyFrame:
    """Add GUARANTEE_COLUMNS to points at eta, from the scores at the other `ends` of their stretches."""
    threshold, eta = pl.col("threshold"), pl.col("eta")
    counts = [count.cast(pl.Float64) for count in class_counts(table)]
    sizes = [pl.col(c.POS_SIZE), pl.col(c.NEG_SIZE)] if has_unlike_examples(table) else counts
    of = ClassSizes(*counts, *sizes)
    # Sums of weights are no whole numbers.
    is_whole = isinstance(table, ScoreTable) and table.count_dtype.is_integer()
    columns: list[list[Any]] = []
    for target, end in zip(targets, ends, strict=True):
        promise = target.promise
        assert promise is not None
        other = pl.when(threshold.is_not_null()).then(end)
        asked = (promise.n_pos_needed, promise.n_neg_needed)
        needed = [pl.lit(None, dtype=pl.Float64) if n is None else n(of, eta) for n in asked]
        needed = [n.ceil() if is_whole else n.round_sig_figs(12) for n in needed]
        stretch = (threshold, other) if promise.holds_above else (other, threshold)
        columns.append([promise.level, *stretch, *needed])
    return points.with_columns(
        pick_by_number(TARGET_NUMBER, picked).alias(name)
        for name, picked in zip(GUARANTEE_COLUMNS, zip(*columns, strict=True), strict=True)
    )


# Several targets that one threshold must meet -------------------------------------------------


def _join_targets(targets: Sequence[Target]) -> Target:
    """Return the target that is met where all are; promised if they are promised."""
    promises = [target.promise for target in targets if target.promise is not None]
    tests = [target.test for target in targets if target.test is not None]

    def count_most(counts: Iterable[Needed | None]) -> Needed | None:
        given = [count for count in counts if count is not None]
        return (lambda of, eta: pl.max_horizontal(count(of, eta) for count in given)) if given else None

    promise, search = None, choose_row(lambda rows: pl.all_horizontal(test(rows) for test in tests))
    if promises:
        search = _join_searches(targets, promises)
        n_pos = count_most(one.n_pos_needed for one in promises)
        n_neg = count_most(one.n_neg_needed for one in promises)
        promise = promises[0]._replace(
            end=None, holds_above=True, run_start=None, n_pos_needed=n_pos, n_neg_needed=n_neg
        )
    return Target(
        " & ".join(target.criterion for target in targets),
        None,
        search,
        any(target.depends_on_eta for target in targets),
        rate=next((target.rate for target in targets if target.rate is not None), None),
        promise=promise,
        is_joined=True,
    )


def _join_searches(targets: Sequence[Target], promises: Sequence[Promise]) -> Search:
    """Return the search for the last row of the stretch that all targets have in common."""

    def find_extremes(rows: Rows) -> dict[str, Extreme]:
        number = rows.column(ROW_NUMBER)
        found = {"first_row": Extreme(number, False), "last_row": Extreme(number)}
        for place, target in enumerate(targets):
            of_target = target.search.extremes(rows)
            found |= {f"{name}_{place}": extreme for name, extreme in of_target.items()}
        return found

    def find_stretch(found: Found) -> tuple[pl.Expr, pl.Expr]:
        first, last = [found("first_row")], [found("last_row")]
        for place, (target, promise) in enumerate(zip(targets, promises, strict=True)):

            def found_here(name: str, place: int = place) -> pl.Expr:
                return found(f"{name}_{place}")

            near, far = (last, first) if promise.holds_above else (first, last)
            near.append(target.search.row(found_here))
            if promise.run_start is not None:
                far.append(found_here(promise.run_start))
        # max_horizontal skips nulls, and a target that no row meets is one.
        known = pl.all_horizontal(row.is_not_null() for row in (*first, *last))
        top, bottom = pl.max_horizontal(first), pl.min_horizontal(last)
        shared = known & (top <= bottom)
        return pl.when(shared).then(top), pl.when(shared).then(bottom)

    return Search(
        find_extremes,
        lambda found: find_stretch(found)[1],
        merge_steps(targets),
        lambda found: find_stretch(found)[0],
    )
