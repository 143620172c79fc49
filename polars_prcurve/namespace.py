"""The doors: `.prc` on DataFrame, LazyFrame and Expr, and the same behind the typed `prc()`.

Only these classes know whether a table is eager. A DataFrame goes through the lazy stages and
is collected at the end, the query's errors as `PrcError`; a LazyFrame is not collected.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast, overload

import polars as pl

from polars_prcurve import wide
from polars_prcurve.bands import Band as BandKind
from polars_prcurve.bands import Bands, read_bands
from polars_prcurve.binormal import BINORMAL, Smooth, binormal_table, read_smooth
from polars_prcurve.columns import CLUSTER, COUNTS, EXAMPLE, MODEL, SCORE, SWEEP
from polars_prcurve.compare import COMPARED, Comparison, compare_table
from polars_prcurve.crossings import CROSSINGS, LEADERS, contest, crossings_of, leaders_of
from polars_prcurve.curve import added_by_curve, curve_table
from polars_prcurve.curve_metrics import CurveMetric, curve_metrics, partial_roc_auc_mcclish
from polars_prcurve.dominance import (
    DOMINANCE,
    ROC_CROSSINGS,
    dominance_table,
    roc_crossings_table,
)
from polars_prcurve.errors import PrcError, raised_eagerly
from polars_prcurve.expressions import (
    Evidence,
    read_evidence,
    read_one_prevalence,
    read_prevalence,
)
from polars_prcurve.grouping import Span, group_number, wide_keys
from polars_prcurve.inputs import (
    Column,
    Columns,
    Input,
    Missing,
    ScoreTable,
    listed,
    read_input,
    read_posteriors,
)
from polars_prcurve.intervals import RateMethod, one_confidence
from polars_prcurve.operating_points import (
    RESOLUTION,
    SIZES,
    added_by_points,
    points_table,
    resolution_table,
    sizes_table,
)
from polars_prcurve.plots import Listed, PlotPrc
from polars_prcurve.point_metrics import PointMetric, point_metrics
from polars_prcurve.prevalence import Eta, read_eta
from polars_prcurve.prior_shift import ESTIMATES, estimates_table, shift_prior
from polars_prcurve.ranking import added_by_ranking, ranking_table
from polars_prcurve.several import for_each
from polars_prcurve.subsampling import SUBSAMPLES, subsample_table
from polars_prcurve.summary import added_by_summary, summary_table
from polars_prcurve.sweep import Thresholds, count_scores, sweep_table
from polars_prcurve.targets import Several, read_judge, read_targets
from polars_prcurve.uncertainty import Method, read_uncertainty
from polars_prcurve.widths import SizeMethod

if TYPE_CHECKING:
    from polars_prcurve.page import Part
    from polars_prcurve.report import Source

__all__ = [
    "DataFramePrc",
    "ExprPrc",
    "FramePrc",
    "LazyFramePrc",
    "estimate_prevalence",
    "prc",
    "register",
]

F = TypeVar("F", pl.DataFrame, pl.LazyFrame)


class FramePrc(Listed, Generic[F]):
    """Precision-recall analysis of a score table, at any prevalence.

    All methods share these arguments, which say what the table holds:

    by
        Group column(s), names or expressions, of any sortable dtype; each group has a curve of
        its own. A null is a group, the first in order.
    score
        Larger means more positive. A float, integer, Decimal or Boolean; taken exactly,
        infinities allowed, -0.0 equal to 0.0.
    label
        Boolean, or numbers within {0, 1} or within {-1, 1}.
    pos_label
        The positive value, for labels of any other kind; it must occur in the table.
    weight
        A number >= 0 per row. Rows of weight 0 count for nothing and make no threshold.
    counts
        Two columns, `("n_pos", "n_neg")`, in place of label and weight: the table is already
        aggregated. Rows of equal score add up.
    rates
        Two columns, `("tpr", "fpr")`, in place of score and label: published ROC points.
        Thresholds and counts are null in the result.
    missing
        What a null or NaN score, or a null label or weight, does: `"raise"`, or `"drop"` the row.

    What names, dtypes and arguments tell raises `PrcError` at the call. What only values tell
    raises when the query runs: `PrcError` from a DataFrame, and the same sentence in a
    `polars.exceptions.InvalidOperationError` from a LazyFrame that you collect.
    """

    def __init__(self, lazy: pl.LazyFrame) -> None:
        self._lazy = lazy

    def _result(self, query: pl.LazyFrame) -> F:
        raise NotImplementedError

    def _prepared(self, table: Input) -> Input:
        """Aggregate first where it is known that scores repeat a lot; the result is the same."""
        alone = not {CLUSTER, EXAMPLE} & set(table.columns)  # else rows are told apart
        if isinstance(table, ScoreTable) and table.labelled and alone and self._repeats(table):
            return table.aggregated()
        return table

    def _repeats(self, table: ScoreTable) -> bool:
        return table.coarse

    def _collected(self, query: pl.LazyFrame, why: str) -> pl.DataFrame:
        """What comes out of a query half way, for what Polars has no expression for."""
        raise NotImplementedError

    def counts(
        self,
        *,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Count positives and negatives at each distinct score.

        The table is small where scores are coarse, and additive: tables of several days or
        shards put together give the counts of all, through `counts=("n_pos", "n_neg")` in any
        other method.

        Returns
        -------
        One row per `by` group and distinct score, by group (null first), then falling score:

        - `score`: as in the table
        - `n_pos`, `n_neg`: Int64, or Float64 with weights

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.9, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.counts()
        shape: (3, 3)
        ┌───────┬───────┬───────┐
        │ score ┆ n_pos ┆ n_neg │
        │ ---   ┆ ---   ┆ ---   │
        │ f64   ┆ i64   ┆ i64   │
        ╞═══════╪═══════╪═══════╡
        │ 0.9   ┆ 1     ┆ 1     │
        │ 0.2   ┆ 1     ┆ 0     │
        │ 0.1   ┆ 0     ┆ 1     │
        └───────┴───────┴───────┘
        """
        table = read_input(
            self._lazy,
            makes=COUNTS,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            missing=missing,
        )
        return self._result(count_scores(self._prepared(table)))

    def sweep(
        self,
        *,
        drop_intermediate: bool = False,
        thresholds: Thresholds = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Cumulative confusion counts at every threshold: positive means score >= threshold.

        Everything else is computed from this table, and prevalence has no part in it.

        Parameters
        ----------
        drop_intermediate
            Leave out rows inside runs of negatives. What is kept gives the same ROC curve, the
            same PR curve at every prevalence and the same average precision, in at most
            2 * positives + 2 rows per group.
        thresholds
            A number n: for k = 1..n, the highest threshold with recall >= k/n, each once; a group
            without positives has none. Or a list of scores, in the data or not, each exact in the
            score's dtype: one row each.

        Returns
        -------
        One row per `by` group and distinct score, by group (null first), then falling
        threshold; ties move together, and the last row of a group has recall 1 and fpr 1:

        - `threshold`: as in the table, the score
        - `tp`, `fp`, `fn`, `tn`: Int64, or Float64 with weights; null from `rates`
        - `recall` = tp / (tp + fn), `fpr` = fp / (fp + tn): Float64 in [0, 1], null in a group
          without positives, or without negatives (Brabec et al. 2020, eq. 6-7)

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.9, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.sweep()
        shape: (3, 7)
        ┌───────────┬─────┬─────┬─────┬─────┬────────┬─────┐
        │ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  ┆ recall ┆ fpr │
        │ ---       ┆ --- ┆ --- ┆ --- ┆ --- ┆ ---    ┆ --- │
        │ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64    ┆ f64 │
        ╞═══════════╪═════╪═════╪═════╪═════╪════════╪═════╡
        │ 0.9       ┆ 1   ┆ 1   ┆ 1   ┆ 1   ┆ 0.5    ┆ 0.5 │
        │ 0.2       ┆ 2   ┆ 1   ┆ 0   ┆ 1   ┆ 1.0    ┆ 0.5 │
        │ 0.1       ┆ 2   ┆ 2   ┆ 0   ┆ 0   ┆ 1.0    ┆ 1.0 │
        └───────────┴─────┴─────┴─────┴─────┴────────┴─────┘
        """
        table = read_input(
            self._lazy,
            makes=SWEEP,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            missing=missing,
        )
        return self._result(
            sweep_table(
                self._prepared(table), drop_intermediate=drop_intermediate, thresholds=thresholds
            )
        )

    def curve(
        self,
        eta: Eta = None,
        *,
        metrics: str | PointMetric | Sequence[str | PointMetric] = ("precision",),
        confidence: float | None = None,
        interval: RateMethod = "wilson",
        band: BandKind = "mover",
        smooth: Smooth = None,
        long: bool = False,
        drop_intermediate: bool = False,
        thresholds: Thresholds = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Precision, or any point metric, at every threshold and every prevalence.

        What will precision be where 1 in 1 000 is positive, at each threshold? Recall and fpr
        are measured once; `precision = recall*eta / (recall*eta + fpr*(1-eta))` (Williams 2021,
        eq. 2) gives the rest.

        Parameters
        ----------
        eta
            The prevalence, a share in [0, 1]: a number; several, in which None may stand; None,
            each group's own prevalence in this table; or a frame with a column `eta` and any of
            the `by` columns, for a prevalence (null: own) per group. Its further columns are
            carried along, unless this table has them, too: that raises, as does a group without a row.
        metrics
            Names or values from `polars_prcurve.metrics`.
        confidence
            A level, such as 0.95, for a band around each metric, of samples of as many positives and
            negatives, at a fixed threshold.
        interval
            The interval of either rate; see `rate_interval`. `"clopper_pearson"` and `"jeffreys"` are
            for a DataFrame only.
        band
            `"mover"` holds the level on average; `"rectangle"` at least, but is wider.
        smooth
            `"binormal"`: recall and fpr are those of the model that `binormal` fits, at the same
            thresholds; counts are null.
        long
            One row per metric, `metric` and `value` (and `low`, `high`), in place of columns per metric.
        drop_intermediate, thresholds
            As in `sweep`.

        Returns
        -------
        One row per `by` group, prevalence and distinct score (and metric, with `long`), by
        group, `eta`, metric in the order asked, falling threshold:

        - `eta`: Float64, a group's own prevalence filled in
        - the columns of `sweep`
        - the columns `metrics`: Float64, null where undefined (0/0). At a group's own
          prevalence precision is tp / (tp + fp) to the last bit.
        - with `confidence`, after each metric, `<metric>_low`, `<metric>_high`: Float64, null where
          the metric is, or where a class is absent. With weights the intervals are of
          `sum(w)**2 / sum(w**2)` examples a class.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.curve(eta=[0.5, 0.01]).select("eta", "threshold", "recall", "precision")
        shape: (8, 4)
        ┌──────┬───────────┬────────┬───────────┐
        │ eta  ┆ threshold ┆ recall ┆ precision │
        │ ---  ┆ ---       ┆ ---    ┆ ---       │
        │ f64  ┆ f64       ┆ f64    ┆ f64       │
        ╞══════╪═══════════╪════════╪═══════════╡
        │ 0.01 ┆ 0.9       ┆ 0.5    ┆ 1.0       │
        │ 0.01 ┆ 0.8       ┆ 0.5    ┆ 0.01      │
        │ 0.01 ┆ 0.2       ┆ 1.0    ┆ 0.019802  │
        │ 0.01 ┆ 0.1       ┆ 1.0    ┆ 0.01      │
        │ 0.5  ┆ 0.9       ┆ 0.5    ┆ 1.0       │
        │ 0.5  ┆ 0.8       ┆ 0.5    ┆ 0.5       │
        │ 0.5  ┆ 0.2       ┆ 1.0    ┆ 0.666667  │
        │ 0.5  ┆ 0.1       ┆ 1.0    ┆ 0.5       │
        └──────┴───────────┴────────┴───────────┘
        """
        asked = point_metrics(metrics)
        bands = read_bands(confidence, interval, band, asked)
        read_smooth(smooth, confidence=confidence, rates=rates)
        makes = added_by_curve(asked, long=long, bands=bands is not None)
        table = read_input(
            self._lazy,
            makes=makes,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            missing=missing,
        )
        own = isinstance(table, ScoreTable)
        grid = read_eta(eta, table.by, makes, has_own=own, table=table.frame)
        query = curve_table(
            self._prepared(table if bands is None else table.of_examples()),
            grid,
            asked,
            collect=self._collected,
            drop_intermediate=drop_intermediate,
            thresholds=thresholds,
            bands=bands,
            smooth=smooth is not None,
            long=long,
        )
        return self._result(query)

    def operating_points(
        self,
        eta: Eta = None,
        *,
        threshold: Any = None,
        recall: Several = None,
        fpr: Several = None,
        precision: Several = None,
        predicted_positive_rate: Several = None,
        maximize: str | PointMetric | Sequence[str | PointMetric] | None = None,
        metrics: str | PointMetric | Sequence[str | PointMetric] = (
            "precision",
            "f1",
            "predicted_positive_rate",
        ),
        confidence: float | None = None,
        interval: RateMethod = "wilson",
        band: BandKind = "mover",
        per: float | None = None,
        long: bool = False,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> F:
        """The threshold that meets a target, and what it does, at every prevalence.

        Which threshold gives 90 % precision where 1 in 1 000 is positive, and how many alerts a
        day is that? Each target takes one value or several, and kinds may be combined.

        Parameters
        ----------
        eta
            As in `curve`.
        threshold
            As given, in the data or not, exact in the score's dtype.
        recall
            The highest threshold with at least this recall.
        fpr, predicted_positive_rate
            The lowest threshold with at most this rate; the latter, at `eta`, is an alert budget.
        precision
            The lowest threshold with at least this precision at `eta`.
        maximize
            A point metric, to be best (least, where less is better); of equals the highest
            threshold.
        metrics
            Point metrics to show.
        confidence, interval, band
            As in `curve`. The threshold is found in this table and then taken as fixed.
        per
            A number of events, e.g. 2_000_000 a day: adds the alerts among them.
        long
            One row per metric, `metric` and `value` (and `low`, `high`), in place of columns per metric.

        Returns
        -------
        One row per `by` group, prevalence and target, in that order, targets in the order of the
        parameters above. Where no row of the sweep meets a target, its row holds nulls.

        - `eta`: Float64, a group's own prevalence filled in
        - `criterion`: String, `recall` etc. or `maximize(f1)`
        - `target`: Float64, null for the latter
        - the columns of `sweep`
        - the columns `metrics`: Float64, null where undefined
        - with `confidence`, after each metric, `<metric>_low`, `<metric>_high`: as in `curve`
        - with `per`, `alerts`, `true_alerts`, `missed`: Float64, expected numbers among so many events

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> points = df.prc.operating_points(eta=0.01, recall=1.0, precision=[0.5, 1.0], per=10_000)
        >>> points.select("criterion", "target", "threshold", "recall", "precision", "alerts")
        shape: (3, 6)
        ┌───────────┬────────┬───────────┬────────┬───────────┬────────┐
        │ criterion ┆ target ┆ threshold ┆ recall ┆ precision ┆ alerts │
        │ ---       ┆ ---    ┆ ---       ┆ ---    ┆ ---       ┆ ---    │
        │ str       ┆ f64    ┆ f64       ┆ f64    ┆ f64       ┆ f64    │
        ╞═══════════╪════════╪═══════════╪════════╪═══════════╪════════╡
        │ recall    ┆ 1.0    ┆ 0.2       ┆ 1.0    ┆ 0.019802  ┆ 5050.0 │
        │ precision ┆ 0.5    ┆ 0.9       ┆ 0.5    ┆ 1.0       ┆ 50.0   │
        │ precision ┆ 1.0    ┆ 0.9       ┆ 0.5    ┆ 1.0       ┆ 50.0   │
        └───────────┴────────┴───────────┴────────┴───────────┴────────┘
        """
        asked = point_metrics(metrics)
        bands = read_bands(confidence, interval, band, asked)
        makes = added_by_points(asked, per=per, long=long, bands=bands is not None)
        table = read_input(
            self._lazy,
            makes=makes,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            missing=missing,
        )
        targets = read_targets(
            table,
            threshold=threshold,
            recall=recall,
            fpr=fpr,
            precision=precision,
            predicted_positive_rate=predicted_positive_rate,
            maximize=maximize,
        )
        own = isinstance(table, ScoreTable)
        grid = read_eta(eta, table.by, makes, has_own=own, table=table.frame)
        query = points_table(
            self._prepared(table if bands is None else table.of_examples()),
            grid,
            targets,
            asked,
            collect=self._collected,
            per=per,
            bands=bands,
            long=long,
        )
        return self._result(query)

    def summary(
        self,
        eta: Eta = None,
        *,
        metrics: str | CurveMetric | Sequence[str | CurveMetric] = (
            "average_precision",
            "pr_auc",
            "roc_auc",
        ),
        confidence: float | None = None,
        method: Method = "analytic",
        n_resamples: int = 1000,
        seed: int | None = None,
        cluster: Column | None = None,
        smooth: Smooth = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Average precision, or any metric of a whole curve, at every prevalence.

        Which model is better where 1 in 1 000 is positive? One sweep serves all prevalences and
        metrics; a hundred of them cost little more than one.

        Parameters
        ----------
        eta
            As in `curve`.
        metrics
            Names or values of curve metrics from `polars_prcurve.metrics`. Those on the convex hull,
            `pr_auc_hull`, `auprg_hull` and `roc_auc_hull`, are for a DataFrame only.
        confidence
            A level, such as 0.95, for standard errors and intervals.
        method
            `"analytic"` knows `average_precision`, `roc_auc` and `precision_at_recall(...)`; of other
            metrics it tells nothing. `"bootstrap"` knows all, and is for a DataFrame only.
        n_resamples, seed
            Of the bootstrap: how many replicates, and what makes them the same again. Positives and
            negatives of each group are drawn apart, as many as there are.
        cluster
            Rows of one cluster, a patient or a card, are drawn together by the bootstrap, whole clusters
            of a group, whatever their labels.
        smooth
            `"binormal"`: metrics of the model that `binormal` fits to each group, at any prevalence:
            `average_precision` and its transforms, `pr_auc`, `pr_auc_trapezoid(...)`, `roc_auc`,
            `precision_at_recall(...)`, `integrated_average_precision(...)` and `integrated(...)` of
            those. Without `confidence`. A fitted curve has no steps, so the first three areas are one.

        Returns
        -------
        One row per `by` group, prevalence and metric, by group (null first), `eta`, metric in the
        order asked:

        - `eta`: Float64, a group's own prevalence filled in
        - `n_pos`, `n_neg`: Int64, or Float64 with weights; the totals of the group
        - `metric`: String
        - `value`: Float64, null where undefined: areas in a group without positives, or without
          negatives unless `eta` is 1. Metrics that do not depend on `eta` repeat at each. The same
          to the last bit whatever the order of the rows.
        - with `confidence`, `standard_error`, `low`, `high`: Float64, null where not known, and of
          the analytic ends where the value is 0 or 1. With weights they are of
          `sum(w)**2 / sum(w**2)` examples a class.
        - with `confidence`, `reliable`: Boolean, false where intervals of this kind were seen to miss
          too often, null where there is none

        Sums are exact to 2**-118, which is all there is to tell at prevalences below 1e-30;
        `auprg` is null below 2**-69. With `rates=` the points (0, 0) and (1, 1) are added where
        absent.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.summary(eta=[0.5, 0.01], metrics=("average_precision", "roc_auc"))
        shape: (4, 5)
        ┌──────┬───────┬───────┬───────────────────┬──────────┐
        │ eta  ┆ n_pos ┆ n_neg ┆ metric            ┆ value    │
        │ ---  ┆ ---   ┆ ---   ┆ ---               ┆ ---      │
        │ f64  ┆ i64   ┆ i64   ┆ str               ┆ f64      │
        ╞══════╪═══════╪═══════╪═══════════════════╪══════════╡
        │ 0.01 ┆ 2     ┆ 2     ┆ average_precision ┆ 0.509901 │
        │ 0.01 ┆ 2     ┆ 2     ┆ roc_auc           ┆ 0.75     │
        │ 0.5  ┆ 2     ┆ 2     ┆ average_precision ┆ 0.833333 │
        │ 0.5  ┆ 2     ┆ 2     ┆ roc_auc           ┆ 0.75     │
        └──────┴───────┴───────┴───────────────────┴──────────┘
        """
        asked = read_smooth(smooth, curve_metrics(metrics), confidence=confidence, rates=rates)
        uncertainty = read_uncertainty(confidence, method, n_resamples, seed, cluster)
        makes = added_by_summary(errors=uncertainty is not None)
        table = read_input(
            self._lazy,
            makes=makes,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            cluster=cluster,
            missing=missing,
        )
        own = isinstance(table, ScoreTable)
        grid = read_eta(eta, table.by, makes, has_own=own, table=table.frame)
        query = summary_table(
            self._prepared(table if uncertainty is None else table.of_examples()),
            grid,
            asked,
            collect=self._collected,
            uncertainty=uncertainty,
            smooth=smooth is not None,
        )
        return self._result(query)

    def binormal(
        self,
        ddof: int = 0,
        *,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Fit a normal distribution to the scores of each class, by maximum likelihood.

        Where positives are few, a curve of two normal distributions is steadier than the steps of the
        sample, if scores are normal (Brodersen et al. 2010). `curve` and `summary` are of this model
        with `smooth="binormal"`. With z = (mu_pos - threshold) / sigma_pos recall is Phi(z), fpr is
        Phi((mu_neg - threshold) / sigma_neg), and precision as everywhere.

        Parameters
        ----------
        ddof
            Variances are divided by n - ddof: 0 for maximum likelihood, 1 for an unbiased variance.

        Returns
        -------
        One row per `by` group, null first:

        - `mu_pos`, `sigma_pos`, `mu_neg`, `sigma_neg`: Float64, mean and standard deviation of the
          scores of a class, as floats. Both null where a class has fewer than two distinct scores, an
          infinite one, or no more than `ddof` examples. With weights they are weighted, and n is
          `sum(w)**2 / sum(w**2)`; with `counts` it is the count.
        - `alpha` = n_pos / (n_pos + n_neg): Float64, null in a group where nothing counts
        - `n_pos`, `n_neg`: Int64, or Float64 with weights
        - `roc_auc` = Phi((mu_pos - mu_neg) / sqrt(sigma_pos**2 + sigma_neg**2)): Float64, null
          where a mean is

        The same to the last bit whatever the order of the rows.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.binormal().select("mu_pos", "sigma_pos", "mu_neg", "alpha", "roc_auc")
        shape: (1, 5)
        ┌────────┬───────────┬────────┬───────┬──────────┐
        │ mu_pos ┆ sigma_pos ┆ mu_neg ┆ alpha ┆ roc_auc  │
        │ ---    ┆ ---       ┆ ---    ┆ ---   ┆ ---      │
        │ f64    ┆ f64       ┆ f64    ┆ f64   ┆ f64      │
        ╞════════╪═══════════╪════════╪═══════╪══════════╡
        │ 0.55   ┆ 0.35      ┆ 0.45   ┆ 0.5   ┆ 0.580054 │
        └────────┴───────────┴────────┴───────┴──────────┘
        """
        table = read_input(
            self._lazy,
            makes=BINORMAL,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            missing=missing,
        )
        return self._result(binormal_table(self._prepared(table), ddof=ddof))

    def compare(
        self,
        scores: Sequence[str] | None = None,
        *,
        model: Column | None = None,
        id: Column | None = None,
        eta: Eta = None,
        metrics: str | CurveMetric | Sequence[str | CurveMetric] = ("average_precision", "roc_auc"),
        confidence: float = 0.95,
        method: Method = "analytic",
        n_resamples: int = 1000,
        seed: int | None = None,
        cluster: Column | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Whether one model is better than another, on the same examples.

        Parameters
        ----------
        scores
            The score columns of a wide table, two or more of one dtype, a model each.
        model, id
            In their place, for a long table: the column that names the model, and what tells the
            examples of a group apart. Each example has one row per model.
        eta
            As in `curve`; None only if all groups share one prevalence.
        metrics
            Curve metrics. `average_precision` and `roc_auc` have an analytic error; for others it is
            null, unless by bootstrap.
        confidence, method, n_resamples, seed, cluster
            As in `summary`. The replicates of a bootstrap hold the same examples for all models.
        missing
            As in all methods; `"drop"` leaves out an example if any of its `scores` is missing.

        Returns
        -------
        One row per `by` group, prevalence, metric and pair of models, in that order:

        - `eta`: Float64
        - `metric`: String
        - `model_a`, `model_b`: String, names of `scores` in the order given; or as in `model`, rising
        - `difference`: Float64, that of a less that of b
        - `standard_error`, `low`, `high`: Float64, of the difference (DeLong et al. 1988 for `roc_auc`)
        - `p_value`: Float64, two-sided, for no difference; null where the error is 0

        Examples
        --------
        >>> a, b = [6, 5, 3, 4, 2, 1], [6, 3, 1, 5, 4, 2]
        >>> df = pl.DataFrame({"label": [1, 1, 1, 0, 0, 0], "a": a, "b": b})
        >>> found = df.prc.compare(["a", "b"], metrics="roc_auc")
        >>> found.select("model_a", "model_b", "difference", "standard_error", "p_value")
        shape: (1, 5)
        ┌─────────┬─────────┬────────────┬────────────────┬──────────┐
        │ model_a ┆ model_b ┆ difference ┆ standard_error ┆ p_value  │
        │ ---     ┆ ---     ┆ ---        ┆ ---            ┆ ---      │
        │ str     ┆ str     ┆ f64        ┆ f64            ┆ f64      │
        ╞═════════╪═════════╪════════════╪════════════════╪══════════╡
        │ a       ┆ b       ┆ 0.444444   ┆ 0.248452       ┆ 0.073638 │
        └─────────┴─────────┴────────────┴────────────────┴──────────┘
        """
        asked = curve_metrics(metrics)
        uncertainty = read_uncertainty(confidence, method, n_resamples, seed, cluster)
        if uncertainty is None:
            raise PrcError("compare needs confidence=, a level such as 0.95")
        frame, example = self._lazy, id
        if scores is not None:
            frame, named = wide.paired_scores(frame, scores, drop=missing == "drop")
            if model is not None or id is not None or not _is_default(score):
                raise PrcError("scores= names the models; leave out model=, id= and score=")
            score = named
            model, example = MODEL, EXAMPLE
        if model is None or example is None:
            raise PrcError("pass scores=, two columns or more; or model= and id= of a long table")
        table = read_input(
            frame,
            makes=COMPARED,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            cluster=cluster,
            model=model,
            example=example,
            missing=missing,
        )
        prepared = cast("ScoreTable", self._prepared(table))
        grid = read_eta(eta, table.others, COMPARED, shared=True, table=table.frame)
        matched = scores is not None
        query = compare_table(Comparison(prepared, grid, asked, uncertainty, matched, self._collected))
        if scores is not None:
            query = query.with_columns(pl.col("model_a", "model_b").cast(pl.String))
        return self._result(query)

    def ranking(
        self,
        eta: Eta = None,
        *,
        model: Column = "model",
        metric: str | CurveMetric | PointMetric = "average_precision",
        threshold: Any = None,
        recall: float | None = None,
        fpr: float | None = None,
        precision: float | None = None,
        predicted_positive_rate: float | None = None,
        confidence: float | None = None,
        id: Column | None = None,
        method: Method = "analytic",
        n_resamples: int = 1000,
        seed: int | None = None,
        cluster: Column | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Models in order, at every prevalence, and how sure the leader's lead is.

        Which model is best depends on prevalence: recall and fpr of each are measured once, and their
        order is found anew at each (Brabec et al. 2020, section 4).

        Parameters
        ----------
        eta
            As in `curve`; None only if all groups share one prevalence.
        model
            The column that names the model, of any sortable dtype.
        metric
            A curve metric. Or a point metric, and a target at which to take it; without a target it
            stands for its best value over all thresholds, `metrics.best(...)`.
        threshold, recall, fpr, precision, predicted_positive_rate
            One target, as in `operating_points`, for a point metric.
        confidence
            A level, such as 0.95, for how far each model is behind the leader.
        id
            What tells the examples of a group apart, if models scored the same ones. Errors are then
            those of paired differences, as in `compare`. Without it each model counts as measured on
            examples of its own, which for models of one test set is mostly too wide.
        method, n_resamples, seed, cluster
            As in `summary`, for `confidence`.

        Returns
        -------
        One row per `by` group, prevalence and model, best first; equals by `model`, nulls last:

        - `eta`: Float64
        - `model`: as in the table
        - `value`: Float64, null where the metric is undefined
        - `rank`: Int64, from 1; equal values share the best rank that they cover, null for null
        - with `confidence`, `behind`: Float64, by how much the leader, the first row, is better
        - with `confidence`, `low`, `high`: Float64, the interval of that, null for the leader
        - with `confidence`, `resolved`: Boolean, whether `low` is above 0; for the leader, whether it
          is for all others. Null where no error is known
        - with `confidence`, `reliable`: Boolean, whether the intervals of both are, as in `summary`; for
          the leader, whether those of all are

        Examples
        --------
        >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
        >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
        >>> df.prc.ranking(eta=[0.01, 0.9])
        shape: (4, 4)
        ┌──────┬───────┬──────────┬──────┐
        │ eta  ┆ model ┆ value    ┆ rank │
        │ ---  ┆ ---   ┆ ---      ┆ ---  │
        │ f64  ┆ str   ┆ f64      ┆ i64  │
        ╞══════╪═══════╪══════════╪══════╡
        │ 0.01 ┆ a     ┆ 0.67     ┆ 1    │
        │ 0.01 ┆ b     ┆ 0.349738 ┆ 2    │
        │ 0.9  ┆ b     ┆ 0.970551 ┆ 1    │
        │ 0.9  ┆ a     ┆ 0.966667 ┆ 2    │
        └──────┴───────┴──────────┴──────┘
        """
        uncertainty = read_uncertainty(confidence, method, n_resamples, seed, cluster)
        makes = added_by_ranking(lead=uncertainty is not None)
        if id is not None and (uncertainty is None or counts is not None or rates is not None):
            raise PrcError("id= pairs the examples of models; pass confidence=, and labels")
        table = read_input(
            self._lazy,
            makes=makes,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            cluster=cluster,
            model=model,
            example=id,
            missing=missing,
        )
        targets = {"threshold": threshold, "recall": recall, "fpr": fpr, "precision": precision}
        targets |= {"predicted_positive_rate": predicted_positive_rate}
        has_own = isinstance(table, ScoreTable)
        grid = read_eta(eta, table.others, makes, has_own=has_own, shared=True, table=table.frame)
        judge = read_judge(metric, table, **targets)
        if uncertainty is not None:
            table = table.of_examples()
        return self._result(
            ranking_table(self._prepared(table), grid, judge, uncertainty, collect=self._collected)
        )

    def crossings(
        self,
        *,
        model: Column = "model",
        metric: str | CurveMetric | PointMetric = "average_precision",
        eta_range: tuple[float, float] = (1e-6, 0.5),
        threshold: Any = None,
        recall: float | None = None,
        fpr: float | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """Every prevalence at which two models trade places; a LazyFrame is collected at the call.

        Differences of all pairs of models are scanned at 401 prevalences or more, evenly spaced in
        logit and at most 0.05 apart; near misses are looked at again on finer grids; and each change of
        sign is solved to 1e-11 in logit. Models that are equal, or touch and part again, do not trade
        places. Two changes within one step of the scan may stay unseen if the difference does not come
        near zero on it: metrics that jump or bend with prevalence may do that, areas do not.

        Parameters
        ----------
        model
            The column that names the model, of any sortable dtype.
        metric
            A curve metric that depends on prevalence. Or a point metric, and a target at which to take
            it; without a target it stands for its best value, `metrics.best(...)`.
        eta_range
            Between which prevalences to look, both above 0 and below 1: at 1 all models meet.
        threshold, recall, fpr
            One target, as in `operating_points`, for a point metric: the points stay where they are at
            all prevalences, and trade places where an equation says (see `crossing`). A metric of your
            own is scanned.

        Returns
        -------
        One row per `by` group and trade, by group, `eta`, models:

        - `model_a`, `model_b`: as in the table; a is better just below `eta`, b just above
        - `eta`: Float64, the upper end where they are equal over a stretch
        - `value`: Float64, what both score there

        Examples
        --------
        >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
        >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
        >>> df.prc.crossings(eta_range=(0.001, 0.9))
        shape: (1, 4)
        ┌─────────┬─────────┬──────────┬──────────┐
        │ model_a ┆ model_b ┆ eta      ┆ value    │
        │ ---     ┆ ---     ┆ ---      ┆ ---      │
        │ str     ┆ str     ┆ f64      ┆ f64      │
        ╞═════════╪═════════╪══════════╪══════════╡
        │ a       ┆ b       ┆ 0.707107 ┆ 0.902369 │
        └─────────┴─────────┴──────────┴──────────┘
        """
        table = read_input(
            self._lazy,
            makes=CROSSINGS,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            model=model,
            missing=missing,
        )
        judge = read_judge(metric, table, threshold=threshold, recall=recall, fpr=fpr)
        return crossings_of(contest(self._prepared(table), judge, eta_range, run=_run))

    def leaders(
        self,
        *,
        model: Column = "model",
        metric: str | CurveMetric | PointMetric = "average_precision",
        eta_range: tuple[float, float] = (1e-6, 0.5),
        threshold: Any = None,
        recall: float | None = None,
        fpr: float | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """Which model is best from where to where; a LazyFrame is collected at the call.

        Parameters
        ----------
        model, metric, eta_range, threshold, recall, fpr
            As in `crossings`, which also says how changes are found.

        Returns
        -------
        One row per `by` group and stretch of prevalence, rising; none where no model has a value:

        - `eta_low`, `eta_high`: Float64, the ends
        - `model`: as in the table, the best in between; of models that are equal the first

        Examples
        --------
        >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
        >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
        >>> df.prc.leaders(eta_range=(0.001, 0.9))
        shape: (2, 3)
        ┌──────────┬──────────┬───────┐
        │ eta_low  ┆ eta_high ┆ model │
        │ ---      ┆ ---      ┆ ---   │
        │ f64      ┆ f64      ┆ str   │
        ╞══════════╪══════════╪═══════╡
        │ 0.001    ┆ 0.707107 ┆ a     │
        │ 0.707107 ┆ 0.9      ┆ b     │
        └──────────┴──────────┴───────┘
        """
        table = read_input(
            self._lazy,
            makes=LEADERS,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            model=model,
            missing=missing,
        )
        judge = read_judge(metric, table, threshold=threshold, recall=recall, fpr=fpr)
        return leaders_of(contest(self._prepared(table), judge, eta_range, run=_run))

    def dominance(
        self,
        *,
        model: Column = "model",
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """Whose ROC curve is nowhere below another's; a LazyFrame is collected at the call.

        A model dominates another if its ROC curve, points joined by lines, is nowhere below the other's
        and not the same. Then at every prevalence it is at least as good in `pr_auc`, `roc_auc`, their
        kin on the hull, and `precision_at_recall` of any recall. Where no positive ties with a negative
        and both have the same positives it is in `average_precision`, too.

        Returns
        -------
        One row per `by` group and model, in order:

        - `model`: as in the table
        - `dominates`, `dominated_by`: List of models, empty where there are none
        - `on_hull`: Boolean, whether a point of the model, other than (0, 0) and (1, 1), is a corner of
          the convex hull of all curves of the group; null where the model lacks a class. Any threshold
          of best accuracy, cost or net benefit, at any prevalence, is such a point (Provost and Fawcett
          2001) or raises no alert or all. A model of best `average_precision` need not have one.

        Examples
        --------
        >>> df = pl.DataFrame({"model": ["a"] * 4 + ["b"] * 4, "label": [1, 1, 0, 0] * 2})
        >>> df = df.with_columns(score=pl.Series([4, 3, 2, 1, 4, 2, 3, 1]))
        >>> df.prc.dominance()
        shape: (2, 4)
        ┌───────┬───────────┬──────────────┬─────────┐
        │ model ┆ dominates ┆ dominated_by ┆ on_hull │
        │ ---   ┆ ---       ┆ ---          ┆ ---     │
        │ str   ┆ list[str] ┆ list[str]    ┆ bool    │
        ╞═══════╪═══════════╪══════════════╪═════════╡
        │ a     ┆ ["b"]     ┆ []           ┆ true    │
        │ b     ┆ []        ┆ ["a"]        ┆ false   │
        └───────┴───────────┴──────────────┴─────────┘
        """
        table = read_input(
            self._lazy,
            makes=DOMINANCE,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            model=model,
            missing=missing,
        )
        return dominance_table(self._prepared(table), run=_run)

    def roc_crossings(
        self,
        *,
        model: Column = "model",
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """Every point at which the ROC curves of two models cross; a LazyFrame is collected at the call.

        The model above on the left finds the first positives at fewer false positives, which is what
        counts at low prevalence (Richardson et al. 2024); no crossing means that one dominates, or that
        both are the same (see `dominance`).

        Returns
        -------
        One row per `by` group and crossing of two curves, by group, `fpr`, `recall`, models:

        - `model_a`, `model_b`: as in the table; a is above before the point, b beyond it
        - `fpr`, `recall`: Float64, of the point, on curves joined by lines; where the curves are one for
          a stretch, of its end

        Examples
        --------
        >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
        >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
        >>> df.prc.roc_crossings()
        shape: (1, 4)
        ┌─────────┬─────────┬──────────┬──────────┐
        │ model_a ┆ model_b ┆ fpr      ┆ recall   │
        │ ---     ┆ ---     ┆ ---      ┆ ---      │
        │ str     ┆ str     ┆ f64      ┆ f64      │
        ╞═════════╪═════════╪══════════╪══════════╡
        │ a       ┆ b       ┆ 0.333333 ┆ 0.666667 │
        └─────────┴─────────┴──────────┴──────────┘
        """
        table = read_input(
            self._lazy,
            makes=ROC_CROSSINGS,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            model=model,
            missing=missing,
        )
        return roc_crossings_table(self._prepared(table), run=_run)

    def sample_size(
        self,
        delta: float = 0.1,
        *,
        threshold: Any = None,
        recall: Several = None,
        fpr: Several = None,
        confidence: float = 0.95,
        method: SizeMethod = "wilson",
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> F:
        """How large a test set must be to know precision at a threshold, beside what this one has.

        With so many positives and negatives the band of precision between the intervals of recall and
        fpr is nowhere, at no prevalence, wider than `delta` (Brabec et al. 2020, section 5), if both
        rates stay as they are here.

        Parameters
        ----------
        delta
            The width of the whole band, upper less lower precision.
        threshold, recall, fpr
            Targets, one or several, as in `operating_points`.
        confidence, method
            The interval of either rate, as for the function `sample_size`; `"clopper_pearson"` and
            `"jeffreys"` are for a DataFrame only.

        Returns
        -------
        One row per `by` group and target:

        - `criterion`, `target`, `threshold`, `recall`, `fpr`: as in `operating_points`
        - `n_pos`, `n_neg`: Int64, or Float64 with weights; what the table has
        - `n_pos_needed`, `n_neg_needed`: Float64, rounded up; null where the rate is 0 or null

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> needed = df.prc.sample_size(recall=0.5, fpr=0.5)
        >>> needed.select("criterion", "recall", "fpr", "n_pos", "n_pos_needed", "n_neg_needed")
        shape: (2, 6)
        ┌───────────┬────────┬─────┬───────┬──────────────┬──────────────┐
        │ criterion ┆ recall ┆ fpr ┆ n_pos ┆ n_pos_needed ┆ n_neg_needed │
        │ ---       ┆ ---    ┆ --- ┆ ---   ┆ ---          ┆ ---          │
        │ str       ┆ f64    ┆ f64 ┆ i64   ┆ f64          ┆ f64          │
        ╞═══════════╪════════╪═════╪═══════╪══════════════╪══════════════╡
        │ recall    ┆ 0.5    ┆ 0.0 ┆ 2     ┆ 381.0        ┆ null         │
        │ fpr       ┆ 1.0    ┆ 0.5 ┆ 2     ┆ 18.0         ┆ 381.0        │
        └───────────┴────────┴─────┴───────┴──────────────┴──────────────┘
        """
        table = read_input(
            self._lazy,
            makes=SIZES,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            missing=missing,
        )
        targets = read_targets(table, threshold=threshold, recall=recall, fpr=fpr)
        query = sizes_table(
            self._prepared(table), targets, delta, confidence, method, collect=self._collected
        )
        return self._result(query)

    def resolution(
        self,
        delta: float = 0.1,
        *,
        threshold: Any = None,
        recall: Several = None,
        fpr: Several = None,
        confidence: float = 0.95,
        method: RateMethod = "wilson",
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> F:
        """The smallest prevalence at which this test set knows precision to `delta`.

        Parameters
        ----------
        delta
            The width of the band of precision between the intervals of recall and fpr, upper less lower.
        threshold, recall, fpr
            Targets, one or several, as in `operating_points`.
        confidence, method
            The interval of either rate; see `rate_interval`. `"clopper_pearson"` and `"jeffreys"` are
            for a DataFrame only.

        Returns
        -------
        One row per `by` group and target:

        - `criterion`, `target`, `threshold`, `recall`, `fpr`: as in `operating_points`
        - `n_pos`, `n_neg`: Int64, or Float64 with weights; what the table has
        - `eta`: Float64; at this prevalence and all above the band is at most so wide. 0 if it is
          everywhere, null if the interval of recall reaches down to 0.

        Examples
        --------
        >>> counts = pl.DataFrame({"score": [1, 0], "n_pos": [90, 10], "n_neg": [5, 995]})
        >>> known = counts.prc.resolution(0.1, threshold=1, counts=("n_pos", "n_neg"))
        >>> round(known["eta"].item(), 4)
        0.0924
        """
        table = read_input(
            self._lazy,
            makes=RESOLUTION,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            missing=missing,
        )
        targets = read_targets(table, threshold=threshold, recall=recall, fpr=fpr)
        bands = Bands(one_confidence(confidence), method, "mover")
        examples = self._prepared(table.of_examples())
        query = resolution_table(examples, targets, delta, bands, collect=self._collected)
        return self._result(query)

    def subsample_negatives(
        self,
        eta: Eta = None,
        *,
        n_repeats: int = 30,
        seed: int | None = None,
        thresholds: Thresholds = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        counts: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """What precision a test set finds with fewer negatives; a LazyFrame is collected at the call.

        Test sets are often balanced by leaving negatives out. Here that is done `n_repeats` times, at
        random, and the precision found is put beside the one of all negatives, adjusted to the same
        prevalence (Brabec et al. 2020, section 5.1). At one threshold `subsampled_precision` tells
        exactly what to expect.

        Parameters
        ----------
        eta
            As in `curve`, each at least the group's own prevalence: negatives can be left out only.
        n_repeats, seed
            How many samples are drawn, and what makes them the same again.
        thresholds
            As in `sweep`; without it there is a row wherever recall rises, which may be many.

        Returns
        -------
        One row per `by` group, prevalence and threshold, falling:

        - `eta`: Float64, that of the samples: with a whole number of negatives
        - `n_kept`: Int64, the negatives in a sample
        - the columns of `sweep`
        - `precision`: Float64, of all negatives, adjusted to `eta`
        - `mean`, `standard_deviation`, `low`, `q1`, `median`, `q3`, `high`: Float64, of precision in the
          samples, the latter from least to greatest; null where it is undefined

        Examples
        --------
        >>> counts = pl.DataFrame({"score": [2, 1, 0], "n_pos": [6, 3, 1], "n_neg": [5, 50, 945]})
        >>> found = counts.prc.subsample_negatives(0.1, seed=1, counts=("n_pos", "n_neg"))
        >>> found.select("n_kept", "threshold", "precision", "low", "median", "high")
        shape: (3, 6)
        ┌────────┬───────────┬───────────┬──────────┬──────────┬──────┐
        │ n_kept ┆ threshold ┆ precision ┆ low      ┆ median   ┆ high │
        │ ---    ┆ ---       ┆ ---       ┆ ---      ┆ ---      ┆ ---  │
        │ i64    ┆ i64       ┆ f64       ┆ f64      ┆ f64      ┆ f64  │
        ╞════════╪═══════════╪═══════════╪══════════╪══════════╪══════╡
        │ 90     ┆ 2         ┆ 0.930233  ┆ 0.75     ┆ 1.0      ┆ 1.0  │
        │ 90     ┆ 1         ┆ 0.645161  ┆ 0.473684 ┆ 0.642857 ┆ 0.9  │
        │ 90     ┆ 0         ┆ 0.1       ┆ 0.1      ┆ 0.1      ┆ 0.1  │
        └────────┴───────────┴───────────┴──────────┴──────────┴──────┘
        """
        table = read_input(
            self._lazy,
            makes=SUBSAMPLES,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            counts=counts,
            missing=missing,
        )
        query = subsample_table(
            self._prepared(table),
            read_eta(eta, table.by, SUBSAMPLES, table=table.frame),
            n_repeats=n_repeats,
            seed=seed,
            thresholds=thresholds,
            collect=_run,
        )
        return _run(query)

    def report(
        self,
        path: str | os.PathLike[str],
        eta: float | Sequence[float] | None = None,
        by: Columns = None,
        *,
        model: str | None = None,
        id: Column | None = None,
        recall: Several = None,
        per: float | None = None,
        confidence: float | None = 0.95,
        title: str | None = None,
        notes: str | None = None,
        parts: Iterable[Part] | None = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> Path:
        """Write one HTML file on what to expect in the field; a LazyFrame is collected at the call.

        It needs no network and no other file, and can be read on a phone, on paper, by a screen reader
        and without scripts: findings in words, tables, charts, and how all was computed. Equal tables,
        in any order of rows, make equal bytes.

        Parameters
        ----------
        path
            The file. One that is there is replaced once the new one is whole.
        eta
            The prevalences to report on, one or several. None is the table's own, if groups share it.
        by, model
            Group columns, and the column that names models to choose from, if there is one.
        id
            What tells the examples of a group apart, if models scored the same ones: leads are then
            compared in pairs, as in `ranking`.
        recall
            One recall or several: adds the threshold that reaches each, and its precision.
        per
            A number of events, e.g. 2_000_000 a day: adds the alerts among them.
        confidence
            The level of all intervals, or None for none. `rates` have none.
        title, notes
            What stands on top, and a text of yours.
        parts
            In place of all that: texts, DataFrames and Altair charts of yours, in order, or any of them
            with a caption as `page.Table` and `page.Figure`. In a text an empty line parts paragraphs,
            a line `## ...` is a heading, and lines `- ...` are a list.

        Returns
        -------
        The path.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = df.prc.report(f"{folder}/report.html", parts=["## By hand", df.prc.counts()])
        ...     "<h2>By hand</h2>" in path.read_text(encoding="utf-8")
        True
        """
        from polars_prcurve.drafts import in_a_folder
        from polars_prcurve.page import page, vl_convert, write
        from polars_prcurve.report import Asked, report_parts

        in_a_folder(path)  # before any work
        own = {
            "eta": eta,
            "by": by,
            "model": model,
            "id": id,
            "recall": recall,
            "per": per,
            "notes": notes,
        }
        if parts is not None:
            for name, value in own.items():
                if value is not None:
                    raise PrcError(f"parts= stand in place of the report's own; leave out {name}=")
        else:
            given = {"score": score, "label": label, "pos_label": pos_label, "weight": weight}
            given |= {"counts": counts, "rates": rates, "missing": missing}
            given = {name: value for name, value in given.items() if value is not None}
            if per is not None and recall is None:
                raise PrcError("per= counts the alerts at a recall; pass recall=, too")
            vl_convert()  # its charts need it: say so before any work
            asked_for = [] if recall is None else read_targets(None, recall=recall)
            targets = [target.value for target in asked_for]
            source = self._source(listed(by), model, id, given)
            asked = Asked(source.prevalences(eta), targets, per, None if rates else confidence)
            parts = report_parts(source, asked, notes)
        return write(path, page("What to expect in the field" if title is None else title, parts))

    def _source(
        self, by: list[Column], model: str | None, id: Column | None, given: dict[str, Any]
    ) -> Source:
        """The table for a report: its counts, unless there are none, or they are of weights."""
        from polars_prcurve.report import Source

        if model in [name for name in by if isinstance(name, str)]:
            raise PrcError(f"by= and model= both hold the column {model!r}; leave it out of by=")
        if id is not None and (model is None or "rates" in given or "counts" in given):
            raise PrcError("id= pairs the examples of models; pass model=, and labels")
        every, lazy = [*by, *listed(model)], LazyFramePrc(self._lazy)
        if "rates" in given:
            swept = _run(lazy.sweep(by=every, **given))
            points = swept.select(*swept.columns[: -len(SWEEP)], tpr="recall", fpr="fpr")
            held = {"rates": ("tpr", "fpr")}
            return Source(DataFramePrc(points), held, points.columns[:-2], model, points)
        added = _run(lazy.counts(by=every, **given))
        names, held = added.columns[: -len(COUNTS)], {"counts": COUNTS[1:]}
        if "weight" not in given and id is None:
            return Source(DataFramePrc(added), held, names, model, added)
        rows = DataFramePrc(_run(self._lazy.with_columns(e for e in by if isinstance(e, pl.Expr))))
        paired = None if id is None else (rows, {**given, "id": id})
        if "weight" in given:
            return Source(rows, given, names, model, added, paired)
        return Source(DataFramePrc(added), held, names, model, added, paired)

    def estimate_prevalence(
        self,
        eta_train: float,
        *,
        by: Columns = None,
        score: Column = "score",
        missing: Missing = "raise",
        tolerance: float = 1e-12,
        max_iterations: int = 10_000,
    ) -> pl.DataFrame:
        """Find the prevalence of rows without labels; a LazyFrame is collected at the call.

        From posteriors that are calibrated at prevalence `eta_train`, if the field differs from
        training in the share of positives alone. The prevalence of greatest likelihood, by EM: the
        mean posterior, moved to that mean, again and again (Saerens et al. 2002).

        Parameters
        ----------
        eta_train
            The prevalence that the posteriors were trained for, between 0 and 1.
        score
            The column of posteriors, all in [0, 1].
        tolerance, max_iterations
            A group is done as soon as its estimate changes by less than `tolerance`.

        Returns
        -------
        One row per `by` group (null first), which the argument `eta` of other methods takes:

        - `eta`: Float64, the estimate
        - `n`: Int64, rows of the group
        - `iterations`: Int64, how often the mean was taken
        - `converged`: Boolean, whether `tolerance` was reached; towards 0 and 1 it is slow

        Examples
        --------
        >>> field = pl.DataFrame({"p": [0.9, 0.8, 0.75, 0.6, 0.4, 0.35, 0.3, 0.2, 0.1, 0.05]})
        >>> field.prc.estimate_prevalence(eta_train=0.5, score="p")
        shape: (1, 4)
        ┌──────────┬─────┬────────────┬───────────┐
        │ eta      ┆ n   ┆ iterations ┆ converged │
        │ ---      ┆ --- ┆ ---        ┆ ---       │
        │ f64      ┆ i64 ┆ i64        ┆ bool      │
        ╞══════════╪═════╪════════════╪═══════════╡
        │ 0.335914 ┆ 10  ┆ 67         ┆ true      │
        └──────────┴─────┴────────────┴───────────┘
        """
        table = read_posteriors(self._lazy, makes=ESTIMATES, by=by, score=score, missing=missing)
        query = estimates_table(
            table, eta_train, tolerance=tolerance, max_iterations=max_iterations, collect=_run
        )
        return _run(query)

    def unpivot_scores(
        self,
        scores: Sequence[str],
        *,
        name: str = "model",
        score: str = "score",
        row: str | None = None,
    ) -> F:
        """Turn a wide table, one score column per model, into a score table.

        Parameters
        ----------
        scores
            The score columns, all of one dtype.
        name, score
            What to call the column that names the model, and the column of scores.
        row
            A name for a row number of the wide table, if one is wanted.

        Returns
        -------
        One row per row of the table and score column, in that order:

        - with `row`, that column: Int64
        - the other columns of the table
        - a column `name`: String
        - a column `score`: as in the table

        Examples
        --------
        >>> df = pl.DataFrame({"label": [1, 0], "a": [0.9, 0.3], "b": [0.6, 0.5]})
        >>> df.prc.unpivot_scores(["a", "b"], name="model")
        shape: (4, 3)
        ┌───────┬───────┬───────┐
        │ label ┆ model ┆ score │
        │ ---   ┆ ---   ┆ ---   │
        │ i64   ┆ str   ┆ f64   │
        ╞═══════╪═══════╪═══════╡
        │ 1     ┆ a     ┆ 0.9   │
        │ 1     ┆ b     ┆ 0.6   │
        │ 0     ┆ a     ┆ 0.3   │
        │ 0     ┆ b     ┆ 0.5   │
        └───────┴───────┴───────┘
        """
        return self._result(wide.unpivot_scores(self._lazy, scores, name=name, score=score, row=row))

    def one_vs_rest(
        self,
        *,
        label: str,
        scores: Mapping[Any, str],
        name: str = "class",
        score: str = "score",
        row: str | None = None,
    ) -> F:
        """Turn a multiclass table, one score column per class, into a score table.

        Parameters
        ----------
        label
            The column that holds the true class.
        scores
            From each class to its score column; the columns are all of one dtype. A class that
            no row has raises when the query runs, if the table has labels at all.
        name, score
            What to call the column that names the class, and the column of scores.
        row
            A name for a row number of the wide table, if one is wanted.

        Returns
        -------
        One row per row of the table and class, in that order:

        - with `row`, that column: Int64
        - the other columns of the table
        - a column `name`: as in the table, the label
        - a column `score`: as in the table
        - `label`: Boolean, whether the row is of that class; null where its class is null

        Examples
        --------
        >>> df = pl.DataFrame({"species": ["cat", "dog"], "p_cat": [0.7, 0.4], "p_dog": [0.3, 0.6]})
        >>> df.prc.one_vs_rest(label="species", scores={"cat": "p_cat", "dog": "p_dog"})
        shape: (4, 4)
        ┌─────────┬───────┬───────┬───────┐
        │ species ┆ class ┆ score ┆ label │
        │ ---     ┆ ---   ┆ ---   ┆ ---   │
        │ str     ┆ str   ┆ f64   ┆ bool  │
        ╞═════════╪═══════╪═══════╪═══════╡
        │ cat     ┆ cat   ┆ 0.7   ┆ true  │
        │ cat     ┆ dog   ┆ 0.3   ┆ false │
        │ dog     ┆ cat   ┆ 0.4   ┆ false │
        │ dog     ┆ dog   ┆ 0.6   ┆ true  │
        └─────────┴───────┴───────┴───────┘
        """
        return self._result(
            wide.one_vs_rest(self._lazy, label=label, scores=scores, name=name, score=score, row=row)
        )

    @property
    def plot(self) -> PlotPrc:
        """Charts of the score table; each method collects the reduced curve."""
        return PlotPrc(LazyFramePrc(self._lazy))


class DataFramePrc(FramePrc[pl.DataFrame]):
    __doc__ = FramePrc.__doc__

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame.lazy())
        self._frame = frame

    def _prepared(self, table: Input) -> Input:
        if wide := wide_keys(table.by):
            table = replace(table, number=group_number(table.by, self._spans(table, wide)))
        return super()._prepared(table)

    def _spans(self, table: Input, wide: list[str]) -> dict[str, Span]:
        """The least and greatest values of keys whose dtypes do not tell."""
        keys = table.frame.select(table.by_exprs).select(pl.col(wide).to_physical())
        with raised_eagerly():
            ends = keys.select(pl.struct(pl.all().min()), pl.struct(pl.all().max()).alias("")).collect()
        low, high = (ends.to_series(place).item() for place in (0, 1))
        return {name: (low[name], high[name]) for name in wide if low[name] is not None}

    def _repeats(self, table: ScoreTable) -> bool:
        """Whether a score occurs ten times on average, by the repeats in a small sample."""
        rows, size = self._frame.height, 8_192
        if table.coarse or rows < 200_000:
            return table.coarse
        sample = self._frame.sample(size, with_replacement=True, seed=0)
        distinct = sample.select(*table.by_exprs, table.columns[SCORE].alias(SCORE)).n_unique()
        return (size - distinct) * rows > 5 * size**2  # as many pairs of equals as to be expected

    def _collected(self, query: pl.LazyFrame, why: str) -> pl.DataFrame:
        return _run(query)

    def _result(self, query: pl.LazyFrame) -> pl.DataFrame:
        return _run(query)


def _is_default(score: Column) -> bool:
    return isinstance(score, str) and score == "score"


def _run(query: pl.LazyFrame, why: str = "") -> pl.DataFrame:
    with raised_eagerly():
        return query.collect()


class LazyFramePrc(FramePrc[pl.LazyFrame]):
    __doc__ = FramePrc.__doc__

    def _collected(self, query: pl.LazyFrame, why: str) -> pl.DataFrame:
        raise PrcError(
            f"{why}: there is no lazy query for it; collect the table first, or the counts() of it, and "
            "ask that"
        )

    def _result(self, query: pl.LazyFrame) -> pl.LazyFrame:
        return query


class ExprPrc(Listed):
    """The sweep as expressions on a score column.

    `label` and `weight` are names or expressions, `pos_label` is the positive value of a label
    that is not Boolean or numeric. Weights are taken as Float64. All work in `select`,
    `with_columns`, `over` and `group_by().agg`, and are named like the score column. Several
    scores may be named at once, `pl.col("a", "b")`, except for the structs of `counts`, `sweep`
    and `curve`, of which each score has its own number. A null, a NaN or a label that is not
    binary stops the query; filter first to drop. Where `pos_label` is given, each group must
    hold it: for groups that may lack positives pass a Boolean label.
    """

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def _of(
        self,
        label: Column,
        weight: Column | None,
        pos_label: Any,
        value: Callable[[Evidence], pl.Expr],
        eta: object = None,
    ) -> pl.Expr:
        """A value of the score, or of each score if the expression names several."""
        return for_each(
            self._expr,
            lambda score: value(
                read_evidence(score, label, weight=weight, pos_label=pos_label, eta=eta)
            ),
        )

    def tp(self, label: Column, *, weight: Column | None = None, pos_label: Any = None) -> pl.Expr:
        """True positives at the row's own score: positives that score at least as much.

        Int64, or Float64 with weights.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.2, 0.9, 0.1], "label": [1, 1, 0, 0]})
        >>> df.with_columns(tp=pl.col("score").prc.tp("label"))
        shape: (4, 3)
        ┌───────┬───────┬─────┐
        │ score ┆ label ┆ tp  │
        │ ---   ┆ ---   ┆ --- │
        │ f64   ┆ i64   ┆ i64 │
        ╞═══════╪═══════╪═════╡
        │ 0.9   ┆ 1     ┆ 1   │
        │ 0.2   ┆ 1     ┆ 2   │
        │ 0.9   ┆ 0     ┆ 1   │
        │ 0.1   ┆ 0     ┆ 2   │
        └───────┴───────┴─────┘
        """
        return self._of(label, weight, pos_label, lambda score: score.above(positive=True))

    def fp(self, label: Column, *, weight: Column | None = None, pos_label: Any = None) -> pl.Expr:
        """False positives at the row's own score: negatives that score at least as much.

        Int64, or Float64 with weights; otherwise as `tp`.
        """
        return self._of(label, weight, pos_label, lambda score: score.above(positive=False))

    def fn(self, label: Column, *, weight: Column | None = None, pos_label: Any = None) -> pl.Expr:
        """False negatives at the row's own score: positives that score less.

        Int64, or Float64 with weights; otherwise as `tp`.
        """
        return self._of(label, weight, pos_label, lambda score: score.below(positive=True))

    def tn(self, label: Column, *, weight: Column | None = None, pos_label: Any = None) -> pl.Expr:
        """True negatives at the row's own score: negatives that score less.

        Int64, or Float64 with weights; otherwise as `tp`.
        """
        return self._of(label, weight, pos_label, lambda score: score.below(positive=False))

    def recall(self, label: Column, *, weight: Column | None = None, pos_label: Any = None) -> pl.Expr:
        """Recall at the row's own score, `tp / (tp + fn)`: Float64, null without positives."""
        return self._of(label, weight, pos_label, lambda score: score.rate(positive=True))

    def fpr(self, label: Column, *, weight: Column | None = None, pos_label: Any = None) -> pl.Expr:
        """Fpr at the row's own score, `fp / (fp + tn)`: Float64, null without negatives."""
        return self._of(label, weight, pos_label, lambda score: score.rate(positive=False))

    def precision(
        self,
        label: Column,
        eta: float | pl.Expr | None = None,
        *,
        weight: Column | None = None,
        pos_label: Any = None,
    ) -> pl.Expr:
        """Precision at the row's own score and prevalence `eta`; see `metric`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.2, 0.8, 0.1], "label": [1, 1, 0, 0]})
        >>> df.select(pl.col("score").prc.precision("label", eta=0.01)).to_series().round(4).to_list()
        [1.0, 0.0198, 0.01, 0.01]
        """
        return self.metric("precision", label, eta, weight=weight, pos_label=pos_label)

    def metric(
        self,
        metric: str | PointMetric,
        label: Column,
        eta: float | pl.Expr | None = None,
        *,
        weight: Column | None = None,
        pos_label: Any = None,
    ) -> pl.Expr:
        """Any point metric at the row's own score: Float64, null where undefined.

        `eta` is a number, None for the prevalence of the rows at hand, or an expression with
        one value per group, such as `pl.col("eta").first()`.
        """
        [asked] = point_metrics(metric)
        at = read_one_prevalence(eta)
        return self._of(label, weight, pos_label, lambda score: score.metric(asked, at), eta)

    def counts(self, label: Column, *, weight: Column | None = None, pos_label: Any = None) -> pl.Expr:
        """Structs of `score, n_pos, n_neg`, one per distinct score, by falling score.

        As the frame method `counts`, row for row.
        """
        return read_evidence(self._expr, label, weight=weight, pos_label=pos_label).added()

    def sweep(self, label: Column, *, weight: Column | None = None, pos_label: Any = None) -> pl.Expr:
        """Structs of `threshold, tp, fp, fn, tn, recall, fpr`, one per distinct score.

        As the frame method `sweep`, row for row; by falling threshold.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.9, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.select(pl.col("score").prc.sweep("label")).unnest("score")
        shape: (3, 7)
        ┌───────────┬─────┬─────┬─────┬─────┬────────┬─────┐
        │ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  ┆ recall ┆ fpr │
        │ ---       ┆ --- ┆ --- ┆ --- ┆ --- ┆ ---    ┆ --- │
        │ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64    ┆ f64 │
        ╞═══════════╪═════╪═════╪═════╪═════╪════════╪═════╡
        │ 0.9       ┆ 1   ┆ 1   ┆ 1   ┆ 1   ┆ 0.5    ┆ 0.5 │
        │ 0.2       ┆ 2   ┆ 1   ┆ 0   ┆ 1   ┆ 1.0    ┆ 0.5 │
        │ 0.1       ┆ 2   ┆ 2   ┆ 0   ┆ 0   ┆ 1.0    ┆ 1.0 │
        └───────────┴─────┴─────┴─────┴─────┴────────┴─────┘
        """
        return read_evidence(self._expr, label, weight=weight, pos_label=pos_label).swept()

    def curve(
        self,
        label: Column,
        eta: float | Sequence[float | None] | pl.Expr | None = None,
        *,
        metrics: str | PointMetric | Iterable[str | PointMetric] = ("precision",),
        weight: Column | None = None,
        pos_label: Any = None,
    ) -> pl.Expr:
        """Structs of `eta`, the fields of `sweep` and the metrics, one per prevalence and score.

        As the frame method `curve`, row for row; bands are for frames only. `eta` may be a number,
        several, None for the prevalence of the rows at hand, or an expression with one value per
        group.
        """
        asked = point_metrics(metrics)
        evidence = read_evidence(self._expr, label, weight=weight, pos_label=pos_label, eta=eta)
        return evidence.curved(asked, read_prevalence(eta))

    def summary(
        self,
        metric: str | CurveMetric,
        label: Column,
        eta: float | pl.Expr | None = None,
        *,
        weight: Column | None = None,
        pos_label: Any = None,
    ) -> pl.Expr:
        """A curve metric: one Float64, null where undefined; the value of the frame method.

        `eta` is a number, None for the prevalence of the rows at hand, or an expression with
        one value per group, such as `pl.col("eta").first()`.

        Examples
        --------
        >>> from polars_prcurve import metrics
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> best_f1 = pl.col("score").prc.summary(metrics.best("f1"), "label", eta=0.01)
        >>> df.select(best_f1).item()
        0.6666666666666667
        """
        [asked] = curve_metrics(metric)
        at = read_one_prevalence(eta)
        return self._of(label, weight, pos_label, lambda score: score.summarized(asked, at), eta)

    def average_precision(
        self,
        label: Column,
        eta: float | pl.Expr | None = None,
        *,
        weight: Column | None = None,
        pos_label: Any = None,
    ) -> pl.Expr:
        """Average precision at prevalence `eta`, the step sum; see `summary`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.select(pl.col("score").prc.average_precision("label", eta=0.5)).item()
        0.8333333333333333
        """
        return self.summary("average_precision", label, eta, weight=weight, pos_label=pos_label)

    def pr_auc(
        self,
        label: Column,
        eta: float | pl.Expr | None = None,
        *,
        weight: Column | None = None,
        pos_label: Any = None,
    ) -> pl.Expr:
        """The area under the PR curve at prevalence `eta` (Davis and Goadrich); see `summary`."""
        return self.summary("pr_auc", label, eta, weight=weight, pos_label=pos_label)

    def auprg(
        self,
        label: Column,
        eta: float | pl.Expr | None = None,
        *,
        weight: Column | None = None,
        pos_label: Any = None,
    ) -> pl.Expr:
        """The area under the precision-recall-gain curve at prevalence `eta`; see `summary`."""
        return self.summary("auprg", label, eta, weight=weight, pos_label=pos_label)

    def roc_auc(
        self,
        label: Column,
        *,
        max_fpr: float | None = None,
        weight: Column | None = None,
        pos_label: Any = None,
    ) -> pl.Expr:
        """The area under the ROC curve; see `summary`.

        With `max_fpr` the area left of it, standardized as by McClish and scikit-learn; the area
        itself is `metrics.partial_roc_auc`.
        """
        metric = "roc_auc" if max_fpr is None else partial_roc_auc_mcclish(max_fpr)
        return self.summary(metric, label, weight=weight, pos_label=pos_label)

    def threshold(
        self,
        label: Column,
        eta: float | pl.Expr | None = None,
        *,
        recall: float | None = None,
        fpr: float | None = None,
        precision: float | None = None,
        predicted_positive_rate: float | None = None,
        maximize: str | PointMetric | None = None,
        weight: Column | None = None,
        pos_label: Any = None,
    ) -> pl.Expr:
        """The threshold that meets a target at prevalence `eta`: one value, a score of the column.

        Give one target; what each means says the frame method `operating_points`, which finds the
        same threshold. Null where no threshold meets it. `eta` is a number, None for the prevalence of
        the rows at hand, or an expression with one value per group, such as `pl.col("eta").first()`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 1, 0, 1]})
        >>> df.select(pl.col("score").prc.threshold("label", eta=0.01, precision=0.9)).item()
        0.8
        """
        targets = read_targets(
            None,
            recall=recall,
            fpr=fpr,
            precision=precision,
            predicted_positive_rate=predicted_positive_rate,
            maximize=maximize,
        )
        if len(targets) > 1:
            raise PrcError(f"there is one threshold for one target; got {len(targets)} of them")
        at = read_one_prevalence(eta)
        return self._of(label, weight, pos_label, lambda score: score.threshold(targets[0], at), eta)

    def shift_prior(self, eta_train: float | pl.Expr, eta: float | pl.Expr) -> pl.Expr:
        """Posteriors, or thresholds on them, moved to another prevalence: Float64, one per row.

        From `eta_train`, the prevalence that they were trained for, to `eta` (Williams 2021, eq. 3),
        each a number or an expression, between 0 and 1. 0 and 1 stay, and null stays null. A NaN or a
        value outside [0, 1] stops the query, in any row.

        Examples
        --------
        >>> df = pl.DataFrame({"p": [0.2, 0.5, 0.9], "eta": [0.5, 0.1, 0.01]})
        >>> df.with_columns(moved=pl.col("p").prc.shift_prior(0.5, pl.col("eta")))
        shape: (3, 3)
        ┌─────┬──────┬──────────┐
        │ p   ┆ eta  ┆ moved    │
        │ --- ┆ ---  ┆ ---      │
        │ f64 ┆ f64  ┆ f64      │
        ╞═════╪══════╪══════════╡
        │ 0.2 ┆ 0.5  ┆ 0.2      │
        │ 0.5 ┆ 0.1  ┆ 0.1      │
        │ 0.9 ┆ 0.01 ┆ 0.083333 │
        └─────┴──────┴──────────┘
        """
        return shift_prior(self._expr, eta_train, eta)


class ArrowTable(Protocol):
    """Anything that exports an Arrow stream: a pyarrow table, a DuckDB relation, ..."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@overload
def prc(x: pl.DataFrame) -> DataFramePrc: ...
@overload
def prc(x: pl.LazyFrame) -> LazyFramePrc: ...
@overload
def prc(x: pl.Expr) -> ExprPrc: ...
@overload
def prc(x: ArrowTable) -> DataFramePrc: ...


def prc(x: object) -> DataFramePrc | LazyFramePrc | ExprPrc:
    """The namespace `.prc` of a frame or an expression, as a call that type checkers can see.

    Any table that exports an Arrow stream is taken as a DataFrame.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.2], "label": [1, 0]})
    >>> prc(df).sweep().equals(df.prc.sweep()) and df.pipe(prc).sweep().equals(df.prc.sweep())
    True
    """
    if isinstance(x, pl.DataFrame):
        return DataFramePrc(x)
    if isinstance(x, pl.LazyFrame):
        return LazyFramePrc(x)
    if isinstance(x, pl.Expr):
        return ExprPrc(x)
    if hasattr(x, "__arrow_c_stream__"):
        return DataFramePrc(pl.DataFrame(cast("Any", x)))
    raise PrcError(
        "prc() takes a Polars DataFrame, LazyFrame or Expr, or a table that exports an Arrow "
        f"stream; got {type(x).__name__}; tables of other engines go through polars_prcurve.engines"
    )


def estimate_prevalence(
    frame: pl.DataFrame | pl.LazyFrame | ArrowTable,
    score: Column,
    eta_train: float,
    by: Columns = None,
    *,
    missing: Missing = "raise",
    tolerance: float = 1e-12,
    max_iterations: int = 10_000,
) -> pl.DataFrame:
    """Find the prevalence of rows without labels; a LazyFrame is collected at the call.

    The frame method `estimate_prevalence` as a function.

    Examples
    --------
    >>> field = pl.DataFrame({"p": [0.9, 0.8, 0.75, 0.6, 0.4, 0.35, 0.3, 0.2, 0.1, 0.05]})
    >>> round(estimate_prevalence(field, "p", eta_train=0.5)["eta"].item(), 6)
    0.335914
    """
    if isinstance(frame, pl.Expr):
        raise PrcError(f"estimate_prevalence() takes a table; got the expression {frame}")
    return prc(frame).estimate_prevalence(
        eta_train,
        by=by,
        score=score,
        missing=missing,
        tolerance=tolerance,
        max_iterations=max_iterations,
    )


def register() -> None:
    """Make `.prc` an attribute of DataFrame, LazyFrame and Expr.

    A property, since a namespace registered with `polars.api` is kept on the frame: it would
    hold the frame's old rows after an in-place `extend`, or hold the frame in a cycle.
    """
    pl.DataFrame.prc = property(DataFramePrc)  # type: ignore[attr-defined]
    pl.LazyFrame.prc = property(LazyFramePrc)  # type: ignore[attr-defined]
    pl.Expr.prc = property(ExprPrc)  # type: ignore[attr-defined]
