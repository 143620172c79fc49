"""The binormal model: scores of either class from a normal distribution (Brodersen et al. 2010).

    sweep -> fit      one row per group: mean and standard deviation of each class
          -> rates    recall and fpr of the model at the thresholds of a curve
          -> nodes    recall, fpr and a weight, over which areas of the model are sums

Sums are of shares, as everywhere, so that a fit depends neither on the order of the rows nor on
whether they were aggregated before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import polars as pl

from polars_prcurve.columns import (
    AUC,
    FPR,
    GROUP,
    MU_NEG,
    MU_POS,
    N_NEG_EFFECTIVE,
    N_POS_EFFECTIVE,
    RATIO,
    RESERVED,
    RISE,
    RUN_NEG,
    RUN_POS,
    SCORE,
    SHIFT,
    SIGMA_NEG,
    SIGMA_POS,
    SLOPE,
    START_NEG,
    START_POS,
)
from polars_prcurve.curve_metrics import Curve, CurveMetric
from polars_prcurve.errors import PrcError, whole_number
from polars_prcurve.exact import normal_cdf, sum_of_shares, whole_shares
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.sweep import Parts, checked_last, class_counts, class_sizes, counted

__all__ = [
    "BINORMAL",
    "Smooth",
    "binormal_table",
    "fitted",
    "nodes",
    "of_model",
    "read_smooth",
    "with_rates",
]

BINORMAL = (
    *("mu_pos", "sigma_pos", "mu_neg", "sigma_neg"),
    *("alpha", "n_pos", "n_neg", "roc_auc"),
)
Smooth: TypeAlias = Literal["binormal"] | None

_FIT = (MU_POS, SIGMA_POS, MU_NEG, SIGMA_NEG)
_CLASSES = ("pos", "neg")
_RUNS = {"pos": (RUN_POS, START_POS), "neg": (RUN_NEG, START_NEG)}


def read_smooth(
    smooth: object, metrics: Sequence[CurveMetric] = (), *, confidence: float | None, rates: object
) -> list[CurveMetric]:
    """The metrics, of the model if one is asked for."""
    if smooth is None:
        return list(metrics)
    if smooth != "binormal":
        raise PrcError(f'smooth= is "binormal" or None; got {smooth!r}')
    if confidence is not None:
        raise PrcError("a fitted model has no interval here; leave out confidence= or smooth=")
    if rates is not None:
        raise PrcError("rates= holds no scores that a model could be fitted to; leave out smooth=")
    return [of_model(metric) for metric in metrics]


def binormal_table(table: Input, *, ddof: int = 0) -> pl.LazyFrame:
    """`by`, then the columns of BINORMAL."""
    if not isinstance(table, ScoreTable):
        raise PrcError("rates= holds no scores; binormal() needs scores and labels")
    found = counted(table, effective=whole_number("ddof=", ddof, 0) > 0)
    n_pos, n_neg = class_sizes(table)
    groups = found.groups.with_columns((n_pos / (n_pos + n_neg)).fill_nan(None).alias("alpha"))
    frame = groups.join(fitted(table, found, ddof=ddof), on=GROUP, how="left")
    frame = checked_last(table, frame.sort(GROUP))
    fit = dict(zip(BINORMAL, map(pl.col, _FIT), strict=False))
    frame = frame.with_columns(*class_counts(table), roc_auc=_roc_auc(), **fit)
    return frame.select(*table.by, *BINORMAL)


# The fit --------------------------------------------------------------------------------------

_HALF = f"{RESERVED}half"  # half the score: a difference of two of them is a float


def _of(what: str, kind: str) -> pl.Expr:
    return pl.col(_name(what, kind))


def _name(what: str, kind: str) -> str:
    return f"{RESERVED}{what}_{kind}"


def fitted(table: ScoreTable, found: Parts, *, ddof: int = 0) -> pl.LazyFrame:
    """By GROUP, the moments of both classes; all of a class null if it has no normal distribution.

    Scores are measured from the least of their class, in units of the range of the class. That is exact
    but for relative errors, and nothing overflows.
    """
    rows = found.rows.select(
        GROUP,
        (pl.col(SCORE).cast(pl.Float64) * 0.5).alias(_HALF),
        *((pl.col(run) - pl.col(start)).alias(_name("amount", c)) for c, (run, start) in _RUNS.items()),
    ).cache()  # else each of its uses would sort again
    ends = rows.group_by(GROUP).agg(total for kind in _CLASSES for total in _ends(kind))
    rows = rows.join(ends, on=GROUP).with_columns(e for kind in _CLASSES for e in _places(kind))
    means = rows.group_by(GROUP).agg(
        sum_of_shares(whole_shares(_of("share", c) * _of("place", c))).alias(_name("mean", c))
        for c in _CLASSES
    )
    rows = rows.join(means, on=GROUP).with_columns(
        (_of("place", c) - _of("mean", c)).alias(_name("off", c)) for c in _CLASSES
    )
    spreads = rows.group_by(GROUP).agg(
        sum_of_shares(whole_shares(_of("share", c) * _of("off", c) ** 2)).alias(_name("spread", c))
        for c in _CLASSES
    )
    moments = ends.join(means, on=GROUP).join(spreads, on=GROUP)
    if ddof:
        moments = moments.join(_factors(table, found.groups, ddof), on=GROUP)
    return moments.select(GROUP, *(e for kind in _CLASSES for e in _moments(kind, ddof)))


def _ends(kind: str) -> list[pl.Expr]:
    amount = _of("amount", kind)
    half = pl.when(amount > 0).then(pl.col(_HALF))
    return [
        amount.sum().alias(_name("total", kind)),
        half.min().alias(_name("low", kind)),
        half.max().alias(_name("high", kind)),
    ]


def _places(kind: str) -> list[pl.Expr]:
    """What share of its class a score has, and where between the ends of the class it is."""
    amount = _of("amount", kind)
    # Sums of columns, as in the sweep: Polars would multiply by the reciprocal of a number.
    share = amount.cast(pl.Float64) / (_of("total", kind) - amount + amount).cast(pl.Float64)
    below, above = pl.col(_HALF) - _of("low", kind), _of("high", kind) - pl.col(_HALF)
    place = pl.when(amount > 0).then(below / (below + above))
    return [share.alias(_name("share", kind)), place.alias(_name("place", kind))]


def _factors(table: ScoreTable, groups: pl.LazyFrame, ddof: int) -> pl.LazyFrame:
    """`n / (n - ddof)` of each class, null unless n is above; of weights n is the effective size."""
    sizes = class_counts(table)
    if table.weighted:
        sizes = pl.col(N_POS_EFFECTIVE), pl.col(N_NEG_EFFECTIVE)
    numbers = {c: size.cast(pl.Float64) for c, size in zip(_CLASSES, sizes, strict=True)}
    factors = {c: pl.when(n > ddof).then(n / (n - ddof)) for c, n in numbers.items()}
    return groups.select(GROUP, **{_name("factor", c): factor for c, factor in factors.items()})


def _moments(kind: str, ddof: int) -> tuple[pl.Expr, pl.Expr]:
    low, high, spread = (_of(what, kind) for what in ("low", "high", "spread"))
    if ddof:
        spread = spread * _of("factor", kind)
    mu = (low + (high - low) * _of("mean", kind)) * 2
    sigma = (high - low) * spread.sqrt() * 2
    fits = (low < high) & (spread > 0) & mu.is_finite() & sigma.is_finite()
    return (
        pl.when(fits).then(mu).alias(MU_POS if kind == "pos" else MU_NEG),
        pl.when(fits).then(sigma).alias(SIGMA_POS if kind == "pos" else SIGMA_NEG),
    )


def _roc_auc() -> pl.Expr:
    """`Phi((mu_pos - mu_neg) / sqrt(sigma_pos**2 + sigma_neg**2))`, of no square that overflows."""
    large = pl.max_horizontal(SIGMA_POS, SIGMA_NEG)
    small = pl.min_horizontal(SIGMA_POS, SIGMA_NEG)
    apart = (pl.col(MU_POS) - pl.col(MU_NEG)) / large / (1 + (small / large) ** 2).sqrt()
    return pl.when(pl.all_horizontal(pl.col(_FIT).is_not_null())).then(normal_cdf(apart))


# The curve ------------------------------------------------------------------------------------


def with_rates(frame: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Rows of `sweep_at` with recall and fpr of the model in place of their own, and no counts."""
    fit = fitted(table, counted(table))
    threshold = pl.col("threshold").cast(pl.Float64)
    # Columns even in a table of one group: Polars multiplies by the reciprocal of a number.
    sigma_pos, sigma_neg = (pl.col(name) + pl.col(RUN_POS) * 0.0 for name in (SIGMA_POS, SIGMA_NEG))
    return frame.join(fit, on=GROUP, how="left", maintain_order="left").with_columns(
        *(pl.lit(None, dtype=table.count_dtype).alias(name) for name in ("tp", "fp", "fn", "tn")),
        normal_cdf((pl.col(MU_POS) - threshold) / sigma_pos).alias("recall"),
        normal_cdf((pl.col(MU_NEG) - threshold) / sigma_neg).alias("fpr"),
    )


