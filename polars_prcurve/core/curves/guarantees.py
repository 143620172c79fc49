"""Guarantees: targets whose true value a threshold meets, with confidence, and the search for it.

    rows -> start    the first row with enough alerts, which no label chose, or that of a given score
         -> run      its test and those of all rows below, down to the first that fails
         -> row      the last one before that

A broken guarantee returns a threshold at or below the highest one that misses the target, which is
fixed. So the test there has passed, which happens with a probability of at most alpha, whatever the
curve. The test of precision is that of the false positives among the alerts, given their sum. Recall and
fpr are monotone, so any row that passes will do, and there is no run.

At the prevalence of a cohort, the share of false positives among the alerts is one less precision,
whatever the numbers of positives and negatives are. With weights or clusters, the alerts count as fewer
examples, and so do the false ones among them; see `effective_alerts`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.core.confidence import binomial_tails as tails
from polars_prcurve.core.confidence.interval_input_columns import (
    ETA_CONFIDENCE,
    ETA_HIGH,
    ETA_LOW,
    EtaError,
)
from polars_prcurve.core.confidence.rate_intervals import compute_upper_limits
from polars_prcurve.core.curves import bands_and_guarantees_of_parts as in_field
from polars_prcurve.core.curves.given_group_thresholds import (
    LEAST_SCORE,
    GroupThresholds,
    read_group_thresholds,
)
from polars_prcurve.core.curves.search_by_extremes import (
    ROW_NUMBER,
    Extreme,
    ExtremeReader,
    RowTest,
    Search,
    choose_row,
    number_where,
)
from polars_prcurve.core.curves.targets import (
    END,
    TARGET_NUMBER,
    ClassSizes,
    CountNeeded,
    Promise,
    Target,
    find_greatest_rate,
    join_targets,
    pick_by_target,
)
from polars_prcurve.core.ground.argument_checks import read_number, take_frame
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import is_at_most
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.normal_distribution import add_normal_quantile
from polars_prcurve.core.ground.query_guards import Check
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.inputs.exact_thresholds import read_threshold_list, to_least_scores
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.metrics.curve_metric import SegmentValues, Step
from polars_prcurve.core.metrics.segment_column_names import CELLS
from polars_prcurve.core.metrics.target_kinds import (
    RUN_WORDS,
    TARGET_KINDS,
    PromiseTest,
    RunTest,
    divide_shares,
)
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.sweep.effective_alerts import GREATEST_SIZES
from polars_prcurve.core.sweep.sweep_column_names import AlertSize

_RECALL_HIGH = f"{RESERVED}recall_high"  # the one-sided upper limit at a row, by Clopper and Pearson
_FPR_HIGH = f"{RESERVED}fpr_high"  # that of fpr
ALPHA = f"{RESERVED}alpha"  # what an interval of eta leaves of the probability of error
_ALPHA_QUANTILE = f"{RESERVED}alpha_quantile"  # the normal quantile of that
_ETA_ENDS = f"{RESERVED}promised_eta_low", f"{RESERVED}promised_eta_high"
"""The interval of eta; eta itself, where it is exact."""
PROMISE_COLUMNS = (*_ETA_ENDS, ALPHA, _ALPHA_QUANTILE)
"""The columns of a population that tests read where prevalences are estimates."""
Ratio: TypeAlias = Callable[[pl.Expr], pl.Expr]
"""The function from eta to the fpr per recall at which a target is just met."""
_PROMISED_WORDS = tuple(
    dict.fromkeys([*RUN_WORDS, *(word for word, kind in TARGET_KINDS.items() if kind.promise_test)])
)
"""The words of targets that can be guaranteed, in the order in which errors name them."""
GUARANTEE_COLUMNS = ("guarantee", "holds_from", "holds_to", "n_pos_needed", "n_neg_needed")
"""The columns that a guarantee adds to points, of which the names are public."""


class PromisedSearch(NamedTuple):
    """The search for thresholds whose true value meets a target, and the columns of its guarantee."""

    search: Search
    find_end: Callable[[SegmentValues], Extreme]  # the score at the other end of the stretch
    count_others_needed: CountNeeded | None = None
    """The examples that are needed of the class that is not sought."""
    count_sought_needed: CountNeeded | None = None
    """Those of the class that is sought, which are needed at the test set's prevalence."""


