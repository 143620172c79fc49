"""Subsampling: how precision scatters if negatives are left out to make a test set balanced.

Keeping n of N negatives, drawn without replacement, raises prevalence from P / (P + N) to P / (P + n).
Of the fp negatives above a threshold a sample keeps K, a hypergeometric number, and finds the precision
tp / (tp + K). All negatives, with the counts adjusted to that prevalence, give one precision at the
threshold and no scatter.

    one threshold    moments and quantiles of tp / (tp + K), computed exactly
    a table          samples are drawn, since K at one threshold depends on K at the next

Sources: Brabec et al. 2020, section 5.1 and Fig. 6.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from polars_prcurve.core.curves.metric_and_band_columns import metric_values
from polars_prcurve.core.ground.argument_checks import MOST_REPEATS, read_seed, read_whole_number
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.progress import show_share
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics import point_formulas as point
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence.eta_table import EtaTable, check_result_columns
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_column_names import SWEEP_COLUMNS
from polars_prcurve.core.sweep.sweep_table import Thresholds, build_eta_sweep

if TYPE_CHECKING:
    from numpy.typing import NDArray


_REPEAT_COLUMNS = ("mean", "standard_deviation", "low", "q1", "median", "q3", "high")
"""What the precisions of repeated samples have in common."""
SUBSAMPLE_COLUMNS = ("eta", "n_kept", *SWEEP_COLUMNS, "precision", *_REPEAT_COLUMNS)
"""The columns of `subsample_negatives`, after `by`."""
_MAX_NEGATIVES = 10**9  # NumPy draws hypergeometric numbers from fewer examples than this
_MAX_VALUES = 10**6  # thresholds times repeats that are in memory at once, in a few copies
_NEGLIGIBLE_LOG = 43.0
"""Both tails of a distribution are left out that together hold less than 2 exp(-43), about 4e-19."""
_ROUNDING = 1e-12  # the least by which a sum of probabilities must fall short of a level to be below it


class SubsampledPrecision(NamedTuple):
    """Precision at one threshold, where some of the negatives are kept."""

    eta: float
    """The prevalence of the sample: n_pos / (n_pos + n_kept)."""
    precision: float
    """From all negatives, adjusted to eta."""
    mean: float
    """The mean of the precision that samples find."""
    standard_deviation: float
    quartiles: tuple[float, float, float]
    """The quantiles of that precision at 25, 50 and 75%."""
    fpr_cv: float
    """The standard deviation of a sample's fpr over the fpr of all negatives; NaN if that is 0."""


# One threshold --------------------------------------------------------------------------------