# Areas ----------------------------------------------------------------------------------------

# An area is the mean of a value over the positives, whose score is mu_pos + sigma_pos z: an integral
# over phi(z) dz. Where r = sigma_pos / sigma_neg is large, all happens within 1 / r of where the
# negatives are. So z = centre + s sinh(u) with s = min(1, 1 / r), and the trapezoidal rule in u. Its
# error falls by exp(-2 pi d / step), where d, how far off the poles of precision are, is some 0.08 or
# more: steps of 1/128 leave rounding errors, for any r, and at prevalences down to 1e-9.

_STEP = f"{RESERVED}step"
_SINH = f"{RESERVED}sinh"
_SCALE = f"{RESERVED}scale"
_START = f"{RESERVED}start"  # where the negatives are, in units of the positives
_NEAR = f"{RESERVED}near"  # the same, if it is where the positives are
_Z = f"{RESERVED}z"
_X = f"{RESERVED}x"
_STEPS = 128
_MOST_Z, _MOST_CENTRE, _LEAST_SCALE = 11.0, 9.0, 2.0**-46


def nodes(fit: pl.LazyFrame) -> pl.LazyFrame:
    """By GROUP, what areas of a model add up: recall and fpr at nodes, and RISE, the weight of each.

    AUC, SLOPE and SHIFT of the group stand at one of its nodes, else they are null.
    """
    last = math.ceil(math.asinh((_MOST_Z + _MOST_CENTRE) / _LEAST_SCALE) * _STEPS)
    u = pl.col(_STEP) * (1 / _STEPS)
    steps = pl.LazyFrame({_STEP: range(-last, last + 1)}).with_columns(u.sinh().alias(_SINH))
    s, near, slope = pl.col(_SCALE), pl.col(_NEAR), pl.col(SLOPE)
    z = near * (1 - s * s) + s * pl.col(_SINH)
    frame = _shapes(fit).join(steps, how="cross").with_columns(z.alias(_Z))
    frame = frame.filter(pl.col(_Z).abs() <= _MOST_Z)
    # r (z - start), of differences that are not lost where r is large
    x = slope * s * (pl.col(_SINH) - s * near) + slope * (near - pl.col(_START))
    density = (pl.col(_Z) ** 2 * -0.5).exp() * (1 / (_STEPS * math.sqrt(2 * math.pi)))
    frame = frame.with_columns(
        normal_cdf(-pl.col(_Z)).alias("recall"),
        normal_cdf(-x).alias(_X),
        (u.cosh() * s * density).alias(RISE),
        *(pl.when(pl.col(_STEP) == 0).then(name).alias(name) for name in (AUC, SLOPE, SHIFT)),
    )
    fpr = pl.col(_X)
    return frame.select(
        *(GROUP, "recall", RISE, AUC, SLOPE, SHIFT),
        pl.when(fpr > 1e-200).then(fpr).otherwise(0.0).alias(FPR),
        (fpr.clip(lower_bound=5e-324) / pl.col("recall")).alias(RATIO),  # a model has no fpr of 0
    )


