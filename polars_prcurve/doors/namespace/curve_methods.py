"""Curves and what is read from them: `counts`, `sweep`, `curve`, `operating_points`, `summary`, ..."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import polars as pl  # noqa: F401  (the examples need it)

from polars_prcurve.core.binding.bound_table import BoundTable, F
from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.binding.shared_arguments import (
    CurveWords,
    DesignWords,
    ExampleWords,
    TargetsOfDesign,
    UnscoredWords,
)
from polars_prcurve.core.binding.shown_columns import (
    ResultColumns,
    choose_columns,
    list_in_order,
    read_columns,
    read_count_names,
)
from polars_prcurve.core.confidence.band_options import ChosenBands
from polars_prcurve.core.confidence.interval_options import Confidence, Intervals
from polars_prcurve.core.curves.binormal import Smooth, build_binormal_table, to_binormal_metric
from polars_prcurve.core.curves.curve_table import build_curve_table
from polars_prcurve.core.curves.decision_curves import PROBABILITIES, build_decision_table
from polars_prcurve.core.curves.target_arguments import read_targets
from polars_prcurve.core.ground.argument_checks import read_choice, read_flag
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.query_guards import run_query
from polars_prcurve.core.inputs.column_reader import Columns
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_lookup import default_curve_metrics, find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_values import Eta
from polars_prcurve.core.sweep.sweep_column_names import UNLABELLED_COLUMNS
from polars_prcurve.core.sweep.sweep_table import Thresholds, build_sweep_table, count_scores
from polars_prcurve.core.uncertainty.means_over_groups import build_mean_summary
from polars_prcurve.core.uncertainty.summary_table import build_summary_table, needs_negatives

if TYPE_CHECKING:
    from typing_extensions import Unpack


class CurveMethods(BoundTable[F], public_name="prc"):
    """The methods of `.prc` on curves: row by row, or for a whole curve."""

    def counts(self, **words: Unpack[UnscoredWords]) -> F:
        """Count positives and negatives at each distinct score; without labels, count rows.

        Counts add up: concatenate the counts of several days or shards, and pass them to another method
        with `counts=("n_pos", "n_neg")`.

        Parameters
        ----------
        label
            The label, or None to count rows, in columns `score` and `n`, Int64, for
            `estimate_prevalence(counts="n")`.

        Returns
        -------
        One row per `by` group and distinct score, by group (null first), then falling score:

        - `score`: as in the table; null for examples that were never scored
        - `n_pos`, `n_neg`: Int64, or Float64 with weights
        - with `weight`, `n_pos_squares`, `n_neg_squares`: Float64, sums of squares, for intervals

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.9, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.counts().rows()
        [(0.9, 1, 1), (0.2, 1, 0), (0.1, 0, 1)]
        """
        question = self._ask("counts", words)
        if question.columns.label is None:
            return self._finish(count_scores(question.read_unlabelled(), UNLABELLED_COLUMNS))
        return self._finish(count_scores(question.read()))

    def sweep(self, *, thresholds: Thresholds = None, **words: Unpack[CurveWords]) -> F:
        """Confusion counts, recall and fpr at every threshold: positive means score >= threshold.

        All other results follow from this table, in which prevalence plays no part.

        Parameters
        ----------
        thresholds
            A number n: for each k = 1..n the highest threshold with recall >= k/n, each once; none in a
            group without positives. Or a list of any numbers, as `threshold` of `operating_points`, each
            once. Or `"corners"`, which leaves out rows within runs of negatives: at most 2 * positives +
            2 rows per group give the same ROC and PR curves and average precision.

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
        table = question.read()
        return self._finish(build_sweep_table(table, thresholds=thresholds), table)

    def curve(
        self,
        eta: Eta = None,
        *,
        metrics: str | PointMetric | Sequence[str | PointMetric] = ("precision",),
        confidence: Confidence = None,
        smooth: Smooth = None,
        long: bool = False,
        thresholds: Thresholds = None,
        **words: Unpack[DesignWords],
    ) -> F:
        """Precision, or any point metric, at every threshold and every prevalence.

        Recall and fpr are measured once, and precision at any prevalence follows from them:
        `precision = recall*eta / (recall*eta + fpr*(1-eta))` (Williams 2021, eq. 2).

        Parameters
        ----------
        eta
            The prevalence, a share in [0, 1]: one or several, as numbers or as texts: `"0.1%"`,
            `"1/1000"` and `"1 in 1,000"` are shares, `"1:999"` is a ratio of positives to negatives.
            None is the prevalence of each group in this table. A frame gives each group its prevalence,
            in a column `eta` (null: the prevalence of the group) beside any `by` columns. Further
            columns are carried along, with a result for each row; their names must not occur in this
            table, and each group needs a row. An estimate has its interval in `eta_low` and `eta_high`,
            both null if it is exact, and its level in `eta_confidence` (otherwise the level of
            `confidence`), as in `eta_from_sample`. All three follow `eta` in the result, whose intervals
            include its error. `field(...)` combines several subpopulations, `class_mix(...)` several
            classes. A table without labels, made by `prc(month, label=None)`, represents the prevalence
            of its rows, estimated with this table; intervals allow for the shared examples.
        metrics
            Names or values of point metrics from `polars_prcurve.metrics`.
        confidence
            A level, such as 0.95, or `intervals(...)`: adds an interval of each metric at this
            threshold, for samples with the same numbers of positives and negatives. The analytic one has
            this coverage on average (Zou and Donner 2008). With `cluster` it uses the variance among
            clusters (Korn and Graubard 1998), with `stratum` the variance within and between strata
            (Neyman 1938).
        smooth
            `"binormal"`: recall and fpr come from the model that `binormal` fits. Counts are null.
        long
            A row per metric, in columns `metric`, `value` (`low`, `high`), instead of a column each.
        thresholds
            As in `sweep`.

        Returns
        -------
        One row per `by` group, prevalence, metric in the requested order (with `long`) and decreasing
        threshold, in that order:

        - `eta`: Float64; with `eta=None`, the group's own
        - the columns of `sweep`
        - the columns `metrics`: Float64, null where undefined (0/0). At the prevalence of the group
          precision is tp / (tp + fp) to the last bit
        - with `confidence`, after each metric, `<metric>_low`, `<metric>_high`: Float64, null where the
          metric is null, or a class is absent or in one `cluster`
        - with `field`, `n_pos_effective`, `n_neg_effective`, `fp_effective`: Float64, how many
          examples of equal weight the positives, the negatives and the false positives count as
          (Kish 1965). `tp`, `fp`, `fn` and `tn` are then sums of weights, at the prevalence of the
          population

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> curve = df.prc.curve(eta=[0.5, 0.01]).filter(threshold=0.2)
        >>> curve.select("eta", "threshold", "recall", pl.col("precision").round(6)).rows()
        [(0.01, 0.2, 1.0, 0.019802), (0.5, 0.2, 1.0, 0.666667)]
        """
        chosen_metrics = find_metrics(metrics, PointMetric)
        if smooth is not None:
            read_choice("smooth=", smooth, ["binormal"])
        question = self._ask("curve", words, eta=eta, confidence=confidence, smooth=smooth)
        bands = question.read_bands(chosen_metrics)
        table, grid = question.place_at_etas(question.read(), chosen_metrics)
        if bands is not None:
            table.require_example_counts()
        is_smooth = smooth is not None
        query = build_curve_table(
            table, grid, chosen_metrics, thresholds=thresholds, bands=bands, smooth=is_smooth, long=long
        )
        return self._finish(query, table, grid)

    def operating_points(
        self,
        eta: Eta = None,
        *,
        metrics: str | PointMetric | Sequence[str | PointMetric] | None = None,
        guarantee: float | str | None = None,
        start: Any = None,
        together: bool = False,
        confidence: Confidence = None,
        long: bool = False,
        columns: ResultColumns = "short",
        **words: Unpack[TargetsOfDesign],
    ) -> F:
        """The threshold that meets a target, and its metrics, at every prevalence.

        A target takes one value or several, and you can combine kinds of targets. A group with one
        point, such as a 2x2 table in `cells`, needs none; groups with several points raise an error
        without one.

        Parameters
        ----------
        eta, long
            As in `curve`.
        threshold
            A fixed threshold: any number, in the data or not, compared exactly with scores. The result
            shows the smallest value of their dtype at or above it, or null if there is none and nothing
            is flagged. A text such as "0.7" is the score that is written so; as a number, 0.7 is above
            that score if scores are Float32. A frame with a column `threshold`, any of the `by` columns,
            and `eta` if thresholds differ by it, such as a table of this method, gives each group its
            own. A null threshold gives a row of nulls, and a group without a row raises an error.
        recall, npv
            The highest threshold with at least this recall, or negative predictive value (npv) at `eta`.
        fpr, fdr, predicted_positive_rate
            The lowest threshold with at most this rate; fdr and predicted_positive_rate at `eta`.
        alerts
            An alert budget: the lowest threshold with at most this number of alerts among `per` cases,
            or as a text with both numbers, `"500/2000000"`.
        precision, lift
            The lowest threshold with at least this precision, or lift, at `eta`.
        maximize
            A point metric: the highest threshold at its best value (the smallest if lower is better).
        metrics
            Columns to show for each threshold: point metrics, `recall` and `precision` if left out;
            counts, `tp`, `fp`, `fn` and `tn`; and with `per` also `alerts`, `true_alerts` and `missed`.
            They stand in your order; with `columns="all"`, or `long`, counts stand apart.
        columns
            As in `summary`. With `"all"`, `metrics` are `precision` and `f1` if left out.
        guarantee
            A level, such as 0.95. Over repeated test sets, the chosen threshold then misses its target
            at `eta` in at most 5%; without a guarantee, in about half. It applies to all targets except
            `threshold` and `maximize`, to each row separately, with nulls if no threshold passes.
            `alerts`, `predicted_positive_rate` and fields need a DataFrame and SciPy. For an estimated
            `eta` the tests use the end of its interval at which the target is hardest to meet, and its
            error rate there, `(1 - eta_confidence) / 2`, is subtracted from theirs: except for `recall`
            and `fpr`, `eta_confidence` must be above `2 * guarantee - 1`, such as 0.98 for 0.95. With
            `field(...)`, at exact prevalences, the limits of all parts are added in quadrature (Zou and
            Donner 2008).
        start
            Where the tests of `precision`, `npv`, `fdr` and `lift` start: a score that was fixed before
            the labels were seen, or a frame as for `threshold`. If left out, a number of alerts set by
            the class sizes, the target and `eta`.
        together
            One row per prevalence, for the lowest threshold that meets all targets; nulls if none does.
            With `guarantee` all n targets are guaranteed together, each at the level
            `1 - (1 - guarantee) / n`.
        confidence
            A level, or `intervals(...)`: adds to each metric an interval for this threshold on new data.
            For a threshold chosen on these rows the interval allows for the choice: its worse end allows
            for one fewer true positive and one more false positive; for `maximize`, the larger of 2 and
            `tp ** (1/3)` of each; for `recall`, a fraction of one. The metric of the target, such as
            recall at `recall=`, also has an interval. `threshold=` is for thresholds from other data.
            For the *model* at a target use `summary` and `compare`. `intervals(method="bootstrap")`
            subtracts the optimism (Harrell et al. 1996) from the value of `maximize`, for a DataFrame.
        per
            A number of cases, such as 2_000_000 a day, which `alerts` needs: adds the alerts among
            them.

        Returns
        -------
        One row per `by` group, prevalence and target, in the order of the signature. If no row of the
        sweep meets a target, its row holds nulls:

        - `eta`: Float64; with `eta=None`, the group's own
        - `criterion`: String, `recall` etc. or `maximize(f1)`; `together`, `precision & alerts`; without
          a target, `point`
        - `target`: Float64, the value passed; null for `maximize`, `together` and a point
        - `threshold`: as in the table
        - with `guarantee`, `guarantee`: Float64, the level
        - with `guarantee` and `columns="all"`, `holds_from`, `holds_to`: as in the table, the ends
          of the range of thresholds that the guarantee covers; null if no threshold passes
        - with `guarantee`, `n_pos_needed`, `n_neg_needed`: Float64, the examples of a class that even a
          perfect classifier needs; infinite if no number will do. Null for a class that sets no limit:
          positives for `precision`, `fdr`, `lift` and `fpr`, negatives for `npv` and `recall`, both for
          `alerts` and `predicted_positive_rate`, and in a field
        - with `columns="all"`, `tp`, `fp`, `fn`, `tn`: Int64, or Float64 with weights and in a field, as
          in `curve`
        - with `columns="all"`, `recall`, `fpr`: Float64, null if the class is absent
        - the columns `metrics`: Float64, null where undefined
        - with `per`, `alerts`: Float64, the expected alerts among `per` cases
        - with `per` and `columns="all"`, `true_alerts`, `missed`: Float64, the expected true
          positives and false negatives among them
        - with `confidence`, after each metric, `recall`, `fpr`, `alerts`, `true_alerts` and `missed`,
          `<metric>_low`, `<metric>_high`: Float64, as in `curve`. With `method="bootstrap"`
          `<metric>_corrected` precedes both: the metric less its optimism, null in other rows
        - with `confidence` and `columns="all"`, `certainty`: Float64, the one-sided confidence that the
          threshold meets its target on new data: at least 0.975 where a 95% interval is beyond the
          target. Null below 0.5, since the threshold was chosen for its target; without a target for a
          metric; and for intervals other than the analytic ones
        - with `confidence` and `columns="all"`, `above_chance`: Boolean, as in `summary`; also null with
          weights or clusters
        - with `confidence`, `doubt`: String, null where there is no reason to mistrust an interval of
          the row, otherwise the first reason: `"one class"`, `"target not met"`, `"few positives"` (at a
          chosen threshold fewer than 10 in all, or fewer than 5 in `tp` for `precision`, `fdr` and
          `lift`; at others, with weights or clusters, with `field` and for `eta=None` fewer than 10 in
          `tp` or `fn`), `"few false positives"` (for those targets, and fewer than 4 for a budget),
          `"few negatives"`, `"few clusters"` (fewer than 30, or cells with few of them),
          `"heavy weights"` (few negatives with large weights, hardly any of them flagged),
          `"several targets"` (`together`) or `"no value"`. With `stratum` labels count:
          `"few positives"` and `"few negatives"` (fewer than 10 in all), `"few labels"` (fewer than 10
          on one side of the threshold), or `"stratum of one row"` (treated as drawn independently); rows
          drawn by their labels are in doubt where rows without weights are. For points: `"no sizes"`,
          or `"few points"` (between two of them)

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> points = df.prc.operating_points(eta=0.01, recall=1.0, precision=0.5, per=10_000)
        >>> points.select("criterion", "target", "threshold", "recall", "alerts").rows()
        [('recall', 1.0, 0.2, 1.0, 5050.0), ('precision', 0.5, 0.9, 0.5, 50.0)]

        The 60 highest scores are all positive. How far down is the true precision at least 0.9?

        >>> many = pl.DataFrame({"score": range(200, 0, -1), "label": [1] * 60 + [0, 0, 1, 0] * 35})
        >>> sure = many.prc.operating_points(precision=0.9, guarantee=0.95, columns="all")
        >>> sure.select("threshold", "holds_from", "holds_to", "n_pos_needed").row(0)
        (138, 138, 172, 29.0)
        """
        columns = read_columns(columns)
        from polars_prcurve.core.curves.guarantees import promise_and_join
        from polars_prcurve.core.curves.operating_points import build_points_table, list_shown_metrics

        default_metrics = ("recall", "precision") if columns == "short" else ("precision", "f1")
        metrics, has_per = default_metrics if metrics is None else metrics, words.get("per") is not None
        count_names, named_metrics = read_count_names(metrics, has_per=has_per, long=long)
        chosen_metrics = find_metrics(named_metrics, PointMetric)
        promise_arguments: dict[str, Any] = {"guarantee": guarantee, "start": start}
        promise_arguments["together"] = read_flag("together=", together)
        question = self._ask(
            "operating_points", words, eta=eta, confidence=confidence, **promise_arguments
        )
        per, bootstrap_intervals = question.targets.get("per"), _choose_correction(question)
        build_bands = partial(ChosenBands, corrected=bootstrap_intervals is not None)
        bands = question.read_bands(chosen_metrics, build_bands)
        table = question.read()
        targets = read_targets(table, **question.targets)
        needed_metrics = chosen_metrics + [
            target.maximized for target in targets if target.maximized is not None
        ]
        table, grid = question.place_at_etas(table, needed_metrics)
        targets = promise_and_join(targets, table, grid, **promise_arguments)
        shown_metrics = list_shown_metrics(chosen_metrics, bands, targets, per=per, long=long)
        optimism = _build_optimism(table, grid, targets, shown_metrics, bootstrap_intervals)
        query = build_points_table(
            table, grid, targets, chosen_metrics, per=per, bands=bands, long=long, optimism=optimism
        )
        alert_columns = [] if per is None else ["alerts"]
        value_columns = count_names if long else list_in_order(metrics, chosen_metrics)
        query = choose_columns(
            query,
            columns,
            "operating_points",
            list(table.by),
            carried_columns=grid.carried_columns,
            shown_value_columns=value_columns + alert_columns,
        )
        return self._finish(query, table, grid)

    def decision_curve(
        self,
        eta: Eta = None,
        *,
        probabilities: Sequence[float] = PROBABILITIES,
        eta_train: float | str | None = None,
        confidence: Confidence = None,
        columns: ResultColumns = "short",
        **words: Unpack[ExampleWords],
    ) -> F:
        """Net benefit at each risk at which a user would act, beside the net benefit of always acting.

        If you act at a risk of `p`, you accept `(1 - p) / p` false positives per true positive. Scores
        are posteriors in [0, 1]; flagging all at or above `p` has the net benefit
        `eta*recall - (1-eta)*fpr * p/(1-p)`, in true positives per case (Vickers and Elkin 2006).

        Parameters
        ----------
        eta
            The prevalence, one number or several, to which posteriors are moved, as by `shift_prior`.
            With None (each group's prevalence) and in `field(...)`, they are not moved.
        probabilities
            The risks at which users act, numbers in [0, 1).
        eta_train
            The prevalence at which the scores are posteriors, between 0 and 1, which `eta` needs. The
            column `threshold` shows each risk as a posterior there.
        confidence
            A level, such as 0.95: adds an interval of net benefit, from Wilson's intervals of recall,
            fpr and a counted prevalence, in quadrature (Zou and Donner 2008).
        columns
            As in `summary`.

        Returns
        -------
        One row per `by` group, prevalence and probability, in this order:

        - `eta`: Float64; with `eta=None`, the group's own
        - `threshold_probability`: Float64, the risk
        - `threshold`: as in the table
        - with `columns="all"`, `tp`, `fp`, `fn`, `tn`, `recall`, `fpr`: as in `sweep`
        - `net_benefit`: Float64, null without a class, except at the prevalence of the group
        - `treat_all`: Float64, the net benefit of flagging everybody, `eta - (1-eta) * p/(1-p)`
        - with `confidence`, `net_benefit_low`, `net_benefit_high`: Float64, null where a class is absent
        - with `field` and `columns="all"`, `n_pos_effective`, `n_neg_effective`,
          `fp_effective`: Float64, as in `curve`
        - with `confidence`, `doubt`: String, null where the interval can be trusted, otherwise the first
          reason why not, as in `operating_points` at a `threshold`

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.6, 0.3, 0.1], "label": [1, 0, 1, 0]})
        >>> curve = df.prc.decision_curve(probabilities=[0.2, 0.5])
        >>> curve.select("threshold_probability", "net_benefit", "treat_all").rows()
        [(0.2, 0.4375, 0.375), (0.5, 0.0, 0.0)]
        """
        columns = read_columns(columns)
        question = self._ask(
            "decision_curve", words, eta=eta, confidence=confidence, eta_train=eta_train
        )
        bands = question.read_bands([])
        table = cast("ScoreTable", question.read(are_posteriors=True))
        etas = question.eta.list_numbers("decision_curve")
        carried_columns: Sequence[str] = ()
        if question.columns.parts is not None:
            placed_table, grid = question.place_at_etas(table)
            table, carried_columns = cast("ScoreTable", placed_table), grid.carried_columns
        if bands is not None:
            table.require_example_counts()
        query = build_decision_table(table, etas, probabilities, eta_train, bands)
        query = choose_columns(
            query, columns, "decision_curve", list(table.by), carried_columns=carried_columns
        )
        return self._finish(query)

    def summary(
        self,
        eta: Eta = None,
        *,
        metrics: str | CurveMetric | Sequence[str | CurveMetric] | None = None,
        confidence: Confidence = None,
        smooth: Smooth = None,
        coarse: bool = False,
        mean_over: Columns = None,
        columns: ResultColumns = "short",
        **words: Unpack[DesignWords],
    ) -> F:
        """Average precision, or any metric of a whole curve, at every prevalence.

        One sweep serves all metrics and prevalences.

        Parameters
        ----------
        eta
            As in `curve`.
        metrics
            Names or values of curve metrics from `polars_prcurve.metrics`, or point metrics at a
            threshold, such as `precision_at_threshold(0.8)`, as `operating_points` returns them. If left
            out, `average_precision`, `pr_auc` and `roc_auc`, but no `pr_auc` with analytic intervals (it
            has none) and no `average_precision` with `rates` or `cells` (interpolated points inflate the
            sum of steps). Metrics on the ROC convex hull need a
            DataFrame.
        confidence
            A level, such as 0.95, or `intervals(...)`: adds standard errors and intervals. The analytic
            ones exist for `average_precision`, `roc_auc` and, outside fields, metrics at a target, such
            as `precision_at_recall(...)`; at a target they describe the model, whose threshold varies
            between samples, and have no standard error. For other metrics they are null.
            `intervals(method="bootstrap")` has all metrics, resamples the positives and the negatives of
            each group separately, keeping their numbers, and needs a DataFrame; metrics at a threshold
            keep their analytic interval. With `cluster` the influences of a cluster's examples add up
            first, and the bootstrap draws whole clusters. With `stratum`, rows are treated as drawn one
            by one with these weights, which is slightly conservative.
        columns
            `"short"`, the columns that fit a screen, or `"all"`: they depend on the arguments alone.
        smooth
            `"binormal"`: metrics of the model that `binormal` fits to each group, without `confidence`.
            It has `average_precision` and its transforms, `pr_auc` and `pr_auc_trapezoid(...)`, which
            are equal on a curve without steps, `roc_auc`, `precision_at_recall(...)`,
            `integrated_average_precision(...)`, and `integrated(...)` of these.
        coarse
            True, for scores that are rounded and counts in bins, adds the limits of a metric over all
            orders of the examples of equal score, or, with `rates` or `cells`, over what may lie between
            two points: for `average_precision` and its transforms, `pr_auc`, `boyd_pr_auc`, `roc_auc`,
            `partial_roc_auc(...)`, `precision_at_recall(...)`, `recall_at_precision(...)` and
            `recall_at_fpr(...)`. Not with `confidence`, which redefines `low` and `high`.
        mean_over
            Columns that name groups, such as topics, folds or sites: the unweighted mean over the groups
            in which a metric has a value. The groups are the sample, so `confidence` gives an interval
            of every metric, by Student's t distribution; the classes of a mapping in `score` share
            examples, and have none. A long table does not show whether its groups share examples: if
            they do, pass a mapping. Columns named here are left out of a stored `by`. Not with
            `weight`, `cluster`, `stratum`, an estimated `eta` or a bootstrap.

        Returns
        -------
        One row per `by` group, prevalence and metric, in that order:

        - `eta`: Float64; with `eta=None`, the group's own; null if `mean_over` has groups of different
          prevalence
        - `n_pos`, `n_neg`: Int64, or Float64 with weights and in a field; the totals of the group
        - with `mean_over`, `n_groups`: Int64, the groups that have a value
        - `metric`: String
        - `value`: Float64, null where undefined: areas in a group without positives, or without
          negatives unless `eta` is 1. Row order does not affect it
        - with `confidence` and `columns="all"`, `standard_error`: Float64, null where unknown
        - with `confidence`, `low`, `high`: Float64, null where unknown. They include the sampling error
          of the table's prevalence, or the error of an estimate. For `average_precision` they allow for
          examples that the sample lacks: half a false positive above all others, one positive below, and
          half a positive on top, weighted like rows of their stratum; for `roc_auc`, half an example per
          class at either end
        - with `confidence` and `columns="all"`, `above_chance`: Boolean, one for each group: whether its
          scores separate the classes significantly, by ranks (Mann and Whitney 1947) or by the sum of
          reciprocal ranks of the positives, which is sensitive to high scores. Random scores are above
          chance in at most `1 - confidence` of tables. With weights or clusters it tests ROC AUC by its
          standard error. Null for one class alone, in a field, and for `"bootstrap"` with weights or
          clusters
        - with `confidence`, `doubt`: String, null where there is no reason to mistrust the interval,
          otherwise the first reason: "one class", "eta at 0 or 1", "target not met", "no value", "no
          formula: method='bootstrap'" (see `intervals`), "few positives" (for `average_precision` fewer
          than 10, or 100 clusters), "few false positives", "few negatives", "few clusters", "tail not
          seen" (in a bootstrap: what the sample lacks may matter more than chance), "heavy weights", or,
          with `rates` and `cells`, "no sizes" or "few points" (what lies between two points matters more
          than half of the interval). There is a reason wherever the interval is null. With `mean_over`,
          "groups share examples" or "few groups" (fewer than 10)
        - with `coarse`, `low`, `high`: Float64, null where the value is. No finer score lies outside
          them, except in the last digits, and one order of the examples reaches each, except `low` of
          `average_precision`: without weights it is up to 0.022 / n_pos below the worst order

        Sums are exact to 2**-118, so areas below 1e-24 have fewer exact digits. `auprg` is null at
        prevalences below 2**-69. The points (0, 0) and (1, 1) are added to `rates=`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> areas = df.prc.summary(eta=[0.5, 0.01], metrics="average_precision")
        >>> areas.with_columns(pl.col("value").round(6)).rows()
        [(0.01, 2, 2, 'average_precision', 0.509901), (0.5, 2, 2, 'average_precision', 0.833333)]
        """
        columns = read_columns(columns)
        if smooth is not None:
            read_choice("smooth=", smooth, ["binormal"])
        coarse = read_flag("coarse=", coarse)
        question = self._ask(
            "summary",
            words,
            eta=eta,
            confidence=confidence,
            smooth=smooth,
            coarse=coarse,
            mean_over=mean_over,
        )
        interval_options, mean_groups = question.interval_options, question.mean_groups
        interval_method = None if interval_options is None else interval_options.method
        is_analytic = interval_method == "analytic" and mean_groups is None
        default_names = default_curve_metrics(question.columns.points, is_analytic=is_analytic)
        chosen_metrics = find_metrics(default_names if metrics is None else metrics, CurveMetric)
        if smooth is not None:
            chosen_metrics = [to_binormal_metric(metric) for metric in chosen_metrics]
        table = question.read()
        if metrics is None and not table.counts_negatives:
            chosen_metrics = [metric for metric in chosen_metrics if not needs_negatives(metric)]
        table, grid = question.place_at_etas(table, chosen_metrics)
        question, table, grid = question.hide_names(table, grid)
        is_smooth, mean_groups = smooth is not None, question.mean_groups
        if mean_groups is not None:
            query = build_mean_summary(
                table, grid, chosen_metrics, mean_groups, interval_options, is_smooth=is_smooth
            )
        else:
            table = table if interval_options is None else table.require_example_counts()
            query = build_summary_table(
                table, grid, chosen_metrics, interval_options, is_smooth=is_smooth, is_coarse=coarse
            )
        keys = question.list_result_keys(table)
        query = choose_columns(query, columns, "summary", keys, carried_columns=grid.carried_columns)
        return self._finish(query, table, grid)

    def binormal(self, ddof: int = 0, **words: Unpack[ExampleWords]) -> F:
        """Fit a normal distribution to the scores of each class, by maximum likelihood.

        If positives are few and scores are normal, the curve of two normal distributions varies less
        than the steps of the sample (Brodersen et al. 2010): `curve` and `summary` take
        `smooth="binormal"`. Recall is Phi((mu_pos - threshold) / sigma_pos), and fpr likewise for
        negatives.

        Parameters
        ----------
        ddof
            Variances are divided by n - ddof: 0 for maximum likelihood, 1 for an unbiased variance.

        Returns
        -------
        One row per `by` group, null first:

        - `mu_pos`, `sigma_pos`, `mu_neg`, `sigma_neg`: Float64, mean and standard deviation of the
          scores of each class, taken as floats. Null for a class with fewer than two distinct scores, an
          infinite score, or at most `ddof` examples. With weights n is `sum(w)**2 / sum(w**2)`
        - `alpha` = n_pos / (n_pos + n_neg): Float64
        - `n_pos`, `n_neg`: Int64, or Float64 with weights
        - `roc_auc` = Phi((mu_pos - mu_neg) / sqrt(sigma_pos**2 + sigma_neg**2)): Float64, null where a
          mean is. Row order does not affect it
        - `p_value_pos`, `p_value_neg`: Float64, that the scores of a class are normal, by the test of
          Anderson and Darling with mean and variance estimated (Stephens 1974; D'Agostino and Stephens
          1986, table 4.9), whatever `ddof` is; at least 4e-24. Null with weights, for a class of fewer
          than 8 examples, and without a fit

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.binormal().select(pl.all().round(3)).rows()
        [(0.55, 0.35, 0.45, 0.35, 0.5, 2, 2, 0.58, None, None)]
        """
        table = self._ask("binormal", words).read()
        return self._finish(build_binormal_table(table, ddof=ddof))


def _choose_correction(question: Question) -> Intervals | None:
    """Return the bootstrap that corrects what was maximized; None if none is requested."""
    interval_options = question.interval_options
    return (
        interval_options
        if interval_options is not None and interval_options.method == "bootstrap"
        else None
    )


def _build_optimism(
    table: Any, grid: Any, targets: Any, metrics: Any, bootstrap_intervals: Intervals | None
) -> Any:
    """Return the optimism of what points maximize, as a LazyFrame; None if nothing is corrected."""
    if bootstrap_intervals is None:
        return None
    from polars_prcurve.core.uncertainty.optimism import build_optimism_table

    return build_optimism_table(table, grid, targets, metrics, bootstrap_intervals)


def has_one_point_each(bound_table: Any, call_arguments: Any) -> bool:
    """Return whether each group of a table of points has one, which needs no target to be chosen."""
    try:
        run_query(bound_table.operating_points(0.5, metrics="precision", **call_arguments).lazy())
    except PrcError:
        return False
    return True
