"""Operating points: for each target the row of the sweep that meets it, at each prevalence.

    sweep -> rows        numbered
          -> chosen      the number of a row, or null, per group, prevalence and target
          -> points      the chosen row joined back, with its metrics at eta and its alerts

`targets` says how a target finds its row. A target that does not depend on prevalence is looked for
once per group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import polars as pl

from polars_prcurve.column_names import (
    COPY,
    GROUP,
    N_NEG,
    N_NEG_EFFECTIVE,
    N_POS,
    N_POS_EFFECTIVE,
    PAIR,
    RATE_CORRELATION,
    RESERVED,
    SCORE,
    SWEEP_COLUMNS,
    WEIGHT_UNIT,
)
from polars_prcurve.curves.curve_table import (
    add_metrics,
    check_metric_names,
    list_metric_columns,
    metric_values,
)
from polars_prcurve.curves.field_guarantees import add_field_tests
from polars_prcurve.curves.group_thresholds import LEAST_SCORE, THRESHOLD_ROW, GroupThresholds
from polars_prcurve.curves.guarantees import (
    END,
    GUARANTEE_COLUMNS,
    add_promised_etas,
    add_upper_limits,
    eta_level_checks,
    guarantee_columns,
)
from polars_prcurve.curves.moving_thresholds import (
    add_row_limits,
    build_moved_targets,
    reduce_moved_rates,
)
from polars_prcurve.curves.reliable_points import is_reliable
from polars_prcurve.curves.row_search import (
    find_extremes,
    find_extremes_at_eta,
    name_extreme,
    read_extreme,
)
from polars_prcurve.curves.rows_per_metric import pick_by_number
from polars_prcurve.curves.targets import (
    ROW_NUMBER,
    TARGET_NUMBER,
    Promise,
    Target,
    has_rates,
    read_events,
)
from polars_prcurve.inputs.score_table import InputTable, RateTable, ScoreTable, is_field
from polars_prcurve.intervals.bands import LIMIT_COLUMNS, MOVED_RATES, SIZE_COLUMNS, BandOptions
from polars_prcurve.intervals.needed_sizes import SizeOptions, add_needed_sizes
from polars_prcurve.intervals.precision_width import smallest_eta
from polars_prcurve.intervals.rates import BETA_METHODS
from polars_prcurve.metrics import point_metrics as point
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.prevalence.eta_table import EtaTable, join_etas
from polars_prcurve.query_checks import Check
from polars_prcurve.sweep.checks_at_end import check_at_end, late_checks
from polars_prcurve.sweep.cluster_sizes import CLUSTER_COLUMNS, OF_GROUP, SIZES_UNREACHED
from polars_prcurve.sweep.design_sizes import sizes_without_alerts
from polars_prcurve.sweep.group_table import class_counts, class_sizes
from polars_prcurve.sweep.sweep_table import build_sweep

_REQUEST = f"{RESERVED}request"
_END_ROW = f"{RESERVED}end_row"
SAMPLE_SIZE_COLUMNS = (
    "criterion",
    "target",
    "threshold",
    "recall",
    "fpr",
    "n_pos",
    "n_neg",
    "n_pos_needed",
    "n_neg_needed",
)
RESOLUTION_COLUMNS = (*SAMPLE_SIZE_COLUMNS[:7], "eta")
_ALERT_COLUMNS = ("alerts", "true_alerts", "missed")
_ROW_SIZES = {size: f"{size}_on_row" for size in (N_POS_EFFECTIVE, N_NEG_EFFECTIVE)}


def list_points_columns(
    metrics: Sequence[PointMetric],
    *,
    per: float | None,
    long: bool,
    bands: BandOptions | None = None,
    guarantee: object = None,
) -> tuple[str, ...]:
    """Return the columns that operating points add to `by` (and to what an eta frame carries)."""
    if per is not None:
        read_events(per)
    alerts = () if per is None else _ALERT_COLUMNS
    metric_columns = list_metric_columns(metrics, long=long, bands=bands)
    threshold, *counts = SWEEP_COLUMNS
    sweep = (threshold, *(GUARANTEE_COLUMNS if guarantee is not None else ()), *counts)
    flag = ("reliable",) if bands is not None and bands.flags_rows else ()
    columns = ("eta", "criterion", "target", *sweep, *metric_columns, *alerts, *flag)
    check_metric_names(columns, [] if long else metrics)
    return columns


def build_points_table(
    table: InputTable,
    grid: EtaTable,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    *,
    per: float | None = None,
    bands: BandOptions | None = None,
    long: bool = False,
    optimism: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Return the result of `operating_points`: one row per group, prevalence and target.

    Its columns are `by`, eta, what the eta frame carries, and the rest of `list_points_columns`.
    `optimism` has a row per pair and target that maximizes, for `bands` that are corrected.
    """
    table = table if bands is None else table.require_example_counts()
    if bands is not None and grid.uncertain:
        bands = bands.mark_uncertain_eta()
    promise = targets[0].promise
    clusters = bands is not None and bands.clustered
    frame, groups, design = build_sweep(table, effective=bands is not None, clusters=clusters)
    rows = _number_rows(frame, table, design=design, clusters=clusters)
    if promise is not None:
        rates = has_rates(targets) and not grid.uncertain
        rows = _add_promised_rows(rows, groups, promise.alpha, table, rates=rates)
    if bands is not None and bands.moving:
        rows = add_row_limits(rows, _size_classes(on_rows=design or clusters), bands)
    rows = rows.cache()  # rows are read twice: to choose from, and to look up the chosen ones
    pairs = build_points_pairs(groups, grid, table)
    if promise is not None:
        pairs = _add_promised_levels(pairs, promise, uncertain_eta=grid.uncertain)
    has_many_etas = grid.etas_per_group != 1
    points = _find_points(pairs, rows, targets, table, has_many_etas=has_many_etas)
    if bands is not None and bands.moving:
        # Sizes that differ between rows may let a target be met and missed several times in a block.
        searched = has_many_etas and not design
        points = _add_moved_rates(
            points, pairs, rows, targets, table=table, bands=bands, has_many_etas=searched
        )
    if per is not None:
        points = points.with_columns(_alert_counts(float(per), table))
    if optimism is not None:
        points = points.join(optimism, on=[PAIR, TARGET_NUMBER], how="left")
    points = _order_points(points, targets, len(metrics) if long else None)
    points = check_at_end(table, points, *late_checks(table, grid), *_list_target_checks(targets, grid))
    if design or clusters:
        of_none = sizes_without_alerts(cast("ScoreTable", table)) if design else SIZES_UNREACHED
        points = _set_row_sizes(points, rows, of_none, clusters=clusters)
    if bands is not None and bands.flags_rows:
        points = points.with_columns(is_reliable(bands, weighted=design).alias("reliable"))
    points = add_metrics(points, metrics, table, bands, long=long)
    points = points.with_columns(pl.col("eta").fill_nan(None))
    eta, *others = list_points_columns(metrics, per=per, long=long, bands=bands, guarantee=promise)
    return points.select(*table.by, eta, *grid.carried, *others)


