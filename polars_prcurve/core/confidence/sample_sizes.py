"""How many examples make precision known to a given width: of one class for its rate, or of both.

`sample_size` is about one rate. Its interval is narrow enough if the upper end is at most
(1 + delta) / (1 - delta) times the lower end. `add_needed_sizes` is about both rates of a row, for a
band of `point_intervals` that is narrow enough in most test sets. On the logit scale precision is
logit(eta) + log(recall / fpr), so neither its two distances nor the ends L and U of the ratio
recall / fpr depend on prevalence. Over all prevalences the width of the band is at most
(sqrt(U) - sqrt(L)) / (sqrt(U) + sqrt(L)).

A test set finds more or fewer true and false positives than are expected. Either number is moved up and
down by z binomial standard deviations and half an example. The greater growth of the logarithm of the
width is the distance of that number, and both are added in quadrature. The sum with the expected
logarithm is about the quantile `assurance` = Phi(z) of all test sets, and must not exceed the logarithm
of `delta`. Both sizes stand in the proportion in which either rate alone would be known to `delta`, and
one factor of both is found by halving.

Sources: Brabec et al. 2020; Zou and Donner 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args, overload

import polars as pl

from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.confidence.rate_intervals import (
    BETA_METHODS,
    RateMethod,
    check_confidence,
    compute_limits,
    z_value,
)
from polars_prcurve.core.ground.argument_checks import read_choice, read_flag, read_numbers
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.normal_distribution import normal_quantile
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.metrics.point_metric import choose_where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
from polars_prcurve.core.confidence.precision_band_width import check_delta

SizeMethod: TypeAlias = Literal["wilson", "clopper_pearson", "jeffreys", "hoeffding", "wald", "chernoff"]
"""The intervals of `rate_interval`, and two simpler rules."""
F = TypeVar("F", pl.DataFrame, pl.LazyFrame)  # the rows, which stay as they are: eager or lazy
_RATES = ("recall", "fpr")  # in the order of the parts of _MOVES_OF_RATES
_COUNT_OF_RATE = {"recall": "n_pos", "fpr": "n_neg"}
SIZES_NEEDED = ("n_pos_needed", "n_neg_needed", "n_pos_beside", "n_neg_beside")
"""The numbers of both classes, as one pair; and of one class beside those of the other in the table."""
_MOVE_NAMES = ("at", "fewer", "more")  # true or false positives: as many as expected, or fewer, or more
_MOVES_OF_RATES = (("at", "at"), ("fewer", "at"), ("more", "at"), ("at", "fewer"), ("at", "more"))
"""The moves of true and of false positives at which the width is computed."""
# The columns of the search for the logarithm of the factor
_ROW_NUMBER = f"{RESERVED}row"  # the number of the row of the user
_MAX_LOG_WIDTH = f"{RESERVED}widest"  # the logarithm of the width that is requested
_ENOUGH_LOG = f"{RESERVED}greatest"  # the least logarithm so far that is enough, or one that is tried
_N_STEPS = f"{RESERVED}part"  # how many steps below it one is tried
_EIGHT_STEPS = pl.lit([*range(8)]).alias(_N_STEPS)  # the places that three halvings can reach
_GREATEST_LOG = 8.0  # the greatest logarithm that is tried
_ENOUGH_BITS = f"{RESERVED}enough"  # which steps are enough, as bits
_SEARCH = f"{RESERVED}search"  # the number of a search, of which 0 finds both sizes
_SEARCH_OF_KEPT = {"fpr": 1, "recall": 2}  # the search that keeps the number of examples of a rate


@overload
def sample_size(
    rate: float, delta: float = 0.1, confidence: float = 0.95, method: SizeMethod = "wilson"
) -> int: ...


@overload
def sample_size(
    rate: pl.Expr, delta: float = 0.1, confidence: float = 0.95, method: SizeMethod = "wilson"
) -> pl.Expr: ...


@overload
def sample_size(
    rate: ArrayLike, delta: float = 0.1, confidence: float = 0.95, method: SizeMethod = "wilson"
) -> Any: ...


@hint_at_arguments
def sample_size(
    rate: Any, delta: float = 0.1, confidence: float = 0.95, method: SizeMethod = "wilson"
) -> Any:
    """Return how many examples of a class its rate needs for precision to be known to within `delta`.

    Take that many positives for recall, and that many negatives for fpr. Then the band of precision
    between both intervals is nowhere wider than `delta` (Brabec et al. 2020, section 5), because the
    upper end of either interval is at most `(1 + delta) / (1 - delta)` times the lower end. The number
    for a width of the rate itself follows from `rate_interval`.

    Parameters
    ----------
    rate
        The expected recall or fpr, above 0: a number, an array or an expression.
    delta
        The width of the whole band.
    confidence, method
        The interval; see `rate_interval`. There are also `"wald"`, whose rule is `(z / delta)**2`
        false positives, and `"chernoff"`.

    Returns
    -------
    A number of examples, rounded up: an int from a number, otherwise Float64; null where an expression
    is 0.

    Examples
    --------
    >>> sample_size(0.6), sample_size(0.001)
    (254, 380880)
    """
    delta = check_delta(delta)
    read_choice("method=", method, get_args(SizeMethod))
    level, compute_size = check_confidence(confidence), _SIZE_FORMULA_OF_METHOD[method]
    if isinstance(rate, pl.Expr):
        if method in BETA_METHODS:  # raises, and gives the reason why there is no expression
            compute_limits(rate, rate, level, method)
        return pl.when(rate > 0).then(compute_size(rate, delta, level).ceil())
    rates = read_numbers("rate", rate)
    if not ((rates > 0) & (rates <= 1)).all():
        raise PrcError(f"sample_size needs rates above 0 and at most 1; got {rate!r}")
    sizes = compute_size(rates, delta, level)
    return math.ceil(sizes) if rates.ndim == 0 else np.ceil(sizes)


def _solve_by_halving(rate: Any, delta: float, confidence: float, method: str) -> Any:
    """Return the least number of trials, as a real number, at which the interval is narrow enough."""
    max_ratio = (1 + delta) / (1 - delta)

    def is_enough(n_trials: Any) -> Any:
        low_hits, high_hits = compute_limits(rate * n_trials, n_trials, confidence, method)
        return high_hits <= max_ratio * low_hits

    low_sizes, high_sizes = np.ones_like(rate), np.full_like(rate, 2.0)
    while not (are_enough := is_enough(high_sizes)).all():
        low_sizes = np.where(are_enough, low_sizes, high_sizes)
        high_sizes = np.where(are_enough, high_sizes, 2 * high_sizes)
    while (high_sizes - low_sizes > 1e-9 * high_sizes).any():
        middle_sizes = (low_sizes + high_sizes) / 2
        are_enough = is_enough(middle_sizes)
        low_sizes = np.where(are_enough, low_sizes, middle_sizes)
        high_sizes = np.where(are_enough, middle_sizes, high_sizes)
    # The caller rounds up, and high sizes may be just above a whole number that suffices.
    return low_sizes


def _wilson_size(rate: Any, delta: float, confidence: float) -> Any:
    """Return n at which the half-width of Wilson's interval is delta times its centre."""
    # With u = z**2 / n that is (1 - delta**2) u**2 / 4 + kappa u - delta**2 rate**2 = 0.
    delta_squared = delta**2
    kappa = rate * (1 - rate) - delta_squared * rate
    root = (kappa**2 + (1 - delta_squared) * delta_squared * rate**2) ** 0.5
    # u = 2 (root - kappa) / (1 - delta**2). If kappa > 0 the difference would cancel, so
    # numerator and denominator are multiplied by root + kappa.
    stable_u = 2 * delta_squared * rate**2 / (root + kappa)
    u = choose_where(kappa > 0, stable_u, (root - kappa) * (2 / (1 - delta_squared)))
    return z_value(confidence) ** 2 / u


