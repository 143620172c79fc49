"""Curves and what is read from them: `counts`, `sweep`, `curve`, `operating_points`, `summary`, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_choice, read_flag
from polars_prcurve.binding.bound_table import BoundTable, Question
from polars_prcurve.binding.words import TableWords, TargetsOfTable
from polars_prcurve.confidence.certainty import Confidence, Intervals
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
from polars_prcurve.curves.fields import read_field
from polars_prcurve.curves.guarantees import promise_and_join
from polars_prcurve.curves.operating_points import (
    build_points_table,
    list_points_columns,
    list_shown_metrics,
)
from polars_prcurve.curves.targets import read_targets
from polars_prcurve.inputs.score_table import ScoreTable, counts_negatives
from polars_prcurve.inputs.table_arguments import gives_squares
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.metrics.names import default_curve_metrics, find_curve_metrics, find_point_metrics
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.prevalence.eta_table import Eta
from polars_prcurve.sweep.sweep_table import Thresholds, build_sweep_table, count_scores
from polars_prcurve.uncertainty.negatives_needed import (
    check_negatives,
    hide_uncounted,
    needs_negatives,
)
from polars_prcurve.uncertainty.optimism import build_optimism_table
from polars_prcurve.uncertainty.summary_table import build_summary_table, list_summary_columns

if TYPE_CHECKING:
    from typing_extensions import Unpack

F = TypeVar("F", pl.DataFrame, pl.LazyFrame)


class CurveMethods(BoundTable[F], path="prc"):
    """The methods of `.prc` that answer row by row of a curve, or for a whole curve."""

    def counts(self, **words: Unpack[TableWords]) -> F:
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

        - `score`: as in the table; null for examples that were never scored
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
            A number n: for each k = 1..n the highest threshold with recall >= k/n, without
            repetition; a group without positives has no row. Or a list of thresholds, in the data or
            not: any numbers, as `threshold` of `operating_points`. One row per distinct threshold. Or
            `"corners"`, which leaves out rows inside runs of negatives: the other rows give the same ROC
            curve, the same PR curve at every prevalence and the same average precision, in at most
            2 * positives + 2 rows per group.

        Returns
        -------
        One row per `by` group and distinct score, by group (null first), then falling threshold.
        Ties move together, and the last row of a group has recall 1 and fpr 1, unless examples were
        never scored:

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
            error of `eta`. If both ends are null, eta is exact.
            `field(...)` is a field of several parts, and `class_mix(...)` one of several classes. A
            bound table without labels, `prc(month, label=None)`, stands for the prevalence of its rows,
            which is estimated with this table: intervals know that both errors come from the same
            examples.
        metrics
            Names or values of point metrics from `polars_prcurve.metrics`.
        confidence
            A level, such as 0.95, or `intervals(...)`: adds an interval of each metric, of what this
            threshold does in samples with the same numbers of positives and negatives. The analytic one
            holds the level on average (Zou and Donner 2008). With `cluster`, it goes by the variance
            among clusters (Korn and Graubard 1998), and by the correlation of recall and fpr; with
            `stratum`, by the variance within strata and between them (Neyman 1938).
        smooth
            `"binormal"`: recall and fpr come from the model that `binormal` fits, at the same
            thresholds. Counts are null.
        long
            One row per metric, with the columns `metric` and `value` (and `low`, `high`), in place of
            columns per metric.
        thresholds
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
          the metric is null, or where a class is absent. Weights are taken as sampling weights: one over
          the probability with which a row was sampled. In a field each part adds to the variance of
          both rates, and a distance for its eta if that is an estimate. With `cluster`, also null
          unless several clusters have rows of each class.
        - with `field`, `n_pos_effective`, `n_neg_effective`, `fp_effective`: Float64, how many examples
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
        if smooth is not None:
            read_choice("smooth=", smooth, ["binormal"])
        question = self._ask("curve", words, eta=eta, confidence=confidence, smooth=smooth)
        bands = question.read_bands(asked)
        makes = list_curve_columns(asked, long=long, bands=bands, in_field=question.has_parts)
        table, grid = question.place_at_etas(question.read(makes), makes)
        check_negatives(table, asked)
        query = build_curve_table(
            table if bands is None else table.require_example_counts(),
            grid,
            asked,
            makes,
            thresholds=thresholds,
            bands=bands,
            smooth=smooth is not None,
            long=long,
        )
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
            In a field targets are those of the whole field, at exact prevalences: limits of all parts
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
        confidence
            A level, or `intervals(...)`: adds an interval to each metric of the row. At `threshold=` it
            is of what this threshold does. At a target that this table was searched for, such as
            `recall=0.8`, another sample would find another threshold: the interval is then of how good
            the *model* is at this target, and wider by that. What `maximize` found is too good for its
            threshold, because chance helped to choose it: this optimism is estimated by a bootstrap, for
            which it needs a DataFrame, and taken away (Harrell et al. 1996). The column `interval_of`
            tells which. What a threshold that was found will do is another question: pass it back,
            `operating_points(threshold=points, confidence=0.95)`, best with new rows, or ask for a
            `guarantee`. With `guarantee`, `together`, in a field, and of published points, intervals
            are of the threshold as it stands. So are those of `intervals(simultaneous=True)`, which
            hold at any threshold, however it was found. Where `eta` is an estimate, they carry its
            error, too.
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
        - with `confidence`, `interval_of`: String, `threshold`, `model` or `best`
        - with `guarantee`, `guarantee`: Float64, the level
        - with `guarantee`, `holds_from`, `holds_to`: as in the table, the least and the greatest
          threshold of the stretch for which the promise holds at once; null if none is found
        - with `guarantee`, `n_pos_needed`, `n_neg_needed`: Float64, the number of positives, or of
          negatives, without which even perfect scores prove nothing, infinite if no number will do.
          Null for a class that does not limit: positives of `precision`, `fdr`, `lift` and `fpr`,
          negatives of `npv` and `recall`, both of `alerts` and `predicted_positive_rate`, and both in a
          field
        - `tp`, `fp`, `fn`, `tn`: Int64, or Float64 with weights and in a field: then sums of weights,
          not numbers of examples; in a field they have the field's prevalence
        - `recall`: Float64, null if the class is absent
        - with `confidence`, `recall_low`, `recall_high`: Float64
        - `fpr`: Float64, null if the class is absent
        - with `confidence`, `fpr_low`, `fpr_high`: Float64
        - the columns `metrics`: Float64, null where undefined
        - with `confidence`, after each metric, `<metric>_low`, `<metric>_high`: Float64, as in `curve`.
          If something is maximized, `<metric>_corrected` stands before both, the metric less its
          optimism, null in other rows
        - with `per`, `alerts`: Float64, the expected number among `per` events
        - with `per` and `confidence`, `alerts_low`, `alerts_high`: Float64
        - with `per`, `true_alerts`: Float64, those of them that are right
        - with `per` and `confidence`, `true_alerts_low`, `true_alerts_high`: Float64
        - with `per`, `missed`: Float64, the positives among `per` events that raise no alert
        - with `per` and `confidence`, `missed_low`, `missed_high`: Float64
        - with `confidence`, `above_chance`: Boolean, whether the scores of the group are shown to say
          anything of the label, as in `summary`; null with weights or clusters, and in a field
        - with `confidence`, `reliable`: Boolean, whether the intervals of the row are known to hold as
          often as they say. Null in a field, and if no row meets the target. With `stratum` it does
          not read what was found: of that, intervals hold as often whatever it is
        - with `confidence`, `why`: String, the first reason why they may not, null where there is none
          or `reliable` is null: `"few positives"` (fewer than 10 in `tp` or in `fn`),
          `"few false alerts"` (`fp`), `"few negatives"` (`tn`), `"few clusters"` (fewer than 30),
          `"equal scores"` (many near the threshold of a `"model"`), or `"several targets"` (with
          `together`: the interval does not allow for the search). With `stratum`, `"few positives"` and
          `"few negatives"` (fewer than 10 labelled in all), `"few labels"` (fewer than 10 on one side
          of the threshold), or `"stratum of one row"` (which is taken as drawn alone)

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
        >>> sure.select("target", "threshold", "holds_from", "holds_to", "n_pos_needed", "precision")
        shape: (1, 6)
        ┌────────┬───────────┬────────────┬──────────┬──────────────┬───────────┐
        │ target ┆ threshold ┆ holds_from ┆ holds_to ┆ n_pos_needed ┆ precision │
        │ ---    ┆ ---       ┆ ---        ┆ ---      ┆ ---          ┆ ---       │
        │ f64    ┆ i64       ┆ i64        ┆ i64      ┆ f64          ┆ f64       │
        ╞════════╪═══════════╪════════════╪══════════╪══════════════╪═══════════╡
        │ 0.9    ┆ 138       ┆ 138        ┆ 172      ┆ 29.0         ┆ 0.968254  │
        └────────┴───────────┴────────────┴──────────┴──────────────┴───────────┘
        """
        asked = find_point_metrics(metrics)
        question = self._ask(
            "operating_points",
            words,
            eta=eta,
            confidence=confidence,
            guarantee=guarantee,
            start=start,
            together=read_flag("together=", together),
        )
        per, corrector = question.targets.get("per"), _choose_correction(question)
        bands = question.read_bands(asked, corrected=corrector is not None)
        bands = None if bands is None else replace(bands, shown_with="points")
        makes = list_points_columns(asked, per=per, long=long, bands=bands, guarantee=guarantee)
        table = question.read(makes)
        targets = read_targets(table, **question.targets)
        table, grid = question.place_at_etas(table, makes)
        check_negatives(table, asked)
        check_negatives(table, (of.maximized for of in targets if of.maximized is not None))
        targets = promise_and_join(
            targets, table, grid, guarantee=guarantee, start=start, together=together
        )
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
        positives per event (Vickers and Elkin 2006). Acting never has a net benefit of 0. Scores are
        posteriors in [0, 1].

        Parameters
        ----------
        eta
            The prevalence where the model will run, a number or several. Posteriors are moved to it, as
            by `shift_prior`. None takes each group's own prevalence and the posteriors as they stand.
            At `field(...)` the posteriors stand as they are, too.
        probabilities
            The risks at which users act, numbers in [0, 1).
        eta_train
            The prevalence at which the scores are posteriors, between 0 and 1. It is needed with `eta`.
            The column `threshold` shows each risk as a posterior at `eta_train`.
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
        question = self._ask(
            "decision_curve", words, eta=eta, confidence=confidence, eta_train=eta_train
        )
        bands = question.read_bands([])
        makes = list_decision_columns(bands=bands is not None, in_field=question.has_parts)
        table = cast("ScoreTable", question.read(makes, posteriors=True))
        if question.has_parts:
            table = read_field(question.find_eta(), table, question.level)
            eta = None
        examples = table if bands is None else table.require_example_counts()
        return self._finish(build_decision_table(examples, eta, probabilities, eta_train, bands))

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

        Which model is better where 1 in 1 000 is positive? One sweep serves all prevalences and
        metrics, and a hundred prevalences cost about twice as much as one.

        Parameters
        ----------
        eta
            As in `curve`.
        metrics
            Names or values of curve metrics from `polars_prcurve.metrics`. If left out,
            `average_precision`, `pr_auc` and `roc_auc`; with `rates=`, `pr_auc` and `roc_auc`, because
            a sum of steps grows with each further point of the same line. With analytic
            intervals without `pr_auc`, which has none. The metrics on the convex
            hull, `pr_auc_hull`, `auprg_hull` and `roc_auc_hull`, need a DataFrame.
        confidence
            A level, such as 0.95, or `intervals(...)`: adds standard errors and intervals. The analytic
            ones are known of `average_precision`, `roc_auc` and `precision_at_recall(...)`, and null of
            other metrics; `intervals(method="bootstrap")` has all metrics, draws the positives and the
            negatives of each group separately, each in their own number, and needs a DataFrame. With
            `cluster` the influences of the examples of a cluster add up first, and the bootstrap draws
            whole clusters. In a field each part adds the variance of its influences, for
            `average_precision` and `roc_auc`. With `stratum`, influences have the variance of rows that
            were drawn one by one with these weights, which is a little more than that of strata.
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
        - `n_pos`, `n_neg`: Int64, or Float64 with weights and in a field; the totals of the group, which
          are sums of weights then, and not numbers of examples
        - `metric`: String
        - `value`: Float64, null where undefined: areas in a group without positives, or without
          negatives unless `eta` is 1. Metrics that do not depend on `eta` repeat at each prevalence.
          The order of the rows does not change a bit of it.
        - with `confidence`, `standard_error`, `low`, `high`: Float64, null where unknown. At a group's
          own prevalence they carry the error of its count, and with an interval of `eta` that one.
          Those of `average_precision` allow for examples that the sample lacks: a false positive above
          all others, a positive below, and one on top. Weights are taken as sampling weights. With
          `stratum` such examples weigh as rows of the strata do where they would stand. With
          `cluster`, a class in fewer than two clusters has no interval.
        - with `confidence`, `above_chance`: Boolean, whether the scores of the group are shown to say
          anything of the label, by their ranks (Mann and Whitney 1947) or by the sum of reciprocal ranks
          of the positives, which tells of the top. Of coins `1 - confidence` are, or a little less. One
          answer for all rows of a group, whatever the threshold. With weights or clusters it is that of
          ROC AUC by its standard error. Null for one class alone, in a field, and for `"bootstrap"` with
          weights or clusters
        - with `confidence`, `reliable`: Boolean, false where the sample is too small for what it should
          tell, null where there is no interval. Of `average_precision`, what the sample lacks matters
          less than chance, or, with `stratum`, positives count as 10 examples, with one more label of
          either class in each stratum.
        - with `confidence`, `why`: String, what is missing where `reliable` is false: "few positives",
          "few negatives", "few false alerts", "few clusters", "tail not seen" (examples that the sample
          lacks may move the value farther than chance does), "heavy weights", "few points" (with `rates`
          and `cells`, what lies between two points matters more than half of the interval), or "eta at
          0 or 1"; null otherwise
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
        if smooth is not None:
            read_choice("smooth=", smooth, ["binormal"])
        question = self._ask(
            "summary",
            words,
            eta=eta,
            confidence=confidence,
            smooth=smooth,
            coarse=read_flag("coarse=", coarse),
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
        query = build_summary_table(
            table if certainty is None else table.require_example_counts(),
            grid,
            asked,
            certainty=certainty,
            smooth=smooth is not None,
            coarse=coarse,
        )
        return self._finish(hide_uncounted(table, query, makes), grid)

    def binormal(self, ddof: int = 0, **words: Unpack[TableWords]) -> F:
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