class Guarantee(NamedTuple):
    """A level, and where runs start: at a score, at the scores of a frame, or, if None, by default."""

    level: float
    start: pl.Expr | None = None
    starts: GroupThresholds | None = None
    uncertain_eta: bool = False  # prevalences are estimates; then rows have PROMISE_COLUMNS
    n_shared: int = 1  # targets that are guaranteed together, and share the probability of error
    in_field: bool = False  # the table is a field of several parts; then rows have its limits
    has_sizes: bool = False  # examples have weights or come in clusters; then rows have ALERT_SIZES

    @property
    def alpha(self) -> float:
        """The probability with which the guarantee of a target may be broken."""
        # Bonferroni: all guarantees hold if none of them is broken.
        return (1 - self.level) / self.n_shared

    def promise(self, targets: Sequence[Target]) -> list[Target]:
        """Return the targets with a search for thresholds whose true value meets them."""
        promised_targets = []
        for target_number, target in enumerate(targets):
            is_run, takes_first = isinstance(_read_test(target), RunTest), target.takes_first
            promise_target = _promise_run if is_run else _promise_rate
            search, find_end, count_others_needed, count_sought_needed = promise_target(
                target, self, target_number
            )
            # The examples that prove it are positives for recall and npv, and negatives for all other
            # targets; at the test set's prevalence it is the other way round.
            promise = Promise(
                level=self.level,
                alpha=self.alpha,
                find_end=find_end,
                holds_above=not takes_first,
                starts=self.starts,
                has_sizes=self.has_sizes,
                run_start="start" if is_run else None,
                changes_once_in_block=not (self.in_field or self.has_sizes),
                count_pos_needed=count_others_needed if takes_first else count_sought_needed,
                count_neg_needed=count_sought_needed if takes_first else count_others_needed,
            )
            promised_targets.append(replace(target, search_without_limit=search, promise=promise))
        return promised_targets


def promise_and_join(
    targets: Sequence[Target],
    table: ResolvedTable,
    grid: EtaTable,
    *,
    guarantee: Any,
    start: Any,
    together: Any,
) -> list[Target]:
    """Return the targets as guaranteed by `guarantee=`, and as one if all must be met `together`."""
    if together and len(targets) < 2:
        raise PrcError(
            "leave out together=, or add a target: together= joins several targets, and "
            f"{targets[0].criterion} is the only one"
        )
    level = _read_level(guarantee, targets)
    if level is not None:
        assert isinstance(table, ScoreTable)  # points have no guarantees, by the rules of calls
        if table.parts is not None and table.parts.uncertain_eta:
            raise PrcError(
                "choose the threshold without eta_low and eta_high, then pass the threshold and "
                "both columns for its interval: guarantee= treats each part's eta as exact"
            )
        table = table.require_example_counts("guarantee=")
        start_thresholds, start_score, start = None, None, take_frame(start)
        if isinstance(start, pl.DataFrame | pl.LazyFrame):
            start_thresholds = read_group_thresholds(
                table, start, at_eta=True, one_each=True, argument_name="start"
            )
            start_score = pl.col(LEAST_SCORE)
        elif start is not None:
            exact_starts = read_threshold_list("start", [start], table.score_dtype)
            start_score = pl.lit(to_least_scores(exact_starts, table.score_dtype)).first()
        resolved_guarantee = Guarantee(
            level,
            start=start_score,
            starts=start_thresholds,
            uncertain_eta=grid.is_uncertain,
            n_shared=len(targets) if together else 1,
            in_field=table.parts is not None,
            has_sizes=table.sample.has_alert_sizes,
        )
        targets = resolved_guarantee.promise(targets)
    return [join_targets(targets)] if together else list(targets)