def _add_promised_levels(pairs: pl.LazyFrame, promise: Promise, *, uncertain_eta: bool) -> pl.LazyFrame:
    """Add to pairs the end of eta that a promise is tested at, and its start, if either is given."""
    pairs = add_promised_etas(pairs, promise.alpha) if uncertain_eta else pairs
    return pairs if promise.starts is None else promise.starts.join_thresholds(pairs)


def _order_points(points: pl.LazyFrame, targets: Sequence[Target], n_copies: int | None) -> pl.LazyFrame:
    """Return the points in order; for a long table each one `n_copies` times, numbered in COPY."""
    order = [PAIR, TARGET_NUMBER, *([THRESHOLD_ROW] if _frame_targets(targets) else [])]
    if n_copies is None:
        return points.sort(order)
    copies = pl.LazyFrame({COPY: range(n_copies)})
    return points.join(copies, how="cross").sort(*order, COPY)


def _list_target_checks(targets: Sequence[Target], grid: EtaTable) -> list[Check]:
    """Return the checks of thresholds and starts that are frames, and of levels of estimates."""
    checks = [
        of.missing_row_check(pl.col(TARGET_NUMBER) == number)
        for number, of in _frame_targets(targets).items()
    ]
    promise = targets[0].promise
    if promise is not None and promise.starts is not None:
        checks.append(promise.starts.missing_row_check(pl.col(TARGET_NUMBER) == 0))
    if promise is not None and grid.uncertain and any(target.depends_on_eta for target in targets):
        checks += eta_level_checks(promise.level, promise.alpha)
    return checks