def _shapes(fit: pl.LazyFrame) -> pl.LazyFrame:
    """AUC, SLOPE, SHIFT and what places the nodes, of the groups that have a model."""
    most = 1e300
    apart = pl.col(MU_POS) - pl.col(MU_NEG)
    slope = (pl.col(SIGMA_POS) / pl.col(SIGMA_NEG)).clip(1 / most, most)
    shapes = fit.drop_nulls(_FIT).select(
        GROUP,
        _roc_auc().alias(AUC),
        slope.alias(SLOPE),
        (apart / pl.col(SIGMA_NEG)).clip(-most, most).alias(SHIFT),
        (-apart / pl.col(SIGMA_POS)).clip(-most, most).alias(_START),
    )
    return shapes.with_columns(
        (1 / pl.col(SLOPE)).clip(_LEAST_SCALE, 1.0).alias(_SCALE),
        pl.col(_START).clip(-_MOST_CENTRE, _MOST_CENTRE).alias(_NEAR),
    )


def of_model(metric: CurveMetric) -> CurveMetric:
    """The same metric, of the nodes of a model."""
    if metric.fitted is None:
        raise PrcError(
            f"{metric.name} is not known of a fitted model; smooth= knows average_precision and its "
            "transforms, pr_auc, pr_auc_trapezoid(...), roc_auc, precision_at_recall(...), "
            "integrated_average_precision(...) and integrated(...) of those"
        )

    def finish(value: pl.Expr, curve: Curve) -> pl.Expr:
        return metric.finish(value.clip(upper_bound=1.0), curve)  # but for rounding it is

    averages = metric.averages and metric.averages._replace(of=of_model(metric.averages.of))
    term, steps = metric.fitted
    return replace(
        metric,
        term=term,
        once=None,
        steps=steps,
        needs="rises",
        by_rise=False,
        minds_length=False,
        finish=finish,
        averages=averages,
    )
