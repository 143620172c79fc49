"""`.prc` on frames: each method reads its arguments, calls one stage and returns a table.

Only these classes know whether a table is eager. A DataFrame goes through the lazy stages, too, and
the query is collected at the end, with its errors raised as `PrcError`. A LazyFrame stays lazy, except
in the methods that say that they collect.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import polars as pl

from polars_prcurve.argument_kinds import read_flag, refuse_arguments
from polars_prcurve.column_names import COUNT_COLUMNS, SQUARE_COLUMNS, SWEEP_COLUMNS, UNLABELLED_COLUMNS
from polars_prcurve.comparison.compare_table import (
    Examples,
    list_compare_columns,
)
from polars_prcurve.comparison.crossings import (
    CROSSING_COLUMNS,
    LEADER_COLUMNS,
    build_crossings_table,
    build_leaders_table,
    collect_model_scores,
)
from polars_prcurve.comparison.differences import DifferenceOptions, build_differences
from polars_prcurve.comparison.ranking import build_ranking_table, list_ranking_columns
from polars_prcurve.comparison.roc_dominance import (
    DOMINANCE_COLUMNS,
    ROC_CROSSING_COLUMNS,
    build_dominance_table,
    build_roc_crossings_table,
)
from polars_prcurve.comparison.verdicts import Adjust, read_adjustment
from polars_prcurve.curves.binormal import BINORMAL_COLUMNS, Smooth, build_binormal_table, read_smooth
from polars_prcurve.curves.curve_table import build_curve_table, list_curve_columns
from polars_prcurve.curves.decision_curves import (
    PROBABILITIES,
    build_decision_table,
    list_decision_columns,
)
from polars_prcurve.curves.field_table import read_eta_or_field, read_field
from polars_prcurve.curves.guarantees import refuse_clusters
from polars_prcurve.curves.joint_targets import promise_and_join
from polars_prcurve.curves.operating_points import (
    RESOLUTION_COLUMNS,
    SAMPLE_SIZE_COLUMNS,
    build_points_table,
    build_resolution_table,
    build_sample_size_table,
    list_points_columns,
)
from polars_prcurve.curves.sampling_plan import build_sampling_plan
from polars_prcurve.curves.targets import (
    TargetValues,
    read_one_target,
    read_ranking_metric,
    read_targets,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs import wide_tables
from polars_prcurve.inputs.column_reader import (
    Column,
    Columns,
    Counts,
    Missing,
    is_dropping,
    list_columns,
)
from polars_prcurve.inputs.point_columns import Cells, Sizes
from polars_prcurve.inputs.score_table import InputTable, ScoreTable
from polars_prcurve.inputs.table_arguments import (
    gives_squares,
    read_input,
    read_part_labelled,
    read_parts,
    read_reference,
    read_unlabelled,
)
from polars_prcurve.intervals.bands import (
    BandKind,
    BandOptions,
    TargetBandKind,
    check_has_no_target,
    read_band_options,
)
from polars_prcurve.intervals.needed_sizes import read_size_options
from polars_prcurve.intervals.rates import RateMethod, check_confidence, check_rate_method
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.metrics.names import (
    default_curve_metric,
    default_curve_metrics,
    find_curve_metrics,
    find_point_metrics,
)
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.namespace.methods_repr import MethodListing
from polars_prcurve.namespace.plot import PlotPrc
from polars_prcurve.prevalence.estimate import (
    EstimateMethod,
    build_estimates_table,
    check_estimate_method,
    list_estimate_columns,
)
from polars_prcurve.prevalence.eta_table import EtaTable, read_eta
from polars_prcurve.prevalence.eta_values import Eta
from polars_prcurve.prevalence.reweight import build_reweighted_table
from polars_prcurve.query_checks import run_query
from polars_prcurve.sweep.row_choice import Thresholds
from polars_prcurve.sweep.sweep_table import build_sweep_table, count_scores
from polars_prcurve.uncertainty.optimism import build_optimism_table
from polars_prcurve.uncertainty.options import ErrorMethod, read_uncertainty, require_uncertainty
from polars_prcurve.uncertainty.subsampling import SUBSAMPLE_COLUMNS, build_subsample_table
from polars_prcurve.uncertainty.summary_table import build_summary_table, list_summary_columns

if TYPE_CHECKING:
    from polars_prcurve.report.page import Part


F = TypeVar("F", pl.DataFrame, pl.LazyFrame)
_MANY_MODELS = 8
"""As many rows of other models are reckoned to stand beside each row, where models are compared."""


def _read_coarse(coarse: bool, **others: object) -> bool:
    """Return whether limits are asked for, which come in place of the `others`."""
    if read_flag("coarse=", coarse):
        refuse_arguments("coarse=True gives limits over orders of equal scores", **others)
    return coarse


class FramePrc(MethodListing, Generic[F], path="prc"):
    """Precision-recall analysis of a score table, at any prevalence.

    All methods share these arguments, which say what the table holds:

    by
        Group columns, as names or expressions, of any sortable dtype. Each group has its own curve.
        A null is a group, too, the first in order.
    score
        Larger means more positive. Scores are floats, integers, Decimals or Booleans, and are
        compared exactly. Infinities are allowed, and -0.0 equals 0.0.
    label
        Booleans, or numbers: 0 and 1, or -1 and 1.
    pos_label
        The positive value, for labels of any other kind. It must occur in the table.
    weight
        A number >= 0 per row. Rows of weight 0 do not count and make no threshold. In intervals it is
        one over the probability with which the row was sampled.
    counts
        Two columns, `("n_pos", "n_neg")`, in place of label and weight, for a table that is already
        aggregated. Rows of equal score add up. Of weights, name also the sums of their squares, as
        `counts(weight=)` gives them: `("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")`.
    rates
        Two columns, `("tpr", "fpr")`, in place of score and label, for published ROC points.
        Thresholds and counts are null in the result.
    sizes
        With `rates`, the numbers of positives and negatives behind them, as two columns or two
        numbers. Then there are intervals, an own prevalence, and counts, which are not rounded. A null
        is a size that is not known: its group has no interval, and nothing is left out, whatever
        `missing` says.
    cells
        Four columns, `("tp", "fp", "fn", "tn")`, in place of label, for a table that is already
        cumulative: one row per threshold, as other tools report it, or the one row of a paper. `score`
        names the threshold, and is null if the table has none.
    within
        In some methods: columns that tell the parts of a field apart, such as countries. The rows of all
        parts stand behind one threshold, and count with the prevalence and the share of their part.
        `eta` is then a frame with one row per part: the `within` columns, `eta` (null: the part's own),
        `share` (relative) and any of the `by` columns, also `eta_low` and `eta_high`. The result is of
        the field, whose `eta` is the sum of share times eta; counts are weighted, as by `reweight`. With
        estimates among the prevalences, `eta_low`, `eta_high` and `eta_confidence` of this sum stand
        after `eta`: the distances of the parts, times their shares, in quadrature (Zou and Donner 2008).
    missing
        What to do about a null or NaN score, or a null label or weight: `"raise"` an error, or
        `"drop"` the row.

    Mistakes in names, dtypes and arguments raise `PrcError` at the call. Mistakes in values raise
    when the query runs: a `PrcError` from a DataFrame, and a
    `polars.exceptions.InvalidOperationError` with the same sentence from a LazyFrame that you collect.
    """

    _may_collect: bool
    """Whether a stage may run a query half way, for what Polars has no expression for."""

    def __init__(self, frame: F) -> None:
        self._frame: F = frame

    def _finish(self, query: pl.LazyFrame, grid: EtaTable | None = None, *, pairs: bool = False) -> F:
        """Return the query as the kind of frame that the user passed.

        The query repeats rows at the prevalences of `grid`, and beside other models if it is of `pairs`.
        """
        raise NotImplementedError

    def counts(
        self,
        *,
        by: Columns = None,
        score: Column = "score",
        label: Column | None = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Count positives and negatives at each distinct score; without labels, count rows.

        The result is small if scores are coarse, and it adds up. Concatenate the counts of several
        days or shards and pass them with `counts=("n_pos", "n_neg")` to another method: the result is
        that of all their rows.

        Parameters
        ----------
        label
            None counts rows without labels, for `estimate_prevalence(counts="n")`: the columns are then
            `score` and `n`, an Int64.

        Returns
        -------
        One row per `by` group and distinct score, by group (null first), then falling score:

        - `score`: as in the table
        - `n_pos`, `n_neg`: Int64, or Float64 with weights
        - with `weight`, `n_pos_squares`, `n_neg_squares`: Float64, sums of squared weights. Pass all
          four as `counts=("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")`, and `confidence=` works

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
        if label is None:
            refuse_arguments("label=None counts rows", pos_label=pos_label, weight=weight, counts=counts)
            unlabelled = read_unlabelled(
                self._frame,
                makes=UNLABELLED_COLUMNS,
                may_collect=self._may_collect,
                by=by,
                score=score,
                missing=missing,
            )
            return self._finish(count_scores(unlabelled, UNLABELLED_COLUMNS))
        table = read_input(
            self._frame,
            makes=(*COUNT_COLUMNS, *(SQUARE_COLUMNS if gives_squares(weight, counts) else ())),
            may_collect=self._may_collect,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            missing=missing,
        )
        return self._finish(count_scores(table))

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
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Confusion counts, recall and fpr at every threshold: positive means score >= threshold.

        Everything else is computed from this table. Prevalence plays no part in it.

        Parameters
        ----------
        drop_intermediate
            Leave out rows inside runs of negatives. The other rows give the same ROC curve, the
            same PR curve at every prevalence and the same average precision, in at most
            2 * positives + 2 rows per group.
        thresholds
            A number n: for each k = 1..n the highest threshold with recall >= k/n, without
            repetition; a group without positives has no row. Or a list of thresholds, in the data or
            not: any numbers, as `threshold` of `operating_points`. One row per distinct threshold.

        Returns
        -------
        One row per `by` group and distinct score, by group (null first), then falling threshold.
        Ties move together, and the last row of a group has recall 1 and fpr 1:

        - `threshold`: as in the table, the score
        - `tp`, `fp`, `fn`, `tn`: Int64, or Float64 with weights or with `sizes`; null from `rates`
          alone
        - `recall` = tp / (tp + fn), `fpr` = fp / (fp + tn): Float64 in [0, 1]; recall is null in a
          group without positives, and fpr in one without negatives (Brabec et al. 2020, eq. 6-7)

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
            self._frame,
            makes=SWEEP_COLUMNS,
            may_collect=self._may_collect,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            missing=missing,
        )
        return self._finish(
            build_sweep_table(table, drop_intermediate=drop_intermediate, thresholds=thresholds)
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
        within: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        cluster: Column | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Precision, or any point metric, at every threshold and every prevalence.

        What will precision be at each threshold where 1 in 1 000 is positive? Recall and fpr are
        measured once. Precision at any prevalence follows from them:
        `precision = recall*eta / (recall*eta + fpr*(1-eta))` (Williams 2021, eq. 2).

        Parameters
        ----------
        eta
            The prevalence, a share in [0, 1]. Pass one number, or several; also texts, of which
            `"1/1000"` and `"1 in 1 000"` are shares, and `"1:999"` is a ratio of positives to negatives.
            None stands for each group's own prevalence in this table. Or pass a frame with a column
            `eta` and any of the `by` columns, for a prevalence per group (null means the own one).
            Its further columns are carried along. It raises if this table has a column of their name,
            or if a group has no row in the frame. Rows that differ in one of them have a result each.
            A prevalence that is itself an estimate has its interval in the columns `eta_low` and
            `eta_high`, and its level in `eta_confidence` (else it is that of `confidence`), as
            `eta_from_sample` returns them. All three stand after `eta`, and every interval carries the
            error of `eta`. Null in both ends: this eta is exact.
            With `within`, a frame with a row per part.
        metrics
            Names or values of point metrics from `polars_prcurve.metrics`.
        confidence
            A level, such as 0.95: adds a band around each metric, at a fixed threshold, over samples
            with the same numbers of positives and negatives.
        interval
            The interval of recall and of fpr; see `rate_interval`. `"clopper_pearson"` and `"jeffreys"`
            need a DataFrame. Where 1 to 3 positives are missed, the high end of recall lies further out
            than Wilson's (Brown et al. 2001).
        band
            `"mover"` holds the level on average. `"rectangle"` holds at least the level, but is wider.
            Both hold at one fixed threshold; in 22 to 86 % of test sets the default band holds at all of
            them. `"simultaneous"` holds at all thresholds and prevalences at once with at least the
            level, and is wider still (Berk and Jones 1979). It has an `interval` of its own, needs a
            DataFrame and SciPy, and does not take weights.
        smooth
            `"binormal"`: recall and fpr come from the model that `binormal` fits, at the same
            thresholds. Counts are null.
        long
            One row per metric, with the columns `metric` and `value` (and `low`, `high`), in place of
            columns per metric.
        drop_intermediate, thresholds
            As in `sweep`.
        cluster
            A column of clusters, such as patients or cards, for `confidence`. The rows of a cluster of a
            group need not be independent, whatever their labels. The band then goes by the variance
            among clusters (Korn and Graubard 1998), and by the correlation of recall and fpr. Not with
            weights, and not with `band="simultaneous"` or `interval="hoeffding"`.

        Returns
        -------
        One row per `by` group, prevalence and distinct score (and metric, with `long`), by
        group, `eta`, metric in the order asked, falling threshold:

        - `eta`: Float64, a group's own prevalence filled in
        - the columns of `sweep`
        - the columns `metrics`: Float64, null where undefined (0/0). At a group's own
          prevalence precision is tp / (tp + fp) to the last bit.
        - with `confidence`, after each metric, `<metric>_low`, `<metric>_high`: Float64, null where
          the metric is null, or where a class is absent. Weights are taken as sampling weights: one over
          the probability with which a row was sampled. With `within` each part adds to the variance of
          both rates, and a distance for its eta if that is an estimate. With `cluster`, also null
          unless several clusters have rows of each class.
        - with `within`, `n_pos_effective`, `n_neg_effective`, `fp_effective`: Float64, how many examples
          of equal weight the positives, the negatives and the false alerts count as (Kish 1965); their
          numbers if all weigh alike, and fewer if one part has the weight. `tp`, `fp`, `fn` and `tn` are
          sums of weights, which add up to the number of examples and have the field's prevalence.

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
        asked = find_point_metrics(metrics)
        check_has_no_target(band)
        bands = read_band_options(confidence, interval, band, asked, weight=weight, cluster=cluster)
        read_smooth(smooth, confidence=confidence, rates=rates if cells is None else cells)
        makes = list_curve_columns(asked, long=long, bands=bands, in_field=within is not None)
        table: InputTable = read_input(
            self._frame,
            makes=makes,
            may_collect=self._may_collect,
            by=by,
            within=within,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            cluster=cluster,
            missing=missing,
        )
        table, grid = read_eta_or_field(eta, table, makes, bands=bands, confidence=confidence)
        query = build_curve_table(
            table if bands is None else table.require_example_counts(),
            grid,
            asked,
            drop_intermediate=drop_intermediate,
            thresholds=thresholds,
            bands=bands,
            smooth=smooth is not None,
            long=long,
        )
        return self._finish(query, grid)

    def operating_points(
        self,
        eta: Eta = None,
        *,
        threshold: Any = None,
        recall: TargetValues = None,
        fpr: TargetValues = None,
        precision: TargetValues = None,
        npv: TargetValues = None,
        fdr: TargetValues = None,
        lift: TargetValues = None,
        predicted_positive_rate: TargetValues = None,
        alerts: TargetValues = None,
        maximize: str | PointMetric | Sequence[str | PointMetric] | None = None,
        metrics: str | PointMetric | Sequence[str | PointMetric] = (
            "precision",
            "f1",
            "predicted_positive_rate",
        ),
        guarantee: float | None = None,
        start: Any = None,
        together: bool = False,
        confidence: float | None = None,
        interval: RateMethod = "wilson",
        band: TargetBandKind = "mover",
        method: ErrorMethod = "analytic",
        n_resamples: int = 1000,
        seed: int | None = None,
        per: float | None = None,
        long: bool = False,
        by: Columns = None,
        within: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        cluster: Column | None = None,
        missing: Missing = "raise",
    ) -> F:
        """The threshold that meets a target, and what it does, at every prevalence.

        Which threshold gives 90 % precision where 1 in 1 000 is positive, and how many alerts a
        day does it raise? A target takes one value or several, and you can combine kinds of targets.

        Parameters
        ----------
        eta
            As in `curve`.
        threshold
            This threshold itself: any number, in the data or not. It flags the scores that are at least
            as large, compared exactly as real numbers. In the result, `threshold` is the least value of
            the score's dtype that is not below it, or null if there is none: nothing is flagged.
            Or pass a frame with a column `threshold`, any of the `by` columns, and `eta` if thresholds
            differ by prevalence, such as a table of this method: each group gets the thresholds of its
            rows. Its other columns are ignored. A null threshold gives a row of nulls, and a group
            without a row raises.
        recall
            The highest threshold with at least this recall.
        fpr, predicted_positive_rate
            The lowest threshold with at most this rate. `predicted_positive_rate` holds at `eta`.
        alerts
            An alert budget: the lowest threshold with at most this number of alerts among `per` events.
        precision, lift
            The lowest threshold with at least this precision, or lift, at `eta`.
        npv
            The highest threshold with at least this negative predictive value at `eta`.
        fdr
            The lowest threshold with at most this false discovery rate at `eta`.
        maximize
            A point metric: the threshold of its best value, which is the smallest where less is
            better. Of equally good thresholds the highest.
        metrics
            Point metrics to show.
        guarantee
            A level, such as 0.95: the threshold whose *true* value at `eta` meets the target, in this
            share of test sets. Without it, the value in this table meets the target, and the true one
            falls short in about half of all test sets. It takes all targets except `threshold` and
            `maximize`, and the promise is per row of the result. If no threshold is sure enough, the row
            holds nulls. `alerts` and `predicted_positive_rate` need a DataFrame and SciPy.
            The promise carries the error of a prevalence that is an estimate: the end of its interval
            at which the target is hardest to meet is taken for `eta`, and what the interval may miss on
            that side, `(1 - eta_confidence) / 2`, is taken from what the tests may. So `eta_confidence`
            must be above `2 * guarantee - 1`, such as 0.98 for 0.95. `recall` and `fpr` do not use it.
            With `within` targets are those of the whole field, at exact prevalences: limits of all parts
            in quadrature (Zou and Donner 2008), for which it needs a DataFrame and SciPy.
        start
            Where the tests of `precision`, `npv`, `fdr` and `lift` start: a score that was fixed before
            the labels were seen, or a frame with a column `threshold`, any of the `by` columns, and
            `eta`. If left out, the score at which a number of alerts is reached that depends on the
            numbers of positives and negatives, the target and `eta`.
        together
            One row per prevalence, for the lowest threshold that meets all targets, such as a budget of
            alerts and a precision; nulls if none does. With `guarantee` all promises hold together with
            this level: each is kept at `1 - (1 - guarantee) / n`, with n targets.
        confidence, interval, band
            As in `curve`: an interval of what the threshold of the row does. The threshold is found in
            this table and then taken as fixed, except by `band="simultaneous"`, which holds at any
            threshold, however it was found. So the low end of another band may lie below what
            `guarantee` promises.
            `band="moving"` answers another question: how good the *model* is at the target, such as its
            recall at an fpr of 1 %. In another sample another threshold meets the target, and the
            interval is wider by that. It takes every target but `threshold` and `maximize`, and not
            `guarantee`, `together` or `within`. `compare` does the same for the difference of models.
        method
            `"bootstrap"` corrects what was maximized, and needs a DataFrame. The greatest value of a
            metric is too good for its threshold, because chance helped to choose it. This optimism is
            estimated and taken away (Harrell et al. 1996), and the interval is for what the threshold
            does when it is used. Other targets have the bands of `"analytic"`.
        n_resamples, seed
            The number of replicates of the bootstrap, and a seed that makes them repeatable.
        cluster
            As in `curve`. Not with `guarantee`, and not with `method="bootstrap"`.
        per
            A number of events, such as 2_000_000 a day: adds the alerts among them. `alerts` needs it.
        long
            One row per metric, with the columns `metric` and `value` (and `low`, `high`), in place of
            columns per metric.

        Returns
        -------
        One row per `by` group, prevalence and target, in that order, with targets in the order of the
        parameters above. If no row of the sweep meets a target, its row holds nulls:

        - `eta`: Float64, a group's own prevalence filled in
        - `criterion`: String, `recall` etc. or `maximize(f1)`; `together`, `precision & alerts`
        - `target`: Float64, the number given; null for `maximize` and `together`
        - `threshold`: as in the table
        - with `guarantee`, `guarantee`: Float64, the level
        - with `guarantee`, `holds_from`, `holds_to`: as in the table, the least and the greatest
          threshold of the stretch for which the promise holds at once; null if none is found
        - with `guarantee`, `n_pos_needed`, `n_neg_needed`: Float64, the number of positives, or of
          negatives, without which even perfect scores prove nothing, infinite if no number will do.
          Null for a class that does not limit: positives of `precision`, `fdr`, `lift` and `fpr`,
          negatives of `npv` and `recall`, both of `alerts` and `predicted_positive_rate`, and both with
          `within`
        - `tp`, `fp`, `fn`, `tn`: Int64, or Float64 with weights and `within`: then sums of weights, and
          not numbers of examples; with `within` they have the field's prevalence
        - `recall`, `fpr`: Float64, null if the class is absent
        - the columns `metrics`: Float64, null where undefined
        - with `confidence`, after each metric, `<metric>_low`, `<metric>_high`: as in `curve`; with
          `method="bootstrap"`, before these two `<metric>_corrected`, Float64: the metric less its
          optimism, null unless the row was found by `maximize`
        - with `per`, `alerts`, `true_alerts`, `missed`: Float64, expected numbers among `per` events
        - with `band="moving"`, `reliable`: Boolean, whether the intervals of the row are known to hold
          as often as they say: 10 examples or more in each of `tp`, `fp`, `fn` and `tn`, no clusters,
          and few examples of one score near the threshold. Null if no row meets the target

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

        The 60 highest scores are all positive. How far down is the true precision at least 0.9?

        >>> many = pl.DataFrame({"score": range(200, 0, -1), "label": [1] * 60 + [0, 0, 1, 0] * 35})
        >>> sure = many.prc.operating_points(precision=0.9, guarantee=0.95)
        >>> sure.select("target", "threshold", "holds_from", "holds_to", "n_neg_needed", "precision")
        shape: (1, 6)
        ┌────────┬───────────┬────────────┬──────────┬──────────────┬───────────┐
        │ target ┆ threshold ┆ holds_from ┆ holds_to ┆ n_neg_needed ┆ precision │
        │ ---    ┆ ---       ┆ ---        ┆ ---      ┆ ---          ┆ ---       │
        │ f64    ┆ i64       ┆ i64        ┆ i64      ┆ f64          ┆ f64       │
        ╞════════╪═══════════╪════════════╪══════════╪══════════════╪═══════════╡
        │ 0.9    ┆ 138       ┆ 138        ┆ 172      ┆ 31.0         ┆ 0.968254  │
        └────────┴───────────┴────────────┴──────────┴──────────────┴───────────┘
        """
        asked = find_point_metrics(metrics)
        refuse_clusters(guarantee, cluster)
        uncertainty = read_uncertainty(confidence, method, n_resamples, seed, None)
        bands = read_band_options(
            confidence, interval, band, asked, method=method, weight=weight, cluster=cluster
        )
        makes = list_points_columns(asked, per=per, long=long, bands=bands, guarantee=guarantee)
        table: InputTable = read_input(
            self._frame,
            makes=makes,
            may_collect=self._may_collect,
            by=by,
            within=within,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            cluster=cluster,
            missing=missing,
        )
        given: dict[str, Any] = {"threshold": threshold, "recall": recall, "fpr": fpr}
        given |= {"precision": precision, "npv": npv, "fdr": fdr, "lift": lift}
        given |= {"alerts": alerts, "per": per, "maximize": maximize}
        targets = read_targets(table, **given, predicted_positive_rate=predicted_positive_rate)
        table, grid = read_eta_or_field(eta, table, makes, bands=bands, confidence=confidence)
        targets = promise_and_join(
            targets, table, grid, guarantee=guarantee, start=start, together=together
        )
        optimism = build_optimism_table(table, grid, targets, asked, uncertainty)
        query = build_points_table(
            table, grid, targets, asked, per=per, bands=bands, long=long, optimism=optimism
        )
        return self._finish(query, grid)

    def decision_curve(
        self,
        eta: Eta = None,
        *,
        probabilities: Sequence[float] = PROBABILITIES,
        eta_train: float | None = None,
        confidence: float | None = None,
        by: Columns = None,
        within: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Net benefit at each risk at which a user would act, beside that of acting always.

        Who acts at a risk of `p` accepts `(1 - p) / p` false positives for a true one. The net benefit
        of flagging all posteriors of at least `p` is `eta*recall - (1-eta)*fpr * p/(1-p)`, in true
        positives per event (Vickers and Elkin 2006). Acting never has a net benefit of 0. Scores are
        posteriors in [0, 1].

        Parameters
        ----------
        eta
            The prevalence where the model will run, a number or several. Posteriors are moved to it, as
            by `shift_prior`. None takes each group's own prevalence and the posteriors as they stand.
            With `within`, a frame as in `curve`, and the posteriors stand as they are, too.
        probabilities
            The risks at which users act, numbers in [0, 1).
        eta_train
            The prevalence at which the scores are posteriors, between 0 and 1. It is needed with `eta`.
            The column `threshold` shows each risk as a posterior at `eta_train`.
        confidence
            A level, such as 0.95: adds an interval of net benefit at each threshold, from Wilson's
            intervals of recall and fpr, by distances in quadrature (Zou and Donner 2008).

        Returns
        -------
        One row per `by` group, prevalence and probability, in this order:

        - `eta`: Float64, a group's own prevalence filled in
        - `threshold_probability`: Float64, the risk
        - the columns of `sweep`
        - `net_benefit`: Float64, null without a class, except at the group's own prevalence
        - `treat_all`: Float64, the net benefit of flagging everybody, `eta - (1-eta) * p/(1-p)`
        - with `confidence`, `net_benefit_low`, `net_benefit_high`: Float64, null where a class is absent
        - with `within`, `n_pos_effective`, `n_neg_effective`, `fp_effective`: Float64, as in `curve`

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.6, 0.3, 0.1], "label": [1, 0, 1, 0]})
        >>> curve = df.prc.decision_curve(probabilities=[0.2, 0.5])
        >>> curve.select("threshold_probability", "tp", "fp", "net_benefit", "treat_all")
        shape: (2, 5)
        ┌───────────────────────┬─────┬─────┬─────────────┬───────────┐
        │ threshold_probability ┆ tp  ┆ fp  ┆ net_benefit ┆ treat_all │
        │ ---                   ┆ --- ┆ --- ┆ ---         ┆ ---       │
        │ f64                   ┆ i64 ┆ i64 ┆ f64         ┆ f64       │
        ╞═══════════════════════╪═════╪═════╪═════════════╪═══════════╡
        │ 0.2                   ┆ 2   ┆ 1   ┆ 0.4375      ┆ 0.375     │
        │ 0.5                   ┆ 1   ┆ 1   ┆ 0.0         ┆ 0.0       │
        └───────────────────────┴─────┴─────┴─────────────┴───────────┘
        """
        bands = read_band_options(confidence, "wilson", "mover", [])
        table = cast(
            "ScoreTable",
            read_input(
                self._frame,
                makes=list_decision_columns(bands=bands is not None, in_field=within is not None),
                may_collect=self._may_collect,
                by=by,
                within=within,
                score=score,
                label=label,
                pos_label=pos_label,
                weight=weight,
                counts=counts,
                posteriors=True,
                missing=missing,
            ),
        )
        if table.within:
            refuse_arguments("within= takes posteriors as they stand", eta_train=eta_train)
            table = read_field(eta, table, bands=bands, confidence=confidence)
            eta = None
        examples = table if bands is None else table.require_example_counts()
        return self._finish(build_decision_table(examples, eta, probabilities, eta_train, bands))

    def summary(
        self,
        eta: Eta = None,
        *,
        metrics: str | CurveMetric | Sequence[str | CurveMetric] | None = None,
        confidence: float | None = None,
        method: ErrorMethod = "analytic",
        n_resamples: int = 1000,
        seed: int | None = None,
        cluster: Column | None = None,
        smooth: Smooth = None,
        coarse: bool = False,
        by: Columns = None,
        within: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Average precision, or any metric of a whole curve, at every prevalence.

        Which model is better where 1 in 1 000 is positive? One sweep serves all prevalences and
        metrics, and a hundred prevalences cost about twice as much as one.

        Parameters
        ----------
        eta
            As in `curve`.
        metrics
            Names or values of curve metrics from `polars_prcurve.metrics`. If left out,
            `average_precision`, `pr_auc` and `roc_auc`; with `rates=`, `pr_auc` and `roc_auc`, because
            a sum of steps grows with each further point of the same line. With `confidence=` and
            `method="analytic"` without `pr_auc`, which has no analytic error. The metrics on the convex
            hull, `pr_auc_hull`, `auprg_hull` and `roc_auc_hull`, need a DataFrame.
        confidence
            A level, such as 0.95: adds standard errors and intervals.
        method
            `"analytic"` knows the errors of `average_precision`, `roc_auc` and
            `precision_at_recall(...)`; those of other metrics are null. `"bootstrap"` knows the errors
            of all metrics, and needs a DataFrame.
        n_resamples, seed
            The number of replicates of the bootstrap, and a seed that makes them repeatable. Positives
            and negatives of each group are drawn separately, each in their own number.
        cluster
            A column of clusters, such as patients or cards. The rows of a cluster of a group need not be
            independent, whatever their labels. The bootstrap draws whole clusters. The analytic errors
            of `average_precision` and `roc_auc` add up the influences of each cluster first, and those
            of `precision_at_recall(...)` are from the variance of both rates among clusters, and null
            with `weight`; other metrics have none.
        within
            As above. The analytic errors of `average_precision` and `roc_auc` are those of samples of
            the parts: each part adds the variance of its influences for either class, and one distance
            for its eta if that is an estimate. Other metrics have none, and there is no bootstrap.
        smooth
            `"binormal"`: metrics of the model that `binormal` fits to each group, at any prevalence. The
            model has `average_precision` and its transforms, `pr_auc`, `pr_auc_trapezoid(...)`,
            `roc_auc`, `precision_at_recall(...)`, `integrated_average_precision(...)`, and
            `integrated(...)` of these, without `confidence`. A fitted curve has no steps, so
            `average_precision`, `pr_auc` and `pr_auc_trapezoid(...)` are equal.
        coarse
            True if scores are rounded, or counts come in bins: adds the limits of each metric over all
            orders of the examples of equal score. With `rates` or `cells` these are limits over whatever
            lies between two points. `average_precision` and its transforms, `pr_auc`, `boyd_pr_auc`,
            `roc_auc`, `partial_roc_auc(...)`, `precision_at_recall(...)`, `recall_at_precision(...)` and
            `recall_at_fpr(...)` have limits. Without `confidence`, which has another `low` and `high`.

        Returns
        -------
        One row per `by` group, prevalence and metric, by group (null first), `eta`, metric in the
        order asked:

        - `eta`: Float64, a group's own prevalence filled in
        - `n_pos`, `n_neg`: Int64, or Float64 with weights and `within`; the totals of the group, which
          are sums of weights then, and not numbers of examples
        - `metric`: String
        - `value`: Float64, null where undefined: areas in a group without positives, or without
          negatives unless `eta` is 1. Metrics that do not depend on `eta` repeat at each prevalence.
          The order of the rows does not change a bit of it.
        - with `confidence`, `standard_error`, `low`, `high`: Float64, null where unknown. With an
          interval of `eta`, they carry its error, too. The analytic
          `low` and `high` are null, too, where the value is 0 or 1. Weights are taken as sampling
          weights. With `cluster`, a class in fewer than two clusters has no interval.
        - with `confidence`, `reliable`: Boolean, false where intervals of this kind were seen to miss
          too often, null where there is no interval. With `rates` and `cells` also false where the
          limits of `coarse` are further apart than half of the interval: then the gaps between points
          matter more than the sample.
        - with `coarse`, `low`, `high`: Float64, null where the value is. No finer score has less than
          `low` or more than `high`, except for rounding in the last digits. An order of the examples
          reaches them, except `low` of `average_precision`: without weights it is up to 0.022 / n_pos
          less than the value of the worst order.

        Sums are exact to 2**-118, which is too coarse for a small relative error at prevalences below
        1e-30. `auprg` is null below 2**-69. With `rates=` the points (0, 0) and (1, 1) are added if
        they are absent.

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
        analytic = confidence is not None and method == "analytic"
        defaults = default_curve_metrics(rates, cells, analytic=analytic)
        curve_metrics = find_curve_metrics(defaults if metrics is None else metrics)
        points = rates if cells is None else cells
        asked = read_smooth(smooth, curve_metrics, confidence=confidence, rates=points)
        uncertainty = read_uncertainty(confidence, method, n_resamples, seed, cluster)
        coarse = _read_coarse(coarse, confidence=confidence, smooth=smooth)
        makes = list_summary_columns(errors=uncertainty is not None, coarse=coarse)
        table: InputTable = read_input(
            self._frame,
            makes=makes,
            may_collect=self._may_collect,
            by=by,
            within=within,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            cluster=cluster,
            missing=missing,
        )
        table, grid = read_eta_or_field(eta, table, makes, confidence=confidence)
        query = build_summary_table(
            table if uncertainty is None else table.require_example_counts(),
            grid,
            asked,
            uncertainty=uncertainty,
            smooth=smooth is not None,
            coarse=coarse,
        )
        return self._finish(query, grid)

    def binormal(
        self,
        ddof: int = 0,
        *,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Fit a normal distribution to the scores of each class, by maximum likelihood.

        If positives are few and scores are normal, the curve of two normal distributions is steadier
        than the steps of the sample (Brodersen et al. 2010). `curve` and `summary` use this model with
        `smooth="binormal"`. Recall is Phi((mu_pos - threshold) / sigma_pos), fpr is
        Phi((mu_neg - threshold) / sigma_neg), and precision follows from both as usual.

        Parameters
        ----------
        ddof
            Variances are divided by n - ddof: 0 for maximum likelihood, 1 for an unbiased variance.

        Returns
        -------
        One row per `by` group, null first:

        - `mu_pos`, `sigma_pos`, `mu_neg`, `sigma_neg`: Float64, mean and standard deviation of the
          scores of each class, taken as floats. Both are null for a class with fewer than two distinct
          scores, with an infinite score, or with at most `ddof` examples. Weights enter both, and n is
          then `sum(w)**2 / sum(w**2)`; with `counts`, n is the count.
        - `alpha` = n_pos / (n_pos + n_neg): Float64
        - `n_pos`, `n_neg`: Int64, or Float64 with weights
        - `roc_auc` = Phi((mu_pos - mu_neg) / sqrt(sigma_pos**2 + sigma_neg**2)): Float64, null
          where a mean is null

        The order of the rows does not change a bit of the result.

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
            self._frame,
            makes=BINORMAL_COLUMNS,
            may_collect=self._may_collect,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            missing=missing,
        )
        return self._finish(build_binormal_table(table, ddof=ddof))

    def compare(
        self,
        scores: Sequence[str] | None = None,
        eta: Eta = None,
        *,
        model: Column | None = None,
        id: Columns = None,
        paired: bool = True,
        metrics: str
        | CurveMetric
        | PointMetric
        | Sequence[str | CurveMetric | PointMetric]
        | None = None,
        threshold: Any = None,
        recall: float | None = None,
        fpr: float | None = None,
        precision: float | None = None,
        npv: float | None = None,
        fdr: float | None = None,
        lift: float | None = None,
        predicted_positive_rate: float | None = None,
        alerts: float | None = None,
        per: float | None = None,
        worst: bool = False,
        confidence: float = 0.95,
        adjust: Adjust = None,
        method: ErrorMethod = "analytic",
        n_resamples: int = 1000,
        seed: int | None = None,
        cluster: Column | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Differences between models, or between groups, with intervals and p-values.

        Parameters
        ----------
        scores
            The score columns of a wide table: two or more, of one dtype, one per model.
        eta
            As in `curve`; None only if all groups share one prevalence, or if no metric depends on it,
            such as recall, fpr and `roc_auc`. Of curve metrics with analytic errors it may be an
            estimate, with `eta_low` and `eta_high`: how far the difference moves to the farther end,
            over the quantile of the level, adds up with the standard error.
        model, id
            For a long table, in place of `scores`: the column that names the model, and the column or
            columns that tell the examples of a group apart. Each example has one row per model.
        paired
            Whether the models scored the same examples. With False each value of the column `model` has
            examples of its own, such as countries or months, and `id` is left out. Both errors then add
            up in quadrature.
        metrics
            Curve metrics, `average_precision` and `roc_auc` if left out. These two have an analytic
            error; for other metrics it is null, and the bootstrap gives one. At a target, point metrics,
            `precision` if left out.
        threshold, recall, fpr, precision, npv, fdr, lift, predicted_positive_rate, alerts, per
            One target, as in `operating_points`, at which point metrics are compared, by the distances
            to the ends of their bands (Zou and Donner 2008). For models of one test set these count how
            often both flag the same examples. Thresholds that are found here, as by `recall=0.8`, would
            be others in another test set, and intervals allow for that. Where `threshold=` gives them,
            `net_benefit(...)`, `recall` and `fpr` of models of one test set have a standard error
            (Agresti and Min 2005), unless rows have weights. A `threshold` frame may have the column of
            models, which is `model` for the names in `scores`.
        worst
            Whether to return only the best and the worst model, with `paired=False`. Their interval is
            adjusted for all pairs, since they were picked for their distance.
        adjust
            `"holm"` adjusts for several pairs: of all pairs of a group, prevalence and metric in which
            the models are equal, one or more are told apart with a probability of at most
            `1 - confidence` (Holm 1979).
        counts
            As in `curve`, with `paired=False`: counts of examples do not tell which ones models share.
        rates, sizes, cells
            As in `curve`, with `paired=False`: one point for each model, such as a 2x2 table of a paper
            and one of your own; or `threshold=`, if the points name theirs. Point metrics alone, and
            `rates` with `sizes`.
        confidence, method, n_resamples, seed
            As in `summary`. A replicate of the bootstrap holds the same examples for all models.
        cluster
            A column of clusters, as in `summary`; the same in all rows of an example. The analytic error
            adds up the differences of influences of each cluster first. The test of average precision
            allows for half a cluster of false positives more, as large as those at the top of any model
            of the group. With `paired=False` models that share clusters have too wide an
            interval.
        missing
            As in all methods; `"drop"` leaves out an example for all models if anything is missing in
            one of its scores or rows.

        Returns
        -------
        One row per `by` group, prevalence, metric and pair of models, in that order:

        - `eta`: Float64; null where own prevalences differ
        - `metric`: String
        - `model_a`, `model_b`: String, names of `scores` in the order given; or as in `model`, rising.
          With `worst`, model a is the best one, and model b the worst one
        - `difference`: Float64, the value of model a minus that of model b
        - `standard_error`, `low`, `high`: Float64, of the difference (DeLong et al. 1988 for `roc_auc`);
          of point metrics it is null, since the interval has two unequal sides, except for
          `net_benefit(...)`, `recall` and `fpr` of models of one test set at thresholds that are given
        - `p_value`: Float64, two-sided, for no difference; null where the error is 0 or null. For
          `average_precision` it is not that of `difference` over `standard_error`: the test has half a
          false positive more in both models if that brings the difference nearer to 0
        - with `adjust`, `p_adjusted`: Float64, as `p_value`, for all pairs at once. `low` and `high`
          then have the level `1 - (1 - confidence) / m`, with m pairs
        - `reliable`: Boolean, whether intervals of both models are reliable, as in `summary`; of point
          metrics, whether rows do not come in clusters, and numbers are large: tp, fn, fp and tn of at
          least 10 in both models, or where a point metric has a standard error, in each class the
          examples that model a alone flags, times those that model b alone flags, at least 25. Where
          thresholds are found here, few enough examples may have one score. Null without an interval
        - `resolved`: Boolean, whether the sign of the difference is certain: the interval leaves out 0
          and is reliable, or the difference is more than twice as many errors from 0 as that takes,
          and each class has 10 examples; null without an interval

        Examples
        --------
        >>> a, b = [6, 5, 3, 4, 2, 1], [6, 3, 1, 5, 4, 2]
        >>> df = pl.DataFrame({"label": [1, 1, 1, 0, 0, 0], "a": a, "b": b})
        >>> pairs = df.prc.compare(["a", "b"], metrics="roc_auc")
        >>> pairs.select("model_a", "model_b", "difference", "standard_error", "p_value")
        shape: (1, 5)
        ┌─────────┬─────────┬────────────┬────────────────┬──────────┐
        │ model_a ┆ model_b ┆ difference ┆ standard_error ┆ p_value  │
        │ ---     ┆ ---     ┆ ---        ┆ ---            ┆ ---      │
        │ str     ┆ str     ┆ f64        ┆ f64            ┆ f64      │
        ╞═════════╪═════════╪════════════╪════════════════╪══════════╡
        │ a       ┆ b       ┆ 0.444444   ┆ 0.248452       ┆ 0.073638 │
        └─────────┴─────────┴────────────┴────────────────┴──────────┘
        """
        uncertainty = require_uncertainty("compare", confidence, method, n_resamples, seed, cluster)
        paired, worst = read_flag("paired=", paired), read_flag("worst=", worst)
        adjust = read_adjustment(adjust, method, paired=paired, worst=worst)
        makes = list_compare_columns(adjust)
        table, shared = self._read_models(
            scores,
            paired=paired,
            makes=makes,
            by=by,
            model=model,
            id=id,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            cluster=cluster,
            missing=missing,
        )
        grid = read_eta(eta, table, makes, shared=True, confidence=confidence)
        target = read_one_target(
            table,
            threshold=threshold,
            recall=recall,
            fpr=fpr,
            precision=precision,
            npv=npv,
            fdr=fdr,
            lift=lift,
            predicted_positive_rate=predicted_positive_rate,
            alerts=alerts,
            per=per,
        )
        options = DifferenceOptions(uncertainty, shared, adjust, worst)
        query = build_differences(table, grid, metrics, target, options)
        return self._finish(query, grid, pairs=True)

    def _read_models(
        self,
        scores: Sequence[str] | None,
        *,
        paired: bool,
        makes: Sequence[str],
        score: Column,
        model: Column | None,
        id: Columns,
        missing: Missing,
        **columns: Any,
    ) -> tuple[InputTable, Examples]:
        """Return the table of models, made long if it is wide, and which examples its models share."""
        given = [name for name in ("counts", "rates", "cells") if columns[name] is not None]
        if paired and given:
            raise PrcError(
                f"{given[0]}= do not tell which examples models share; pass paired=False with model="
            )
        drop = is_dropping(missing)
        long = wide_tables.read_model_table(
            self._frame, scores, score=score, model=model, id=id, paired=paired, drop=drop
        )
        table = read_input(
            long.frame,
            makes=makes,
            may_collect=self._may_collect,
            made_from=self._frame,
            score=long.score,
            model=long.model,
            example=long.example,
            matched=long.matched,
            missing=missing,
            **columns,
        )
        return table, "apart" if not paired else "wide" if long.matched else "by id"

    def ranking(
        self,
        eta: Eta = None,
        *,
        model: Column = "model",
        metric: str | CurveMetric | PointMetric | None = None,
        threshold: Any = None,
        recall: float | None = None,
        fpr: float | None = None,
        precision: float | None = None,
        npv: float | None = None,
        fdr: float | None = None,
        lift: float | None = None,
        predicted_positive_rate: float | None = None,
        alerts: float | None = None,
        per: float | None = None,
        confidence: float | None = None,
        id: Columns = None,
        method: ErrorMethod = "analytic",
        n_resamples: int = 1000,
        seed: int | None = None,
        cluster: Column | None = None,
        coarse: bool = False,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> F:
        """The order of models at every prevalence, and how sure the lead of the first is.

        Which model is best depends on prevalence. Recall and fpr of each model are measured once, and
        the order is computed anew at each prevalence (Brabec et al. 2020, section 4).

        Parameters
        ----------
        eta
            As in `curve`; None only if all groups share one prevalence, or if the metric does not
            depend on it, as `roc_auc`.
        model
            The column that names the model, of any sortable dtype.
        metric
            A curve metric: `average_precision` if left out, or `pr_auc` with `rates=` (see `summary`).
            Or a point metric, at the target that you pass; without a target it stands for its best value
            over all thresholds, `metrics.best(...)`.
        threshold, recall, fpr, precision, npv, fdr, lift, predicted_positive_rate, alerts, per
            One target, as in `operating_points`, for a point metric. A `threshold` frame may have the
            column of models, with one threshold for each. Published points reach a recall at unlike
            points: for these pass `metrics.precision_at_recall(...)` in place of `recall`.
        confidence
            A level, such as 0.95: adds how far each model is behind the leader.
        id
            The column or columns that tell the examples of a group apart, if models scored the same
            examples. Errors are then errors of paired differences, as in `compare`, and
            `missing="drop"` leaves out an example for all models. Without `id` each model counts as
            measured on examples of its own. For models of one test set, intervals are then mostly
            too wide.
        method, n_resamples, seed, cluster
            As in `summary`, for `confidence`.
        coarse
            True adds the limits of each value, as in `summary`: over all orders of equal scores, and of
            published points over all that may lie between them. Not with `confidence`.

        Returns
        -------
        One row per `by` group, prevalence and model, best first; equal values by `model`, nulls last:

        - `eta`: Float64; null where own prevalences differ
        - `model`: as in the table
        - `value`: Float64, null where the metric is undefined
        - `rank`: Int64, from 1, null where the value is null; equal values share the best rank that
          they cover
        - with `confidence`, `behind`: Float64, by how much the leader, the first row, is better
        - with `confidence`, `low`, `high`: Float64, the interval of `behind`, null for the leader
        - with `confidence`, `resolved`: Boolean, whether the model is surely behind, as in `compare`;
          for the leader, whether all others are. Null where no error is known
        - with `confidence`, `reliable`: Boolean, whether the intervals of the model and of the leader
          are reliable, as in `summary`, or for a point metric as in `compare`; for the leader, whether
          those of all models are
        - with `confidence`, `may_be_best`: Boolean, whether no model is better for sure. At this level
          that is so of all models that are best, however many are compared (Holm 1979). A difference
          whose interval is not reliable counts half, and not at all where a class has fewer than 10
          examples. Null where the value is
        - with `coarse`, `value_low`, `value_high`: Float64, the limits of `value`, null where that is
        - with `coarse`, `may_be_best`: Boolean, whether the model may be the best one, as far as the
          limits of all tell; this knows nothing of chance. Null where the value is

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
        coarse = _read_coarse(coarse, confidence=confidence)
        makes = list_ranking_columns(lead=uncertainty is not None, coarse=coarse)
        if list_columns("id=", id) and (uncertainty is None or counts is not None or rates is not None):
            raise PrcError("id= pairs the examples of models; pass confidence=, and labels")
        table = read_input(
            self._frame,
            makes=makes,
            may_collect=self._may_collect,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            cluster=cluster,
            model=model,
            example=id,
            missing=missing,
        )
        grid = read_eta(eta, table, makes, shared=True, confidence=confidence)
        ranked_by = read_ranking_metric(
            default_curve_metric(rates, cells) if metric is None else metric,
            table,
            threshold=threshold,
            recall=recall,
            fpr=fpr,
            precision=precision,
            npv=npv,
            fdr=fdr,
            lift=lift,
            predicted_positive_rate=predicted_positive_rate,
            alerts=alerts,
            per=per,
        )
        query = build_ranking_table(table, grid, ranked_by, uncertainty, coarse=coarse)
        return self._finish(query, grid, pairs=True)

    def crossings(
        self,
        *,
        model: Column = "model",
        metric: str | CurveMetric | PointMetric | None = None,
        eta_range: tuple[float | str, float | str] = (1e-6, 0.5),
        threshold: Any = None,
        recall: float | None = None,
        fpr: float | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """The prevalences at which two models trade places; a LazyFrame is collected at the call.

        The difference of each pair of models is scanned at 401 prevalences or more, evenly spaced in
        logit and at most 0.05 apart. Near misses are scanned again on finer grids, and each change of
        sign is solved to 1e-11 in logit. Models that are equal, or that touch and part again, do not
        trade places. Two changes of sign within one step of the scan may stay unseen if the difference
        does not come near zero in that step. This can happen to metrics that jump or bend with
        prevalence, but not to areas.

        Parameters
        ----------
        model
            The column that names the model, of any sortable dtype.
        metric
            A curve metric that depends on prevalence: `average_precision` if left out, or `pr_auc` with
            `rates=` (see `summary`). Or a point metric, at the target that you pass; without a target it
            stands for its best value, `metrics.best(...)`.
        eta_range
            The lowest and the highest prevalence to search, both above 0 and below 1, as numbers or as
            texts such as `"1 in 1 000"`. At 1 all models meet.
        threshold, recall, fpr
            One target, as in `operating_points`, for a point metric. A `threshold` frame may have the
            column of models, with one threshold for each. The operating points are the same at all
            prevalences, and a formula says where they trade places (see `crossing`). For a metric of
            your own the difference is scanned. Of published points each model has its first that meets
            the target, and these may be at unlike recalls.

        Returns
        -------
        One row per `by` group and trade of places, by group, `eta`, models:

        - `model_a`, `model_b`: as in the table; a is better just below `eta`, b just above
        - `eta`: Float64; if the models are equal over a range, its upper end
        - `value`: Float64, the value of both models at `eta`

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
            self._frame,
            makes=CROSSING_COLUMNS,
            may_collect=True,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            model=model,
            missing=missing,
        )
        ranked_by = read_ranking_metric(
            default_curve_metric(rates, cells) if metric is None else metric,
            table,
            at_eta=False,
            threshold=threshold,
            recall=recall,
            fpr=fpr,
        )
        return build_crossings_table(collect_model_scores(table, ranked_by, eta_range))

    def leaders(
        self,
        *,
        model: Column = "model",
        metric: str | CurveMetric | PointMetric | None = None,
        eta_range: tuple[float | str, float | str] = (1e-6, 0.5),
        threshold: Any = None,
        recall: float | None = None,
        fpr: float | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """The best model in each range of prevalences; a LazyFrame is collected at the call.

        Of published points, `ranking(coarse=True)` tells at a prevalence who may be best, whatever lies
        between the points.

        Parameters
        ----------
        model, metric, eta_range, threshold, recall, fpr
            As in `crossings`, which also says how changes are found.

        Returns
        -------
        One row per `by` group and range of prevalences, rising; none where no model has a value:

        - `eta_low`, `eta_high`: Float64, the ends of the range
        - `model`: as in the table, the best model in the range; of equal models the first

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
            self._frame,
            makes=LEADER_COLUMNS,
            may_collect=True,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            model=model,
            missing=missing,
        )
        ranked_by = read_ranking_metric(
            default_curve_metric(rates, cells) if metric is None else metric,
            table,
            at_eta=False,
            threshold=threshold,
            recall=recall,
            fpr=fpr,
        )
        return build_leaders_table(collect_model_scores(table, ranked_by, eta_range))

    def dominance(
        self,
        *,
        model: Column = "model",
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """Which models are nowhere worse than another in ROC; a LazyFrame is collected at the call.

        A model dominates another if its ROC curve, with points joined by lines, is nowhere below the
        other curve, and the curves differ. At every prevalence it is then at least as good in `pr_auc`
        and `roc_auc`, in their versions on the hull, and in `precision_at_recall` of any recall. If no
        positive ties with a negative and both models have the same positives, it is also at least as
        good in `average_precision`.

        Returns
        -------
        One row per `by` group and model, in order:

        - `model`: as in the table
        - `dominates`, `dominated_by`: List of models, empty where there are none
        - `on_hull`: Boolean, whether a point of the model, other than (0, 0) and (1, 1), is a corner of
          the convex hull of all curves of the group; null if the model lacks a class. A threshold of
          best accuracy, cost or net benefit, at any prevalence, is such a point (Provost and Fawcett
          2001), unless it flags no example or all. The model of best `average_precision` need not have
          such a point.

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
            self._frame,
            makes=DOMINANCE_COLUMNS,
            may_collect=True,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            model=model,
            missing=missing,
        )
        return build_dominance_table(table)

    def roc_crossings(
        self,
        *,
        model: Column = "model",
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """The points at which the ROC curves of two models cross; a LazyFrame is collected at the call.

        The model that is above on the left finds the first positives with fewer false positives, which
        is what counts at low prevalence (Richardson et al. 2024). If two curves do not cross, one model
        dominates the other, or the curves are equal (see `dominance`).

        Returns
        -------
        One row per `by` group and crossing of two curves, by group, `fpr`, `recall`, models:

        - `model_a`, `model_b`: as in the table; a is above before the point, b beyond it
        - `fpr`, `recall`: Float64, the point, on curves joined by lines; if the curves coincide over a
          stretch, its end

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
            self._frame,
            makes=ROC_CROSSING_COLUMNS,
            may_collect=True,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            model=model,
            missing=missing,
        )
        return build_roc_crossings_table(table)

    def sample_size(
        self,
        delta: float = 0.1,
        eta: Eta = None,
        *,
        relative: bool = False,
        assurance: float = 0.8,
        threshold: Any = None,
        recall: TargetValues = None,
        fpr: TargetValues = None,
        confidence: float = 0.95,
        method: RateMethod = "wilson",
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> F:
        """The size of a test set that knows precision at a threshold to `delta`, and that of this one.

        With the numbers needed, a share `assurance` of test sets has a band of precision that is at most
        `delta` wide, if both rates stay as they are here. It is the default band of `curve` (Zou and
        Donner 2008), at the prevalence `eta` or, without `eta`, at all prevalences (Brabec et al. 2020,
        section 5).

        Parameters
        ----------
        delta
            The width of the whole band, upper minus lower precision, in points: where precision is 0.01,
            a width of 0.1 says nothing, and the numbers for it are tiny.
        eta
            The prevalence at which the band must be this narrow, as in `curve`, except that None is all
            prevalences, which often takes several times the examples. For the own one pass `[None]`:
            with weights, such as those of `reweight`, that is the prevalence of the field.
        relative
            True takes `delta` as a share of the precision that recall and fpr give at `eta`: 0.5 asks
            for a band half as wide as precision is high.
        assurance
            The share of test sets of that size whose band is as narrow, from 0.5 to below 1.
        threshold, recall, fpr
            Targets, one or several, as in `operating_points`.
        confidence, method
            The interval of recall and of fpr; see `rate_interval`. `"clopper_pearson"` and `"jeffreys"`
            need a DataFrame.

        Returns
        -------
        One row per `by` group, prevalence and target:

        - with `eta`, `eta`: Float64, and what an eta frame carries
        - `criterion`, `target`, `threshold`, `recall`, `fpr`: as in `operating_points`
        - `n_pos`, `n_neg`: Int64, or Float64 with weights; the numbers in the table. Sums of weights are
          not comparable with the numbers needed: a class counts as `sum(w)**2 / sum(w**2)` examples
        - `n_pos_needed`, `n_neg_needed`: Float64, rounded up; null where a rate is 0 or null. Both
          classes share the burden: either rate alone would be known about equally well. More of one
          class than needed makes up for fewer of the other.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> needed = df.prc.sample_size(eta=0.5, recall=0.5, fpr=0.5)
        >>> needed.select("criterion", "recall", "fpr", "n_pos", "n_pos_needed", "n_neg_needed")
        shape: (2, 6)
        ┌───────────┬────────┬─────┬───────┬──────────────┬──────────────┐
        │ criterion ┆ recall ┆ fpr ┆ n_pos ┆ n_pos_needed ┆ n_neg_needed │
        │ ---       ┆ ---    ┆ --- ┆ ---   ┆ ---          ┆ ---          │
        │ str       ┆ f64    ┆ f64 ┆ i64   ┆ f64          ┆ f64          │
        ╞═══════════╪════════╪═════╪═══════╪══════════════╪══════════════╡
        │ recall    ┆ 0.5    ┆ 0.0 ┆ 2     ┆ null         ┆ null         │
        │ fpr       ┆ 1.0    ┆ 0.5 ┆ 2     ┆ 14.0         ┆ 284.0        │
        └───────────┴────────┴─────┴───────┴──────────────┴──────────────┘
        """
        makes = SAMPLE_SIZE_COLUMNS if eta is None else ("eta", *SAMPLE_SIZE_COLUMNS)
        table = read_input(
            self._frame,
            makes=makes,
            may_collect=self._may_collect,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            missing=missing,
        )
        targets = read_targets(table, threshold=threshold, recall=recall, fpr=fpr, at_eta=False)
        grid = None if eta is None else read_eta(eta, table, makes).require_exact("sample_size()")
        options = read_size_options(
            delta, confidence, method, assurance, relative=relative, at_eta=eta is not None
        )
        query = build_sample_size_table(table, grid, targets, options)
        return self._finish(query, grid)

    def resolution(
        self,
        delta: float = 0.1,
        *,
        threshold: Any = None,
        recall: TargetValues = None,
        fpr: TargetValues = None,
        confidence: float = 0.95,
        method: RateMethod = "wilson",
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> F:
        """The smallest prevalence at which this test set knows precision to `delta`.

        Parameters
        ----------
        delta
            The width of the default band of `curve`, upper minus lower precision.
        threshold, recall, fpr
            Targets, one or several, as in `operating_points`.
        confidence, method
            The interval of recall and of fpr; see `rate_interval`. `"clopper_pearson"` and `"jeffreys"`
            need a DataFrame.

        Returns
        -------
        One row per `by` group and target:

        - `criterion`, `target`, `threshold`, `recall`, `fpr`: as in `operating_points`
        - `n_pos`, `n_neg`: Int64, or Float64 with weights; the numbers in the table, or sums of weights,
          which are not numbers of examples
        - `eta`: Float64; at this prevalence and above it the band is at most `delta` wide. 0 if it is
          so at all prevalences, null if the interval of recall reaches down to 0. `sample_size` asks
          for the same band.

        Examples
        --------
        >>> counts = pl.DataFrame({"score": [1, 0], "n_pos": [90, 10], "n_neg": [5, 995]})
        >>> limit = counts.prc.resolution(0.1, threshold=1, counts=("n_pos", "n_neg"))
        >>> round(limit["eta"].item(), 4)
        0.0831
        """
        table = read_input(
            self._frame,
            makes=RESOLUTION_COLUMNS,
            may_collect=self._may_collect,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            sizes=sizes,
            cells=cells,
            missing=missing,
        )
        targets = read_targets(table, threshold=threshold, recall=recall, fpr=fpr, at_eta=False)
        check_rate_method(method)
        bands = BandOptions(check_confidence(confidence), method, "mover")
        examples = table.require_example_counts()
        query = build_resolution_table(examples, targets, delta, bands)
        return self._finish(query)

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
        counts: Counts | None = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """Precision as smaller samples of negatives find it; a LazyFrame is collected at the call.

        Test sets are often balanced by leaving negatives out. This method does so `n_repeats` times, at
        random, and puts the precision that the samples find beside the precision of all negatives,
        adjusted to the same prevalence (Brabec et al. 2020, section 5.1). For one threshold the function
        `subsampled_precision` gives the exact distribution, without drawing.

        Parameters
        ----------
        eta
            As in `curve`, at least the group's own prevalence, since negatives can only be left out.
        n_repeats, seed
            The number of samples, and a seed that makes them repeatable.
        thresholds
            As in `sweep`. Without it there is a row wherever recall rises, which may be many rows.

        Returns
        -------
        One row per `by` group, prevalence and threshold, falling:

        - `eta`: Float64, the prevalence in the samples, which hold a whole number of negatives
        - `n_kept`: Int64, the negatives in a sample
        - the columns of `sweep`
        - `precision`: Float64, of all negatives, adjusted to `eta`
        - `mean`, `standard_deviation`, `low`, `q1`, `median`, `q3`, `high`: Float64, of precision in the
          samples, `low` being the least and `high` the greatest; null where precision is undefined

        Examples
        --------
        >>> counts = pl.DataFrame({"score": [2, 1, 0], "n_pos": [6, 3, 1], "n_neg": [5, 50, 945]})
        >>> samples = counts.prc.subsample_negatives(0.1, seed=1, counts=("n_pos", "n_neg"))
        >>> samples.select("n_kept", "threshold", "precision", "low", "median", "high")
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
            self._frame,
            makes=SUBSAMPLE_COLUMNS,
            may_collect=True,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            counts=counts,
            missing=missing,
        )
        query = build_subsample_table(
            table,
            read_eta(eta, table, SUBSAMPLE_COLUMNS).require_exact("subsample_negatives()"),
            n_repeats=n_repeats,
            seed=seed,
            thresholds=thresholds,
        )
        return run_query(query)

    def report(
        self,
        path: str | os.PathLike[str],
        eta: Eta = None,
        by: Columns = None,
        *,
        within: Columns = None,
        model: str | None = None,
        id: Columns = None,
        recall: TargetValues = None,
        precision: TargetValues = None,
        alerts: TargetValues = None,
        per: float | None = None,
        guarantee: float | None = None,
        confidence: float | None = 0.95,
        title: str | None = None,
        date: str | None = None,
        notes: str | None = None,
        parts: Iterable[Part] | None = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        rates: tuple[Column, Column] | None = None,
        sizes: Sizes | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> Path:
        """Write one HTML file for those who decide; a LazyFrame is collected at the call.

        The first target, at the first prevalence, heads the page: which model to use, from which score,
        with how many alerts, how many of them right, and how many positives missed. Below stand one
        picture, a table for people, what the data cannot say and what would settle it, charts over
        other prevalences, and, folded, the methods and raw tables. The file needs no network and no
        other file, and can be read on a phone, on paper, in dark mode, with a screen reader and without
        scripts. Equal tables, in any order of rows, make equal bytes.

        Parameters
        ----------
        path
            The file to write. An existing file is replaced once the new one is complete.
        eta
            The prevalences to report on, the most important first: numbers, or a frame of group columns
            and `eta`, as in `curve`. None is the table's own, or that of each `by` group.
        by, model
            Group columns, and the column that names the models to choose from, if there is one.
        within
            Columns that tell the parts of a field apart, as in `curve`: the page is of the whole field,
            and `eta` is then a frame with a row per part. It has no charts over other prevalences and no
            numbers of examples needed, and says so. The lead at the target is tested by examples that
            are weighted for the field, if prevalences are no estimates.
        id
            The column or columns that tell the examples of a group apart, if models scored the same
            examples. Leads are then compared in pairs, as in `ranking`, and `missing="drop"` leaves out
            an example for all models.
        recall, precision, alerts
            Targets, one or several of each, as in `operating_points`. Models are ranked by the target:
            at a recall by precision, and at a precision or a number of alerts by recall. Without a
            target the report says who leads by average precision, and names no score.
        per
            The number of cases among which alerts are counted: a million if left out. `alerts` needs it.
        guarantee
            A level, such as 0.95: the report promises true values, as `operating_points` does. Where no
            threshold keeps the promise, it says so, and how many examples it takes.
        confidence
            The level of all intervals, or None for no intervals. `rates` without `sizes` have none; with
            `sizes`, and of `cells`, operating points and bands have them, and areas have none.
        title, date, notes
            The heading of the page, a date to print below it, and a text of your own. The page itself
            looks at no clock.
        parts
            A page of your own, in place of all that: texts, DataFrames and Altair charts, in order.
            `page.Table` and `page.Figure` give them a caption. In a text an empty line separates
            paragraphs, a line `## ...` is a heading, and lines `- ...` are a list.

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
        from polars_prcurve.report.build_report import (
            ReportText,
            check_parts_alone,
            write_parts,
            write_report,
        )

        targets = {"recall": recall, "precision": precision, "alerts": alerts}
        if parts is not None:
            others = {"per": per, "guarantee": guarantee, "notes": notes, "date": date}
            check_parts_alone(eta=eta, by=by, within=within, model=model, id=id, **targets, **others)
            return write_parts(path, parts, title)
        return write_report(
            path,
            _open_frame,
            self._frame,
            eta=eta,
            by=list_columns("by=", by),
            model=model,
            id=id,
            within=within,
            targets=targets,
            per=per,
            guarantee=guarantee,
            confidence=confidence,
            text=ReportText(title, notes, date),
            given={
                "score": score,
                "label": label,
                "pos_label": pos_label,
                "weight": weight,
                "counts": counts,
                "rates": rates,
                "sizes": sizes,
                "cells": cells,
                "missing": missing,
            },
        )

    def estimate_prevalence(
        self,
        eta_train: float | None = None,
        *,
        method: EstimateMethod = "posteriors",
        reference: pl.DataFrame | pl.LazyFrame | None = None,
        reference_counts: tuple[Column, Column] | None = None,
        counts: Column | None = None,
        confidence: float | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        missing: Missing = "raise",
        tolerance: float | None = None,
        max_iterations: int | None = None,
    ) -> pl.DataFrame:
        """Estimate the prevalence of rows without labels; a LazyFrame is collected at the call.

        The field must differ from training, or from the reference, in the share of positives alone. The
        estimate is then the prevalence of greatest likelihood, by one of two methods:

        - `"posteriors"` needs probabilities that are calibrated at prevalence `eta_train`. EM takes the
          mean posterior, moves the posteriors to that prevalence, and repeats (Saerens et al. 2002).
        - `"mixture"` needs a labelled table of the same model in place of calibration. It cuts scores
          into at most ten levels, and finds the prevalence that mixes the levels of positives and
          negatives to those of the field. It tests whether any prevalence does.

        Parameters
        ----------
        eta_train
            For `"posteriors"`: the prevalence at which they are calibrated, between 0 and 1.
        reference
            For `"mixture"`: a table with labels, with the same `score`, `label` and `pos_label`. Of the
            `by` columns it has all, some or none; groups that it does not tell apart share its rows.
        reference_counts
            Two columns, `("n_pos", "n_neg")`, in place of labels, if the reference is already counted.
        counts
            A column with the number of rows that a row stands for, such as `"n"` of
            `counts(label=None)`. Rows of equal score add up, so counts of several days are concatenated.
        confidence
            A level, such as 0.95: adds an interval by the likelihood ratio. That of `"posteriors"` takes
            the posteriors for calibrated; that of `"mixture"` includes the errors of the reference.
        score
            The column of scores; posteriors are all in [0, 1].
        tolerance, max_iterations
            For `"posteriors"`: a group is done as soon as its estimate changes by less than `tolerance`
            (None is 1e-12), and at the latest after `max_iterations` (None is 10 000).

        Returns
        -------
        One row per `by` group (null first), a frame that you can pass as `eta` to other methods:

        - `eta`: Float64, the estimate
        - with `confidence`, `eta_low`, `eta_high`, `eta_confidence`: Float64, the interval and its level
        - `n`: Int64, rows of the group
        - `shift_p_value`: Float64, p-value of the test that only the prevalence differs. If it is small,
          the estimate and its interval are worthless. Null for `"posteriors"`, which has no test, and
          for two levels, which any prevalence fits (a class with fewer than 15 examples, or two scores)
        - `iterations`: Int64, how often the mean was taken; null for `"mixture"`, which does without
        - `converged`: Boolean, whether `tolerance` was reached; near 0 and 1 this is slow

        Examples
        --------
        >>> field = pl.DataFrame({"p": [0.9, 0.8, 0.75, 0.6, 0.4, 0.35, 0.3, 0.2, 0.1, 0.05]})
        >>> field.prc.estimate_prevalence(eta_train=0.5, score="p")
        shape: (1, 5)
        ┌──────────┬─────┬───────────────┬────────────┬───────────┐
        │ eta      ┆ n   ┆ shift_p_value ┆ iterations ┆ converged │
        │ ---      ┆ --- ┆ ---           ┆ ---        ┆ ---       │
        │ f64      ┆ i64 ┆ f64           ┆ i64        ┆ bool      │
        ╞══════════╪═════╪═══════════════╪════════════╪═══════════╡
        │ 0.335914 ┆ 10  ┆ null          ┆ 67         ┆ true      │
        └──────────┴─────┴───────────────┴────────────┴───────────┘
        """
        level = None if confidence is None else check_confidence(confidence)
        start = check_estimate_method(
            method,
            eta_train,
            posteriors={"tolerance": tolerance, "max_iterations": max_iterations},
            mixture={
                "reference": reference,
                "reference_counts": reference_counts,
                "pos_label": pos_label,
            },
        )
        table = read_unlabelled(
            self._frame,
            makes=list_estimate_columns(level),
            may_collect=True,
            by=by,
            score=score,
            counts=counts,
            posteriors=start is not None,
            missing=missing,
        )
        if start is not None:
            return run_query(
                build_estimates_table(
                    table, start, level, tolerance=tolerance, max_iterations=max_iterations
                )
            )
        from polars_prcurve.sweep.mixture_table import build_mixture_table

        labelled = read_reference(
            cast("pl.DataFrame", reference),
            table,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            counts=reference_counts,
            missing=missing,
        )
        return run_query(build_mixture_table(table, labelled, level))

    def reweight(
        self,
        within: Columns,
        eta: pl.DataFrame | pl.LazyFrame,
        *,
        share: str = "share",
        by: Columns = None,
        name: str = "weight",
        score: Columns = None,
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        missing: Missing = "raise",
    ) -> F:
        """Add weights that give each part of a field its prevalence and its share.

        What will precision be in a field of several countries, each with a prevalence of its own? Rows
        of all parts stand behind one threshold. Pass `weight="weight"` on to another method, and leave
        `eta` out: the own prevalence of the weighted table is the prevalence of the field.

        Parameters
        ----------
        within
            The columns that tell the parts apart.
        eta
            A frame with one row per part: the `within` columns, `eta` (null is the part's own), a share,
            and any of the `by` columns. Each part of the table needs a row, and each part with a share
            above 0 needs rows, of both classes unless its eta is 0 or 1 or null. Other columns are
            ignored, but it raises if the table has a column of their name.
        share
            The column of the frame with the share of each part in the field. Shares are relative.
        name
            The name of the new column.
        score
            The columns of scores that the weights are for, of which no value may be missing.
        weight
            Weights that rows have already; they are multiplied.
        missing
            With `"drop"`, rows in which a score, the label or the weight is missing are left out, and
            the weights are those of the other rows. A later `missing="drop"` would leave rows out of a
            field that was weighed with them, which then has another prevalence and other shares.

        Returns
        -------
        The rows of the table, in their order, with `missing="drop"` only complete ones:

        - the other columns of the table
        - a column `name`: Float64; the weights of a `by` group sum to the number of its rows

        Examples
        --------
        >>> df = pl.DataFrame({"country": ["de", "de", "fr", "fr"], "label": [1, 0, 1, 0]})
        >>> field = pl.DataFrame({"country": ["de", "fr"], "eta": [0.5, 0.1], "share": [1, 3]})
        >>> df.prc.reweight("country", field)
        shape: (4, 3)
        ┌─────────┬───────┬────────┐
        │ country ┆ label ┆ weight │
        │ ---     ┆ ---   ┆ ---    │
        │ str     ┆ i64   ┆ f64    │
        ╞═════════╪═══════╪════════╡
        │ de      ┆ 1     ┆ 0.5    │
        │ de      ┆ 0     ┆ 0.5    │
        │ fr      ┆ 1     ┆ 0.3    │
        │ fr      ┆ 0     ┆ 2.7    │
        └─────────┴───────┴────────┘
        """
        table, parts = read_parts(
            self._frame,
            within=within,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            missing=missing,
        )
        return self._finish(build_reweighted_table(table, parts, eta, share=share, name=name))

    def sampling_plan(
        self,
        threshold: Any,
        *,
        budget: int,
        strata: int = 20,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        missing: Missing = "raise",
    ) -> pl.DataFrame:
        """Say how many rows to label next at which scores; a LazyFrame is collected at the call.

        Labels of rows drawn at random are mostly of scores that hardly matter. This plan shares them out
        so that precision at the threshold is known best, at any prevalence (Neyman 1934). It needs a
        few labels to start with. Draw `n_next` rows at random in each stratum, label them and ask again.

        Parameters
        ----------
        threshold
            The threshold at which precision is asked for, with scores on both sides of it.
        budget
            How many rows to label next. With 0, `weight` is that of the labels so far.
        strata
            Into how many ranges the scores are cut, half of them above the threshold. There are fewer
            where scores are equal. With the same rows and threshold the strata stay as they are.
        label
            A null label means that a row has none yet. Labelled rows have to be drawn at random within
            each stratum.

        Returns
        -------
        One row per stratum, from the highest scores down:

        - `stratum`: Int64, from 1, the highest scores
        - `score_low`, `score_high`: as in the table, the score; the least and the greatest of a stratum
        - `n`, `n_labelled`: Int64, its rows and those with a label
        - `positive_share`: Float64, the share of positives, smoothed by a logistic fit over all strata
        - `n_next`: Int64, rows to label next; they sum to `budget`, or to the rows without a label
        - `weight`: Float64, n / (n_labelled + n_next), with which the labelled rows stand for all rows;
          null if there are none

        Examples
        --------
        >>> labels = [k % 7 == 0 or k > 900 if k % 10 == 0 else None for k in range(1000)]
        >>> df = pl.DataFrame({"score": [k / 1000 for k in range(1000)], "label": labels})
        >>> df.prc.sampling_plan(0.8, budget=100, strata=4).select("stratum", "score_low", "n", "n_next")
        shape: (4, 4)
        ┌─────────┬───────────┬─────┬────────┐
        │ stratum ┆ score_low ┆ n   ┆ n_next │
        │ ---     ┆ ---       ┆ --- ┆ ---    │
        │ i64     ┆ f64       ┆ i64 ┆ i64    │
        ╞═════════╪═══════════╪═════╪════════╡
        │ 1       ┆ 0.9       ┆ 100 ┆ 37     │
        │ 2       ┆ 0.8       ┆ 100 ┆ 35     │
        │ 3       ┆ 0.4       ┆ 400 ┆ 21     │
        │ 4       ┆ 0.0       ┆ 400 ┆ 7      │
        └─────────┴───────────┴─────┴────────┘
        """
        table, labelled = read_part_labelled(
            self._frame, score=score, label=label, pos_label=pos_label, missing=missing
        )
        return run_query(
            build_sampling_plan(table, labelled, threshold=threshold, budget=budget, strata=strata)
        )

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
            Names of the new columns: the one that names the model, and the one that holds the score.
        row
            A name for a column with the row number of the wide table, if you want one.

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
        return self._finish(
            wide_tables.unpivot_scores(self._frame.lazy(), scores, name=name, score=score, row=row)
        )

    def one_vs_rest(
        self,
        *,
        label: str,
        scores: Mapping[Any, str],
        name: str = "class",
        score: str = "score",
        row: str | None = None,
        mix: Mapping[Any, float] | None = None,
    ) -> F:
        """Turn a multiclass table, one score column per class, into a score table.

        Parameters
        ----------
        label
            The column that holds the true class.
        scores
            A mapping from each class to its score column; the columns are all of one dtype. A class
            that occurs in no row raises when the query runs, unless all labels are null.
        name, score
            Names of the new columns: the one that names the class, and the one that holds the score.
        row
            A name for a column with the row number of the wide table, if you want one.
        mix
            The share of each class in the field, for every class of the label: `{"cat": 20, "dog": 80}`.
            Shares are relative. Adds the column `weight`, with which the classes have these shares. Pass
            `weight="weight"` on, and leave `eta` out: it is then the share of each class (in
            `sample_size`, pass `[None]`).

        Returns
        -------
        One row per row of the table and class, in that order:

        - with `row`, that column: Int64
        - the other columns of the table
        - a column `name`: as in the table, the label
        - a column `score`: as in the table
        - `label`: Boolean, whether the row is of that class; null where its class is null
        - with `mix`, `weight`: Float64, the share of the row's class in the field over its share in the
          table; 1 where its class is null

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
        return self._finish(
            wide_tables.one_vs_rest(
                self._frame.lazy(), label=label, scores=scores, name=name, score=score, row=row, mix=mix
            )
        )

    @property
    def plot(self) -> PlotPrc:
        """Charts of the score table; each method collects the table that it draws."""
        return PlotPrc(LazyFramePrc(self._frame.lazy()))


class DataFramePrc(FramePrc[pl.DataFrame]):
    __doc__ = FramePrc.__doc__
    _may_collect = True

    def _finish(
        self, query: pl.LazyFrame, grid: EtaTable | None = None, *, pairs: bool = False
    ) -> pl.DataFrame:
        n_etas = 1 if grid is None else grid.etas_per_group
        n_models = _MANY_MODELS if pairs else 1
        return run_query(query, None if n_etas is None else self._frame.height * n_etas * n_models)


class LazyFramePrc(FramePrc[pl.LazyFrame]):
    __doc__ = FramePrc.__doc__
    _may_collect = False

    def _finish(
        self, query: pl.LazyFrame, grid: EtaTable | None = None, *, pairs: bool = False
    ) -> pl.LazyFrame:
        return query


def _open_frame(frame: pl.DataFrame | pl.LazyFrame) -> DataFramePrc | LazyFramePrc:
    """Return the methods of a frame, as `prc` does, for the report, which asks more than one frame."""
    return DataFramePrc(frame) if isinstance(frame, pl.DataFrame) else LazyFramePrc(frame)