def promise_targets_of_expression(
    targets: Sequence[Target], guarantee: Any, start: Any, *, has_weights: bool
) -> list[Target]:
    """Return the targets of an expression as guaranteed by `guarantee=`; scores are Float64 there."""
    if (level := _read_level(guarantee, targets)) is None:
        return list(targets)
    if has_weights:
        raise PrcError(
            "use the method .prc.operating_points(weight=...): guarantee= takes no weights in "
            "an expression"
        )
    if find_greatest_rate(targets) is not None:
        raise PrcError(
            "use .prc.operating_points on a DataFrame: guarantee= with alerts= or "
            "predicted_positive_rate= needs beta quantiles, for which Polars has no expression"
        )
    start_score = None
    if start is not None:
        start = read_number("start=", start, "a score", lambda score: not math.isnan(score))
        start_score = pl.lit(start)
    return Guarantee(level, start=start_score).promise(targets)


def _read_level(guarantee: Any, targets: Sequence[Target]) -> float | None:
    """Return the level, or None without `guarantee=`; raise for targets that cannot be guaranteed."""
    if guarantee is None:
        return None
    level = read_share("guarantee=", guarantee, "a level such as 0.95", lambda share: 0.5 < share < 1)
    for target in targets:
        if target.kind is None or target.kind.promise_test is None:
            reason_text = "it has no test yet"
            if target.kind is None:
                reason_text = (
                    "its value rises and falls with the threshold, so there is no natural order in "
                    "which to test thresholds"
                )
            argument_words = join_words(f"{word}=" for word in _PROMISED_WORDS)
            raise PrcError(
                f"pass {argument_words} with guarantee=, not {target.criterion}: {reason_text}"
            )
    return level


def list_promise_checks(targets: Sequence[Target], grid: EtaTable) -> list[Check]:
    """Return the checks of starts, and of levels of estimates of eta, over points."""
    promise, checks = targets[0].promise, []
    assert promise is not None
    if promise.starts is not None:
        checks.append(promise.starts.missing_row_check(pl.col(TARGET_NUMBER) == 0))
    if not grid.is_uncertain or not any(target.depends_on_eta for target in targets):
        return checks
    has_interval, eta_level = pl.col(ETA_LOW).is_not_null(), pl.col(ETA_CONFIDENCE)
    unknown_level_sentence = (
        "guarantee= shares its error with the interval of eta, whose level is not known; add a column "
        "eta_confidence to the eta= frame",
    )
    level, alpha = promise.level, promise.alpha
    level_text = "" if math.isclose(level, 1 - alpha) else f" ({alpha:.12g} for each of the targets)"
    no_room_sentence = (
        "an eta_confidence of ",
        eta_level.min(),
        f" leaves no room for the error of a test in guarantee={level}{level_text}; pass an eta "
        f"interval with a level above {1 - 2 * alpha:.12g}",
    )
    checks.append(Check((has_interval & eta_level.is_null()).any(), unknown_level_sentence))
    return [*checks, Check((has_interval & pl.col(ALPHA).is_null()).any(), no_room_sentence)]


def add_guarantee_columns(
    points: pl.LazyFrame,
    targets: Sequence[Target],
    class_count_exprs: Iterable[pl.Expr],
    table: ScoreTable,
) -> pl.LazyFrame:
    """Add GUARANTEE_COLUMNS to points at eta, from the sizes of both classes and END of stretches."""
    threshold, eta = pl.col("threshold"), pl.col("eta")
    example_count_exprs = [count_needed.cast(pl.Float64) for count_needed in class_count_exprs]
    has_whole_counts = table.count_dtype.is_integer()  # sums of weights are no whole numbers
    values_of_targets: list[list[Any]] = []
    for target in targets:
        promise = target.promise
        assert promise is not None
        effective_size_exprs = example_count_exprs
        if promise.has_sizes:
            effective_size_exprs = [pl.col(AlertSize.POS), pl.col(AlertSize.NEG)]
        sizes_of_classes = ClassSizes(*example_count_exprs, *effective_size_exprs)
        other_end_score = pl.when(threshold.is_not_null()).then(END)
        exact_count_exprs = (
            pl.lit(None, dtype=pl.Float64)
            if count_needed is None
            else count_needed(sizes_of_classes, eta)
            for count_needed in (promise.count_pos_needed, promise.count_neg_needed)
        )
        needed_count_exprs = [
            expr.ceil() if has_whole_counts else expr.round_sig_figs(12) for expr in exact_count_exprs
        ]
        stretch_ends = (
            (threshold, other_end_score) if promise.holds_above else (other_end_score, threshold)
        )
        values_of_targets.append([promise.level, *stretch_ends, *needed_count_exprs])
    values_of_column = zip(GUARANTEE_COLUMNS, zip(*values_of_targets, strict=True), strict=True)
    return points.with_columns(
        pick_by_target(target_values).alias(column) for column, target_values in values_of_column
    )


