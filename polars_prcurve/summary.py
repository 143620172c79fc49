"""The summary: curve metrics of each group at each prevalence, in one pass over one sweep.

sweep -> curves     segments of all groups, see `curves`
      -> values     one row per group and prevalence, metrics and their errors side by side
      -> summary    one row per metric
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import polars as pl

from polars_prcurve.analytic import analytic_interval, is_reliable, parts
from polars_prcurve.bands import Collect
from polars_prcurve.bootstrap import Bootstrap
from polars_prcurve.columns import (
    COPY,
    GROUP,
    PAIR,
)
from polars_prcurve.curve import stacked
from polars_prcurve.curve_metrics import CurveMetric
from polars_prcurve.curves import Curves, curves_of, curves_of_model, numbered
from polars_prcurve.influence import SIZES, variances
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.prevalence import Grid
from polars_prcurve.sweep import Parts, checked_last, class_counts, counted, late_checks
from polars_prcurve.uncertainty import Uncertainty

__all__ = ["added_by_summary", "summary_table"]

_ERRORS = ("standard_error", "low", "high", "reliable")


def added_by_summary(*, errors: bool) -> tuple[str, ...]:
    """The columns that a summary adds to `by` (and to what an eta frame carries)."""
    return ("eta", "n_pos", "n_neg", "metric", "value", *(_ERRORS if errors else ()))


def summary_table(
    table: Input,
    grid: Grid,
    metrics: Sequence[CurveMetric],
    *,
    collect: Collect,
    uncertainty: Uncertainty | None = None,
    smooth: bool = False,
) -> pl.LazyFrame:
    """`by`, eta, what the eta frame carries, and the rest of `added_by_summary`.

    With `smooth` the metrics are those of a model, see `binormal.of_model`.
    """
    named = numbered(metrics)
    analytic = uncertainty is not None and uncertainty.method == "analytic"
    ends_only = uncertainty is None and not smooth and all(metric.ends_only for metric in metrics)
    found = counted(table, effective=analytic, ends_only=ends_only)
    if smooth and isinstance(table, ScoreTable):
        curves = curves_of_model(table, found)
    else:
        curves = curves_of(table, found, metrics, collect=collect, with_last=analytic)
    pairs = curves.at(grid)
    if uncertainty is not None and analytic:
        values = _analytic(curves, pairs, named, grid.count, uncertainty.confidence)
    else:
        values = curves.values(pairs, named, each=grid.count)
    values = checked_last(table, values.sort(PAIR), *late_checks(table, grid))
    if uncertainty is not None and not analytic:
        examples = cast("ScoreTable", table)  # of which alone an uncertainty is asked
        values = _bootstrapped(examples, found, values, Bootstrap(metrics, uncertainty, collect))
    values = values.with_columns(*class_counts(table), pl.col("eta").fill_nan(None))
    long = values.join(pl.LazyFrame({COPY: range(len(metrics))}), how="cross").sort(PAIR, COPY)
    eta, *others = added_by_summary(errors=uncertainty is not None)
    ends = {kind: "" if kind == "value" else f"_{kind}" for kind in others[others.index("value") :]}
    listed = {kind: [pl.col(name + end) for name in named] for kind, end in ends.items()}
    columns = stacked(listed, [metric.name for metric in metrics])
    return long.with_columns(columns).select(*table.by, eta, *grid.carried, *others)


def _analytic(
    curves: Curves,
    pairs: pl.LazyFrame,
    named: Mapping[str, CurveMetric],
    each: int | None,
    confidence: float,
) -> pl.LazyFrame:
    """The metrics at each pair, and `<name>_standard_error`, `_low`, `_high`, `_reliable`."""
    needed = dict(named)
    for name, metric in named.items():
        needed |= parts(name, metric)
    values = curves.values(pairs, needed, each=each)
    for key, names, influences in curves.influences(pairs, named):
        values = values.join(variances(influences, key, names), on=key, how="left")
    return values.with_columns(
        value.alias(f"{name}_{kind}")
        for name, metric in named.items()
        for kind, value in analytic_interval(name, metric, confidence)._asdict().items()
    )


def _bootstrapped(
    table: ScoreTable, found: Parts, values: pl.LazyFrame, bootstrap: Bootstrap
) -> pl.LazyFrame:
    """The same columns beside the metrics at each pair, from replicates of the samples."""
    whole = bootstrap.collected(values)
    groups = whole[GROUP].unique().sort()
    samples = list(bootstrap.samples(table, found, [[group] for group in groups]))
    blocks = bootstrap.blocks(samples, whole)
    errors = bootstrap.errors(({PAIR: block.pairs[PAIR]}, block.estimates) for block in blocks)
    sizes = dict.fromkeys(SIZES.values(), pl.Float64)
    of_samples = pl.DataFrame([s.sizes for s in samples], schema=sizes, orient="row")
    values = whole.lazy().join(errors, on=PAIR, how="left").sort(PAIR)
    values = values.join(of_samples.with_columns(groups).lazy(), on=GROUP, maintain_order="left")
    return values.with_columns(
        pl.when(pl.col(f"{name}_low").is_not_null())
        .then(
            is_reliable(
                pl.col(name) if metric.range[1] == 1 else pl.lit(0.0),
                at_eta=metric.depends_on_eta,
                short=12,
                weigh=pl.lit(2.0),
            )
        )
        .alias(f"{name}_reliable")
        for name, metric in numbered(bootstrap.metrics).items()
    )
