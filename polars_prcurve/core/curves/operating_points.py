"""Operating points: for each target the row of the sweep that meets it, at each prevalence.

    sweep -> rows        numbered
          -> chosen      the number of a row, or null, per group, prevalence and target
          -> points      the chosen row joined back, with its metrics at eta and its alerts

`targets` declares how a target finds its row. A target that does not depend on prevalence is looked for
once per group.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from polars_prcurve.core.confidence.band_options import ChosenBands, FixedBands, ModelBands
from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE, measure_chance
from polars_prcurve.core.confidence.confidence_that_limit_holds import (
    CERTAINTY,
    measure_certainty,
    scale_limit,
)
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, TargetRow
from polars_prcurve.core.confidence.point_intervals import SIZE_COLUMNS
from polars_prcurve.core.curves import guarantees, row_search, thresholds_moved_by_sample
from polars_prcurve.core.curves.bands_and_guarantees_of_parts import add_field_tests
from polars_prcurve.core.curves.curve_segments import build_segments
from polars_prcurve.core.curves.doubts_of_points import (
    add_doubts_of_points,
    doubt_points_without_ends,
    may_lack_weights,
)
from polars_prcurve.core.curves.given_group_thresholds import THRESHOLD_ROW
from polars_prcurve.core.curves.long_tables import has_many
from polars_prcurve.core.curves.metric_and_band_columns import (
    add_metrics,
    check_metric_names,
    fit_bands,
    list_metric_columns,
    metric_values,
)
from polars_prcurve.core.curves.row_search_in_sorted_classes import find_few_rows
from polars_prcurve.core.curves.search_by_extremes import ROW_NUMBER
from polars_prcurve.core.curves.target_arguments import require_one_point
from polars_prcurve.core.curves.targets import (
    END,
    END_ROW,
    TARGET_NUMBER,
    Target,
    find_greatest_rate,
    pick_by_target,
)
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs import resolved_tables as of_table
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics import point_formulas as point
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.metrics.target_kinds import TargetKind, read_per
from polars_prcurve.core.prevalence.eta_table import (
    EtaTable,
    check_result_columns,
    join_etas,
    repeat_rows,
)
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.effective_alerts import ALERT_SIZES, add_greatest_sizes
from polars_prcurve.core.sweep.group_table import class_counts, class_sizes
from polars_prcurve.core.sweep.sampling_designs import Design, choose_design
from polars_prcurve.core.sweep.sweep_column_names import SWEEP_COLUMNS, AlertSize, Sweep
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import (
    build_sweep,
    check_at_end,
    keep_blocks,
    late_checks,
    store,
)

_SHOWN = (point.recall, point.fpr)
"""The metrics that every row shows, and that have intervals without being named."""
_ALERTS = {
    "alerts": point.predicted_positive_rate,
    "true_alerts": PointMetric(
        "true_alerts",
        lambda tp, fn, fp, tn: tp / (tp + fn + fp + tn),
        source="eta*recall",
        share_of=(("tp",), ("fn", "fp", "tn")),
    ),
    "missed": PointMetric(
        "missed",
        lambda tp, fn, fp, tn: fn / (tp + fn + fp + tn),
        direction="minimize",
        source="eta*(1-recall)",
        share_of=(("fn",), ("tp", "fp", "tn")),
    ),
}
"""The shares of all cases whose numbers among `per` cases are columns."""
_SOUGHT = f"{RESERVED}sought_"
"""Before the names of metrics that targets limit, and that no column shows: `certainty` reads them."""
_CLASS_SIZES = (AlertSize.POS, AlertSize.NEG)  # columns of groups, which rows and populations both have
_ROW_SIZES = {size: f"{size}_on_row" for size in SIZE_COLUMNS.values()}  # effective sizes on a row


def _list_points_columns(
    metrics: Sequence[PointMetric],
    *,
    per: float | None,
    long: bool,
    bands: FixedBands | None = None,
    guarantee: object = None,
) -> tuple[str, ...]:
    """Return the columns that operating points add to `by` (and to what an eta frame carries)."""
    if per is not None:
        read_per(per)
    alert_columns = [] if per is None else list(_ALERTS)
    metric_columns = list_metric_columns(metrics, long=long, bands=bands)
    threshold_column, *count_columns = SWEEP_COLUMNS
    flag_columns = () if bands is None else bands.flag_columns
    if isinstance(bands, ChosenBands) and not long:
        # Rates and alerts have their intervals behind them, whether they are named or not.
        names_with_ends = {*_ALERTS, *(metric.name for metric in _SHOWN)}
        suffixes_by_name = dict.fromkeys(names_with_ends, ("", "_low", "_high"))
        count_columns, alert_columns = (
            [column + suffix for column in column_names for suffix in suffixes_by_name.get(column, [""])]
            for column_names in (count_columns, alert_columns)
        )
        metric_columns = [column for column in metric_columns if column not in count_columns]
        flag_columns = (CERTAINTY, *flag_columns)
    promise_columns = guarantees.GUARANTEE_COLUMNS if guarantee is not None else ()
    row_columns = (threshold_column, *promise_columns, *count_columns)
    value_columns = (*metric_columns, *alert_columns, *flag_columns)
    points_columns = ("eta", "criterion", "target", *row_columns, *value_columns)
    check_metric_names(points_columns, [] if long else metrics)
    return points_columns


def list_shown_metrics(
    metrics: Sequence[PointMetric],
    bands: FixedBands | None,
    targets: Sequence[Target],
    *,
    per: float | None,
    long: bool,
) -> list[PointMetric]:
    """Return the metrics that are computed for rows that show `metrics`: with those of all rows."""
    if not isinstance(bands, ChosenBands) or long:
        return list(metrics)
    alert_metric_by_name = {} if per is None else _ALERTS
    share_metrics = [metric.alias(f"{RESERVED}{name}") for name, metric in alert_metric_by_name.items()]
    metric_names = {metric.name for metric in metrics}
    shown_metrics = [
        *metrics,
        *(metric for metric in _SHOWN if metric.name not in metric_names),
        *share_metrics,
    ]
    sought_metrics = {target.kind.metric for target in targets if target.kind is not None}
    if bands.band_kind != "mover" or not sought_metrics:
        return shown_metrics
    sought_metrics -= {*shown_metrics}
    ordered_metrics = sorted(sought_metrics, key=lambda metric: metric.name)
    return [*shown_metrics, *(metric.alias(f"{_SOUGHT}{metric.name}") for metric in ordered_metrics)]


# How many examples are owed to the choice of a threshold: by a precision, fpr or budget of alerts the
# one on its row, and by the best value of a metric the cube root of the true positives (Kim and
# Pollard 1990), at least 2.
_N_ON_ROW, _LEAST_OF_BEST = 1.0, 2.0


def _add_choices(points: pl.LazyFrame, targets: Sequence[Target], *, is_corrected: bool) -> pl.LazyFrame:
    """Add how many examples the choice of a threshold may owe to chance."""
    recall = pl.col("recall")
    n_of_best = pl.max_horizontal(_LEAST_OF_BEST, (recall * pl.col(EffectiveSize.N_POS)) ** (1 / 3))
    n_right_of_targets: list[pl.Expr | float] = []
    n_wrong_of_targets: list[pl.Expr | float] = []
    for target in targets:
        n_chosen: pl.Expr | float = _N_ON_ROW if target.is_found_in_sample else 0.0
        if target.maximized is not None:
            n_chosen = 0.0 if is_corrected else n_of_best
        n_right_of_targets.append(recall if target.takes_first else n_chosen)
        n_wrong_of_targets.append(0.0 if target.takes_first else n_chosen)
    return points.with_columns(
        pick_by_target(n_right_of_targets).alias(TargetRow.N_RIGHT_BY_CHOICE),
        pick_by_target(n_wrong_of_targets).alias(TargetRow.N_WRONG_BY_CHOICE),
    )


def build_points_table(
    table: ResolvedTable,
    grid: EtaTable,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    *,
    per: float | None = None,
    bands: FixedBands | None = None,
    long: bool = False,
    optimism: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Return the result of `operating_points`: one row per group, prevalence and target."""
    promise = targets[0].promise
    table = require_one_point(table, targets, "pass a target, such as recall=0.8")
    table = table if bands is None else table.require_example_counts()
    shown_metrics = list_shown_metrics(metrics, bands, targets, per=per, long=long)
    if bands is not None:
        bands = fit_bands(bands, grid, table, shown_metrics)
    points_columns = _list_points_columns(metrics, per=per, long=long, bands=bands, guarantee=promise)
    # Rates that no column shows are corrected, too.
    corrected_columns = [f"{metric.name}_corrected" for metric in shown_metrics if bands is not None]
    check_result_columns(table, grid, [*points_columns, *corrected_columns])
    points = _build_points(
        table, grid, targets, shown_metrics, bands=bands, long=long, optimism=optimism
    )
    points = points if per is None else _add_alerts(points, float(per), table, shown_metrics)
    if CERTAINTY in points_columns and bands is not None:
        points = _add_certainty(points, targets, shown_metrics, bands)
    return points.select(
        *table.by, pl.col("eta").fill_nan(None), *grid.carried_columns, *points_columns[1:]
    )