@hint_at_arguments
def subsampled_precision(tp: int, n_pos: int, fp: int, n_neg: int, n_kept: int) -> SubsampledPrecision:
    """The precision at a threshold if only `n_kept` of the negatives are kept, at random.

    Exact, from the hypergeometric distribution: nothing is drawn. All positives are kept (Brabec et
    al. 2020, section 5.1).

    Parameters
    ----------
    tp, n_pos
        True positives at the threshold, and all positives.
    fp, n_neg
        False positives, and all negatives.
    n_kept
        How many negatives are kept, without replacement; at least 1.

    Returns
    -------
    `(eta, precision, mean, standard_deviation, quartiles, fpr_cv)`. Quantile q of precision is `tp / (tp
    + k)` where k is the smallest number such that a sample keeps at most k false positives with
    probability 1 - q. If tp is 0, precision is 0 where a sample keeps a false positive and undefined
    where it keeps none; the latter are left out. If fp is also 0, all are NaN.

    Examples
    --------
    >>> found = subsampled_precision(tp=40, n_pos=50, fp=30, n_neg=49_950, n_kept=4_950)
    >>> found.eta, round(found.precision, 6)
    (0.01, 0.930818)
    >>> round(found.mean, 6), round(found.standard_deviation, 6)
    (0.932148, 0.034979)
    """
    tp, n_pos = read_whole_number("tp", tp, 0), read_whole_number("n_pos", n_pos, 1)
    fp, n_neg = read_whole_number("fp", fp, 0), read_whole_number("n_neg", n_neg, 1)
    n_kept = read_whole_number("n_kept", n_kept, 1)
    for (part_name, n_part), (total_name, n_total) in (
        (("tp", tp), ("n_pos", n_pos)),
        (("fp", fp), ("n_neg", n_neg)),
        (("n_kept", n_kept), ("n_neg", n_neg)),
    ):
        if n_part > n_total:
            raise PrcError(
                f"{part_name} is at most {total_name}; "
                f"got {part_name}={n_part} and {total_name}={n_total}"
            )
    eta, fpr = n_pos / (n_pos + n_kept), fp / n_neg
    adjusted_precision = tp / (tp + fp * n_kept / n_neg) if tp + fp > 0 else math.nan
    fpr_cv = math.nan
    if fp > 0:
        # A binomial fpr has the variance fpr (1 - fpr) / n_kept, and draws without replacement less.
        finite_correction = (n_neg - n_kept) / max(n_neg - 1, 1)
        fpr_cv = math.sqrt((1 - fpr) / (fpr * n_kept) * finite_correction)
    if tp == 0:
        constant_value = 0.0 if fp > 0 else math.nan
        quartiles = (constant_value, constant_value, constant_value)
        return SubsampledPrecision(
            eta, adjusted_precision, constant_value, constant_value, quartiles, fpr_cv
        )
    kept_fp, probabilities = _kept_fp_distribution(fp, n_neg, n_kept)
    precisions = tp / (tp + kept_fp)
    mean = float(np.sum(probabilities * precisions))
    variance = float(np.sum(probabilities * (precisions - mean) ** 2))
    # Precision falls as kept rises, so its quantile q is at level 1 - q of kept. A sum of probabilities
    # that equals the level may be rounded to just below it.
    quantile_indices = np.searchsorted(np.cumsum(probabilities), np.array([0.75, 0.5, 0.25]) - _ROUNDING)
    q1, median, q3 = (float(precision) for precision in precisions[quantile_indices])
    return SubsampledPrecision(
        eta, adjusted_precision, mean, math.sqrt(variance), (q1, median, q3), fpr_cv
    )


