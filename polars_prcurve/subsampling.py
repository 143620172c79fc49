"""Subsampling: what is lost where negatives are left out to make a test set balanced.

Keeping n of N negatives, drawn without replacement, brings prevalence from P / (P + N) up to
P / (P + n). Of the fp negatives above a threshold a sample keeps K, hypergeometric, and finds the
precision tp / (tp + K). All negatives, with the counts adjusted to the same prevalence, give one
precision at that threshold and no spread.

Sources: (B) Brabec et al. 2020, section 5.1 and Fig. 6.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_prcurve import point_metrics as point
from polars_prcurve.bands import Collect
from polars_prcurve.columns import (
    GROUP,
    N_NEG,
    N_POS,
    NEG_FACTOR,
    PAIR,
    POS_FACTOR,
    RECALL_BEFORE,
    SWEEP,
)
from polars_prcurve.curve import metric_values
from polars_prcurve.errors import PrcError, whole_number
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.prevalence import Grid
from polars_prcurve.sweep import Thresholds, sweep_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SUBSAMPLES", "SubsampledPrecision", "subsample_table", "subsampled_precision"]

_OVER_REPEATS = ("mean", "standard_deviation", "low", "q1", "median", "q3", "high")
SUBSAMPLES = ("eta", "n_kept", *SWEEP, "precision", *_OVER_REPEATS)
_MOST_NEGATIVES = 10**9
"""NumPy draws from fewer than these."""
_HELD = 10**6
"""So many values, and a few copies of them, are in memory at once."""
_NEGLIGIBLE = 43.0
"""Both tails of a distribution together are left out where they hold less than 2 exp(-43)."""
_ROUNDING = 1e-12


class SubsampledPrecision(NamedTuple):
    """Precision at one threshold, where some of the negatives are kept."""

    eta: float
    """The prevalence of the sample: n_pos / (n_pos + n_kept)."""
    precision: float
    """From all negatives, adjusted to eta."""
    mean: float
    """Of the precision that samples find."""
    standard_deviation: float
    quartiles: tuple[float, float, float]
    """At 25, 50 and 75 %."""
    fpr_cv: float
    """The standard deviation of a sample's fpr over the fpr of all negatives; NaN if that is 0."""


# One threshold --------------------------------------------------------------------------------


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
    tp, n_pos = whole_number("tp", tp, 0), whole_number("n_pos", n_pos, 1)
    fp, n_neg = whole_number("fp", fp, 0), whole_number("n_neg", n_neg, 1)
    n_kept = whole_number("n_kept", n_kept, 1)
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
        share_left_out = (n_neg - n_kept) / max(n_neg - 1, 1)
        cv = math.sqrt((1 - fpr) / (fpr * n_kept) * share_left_out)
    return SubsampledPrecision(eta, adjusted, *_moments(tp, fp, n_neg, n_kept), cv)


def _moments(
    tp: int, fp: int, n_neg: int, n_kept: int
) -> tuple[float, float, tuple[float, float, float]]:
    """Mean, standard deviation and quartiles of precision."""
    import numpy as np

    if tp == 0:
        only = 0.0 if fp > 0 else math.nan
        return only, only, (only, only, only)
    kept, probability = _kept_fp(fp, n_neg, n_kept)
    values = tp / (tp + kept)
    mean = float(np.sum(probability * values))
    variance = float(np.sum(probability * (values - mean) ** 2))
    # Rounding may leave a sum of probabilities just below what it is.
    places = np.searchsorted(np.cumsum(probability), np.array([0.75, 0.5, 0.25]) - _ROUNDING)
    q1, median, q3 = (float(value) for value in values[places])
    return mean, math.sqrt(variance), (q1, median, q3)


