"""How sure a metric is at a prevalence that was counted in the table: the table is a cohort.

The rows of a cohort were drawn together, so the sizes of both classes are as random as their rates. Then
a metric is a function of shares, and has its interval from theirs:

    one share     Precision is the share of tp among tp + fp. Its trials are independent, whatever the
                  prevalence is, so its interval is that of a rate. So it is for every metric that
                  follows from one such share; see `PointMetric.share_of`.
    two shares    Net benefit is a weighted difference of the shares of tp and of fp among all examples.
                  An example is in one cell at most: shares a and b have the correlation -root of
                  a b / ((1 - a)(1 - b)).
    three shares  Every other metric follows from the shares of tn among all examples, of tp among those
                  that are not tn, and of fn among the errors. Four cells of a sample are such a chain
                  of independent trials (a multinomial is), and so are recall, fpr and prevalence. Of
                  all chains, in this one F_beta, kappa and MCC move most with one share, so that their
                  intervals miss on both sides about equally often (see the table `cohort_points`).

Two and three shares are combined as distances, as recall and fpr are in `point_intervals`.

Weights and clusters change both. Let an example add its weight to one of the cells tp, fp, fn, tn, and a
cluster to all four. The moment of two cells is the sum of the products of what each example, or each
cluster, adds to them. A function of the cells that does not depend on their scale has the variance

    sum of u v M(u, v)    over pairs of cells, with its slopes u and v by them.

That gives as how many examples the trials of a share count, and how the errors of both rates correlate
with that of the logit of the prevalence. Where rows with large weights have low scores, an error of
recall takes back what that of the prevalence does.

Sources: Wilson 1927; Zou and Donner 2008; Kish 1965.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.confidence.rate_intervals import compute_limits
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.inputs.sample_kinds import MOMENTS, name_moment, name_unit
from polars_prcurve.core.metrics.point_metric import PointMetric, ShareCells, null_if_nan
from polars_prcurve.core.metrics.segment_column_names import CELLS

ETA_CORRELATIONS = {rate: f"{RESERVED}{rate}_eta_correlation" for rate in ("recall", "fpr")}
"""The correlation of the error of either rate with that of the logit of a counted prevalence."""


def sum_moments(
    first_slopes: Mapping[str, pl.Expr],
    second_slopes: Mapping[str, pl.Expr],
    moment_columns: Collection[str] = MOMENTS,
) -> pl.Expr:
    """Return the sum of u v M(u, v) over pairs of cells that have a moment, from slopes by cell."""
    moment_sum = pl.lit(0.0)
    for first_cell, second_cell in product(first_slopes, second_slopes):
        moment_column = name_moment(first_cell, second_cell)
        if moment_column in moment_columns:
            slope_product = first_slopes[first_cell] * second_slopes[second_cell]
            moment_sum = moment_sum + slope_product * pl.col(moment_column)
    return moment_sum


def add_eta_correlations(
    points: pl.LazyFrame, table: ResolvedTable, moment_columns: Collection[str]
) -> pl.LazyFrame:
    """Add ETA_CORRELATIONS to rows with moments; 0 where a rate has no error."""
    n_pos, n_neg = _add_cells(("tp", "fn"), table), _add_cells(("fp", "tn"), table)
    # The logit of eta is ln P - ln N. A rate of n examples grows by (1 - r) / n with the cell above the
    # threshold, and falls by r / n with the one below.
    eta_slopes = {"tp": 1 / n_pos, "fn": 1 / n_pos, "fp": -1 / n_neg, "tn": -1 / n_neg}
    eta_variance = sum_moments(eta_slopes, eta_slopes, moment_columns)
    correlation_exprs = {}
    for rate_name, (cell_above, cell_below), class_size in (
        ("recall", ("tp", "fn"), n_pos),
        ("fpr", ("fp", "tn"), n_neg),
    ):
        rate_slopes = {
            cell_above: (1 - pl.col(rate_name)) / class_size,
            cell_below: -pl.col(rate_name) / class_size,
        }
        scale = (sum_moments(rate_slopes, rate_slopes, moment_columns) * eta_variance).sqrt()
        covariance = sum_moments(rate_slopes, eta_slopes, moment_columns)
        correlation = pl.when(scale > 0).then(covariance / scale)
        own_correlation = pl.when(EtaError.IS_OWN).then(correlation.clip(-1.0, 1.0))
        correlation_exprs[ETA_CORRELATIONS[rate_name]] = own_correlation.fill_null(0.0)
    return points.with_columns(**correlation_exprs)


_CHAIN_OF_SHARES: tuple[ShareCells, ...] = (
    (("tn",), ("tp", "fn", "fp")),
    (("tp",), ("fn", "fp")),
    (("fn",), ("fp",)),
)
"""Three shares that determine all cells: tn among all, tp among the rest, and fn among the errors."""


def list_shares(metric: PointMetric) -> dict[str, ShareCells]:
    """Return the shares that a metric follows from at a counted prevalence, by column."""
    if not metric.depends_on_eta:
        return {}
    if metric.share_of is not None:
        cells_of_shares: tuple[ShareCells, ...] = (metric.share_of,)
    elif metric.difference_of is not None:
        cells_of_shares = tuple(
            ((cell,), tuple(other_cell for other_cell in CELLS if other_cell != cell))
            for cell in metric.difference_of
        )
    else:
        cells_of_shares = _CHAIN_OF_SHARES
    return {
        "_".join((f"{RESERVED}share", *hit_cells, "of", *hit_cells, *miss_cells)): (
            hit_cells,
            miss_cells,
        )
        for hit_cells, miss_cells in cells_of_shares
    }


def name_correlation(first_share_column: str, second_share_column: str) -> str:
    """Return the name of the column with the correlation of two shares, from their names."""
    return f"{first_share_column}_with_{second_share_column.removeprefix(RESERVED)}"


def measure_share(
    share_cells: ShareCells, table: ResolvedTable, moment_columns: Collection[str]
) -> tuple[pl.Expr, pl.Expr]:
    """Return the share of hits among hits and misses, and as how many examples its trials count."""
    hit_cells, miss_cells = share_cells
    hit_sum, cell_sum = (
        _add_cells(cell_names, table) for cell_names in (hit_cells, (*hit_cells, *miss_cells))
    )
    share_value = hit_sum / repeat_in_rows(cell_sum, cell_sum)
    slopes = _find_cell_slopes(share_value, share_cells)
    if not moment_columns:
        return share_value, cell_sum
    unit_slope_by_cell = dict.fromkeys((*hit_cells, *miss_cells), pl.lit(1.0))
    is_inside = (share_value > 0) & (share_value < 1)
    # The variance of a share s is s (1 - s) / m for m trials, and the slopes are n times those of s. At
    # 0 and 1 that gives no m: then it is n^2 / (sum of squared weights).
    variance = sum_moments(slopes, slopes, moment_columns)
    size = pl.when(is_inside).then(share_value * (1 - share_value) * cell_sum * cell_sum / variance)
    if unit_columns := [
        unit_column
        for unit_column in map(name_unit, unit_slope_by_cell)
        if unit_column in moment_columns
    ]:
        return share_value, size.otherwise(cell_sum / pl.max_horizontal(unit_columns))
    square_sum = sum_moments(unit_slope_by_cell, unit_slope_by_cell, moment_columns)
    return share_value, size.otherwise(cell_sum * cell_sum / square_sum)


def correlate_shares(
    cells_by_share: Mapping[str, ShareCells], moment_columns: Collection[str]
) -> pl.Expr | None:
    """Return the correlation of the errors of two shares, null where one has none; None if it is 0.

    The shares are columns, by these names.
    """
    first_value, second_value = map(pl.col, cells_by_share)
    first_slopes, second_slopes = (
        _find_cell_slopes(pl.col(name), share_cells) for name, share_cells in cells_by_share.items()
    )
    if not moment_columns:
        if first_slopes.keys() != second_slopes.keys():
            return None  # the trials of a chain are independent
        # Multinomial shares a and b have the covariance -a b / n.
        odds_product = first_value * second_value / ((1 - first_value) * (1 - second_value))
        return -null_if_nan(odds_product.sqrt())
    covariance = sum_moments(first_slopes, second_slopes, moment_columns)
    first_variance = sum_moments(first_slopes, first_slopes, moment_columns)
    variance_product = first_variance * sum_moments(second_slopes, second_slopes, moment_columns)
    return pl.when(variance_product > 0).then((covariance / variance_product.sqrt()).clip(-1.0, 1.0))


def _find_cell_slopes(share_value: pl.Expr, share_cells: ShareCells) -> dict[str, pl.Expr]:
    """Return the slopes of a share by its cells, times their sum."""
    hit_cells, miss_cells = share_cells
    return dict.fromkeys(hit_cells, 1 - share_value) | dict.fromkeys(miss_cells, -share_value)


def evaluate_shares(metric: PointMetric, share_values: Sequence[pl.Expr]) -> pl.Expr:
    """Return a metric where the shares that it follows from have these values."""
    value_by_cell = dict.fromkeys(("tp", "fn", "fp", "tn"), pl.lit(0.0))
    if metric.share_of is not None:
        (hit_cell, *_), (miss_cell, *_) = metric.share_of
        value_by_cell |= {hit_cell: share_values[0], miss_cell: 1 - share_values[0]}
    elif metric.difference_of is not None:
        (other_cell, *_) = (cell for cell in ("tn", "fn") if cell not in metric.difference_of)
        value_by_cell |= dict(zip(metric.difference_of, share_values, strict=True))
        value_by_cell[other_cell] = 1 - share_values[0] - share_values[1]
    else:
        tn_share, tp_share, fn_share = share_values  # as in _CHAIN_OF_SHARES
        error_share = (1 - tn_share) * (1 - tp_share)
        value_by_cell = {
            "tp": (1 - tn_share) * tp_share,
            "fn": error_share * fn_share,
            "fp": error_share * (1 - fn_share),
            "tn": tn_share,
        }
    value: pl.Expr = metric.formula(*value_by_cell.values())
    return value


def add_counted_eta_limits(
    points: pl.LazyFrame, confidence: float, other_columns: tuple[str, str]
) -> pl.LazyFrame:
    """Add LIMITS: the interval of a prevalence that was counted, and elsewhere other columns."""
    eta, variance = pl.col("eta"), pl.col(EtaError.VARIANCE)
    # The logit of a share of n examples has the variance 1 / (n eta (1 - eta)).
    n_examples = 1 / (variance * (eta * (1 - eta)))
    interval_ends = compute_limits(eta * n_examples, n_examples, confidence, "wilson")
    return points.with_columns(
        pl.when(EtaError.IS_OWN).then(null_if_nan(end)).otherwise(other_column).alias(limit_column)
        for limit_column, end, other_column in zip(
            EtaError.LIMITS, interval_ends, other_columns, strict=True
        )
    )


def _add_cells(cell_names: tuple[str, ...], table: ResolvedTable) -> pl.Expr:
    """Return the sum of some cells; published rates make them of the sizes of both classes."""
    if table.has_cells:
        cell_sum = pl.sum_horizontal(pl.col(cell_name).cast(pl.Float64) for cell_name in cell_names)
        return cell_sum * pl.col(EffectiveSize.WEIGHT_UNIT)
    recall, fpr, n_pos, n_neg = map(pl.col, ("recall", "fpr", EffectiveSize.N_POS, EffectiveSize.N_NEG))
    value_by_cell = {
        "tp": recall * n_pos,
        "fn": (1 - recall) * n_pos,
        "fp": fpr * n_neg,
        "tn": (1 - fpr) * n_neg,
    }
    return sum((value_by_cell[cell_name] for cell_name in cell_names), pl.lit(0.0))