# The number of trials by method, as a function of rate, delta and confidence
_SIZE_FORMULA_OF_METHOD: dict[str, Callable[[Any, float, float], Any]] = {
    "wilson": _wilson_size,
    # Half of the interval, over the rate p, is delta: sqrt(log(2 / alpha) / (2 n)) / p by Hoeffding, and
    # z sqrt((1 - p) / (n p)) by Wald. Chernoff's bound of the error is 2 exp(-n p delta**2 / 3).
    "hoeffding": lambda p, delta, level: math.log(2 / (1 - level)) / 2 / (delta * p) ** 2,
    "chernoff": lambda p, delta, level: 3 * math.log(2 / (1 - level)) / delta**2 / p,
    "wald": lambda p, delta, level: (z_value(level) / delta) ** 2 * (1 - p) / p,
    "clopper_pearson": partial(_solve_by_halving, method="clopper_pearson"),
    "jeffreys": partial(_solve_by_halving, method="jeffreys"),
}


class SizeOptions(NamedTuple):
    """What a test set has to achieve: the width of its band, at which level, with what probability."""

    delta: float
    confidence: float
    rate_method: RateMethod
    assurance: float
    is_relative: bool  # whether `delta` is a share of the precision
    is_at_eta: bool  # whether the band is at one prevalence, and rows have it


