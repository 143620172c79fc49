"""Which model, and is it still as good: `compare`, `ranking`, `crossings`, ... and `monitor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import polars as pl

from polars_prcurve.core.binding.bound_table import BoundTable, F, merge_words
from polars_prcurve.core.binding.groups_of_a_question import name_column
from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.binding.shared_arguments import (
    TABLE_WORDS,
    AlertWords,
    OneTargetOfTable,
    RateTargetsOfCurve,
)
from polars_prcurve.core.binding.shown_columns import ResultColumns, choose_columns, read_columns
from polars_prcurve.core.comparison.comparison_request import (
    COMPARE_COLUMNS,
    Adjust,
    Comparison,
    Matched,
)
from polars_prcurve.core.comparison.significance_and_margin import add_not_worse, read_margin
from polars_prcurve.core.confidence.interval_options import Confidence
from polars_prcurve.core.curves.target_arguments import (
    RankingMetric,
    read_one_target,
    read_ranking_metric,
)
from polars_prcurve.core.ground.argument_checks import read_choice, read_flag, refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.inputs.column_reader import (
    Column,
    ColumnReader,
    Columns,
    list_columns,
    list_known_columns,
)
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_lookup import default_curve_metric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.eta_values import Eta, check_eta
from polars_prcurve.core.uncertainty.summary_table import check_negatives

if TYPE_CHECKING:
    from typing_extensions import Unpack


_ETA_RANGE = (1e-6, 0.5)
"""The prevalences that are searched if none are named: those of `eta_grid()`."""


class ComparisonMethods(BoundTable[F], public_name="prc"):
    """The methods of `.prc` that distinguish models, and a series from its reference."""

    def compare(
        self,
        eta: Eta = None,
        *,
        metrics: str
        | CurveMetric
        | PointMetric
        | Sequence[str | CurveMetric | PointMetric]
        | None = None,
        paired: bool = True,
        other: BoundTable[Any] | None = None,
        match: Matched | None = None,
        worst: bool = False,
        mean_over: Columns = None,
        margin: float | str | None = None,
        confidence: Confidence = 0.95,
        adjust: Adjust = None,
        columns: ResultColumns = "short",
        **words: Unpack[OneTargetOfTable],
    ) -> F:
        """Differences between models, or between groups, with intervals and p-values.

        Models are the columns of `score=["a", "b"]`, or the values of the column `model` of a long
        table, where `id` identifies the rows of one example.

        Parameters
        ----------
        eta
            As in `curve`. None is the prevalence of each group, which its models must share unless no
            metric depends on it, such as recall, fpr and `roc_auc`. For curve metrics with analytic
            errors it may be an estimate; the farther end of its interval is added to the error.
        paired
            Whether the models scored the same examples. With False each value of the column `model`,
            such as a country or published points, has its own examples, and both errors add up in
            quadrature.
        metrics
            Curve metrics, `average_precision` and `roc_auc` if left out; others have errors only with
            the bootstrap. At a target, point metrics, `precision` if left out.
        targets
            One target, as in `operating_points`, at which point metrics are compared, by the distances
            to the ends of their bands (Zou and Donner 2008). For models of one test set these allow for
            how often both flag the same examples. Where the target chooses the thresholds, as
            `recall=0.8` does, intervals allow for the choice. Where `threshold=` fixes them,
            `net_benefit(...)`, `recall` and `fpr` of models of one test set without weights have a
            standard error (Agresti and Min 2005). A `threshold` frame may have a `model` column naming
            the columns of `score`.
        other
            A table with one point from other examples, such as a human reader's, made by
            `prc(paper, cells=(...))`, with the `by` groups of this table. It needs `match`.
        match
            `"recall"` or `"fpr"`: the scores are cut where they reach this rate of `other`, and other
            metrics are compared there, at prevalences that are numbers. Since both rates have errors,
            the interval is the union over all thresholds that may be the right one, by Newcombe's limits
            (1998).
        worst
            Whether to return only the best and the worst model, with `paired=False`. They were chosen
            for their difference, so their interval is simultaneous for all pairs.
        mean_over
            As in `summary`: the difference of means over groups, which is the mean of the differences in
            the groups in which both models have a value, as in a paired t-test (Student 1908). It needs
            no `id`, and takes curve metrics.
        margin
            By how much model a may be worse than b, on the scale of the metric, such as 0.02: adds
            `not_worse`. Model a is the first in `score`, such as the new version of a deployed model; or
            of the values of `model`, in ascending order or in that of an Enum.
        adjust
            `"holm"` adjusts for all pairs of a group, prevalence and metric: any false difference is
            reported in at most `1 - confidence` of all tables (Holm 1979).
        columns
            As in `summary`.
        confidence
            As in `summary`. A replicate of the bootstrap holds the same examples for all models. With
            `cluster`, the differences of influences add up in each cluster first. With `stratum`, the
            errors of both values at a `threshold` are treated as independent, which is wider.

        Returns
        -------
        One row per `by` group, prevalence, metric and pair of models, in that order. With `match`, model
        a comes from this table (`"model"` if it has no name) and model b from `other` (`"other"`):

        - `eta`: Float64; null where the prevalences of the models differ
        - `metric`: String
        - `model_a`, `model_b`: String, names of `score` in order; or as in `model`, in ascending order.
          With `worst`, the best one and the worst one
        - `difference`: Float64, the value of model a minus that of model b
        - with `columns="all"`, `standard_error`: Float64, of the difference; null for point metrics,
          whose interval has unequal sides, except at `threshold=`
        - `low`, `high`: Float64, of the difference (DeLong et al. 1988 for `roc_auc`)
        - `p_value`: Float64, two-sided, of no difference; null where the error is 0 or null. For
          `average_precision` it is the level at which the interval begins to contain 0
        - with `adjust`, `p_adjusted`: Float64, as `p_value`, for all pairs at once. `low` and `high`
          then have the level `1 - (1 - confidence) / m`, with m pairs
        - `significant`: Boolean, whether the interval excludes 0; null without an interval, and where
          one that excludes 0 is unreliable: a class has fewer than 10 examples or, except for
          `average_precision`, there is a `doubt` and the difference is under twice the distance from 0
          needed for significance
        - with `margin`, `not_worse`: Boolean, whether the interval rules out that model a is worse by
          more than `margin`: `low` is at least -`margin`, or, if lower is better, `high` is at most
          `margin`. Only one end counts: nominally, a model that is worse by `margin` passes in
          `(1 - confidence) / 2` of test sets. Null by the rule of `significant`, with -`margin` for 0
        - with `mean_over`, `n_groups`: Int64, the groups in which both models have a value
        - `doubt`: String, null where the interval can be trusted, otherwise the first reason why not, as
          in `summary` or `operating_points` for either model, or "equal scores" (many near the threshold
          of a target); for point metrics with a standard error "few discordant examples", where in some
          class the number of examples that only model a flags, times the number that only b flags, is
          below 25. There is a reason wherever the interval is null

        Examples
        --------
        >>> a, b = [6, 5, 3, 4, 2, 1], [6, 3, 1, 5, 4, 2]
        >>> df = pl.DataFrame({"label": [1, 1, 1, 0, 0, 0], "a": a, "b": b})
        >>> pairs = df.prc.compare(score=["a", "b"], metrics="roc_auc")
        >>> pairs.select(pl.col("difference", "p_value").round(3)).row(0)
        (0.444, 0.074)
        """
        from polars_prcurve.core.comparison.differences import build_compare_table
        from polars_prcurve.core.comparison.differences_of_group_means import build_mean_compare_table

        columns, margin = read_columns(columns), read_margin(margin)
        self._refuse_as_eta(eta, match)
        if not (other is None or isinstance(other, BoundTable)):
            raise refuse_kind("other=", "a bound table, such as prc(frame, cells=...)", other)
        question = self._ask(
            "compare",
            words,
            eta=eta,
            confidence=confidence,
            paired=read_flag("paired=", paired),
            adjust=None if adjust is None else read_choice("adjust=", adjust, ["holm"]),
            worst=read_flag("worst=", worst),
            mean_over=mean_over,
            other=other,
            match=None if match is None else read_choice("match=", match, ["recall", "fpr"]),
        )
        if other is not None:
            query = self._compare_at_point(question, words, other, match=match, metrics=metrics)
            return self._finish_at_point(add_not_worse(query, margin, metrics), columns)
        interval_options = question.require_interval_options()
        pairing = question.find_pairing(paired=paired and question.mean_groups is None)
        table = question.read()
        question, table, grid = question.hide_names(table, question.build_model_grid(table))
        # The best and the worst of several were picked for their distance: theirs is adjusted.
        adjust = "models" if worst else adjust
        comparison = Comparison(table, grid, [], None, interval_options, pairing, adjust)
        if question.mean_groups is not None:
            query = build_mean_compare_table(
                comparison, metrics, question.mean_groups, is_wide=question.is_wide
            )
        else:
            targets = read_one_target(table, **question.targets)
            query = build_compare_table(comparison, metrics, targets, worst_only=worst)
        query = add_not_worse(query, margin, metrics)
        keys = question.list_result_keys(table)
        query = choose_columns(query, columns, "compare", keys, carried_columns=grid.carried_columns)
        return self._finish(query, table, grid, pairs=True)

    def _compare_at_point(
        self,
        question: Question,
        call_arguments: Any,
        other: BoundTable[Any],
        *,
        match: Matched | None,
        metrics: Any,
    ) -> pl.LazyFrame:
        """Return the differences of models from a point of other examples."""
        from polars_prcurve.core.comparison.comparison_with_a_point import compare_at_point

        table_arguments = {
            argument: value for argument, value in call_arguments.items() if argument in TABLE_WORDS
        }
        return compare_at_point(
            self,
            table_arguments,
            other,
            match=cast("Matched", match),  # rules refuse other= without it
            metrics=metrics,
            etas=question.eta.list_numbers("match="),
            confidence=question.require_interval_options().level,
        )

    def _finish_at_point(self, query: pl.LazyFrame, columns: ResultColumns) -> F:
        """Return the chosen columns of differences from a point, after those that name the models."""
        keys = [column for column in query.collect_schema().names() if column not in COMPARE_COLUMNS]
        return self._finish(choose_columns(query, columns, "compare", keys))

    def _refuse_as_eta(self, eta: Eta, match: Matched | None) -> None:
        """Raise if eta= names columns of the table, as scores of models, or is the point of `match`."""
        if match is not None and isinstance(eta, BoundTable):
            raise PrcError(f"pass the table of one point as other=, by name: other=..., match={match!r}")
        if (
            (isinstance(eta, list | tuple) and eta)
            and all(isinstance(name, str) for name in eta)
            and set(eta) <= {*self._frame.lazy().collect_schema()}
        ):
            raise PrcError(f"pass models as score={list(eta)}, and only prevalences as eta=")

    def ranking(
        self,
        eta: Eta = None,
        *,
        metric: str | CurveMetric | PointMetric | None = None,
        confidence: Confidence = None,
        coarse: bool = False,
        mean_over: Columns = None,
        columns: ResultColumns = "short",
        **words: Unpack[OneTargetOfTable],
    ) -> F:
        """The order of models at every prevalence, and whether the lead is significant.

        Which model is best depends on prevalence (Brabec et al. 2020, section 4).

        Parameters
        ----------
        eta
            As in `compare`.
        metric
            A curve metric: `average_precision` if left out, or `pr_auc` with `rates=` (see `summary`).
            Or a point metric, at your target, otherwise at its best, `metrics.best(...)`.
        targets
            One target, as in `compare`, for a point metric: `precision` if `metric` is left out.
            Published points reach a recall at different points: for them, pass
            `metrics.precision_at_recall(...)` and `coarse` instead of `recall`.
        confidence
            As in `summary`: adds the difference between each model and the best other. With `id`, or
            `score` as a list, differences are paired, as in `compare`. Otherwise, each model is treated
            as having its own examples; intervals for models of one test set are then usually too wide.
        coarse
            True adds the limits of each value, as in `summary`; not with `confidence`.
        mean_over
            As in `compare`, over the groups in which all models have a value.
        columns
            As in `summary`; both return the same here.

        Returns
        -------
        One row per `by` group, prevalence and model, best first; equal values by `model`, nulls last.
        Columns of `confidence` are null where the value is, and where there is no other model:

        - `eta`: Float64; null where the prevalences of the models differ
        - `model`: as in the table
        - `value`: Float64, null where the metric is undefined
        - `rank`: Int64, from 1, null where the value is; equal values share the best rank
        - with `confidence`, `behind`: Float64, the value of the best other model minus this model's;
          negative for the leader
        - with `confidence`, `behind_low`, `behind_high`: Float64, the interval of `behind`. All
          intervals of a group hold simultaneously (Tukey 1953)
        - with `confidence`, `may_be_best`: Boolean, whether no other model is significantly better;
          `behind_low` above 0 shows one that is, unless `significant` of `compare` is null. A best model
          is ruled out in at most `1 - confidence` of test sets
        - with `mean_over`, `n_groups`: Int64, the groups in which all models have a value
        - with `confidence`, `doubt`: String, as in `compare`, for the model and the best other one,
          or another one that `behind_low` is above 0 for
        - with `coarse`, `value_low`, `value_high`: Float64, the limits of `value`, null where that is
        - with `coarse`, `may_be_best`: Boolean, whether it may be the best by the limits of all models,
          sampling error aside. Null where the value is

        Examples
        --------
        >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
        >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
        >>> df.prc.ranking(eta=[0.01, 0.9]).with_columns(pl.col("value").round(3)).rows()
        [(0.01, 'a', 0.67, 1), (0.01, 'b', 0.35, 2), (0.9, 'b', 0.971, 1), (0.9, 'a', 0.967, 2)]
        """
        from polars_prcurve.core.comparison.ranking import build_ranking_table

        columns, coarse = read_columns(columns), read_flag("coarse=", coarse)
        question = self._ask(
            "ranking", words, eta=eta, confidence=confidence, coarse=coarse, mean_over=mean_over
        )
        table = question.read()
        question, table, grid = question.hide_names(table, question.build_model_grid(table))
        has_target = any(value is not None for value in question.targets.values())
        default_name = "precision" if has_target else default_curve_metric(question.columns.points)
        chosen_metric = default_name if metric is None else metric
        ranking_metric = read_ranking_metric(chosen_metric, table, **question.targets)
        if not table.counts_negatives:
            check_negatives([ranking_metric.metric])
        interval_options, mean_groups = question.interval_options, question.mean_groups
        query = build_ranking_table(
            table,
            grid,
            ranking_metric,
            interval_options,
            is_coarse=coarse,
            mean_groups=mean_groups,
            is_wide=question.has_model_columns,
        )
        keys = question.list_result_keys(table)
        query = choose_columns(query, columns, "ranking", keys, carried_columns=grid.carried_columns)
        return self._finish(query, table, grid, pairs=True)

    def crossings(
        self,
        *,
        of: Literal["pr", "roc"] = "pr",
        leaders: bool = False,
        metric: str | CurveMetric | PointMetric | None = None,
        eta_range: tuple[float | str, float | str] | None = None,
        **words: Unpack[RateTargetsOfCurve],
    ) -> pl.DataFrame:
        """Where models change places, by prevalence or in ROC, or which models lead in between.

        A LazyFrame is collected at the call. The difference of each pair of models is scanned at 401
        prevalences or more, evenly spaced in logit and at most 0.05 apart, and near misses on finer
        grids; each change of sign is solved to 1e-11 in logit. Models that are equal, or whose values
        touch without crossing, do not change places. For metrics that jump or bend with prevalence, two
        changes within one step may be missed.

        Parameters
        ----------
        of
            `"pr"`, where a metric of both models is equal, or `"roc"`, where their ROC curves cross,
            whatever the prevalence: the model that is above on the left finds the first positives with
            fewer false positives, which counts at low prevalence (Richardson et al. 2024).
        leaders
            True returns what lies between the crossings instead. For `"pr"`, the best model in each
            range of prevalences; for published points, `ranking(coarse=True)` shows which model may be
            best, whatever lies between. For `"roc"`, which models dominate another: their ROC curve,
            with points joined by lines, is nowhere below the other, and they differ. At every prevalence
            such a model is at least as good in `pr_auc` and `roc_auc`, also on the hull. The same holds
            for `average_precision`, and for `precision_at_recall` at any recall, if no positive ties
            with a negative and both models have the same positives.
        metric
            As in `ranking`; a curve metric has to depend on prevalence.
        eta_range
            The lowest and the highest prevalence to search, both above 0 and below 1; 1e-6 and 0.5 if
            left out.
        targets
            One target, as in `compare`. It fixes the operating points, and a formula gives where they
            change places (see `crossing`); for a custom metric the difference is scanned. Each model
            uses its first published point that meets the target; recalls may differ.

        Returns
        -------
        One row per `by` group and change of places, by group, `eta`, models; with `leaders`, one per
        group and range of prevalences, in ascending order, none where no model has a value, or for
        `"roc"` one per group and model:

        - `model_a`, `model_b`: as in the table; a is better just below `eta`, b just above
        - `eta`: Float64; if the models are equal over a range, its upper end
        - `value`: Float64, the value of both models at `eta`
        - with `of="roc"`, `fpr`, `recall`: Float64, instead of `eta` and `value`, the point on curves
          joined by lines; a is above before it, b beyond it; if the curves coincide over a stretch, its
          end. Rows are then by group, `fpr`, `recall`, models
        - with `leaders`, `eta_low`, `eta_high`: Float64, the ends of the range
        - with `leaders`, `model`: as in the table, the best model in the range; of equal models the
          first
        - with `of="roc"` and `leaders`, `model`: as in the table
        - with `of="roc"` and `leaders`, `dominates`, `dominated_by`: List of models, empty where there
          are none
        - with `of="roc"` and `leaders`, `on_hull`: Boolean, whether a point of the model, other than
          (0, 0) and (1, 1), is a corner of the convex hull of the group's curves, as is any threshold
          with the best accuracy, cost or net benefit (Provost and Fawcett 2001); null if the model lacks
          a class. The model of best `average_precision` need not have one

        Examples
        --------
        >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
        >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
        >>> df.prc.crossings(eta_range=(0.001, 0.9)).with_columns(pl.col("eta", "value").round(6)).rows()
        [('a', 'b', 0.707107, 0.902369)]
        >>> ranges = df.prc.crossings(leaders=True, eta_range=(0.001, 0.9))
        >>> ranges.with_columns(pl.selectors.float().round(6)).rows()
        [(0.001, 0.707107, 'a'), (0.707107, 0.9, 'b')]
        >>> df.prc.crossings(of="roc", leaders=True).rows()
        [('a', [], [], True), ('b', [], [], True)]
        """
        from polars_prcurve.core.comparison import crossings_and_leaders, roc_dominance

        leaders = read_flag("leaders=", leaders)
        if read_choice("of=", of, ("pr", "roc")) == "roc":
            question = self._ask(
                "crossings", words, collects=True, of=of, metric=metric, eta_range=eta_range
            )
            if leaders:
                return roc_dominance.build_dominance_table(question.read())
            return roc_dominance.build_roc_crossings_table(question.read())
        table, ranking_metric = self._rank_models(metric, words)
        build_frame = crossings_and_leaders.build_crossings_table
        if leaders:
            build_frame = crossings_and_leaders.build_leaders_table
        crossings_frame = build_frame(
            table, ranking_metric, _ETA_RANGE if eta_range is None else eta_range
        )
        return crossings_frame.rename(table.name_by_inner)

    def _rank_models(self, metric: Any, call_arguments: Any) -> tuple[ResolvedTable, RankingMetric]:
        """Return the table of all models, and the metric that ranks them at any prevalence."""
        question = self._ask("crossings", call_arguments, collects=True)
        table = question.read()
        _, table, _ = question.hide_names(table, EtaTable(pl.LazyFrame()))
        chosen_metric = default_curve_metric(question.columns.points) if metric is None else metric
        return table, read_ranking_metric(chosen_metric, table, at_eta=False, **question.targets)

    def monitor(
        self,
        time: Column,
        eta: float | str | None = None,
        *,
        reference: BoundTable[Any] | float,
        threshold: Any,
        metrics: str | PointMetric = "precision",
        confidence: Confidence = 0.95,
        adjust: Literal["all"] | None = None,
        columns: ResultColumns = "short",
        **words: Unpack[AlertWords],
    ) -> pl.DataFrame:
        """Detect in which period a rate has fallen below a reference; a LazyFrame is collected.

        The probability that a group ever has a false alarm is at most `1 - confidence`, however often
        you look: run it each week on all weeks so far, and stop or go on as you like. With
        `adjust="all"` that is the probability that any group ever has one.

        Parameters
        ----------
        time
            The column or expression with the period of a row, such as
            `pl.col("day").dt.truncate("1w").alias("week")`. Its values are sorted. Null and NaN raise
            errors, and so does text that sorts "10" before "9". A row belongs to the period in which its
            label became known.
        eta
            With `metrics="precision"`, the prevalence at which it is monitored, so that a change of
            prevalence raises no alarm; from 1e-15 to 1 - 1e-15. None monitors the precision of the
            alerts themselves.
        reference
            The baseline rate: a table of other labelled rows, such as `prc(last_year)`; its error is
            allowed for. Or a number, treated as exact. Arguments not set on that table default to those
            of this call. It has all, some or none of the `by` columns.
        threshold
            The deployed threshold, or a frame with one per group. It must not have been chosen on these
            rows.
        metrics
            `"precision"`, `"recall"` or `"fpr"`, one per call. For fpr, a rise raises the alarm.
        confidence
            The level.
        adjust
            `"all"` divides the error of alarms and of intervals by the number of groups (Bonferroni).
            All groups must have rows from the first look on: one that is added later raises the
            evidence that the others need.
        columns
            As in `summary`.

        Returns
        -------
        One row per `by` group and period, in order. `bound`, `evidence` and `alarm` are null if the
        reference has no row by which a change could be shown:

        - a column `time`: as in the table, the period
        - `metric`: String
        - with `eta`, `eta`: Float64
        - with `columns="all"`, `threshold`: as in the table, the score
        - with `columns="all"`, `tp`, `fp`, `fn`, `tn`: Int64, the rows of the period; null rules are as
          in `operating_points`
        - `value`: Float64, the rate in the period; null if no row counts in it
        - `overall`: Float64, the rate of all rows since the first period
        - `overall_low`, `overall_high`: Float64, its interval, for the mean rate, simultaneous over all
          periods
        - `reference`: Float64, the rate of the reference
        - with `columns="all"`, `bound`: Float64, the reference less its error; only a worse rate can
          raise an alarm
        - with `columns="all"`, `evidence`: Float64, the likelihood ratio of a change against no change:
          a product of likelihood ratios, mixed over sizes and starts (Robbins 1970; Shin, Ramdas and
          Rinaldo 2023), to which Ville's inequality applies (1939)
        - with `columns="all"`, `needed`: Float64, the evidence that raises the alarm
        - `alarm`: Boolean, whether the evidence has reached that in this period or before
        - `since`: as in the table, the period in which the change likely began; null before the alarm
        - with `columns="all"`, `overall_since`, `overall_since_low`, `overall_since_high`: Float64, the
          rate of all rows since then, and its interval, simultaneous over all periods
        - `doubt`: String, null, or why there is no interval of `overall`

        Examples
        --------
        >>> weeks = pl.DataFrame({"week": [1, 2, 3, 4, 5], "score": 0.8, "n_pos": [82, 79, 81, 64, 61]})
        >>> weeks = weeks.with_columns(n_neg=100 - pl.col("n_pos"))
        >>> alerts = weeks.prc(counts=("n_pos", "n_neg"))
        >>> found = alerts.monitor("week", reference=0.8, threshold=0.8)
        >>> found.select("week", "value", "alarm", "since").rows()[2:]
        [(3, 0.81, False, None), (4, 0.64, False, None), (5, 0.61, True, 4)]
        """
        from polars_prcurve.core.comparison import monitoring

        columns, all_arguments = read_columns(columns), self._merge_words(words)
        if adjust is not None:
            read_choice("adjust=", adjust, ["all"])
        if all_arguments.get("cluster") is not None:
            raise PrcError(
                "leave out cluster=, which monitor() does not take; make each cluster one row, such as "
                "each patient's highest score, so that rows are independent"
            )
        group_columns: list[Column] = list_columns("by=", all_arguments.get("by"))
        reader = ColumnReader(self._frame, "raise", may_collect=False)
        dtype_by_time_column = reader.read_by(time, "time")
        check_group_names(dtype_by_time_column, monitoring.MONITOR_COLUMNS, "time")
        if len(dtype_by_time_column) != 1:
            raise refuse_kind("time=", "one column name or expression", time)
        [period_column] = dtype_by_time_column
        if period_column in map(name_column, group_columns):
            raise PrcError(f"leave the column {period_column!r} out of by=: time= holds it, too")
        question = self._ask("monitor", words, eta=eta, confidence=confidence, collects=True)
        level = question.require_interval_options().level
        is_table = isinstance(reference, BoundTable)
        reference_rate = None if is_table else monitoring.read_reference_rate(reference)
        monitored_rate = monitoring.read_watch(
            metrics, None if eta is None else check_eta(eta), level, reference_rate
        )
        period_cells = self._count_cells(threshold, {**words, "by": [*group_columns, time]})
        reference_cells = self._count_reference(reference, threshold, words) if is_table else None
        monitor_frame = monitoring.build_monitor_table(
            period_cells, period_column, monitored_rate, reference_cells, adjust
        )
        keys = [column for column in monitor_frame.columns if column not in monitoring.MONITOR_COLUMNS]
        return choose_columns(monitor_frame.lazy(), columns, "monitor", keys).collect()

    def _count_cells(self, threshold: Any, call_arguments: Any) -> pl.DataFrame:
        """Return the cells at the threshold, a row per group."""
        from polars_prcurve.core.comparison.monitoring import count_cells_at_threshold

        table = self._ask("monitor", call_arguments, collects=True).read()
        return count_cells_at_threshold(table, threshold)

    def _count_reference(self, reference: Any, threshold: Any, call_arguments: Any) -> pl.DataFrame:
        """Return the cells of the reference, by the groups that it has."""
        all_arguments = self._merge_words(call_arguments)
        shared_argument_names = ("score", "label", "pos_label", "by", "model", "missing")
        shared_arguments = {
            name: all_arguments[name]
            for name in shared_argument_names
            if all_arguments.get(name) is not None
        }
        reference_arguments = merge_words(shared_arguments, reference._words)
        reference_arguments["by"] = list_known_columns(reference_arguments.get("by"), reference._frame)
        reference_prc: Any = type(reference)(reference._frame, reference_arguments)
        try:
            reference_cells: pl.DataFrame = reference_prc._count_cells(threshold, {})
        except PrcError as error:
            raise PrcError(f"in the reference= table, {error}") from None
        return reference_cells