def _number_rows(
    frame: pl.LazyFrame, table: InputTable, *, design: bool, clusters: bool
) -> pl.LazyFrame:
    """Return the rows of the sweep with ROW_NUMBER, and with their effective sizes if they have any."""
    rows = frame.with_row_index(ROW_NUMBER).with_columns(pl.col(ROW_NUMBER).cast(pl.Int64))
    score = [SCORE] if isinstance(table, ScoreTable) or _lists_scores(table) else []
    sizes = {name: pl.col(size) for size, name in _ROW_SIZES.items()} if design or clusters else {}
    also = CLUSTER_COLUMNS if clusters else ()
    return rows.select(ROW_NUMBER, GROUP, WEIGHT_UNIT, *SWEEP_COLUMNS, *score, *also, **sizes)


def _set_row_sizes(
    points: pl.LazyFrame, rows: pl.LazyFrame, of_none: Mapping[str, pl.Expr], *, clusters: bool
) -> pl.LazyFrame:
    """Set the effective sizes of points to those on their rows, or to those above all scores."""
    if clusters:
        # A point above all scores has no row, and gets from any row of its group what is of the group.
        of_group = rows.group_by(GROUP).agg(pl.col(OF_GROUP).first())
        points = points.drop(OF_GROUP).join(of_group, on=GROUP, how="left", maintain_order="left")
        points = points.with_columns(pl.col(RATE_CORRELATION).fill_null(0.0))
    return points.with_columns(
        pl.coalesce(_ROW_SIZES[size], least).alias(size) for size, least in of_none.items()
    )


def _find_points(
    pairs: pl.LazyFrame,
    rows: pl.LazyFrame,
    targets: Sequence[Target],
    table: InputTable,
    *,
    has_many_etas: bool,
) -> pl.LazyFrame:
    """Return one row per pair and target, with the row that was chosen and what was asked for.

    A group that `has_many_etas` may have several prevalences.
    """
    requests = _build_requests(pairs, targets)
    chosen = _choose_rows(requests, pairs, rows, targets, table, has_many_etas=has_many_etas)
    if targets[0].search.end_row is not None:
        chosen = _add_end_scores(chosen, rows, targets[0].search.end_row)
    points = chosen.join(rows.drop(GROUP, WEIGHT_UNIT), on=ROW_NUMBER, how="left").with_columns(
        *_target_columns(targets)
    )
    if isinstance(table, ScoreTable):
        points = _fill_given_thresholds(points, targets, table)
    elif _lists_scores(table):
        points = _clear_other_thresholds(points, targets)
    if targets[0].promise is None:
        return points
    return points.with_columns(_promise_columns(targets, table))


def _size_classes(*, on_rows: bool) -> dict[str, pl.Expr]:
    """Return the number of examples behind each rate, of rows that have effective sizes or counts."""
    if on_rows:
        return {rate: pl.col(_ROW_SIZES[size]) for rate, size in SIZE_COLUMNS.items()}
    return {"recall": pl.col("tp") + pl.col("fn"), "fpr": pl.col("fp") + pl.col("tn")}