def read_size_options(
    delta: float | str,
    interval_options: Intervals,
    assurance: float | str,
    *,
    is_relative: bool,
    is_at_eta: bool,
) -> SizeOptions:
    """Return the options, checked."""
    if read_flag("relative=", is_relative) and not is_at_eta:
        raise PrcError("pass eta= with relative=True: precision depends on it")
    delta = check_delta(delta)
    expected_phrase = "a share of test sets from 0.5 to below 1, such as 0.8"
    assurance = read_share("assurance=", assurance, expected_phrase, lambda share: 0.5 <= share < 1)
    return SizeOptions(
        delta,
        confidence=interval_options.level,
        rate_method=interval_options.rate,
        assurance=assurance,
        is_relative=is_relative,
        is_at_eta=is_at_eta,
    )


def add_needed_sizes(rate_rows: F, size_options: SizeOptions, *, has_numbers: bool) -> F:
    """Add SIZES_NEEDED, each or null, to rows of recall and fpr, and of `n_pos` and `n_neg`.

    These are numbers of examples if `has_numbers`, and otherwise sums of weights.
    """
    # Only the proportion of these sizes matters. Those of beta quantiles are near Wilson's.
    method: SizeMethod = "hoeffding" if size_options.rate_method == "hoeffding" else "wilson"
    rate_rows = rate_rows.with_columns(
        sample_size(pl.col(rate_name), size_options.delta, size_options.confidence, method).alias(
            _name(rate_name, "alone")
        )
        for rate_name in _RATES
    )
    max_log_width = pl.lit(math.log(size_options.delta))
    if size_options.is_relative:
        false_per_hit = pl.col("fpr") * ((1 - pl.col("eta")) / pl.col("eta")) / pl.col("recall")
        # Of delta times precision, which is 1 / (1 + fpr (1 - eta) / (recall eta)).
        max_log_width = max_log_width - (1 + false_per_hit).log()
    rate_rows = rate_rows.with_columns(max_log_width.alias(_MAX_LOG_WIDTH))
    # One search for both sizes, and one for each class beside the number of the other that is there.
    search_numbers = [0, *(_SEARCH_OF_KEPT.values() if has_numbers else ())]
    rate_rows = rate_rows.with_columns(pl.lit(search_numbers).alias(_SEARCH))
    rate_rows = rate_rows.explode(_SEARCH, empty_as_null=False)
    size_by_rate: dict[str, pl.Expr] = {}
    is_known = pl.lit(True)
    for rate_name, count_column in _COUNT_OF_RATE.items():
        size_alone = pl.col(_name(rate_name, "alone"))
        is_kept = pl.col(_SEARCH) == _SEARCH_OF_KEPT[rate_name]
        kept_size = pl.when(is_kept).then(pl.col(count_column).cast(pl.Float64))
        size_by_rate[rate_name] = kept_size.otherwise(size_alone * pl.col(_ENOUGH_LOG).exp())
        is_known &= size_alone.is_not_null()
    rate_rows = _find_factor(rate_rows, size_options, size_by_rate)
    size_exprs: dict[str, pl.Expr] = {}
    for (rate_name, count_column), kept_rate in zip(
        _COUNT_OF_RATE.items(), reversed(_RATES), strict=True
    ):
        size_exprs[f"{count_column}_needed"] = pl.when(is_known).then(size_by_rate[rate_name].ceil())
        is_found = is_known & (pl.col(_ENOUGH_LOG) < _GREATEST_LOG)
        size_beside = (
            pl.when(is_found).then(size_by_rate[rate_name].ceil()).shift(-_SEARCH_OF_KEPT[kept_rate])
        )
        size_exprs[f"{count_column}_beside"] = (
            size_beside if has_numbers else pl.lit(None, dtype=pl.Float64)
        )
    return rate_rows.with_columns(**size_exprs).filter(pl.col(_SEARCH) == 0)