def add_promised_etas(populations: pl.LazyFrame, alpha: float) -> pl.LazyFrame:
    """Add PROMISE_COLUMNS to populations whose prevalences are estimates."""
    # The interval of eta misses the true one on the unsafe side with half of what its level leaves. The
    # tests get the rest of `alpha`, unless that is only what rounding left.
    test_alpha = alpha - ((1 - pl.col(ETA_CONFIDENCE)) / 2).fill_null(0.0)
    end_columns = zip(_ETA_ENDS, (ETA_LOW, ETA_HIGH), strict=True)
    populations = populations.with_columns(
        *(pl.coalesce(end, "eta").alias(name) for name, end in end_columns),
        pl.when(test_alpha > 1e-12).then(test_alpha).alias(ALPHA),
    )
    return add_normal_quantile(populations, pl.col(ALPHA), _ALPHA_QUANTILE)


def add_upper_limits(
    sweep_rows: pl.LazyFrame, alpha: float | None, greatest_rate: float, table: ResolvedTable
) -> pl.LazyFrame:
    """Add upper limits of both rates, which err with alpha, or ALPHA, to rows; collect them."""
    # A share of alerts lies between recall and fpr at any prevalence, so where both are above the
    # `greatest_rate` that is requested, no test can pass, and the limits are 1: a beta quantile costs
    # more than all else that is done to a row.
    collected_rows = table.collect(sweep_rows, "guarantee= of alerts or predicted_positive_rate")
    may_pass = collected_rows.select(
        (pl.min_horizontal("recall", "fpr") <= greatest_rate).fill_null(True)
    ).to_series()
    tested_rows = collected_rows.filter(may_pass)
    tail_alpha = tested_rows[ALPHA].to_numpy() if alpha is None else alpha
    limits_by_column = {}
    for limit_column, flagged_column, unflagged_column in (
        (_RECALL_HIGH, "tp", "fn"),
        (_FPR_HIGH, "fp", "tn"),
    ):
        limit_values = np.ones(collected_rows.height)
        n_examples = tested_rows[flagged_column] + tested_rows[unflagged_column]
        limit_values[may_pass.to_numpy()] = compute_upper_limits(
            tested_rows[flagged_column].to_numpy(), n_examples.to_numpy(), tail_alpha
        )
        limits_by_column[limit_column] = pl.Series(limit_values).fill_nan(None)
    return collected_rows.with_columns(**limits_by_column).lazy()


# Precision, and what is precision in other words ----------------------------------------------


class _Run(NamedTuple):
    """The tests of a run, from its start on: down for precision, and up for npv."""

    steps: Sequence[Step]  # columns that the tests read
    has_started: RowTest
    passes: RowTest


def _promise_run(target: Target, guarantee: Guarantee, target_number: int) -> PromisedSearch:
    """Return the search along a run of precision, fdr, lift or npv."""
    start_score, takes_first, target_value = guarantee.start, target.takes_first, _read_value(target)
    run_test = _read_run_test(target)
    # Of a prevalence that is an estimate the ratio takes the end at which the target is hardest to meet.
    hardest_eta_column = _ETA_ENDS[0 if run_test.is_hardest_at_low_eta(target_value) else 1]

    def find_ratio(eta: pl.Expr) -> pl.Expr:
        prevalence = pl.col(hardest_eta_column) if guarantee.uncertain_eta else eta
        # 0/0 is a target that every threshold meets, such as a precision of 1 at a prevalence of 1.
        return run_test.find_ratio(target_value, prevalence).fill_nan(math.inf)

    alpha: tails.Alpha = guarantee.alpha
    if guarantee.uncertain_eta:
        alpha = tails.AlphaColumns(pl.col(ALPHA), pl.col(_ALPHA_QUANTILE))
    count_others, count_sought = None, None
    if guarantee.in_field:
        run = _build_field_run(target, find_ratio)
    else:
        run = _build_run(target, guarantee, target_number, find_ratio, alpha)
        count_others, count_sought = _build_counters(target, find_ratio, alpha)
    if start_score is not None:
        run = run._replace(
            has_started=lambda row_values: (
                row_values.column(Row.SCORE) >= start_score
                if takes_first
                else row_values.column(Row.SCORE) < start_score
            )
        )

    def find_end(row_values: SegmentValues) -> Extreme:
        if start_score is not None:
            return Extreme(start_score)
        return Extreme(
            pl.when(run.has_started(row_values)).then(row_values.column(Row.SCORE)), not takes_first
        )

    search = _search_run(
        run, takes_first=takes_first, starts_at_score=start_score is not None and not takes_first
    )
    return PromisedSearch(search, find_end, count_others, count_sought)


