"""Curves and what is read from them: `counts`, `sweep`, `curve`, `operating_points`, `summary`, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_choice, read_flag
from polars_prcurve.binding.bound_table import BoundTable, Question
from polars_prcurve.binding.shared_arguments import TableWords, TargetsOfTable
from polars_prcurve.confidence.confidence_argument import Confidence, Intervals
from polars_prcurve.curves.binormal import (
    BINORMAL_COLUMNS,
    Smooth,
    build_binormal_table,
    to_binormal_metric,
)
from polars_prcurve.curves.curve_table import build_curve_table, list_curve_columns
from polars_prcurve.curves.decision_curves import (
    PROBABILITIES,
    build_decision_table,
    list_decision_columns,
)
from polars_prcurve.curves.field_rates import read_field
from polars_prcurve.curves.joint_targets import promise_and_join
from polars_prcurve.curves.operating_points import (
    build_points_table,
    list_points_columns,
    list_shown_metrics,
)
from polars_prcurve.curves.targets import read_targets
from polars_prcurve.inputs.input_tables import ScoreTable, counts_negatives
from polars_prcurve.inputs.table_arguments import gives_squares
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.metrics.names import default_curve_metrics, find_curve_metrics, find_point_metrics
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.prevalence.eta_argument import Eta
from polars_prcurve.sweep.sweep_table import Thresholds, build_sweep_table, count_scores
from polars_prcurve.uncertainty.optimism import build_optimism_table
from polars_prcurve.uncertainty.summary_table import build_summary_table, list_summary_columns
from polars_prcurve.uncertainty.unknown_negatives import (
    check_negatives,
    hide_uncounted,
    needs_negatives,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

F = TypeVar("F", pl.DataFrame, pl.LazyFrame)


class CurveMethods(BoundTable[F], path="prc"):
    """The methods of `.prc` that answer row by row of a curve, or for a whole curve."""

    def counts(self, **words: Unpack[TableWords]) -> F:
        """Count positives and negatives at each distinct score; without labels, count rows.

        Counts add up: concatenate those of several days or shards, pass them to another method with
        `counts=("n_pos", "n_neg")`, and the result is that of all their rows.

        Parameters
        ----------
        label
            None counts rows without labels, for `estimate_prevalence(counts="n")`: the columns are then
            `score` and `n`, an Int64.

        Returns
        -------
        One row per `by` group and distinct score, by group (null first), then falling score:

        - `score`: as in the table; null for examples that were never scored
        - `n_pos`, `n_neg`: Int64, or Float64 with weights
        - with `weight`, `n_pos_squares`, `n_neg_squares`: Float64, sums of squared weights.
          `confidence=` works if you pass all four as `counts=("n_pos", "n_neg", "n_pos_squares",
          "n_neg_squares")`

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.9, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.counts().rows()
        [(0.9, 1, 1), (0.2, 1, 0), (0.1, 0, 1)]
        """
        question = self._ask("counts", words)
        if question.columns["label"] is None:
            unlabelled = question.read_unlabelled(c.UNLABELLED_COLUMNS)
            return self._finish(count_scores(unlabelled, c.UNLABELLED_COLUMNS))
        has_squares: bool = gives_squares(question.columns.get("weight"), question.columns.get("counts"))
        makes = (*c.COUNT_COLUMNS, *(c.SQUARE_COLUMNS if has_squares else ()))
        return self._finish(count_scores(question.read(makes)))

    def sweep(self, *, thresholds: Thresholds = None, **words: Unpack[TableWords]) -> F:
        """Confusion counts, recall and fpr at every threshold: positive means score >= threshold.

        Everything else is computed from this table. Prevalence plays no part in it.

        Parameters
        ----------
        thresholds
            A number n: for each k = 1..n the highest threshold with recall >= k/n, without repetition; a
            group without positives has no row. Or a list of any numbers, with one row per distinct
            threshold, in the data or not, as `threshold` of `operating_points`. Or `"corners"`, which
            leaves out rows inside runs of negatives: at most 2 * positives + 2 rows per group give the
            same ROC curve, PR curve at every prevalence, and average precision.

        Returns
        -------
        One row per `by` group and distinct score, by group (null first), then falling threshold. Ties
        move together. The last row of a group has recall 1 and fpr 1, unless examples were never scored:

        - `threshold`: as in the table, the score
        - `tp`, `fp`, `fn`, `tn`: Int64, or Float64 with weights or with `sizes`; null from `rates` alone
        - `recall` = tp / (tp + fn), `fpr` = fp / (fp + tn): Float64 in [0, 1]; recall is null in a group
          without positives, and fpr in one without negatives (Brabec et al. 2020, eq. 6-7)

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.9, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.sweep().rows()
        [(0.9, 1, 1, 1, 1, 0.5, 0.5), (0.2, 2, 1, 0, 1, 1.0, 0.5), (0.1, 2, 2, 0, 0, 1.0, 1.0)]
        """
        question = self._ask("sweep", words)
        table = question.read(c.SWEEP_COLUMNS)
        query = build_sweep_table(table, thresholds=thresholds)
        return self._finish(hide_uncounted(table, query, c.SWEEP_COLUMNS))

    def curve(
        self,
        eta: Eta = None,
        *,
        metrics: str | PointMetric | Sequence[str | PointMetric] = ("precision",),
        confidence: Confidence = None,
        smooth: Smooth = None,
        long: bool = False,
        thresholds: Thresholds = None,
        **words: Unpack[TableWords],
    ) -> F:
        """Precision, or any point metric, at every threshold and every prevalence.

        Recall and fpr are measured once, and precision at any prevalence follows from them:
        `precision = recall*eta / (recall*eta + fpr*(1-eta))` (Williams 2021, eq. 2).

        Parameters
        ----------
        eta
            The prevalence, a share in [0, 1]: one or several, as numbers or as texts, of which
            `"1/1000"` and `"1 in 1 000"` are shares, and `"1:999"` is a ratio of positives to negatives.
            None is each group's own prevalence in this table.
            A frame gives each group its own, in a column `eta` (null is the own one) beside any `by`
            columns. Its further columns are carried along, and rows that differ in one have a result
            each. It raises if this table has a column of their name, or if a group has no row in the
            frame.
            An estimate has its interval in `eta_low` and `eta_high`, both null if it is exact, and its
            level in `eta_confidence` (else that of `confidence`), as `eta_from_sample` returns them. All
            three stand after `eta`, and every interval carries the error of `eta`.
            `field(...)` is a field of several parts, `class_mix(...)` one of several classes. A bound
            table without labels, `prc(month, label=None)`, stands for the prevalence of its rows,
            estimated with this table: intervals know that both errors come from the same examples.
        metrics
            Names or values of point metrics from `polars_prcurve.metrics`.
        confidence
            A level, such as 0.95, or `intervals(...)`: adds an interval of each metric, of what this
            threshold does in samples with the same numbers of positives and negatives. The analytic one
            holds the level on average (Zou and Donner 2008). With `cluster` it goes by the variance
            among clusters (Korn and Graubard 1998) and the correlation of recall and fpr, with `stratum`
            by the variance within and between strata (Neyman 1938).
        smooth
            `"binormal"`: recall and fpr at the same thresholds come from the model that `binormal` fits.
            Counts are null.
        long
            One row per metric, with the columns `metric` and `value` (and `low`, `high`), in place of
            columns per metric.
        thresholds
            As in `sweep`.

        Returns
        -------
        One row per `by` group, prevalence and distinct score (and metric, with `long`), by group, `eta`,
        metric in the order asked, falling threshold:

        - `eta`: Float64, a group's own prevalence filled in
        - the columns of `sweep`
        - the columns `metrics`: Float64, null where undefined (0/0). At a group's own prevalence
          precision is tp / (tp + fp) to the last bit
        - with `confidence`, after each metric, `<metric>_low`, `<metric>_high`: Float64, null where the
          metric is null or a class is absent, or is in fewer than two of the `cluster`s. Each part of a
          field adds to the variance of both rates, and an estimated eta adds a distance
        - with `field`, `n_pos_effective`, `n_neg_effective`, `fp_effective`: Float64, how many examples
          of equal weight the positives, the negatives and the false alerts count as (Kish 1965); fewer
          than there are if weights differ. `tp`, `fp`, `fn` and `tn` are then sums of weights, which add
          up to the number of examples and have the field's prevalence

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
        if smooth is not None:
            read_choice("smooth=", smooth, ["binormal"])
        question = self._ask("curve", words, eta=eta, confidence=confidence, smooth=smooth)
        bands = question.read_bands(asked)
        makes = list_curve_columns(asked, long=long, bands=bands, in_field=question.has_parts)
        table, grid = question.place_at_etas(question.read(makes), makes)
        check_negatives(table, asked)
        if bands is not None:
            table.require_example_counts()
        how = {"smooth": smooth is not None, "long": long}
        query = build_curve_table(table, grid, asked, makes, thresholds=thresholds, bands=bands, **how)
        return self._finish(hide_uncounted(table, query, makes), grid)

    def operating_points(
        self,
        eta: Eta = None,
        *,
        metrics: str | PointMetric | Sequence[str | PointMetric] = ("precision", "f1"),
        guarantee: float | None = None,
        start: Any = None,
        together: bool = False,
        confidence: Confidence = None,
        long: bool = False,
        **words: Unpack[TargetsOfTable],
    ) -> F:
        """The threshold that meets a target, and what it does, at every prevalence.

        A target takes one value or several, and you can combine kinds of targets.

        Parameters
        ----------
        eta
            As in `curve`.
        threshold
            This threshold itself: any number, in the data or not. It flags the scores that are at least
            as large, compared exactly as real numbers; the result shows the least value of the score's
            dtype that is not below it, or null if there is none and nothing is flagged.
            A frame with a column `threshold`, any of the `by` columns, and `eta` if thresholds differ by
            prevalence, such as a table of this method, gives each group those of its rows. Its other
            columns are ignored. A null threshold gives a row of nulls, and a group without a row raises.
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
            A point metric: the highest threshold of its best value, which is the smallest where less is
            better.
        metrics
            Point metrics to show.
        guarantee
            A level, such as 0.95: the threshold whose *true* value at `eta` meets the target, in this
            share of test sets; without it, the true value falls short in about half of them. For all
            targets except `threshold` and `maximize`. The promise is per row, which holds nulls if no
            threshold is sure enough. `alerts`, `predicted_positive_rate` and fields need a DataFrame and
            SciPy.
            Of an `eta` that is an estimate, the end of its interval counts at which the target is
            hardest to meet, and what the interval may miss there, `(1 - eta_confidence) / 2`, is taken
            from what the tests may. So `eta_confidence` must be above `2 * guarantee - 1`, such as 0.98
            for 0.95, except for `recall` and `fpr`. In a field, at exact prevalences, targets are those
            of the whole field: limits of all parts in quadrature (Zou and Donner 2008).
        start
            Where the tests of `precision`, `npv`, `fdr` and `lift` start: a score that was fixed before
            the labels were seen, or a frame as for `threshold`. If left out, the score at which a number
            of alerts is reached that depends on the numbers of positives and negatives, the target and
            `eta`.
        together
            One row per prevalence, for the lowest threshold that meets all targets, such as a budget of
            alerts and a precision; nulls if none does. With `guarantee` all n promises hold together
            with this level, each being kept at `1 - (1 - guarantee) / n`.
        confidence
            A level, or `intervals(...)`: adds an interval to each metric of the row. The column
            `interval_of` tells of what. `"threshold"`: what this threshold does, as it stands; for
            `threshold=`, `guarantee`, `together`, fields, published points, and
            `intervals(simultaneous=True)`, which holds at any threshold, however it was found.
            `"model"`: how good the model is at a target that was searched for, such as `recall=0.8`; it
            is wider, since another sample would find another threshold. `"best"`: what `maximize` found,
            less its optimism, since chance helped to choose it; a bootstrap, which needs a DataFrame,
            estimates that (Harrell et al. 1996). For what a threshold that was found will do, pass it
            back, `operating_points(threshold=points, confidence=0.95)`, best with new rows.
        per
            A number of events, such as 2_000_000 a day, which `alerts` needs: adds the alerts among
            them.
        long
            As in `curve`.

        Returns
        -------
        One row per `by` group, prevalence and target, in that order, with targets in the order of the
        parameters above. If no row of the sweep meets a target, its row holds nulls:

        - `eta`: Float64, a group's own prevalence filled in
        - `criterion`: String, `recall` etc. or `maximize(f1)`; `together`, `precision & alerts`
        - `target`: Float64, the number given; null for `maximize` and `together`
        - `threshold`: as in the table
        - with `confidence`, `interval_of`: String, `threshold`, `model` or `best`
        - with `guarantee`, `guarantee`: Float64, the level
        - with `guarantee`, `holds_from`, `holds_to`: as in the table, the least and the greatest
          threshold of the stretch for which the promise holds at once; null if none is found
        - with `guarantee`, `n_pos_needed`, `n_neg_needed`: Float64, without how many positives, or
          negatives, even perfect scores prove nothing; infinite if no number will do. Null for a class
          that does not limit: positives of `precision`, `fdr`, `lift` and `fpr`, negatives of `npv` and
          `recall`, both of `alerts` and `predicted_positive_rate`, and both in a field
        - `tp`, `fp`, `fn`, `tn`: Int64, or Float64 with weights and in a field, as sums of weights;
          those of a field have its prevalence
        - `recall`, `fpr`: Float64, null if the class is absent
        - the columns `metrics`: Float64, null where undefined
        - with `per`, `alerts`, `true_alerts`, `missed`: Float64, the expected number of alerts among
          `per` events, of those that are right, and of positives that raise none
        - with `confidence`, after each metric, `recall`, `fpr`, `alerts`, `true_alerts` and `missed`,
          `<metric>_low`, `<metric>_high`: Float64, as in `curve`. If something is maximized,
          `<metric>_corrected` stands before both, the metric less its optimism, null in other rows
        - with `confidence`, `above_chance`: Boolean, whether the scores of the group are shown to say
          anything of the label, as in `summary`; null with weights or clusters, and in a field
        - with `confidence`, `reliable`: Boolean, whether the intervals of the row are known to hold as
          often as they say. Null in a field, and if no row meets the target
        - with `confidence`, `why`: String, the first reason why they may not, null where there is none
          or `reliable` is null: `"few positives"` (fewer than 10 in `tp` or in `fn`),
          `"few false alerts"` (`fp`), `"few negatives"` (`tn`), `"few clusters"` (fewer than 30),
          `"equal scores"` (many near the threshold of a `"model"`), or `"several targets"` (with
          `together`: the interval does not allow for the search). With `stratum` it goes by what was
          labelled, and not by what was found: `"few positives"` and `"few negatives"` (fewer than 10
          labelled in all), `"few labels"` (fewer than 10 on one side of the threshold), or
          `"stratum of one row"` (which is taken as drawn alone)

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
        >>> sure.select("threshold", "holds_from", "holds_to", "n_pos_needed").row(0)
        (138, 138, 172, 29.0)
        """
        asked = find_point_metrics(metrics)
        own: dict[str, Any] = {"guarantee": guarantee, "start": start}
        own["together"] = read_flag("together=", together)
        question = self._ask("operating_points", words, eta=eta, confidence=confidence, **own)
        per, corrector = question.targets.get("per"), _choose_correction(question)
        bands = question.read_bands(asked, corrected=corrector is not None)
        bands = None if bands is None else replace(bands, shown_with="points")
        makes = list_points_columns(asked, per=per, long=long, bands=bands, guarantee=guarantee)
        table = question.read(makes)
        targets = read_targets(table, **question.targets)
        table, grid = question.place_at_etas(table, makes)
        check_negatives(table, asked)
        check_negatives(table, (of.maximized for of in targets if of.maximized is not None))
        targets = promise_and_join(targets, table, grid, **own)
        shown = list_shown_metrics(asked, bands, per=per, long=long)
        optimism = build_optimism_table(table, grid, targets, shown, corrector)
        query = build_points_table(
            table, grid, targets, asked, per=per, bands=bands, long=long, optimism=optimism
        )
        return self._finish(hide_uncounted(table, query, makes), grid)

    def decision_curve(
        self,
        eta: Eta = None,
        *,
        probabilities: Sequence[float] = PROBABILITIES,
        eta_train: float | None = None,
        confidence: Confidence = None,
        **words: Unpack[TableWords],
    ) -> F:
        """Net benefit at each risk at which a user would act, beside that of acting always.

        Who acts at a risk of `p` accepts `(1 - p) / p` false positives for a true one. The net benefit
        of flagging all posteriors of at least `p` is `eta*recall - (1-eta)*fpr * p/(1-p)`, in true
        positives per event (Vickers and Elkin 2006); never acting has 0. Scores are posteriors in [0,
        1].

        Parameters
        ----------
        eta
            The prevalence where the model will run, a number or several, to which posteriors are moved,
            as by `shift_prior`. None is each group's own prevalence: with it, and with `field(...)`,
            posteriors stand as they are.
        probabilities
            The risks at which users act, numbers in [0, 1).
        eta_train
            The prevalence at which the scores are posteriors, between 0 and 1, which `eta` needs. The
            column `threshold` shows each risk as a posterior there.
        confidence
            A level, such as 0.95: adds an interval of net benefit at each threshold, from Wilson's
            intervals of recall, of fpr and of a prevalence that was counted, by distances in quadrature
            (Zou and Donner 2008).

        Returns
        -------
        One row per `by` group, prevalence and probability, in this order:

        - `eta`: Float64, a group's own prevalence filled in
        - `threshold_probability`: Float64, the risk
        - the columns of `sweep`
        - `net_benefit`: Float64, null without a class, except at the group's own prevalence
        - `treat_all`: Float64, the net benefit of flagging everybody, `eta - (1-eta) * p/(1-p)`
        - with `confidence`, `net_benefit_low`, `net_benefit_high`: Float64, null where a class is absent
        - with `field`, `n_pos_effective`, `n_neg_effective`, `fp_effective`: Float64, as in `curve`

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.6, 0.3, 0.1], "label": [1, 0, 1, 0]})
        >>> curve = df.prc.decision_curve(probabilities=[0.2, 0.5])
        >>> curve.select("threshold_probability", "tp", "fp", "net_benefit", "treat_all").rows()
        [(0.2, 2, 1, 0.4375, 0.375), (0.5, 1, 1, 0.0, 0.0)]
        """
        question = self._ask(
            "decision_curve", words, eta=eta, confidence=confidence, eta_train=eta_train
        )
        bands = question.read_bands([])
        makes = list_decision_columns(bands=bands is not None, in_field=question.has_parts)
        table = cast("ScoreTable", question.read(makes, posteriors=True))
        if question.has_parts:
            table = read_field(question.find_eta(), table, question.level)
            eta = None
        if bands is not None:
            table.require_example_counts()
        return self._finish(build_decision_table(table, eta, probabilities, eta_train, bands))

    def summary(
        self,
        eta: Eta = None,
        *,
        metrics: str | CurveMetric | Sequence[str | CurveMetric] | None = None,
        confidence: Confidence = None,
        smooth: Smooth = None,
        coarse: bool = False,
        **words: Unpack[TableWords],
    ) -> F:
        """Average precision, or any metric of a whole curve, at every prevalence.

        One sweep serves all prevalences and metrics: a hundred prevalences cost about twice as much as
        one.

        Parameters
        ----------
        eta
            As in `curve`.
        metrics
            Names or values of curve metrics from `polars_prcurve.metrics`. If left out,
            `average_precision`, `pr_auc` and `roc_auc`: without `pr_auc` if intervals are analytic,
            since it has none, and without `average_precision` of `rates` or `cells`, since a sum of
            steps grows with each further point of the same line. Metrics on the convex hull,
            `pr_auc_hull`, `auprg_hull` and `roc_auc_hull`, need a DataFrame.
        confidence
            A level, such as 0.95, or `intervals(...)`: adds standard errors and intervals. The analytic
            ones are known of `average_precision`, `roc_auc` and `precision_at_recall(...)`, and null of
            other metrics. `intervals(method="bootstrap")` has all metrics, draws the positives and the
            negatives of each group separately, each in their own number, and needs a DataFrame. With
            `cluster` the influences of a cluster's examples add up first, and the bootstrap draws whole
            clusters. In a field each part adds the variance of its influences, for `average_precision`
            and `roc_auc`. With `stratum` influences vary as those of rows drawn one by one with these
            weights, which is a little more than strata do.
        smooth
            `"binormal"`: metrics of the model that `binormal` fits to each group, without `confidence`.
            The model has `average_precision` and its transforms, `pr_auc`, `pr_auc_trapezoid(...)`,
            `roc_auc`, `precision_at_recall(...)`, `integrated_average_precision(...)`, and
            `integrated(...)` of these. A fitted curve has no steps, so `average_precision`, `pr_auc` and
            `pr_auc_trapezoid(...)` are equal.
        coarse
            True, for scores that are rounded and counts in bins, adds the limits of each metric over all
            orders of the examples of equal score, or, with `rates` or `cells`, over whatever lies
            between two points. `average_precision` and its transforms, `pr_auc`, `boyd_pr_auc`,
            `roc_auc`, `partial_roc_auc(...)`, `precision_at_recall(...)`, `recall_at_precision(...)` and
            `recall_at_fpr(...)` have limits. Not with `confidence`, which has another `low` and `high`.

        Returns
        -------
        One row per `by` group, prevalence and metric, by group (null first), `eta`, metric in the order
        asked:

        - `eta`: Float64, a group's own prevalence filled in
        - `n_pos`, `n_neg`: Int64, or Float64 with weights and in a field, as sums of weights; the totals
          of the group
        - `metric`: String
        - `value`: Float64, null where undefined: areas in a group without positives, or without
          negatives unless `eta` is 1. Metrics that do not depend on `eta` repeat at each prevalence. The
          order of the rows does not change a bit of it
        - with `confidence`, `standard_error`, `low`, `high`: Float64, null where unknown. At a group's
          own prevalence they carry the error of its count, and with an interval of `eta` that one. Those
          of `average_precision` allow for examples that the sample lacks: a false positive above all
          others, a positive below, and one on top; with `stratum` these weigh as rows of the strata do
          where they would stand
        - with `confidence`, `above_chance`: Boolean, whether the scores of the group are shown to say
          anything of the label, by their ranks (Mann and Whitney 1947) or by the sum of reciprocal ranks
          of the positives, which tells of the top. Of random scores a share of `1 - confidence` is, or a
          little less. One answer for all rows of a group, whatever the threshold. With weights or
          clusters it is that of ROC AUC by its standard error. Null for one class alone, in a field, and
          for `"bootstrap"` with weights or clusters
        - with `confidence`, `reliable`: Boolean, false where the sample is too small for what it should
          tell, null where there is no interval. Of `average_precision` true means that what the sample
          lacks matters less than chance, or, with `stratum`, that positives count as 10 examples, with
          one more label of either class in each stratum
        - with `confidence`, `why`: String, what is missing where `reliable` is false: "few positives",
          "few negatives", "few false alerts", "few clusters", "tail not seen" (examples that the sample
          lacks may move the value farther than chance does), "heavy weights", "few points" (with `rates`
          and `cells`, what lies between two points matters more than half of the interval), or "eta at 0
          or 1"; null otherwise
        - with `coarse`, `low`, `high`: Float64, null where the value is. No finer score has less than
          `low` or more than `high`, except for rounding in the last digits. An order of the examples
          reaches them, except `low` of `average_precision`: without weights it is up to 0.022 / n_pos
          less than the value of the worst order

        Sums are exact to 2**-118, so areas below 1e-24, at tiny prevalences, have fewer exact digits.
        `auprg` is null at prevalences below 2**-69. With `rates=` the points (0, 0) and (1, 1) are
        added if they are absent.

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
        if smooth is not None:
            read_choice("smooth=", smooth, ["binormal"])
        coarse = read_flag("coarse=", coarse)
        question = self._ask(
            "summary", words, eta=eta, confidence=confidence, smooth=smooth, coarse=coarse
        )
        certainty = question.certainty
        analytic = certainty is not None and certainty.method == "analytic"
        defaults = default_curve_metrics(question.points, analytic=analytic)
        asked = find_curve_metrics(defaults if metrics is None else metrics)
        asked = asked if smooth is None else [to_binormal_metric(metric) for metric in asked]
        makes = list_summary_columns(errors=certainty is not None, coarse=coarse)
        table, grid = question.place_at_etas(question.read(makes), makes)
        if metrics is None and not counts_negatives(table):
            asked = [metric for metric in asked if not needs_negatives(metric)]
        check_negatives(table, asked)
        if certainty is not None:
            table.require_example_counts()
        query = build_summary_table(
            table, grid, asked, certainty=certainty, smooth=smooth is not None, coarse=coarse
        )
        return self._finish(hide_uncounted(table, query, makes), grid)

    def binormal(self, ddof: int = 0, **words: Unpack[TableWords]) -> F:
        """Fit a normal distribution to the scores of each class, by maximum likelihood.

        If positives are few and scores are normal, the curve of two normal distributions is steadier
        than the steps of the sample (Brodersen et al. 2010): `curve` and `summary` use it with
        `smooth="binormal"`. Recall is Phi((mu_pos - threshold) / sigma_pos), fpr is Phi((mu_neg -
        threshold) / sigma_neg), and precision follows from both as usual.

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
          then `sum(w)**2 / sum(w**2)`; with `counts`, n is the count
        - `alpha` = n_pos / (n_pos + n_neg): Float64
        - `n_pos`, `n_neg`: Int64, or Float64 with weights
        - `roc_auc` = Phi((mu_pos - mu_neg) / sqrt(sigma_pos**2 + sigma_neg**2)): Float64, null where a
          mean is null

        The order of the rows does not change a bit of the result.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.binormal().select(pl.all().round(3)).rows()
        [(0.55, 0.35, 0.45, 0.35, 0.5, 2, 2, 0.58)]
        """
        table = self._ask("binormal", words).read(BINORMAL_COLUMNS)
        return self._finish(build_binormal_table(table, ddof=ddof))


def _choose_correction(question: Question) -> Intervals | None:
    """Return the bootstrap that corrects what was maximized; None where nothing is corrected.

    Without a seed of the caller it draws the same replicates at each call, so that equal tables give
    equal results.
    """
    certainty = question.certainty
    if certainty is None or certainty.method == "bootstrap":
        return certainty
    is_plain = certainty.method == "analytic" and not certainty.simultaneous
    has_no_formula = question.has_parts or question.points is not None
    if question.targets.get("maximize") is None or not is_plain or has_no_formula:
        return None
    return Intervals(certainty.level, "bootstrap", seed=0)