def _find_factor(rate_rows: F, size_options: SizeOptions, size_by_rate: Mapping[str, pl.Expr]) -> F:
    """Return the rows with the logarithm of the least factor that is enough, as the sizes read it."""
    # The search for the logarithm of the factor begins 24 below the greatest one.
    rate_rows = rate_rows.with_row_index(_ROW_NUMBER)
    rate_rows = rate_rows.with_columns(pl.lit(_GREATEST_LOG).alias(_ENOUGH_LOG))
    # Each round binds its values as columns: the tree of one expression would be too large. It is three
    # halvings, for which it tries all their places, on a row each: a short plan is made sooner.
    for log_step in (24.0 / 8**round_number for round_number in range(1, 13)):
        rate_rows = rate_rows.with_columns(_EIGHT_STEPS).explode(_N_STEPS, empty_as_null=False)
        rate_rows = rate_rows.with_columns(pl.col(_ENOUGH_LOG) - pl.col(_N_STEPS) * log_step)
        rate_rows = rate_rows.with_columns(
            size_by_rate[rate_name].alias(_name(rate_name, "size")) for rate_name in _RATES
        )
        rate_rows = _add_log_widths(
            _add_rate_ends(rate_rows, size_options), is_at_eta=size_options.is_at_eta
        )
        log_width, *moved_widths = (pl.col(_name(*moves, "log_width")) for moves in _MOVES_OF_RATES)
        recall_growth, fpr_growth = (
            pl.max_horizontal(fewer_width - log_width, more_width - log_width).clip(0.0)
            for fewer_width, more_width in (moved_widths[:2], moved_widths[2:])
        )
        assured_width = log_width + (recall_growth**2 + fpr_growth**2).sqrt()
        # At eta = 0 or 1 precision is known without any example. NaN: nothing is found, with too few.
        is_narrow = (assured_width <= pl.col(_MAX_LOG_WIDTH)) & assured_width.is_not_nan()
        is_enough = (log_width == -math.inf) | is_narrow
        enough_bits = is_enough.fill_null(value=False).cast(pl.Int64) * 2 ** pl.col(_N_STEPS)
        rate_rows = rate_rows.with_columns(enough_bits.sum().over(_ROW_NUMBER).alias(_ENOUGH_BITS))
        n_steps = pl.lit(0)
        for half_steps in (4, 2, 1):
            n_steps = n_steps + (pl.col(_ENOUGH_BITS) // 2 ** (n_steps + half_steps)) % 2 * half_steps
        rate_rows = rate_rows.filter(pl.col(_N_STEPS) == n_steps)
    return rate_rows


def _name(*name_parts: str) -> str:
    return RESERVED + "_".join(name_parts)


def _add_rate_ends(rate_rows: F, size_options: SizeOptions) -> F:
    """Add the ends of the intervals of both rates at their expected numbers, below and above them."""
    z = normal_quantile(size_options.assurance)
    hit_exprs: dict[str, pl.Expr] = {}
    for rate_name in _RATES:
        share, size = pl.col(rate_name), pl.col(_name(rate_name, "size"))
        hits = share * size
        # How far hits may be from their mean: z standard deviations, and half an example of continuity.
        hits_step = (hits * (1 - share)).sqrt() * z + 0.5
        hits_of_moves = (hits, (hits - hits_step).clip(0.0), pl.min_horizontal(hits + hits_step, size))
        hit_exprs |= {
            _name(rate_name, move_name): moved_hits
            for move_name, moved_hits in zip(_MOVE_NAMES, hits_of_moves, strict=True)
        }
    rate_rows = rate_rows.with_columns(**hit_exprs)
    limit_of_column: dict[str, pl.Expr | pl.Series] = {}
    for rate_name, move_name in product(_RATES, _MOVE_NAMES):
        hits_column, size_column = _name(rate_name, move_name), _name(rate_name, "size")
        end_columns = (_name(rate_name, move_name, "low"), _name(rate_name, move_name, "high"))
        compute_ends = partial(compute_limits, is_recall=rate_name == "recall")
        interval_ends: Iterable[pl.Expr | pl.Series]
        if size_options.rate_method in BETA_METHODS and isinstance(rate_rows, pl.DataFrame):
            hit_array, size_array = rate_rows[hits_column].to_numpy(), rate_rows[size_column].to_numpy()
            end_arrays = compute_ends(
                hit_array, size_array, size_options.confidence, size_options.rate_method
            )
            interval_ends = (pl.Series(end).fill_nan(None) for end in end_arrays)
        else:
            count_exprs = pl.col(hits_column), pl.col(size_column)
            interval_ends = compute_ends(*count_exprs, size_options.confidence, size_options.rate_method)
        limit_of_column |= dict(zip(end_columns, interval_ends, strict=True))
    return rate_rows.with_columns(**limit_of_column)


def _add_log_widths(rate_rows: F, *, is_at_eta: bool) -> F:
    """Add the logarithms of the widths of the band of precision, at eta or where it is widest."""
    ratio_exprs: dict[str, pl.Expr] = {}
    width_exprs: dict[str, pl.Expr] = {}
    odds = pl.col("eta") / (1 - pl.col("eta"))
    for recall_move_name, fpr_move_name in _MOVES_OF_RATES:
        # The ends of the ratio recall / fpr, by distances in quadrature.
        recall, fpr = (
            pl.col(_name(rate_name, move)) / pl.col(_name(rate_name, "size"))
            for rate_name, move in zip(_RATES, (recall_move_name, fpr_move_name), strict=True)
        )
        recall_low, recall_high = (
            pl.col(_name("recall", recall_move_name, end)) for end in ("low", "high")
        )
        fpr_low, fpr_high = (pl.col(_name("fpr", fpr_move_name, end)) for end in ("low", "high"))
        distance_below = ((recall / recall_low).log() ** 2 + (fpr_high / fpr).log() ** 2).sqrt()
        distance_above = ((recall_high / recall).log() ** 2 + (fpr / fpr_low).log() ** 2).sqrt()
        # Where nothing is found the ratio is 0 or infinite, and the corner takes the place of the end.
        has_zero_rate = (recall == 0) | (fpr == 0)
        low = (
            pl.when(has_zero_rate)
            .then(recall_low / fpr_high)
            .otherwise(recall / fpr * (-distance_below).exp())
        )
        high = (
            pl.when(has_zero_rate)
            .then(recall_high / fpr_low)
            .otherwise(recall / fpr * distance_above.exp())
        )
        low_column, high_column = (
            _name(recall_move_name, fpr_move_name, end) for end in ("low", "high")
        )
        ratio_exprs |= {low_column: low, high_column: high}
        low, high = pl.col(low_column), pl.col(high_column)
        if is_at_eta:
            width = 1 / (1 + 1 / (high * odds)) - 1 / (1 + 1 / (low * odds))
        else:
            root = (low / high).sqrt()  # of L / U, since U may be infinite
            width = (1 - root) / (1 + root)
        width_exprs[_name(recall_move_name, fpr_move_name, "log_width")] = width.log()
    return rate_rows.with_columns(**ratio_exprs).with_columns(**width_exprs)