def _add_moved_rates(
    points: pl.LazyFrame,
    pairs: pl.LazyFrame,
    rows: pl.LazyFrame,
    targets: Sequence[Target],
    *,
    table: InputTable,
    bands: BandOptions,
    has_many_etas: bool,
) -> pl.LazyFrame:
    """Add MOVED_RATES to the points of all targets, from rows that have the limits of both rates."""
    moved = [one for target in targets for one in build_moved_targets(target)]
    requests = _build_requests(pairs, moved)
    chosen = _choose_rows(requests, pairs, rows, moved, table, has_many_etas=has_many_etas)
    rates = rows.select(ROW_NUMBER, *LIMIT_COLUMNS, *MOVED_RATES)
    found = reduce_moved_rates(chosen.join(rates, on=ROW_NUMBER, how="left"), targets, bands)
    return points.join(found, on=[PAIR, TARGET_NUMBER], how="left")


def build_points_pairs(groups: pl.LazyFrame, grid: EtaTable, table: InputTable) -> pl.LazyFrame:
    """Return one row per group and prevalence, numbered in PAIR."""
    return join_etas(groups, grid, *class_sizes(table), checked=False).with_row_index(PAIR)


def build_sample_size_table(
    table: InputTable, grid: EtaTable | None, targets: Sequence[Target], options: SizeOptions
) -> pl.LazyFrame:
    """Return the result of `sample_size`: `by`, (eta), then SAMPLE_SIZE_COLUMNS, one row per target.

    They tell the rates at the target, the numbers of examples, and the numbers needed for `delta` at
    each prevalence of `grid`, or, without a grid, at all prevalences.
    """
    if grid is None:
        points, of_eta = build_eta_free_points(table, targets, []), []
    else:
        points = _add_class_counts(build_points_table(table, grid, targets, []))
        of_eta = ["eta", *grid.carried]
    at_eta = grid is not None
    if options.method in BETA_METHODS or table.is_in_memory:
        # In memory, because Polars takes longer to read a query of all halvings than to run them.
        rows = table.collect(points, f'method="{options.method}"')
        points = add_needed_sizes(rows, options, at_eta=at_eta).lazy()
    else:
        points = add_needed_sizes(points, options, at_eta=at_eta)
    return points.select(*table.by, *of_eta, *SAMPLE_SIZE_COLUMNS)


def build_resolution_table(
    table: InputTable, targets: Sequence[Target], delta: float, bands: BandOptions
) -> pl.LazyFrame:
    """Return the result of `resolution`: `by`, then RESOLUTION_COLUMNS, one row per group and target.

    They tell the rates at the target, the numbers of examples, and the lowest prevalence at which these
    suffice for `delta`.
    """
    # The band of recall / fpr has the ends that the band of precision has at every prevalence.
    points = build_eta_free_points(table, targets, [point.lr_pos], bands=bands)
    eta = smallest_eta(pl.col("lr_pos_low"), 1 / pl.col("lr_pos_high"), delta=delta)
    return points.with_columns(eta=eta).select(*table.by, *RESOLUTION_COLUMNS)


def build_eta_free_points(
    table: InputTable,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    *,
    bands: BandOptions | None = None,
) -> pl.LazyFrame:
    """Return operating points with n_pos and n_neg, where targets and metrics do not depend on eta."""
    # Points are built at some prevalence; any will do.
    grid = EtaTable(pl.LazyFrame({"eta": [0.5]}), etas_per_group=1)
    return _add_class_counts(build_points_table(table, grid, targets, metrics, bands=bands))


def _add_class_counts(points: pl.LazyFrame) -> pl.LazyFrame:
    return points.with_columns(n_pos=pl.col("tp") + pl.col("fn"), n_neg=pl.col("fp") + pl.col("tn"))


