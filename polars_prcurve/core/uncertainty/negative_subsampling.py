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
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from polars_prcurve.core.curves.curve_table import metric_values
from polars_prcurve.core.ground.argument_checks import (
    MOST_REPEATS,
    hint_at_arguments,
    read_seed,
    read_whole_number,
)
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.progress import show_share
from polars_prcurve.core.inputs.input_tables import InputTable, ScoreTable
from polars_prcurve.core.inputs.row_columns import Group
from polars_prcurve.core.metrics import point_formulas as point
from polars_prcurve.core.metrics.segment_columns import Segment
from polars_prcurve.core.prevalence.eta_grid import EtaTable, check_result_columns
from polars_prcurve.core.prevalence.group_eta_columns import Pair
from polars_prcurve.core.sweep.sweep_columns import SWEEP_COLUMNS
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
    """The quantiles of that precision at 25, 50 and 75 %."""
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
    `(eta, precision, mean, standard_deviation, quartiles, fpr_cv)`. Quantile q of precision is
    `tp / (tp + k)` with k the least number of false positives that a sample keeps at most with
    probability 1 - q. If tp is 0, precision is 0 where a sample keeps a false positive and
    undefined where it keeps none; the latter are left out. If fp is 0, too, all is NaN.

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
    for (name, part), (total, size) in (
        (("tp", tp), ("n_pos", n_pos)),
        (("fp", fp), ("n_neg", n_neg)),
        (("n_kept", n_kept), ("n_neg", n_neg)),
    ):
        if part > size:
            raise PrcError(f"{name} is at most {total}; got {name}={part} and {total}={size}")
    eta, fpr = n_pos / (n_pos + n_kept), fp / n_neg
    adjusted = tp / (tp + fp * n_kept / n_neg) if tp + fp > 0 else math.nan
    cv = math.nan
    if fp > 0:
        # A binomial fpr has the variance fpr (1 - fpr) / n_kept, and draws without replacement less.
        correction = (n_neg - n_kept) / max(n_neg - 1, 1)
        cv = math.sqrt((1 - fpr) / (fpr * n_kept) * correction)
    if tp == 0:
        constant = 0.0 if fp > 0 else math.nan
        return SubsampledPrecision(eta, adjusted, constant, constant, (constant, constant, constant), cv)
    n_fp_kept, probability = _kept_fp_distribution(fp, n_neg, n_kept)
    values = tp / (tp + n_fp_kept)
    mean = float(np.sum(probability * values))
    variance = float(np.sum(probability * (values - mean) ** 2))
    # Precision falls as kept rises, so its quantile q is at level 1 - q of kept. A sum of probabilities
    # that equals the level may be rounded to just below it.
    places = np.searchsorted(np.cumsum(probability), np.array([0.75, 0.5, 0.25]) - _ROUNDING)
    q1, median, q3 = (float(value) for value in values[places])
    return SubsampledPrecision(eta, adjusted, mean, math.sqrt(variance), (q1, median, q3), cv)


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
    share, fpr, mean = n_kept / n_neg, fp / n_neg, n_kept * fp / n_neg
    v = min(min(fp, n_neg - fp) * share * (1 - share), min(n_kept, n_neg - n_kept) * fpr * (1 - fpr))
    third = _NEGLIGIBLE_LOG / 3
    reach = third + math.sqrt(third**2 + 2 * _NEGLIGIBLE_LOG * v)
    low = max(0, n_kept + fp - n_neg, math.floor(mean - reach))
    high = min(fp, n_kept, math.ceil(mean + reach))
    mode = min(max((n_kept + 1) * (fp + 1) // (n_neg + 2), low), high)
    surplus = n_neg - fp - n_kept
    k = np.arange(mode, high, dtype=float)
    above = (fp - k) / (k + 1) * ((n_kept - k) / (surplus + k + 1))
    k = np.arange(mode, low, -1, dtype=float)
    below = k / (fp - k + 1) * ((surplus + k) / (n_kept - k + 1))
    weights = np.concatenate([np.cumprod(below)[::-1], [1.0], np.cumprod(above)])
    return np.arange(low, high + 1, dtype=float), weights / weights.sum()


# A table --------------------------------------------------------------------------------------


def build_subsample_table(
    table: InputTable, grid: EtaTable, *, n_repeats: int, seed: int | None, thresholds: Thresholds = None
) -> pl.LazyFrame:
    """Return `by`, eta, what the eta frame carries, and the rest of SUBSAMPLE_COLUMNS."""
    if not isinstance(table, ScoreTable):
        raise PrcError(
            "rates= holds no counts, so no negatives can be drawn; pass scores and labels, or counts="
        )
    if table.float_sums and not table.weighted:
        raise PrcError(
            "drawing single negatives needs integer counts=; got floats; cast them to integers if that "
            "is what they are"
        )
    if table.weighted:
        raise PrcError(
            "drawing single negatives needs examples that count as one each, not weights; leave weight= "
            "out, or pass whole numbers of examples as counts="
        )
    check_result_columns(table, grid, SUBSAMPLE_COLUMNS)
    repeats, seed = read_whole_number("n_repeats=", n_repeats, 1, most=MOST_REPEATS), read_seed(seed)
    numbered = replace(grid, frame=grid.frame.with_row_index(Pair.NUMBER))
    sweep = build_eta_sweep(numbered, table, thresholds="corners" if thresholds is None else thresholds)
    if thresholds is None:
        rises = pl.col("recall") > pl.col(Segment.RECALL_BEFORE)
        sweep = sweep.filter(rises | pl.col("recall").is_null())
    rows = table.collect(sweep, "subsample_negatives")
    n_pos, n_neg, eta = pl.col(Group.N_POS), pl.col(Group.N_NEG), pl.col("eta")
    has_both = n_pos.is_not_null() & n_neg.is_not_null()
    # n_pos / (n_pos + n_kept) is eta, rounded to a whole number of negatives.
    nearest = (n_pos * (1 - eta) / eta + 0.5).floor().clip(lower_bound=1)
    rows = rows.with_columns(pl.when(has_both).then(nearest).alias("n_kept"))
    _check_samples(rows, table)
    n_kept = pl.col("n_kept").cast(pl.Int64)
    rows = rows.with_columns(
        n_kept,
        pl.when(has_both).then(n_pos / (n_pos + n_kept)).otherwise(eta).alias("eta"),
        pl.lit(1.0).alias(Pair.POS_FACTOR),
        (n_kept / n_neg).alias(Pair.NEG_FACTOR),
    ).with_columns(metric_values([point.precision], table))
    statistics = _draw_samples(rows, repeats, seed).fill_nan(None)
    first, *other_columns = SUBSAMPLE_COLUMNS
    return rows.hstack(statistics).lazy().select(*table.by, first, *grid.carried, *other_columns)


def _check_samples(rows: pl.DataFrame, table: ScoreTable) -> None:
    """Raise if a sample needs more negatives than there are, or than NumPy draws from."""
    too_few, too_many = pl.col("n_kept") > pl.col(Group.N_NEG), pl.col(Group.N_NEG) >= _MAX_NEGATIVES
    for row in rows.filter(too_few | too_many).sort(~too_few, maintain_order=True).head(1).to_dicts():
        keys = (f"{name} = {'null' if row[name] is None else row[name]}" for name in table.by)
        group = f"the group {', '.join(keys)}" if table.by else "the table"
        pos, neg, n_needed = row[Group.N_POS], row[Group.N_NEG], row["n_kept"]
        if n_needed is not None and n_needed > neg:
            raise PrcError(
                f"eta={row['eta']:g} needs {n_needed:.0f} negatives beside {pos} positives, and {group} "
                f"has {neg}; pass its own prevalence, {pos / (pos + neg):.6g}, or more"
            )
        raise PrcError(
            f"NumPy draws from fewer than {_MAX_NEGATIVES} negatives, and {group} has {neg}; "
            "subsampled_precision has no such limit"
        )


def _draw_samples(rows: pl.DataFrame, n_repeats: int, seed: int | None) -> pl.DataFrame:
    """Return the _REPEAT_COLUMNS of each row; undefined is NaN."""
    # The negatives between two thresholds are a cell. The numbers that samples keep from all cells have
    # a multivariate hypergeometric distribution. It is drawn cell by cell, for all samples at once: the
    # number kept from a cell is hypergeometric, given the numbers kept from the cells before. So only a
    # block of thresholds is in memory, and the size of the block changes no number.
    curves = rows.partition_by(Group.NUMBER, Pair.NUMBER, maintain_order=True)
    # Each curve has a stream of random numbers of its own, so that other curves do not change its draws.
    generators = np.random.default_rng(seed).spawn(max(1, len(curves)))
    blocks = [np.empty((0, len(_REPEAT_COLUMNS)))]
    step = max(1, _MAX_VALUES // n_repeats)
    with show_share("samples", len(rows)) as advance:
        for curve, generator in zip(curves, generators, strict=False):
            # The negatives below the threshold, and how many of these each sample has yet to keep.
            remaining, n_kept = curve.select(Group.N_NEG, "n_kept").row(0)
            if not n_kept:  # a class is missing
                blocks.append(np.full((len(curve), len(_REPEAT_COLUMNS)), np.nan))
                continue
            missing = np.full(n_repeats, n_kept)
            tp, cells = curve["tp"].to_numpy(), np.diff(curve["fp"].to_numpy(), prepend=0).tolist()
            for start in range(0, len(tp), step):
                kept_fp = np.empty((len(tp[start : start + step]), n_repeats))
                for row, cell in enumerate(cells[start : start + step]):
                    if cell > 0:
                        missing = missing - generator.hypergeometric(cell, remaining - cell, missing)
                        remaining -= cell
                    kept_fp[row] = n_kept - missing
                blocks.append(_compute_statistics(tp[start : start + step], kept_fp))
                advance(len(kept_fp))
    return pl.DataFrame(np.concatenate(blocks), schema=_REPEAT_COLUMNS)


def _compute_statistics(tp: NDArray[np.int64], kept_fp: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the _REPEAT_COLUMNS of each row; samples of undefined precision are left out."""
    with np.errstate(invalid="ignore"):
        values = tp[:, None] / (tp[:, None] + kept_fp)
        undefined = np.isnan(values)
        n_defined = np.sum(~undefined, axis=1)
        # Precision is undefined at tp = 0 only. There all other samples have precision 0, so a 0 in
        # place of an undefined value changes no statistic.
        values[undefined & (n_defined > 0)[:, None]] = 0.0
        low, q1, median, q3, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], axis=1)
        above = values - low[:, None]  # exactly 0 for equal values, so their deviation is 0
        mean = np.minimum(low + above.mean(axis=1), high)
        deviation = np.full(len(tp), np.nan)
        if values.shape[1] > 1:
            deviation = np.where(n_defined > 1, above.std(axis=1, ddof=1), np.nan)
    return np.column_stack([mean, deviation, low, q1, median, q3, high])