def _build_field_run(target: Target, find_ratio: Ratio) -> _Run:
    """Return the run of a target in a field of several parts, which reads the limits of its rows."""
    run_columns = in_field.NPV_RUN if target.takes_first else in_field.PRECISION_RUN

    def has_started(row_values: SegmentValues) -> pl.Expr:
        log_ratio = find_ratio(row_values.eta).log()
        # The limit of the best labels must be below the target by ln 2, or by a quarter of the farthest
        # that it gets: a start where the target is barely in reach would fail its test at once.
        log_room = ((log_ratio - row_values.column(run_columns.best_of_all)) * 0.25).clip(
            0.0, math.log(2)
        )
        is_target_in_reach: pl.Expr = row_values.column(run_columns.best) <= log_ratio - log_room
        has_begun: pl.Expr = row_values.column(run_columns.is_long_enough) & is_target_in_reach
        return has_begun

    def passes(row_values: SegmentValues) -> pl.Expr:
        n_right, ratio_at_eta = _cast_cells(row_values, target)[0], find_ratio(row_values.eta)
        is_below: pl.Expr = row_values.column(run_columns.limit) <= ratio_at_eta.log()
        return (n_right > 0) & ((ratio_at_eta == math.inf) | is_below)

    return _Run((), has_started, passes)


def _build_run(
    target: Target, guarantee: Guarantee, target_number: int, find_ratio: Ratio, alpha: tails.Alpha
) -> _Run:
    """Return the run of a target, whose tests are of the cells of each row."""
    # What is used more than once is a column, since expressions in lists share no common parts.
    odds_column, start_column, passing_column, started_column, passed_column = (
        f"{RESERVED}{name}_{target_number}" for name in ("odds", "most", "passing", "started", "passed")
    )

    def add_odds(row_values: SegmentValues) -> dict[str, pl.Expr]:
        # The false positives per true one at which the target is just met in this table
        tp, fp, fn, tn = _cast_cells(row_values, target)
        odds: pl.Expr = ((fp + tn) * find_ratio(row_values.eta) / (tp + fn)).fill_nan(0.0)
        if (own_odds := _find_own_odds(target)) is None:
            return {odds_column: odds}
        # One class proves nothing.
        is_own = row_values.column(EtaError.IS_OWN) & (tp + fn > 0) & (fp + tn > 0)
        return {odds_column: pl.when(is_own).then(own_odds).otherwise(odds)}

    def add_test(row_values: SegmentValues) -> dict[str, pl.Expr]:
        tp, fp, fn, tn = _cast_cells(row_values, target)
        n_wrong, n_alerts, _ = _list_alert_counts(row_values, target, guarantee)
        odds = row_values.column(odds_column)
        test_exprs = {passed_column: (tp > 0) & tails.is_tail_at_most(alpha, n_wrong, n_alerts, odds)}
        if guarantee.start is not None:
            return test_exprs
        n_rows = tp + fp + fn + tn
        size_ratio = row_values.column(AlertSize.TABLE) / n_rows if guarantee.has_sizes else 1.0
        n_sought, n_others = (tp + fn) * size_ratio, (fp + tn) * size_ratio
        return test_exprs | {start_column: count_alerts_at_start(n_sought, n_others, odds, alpha)}

    def add_passing(row_values: SegmentValues) -> dict[str, pl.Expr]:
        n_alerts, odds = row_values.column(start_column), row_values.column(odds_column)
        return {passing_column: tails.count_passing(n_alerts, odds, alpha)}

    def add_start(row_values: SegmentValues) -> dict[str, pl.Expr]:
        _, _, n_alerts = _list_alert_counts(row_values, target, guarantee)
        n_passing, odds = row_values.column(passing_column), row_values.column(odds_column)
        would_fewer_pass = tails.is_tail_at_most(alpha, n_passing, n_alerts, odds)
        is_early_start = (odds < math.inf) & would_fewer_pass
        return {started_column: (n_alerts >= row_values.column(start_column)) | is_early_start}

    steps = (add_odds, add_test, *((add_passing, add_start) if guarantee.start is None else ()))
    return _Run(steps, _read_flag(started_column), _read_flag(passed_column))


