"""Why intervals of points may have too low a coverage: few examples, coarse scores, no end.

The limits are what simulations on many populations showed; see docs/coverage.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from polars_prcurve.core.confidence.band_options import ChosenBands, FixedBands, ModelBands
from polars_prcurve.core.confidence.doubts import (
    DOUBT,
    EQUAL_SCORES,
    doubt_missing_ends,
    find_first_doubt,
)
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError, TargetRow
from polars_prcurve.core.confidence.point_intervals import SIZE_COLUMNS
from polars_prcurve.core.curves.targets import ONLY_POINT, Target, pick_by_target
from polars_prcurve.core.curves.thresholds_moved_by_sample import COARSENESS
from polars_prcurve.core.inputs import resolved_tables as of_table
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.inputs.sample_kinds import OWN_MOMENTS
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.segment_column_names import CELLS
from polars_prcurve.core.metrics.target_kinds import ALERT_WORDS, RunTest
from polars_prcurve.core.sweep.effective_weights import find_missing_weights
from polars_prcurve.core.sweep.group_table import has_class, lacks_size
from polars_prcurve.core.sweep.sampling_designs import Design
from polars_prcurve.core.sweep.sweep_column_names import StratumLabels

# From 10 examples in each cell on, intervals and those of differences covered 94 to 96%, and those of a
# threshold that moves covered 94% or more up to this COARSENESS (docs/uncertainty.md).
_FEW = 10  # fewer examples in a cell make an interval unreliable
_FEW_AT_TARGET = {
    "recall": {"tp": 3, "fn": 3, "fp": 5},
    "fpr": {"tp": 5, "fn": 3, "fp": 5},
    "precision": {"tp": 8, "fn": 8, "fp": 5},
} | {word: {"tp": 5, "fn": 3, "fp": 5} for word in ALERT_WORDS}
"""Where fewer do, of a metric at a target of examples drawn one by one, by the word of the target: at a
recall and an fpr it covered 92% or more from there on. At a precision it covered no less than with ten
of each, in populations that the limits were not chosen on; where precision hardly changes along the
curve, both covered less. At a budget it did so too, where no score moves a metric by much; see
`uncertainty.metrics_at_targets`."""
_FEW_HITS = 5  # fewer positives reached a precision by luck in every tenth test set (docs/coverage.md)
_FEW_FALSE = 4  # fewer left out the precision of a budget in every tenth test set (docs/coverage.md)
_FEW_CLUSTERS = 30  # fewer do, too: the degrees of freedom of Student's distribution are an estimate
_COARSE = 0.5  # greater steps of a rate, as a share of its interval, do


def _doubt_choices(
    bands: FixedBands, table: ResolvedTable, cell_exprs: Sequence[pl.Expr], targets: Sequence[Target]
) -> dict[str, pl.Expr]:
    """Return where cells have few examples, which count alike, by the reason for doubt that this is.

    A threshold that the sample chose is in doubt only if a class has few, since its intervals allow for
    what is on its row; if few positives reach a precision, which may be luck; or if next to no alert of
    a budget is false, where Wilson's interval of fpr begins too high.
    """
    tp, fp, fn, tn = cell_exprs
    is_ratio_target = pick_by_target(
        target.kind is not None
        and isinstance(target.kind.promise_test, RunTest)
        and not (target.takes_first or target.promise)
        for target in targets
    )
    condition_by_reason = {
        "few positives": (tp + fn < _FEW) | (is_ratio_target & (tp < _FEW_HITS)),
        "few false positives": pick_by_target(target.rate is not None for target in targets)
        & (fp < _FEW_FALSE),
        "few negatives": fp + tn < _FEW,
    }
    # At the test set's prevalence metrics are shares of cells, which have to be full.
    is_given_threshold = pl.col(TargetRow.N_RIGHT_BY_CHOICE) == 0
    if bands.counts_eta:
        is_given_threshold = is_given_threshold | pl.col(EtaError.IS_OWN)
    return {
        reason: pl.when(is_given_threshold).then(is_few).otherwise(condition_by_reason[reason])
        for reason, is_few in _find_few(cell_exprs, table).items()
    }


def _doubt_strata(
    bands: FixedBands, table: ResolvedTable, targets: Sequence[Target], *, has_choices: bool
) -> dict[str, pl.Expr]:
    """Return where rows drawn by strata are few, by the reason for doubt that this is."""
    # Units of cells allow for what was not found, so intervals hold wherever cells are not full. A flag
    # that read the labels would mark the samples that found more than others. Those of rows drawn by
    # their labels do not: intervals are those of rows without weights, and in doubt where these are.
    n_pos, n_neg = pl.col(StratumLabels.POS), pl.col(StratumLabels.NEG)
    n_above = pl.col(StratumLabels.N_ABOVE).fill_null(0)
    condition_by_reason = {
        "few positives": n_pos < _FEW,
        "few negatives": n_neg < _FEW,
        "few labels": pl.min_horizontal(n_above, n_pos + n_neg - n_above) < _FEW,
    }
    # Whole numbers, where rows of a class weigh alike.
    cell_exprs = [
        n_in_cell.round(6) for n_in_cell in _measure_cells((StratumLabels.POS, StratumLabels.NEG))
    ]
    plain_condition_of_reason = _find_few(cell_exprs, table)
    if has_choices and isinstance(bands, ChosenBands):
        plain_condition_of_reason = _doubt_choices(bands, table, cell_exprs, targets)
    false_expr = pl.lit(False)
    is_by_class = pl.col(StratumLabels.BY_CLASS)
    return {
        reason: pl.when(is_by_class)
        .then(plain_condition_of_reason.get(reason, false_expr).fill_null(True))
        .otherwise(condition_by_reason.get(reason, false_expr).fill_null(True))
        for reason in {**condition_by_reason, **plain_condition_of_reason}
    } | {"stratum of one row": pl.col(StratumLabels.N_ALONE) > 0}


def add_doubts_of_points(
    points: pl.LazyFrame,
    bands: FixedBands,
    table: ResolvedTable,
    design: Design,
    targets: Sequence[Target],
    *,
    is_of_curve: bool,
) -> pl.LazyFrame:
    """Add DOUBT, why intervals may have too low a coverage; and the error of the prevalence."""
    has_choices = isinstance(bands, ChosenBands) and bands.allows_for_choice
    if bands.sample.has_label_counts:
        condition_by_reason = _doubt_strata(bands, table, targets, has_choices=has_choices)
    elif has_choices and not (bands.sample.joins_rows or of_table.is_field(table)):
        condition_by_reason = _doubt_choices(bands, table, _list_cells(table, design), targets)
    else:
        condition_by_reason = list_few_cells(table, bands, design, targets if is_of_curve else [])
    if may_lack_weights(bands):
        condition_by_reason["heavy weights"] = find_missing_weights()
    condition_by_reason |= _list_no_points(table)
    if isinstance(bands, ModelBands):
        condition_by_reason[EQUAL_SCORES] = pl.col(COARSENESS) > _COARSE
    if targets[0].is_joined and targets[0].promise is None:
        condition_by_reason["several targets"] = pl.lit(True)
    if ONLY_POINT in targets:
        condition_by_reason["recall below fpr"] = _is_below_diagonal(_list_cells(table, design))
    doubt_expr = find_first_doubt(condition_by_reason, pl.lit(True))
    eta_deviation = pl.lit(0.0)
    if bands.counts_eta:
        eta_deviation = pl.when(EtaError.IS_OWN).then(pl.col(EtaError.VARIANCE).sqrt()).otherwise(0.0)
    return points.with_columns(eta_deviation.alias(EtaError.STANDARD_ERROR), doubt_expr.alias(DOUBT))


def _is_below_diagonal(cell_exprs: Sequence[pl.Expr]) -> pl.Expr:
    """Return whether recall is below fpr by more than two standard errors of two equal shares."""
    tp, fp, fn, tn = cell_exprs
    n_pos, n_neg = tp + fn, fp + tn
    flagged_share = (tp + fp) / (n_pos + n_neg)
    error_of_gap = (flagged_share * (1 - flagged_share) * (1 / n_pos + 1 / n_neg)).sqrt()
    return (fp / n_neg - tp / n_pos > 2 * error_of_gap).fill_null(False)


def may_lack_weights(bands: FixedBands) -> bool:
    """Return whether rows with large weights may be missing from what a threshold flags."""
    sample_kind = bands.sample
    return (
        isinstance(bands, ChosenBands) and sample_kind.is_weighted and sample_kind.moments == OWN_MOMENTS
    )


def doubt_points_without_ends(
    points: pl.LazyFrame, metrics: Sequence[PointMetric], table: ResolvedTable
) -> pl.LazyFrame:
    """Let each row have a doubt in which an end of an interval is null; of a long table, pass none."""
    # An fpr that is unknown in every row is no doubt of the others.
    metric_names = [metric.name for metric in metrics if table.counts_negatives or metric.name != "fpr"]
    end_columns = (
        [f"{name}{suffix}" for name in metric_names for suffix in ("_low", "_high")]
        if metrics
        else ["low", "high"]
    )
    return points.with_columns(doubt_missing_ends(DOUBT, end_columns).alias(DOUBT))


def list_few_cells(
    table: ResolvedTable, bands: FixedBands, design: Design, targets: Sequence[Target]
) -> dict[str, pl.Expr]:
    """Return where cells hold few examples, or enough of them in few clusters.

    `targets` are those of metrics at targets, and none of other rows.
    """
    if not bands.sample.joins_rows:
        cell_exprs = _list_cells(table, design)
        is_few_by_reason = _find_few(cell_exprs, table, targets)
        if not (bands.counts_eta and targets):
            return is_few_by_reason
        # The count moves a target that reads it, too: 8 examples covered as little as 88% there.
        moves_with_eta = pl.col(EtaError.IS_OWN) & pick_by_target(
            target.depends_on_eta for target in targets
        )
        return {
            reason: pl.when(moves_with_eta).then(is_few).otherwise(is_few_by_reason[reason])
            for reason, is_few in _find_few(cell_exprs, table).items()
        }
    n_units = pl.min_horizontal(EffectiveSize.POS_FREEDOM, EffectiveSize.NEG_FREEDOM) + 1
    is_few_by_sizes = _find_few(_measure_cells(), table)
    has_few_units = pl.any_horizontal(n_units < _FEW_CLUSTERS, *is_few_by_sizes.values())
    return _find_few(_count_cells(), table) | {"few clusters": has_few_units}


def _list_cells(table: ResolvedTable, design: Design) -> list[pl.Expr]:
    """Return how many examples `tp, fp, fn, tn` hold, which count alike or by their weights."""
    has_own_sizes = design.has_varying_sizes or of_table.is_field(table)
    return _measure_cells() if has_own_sizes else _count_cells()


def _count_cells() -> list[pl.Expr]:
    return [pl.col(name).cast(pl.Float64) for name in CELLS]


def _measure_cells(size_columns: Iterable[str] = SIZE_COLUMNS.values()) -> list[pl.Expr]:
    """Return how full cells are by rates and sizes of both classes, effective ones as in a field."""
    recall, fpr, n_pos, n_neg = map(pl.col, ("recall", "fpr", *size_columns))
    return [recall * n_pos, fpr * n_neg, (1 - recall) * n_pos, (1 - fpr) * n_neg]


def _find_few(
    cell_exprs: Sequence[pl.Expr], table: ResolvedTable, targets: Sequence[Target] = ()
) -> dict[str, pl.Expr]:
    """Return which of `tp, fp, fn, tn` are few, maybe at some targets."""
    tp, fp, fn, tn = cell_exprs
    tp_limit, fp_limit, fn_limit = (
        pick_by_target(
            (_FEW_AT_TARGET.get(target.criterion, {}).get(cell) for target in targets), pl.lit(_FEW)
        )
        for cell in ("tp", "fp", "fn")
    )
    is_few_by_reason = {
        "few positives": (tp < tp_limit) | (fn < fn_limit),
        "few false positives": fp < fp_limit,
    }
    return is_few_by_reason | ({"few negatives": tn < _FEW} if table.counts_negatives else {})


def _list_no_points(table: ResolvedTable) -> dict[str, pl.Expr]:
    """Return why a row may have no point, or a point no interval."""
    is_given = (pl.col("criterion") == "threshold") & pl.col("target").is_not_null()
    has_no_point = pl.col("recall").is_null()
    return {
        "no sizes": lacks_size() & (not isinstance(table, ScoreTable)),
        "one class": ~(has_class(table, Group.N_POS) & has_class(table, Group.N_NEG)),
        "target not met": has_no_point & ~is_given,
        "few points": has_no_point & is_given,  # between two points of a table of points
    }
