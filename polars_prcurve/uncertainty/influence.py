"""Standard errors of curve metrics, from how much each example moves the estimate.

Each example has an *influence*. Except for terms of higher order, an estimate is the truth, plus the
mean influence of the positives in the sample, plus the mean influence of the negatives. Let V and W be
the variances of both kinds of influence among the examples. Then the variance of the estimate is

    V / n_pos + W / n_neg

A constant added to all influences changes no variance, so influences are computed up to a constant. All
examples of one score have equal influence, so a row of the curve stands for all of them: `rise` is its
share of the positives, `run` its share of the negatives, and `gap` the share of the negatives on rows
that were left out before it.

    segments -> influences    a sum along each curve, from the highest score down
             -> centred       less their means
             -> variances     weighted by rise, run and gap

Sources: Hampel 1974; DeLong et al. 1988.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from polars_prcurve.column_names import (
    FPR_BEFORE,
    FPR_GAP,
    FPR_OR_ZERO,
    GROUP,
    N_NEG_EFFECTIVE,
    N_POS_EFFECTIVE,
    ODDS,
    PAIR,
    RISE,
    RUN,
)
from polars_prcurve.curves.segment_sums import CurveSegments
from polars_prcurve.float_bits import is_at_least
from polars_prcurve.metrics.curve_metric import CurveMetric, Influence, Rows

CLASS_SIZE_COLUMNS = {"pos": N_POS_EFFECTIVE, "neg": N_NEG_EFFECTIVE}
"""The columns with the number of examples of each class; of weighted examples, the effective number."""


def build_influences(
    curves: CurveSegments, pairs: pl.LazyFrame, metrics: Mapping[str, CurveMetric]
) -> Iterator[tuple[str, list[str], pl.LazyFrame]]:
    """Yield a key, the metrics whose influences go by that key, and a table of their influences.

    The key is GROUP for metrics that do not depend on prevalence, then PAIR for metrics that do. The
    table has one row per key and row of the curve, with the columns `<name>_pos`, `<name>_neg` and
    `<name>_gap`, less their means.
    """
    # A row without a rise may have been left out, and its negatives lie between two segments.
    in_group = pl.col(GROUP) == pl.col(GROUP).shift(1)
    fpr_above = pl.when(in_group).then(pl.col(FPR_OR_ZERO).shift(1)).otherwise(0.0)
    segments = curves.segments[False].with_columns((pl.col(FPR_BEFORE) - fpr_above).alias(FPR_GAP))
    for key, depends_on_eta in ((GROUP, False), (PAIR, True)):
        chosen = {
            name: metric.recipe.influence
            for name, metric in metrics.items()
            if metric.depends_on_eta == depends_on_eta and metric.recipe.influence is not None
        }
        if chosen:
            frame = segments
            if depends_on_eta:
                # The pairs on the left, so that the join leaves each curve in order.
                at_eta = pairs.select(GROUP, PAIR, "eta", ODDS)
                frame = at_eta.join(segments, on=GROUP, maintain_order="left_right")
            frame = with_influences(frame, curves.make_rows(pl.col), key, chosen)
            yield key, list(chosen), subtract_means(frame, key, chosen)


def with_influences(
    frame: pl.LazyFrame, rows: Rows, key: str, metrics: Mapping[str, Influence]
) -> pl.LazyFrame:
    """Add `<name>_pos`, `<name>_neg` and `<name>_gap`, the influences of the examples of each row.

    The rows of a `key` come from the highest score down.
    """
    for influence in metrics.values():
        terms = influence.sums(rows)
        frame = frame.with_columns(**terms).with_columns(
            # The influence sums over this score and lower ones: a constant minus the sum over higher
            # ones, and constants do not change a variance.
            pl.col(name).cum_sum().shift(1, fill_value=0.0).over(key)
            for name in terms
        )
    return frame.with_columns(
        term(rows).alias(f"{name}_{kind}")
        for name, influence in metrics.items()
        for kind, term in (
            ("pos", influence.positive),
            ("neg", influence.negative),
            ("gap", influence.between),
        )
    )


def subtract_means(frame: pl.LazyFrame, key: str, names: Iterable[str]) -> pl.LazyFrame:
    """Subtract from each influence its mean over the positives or the negatives of its curve."""
    names = list(names)
    means = {
        f"{name}_{side}_mean": share.sum().over(key)
        for name in names
        for side, share in _weigh(name).items()
    }
    class_of = {"pos": "pos", "neg": "neg", "gap": "neg"}  # rows left out in a gap are negatives
    return frame.with_columns(**means).with_columns(
        pl.col(f"{name}_{kind}") - pl.col(f"{name}_{side}_mean")
        for name in names
        for kind, side in class_of.items()
    )


def compute_variances(frame: pl.LazyFrame, key: str, names: Iterable[str]) -> pl.LazyFrame:
    """Return one row per key: the variances `<name>_pos` and `<name>_neg` of centred influences."""
    squares = {f"{n}_{side}": square for n in names for side, square in _weigh(n, power=2).items()}
    return frame.select(key, **squares).group_by(key).agg(pl.col(*squares).sum())


def _weigh(name: str, *, power: int = 1) -> dict[str, pl.Expr]:
    """Return a row's contribution to the mean among positives, and to the mean among negatives.

    The mean is that of influences, or of their squares with `power=2`.
    """
    pos, neg, gap = (pl.col(f"{name}_{kind}").pow(power) for kind in ("pos", "neg", "gap"))
    return {"pos": pos * pl.col(RISE), "neg": neg * pl.col(RUN) + gap * pl.col(FPR_GAP)}


def standard_error(name: str, metric: CurveMetric) -> pl.Expr:
    """Return the standard error of a metric, over its variances and the CLASS_SIZE_COLUMNS.

    It is null for a metric without influences, and where it is not finite. It is null, too, where a
    class has less than two examples: one example does not tell how much examples differ.
    """
    influence = metric.recipe.influence
    if influence is None:
        return pl.lit(None, dtype=pl.Float64)
    sizes = {side: pl.col(size) for side, size in CLASS_SIZE_COLUMNS.items()}
    parts = [pl.col(f"{name}_{side}") / (size - influence.ddof) for side, size in sizes.items()]
    error = (parts[0] + parts[1]).sqrt()
    several = pl.all_horizontal(is_at_least(size, 2.0) for size in sizes.values())
    return pl.when(several & error.is_finite()).then(error)