def _frame_targets(targets: Sequence[Target]) -> dict[int, GroupThresholds]:
    """Return the thresholds of targets that are a frame of them, by the number of the target."""
    return {n: target.thresholds for n, target in enumerate(targets) if target.thresholds is not None}


def _build_requests(pairs: pl.LazyFrame, targets: Sequence[Target]) -> pl.LazyFrame:
    """Return one row per pair and target; for thresholds of each group, one row per threshold."""
    of_groups = _frame_targets(targets)
    numbers = [number for number in range(len(targets)) if number not in of_groups]
    requests = [pairs.join(_number_targets(numbers), how="cross")] if numbers else []
    requests += [
        thresholds.join_thresholds(pairs.join(_number_targets([number]), how="cross"))
        for number, thresholds in of_groups.items()
    ]
    every = requests[0] if len(requests) == 1 else pl.concat(requests, how="diagonal")
    if not of_groups:
        return every
    # A larger query may run this twice, and a join may return its rows in another order each time.
    return every.sort(PAIR, TARGET_NUMBER, THRESHOLD_ROW).with_row_index(_REQUEST)


def _number_targets(numbers: Sequence[int]) -> pl.LazyFrame:
    return pl.LazyFrame({TARGET_NUMBER: numbers}, schema={TARGET_NUMBER: pl.Int64})


def _choose_rows(
    requests: pl.LazyFrame,
    pairs: pl.LazyFrame,
    rows: pl.LazyFrame,
    targets: Sequence[Target],
    table: InputTable,
    *,
    has_many_etas: bool,
) -> pl.LazyFrame:
    """Add ROW_NUMBER, the chosen row, to `requests`: one row per pair and target."""
    numbered = dict(enumerate(targets))
    of_groups = {n: target for n, target in numbered.items() if target.thresholds is not None}
    alike = {n: target for n, target in numbered.items() if target.thresholds is None}
    eta_free = {n: target for n, target in alike.items() if not target.depends_on_eta}
    at_each_eta = {n: target for n, target in alike.items() if target.depends_on_eta}
    if eta_free:
        found = find_extremes(rows, GROUP, eta_free, table)
        requests = requests.join(found, on=GROUP, how="left")
    if at_each_eta:
        found = find_extremes_at_eta(rows, pairs, at_each_eta, table, has_many_etas=has_many_etas)
        requests = requests.join(found, on=PAIR, how="left")
    for n, target in of_groups.items():
        asked = requests.select(_REQUEST, GROUP, LEAST_SCORE).drop_nulls(LEAST_SCORE)
        reached = rows.join(asked, on=GROUP)
        found = find_extremes(reached, _REQUEST, {n: target}, table)
        requests = requests.join(found, on=_REQUEST, how="left")
    numbers = (target.search.row(read_extreme(n)) for n, target in numbered.items())
    return requests.with_columns(
        pick_by_number(TARGET_NUMBER, numbers, pl.lit(None, dtype=pl.Int64)).alias(ROW_NUMBER)
    )


def _add_end_scores(
    chosen: pl.LazyFrame, rows: pl.LazyFrame, end_row: Callable[[Callable[[str], pl.Expr]], pl.Expr]
) -> pl.LazyFrame:
    """Add the score at the other end of the stretch of the only target, as its extreme END."""
    numbered = chosen.with_columns(end_row(read_extreme(0)).alias(_END_ROW))
    ends = rows.select(pl.col(ROW_NUMBER).alias(_END_ROW), pl.col(SCORE).alias(name_extreme(0, END)))
    return numbered.join(ends, on=_END_ROW, how="left")


def _add_promised_rows(
    rows: pl.LazyFrame, groups: pl.LazyFrame, alpha: float, table: InputTable, *, rates: bool
) -> pl.LazyFrame:
    """Add what the tests of `rates` read, or those of a field of several parts."""
    if is_field(table):
        return add_field_tests(rows, groups, alpha, table)
    return add_upper_limits(rows, alpha, table) if rates else rows