def _kept_fp(fp: int, n_neg: int, n_kept: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many false positives a sample may keep, rising, and the probability of each.

    From the most likely number outwards, by the ratios of neighbours, as far as anything is left.
    """
    import numpy as np

    low, high = _likely(fp, n_neg, n_kept)
    mode = min(max((n_kept + 1) * (fp + 1) // (n_neg + 2), low), high)
    others = n_neg - fp - n_kept
    k = np.arange(mode, high, dtype=float)
    above = (fp - k) / (k + 1) * ((n_kept - k) / (others + k + 1))
    k = np.arange(mode, low, -1, dtype=float)
    below = k / (fp - k + 1) * ((others + k) / (n_kept - k + 1))
    weights = np.concatenate([np.cumprod(below)[::-1], [1.0], np.cumprod(above)])
    return np.arange(low, high + 1, dtype=float), weights / weights.sum()


def _likely(fp: int, n_neg: int, n_kept: int) -> tuple[int, int]:
    """The least and the greatest number of false positives kept that are not negligible.

    Bernstein's inequality holds with the variance of draws with replacement (Hoeffding 1963), and the
    roles of kept, left out, above and below the threshold may be exchanged.
    """
    share, fpr = n_kept / n_neg, fp / n_neg
    scatter = min(fp, n_neg - fp) * share * (1 - share), min(n_kept, n_neg - n_kept) * fpr * (1 - fpr)
    third = _NEGLIGIBLE / 3
    reach = third + math.sqrt(third**2 + 2 * _NEGLIGIBLE * min(scatter))
    mean = n_kept * fp / n_neg
    least, most = max(0, n_kept + fp - n_neg), min(fp, n_kept)
    return max(least, math.floor(mean - reach)), min(most, math.ceil(mean + reach))


# A table --------------------------------------------------------------------------------------


def subsample_table(
    table: Input,
    grid: Grid,
    *,
    n_repeats: int,
    seed: int | None,
    thresholds: Thresholds = None,
    collect: Collect,
) -> pl.LazyFrame:
    """`by`, eta, what the eta frame carries, and the rest of SUBSAMPLES.

    Of each group and prevalence all positives are kept, and negatives are drawn `n_repeats` times,
    without replacement. Without `thresholds` there is a row wherever recall rises, and of a group
    without positives the first and the last. eta is the prevalence that the samples really have,
    with the nearest whole number of negatives, at least 1. Where a class is missing nothing is drawn:
    what samples tell is null, and eta is as asked for.
    """
    examples = _of_examples(table)
    repeats = whole_number("n_repeats=", n_repeats, 1)
    found = collect(_rows(examples, grid, thresholds), "subsample_negatives")
    found = _with_samples(found, examples)
    over = _drawn(found, repeats, seed)
    found = found.with_columns(
        pl.Series(name, column).fill_nan(None)
        for name, column in zip(_OVER_REPEATS, over.T, strict=True)
    )
    eta, *others = SUBSAMPLES
    return found.lazy().select(*table.by, eta, *grid.carried, *others)


def _of_examples(table: Input) -> ScoreTable:
    """The table, if its negatives can be drawn one by one."""
    if not isinstance(table, ScoreTable):
        raise PrcError(
            "rates= holds no counts, so no negatives can be drawn; pass scores and labels, or counts="
        )
    if table.weighted:
        raise PrcError(
            "negatives are drawn one by one, and weight= makes them count for more or less than one; "
            "leave weight= out, or pass whole numbers of examples as counts="
        )
    if table.float_sums:
        raise PrcError(
            "negatives are drawn one by one, and counts= holds floats; cast them to integers if that "
            "is what they are"
        )
    return table


def _rows(table: ScoreTable, grid: Grid, thresholds: Thresholds) -> pl.LazyFrame:
    """The sweep at each prevalence, numbered by PAIR within a group."""
    numbered = replace(grid, frame=grid.frame.with_row_index(PAIR))
    frame = sweep_at(numbered, table, drop_intermediate=thresholds is None, thresholds=thresholds)
    if thresholds is None:
        recall = pl.col("recall")
        frame = frame.filter((recall > pl.col(RECALL_BEFORE)) | recall.is_null())
    return frame


def _with_samples(found: pl.DataFrame, table: ScoreTable) -> pl.DataFrame:
    """Add n_kept, put the prevalence of the samples in place of eta, and adjust precision to it."""
    n_pos, n_neg, eta = pl.col(N_POS), pl.col(N_NEG), pl.col("eta")
    both = n_pos.is_not_null() & n_neg.is_not_null()
    nearest = (n_pos * (1 - eta) / eta + 0.5).floor().clip(lower_bound=1)
    found = found.with_columns(pl.when(both).then(nearest).alias("n_kept"))
    _check(found, table)
    n_kept = pl.col("n_kept").cast(pl.Int64)
    found = found.with_columns(
        n_kept,
        pl.when(both).then(n_pos / (n_pos + n_kept)).otherwise(eta).alias("eta"),
        pl.lit(1.0).alias(POS_FACTOR),
        (n_kept / n_neg).alias(NEG_FACTOR),
    )
    return found.with_columns(metric_values([point.precision], table))


def _check(found: pl.DataFrame, table: ScoreTable) -> None:
    """That no sample takes more negatives than there are, and NumPy can draw it."""
    for row in found.filter(pl.col("n_kept") > pl.col(N_NEG)).head(1).iter_rows(named=True):
        pos, neg, needed = row[N_POS], row[N_NEG], row["n_kept"]
        raise PrcError(
            f"eta={row['eta']:g} needs {needed:.0f} negatives beside {pos} positives, and "
            f"{_group(row, table)} has {neg}; a sample has the table's own prevalence, "
            f"{pos / (pos + neg):.6g}, or more"
        )
    for row in found.filter(pl.col(N_NEG) >= _MOST_NEGATIVES).head(1).iter_rows(named=True):
        raise PrcError(
            f"NumPy draws from fewer than {_MOST_NEGATIVES} negatives, and {_group(row, table)} has "
            f"{row[N_NEG]}; subsampled_precision has no such limit"
        )


def _group(row: dict[str, Any], table: ScoreTable) -> str:
    keys = ", ".join(f"{name} = {'null' if row[name] is None else row[name]}" for name in table.by)
    return f"the group {keys}" if keys else "the table"


def _drawn(found: pl.DataFrame, n_repeats: int, seed: int | None) -> NDArray[np.float64]:
    """_OVER_REPEATS of each row; undefined is NaN."""
    import numpy as np

    group, pair, tp, fp = (found[name].to_numpy() for name in (GROUP, PAIR, "tp", "fp"))
    starts = np.flatnonzero((group[1:] != group[:-1]) | (pair[1:] != pair[:-1])) + 1
    edges = [0, *starts.tolist(), len(found)]
    sizes = found.select(pl.col(N_NEG, "n_kept").fill_null(0)).rows()
    over = np.full((len(found), len(_OVER_REPEATS)), np.nan)
    generators = np.random.default_rng(seed).spawn(len(edges) - 1)
    for start, stop, generator in zip(edges[:-1], edges[1:], generators, strict=True):
        n_neg, n_kept = sizes[start] if start < stop else (0, 0)
        if n_kept > 0:
            rows = slice(start, stop)
            over[rows] = _over_samples(
                tp[rows], fp[rows], n_neg, n_kept, n_repeats=n_repeats, generator=generator
            )
    return over


def _over_samples(
    tp: NDArray[np.int64],
    fp: NDArray[np.int64],
    n_neg: int,
    n_kept: int,
    *,
    n_repeats: int,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """The multivariate hypergeometric distribution over the cells between thresholds.

    One cell after the other, for all samples at once: what a sample takes from the cell is
    hypergeometric, given what it took before. So no more than a block of thresholds is held, and its
    size changes no number.
    """
    import numpy as np

    over = np.empty((len(tp), len(_OVER_REPEATS)))
    cells = np.diff(fp, prepend=0).tolist()
    remaining, missing = n_neg, np.full(n_repeats, n_kept)
    step = max(1, _HELD // n_repeats)
    for start in range(0, len(tp), step):
        kept_fp = np.empty((len(tp[start : start + step]), n_repeats))
        for row, cell in enumerate(cells[start : start + step]):
            if cell > 0:
                missing = missing - generator.hypergeometric(cell, remaining - cell, missing)
                remaining -= cell
            kept_fp[row] = n_kept - missing
        over[start : start + step] = _statistics(tp[start : start + step], kept_fp)
    return over


def _statistics(tp: NDArray[np.int64], kept_fp: NDArray[np.float64]) -> NDArray[np.float64]:
    """_OVER_REPEATS of each row; samples of undefined precision are left out."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        values = tp[:, None] / (tp[:, None] + kept_fp)
        undefined = np.isnan(values)
        n_defined = np.sum(~undefined, axis=1)
        # They have no true positives; all others of the row are 0, and one more 0 changes nothing.
        values[undefined & (n_defined > 0)[:, None]] = 0.0
        low, q1, median, q3, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], axis=1)
        above = values - low[:, None]  # so that equal values have no deviation
        mean = np.minimum(low + above.mean(axis=1), high)
        deviation = np.full(len(tp), np.nan)
        if values.shape[1] > 1:
            deviation = np.where(n_defined > 1, above.std(axis=1, ddof=1), np.nan)
    return np.column_stack([mean, deviation, low, q1, median, q3, high])