def _add_certainty(
    points: pl.LazyFrame,
    targets: Sequence[Target],
    shown_metrics: Sequence[PointMetric],
    bands: FixedBands,
) -> pl.LazyFrame:
    """Add how sure it is that each threshold meets its target, by the interval of what is limited."""
    name_by_metric = {metric: metric.name for metric in shown_metrics}
    kind_by_word = {target.criterion: target.kind for target in targets if target.kind is not None}
    limit_expr = pick_by_target(
        target.value if target.rate is None else target.rate for target in targets
    )

    def scale_target(kind: TargetKind) -> dict[str, pl.Expr]:
        scaled_column = name_by_metric.get(kind.metric, f"{_SOUGHT}{kind.metric.name}")
        scale_unit = None if kind.value_kind == "factor" else 1.0
        return scale_limit(scaled_column, limit_expr, is_upper=kind.is_at_most, unit=scale_unit)

    null_number = pl.lit(None, dtype=pl.Float64)
    scaled_words = kind_by_word if bands.band_kind == "mover" else ()
    exprs_by_word = {word: scale_target(kind_by_word[word]) for word in scaled_words}
    scaled_exprs = {
        name: pick_by_target(
            (exprs_by_word.get(target.criterion, {}).get(name) for target in targets), null_number
        )
        for name in dict.fromkeys(
            name for column_exprs in exprs_by_word.values() for name in column_exprs
        )
    }
    certainty = (
        measure_certainty(bands.confidence, is_threshold_chosen=True) if scaled_exprs else null_number
    )
    return points.with_columns(**scaled_exprs).with_columns(certainty.alias(CERTAINTY))


