"""Charts straight from a score table: `df.prc.plot.<chart>(...)`.

Altair is imported at the call of a method, not before.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from polars_prcurve.core.binding.argument_rules import USES, check_unscored
from polars_prcurve.core.binding.bound_table import PublicMethods
from polars_prcurve.core.binding.groups_of_a_question import name_column
from polars_prcurve.core.binding.shared_arguments import (
    CHART_WORDS,
    TARGET_WORDS,
    ChartOfCurve,
    ChartOfDesign,
    ChartOfExamples,
    ChartOfPoints,
    ChartOfTable,
    ChartOfTargets,
)
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.confidence.rate_intervals import check_confidence
from polars_prcurve.core.curves.decision_curves import PROBABILITIES, choose_risks
from polars_prcurve.core.curves.target_arguments import check_per_has_alerts
from polars_prcurve.core.ground.argument_checks import read_choice, read_flag, refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.query_guards import run_query
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.curve_metrics_at_one_threshold import best
from polars_prcurve.core.metrics.metric_base import Metric
from polars_prcurve.core.metrics.metric_lookup import default_curve_metric, find_metric, find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_values import eta_grid
from polars_prcurve.core.sweep.effective_numbers_for_charts import add_effective_numbers
from polars_prcurve.doors.namespace.curve_methods import has_one_point_each
from polars_prcurve.view.words.call_order_of_names import keep_call_order
from polars_prcurve.view.words.number_words import FEW_POSITIVES

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_prcurve.core.binding.bound_table import BoundTable
    from polars_prcurve.core.confidence.interval_options import Confidence
    from polars_prcurve.core.inputs.column_reader import Column
    from polars_prcurve.core.prevalence.eta_values import Eta
    from polars_prcurve.view.charts.parts.chart_assembly import Chart
    from polars_prcurve.view.report.decision_result import Decision


class PlotPrc(PublicMethods, public_name="prc.plot"):
    """Charts of a score table, as plain Altair charts.

    Each method collects the table of the `.prc` method that its first line names, and returns an Altair
    chart of it, drawn by the function of its own name in `charts`. Arguments are as in that method, such
    as `eta` and `confidence`, or else as in that function, such as `log_y`; only those that differ are
    described below.

    A curve has at most 2 * positives + 2 rows per group; `threshold_curve` draws every score. Charts
    share `color` and `facet`, the group columns of curves and panels, `title`, a text, or False for a
    chart without text, and `width` and `height` of a panel in pixels. `points` may also be a `Decision`:
    its points are marked, at its prevalences without `eta`, and its sentence is the title.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = df.prc.plot.pr_curve(eta=[0.5, 0.01])
    >>> chart.to_dict()["title"]["text"]
    ['With 2 positives, a measured recall of 50%', 'could really be anything from 2.7% to 91%']
    """

    def __init__(self, bound_table: BoundTable[Any]) -> None:
        self._bound_table: Any = bound_table

    def __repr__(self) -> str:
        return f"<prc.plot of {self._bound_table!r}>"

    def _prepare(
        self,
        chart_name: str,
        call_arguments: Any,
        points: object = None,
        needed_columns: Sequence[str] = (),
    ) -> tuple[Callable[..., Chart], dict[str, Any]]:
        """Return the function that draws a chart, with its own words, and the words about the table."""
        from polars_prcurve import charts
        from polars_prcurve.view.charts.parts.line_drawing import read_words
        from polars_prcurve.view.charts.parts.marked_points import check_points

        chart_arguments = {name: value for name, value in call_arguments.items() if name in CHART_WORDS}
        title = chart_arguments.get("title")
        width_and_height = (chart_arguments.get("width"), chart_arguments.get("height"))
        channel_columns = {name: chart_arguments.get(name) for name in ("color", "facet")}
        read_words(title, width_and_height, **channel_columns)  # or raise before any work
        if points is not None and not isinstance(points, pl.DataFrame):
            expected_phrase = "a DataFrame such as operating_points returns, or a Decision"
            raise refuse_kind("points=", expected_phrase, points)
        if points is not None:
            check_points(chart_name, points, needed_columns)
        draw_chart = getattr(charts, chart_name)
        parameters = inspect.signature(draw_chart).parameters
        for name in [name for name in chart_arguments if name not in parameters]:
            if chart_arguments.pop(name) is not None:
                raise PrcError(f"leave out {name}=, which plot.{chart_name}() does not take")
        table_arguments = {
            name: value for name, value in call_arguments.items() if name not in CHART_WORDS
        }
        check_unscored(chart_name, self._bound_table._merge_words(table_arguments))
        call_order = self._bound_table._find_call_order(table_arguments)

        def draw_rows(frame_or_plan: Any, *etas: Any, confidence: Any = None, **options: Any) -> Chart:
            for name, value in options.items():
                if isinstance(value, pl.DataFrame):  # points, pairs or crossings of the same names
                    options[name] = keep_call_order(value, call_order)
            if "confidence" in parameters:
                level = confidence.level if isinstance(confidence, Intervals) else confidence
                options["confidence"] = level
            chart_rows = self._count_alike(_collect(frame_or_plan), table_arguments)
            chart_rows = keep_call_order(chart_rows, call_order)
            chart: Chart = draw_chart(chart_rows, *etas, **chart_arguments, **options)
            return chart

        return draw_rows, table_arguments

    def _count_alike(self, point_rows: pl.DataFrame, table_arguments: Any) -> pl.DataFrame:
        """Return points of weighted rows with as how many examples these count; others as they are."""
        has_weights = self._bound_table._merge_words(table_arguments).get("weight") is not None
        if not (has_weights and {"threshold", "fp"} <= {*point_rows.columns}):
            return point_rows
        count_arguments = {
            argument: value for argument, value in table_arguments.items() if argument in USES["counts"]
        }
        return add_effective_numbers(point_rows, _collect(self._bound_table.counts(**count_arguments)))

    def alerts(
        self, eta: Eta = None, *, confidence: Confidence = 0.95, **words: Unpack[ChartOfPoints]
    ) -> Chart:
        """Collect `operating_points`, and draw how many of 100 alerts are true: one grid per row.

        Below a precision of 1 in 50 a grid has as many alerts as contain one true positive, up to 1,000;
        in a report, where two grids fit side by side, up to 200. For the title, `ranking` compares 2 to
        8 models at one target and prevalence.

        Parameters
        ----------
        confidence
            As in `operating_points`; with None no uncertainty is drawn.
        targets
            Targets, as in `operating_points`.
        """
        draw, table_arguments = self._prepare("alerts", words)
        target_points = _collect(
            self._bound_table.operating_points(
                eta, metrics="precision", confidence=confidence, columns="all", **table_arguments
            )
        )
        ranking_argument = {}
        if target_points.n_unique("eta") == 1:
            ranking_argument = self._rank_models(target_points, eta, confidence, table_arguments)
        return draw(target_points, **ranking_argument, confidence=confidence)

    def pr_curve(
        self,
        eta: Eta = None,
        *,
        y: Literal["precision", "fdr"] = "precision",
        confidence: Confidence = None,
        points: pl.DataFrame | Decision | None = None,
        log_y: bool | None = None,
        **words: Unpack[ChartOfDesign],
    ) -> Chart:
        """Collect `curve` at each prevalence, and draw precision by recall.

        For the title `ranking` compares 2 to 8 models at one prevalence, at the recall of `points` or of
        50%, as it does for all charts of thresholds.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> points = df.prc.operating_points(0.01, recall=0.5)
        >>> chart = df.prc.plot.pr_curve(eta=[0.5, 0.01], points=points)
        """
        read_choice("y=", y, ("precision", "fdr"))
        eta, points, words = _read_decision(eta, points, words)
        draw, table_arguments = self._prepare("pr_curve", words, points, ["recall", y])
        if log_y is not None:
            read_flag("log_y=", log_y)
        curve_points = _collect(
            self._bound_table.curve(
                eta, metrics=(y,), confidence=confidence, thresholds="corners", **table_arguments
            )
        )
        options: dict[str, Any] = {"y": y, "points": points, "log_y": log_y}
        options |= self._rank_at_recall(curve_points, eta, points, table_arguments, confidence or 0.95)
        return draw(curve_points, confidence=confidence, **options)

    def roc_curve(
        self,
        eta: float | str | None = None,
        *,
        log_x: bool = False,
        precisions: Sequence[float] = (0.1, 0.5, 0.9),
        points: pl.DataFrame | Decision | None = None,
        **words: Unpack[ChartOfCurve],
    ) -> Chart:
        """Collect `sweep`, and draw recall by fpr."""
        _, points, words = _read_decision(eta, points, words)
        draw, table_arguments = self._prepare("roc_curve", words, points, ["recall", "fpr"])
        from polars_prcurve.view.charts.roc import read_precision_lines

        read_precision_lines(eta, precisions)
        read_flag("log_x=", log_x)
        curve_points = _collect(self._bound_table.sweep(thresholds="corners", **table_arguments))
        options: dict[str, Any] = {"log_x": log_x, "precisions": precisions, "points": points}
        options |= self._rank_at_recall(curve_points, eta, points, table_arguments)
        return draw(curve_points, eta, **options)

    def prg_curve(self, eta: Eta = None, **words: Unpack[ChartOfCurve]) -> Chart:
        """Collect `curve` at each prevalence, and draw precision gain by recall gain."""
        draw, table_arguments = self._prepare("prg_curve", words)
        curve_points = _collect(self._bound_table.curve(eta, thresholds="corners", **table_arguments))
        return draw(curve_points, **self._rank_at_recall(curve_points, eta, None, table_arguments))

    def gain_curve(self, eta: Eta = None, **words: Unpack[ChartOfCurve]) -> Chart:
        """Collect `curve` at each prevalence, and draw recall by the share of cases alerted."""
        draw, table_arguments = self._prepare("gain_curve", words)
        curve_points = _collect(self._bound_table.curve(eta, thresholds="corners", **table_arguments))
        tenth_points = None
        is_counted = {"tp", "fn"} <= {*curve_points.columns}
        if is_counted and (curve_points["tp"] + curve_points["fn"] < FEW_POSITIVES).any():
            options: dict[str, Any] = {"predicted_positive_rate": 0.1, "confidence": 0.95}
            tenth_points = _collect(
                self._bound_table.operating_points(eta, columns="all", **options, **table_arguments)
            )
        ranking_argument: dict[str, pl.DataFrame] = {}
        if curve_points.n_unique("eta") == 1:
            target_by_ranking: dict[str, float] = {"predicted_positive_rate": 0.1}
            ranking_argument = self._rank_models(
                curve_points, eta, 0.95, table_arguments, "recall", **target_by_ranking
            )
        return draw(curve_points, points=tenth_points, **ranking_argument)

    def decision_curve(
        self,
        eta: Eta = None,
        *,
        probabilities: Sequence[float] | None = None,
        eta_train: float | str | None = None,
        confidence: Confidence = None,
        log_x: bool | None = None,
        **words: Unpack[ChartOfExamples],
    ) -> Chart:
        """Collect `decision_curve`, and draw net benefit by risk, beside that of treating all and none.

        Parameters
        ----------
        probabilities
            As in `decision_curve`. By default, if a prevalence is below 5%, from a tenth of the lowest
            to 20 times the highest, at most 99%.
        """
        draw, table_arguments = self._prepare("decision_curve", words)
        if log_x is not None:
            read_flag("log_x=", log_x)
        options: dict[str, Any] = {"eta_train": eta_train, "confidence": confidence, "columns": "all"}
        compute_benefits = partial(self._bound_table.decision_curve, eta, **options, **table_arguments)
        risks = PROBABILITIES if probabilities is None else probabilities
        benefit_rows = _collect(compute_benefits(probabilities=risks))
        if (
            probabilities is None
            and (risks := choose_risks(benefit_rows["eta"].to_list())) != PROBABILITIES
        ):
            benefit_rows = compute_benefits(probabilities=risks)
        return draw(benefit_rows, confidence=confidence, log_x=log_x)

    def reliability(
        self,
        eta: float | None = None,
        *,
        eta_train: float | str | None = None,
        confidence: float | None = 0.95,
        **words: Unpack[ChartOfCurve],
    ) -> Chart:
        """Collect `sweep`, and draw the frequency of positives in ranges of scores."""
        draw, table_arguments = self._prepare("reliability", words)
        from polars_prcurve.view.charts.reliability_diagram import check_etas

        check_etas(eta, eta_train)
        if confidence is not None:
            check_confidence(confidence)
        return draw(
            self._bound_table.sweep(**table_arguments), eta, eta_train=eta_train, confidence=confidence
        )

    def scores(
        self, *, points: pl.DataFrame | Decision | None = None, **words: Unpack[ChartOfCurve]
    ) -> Chart:
        """Collect `sweep`, and draw the scores of both classes, with the thresholds of `points`."""
        _, points, words = _read_decision(None, points, words)
        draw, table_arguments = self._prepare("scores", words, points, ["recall"])
        curve_points = _collect(self._bound_table.sweep(**table_arguments))
        ranking_argument = self._rank_at_recall(curve_points, None, points, table_arguments)
        return draw(curve_points, points=points, **ranking_argument)

    def difference(
        self,
        eta: Eta = None,
        *,
        metrics: str | CurveMetric | Sequence[str | CurveMetric] | None = None,
        confidence: Confidence = 0.95,
        **words: Unpack[ChartOfTable],
    ) -> Chart:
        """Collect `compare` of models on the same examples, and draw the difference by prevalence.

        Parameters
        ----------
        eta
            As in `compare`; if left out for two models, as in `metric_by_eta`.
        metrics
            As in `compare`, but `average_precision` if left out.
        confidence
            As in `compare`. More than two models are adjusted for all their pairs (Holm 1979).

        Examples
        --------
        >>> a, b = [6, 5, 3, 4, 2, 1], [6, 3, 1, 5, 4, 2]
        >>> df = pl.DataFrame({"label": [1, 1, 1, 0, 0, 0], "a": a, "b": b})
        >>> chart = df.prc.plot.difference([0.01, 0.1, 0.5], score=["a", "b"])
        """
        draw, table_arguments = self._prepare("difference", words)
        # The default grid is for two models: many pairs are compared where the table was tested.
        compare_models = partial(
            self._bound_table.compare,
            metrics="average_precision" if metrics is None else metrics,
            confidence=confidence,
            adjust="holm",
            **table_arguments,
        )
        score_columns = self._bound_table._merge_words(table_arguments).get("score")
        is_wide = isinstance(score_columns, list | tuple) and len(score_columns) > _MOST_CURVES
        size_rows = self._read_sizes(table_arguments) if eta is None and not is_wide else None
        etas = eta if size_rows is None else _choose_etas(size_rows)
        difference_rows = _collect(compare_models(etas))
        size_rows = self._read_sizes(table_arguments) if size_rows is None else size_rows
        if eta is None and difference_rows.n_unique(["model_a", "model_b"]) > _MOST_CURVES:
            difference_rows = difference_rows if is_wide else _collect(compare_models(None))
        return draw(_add_few_sizes(difference_rows, size_rows), confidence=confidence)

    def threshold_curve(
        self,
        eta: Eta = None,
        *,
        points: pl.DataFrame | Decision | None = None,
        **words: Unpack[ChartOfCurve],
    ) -> Chart:
        """Collect `curve` at every distinct score, and draw metrics by threshold, charts in a column."""
        eta, points, words = _read_decision(eta, points, words)
        draw, table_arguments = self._prepare("threshold_curve", words, points, ["recall", "precision"])
        curve_points = _collect(self._bound_table.curve(eta, **table_arguments))
        ranking_argument = self._rank_at_recall(curve_points, eta, points, table_arguments)
        return draw(curve_points, points=points, **ranking_argument)

    def ranking(
        self,
        eta: Eta = None,
        *,
        metric: str | CurveMetric | PointMetric | None = None,
        confidence: Confidence = None,
        coarse: bool = False,
        **words: Unpack[ChartOfTable],
    ) -> Chart:
        """Collect `ranking` at each prevalence, and draw ranks by prevalence.

        Parameters
        ----------
        eta
            As in `ranking`, but as in `metric_by_eta` if left out.
        """
        draw, table_arguments = self._prepare("ranking", words)
        size_rows = self._read_sizes(table_arguments) if eta is None else None
        etas = eta if size_rows is None else _choose_etas(size_rows)
        options = {"metric": metric, "confidence": confidence, "coarse": coarse}
        ranked_rows = _collect(
            self._bound_table.ranking(etas, columns="all", **options, **table_arguments)
        )
        curve_metric, pair_rows = self._find_ranked_metric(metric, table_arguments), None
        if confidence:
            size_rows = self._read_sizes(table_arguments) if size_rows is None else size_rows
            ranked_rows = _add_few_sizes(ranked_rows, size_rows)
            pair_rows = self._compare_models(
                ranked_rows, etas, curve_metric, confidence, table_arguments
            )
        return draw(ranked_rows, pairs=pair_rows, metric=curve_metric.name, confidence=confidence)

    def _find_ranked_metric(self, metric: Any, table_arguments: Any) -> CurveMetric:
        """Return the curve metric that ranks: by default the area that the table has."""
        all_arguments = self._bound_table._merge_words(table_arguments)
        default_name = default_curve_metric(all_arguments.get("rates"), all_arguments.get("cells"))
        named_metric = find_metric(default_name if metric is None else metric)
        return best(named_metric) if isinstance(named_metric, PointMetric) else named_metric

    def _compare_models(
        self,
        ranked_rows: pl.DataFrame,
        etas: Any,
        metric: CurveMetric,
        confidence: Any,
        table_arguments: Any,
    ) -> pl.DataFrame | None:
        """Return which models of a ranking differ significantly, by pairs; None for two, or many."""
        if not 3 <= ranked_rows["model"].n_unique() <= _MOST_PAIRED:
            return None
        all_arguments = self._bound_table._merge_words(table_arguments)
        is_paired = all_arguments.get("id") is not None or isinstance(
            all_arguments.get("score"), list | tuple
        )
        options: dict[str, Any] = {"confidence": confidence, "paired": is_paired, "adjust": "holm"}
        return _collect(
            self._bound_table.compare(etas, metrics=metric, columns="all", **options, **table_arguments)
        )

    def metric_by_eta(
        self,
        eta: Eta = None,
        *,
        metrics: str | CurveMetric | PointMetric | Sequence[Any] | None = None,
        confidence: Confidence = None,
        coarse: bool = False,
        **words: Unpack[ChartOfPoints],
    ) -> Chart:
        """Collect `summary` or `operating_points` at each prevalence, and draw metrics by prevalence.

        With models, `model=` or `score` as a list, these have the colours. For one metric that depends
        on prevalence, and 2 to 8 models, the chart also shows where models change places.

        Parameters
        ----------
        eta
            As in `summary`; if left out, `eta_grid()` from about `1 / n_neg` up.
        metrics
            Curve metrics, as in `summary`, or point metrics, as in `operating_points`. If left out,
            `average_precision`, or `pr_auc` with `rates=` or `cells=`; but `precision` and `npv` at
            targets, and of groups of one point each.
        targets
            Targets of point metrics, as in `operating_points`.
        coarse
            As in `summary`: the shade is the limits of each value.

        Examples
        --------
        >>> table = pl.DataFrame({"tp": [124], "fp": [659], "fn": [18], "tn": [5121]})
        >>> test = table.prc(cells=("tp", "fp", "fn", "tn"))
        >>> chart = test.plot.metric_by_eta(confidence=0.95)
        >>> chart.to_dict()["title"]["text"]
        ['Metrics by prevalence']
        """
        coarse = read_flag("coarse=", coarse)
        draw, table_arguments = self._prepare("metric_by_eta", words)
        point_metrics = self._choose_point_metrics(metrics, table_arguments)
        if point_metrics:
            if coarse:
                raise PrcError("leave out coarse=, which is for metrics of a whole curve")
            return self._draw_points(
                draw, eta, table_arguments, metrics=point_metrics, confidence=confidence
            )
        table_arguments = {
            argument: value
            for argument, value in table_arguments.items()
            if argument not in TARGET_WORDS
        }
        all_arguments = self._bound_table._merge_words(table_arguments)
        if metrics is None:
            metrics = default_curve_metric(all_arguments.get("rates"), all_arguments.get("cells"))
        etas = eta_grid() if eta is None else eta
        from polars_prcurve.view.charts.by_prevalence import doubt_wide

        options: dict[str, Any] = {"metrics": metrics, "coarse": coarse}
        has_sizes = all_arguments.get("rates") is None or all_arguments.get("sizes") is not None
        # Without a band, intervals only decide which lines are dotted.
        has_hidden_intervals = confidence is None and not coarse and has_sizes
        level = 0.95 if has_hidden_intervals else confidence
        summary_rows = doubt_wide(self._summarize(etas, table_arguments, confidence=level, **options))
        summary_rows = (
            summary_rows.drop("low", "high", strict=False) if has_hidden_intervals else summary_rows
        )
        summary_rows = _end_at_negatives(summary_rows) if eta is None else summary_rows
        comparison_arguments = {}
        if self._find_model_column(table_arguments) is not None:
            comparison_arguments = self._compare_by_eta(
                summary_rows, metrics, confidence, table_arguments
            )
        return draw(summary_rows, **comparison_arguments, confidence=confidence)

    def _summarize(self, etas: Any, table_arguments: Any, **options: Any) -> pl.DataFrame:
        """Return the summary at these prevalences, in which models are the first group."""
        summary_rows = _collect(
            self._bound_table.summary(etas, columns="all", **options, **table_arguments)
        )
        model_column = self._find_model_column(table_arguments)
        return (
            summary_rows
            if model_column is None
            else summary_rows.select(model_column, pl.exclude(model_column))
        )

    def _find_model_column(self, table_arguments: Any) -> str | None:
        """Return the name of the group that holds the models; None if there is none."""
        all_arguments = self._bound_table._merge_words(table_arguments)
        if (model_column := all_arguments.get("model")) is not None:
            return name_column(model_column)
        return "model" if isinstance(all_arguments.get("score"), list | tuple) else None

    def _read_sizes(self, table_arguments: Any) -> pl.DataFrame:
        """Return how many positives and negatives each model has, in each group."""
        unpaired_arguments = {name: value for name, value in table_arguments.items() if name != "id"}
        score_columns = self._bound_table._merge_words(table_arguments).get("score")
        if self._find_model_column(table_arguments) is None and not isinstance(score_columns, Mapping):
            unpaired_arguments["model"] = "model"  # as in a comparison
        return self._summarize(0.5, unpaired_arguments, metrics="roc_auc")

    def _compare_by_eta(
        self, summary_rows: pl.DataFrame, metrics: Any, confidence: Any, table_arguments: Any
    ) -> dict[str, pl.DataFrame]:
        """Return the crossings of models within the prevalences of a summary, and their ranking."""
        curve_metrics = find_metrics(metrics, CurveMetric)
        if len(curve_metrics) != 1 or not curve_metrics[0].depends_on_eta:
            return {}
        etas = (
            summary_rows["eta"]
            .filter(summary_rows["eta"].is_between(0, 1, closed="none"))
            .unique()
            .sort()
        )
        if not 2 <= summary_rows[summary_rows.columns[0]].n_unique() <= _MAX_MODELS or len(etas) < 2:
            return {}
        options: dict[str, Any] = {"metric": curve_metrics[0], **table_arguments}
        comparison_arguments = {
            "crossings": self._bound_table.crossings(eta_range=(etas[0], etas[-1]), **options)
        }
        if confidence is not None:
            comparison_arguments["ranking"] = _collect(
                self._bound_table.ranking(
                    etas.to_list(), confidence=confidence, columns="all", **options
                )
            )
        return comparison_arguments

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
        **words: Unpack[ChartOfCurve],
    ) -> Chart:
        """Collect `monitor`, and draw each period, the mean before and since a change, and the alarm.

        Examples
        --------
        >>> weeks = pl.DataFrame({"week": [1, 2], "score": 1, "n_pos": [80, 79], "n_neg": [20, 21]})
        >>> chart = weeks.prc(counts=("n_pos", "n_neg")).plot.monitor("week", reference=0.8, threshold=1)
        >>> chart.to_dict()["title"]["text"]
        ['Precision is not significantly below the reference of 80%']
        """
        draw, table_arguments = self._prepare("monitor", words)
        options: dict[str, Any] = {"reference": reference, "threshold": threshold, "eta": eta}
        options |= {"metrics": metrics, "confidence": confidence, "adjust": adjust}
        period_rows = self._bound_table.monitor(time, columns="all", **options, **table_arguments)
        return draw(period_rows, confidence=confidence)

    def p3_curve(
        self, eta: Eta = None, *, confidence: Confidence = None, **words: Unpack[ChartOfTargets]
    ) -> Chart:
        """Collect `operating_points` at each prevalence, and draw their precision by prevalence.

        With `confidence` and one target, `ranking` compares 2 to 8 models at each prevalence, for the
        title and a strip.

        Parameters
        ----------
        eta
            As in `operating_points`, but if left out as in `metric_by_eta`.
        targets
            Targets, as in `operating_points`, that fix a threshold for all prevalences; groups of one
            point need none.
        """
        draw, table_arguments = self._prepare("p3_curve", words)
        return self._draw_points(
            draw, eta, table_arguments, metrics=("precision",), confidence=confidence
        )

    def _draw_points(
        self, draw: Callable[..., Chart], eta: Any, table_arguments: Any, **options: Any
    ) -> Chart:
        """Draw operating points by prevalence; without one, down to where the negatives end."""
        etas, confidence = eta_grid() if eta is None else eta, options["confidence"]
        points = _collect(
            self._bound_table.operating_points(etas, columns="all", **options, **table_arguments)
        )
        if eta is None:
            points = _end_at_negatives(points)
            # Models are compared at the prevalence of the test set as well, which titles name.
            own_etas = points.select(_OWN_ETA).to_series().drop_nulls().unique()
            etas = sorted({*points["eta"], *(own_etas if len(own_etas) == 1 else ())})
        ranking_argument = {}
        if [*options["metrics"]] == ["precision"]:
            ranking_argument = self._rank_models(points, etas, confidence, table_arguments)
        return draw(points, **ranking_argument, confidence=confidence)

    def _rank_at_recall(
        self,
        curve_points: pl.DataFrame,
        eta: Any,
        points: pl.DataFrame | None,
        table_arguments: Any,
        confidence: Any = 0.95,
    ) -> dict[str, pl.DataFrame]:
        """Return the ranking of models at the recall that a title is on, of points or else of 50%."""
        target_columns, criteria_with_targets = ["criterion", "target"], [("recall", 0.5)]
        if points is not None:
            has_targets = {*target_columns} <= {*points.columns}
            criteria_with_targets = points.select(target_columns).rows() if has_targets else []
            criteria_with_targets = [
                pair for pair in criteria_with_targets if pair[0] in ("recall", "precision", "threshold")
            ][:1]
        has_one_eta = "eta" not in curve_points.columns or curve_points.n_unique("eta") == 1
        if not has_one_eta or [criterion for criterion, _ in criteria_with_targets] != ["recall"]:
            return {}
        return self._rank_models(
            curve_points, eta, confidence, table_arguments, "precision", **dict(criteria_with_targets)
        )

    def _rank_models(
        self,
        model_rows: pl.DataFrame,
        etas: Any,
        confidence: Any,
        table_arguments: Any,
        metric: str = "precision",
        **target: float,
    ) -> dict[str, pl.DataFrame]:
        """Return the ranking of 2 to 8 models by a metric at one target, if it is tested."""
        # Intervals of single thresholds may lie apart where the models do not differ significantly.
        all_arguments = self._bound_table._merge_words(table_arguments)
        model_column = self._find_model_column(table_arguments)
        has_scores = all(all_arguments.get(argument) is None for argument in ("by", "rates", "cells"))
        has_scores = has_scores and not isinstance(all_arguments.get("score"), Mapping)
        has_plain_etas = etas is None or isinstance(etas, float | int | str | list | tuple)
        if model_column is None or confidence is None or not (has_scores and has_plain_etas):
            return {}
        value_by_target = target or {
            argument: target_value
            for argument, target_value in table_arguments.items()
            if argument in TARGET_WORDS and target_value is not None and argument != "per"
        }
        is_one_target = len(value_by_target) == 1 and "maximize" not in value_by_target
        is_one_target &= all(
            isinstance(target_value, float | int | str) for target_value in value_by_target.values()
        )
        if not is_one_target or not 2 <= model_rows[model_column].n_unique() <= _MAX_MODELS:
            return {}
        options: dict[str, Any] = {"metric": metric, "confidence": confidence, **target}
        ranking_frame = self._bound_table.ranking(etas, columns="all", **options, **table_arguments)
        return {"ranking": _collect(ranking_frame)}

    def _choose_point_metrics(self, metrics: Any, table_arguments: Any) -> Sequence[Any]:
        """Return the point metrics of a chart by prevalence; none if it is of whole curves."""
        passed_targets = [
            target_name for target_name in TARGET_WORDS if table_arguments.get(target_name) is not None
        ]
        check_per_has_alerts(table_arguments.get("alerts"), table_arguments.get("per"))
        if metrics is None:
            are_points_drawn = bool(passed_targets) or has_one_point_each(
                self._bound_table, table_arguments
            )
            return _POINT_METRICS if are_points_drawn else ()
        named_metrics = find_metrics(metrics, Metric)
        if all(isinstance(metric, PointMetric) for metric in named_metrics):
            return named_metrics
        if passed_targets:
            raise PrcError(
                f"leave out {passed_targets[0]}=, or pass only point metrics, such as 'precision': "
                "metrics of a whole curve have no target"
            )
        return ()


_MOST_CURVES = 2
"""Pairs of models, at most, whose differences are curves by prevalence; those of more are a table."""
_MOST_PAIRED = 12
"""Models, at most, of which a ranking compares all pairs: twelve have 66."""
_POINT_METRICS = ("precision", "npv")
"""Words for the results of a test."""
_OWN_ETA = (pl.col("tp") + pl.col("fn")) / pl.sum_horizontal("tp", "fp", "fn", "tn")  # of the test set
_MAX_MODELS = 8
"""Crossings of more models than have a colour each are neither searched nor drawn."""


def _read_decision(eta: Any, points: Any, call_arguments: Any) -> tuple[Any, pl.DataFrame | None, Any]:
    """Return prevalences, points and words, where the points may be those of a decision.

    Its sentence is the title then, since no chart may claim more. Whole curves have no points.
    """
    from polars_prcurve.view.report.decision_result import Decision

    if not isinstance(points, Decision):
        return eta, points, call_arguments
    model_rows, verdict_rows = points.table, points.verdicts
    group_columns = verdict_rows.columns[: verdict_rows.columns.index("eta")]
    etas: Any = verdict_rows["eta"].unique(maintain_order=True).to_list() if eta is None else eta
    if (
        eta is None
        and group_columns
        and verdict_rows.height < len(etas) * verdict_rows.n_unique(group_columns)
    ):
        # Each group has prevalences of its own.
        etas = verdict_rows.select(*group_columns, "eta").drop_nulls("eta")
    target_points = None
    if "threshold" in model_rows.columns:
        target_points = model_rows.filter(pl.col("threshold").is_not_null())
    title = call_arguments.get("title")
    return (
        etas,
        target_points,
        {**call_arguments, "title": points.verdict.sentence if title is None else title},
    )


def _choose_etas(size_rows: pl.DataFrame) -> list[float]:
    """Return prevalences from common ones down to where the negatives of the test end."""
    greatest_n_neg = pl.lit(size_rows["n_neg"].max())  # of an empty table null
    points = pl.DataFrame({"eta": eta_grid()}).with_columns(n_neg=greatest_n_neg)
    return _end_at_negatives(points)["eta"].unique().sort().to_list()


def _end_at_negatives(points: pl.DataFrame) -> pl.DataFrame:
    """Return the rows at prevalences down to the power of ten below 1 in as many as the negatives are.

    Among fewer negatives than one positive has beside it, false positives are hardly seen. Rows down to
    1 in 10 are kept, so that a table of a single negative has some, too.
    """
    n_neg = points["n_neg"] if "n_neg" in points.columns else points["fp"] + points["tn"]
    greatest_n_neg = n_neg.drop_nulls().max()
    if not isinstance(greatest_n_neg, int | float) or greatest_n_neg < 1:
        return points
    least_eta = 10.0 ** min(math.floor(-math.log10(greatest_n_neg) + 1e-9), -1)
    return points.filter(pl.col("eta").is_null() | (pl.col("eta") >= least_eta * (1 - 1e-9)))


def _add_few_sizes(compared_rows: pl.DataFrame, size_rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of models, or of pairs of them, with their sizes if some have few positives."""
    if not (size_rows["n_pos"] < FEW_POSITIVES).any():
        return compared_rows
    model_column, *group_columns = size_rows.columns[: size_rows.columns.index("eta")]
    size_rows = size_rows.select("n_pos", "n_neg", *group_columns, pl.col(model_column).alias("model"))
    key_columns = [name for name in (*group_columns, "model") if name in compared_rows.columns]
    least_sizes = pl.col("n_pos", "n_neg").min()
    if not key_columns:
        return compared_rows.join(size_rows.select(least_sizes), how="cross")
    least_rows = size_rows.group_by(key_columns).agg(least_sizes)
    return compared_rows.join(
        least_rows, on=key_columns, how="left", nulls_equal=True, maintain_order="left"
    )


def _collect(frame_or_plan: Any) -> pl.DataFrame:
    """Return the rows of a table that may be a query."""
    return run_query(frame_or_plan) if isinstance(frame_or_plan, pl.LazyFrame) else frame_or_plan