def _read_flag(column: str) -> RowTest:
    """Return the test that a column of true and false has computed."""
    return lambda row_values: row_values.column(column)


def _find_own_odds(target: Target) -> float | None:
    """Return the false positives per true one that just meet a target at the test set's prevalence."""
    # They do not depend on it, except for a lift, which stays at the number that was counted.
    own_odds = _read_run_test(target).own_odds
    return None if own_odds is None else own_odds(_read_value(target))


def _read_test(target: Target) -> PromiseTest:
    assert target.kind is not None
    assert target.kind.promise_test is not None  # others are refused by `_read_level`
    return target.kind.promise_test


def _read_run_test(target: Target) -> RunTest:
    promise_test = _read_test(target)
    assert isinstance(promise_test, RunTest)
    return promise_test


def _read_value(target: Target) -> float:
    target_value = target.value if target.rate is None else target.rate
    assert isinstance(target_value, float)
    return target_value


def _build_counters(
    target: Target, find_ratio: Ratio, alpha: tails.Alpha
) -> tuple[CountNeeded, CountNeeded | None]:
    """Return the examples that perfect scores need: of the other class, and at that of the test set."""
    own_odds, is_own = _find_own_odds(target), pl.col(EtaError.IS_OWN)

    def read_sought(sizes_of_classes: ClassSizes) -> tuple[pl.Expr, pl.Expr]:
        n_pos, n_neg, pos_size, neg_size = sizes_of_classes
        return (n_neg, neg_size) if target.takes_first else (n_pos, pos_size)

    def count_others(sizes_of_classes: ClassSizes, eta: pl.Expr) -> pl.Expr:
        # n (alpha**(-1/m) - 1) / ratio, for n examples of the class that is sought, which count as m.
        # With sinh, because the difference from 1 would cancel where m is large.
        n_sought, effective_size = read_sought(sizes_of_classes)
        half_exponent: pl.Expr = -tails.log_alpha(alpha) / effective_size / 2
        n_needed: pl.Expr = (
            n_sought * 2 * half_exponent.sinh() * half_exponent.exp() / find_ratio(eta)
        ).fill_nan(math.inf)
        return n_needed if own_odds is None else pl.when(~is_own).then(n_needed)

    def count_sought(sizes_of_classes: ClassSizes, _eta: pl.Expr) -> pl.Expr:
        # So many alerts without a false one are as improbable as alpha; others change nothing.
        n_sought, effective_size = read_sought(sizes_of_classes)
        alerts_per_log_unit = 1 / math.log1p(own_odds) if own_odds else math.inf
        least_alerts: pl.Expr = (pl.lit(-alerts_per_log_unit) * tails.log_alpha(alpha)).ceil()
        return pl.when(is_own).then(least_alerts * (n_sought / effective_size).fill_nan(1.0))

    return count_others, None if own_odds is None else count_sought