def _promise_columns(targets: Sequence[Target], table: InputTable) -> list[pl.Expr]:
    """Return GUARANTEE_COLUMNS, of points that have their thresholds."""
    n_pos, n_neg = class_counts(table)
    values = [
        guarantee_columns(target, read_extreme(number)(END), n_pos, n_neg)
        for number, target in enumerate(targets)
    ]
    return [
        pick_by_number(TARGET_NUMBER, of_targets, pl.lit(None)).alias(name)
        for name, of_targets in zip(GUARANTEE_COLUMNS, zip(*values, strict=True), strict=True)
    ]


def _target_columns(targets: Sequence[Target]) -> list[pl.Expr]:
    """Columns `criterion` and `target`, by the number of the target."""
    criteria = (pl.lit(target.criterion) for target in targets)
    given = (target.value for target in targets)
    values = (v if v is None or isinstance(v, pl.Expr) else pl.lit(float(v)) for v in given)
    return [
        pick_by_number(TARGET_NUMBER, criteria, pl.lit(None, dtype=pl.String)).alias("criterion"),
        pick_by_number(TARGET_NUMBER, values, pl.lit(None, dtype=pl.Float64)).alias("target"),
    ]


def _fill_given_thresholds(
    points: pl.LazyFrame, targets: Sequence[Target], table: ScoreTable
) -> pl.LazyFrame:
    """Set the thresholds of all points; a target threshold stays as given, though no row may have it.

    A target threshold above all scores meets no row; nothing is flagged there.
    """
    least_scores = (target.least_score for target in targets)
    threshold = pick_by_number(TARGET_NUMBER, least_scores, pl.col(SCORE))
    given = (pl.col("criterion") == "threshold") & pl.col("target").is_not_null()
    n_pos, n_neg = class_counts(table)
    zero = pl.lit(0, dtype=table.count_dtype)
    above_all = given & pl.col("tp").is_null()
    no_alerts = {"tp": zero, "fp": zero, "fn": n_pos, "tn": n_neg}
    totals = {"recall": pl.col(N_POS), "fpr": pl.col(N_NEG)}  # null for an empty class
    return points.with_columns(
        threshold.alias("threshold"),
        *(
            pl.when(above_all).then(count).otherwise(pl.col(name)).alias(name)
            for name, count in no_alerts.items()
        ),
        *(
            pl.when(above_all & total.is_not_null()).then(0.0).otherwise(pl.col(name)).alias(name)
            for name, total in totals.items()
        ),
    )


def _lists_scores(table: InputTable) -> bool:
    """Return whether points have thresholds: those of cells with a score."""
    return isinstance(table, RateTable) and table.score_dtype is not None


def _clear_other_thresholds(points: pl.LazyFrame, targets: Sequence[Target]) -> pl.LazyFrame:
    """Set points to null whose target is a threshold that the table does not list.

    What is flagged between two thresholds of a cumulative table is not known.
    """
    asked = pick_by_number(TARGET_NUMBER, (of.least_score for of in targets), pl.col("threshold"))
    known = (pl.col("criterion") != "threshold") | (pl.col("threshold") == asked)
    return points.with_columns(pl.when(known).then(name).alias(name) for name in SWEEP_COLUMNS)


def _alert_counts(per: float, table: InputTable) -> list[pl.Expr]:
    """Alerts, true alerts and missed positives among `per` events."""
    # 1 - recall would lose the digits of fnr where nearly all positives are flagged.
    shares = metric_values([point.predicted_positive_rate, point.recall, point.fnr], table)
    flagged, recall, fnr = shares
    values = (flagged * per, pl.col("eta") * recall * per, pl.col("eta") * fnr * per)
    return [value.alias(name) for value, name in zip(values, _ALERT_COLUMNS, strict=True)]
