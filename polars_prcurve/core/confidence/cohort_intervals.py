"""How sure a metric is at a prevalence that was counted in the table: the table is a cohort.

The rows of a cohort were drawn together, so the sizes of both classes are as random as their rates. Then
a metric is a function of shares, and has its interval from theirs:

    one share     Precision is the share of tp among tp + fp. Its trials are independent, whatever the
                  prevalence is, so its interval is that of a rate. So it is for every metric that
                  follows from one such share; it says so by `PointMetric.share_of`.
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

That tells as how many examples the trials of a share count, and how the errors of both rates correlate
with that of the logit of the prevalence. Where heavy rows have low scores, an error of recall takes back
what that of the prevalence does.

Sources: Wilson 1927; Zou and Donner 2008; Kish 1965.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from polars_prcurve.core.confidence.interval_inputs import EffectiveSize, EtaError
from polars_prcurve.core.confidence.intervals import compute_limits
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.input_tables import InputTable
from polars_prcurve.core.inputs.sample_kinds import MOMENTS, name_moment, name_unit
from polars_prcurve.core.metrics.point_metric import PointMetric, Share, null_if_nan
from polars_prcurve.core.metrics.segment_columns import CELLS

ETA_CORRELATIONS = {rate: f"{RESERVED}{rate}_eta_correlation" for rate in ("recall", "fpr")}
"""The correlation of the error of either rate with that of the logit of a counted prevalence."""


def sum_moments(
    u: Mapping[str, pl.Expr], v: Mapping[str, pl.Expr], moments: Collection[str] = MOMENTS
) -> pl.Expr:
    """Return the sum of u v M(u, v) over pairs of cells that have a moment, from slopes by cell."""
    pairs = ((u[a] * v[b], name_moment(a, b)) for a in u for b in v)
    return sum((slopes * pl.col(name) for slopes, name in pairs if name in moments), pl.lit(0.0))


def add_eta_correlations(
    frame: pl.LazyFrame, table: InputTable, moments: Collection[str]
) -> pl.LazyFrame:
    """Add ETA_CORRELATIONS to rows with moments; 0 where a rate has no error."""
    n_pos, n_neg = (_add_cells(names, table) for names in (("tp", "fn"), ("fp", "tn")))
    # The logit of eta is ln P - ln N. A rate of n examples grows by (1 - r) / n with the cell above the
    # threshold, and falls by r / n with the one below.
    eta_slopes = {"tp": 1 / n_pos, "fn": 1 / n_pos, "fp": -1 / n_neg, "tn": -1 / n_neg}
    eta_variance = sum_moments(eta_slopes, eta_slopes, moments)
    columns = {}
    for rate, (above, below), n in (("recall", ("tp", "fn"), n_pos), ("fpr", ("fp", "tn"), n_neg)):
        slopes = {above: (1 - pl.col(rate)) / n, below: -pl.col(rate) / n}
        scale = (sum_moments(slopes, slopes, moments) * eta_variance).sqrt()
        correlation = pl.when(scale > 0).then(sum_moments(slopes, eta_slopes, moments) / scale)
        own_correlation = pl.when(EtaError.IS_OWN).then(correlation.clip(-1.0, 1.0))
        columns[ETA_CORRELATIONS[rate]] = own_correlation.fill_null(0.0)
    return frame.with_columns(**columns)


_CHAIN: tuple[Share, ...] = ((("tn",), ("tp", "fn", "fp")), (("tp",), ("fn", "fp")), (("fn",), ("fp",)))
"""Three shares that tell all cells: tn among all, tp among the rest, and fn among the errors."""


def list_shares(metric: PointMetric) -> dict[str, Share]:
    """Return the shares that a metric follows from at a counted prevalence, by column."""
    if not metric.depends_on_eta:
        return {}
    if metric.share_of is not None:
        shares: tuple[Share, ...] = (metric.share_of,)
    elif metric.difference_of is not None:
        shares = tuple(
            ((cell,), tuple(other for other in CELLS if other != cell)) for cell in metric.difference_of
        )
    else:
        shares = _CHAIN
    return {
        "_".join((f"{RESERVED}share", *hits, "of", *hits, *misses)): (hits, misses)
        for hits, misses in shares
    }


def name_correlation(a: str, b: str) -> str:
    """Return the name of the column with the correlation of two shares, from their names."""
    return f"{a}_with_{b.removeprefix(RESERVED)}"


def measure_share(share: Share, table: InputTable, moments: Collection[str]) -> tuple[pl.Expr, pl.Expr]:
    """Return the share of hits among hits and misses, and as how many examples its trials count."""
    hits, misses = share
    value, n, slopes = _find_slopes(share, table)
    if not moments:
        return value, n
    ones = dict.fromkeys((*hits, *misses), pl.lit(1.0))
    is_inside = (value > 0) & (value < 1)
    # The variance of a share s is s (1 - s) / m for m trials, and the slopes are n times those of s. At
    # 0 and 1 that tells no m: then it is n^2 / (sum of squared weights).
    size = pl.when(is_inside).then(value * (1 - value) * n * n / sum_moments(slopes, slopes, moments))
    if units := [name for name in map(name_unit, ones) if name in moments]:
        return value, size.otherwise(n / pl.max_horizontal(units))
    return value, size.otherwise(n * n / sum_moments(ones, ones, moments))


def correlate_shares(
    shares: Sequence[Share], table: InputTable, moments: Collection[str]
) -> pl.Expr | None:
    """Return the correlation of the errors of two shares, null where one has none; None if it is 0."""
    (a, _, slopes_a), (b, _, slopes_b) = (_find_slopes(share, table) for share in shares)
    if not moments:
        if slopes_a.keys() != slopes_b.keys():
            return None  # the trials of a chain are independent
        # Multinomial shares a and b have the covariance -a b / n.
        return -null_if_nan((a * b / ((1 - a) * (1 - b))).sqrt())
    pairs = ((slopes_a, slopes_b), (slopes_a, slopes_a), (slopes_b, slopes_b))
    covariance, variance_a, variance_b = (sum_moments(u, v, moments) for u, v in pairs)
    product = variance_a * variance_b
    return pl.when(product > 0).then((covariance / product.sqrt()).clip(-1.0, 1.0))


def _find_slopes(share: Share, table: InputTable) -> tuple[pl.Expr, pl.Expr, dict[str, pl.Expr]]:
    """Return a share, the sum of its cells, and its slopes by them, times that sum."""
    hits, misses = share
    k, n = (_add_cells(names, table) for names in (hits, (*hits, *misses)))
    value = k / repeat_in_rows(n, n)
    return value, n, dict.fromkeys(hits, 1 - value) | dict.fromkeys(misses, -value)


def evaluate_shares(metric: PointMetric, shares: Sequence[pl.Expr]) -> pl.Expr:
    """Return a metric where the shares that it follows from have these values."""
    cells = dict.fromkeys(("tp", "fn", "fp", "tn"), pl.lit(0.0))
    if metric.share_of is not None:
        (hit, *_), (miss, *_) = metric.share_of
        cells |= {hit: shares[0], miss: 1 - shares[0]}
    elif metric.difference_of is not None:
        (other, *_) = (cell for cell in ("tn", "fn") if cell not in metric.difference_of)
        cells |= dict(zip(metric.difference_of, shares, strict=True))
        cells[other] = 1 - shares[0] - shares[1]
    else:
        tn_share, tp_share, fn_share = shares  # as in _CHAIN
        errors = (1 - tn_share) * (1 - tp_share)
        cells = {
            "tp": (1 - tn_share) * tp_share,
            "fn": errors * fn_share,
            "fp": errors * (1 - fn_share),
            "tn": tn_share,
        }
    value: pl.Expr = metric.formula(*cells.values())
    return value


def add_counted_eta_limits(
    frame: pl.LazyFrame, confidence: float, otherwise: tuple[str, str]
) -> pl.LazyFrame:
    """Add LIMITS: the interval of a prevalence that was counted, and elsewhere other columns."""
    eta, variance = pl.col("eta"), pl.col(EtaError.VARIANCE)
    # The logit of a share of n examples has the variance 1 / (n eta (1 - eta)).
    n = 1 / (variance * (eta * (1 - eta)))
    ends = compute_limits(eta * n, n, confidence, "wilson")
    return frame.with_columns(
        pl.when(EtaError.IS_OWN).then(null_if_nan(end)).otherwise(other).alias(name)
        for name, end, other in zip(EtaError.LIMITS, ends, otherwise, strict=True)
    )


def _add_cells(names: tuple[str, ...], table: InputTable) -> pl.Expr:
    """Return the sum of some cells; published rates make them of the sizes of both classes."""
    if table.has_cells:
        cells = pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in names)
        return cells * pl.col(EffectiveSize.WEIGHT_UNIT)
    recall, fpr, pos, neg = map(pl.col, ("recall", "fpr", EffectiveSize.N_POS, EffectiveSize.N_NEG))
    sizes = {"tp": recall * pos, "fn": (1 - recall) * pos, "fp": fpr * neg, "tn": (1 - fpr) * neg}
    return sum((sizes[name] for name in names), pl.lit(0.0))