def build_numbered_points(
    table: ResolvedTable,
    grid: EtaTable,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    *,
    bands: FixedBands | None,
) -> pl.LazyFrame:
    """Return a row per population and TARGET_NUMBER, with metrics and bands; nothing is checked."""
    if bands is not None:
        table = table.require_example_counts()
        bands = fit_bands(bands, grid, table, metrics)
    return _build_points(table, grid, targets, metrics, bands=bands, is_of_curve=True)


def _build_points(
    table: ResolvedTable,
    grid: EtaTable,
    targets: Sequence[Target],
    metrics: Sequence[PointMetric],
    *,
    bands: FixedBands | None,
    is_of_curve: bool = False,
    long: bool = False,
    optimism: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Return the row of each population and target, with metrics and what was computed on the way."""
    promise = targets[0].promise
    is_effective = bands is not None or (promise is not None and promise.has_sizes)
    design = choose_design(table, with_sizes=is_effective, for_thresholds=True)
    search = _choose_search(grid, targets, bands, design)
    if is_of_curve:  # groups may be called like what is computed on the way
        search = search._replace(populations=search.populations.drop(table.by))
    points = _find_points(search, targets)
    if isinstance(bands, ModelBands):
        # Sizes that differ between rows may let a target be met and missed several times in a block.
        full_search = search._replace(has_many_etas=False) if design.has_square_shares else search
        points = thresholds_moved_by_sample.add_moved_rates(points, full_search, targets, bands)
    if optimism is not None:
        points = points.join(optimism, on=[Population.NUMBER, TARGET_NUMBER], how="left")
    has_threshold_frame = bool(row_search.list_frame_targets(targets))
    sort_columns = [Population.NUMBER, TARGET_NUMBER, *([THRESHOLD_ROW] if has_threshold_frame else [])]
    is_stacked = long and has_many(metrics)
    if long and not is_stacked:
        points, sort_columns = repeat_rows(points, len(metrics)), [*sort_columns, Population.COPY]
    points = points.sort(sort_columns)
    points = points if is_of_curve else _check_points(points, table, grid, targets)
    points = _set_row_sizes(points, search.sweep_rows, design)
    if isinstance(bands, ChosenBands) and bands.allows_for_choice:
        points = _add_choices(points, targets, is_corrected=bands.corrected)
    if bands is not None and bands.flag_columns:
        points = add_doubts_of_points(points, bands, table, design, targets, is_of_curve=is_of_curve)
    if isinstance(bands, ChosenBands) and not is_of_curve:
        points = _add_chance(points, search, table, bands.confidence)
    row_columns = points.collect_schema().names() if is_stacked else None
    groups = search.groups if is_of_curve else None
    points = add_metrics(
        points, metrics, table, bands, long=long, row_columns=row_columns, groups=groups
    )
    points = points.sort(*sort_columns, Population.COPY) if is_stacked else points
    if bands is None or not bands.flag_columns:
        return points
    shown_metrics = [metric for metric in metrics if not metric.name.startswith(_SOUGHT)]
    return doubt_points_without_ends(points, [] if long else shown_metrics, table)


def _check_points(
    points: pl.LazyFrame, table: ResolvedTable, grid: EtaTable, targets: Sequence[Target]
) -> pl.LazyFrame:
    """Return the points of groups that count; the query stops if a check fails."""
    checks = [*late_checks(table, grid)]
    for target_number, group_thresholds in row_search.list_frame_targets(targets).items():
        checks.append(group_thresholds.missing_row_check(pl.col(TARGET_NUMBER) == target_number))
    checks += [] if targets[0].promise is None else guarantees.list_promise_checks(targets, grid)
    return check_at_end(table, points, *checks)


def _choose_search(
    grid: EtaTable, targets: Sequence[Target], bands: FixedBands | None, design: Design
) -> row_search.RowSearch:
    """Return the search among all rows, or among the few that matter if these can be determined."""
    build = partial(_build_search, grid, targets, bands, design)
    known_sums = find_few_rows(design.table, grid, targets) if bands is None else None
    if known_sums is not None:
        return build(known_sums=known_sums)
    can_use_blocks = not design.has_varying_sizes and all(
        target.changes_once_in_block for target in targets
    )
    is_near_corner = keep_blocks(design.table) if can_use_blocks else None
    if is_near_corner is None:
        return build()
    moved_targets: list[Target] = []
    if isinstance(bands, ModelBands):
        moved_targets = thresholds_moved_by_sample.move_targets(targets, bands)
    return build(row_filter=build(row_filter=is_near_corner).find_blocks([*targets, *moved_targets]))


def _build_search(
    grid: EtaTable,
    targets: Sequence[Target],
    bands: FixedBands | None,
    design: Design,
    *,
    row_filter: pl.Expr | None = None,
    known_sums: pl.LazyFrame | None = None,
) -> row_search.RowSearch:
    """Return the rows and the populations of all curves, with what the targets and their bands read."""
    table = design.table
    sweep_tables = build_sweep(table, design=design, with_unscored=False, known_sums=known_sums)
    sweep_rows = sweep_tables.rows if row_filter is None else sweep_tables.rows.filter(row_filter)
    sweep_rows = sweep_rows.with_row_index(ROW_NUMBER).with_columns(pl.col(ROW_NUMBER).cast(pl.Int64))
    size_columns = _ROW_SIZES if design.has_varying_sizes else {}
    size_exprs = {row_column: pl.col(size_column) for size_column, row_column in size_columns.items()}
    row_columns = _list_row_columns(bands, design)
    promise = targets[0].promise
    has_alert_sizes = promise is not None and promise.has_sizes
    row_columns += [] if row_filter is None else [Sweep.BLOCK]
    sweep_rows = sweep_rows.select(*row_columns, *(ALERT_SIZES if has_alert_sizes else ()), **size_exprs)
    populations = build_populations_of_points(sweep_tables.groups, grid, table)
    if has_alert_sizes:
        sweep_rows = add_greatest_sizes(sweep_rows)
        group_sizes = sweep_rows.group_by(Group.NUMBER).agg(pl.col(_CLASS_SIZES).first())
        populations = populations.join(group_sizes, on=Group.NUMBER, how="left", maintain_order="left")
    if promise is not None:
        if of_table.is_field(table):
            sweep_rows = add_field_tests(sweep_rows, sweep_tables.groups, promise.alpha, table)
        elif (greatest_rate := find_greatest_rate(targets)) is not None and not grid.is_uncertain:
            sweep_rows = guarantees.add_upper_limits(sweep_rows, promise.alpha, greatest_rate, table)
        if grid.is_uncertain:
            populations = guarantees.add_promised_etas(populations, promise.alpha)
        if promise.starts is not None:
            populations = promise.starts.join_thresholds(populations)
    if isinstance(bands, ModelBands):
        # A recall is reached where it rises, unless its error differs between rows.
        has_rises = not size_columns and all(target.criterion == "recall" for target in targets)
        sweep_rows = thresholds_moved_by_sample.add_row_limits(
            sweep_rows, size_columns, bands, keeps_rises=has_rises
        )
        if bands.has_eta_limits:
            populations = thresholds_moved_by_sample.add_eta_ends(populations, sweep_rows, bands)
    sweep_rows = sweep_rows.cache()  # read to choose rows from, and to look up the chosen ones
    has_many_etas = grid.etas_per_group != 1 and known_sums is None
    return row_search.RowSearch(table, sweep_rows, populations, sweep_tables.groups, has_many_etas)


def _list_row_columns(bands: FixedBands | None, design: Design) -> list[str]:
    """Return the columns of rows that any target and its bands may read."""
    table = design.table
    row_columns = [
        ROW_NUMBER,
        Group.NUMBER,
        EffectiveSize.WEIGHT_UNIT,
        *SWEEP_COLUMNS,
        *design.row_columns,
    ]
    row_columns += [Row.SCORE] if isinstance(table, ScoreTable) or _lists_scores(table) else []
    if isinstance(table, ScoreTable) and isinstance(bands, ChosenBands):
        row_columns += [Segment.RECALL_BEFORE, Segment.FPR_BEFORE]  # for ABOVE_CHANCE
    reads_moments = bands is not None and (bands.counts_eta or may_lack_weights(bands))
    return row_columns + list(table.sample.moments if reads_moments else ())


def _set_row_sizes(points: pl.LazyFrame, sweep_rows: pl.LazyFrame, design: Design) -> pl.LazyFrame:
    """Set the effective sizes of points to those on their rows, or to those above all scores."""
    if group_columns := design.group_columns:
        # A point above all scores has no row, and gets from any row of its group what is of the group.
        group_rows = sweep_rows.group_by(Group.NUMBER).agg(pl.col(group_columns).first())
        points = points.drop(group_columns).join(
            group_rows, on=Group.NUMBER, how="left", maintain_order="left"
        )
    if EffectiveSize.RATE_CORRELATION in design.row_columns:
        points = points.with_columns(pl.col(EffectiveSize.RATE_CORRELATION).fill_null(0.0))
    return points.with_columns(
        pl.coalesce(_ROW_SIZES[size_column], least_size).alias(size_column)
        for size_column, least_size in design.sizes_without_alerts().items()
    )


def _find_points(search: row_search.RowSearch, targets: Sequence[Target]) -> pl.LazyFrame:
    """Return one row per population and target, with the row that was chosen and what was requested."""
    choice_rows, sweep_rows, table = search.choose_rows(targets), search.sweep_rows, search.table
    if targets[0].search.read_end_row is not None:
        end_scores = sweep_rows.select(pl.col(ROW_NUMBER).alias(END_ROW), pl.col(Row.SCORE).alias(END))
        choice_rows = choice_rows.join(end_scores, on=END_ROW, how="left")
    # Populations have these columns, too.
    population_columns = Group.NUMBER, EffectiveSize.WEIGHT_UNIT, *_CLASS_SIZES
    sweep_rows = sweep_rows.drop(population_columns, strict=False)
    null_text, null_number = (pl.lit(None, dtype=dtype) for dtype in (pl.String, pl.Float64))
    points = choice_rows.join(sweep_rows, on=ROW_NUMBER, how="left").with_columns(
        criterion=pick_by_target((target.criterion for target in targets), null_text),
        target=pick_by_target((target.value for target in targets), null_number),
    )
    least_scores = [target.least_score for target in targets]
    if isinstance(table, ScoreTable):
        threshold_expr = pick_by_target(least_scores, pl.col(Row.SCORE)).alias("threshold")
        points = points.with_columns(threshold_expr, **_fill_above_all_scores(table))
        if targets[0].promise is not None:
            points = guarantees.add_guarantee_columns(points, targets, class_counts(table), table)
    elif _lists_scores(table):
        # What is flagged between two thresholds of a cumulative table is not known.
        is_listed = pl.col("threshold") == pick_by_target(least_scores, pl.col("threshold"))
        is_known = (pl.col("criterion") != "threshold") | is_listed
        points = points.with_columns(pl.when(is_known).then(name).alias(name) for name in SWEEP_COLUMNS)
    return points


def _fill_above_all_scores(table: ScoreTable) -> dict[str, pl.Expr]:
    """Return the cells and rates of points; at a given threshold above all scores nothing is flagged."""
    has_threshold = (pl.col("criterion") == "threshold") & pl.col("target").is_not_null()
    is_above_all = has_threshold & pl.col("tp").is_null()
    zero_count, (n_pos, n_neg) = pl.lit(0, dtype=table.count_dtype), class_counts(table)
    value_by_column: dict[str, pl.Expr] = {"tp": zero_count, "fp": zero_count, "fn": n_pos, "tn": n_neg}
    # Null for an empty class.
    for rate_column, total_column in (("recall", Group.N_POS), ("fpr", Group.N_NEG)):
        has_examples = pl.col(total_column).is_not_null()
        value_by_column[rate_column] = pl.when(has_examples).then(0.0).otherwise(rate_column)
    return {
        column: pl.when(is_above_all).then(column_value).otherwise(column)
        for column, column_value in value_by_column.items()
    }


def build_populations_of_points(
    groups: pl.LazyFrame, grid: EtaTable, table: ResolvedTable
) -> pl.LazyFrame:
    """Return one row per group and prevalence, numbered in Population.NUMBER."""
    return join_etas(groups, grid, *class_sizes(table), is_checked=False).with_row_index(
        Population.NUMBER
    )


def _lists_scores(table: ResolvedTable) -> bool:
    """Return whether points have thresholds: those of cells with a score."""
    return isinstance(table, of_table.RateTable) and table.score_dtype is not None


def _add_alerts(
    points: pl.LazyFrame, per: float, table: ResolvedTable, shown_metrics: Sequence[PointMetric]
) -> pl.LazyFrame:
    """Add alerts, true alerts and missed positives among `per` cases, with ends if these are shown."""
    # 1 - recall would lose the digits of fnr where nearly all positives are flagged.
    rate_metrics = [point.predicted_positive_rate, point.recall, point.fnr]
    alert_share, *rate_exprs = metric_values(rate_metrics, table)
    share_exprs = (alert_share, *(pl.col("eta") * rate for rate in rate_exprs))
    share_by_column = dict(zip(_ALERTS, share_exprs, strict=True))
    shown_names = {metric.name for metric in shown_metrics}
    names_with_ends = [name for name in _ALERTS if f"{RESERVED}{name}" in shown_names]
    for end_column in (f"{name}_{end}" for name in names_with_ends for end in ("low", "high")):
        share_by_column[end_column] = pl.col(f"{RESERVED}{end_column}")
    return points.with_columns((share * per).alias(name) for name, share in share_by_column.items())


def _add_chance(
    points: pl.LazyFrame, search: row_search.RowSearch, table: ResolvedTable, confidence: float
) -> pl.LazyFrame:
    """Add ABOVE_CHANCE, which is null where rows do not count alike, and in fields."""
    if table.sample.chance_test != "ranks" or not table.counts_negatives:
        return points.with_columns(pl.lit(None, dtype=pl.Boolean).alias(ABOVE_CHANCE))
    ranked_rows, groups = search.sweep_rows, search.groups
    if of_table.has_unscored(table) or table.kept_counts is not None:
        ranked_rows = build_sweep(table).rows  # all that have ranks, flagged by a threshold or not
    if not isinstance(table, ScoreTable):  # the last point need not flag all examples
        ranked_rows = build_segments(table, SweepTables(ranked_rows, groups), [])
    chance_rows = measure_chance(ranked_rows, groups, class_sizes(table), confidence)
    chance_rows = store(table, (ABOVE_CHANCE, confidence), chance_rows)
    return points.join(chance_rows, on=Group.NUMBER, how="left", maintain_order="left")
