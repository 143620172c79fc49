"""Standard errors of curve metrics, from how much each example moves the estimate.

An estimate from samples of positives and of negatives is, but for terms of higher order, the truth
plus the mean of a value of each positive, its *influence*, plus that of each negative. So with V and W
the variances of both kinds of influence among the examples, the estimate has the variance

    V / n_pos + W / n_neg

Influences are wanted but for a constant, of which variances are free. All examples of one score share
one influence, and a row of the curve stands for them all: a share `rise` of the positives, a share
`run` of the negatives, and a share of the negatives, the gap, for the rows that were left out before it.

Sources: Hampel 1974; DeLong et al. 1988.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from polars_prcurve.columns import GAP, N_NEG_EFFECTIVE, N_POS_EFFECTIVE, RISE, RUN
from polars_prcurve.curve_metrics import CurveMetric, Influence, Rows

__all__ = ["SIZES", "centred", "standard_error", "variances", "with_influences"]

SIZES = {"pos": N_POS_EFFECTIVE, "neg": N_NEG_EFFECTIVE}


def with_influences(
    frame: pl.LazyFrame, rows: Rows, key: str, metrics: Mapping[str, Influence]
) -> pl.LazyFrame:
    """Add `<name>_pos`, `<name>_neg` and `<name>_gap` to rows in the order of each curve, by `key`."""
    for influence in metrics.values():
        terms = influence.sums(rows)
        frame = frame.with_columns(**terms).with_columns(
            # An example sees rows of its own score and below: but for a constant, those above.
            pl.col(name).cum_sum().shift(1, fill_value=0.0).over(key)
            for name in terms
        )
    return frame.with_columns(
        kind(rows).alias(f"{name}_{side}")
        for name, influence in metrics.items()
        for side, kind in (
            ("pos", influence.positive),
            ("neg", influence.negative),
            ("gap", influence.between),
        )
    )


def centred(frame: pl.LazyFrame, key: str, names: Iterable[str]) -> pl.LazyFrame:
    """Influences less their means among the examples of each curve."""
    means = {
        f"{n}_{side}_mean": mean.sum().over(key) for n in names for side, mean in _shares(n).items()
    }
    kinds = (("pos", "pos"), ("neg", "neg"), ("gap", "neg"))
    return frame.with_columns(**means).with_columns(
        pl.col(f"{name}_{kind}") - pl.col(f"{name}_{side}_mean")
        for name in names
        for kind, side in kinds
    )


def variances(frame: pl.LazyFrame, key: str, names: Iterable[str]) -> pl.LazyFrame:
    """One row per key: `<name>_pos` and `<name>_neg`, of centred influences among the examples."""
    squares = {f"{n}_{side}": sum_ for n in names for side, sum_ in _shares(n, power=2).items()}
    return frame.select(key, **squares).group_by(key).agg(pl.col(*squares).sum())


def _shares(name: str, *, power: int = 1) -> dict[str, pl.Expr]:
    """What a row adds to the mean among positives, and among negatives."""
    pos, neg, gap = (pl.col(f"{name}_{kind}").pow(power) for kind in ("pos", "neg", "gap"))
    return {"pos": pos * pl.col(RISE), "neg": neg * pl.col(RUN) + gap * pl.col(GAP)}


def standard_error(name: str, metric: CurveMetric) -> pl.Expr:
    """From `variances`, in groups with the SIZES of their classes; null where there is none."""
    if metric.influence is None:
        return pl.lit(None, dtype=pl.Float64)
    parts = [
        pl.col(f"{name}_{side}") / (pl.col(size) - metric.influence.ddof) for side, size in SIZES.items()
    ]
    error = (parts[0] + parts[1]).sqrt()
    return pl.when(error.is_finite()).then(error)