def _kept_fp_distribution(
    fp: int, n_neg: int, n_kept: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers of false positives that a sample may keep, rising, and their probabilities."""
    # Binomial coefficients of many examples overflow. Ratios of neighbouring probabilities do not:
    # P(k + 1) / P(k) = (fp - k) (n_kept - k) / ((k + 1) (n_neg - fp - n_kept + k + 1)). Products of
    # ratios, from the most likely number outwards, give all probabilities up to a factor.
    #
    # Tails hold at most 2 exp(-_NEGLIGIBLE_LOG) beyond `reach`, by Bernstein's inequality: a number is
    # further than t from its mean with a probability of at most 2 exp(-t**2 / (2 v + 2 t / 3)), also
    # without replacement, where v is the variance with replacement (Hoeffding 1963). The roles of kept
    # and left out, or of above and below the threshold, may be exchanged.
    kept_share, fpr, mean = n_kept / n_neg, fp / n_neg, n_kept * fp / n_neg
    variance = min(
        min(fp, n_neg - fp) * kept_share * (1 - kept_share),
        min(n_kept, n_neg - n_kept) * fpr * (1 - fpr),
    )
    third_of_log = _NEGLIGIBLE_LOG / 3
    max_distance = third_of_log + math.sqrt(third_of_log**2 + 2 * _NEGLIGIBLE_LOG * variance)
    least_fp = max(0, n_kept + fp - n_neg, math.floor(mean - max_distance))
    most_fp = min(fp, n_kept, math.ceil(mean + max_distance))
    likeliest_fp = min(max((n_kept + 1) * (fp + 1) // (n_neg + 2), least_fp), most_fp)
    tn_less_kept = n_neg - fp - n_kept
    k = np.arange(likeliest_fp, most_fp, dtype=float)
    ratios_above = (fp - k) / (k + 1) * ((n_kept - k) / (tn_less_kept + k + 1))
    k = np.arange(likeliest_fp, least_fp, -1, dtype=float)
    ratios_below = k / (fp - k + 1) * ((tn_less_kept + k) / (n_kept - k + 1))
    relative_probabilities = np.concatenate(
        [np.cumprod(ratios_below)[::-1], [1.0], np.cumprod(ratios_above)]
    )
    return np.arange(
        least_fp, most_fp + 1, dtype=float
    ), relative_probabilities / relative_probabilities.sum()


# A table --------------------------------------------------------------------------------------


def build_subsample_table(
    table: ResolvedTable,
    grid: EtaTable,
    *,
    n_repeats: int,
    seed: int | None,
    thresholds: Thresholds = None,
) -> pl.LazyFrame:
    """Return `by`, eta, what the eta frame carries, and the rest of SUBSAMPLE_COLUMNS."""
    if not isinstance(table, ScoreTable):
        raise PrcError(
            "pass scores and labels, or counts=: rates= holds no counts, so no negatives can be drawn"
        )
    if table.has_float_sums and not table.is_weighted:
        raise PrcError(
            "cast counts= to integers if they are numbers of examples, which drawing single "
            "negatives needs; got floats"
        )
    if table.is_weighted:
        raise PrcError(
            "leave weight= out, or pass whole numbers of examples as counts=: drawing single "
            "negatives needs examples that count as one each"
        )
    check_result_columns(table, grid, SUBSAMPLE_COLUMNS)
    n_repeats = read_whole_number("n_repeats=", n_repeats, 1, greatest_number=MOST_REPEATS)
    seed = read_seed(seed)
    numbered_grid = grid._replace(frame=grid.frame.with_row_index(Population.NUMBER))
    shown_thresholds: Thresholds = "corners" if thresholds is None else thresholds
    sweep_rows = build_eta_sweep(numbered_grid, table, thresholds=shown_thresholds)
    if thresholds is None:
        is_rise = pl.col("recall") > pl.col(Segment.RECALL_BEFORE)
        sweep_rows = sweep_rows.filter(is_rise | pl.col("recall").is_null())
    threshold_rows = table.collect(sweep_rows, "subsample_negatives")
    n_pos, n_neg, eta = pl.col(Group.N_POS), pl.col(Group.N_NEG), pl.col("eta")
    has_both_classes = n_pos.is_not_null() & n_neg.is_not_null()
    # n_pos / (n_pos + n_kept) is eta, rounded to a whole number of negatives.
    n_nearest = (n_pos * (1 - eta) / eta + 0.5).floor().clip(lower_bound=1)
    threshold_rows = threshold_rows.with_columns(n_kept=pl.when(has_both_classes).then(n_nearest))
    _check_samples(threshold_rows, table)
    n_kept = pl.col("n_kept").cast(pl.Int64)
    threshold_rows = threshold_rows.with_columns(
        n_kept,
        pl.when(has_both_classes).then(n_pos / (n_pos + n_kept)).otherwise(eta).alias("eta"),
        pl.lit(1.0).alias(Population.POS_FACTOR),
        (n_kept / n_neg).alias(Population.NEG_FACTOR),
    ).with_columns(metric_values([point.precision], table))
    statistics_frame = _draw_samples(threshold_rows, n_repeats, seed).fill_nan(None)
    column_names = (*table.by, SUBSAMPLE_COLUMNS[0], *grid.carried_columns, *SUBSAMPLE_COLUMNS[1:])
    return threshold_rows.hstack(statistics_frame).lazy().select(*column_names)


def _check_samples(threshold_rows: pl.DataFrame, table: ScoreTable) -> None:
    """Raise if a sample needs more negatives than there are, or than NumPy draws from."""
    has_too_few = pl.col("n_kept") > pl.col(Group.N_NEG)
    has_too_many = pl.col(Group.N_NEG) >= _MAX_NEGATIVES
    wrong_rows = threshold_rows.filter(has_too_few | has_too_many)
    for row in wrong_rows.sort(~has_too_few, maintain_order=True).head(1).to_dicts():
        key_texts = (f"{name} = {'null' if row[name] is None else row[name]}" for name in table.by)
        group_text = f"the group {', '.join(key_texts)}" if table.by else "the table"
        n_pos, n_neg, n_needed = row[Group.N_POS], row[Group.N_NEG], row["n_kept"]
        if n_needed is not None and n_needed > n_neg:
            raise PrcError(
                f"pass an eta of {n_pos / (n_pos + n_neg):.6g} or more, the prevalence of "
                f"{group_text}: eta={row['eta']:g} needs {n_needed:.0f} negatives beside {n_pos} "
                f"positives, and there are {n_neg}"
            )
        raise PrcError(
            "use subsampled_precision, which has no limit: NumPy can draw from at most "
            f"{_MAX_NEGATIVES - 1} negatives, and {group_text} has {n_neg}"
        )


def _draw_samples(threshold_rows: pl.DataFrame, n_repeats: int, seed: int | None) -> pl.DataFrame:
    """Return the _REPEAT_COLUMNS of each row; undefined is NaN."""
    # The negatives between two thresholds are a cell. The numbers that samples keep from all cells have
    # a multivariate hypergeometric distribution. It is drawn cell by cell, for all samples at once: the
    # number kept from a cell is hypergeometric, given the numbers kept from the cells before. So only a
    # block of thresholds is in memory, and the size of the block changes no number.
    rows_of_curves = threshold_rows.partition_by(Group.NUMBER, Population.NUMBER, maintain_order=True)
    # Each curve has a stream of random numbers of its own, so that other curves do not change its draws.
    generators = np.random.default_rng(seed).spawn(max(1, len(rows_of_curves)))
    statistics_blocks = [np.empty((0, len(_REPEAT_COLUMNS)))]
    n_at_once = max(1, _MAX_VALUES // n_repeats)
    with show_share("samples", len(threshold_rows)) as advance:
        for curve_rows, generator in zip(rows_of_curves, generators, strict=False):
            # The negatives below the threshold, and how many of these each sample has yet to keep.
            n_remaining, n_kept = curve_rows.select(Group.N_NEG, "n_kept").row(0)
            if not n_kept:  # a class is missing
                statistics_blocks.append(np.full((len(curve_rows), len(_REPEAT_COLUMNS)), np.nan))
                continue
            n_yet_to_keep = np.full(n_repeats, n_kept)
            tp = curve_rows["tp"].to_numpy()
            cell_sizes = np.diff(curve_rows["fp"].to_numpy(), prepend=0).tolist()
            for block_start in range(0, len(tp), n_at_once):
                block_slice = slice(block_start, block_start + n_at_once)
                kept_fp = np.empty((len(tp[block_slice]), n_repeats))
                for row_number, cell_size in enumerate(cell_sizes[block_slice]):
                    if cell_size > 0:
                        n_kept_here = generator.hypergeometric(
                            cell_size, n_remaining - cell_size, n_yet_to_keep
                        )
                        n_yet_to_keep = n_yet_to_keep - n_kept_here
                        n_remaining -= cell_size
                    kept_fp[row_number] = n_kept - n_yet_to_keep
                statistics_blocks.append(_compute_statistics(tp[block_slice], kept_fp))
                advance(len(kept_fp))
    return pl.DataFrame(np.concatenate(statistics_blocks), schema=_REPEAT_COLUMNS)


def _compute_statistics(tp: NDArray[np.int64], kept_fp: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the _REPEAT_COLUMNS of each row; samples of undefined precision are left out."""
    with np.errstate(invalid="ignore"):
        precisions = tp[:, None] / (tp[:, None] + kept_fp)
        is_undefined = np.isnan(precisions)
        n_defined = np.sum(~is_undefined, axis=1)
        # Precision is undefined at tp = 0 only. There all other samples have precision 0, so a 0
        # instead of an undefined value changes no statistic.
        precisions[is_undefined & (n_defined > 0)[:, None]] = 0.0
        low, q1, median, q3, high = np.quantile(precisions, [0, 0.25, 0.5, 0.75, 1], axis=1)
        excesses = precisions - low[:, None]  # exactly 0 for equal values, so their deviation is 0
        mean = np.minimum(low + excesses.mean(axis=1), high)
        standard_deviation = np.full(len(tp), np.nan)
        if precisions.shape[1] > 1:
            standard_deviation = np.where(n_defined > 1, excesses.std(axis=1, ddof=1), np.nan)
    return np.column_stack([mean, standard_deviation, low, q1, median, q3, high])