def _search_run(run: _Run, *, takes_first: bool, starts_at_score: bool = False) -> Search:
    """Return the search for the last row of the run before a test fails, down from its start or up."""
    row_step = -1 if takes_first else 1

    def find_ends(row_values: SegmentValues) -> dict[str, Extreme]:
        has_started, passes_test = run.has_started(row_values), run.passes(row_values)
        row_number = row_values.column(ROW_NUMBER)
        start_extreme = number_where(has_started, row_values, is_greatest=takes_first)
        if starts_at_score:
            # The counts at a given score are those of the lowest row that is not below it. Its number
            # and, in the low bit, whether it passes:
            start_code = pl.when(~has_started).then(row_number * 2 + passes_test.cast(pl.Int64))
            start_extreme = Extreme(start_code, read_row=lambda extreme: extreme // 2)
        failure_extreme = number_where(has_started & ~passes_test, row_values, is_greatest=takes_first)
        return {
            "start": start_extreme,
            "failure": failure_extreme,
            "last": Extreme(row_number, not takes_first),
        }

    def read_row(extreme_of: ExtremeReader) -> pl.Expr:
        start_number = extreme_of("start")
        last_row_number = extreme_of("failure").fill_null(extreme_of("last") + row_step) - row_step
        if starts_at_score:
            return pl.when(start_number % 2 == 1).then(last_row_number)
        is_run = last_row_number <= start_number if takes_first else last_row_number >= start_number
        return pl.when(is_run).then(last_row_number)

    return Search(find_ends, read_row, run.steps)


def _list_alert_counts(
    row_values: SegmentValues, target: Target, guarantee: Guarantee
) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Return the false positives, all alerts, and the most alerts so far; for npv those not flagged."""
    # With weights or clusters, they are as many as alerts that count alike and are independent.
    tp, fp, _, _ = _cast_cells(row_values, target)
    n_alerts = tp + fp
    if not guarantee.has_sizes:
        return fp, n_alerts, n_alerts
    own_column, eta_column = AlertSize.FLAGGED, AlertSize.FLAGGED_AT_ETA
    if target.takes_first:
        own_column, eta_column = AlertSize.SILENT, AlertSize.SILENT_AT_ETA
    # A lift at the test set's prevalence is tested at the number that was counted.
    is_own = row_values.column(EtaError.IS_OWN) & pl.lit(_read_run_test(target).own_odds is not None)
    effective_size, most_alerts = (
        pl.when(is_own)
        .then(row_values.column(own_size_column))
        .otherwise(row_values.column(eta_size_column))
        for own_size_column, eta_size_column in (
            (own_column, eta_column),
            (GREATEST_SIZES[own_column], GREATEST_SIZES[eta_column]),
        )
    )
    return fp * (effective_size / n_alerts), effective_size, most_alerts


def _cast_cells(row_values: SegmentValues, target: Target) -> tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]:
    """Return tp, fp, fn and tn as floats; for npv those of the examples that are not flagged."""
    # Npv is the precision of these, with classes and prevalence swapped.
    is_swapped = target.takes_first and isinstance(_read_test(target), RunTest)
    cell_names = ("tn", "fn", "fp", "tp") if is_swapped else CELLS
    tp, fp, fn, tn = (row_values.column(cell_name).cast(pl.Float64) for cell_name in cell_names)
    return tp, fp, fn, tn


def count_alerts_at_start(n_pos: pl.Expr, n_neg: pl.Expr, odds: pl.Expr, alpha: tails.Alpha) -> pl.Expr:
    """Return the number of alerts at which a run starts at the latest, which no label chooses."""
    # With as many alerts a test passes up to some number of false positives. The fewest alerts that pass
    # with that number are a better start, since fewer alerts hold no more false positives.
    # Fewer than `least_alerts` prove nothing even without a false positive. At `most_alerts` and
    # recall 1 the target is just met, and no target needs more alerts than there are examples.
    least_alerts = (-tails.log_alpha(alpha) / odds.log1p()).ceil()
    most_alerts = pl.min_horizontal(n_pos + n_pos * odds, n_pos + n_neg)
    early_start = pl.min_horizontal(least_alerts * 2, most_alerts / 4)
    return pl.max_horizontal(least_alerts, early_start, most_alerts * 0.1).ceil()


# Rates ----------------------------------------------------------------------------------------


def _promise_rate(target: Target, guarantee: Guarantee, _target_number: int) -> PromisedSearch:
    """Return the search for the lowest threshold, or the highest for recall, that passes."""
    target_value, takes_first, count_needed = _read_value(target), target.takes_first, None
    row_test: RowTest
    if guarantee.in_field:
        limit_column = in_field.FIELD_ALERTS_HIGH
        if _read_test(target) == "rate":
            limit_column = in_field.FIELD_RECALL_LOW if takes_first else in_field.FIELD_FPR_HIGH

        def pass_in_field(row_values: SegmentValues) -> pl.Expr:
            limit = row_values.column(limit_column)
            is_reached: pl.Expr = limit >= target_value
            return is_reached if takes_first else is_at_most(limit, target_value)

        row_test = pass_in_field
    elif _read_test(target) == "alerts":
        row_test = _build_alert_test(target_value, guarantee)
    else:
        row_test, count_needed = _build_rate_test(target, target_value, guarantee)
    search = choose_row(row_test, takes_first=takes_first)
    if guarantee.has_sizes:
        # Sizes differ between thresholds, so a row that passes may stand behind one that does not.
        run = _Run((), lambda row_values: row_values.column(ROW_NUMBER) >= 0, row_test)
        search = _search_run(run, takes_first=takes_first)
    return PromisedSearch(
        search,
        lambda row_values: Extreme(row_values.column(Row.SCORE), not takes_first),
        count_others_needed=count_needed,
    )


def _build_alert_test(target_value: float, guarantee: Guarantee) -> RowTest:
    """Return the test of a share of alerts, at the prevalence or at both ends of its interval."""

    def are_alerts_within(row_values: SegmentValues) -> pl.Expr:
        recall, fpr = row_values.column("recall"), row_values.column("fpr")
        recall_distance = row_values.column(_RECALL_HIGH) - recall
        fpr_distance = row_values.column(_FPR_HIGH) - fpr
        passes_at_etas = []
        # The rate is linear in eta, and which end is the safe one depends on recall and fpr.
        for eta in map(pl.col, _ETA_ENDS) if guarantee.uncertain_eta else [row_values.eta]:
            # The upper limit of the rate adds the distances of both upper limits, of recall and of
            # fpr, in quadrature (Zou and Donner 2008). It is monotone as the rate is.
            squared_distance = (eta * recall_distance) ** 2 + ((1 - eta) * fpr_distance) ** 2
            greatest_rate = eta * recall + (1 - eta) * fpr + squared_distance.sqrt()
            passes_at_etas.append(is_at_most(greatest_rate, target_value))
        return pl.all_horizontal(passes_at_etas)

    return are_alerts_within


def _build_rate_test(
    target: Target, target_value: float, guarantee: Guarantee
) -> tuple[RowTest, CountNeeded]:
    """Return the test of a rate, and the number of examples of its class without which none passes."""
    is_recall = target.takes_first
    right_share = target_value if is_recall else 1 - target_value
    odds = divide_shares(1 - target_value if is_recall else target_value, right_share)

    def passes(row_values: SegmentValues) -> pl.Expr:
        tp, fp, fn, tn = _cast_cells(row_values, target)
        n_wrong, n_right = (fn, tp) if is_recall else (fp, tn)
        n_examples, has_examples = n_right + n_wrong, n_right + n_wrong > 0
        if guarantee.has_sizes:
            effective_size = row_values.column(AlertSize.RECALL if is_recall else AlertSize.FPR)
            n_wrong, n_examples = n_wrong * (effective_size / n_examples), effective_size
        return tails.is_tail_at_most(guarantee.alpha, n_wrong, n_examples, pl.lit(odds)) & has_examples

    # So many right ones in a row are as improbable as alpha where the rate is just missed.
    n_needed = math.inf if right_share == 1 else 0.0
    if 0 < right_share < 1:
        n_needed = float(math.ceil(math.log(guarantee.alpha) / math.log(right_share)))

    def count_needed(sizes_of_classes: ClassSizes, _eta: pl.Expr) -> pl.Expr:
        n_pos, n_neg, pos_size, neg_size = sizes_of_classes
        rows_per_example = n_pos / pos_size if is_recall else n_neg / neg_size
        return n_needed * rows_per_example.fill_nan(1.0)

    return passes, count_needed
