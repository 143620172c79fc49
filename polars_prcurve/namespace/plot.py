"""Charts straight from a score table: `df.prc.plot.<chart>(...)`.

Each method asks the lazy namespace for the reduced table that its chart draws, collects it, and passes
it to the function of its name in `charts`. Altair is imported at that call, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import polars as pl

from polars_prcurve.argument_kinds import check_texts, check_title, read_choice, read_flag, refuse_kind
from polars_prcurve.curves.decision_curves import PROBABILITIES, choose_risks
from polars_prcurve.inputs.column_reader import list_columns, read_expression
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.metrics.names import default_curve_metric, find_curve_metrics
from polars_prcurve.namespace.methods_repr import MethodListing
from polars_prcurve.prevalence.eta_values import eta_grid
from polars_prcurve.query_checks import run_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polars_prcurve.argument_kinds import Title
    from polars_prcurve.charts import Chart
    from polars_prcurve.curves.targets import TargetValues
    from polars_prcurve.inputs.column_reader import Column, Columns, Counts, Missing
    from polars_prcurve.inputs.point_columns import Cells, Sizes
    from polars_prcurve.intervals.bands import BandKind
    from polars_prcurve.intervals.rates import RateMethod
    from polars_prcurve.metrics.point_metric import PointMetric
    from polars_prcurve.prevalence.eta_values import Eta
    from polars_prcurve.sweep.row_choice import Thresholds


class QueryMethods(Protocol):
    """The methods of `.prc` on a LazyFrame that charts are drawn from."""

    def sweep(self, *values: Any, **options: Any) -> Any: ...
    def curve(self, *values: Any, **options: Any) -> Any: ...
    def summary(self, *values: Any, **options: Any) -> Any: ...
    def operating_points(self, *values: Any, **options: Any) -> Any: ...
    def ranking(self, *values: Any, **options: Any) -> Any: ...
    def compare(self, *values: Any, **options: Any) -> Any: ...
    def crossings(self, *values: Any, **options: Any) -> Any: ...
    def decision_curve(self, *values: Any, **options: Any) -> Any: ...
    def subsample_negatives(self, *values: Any, **options: Any) -> Any: ...


class PlotPrc(MethodListing, path="prc.plot"):
    """Charts of a score table, as plain Altair charts.

    Every method collects the table that it draws at the call. A curve has at most 2 * positives + 2 rows
    per group; `threshold_curve` and `normal_quantiles` draw every score. The arguments that say what the
    table holds are those of `.prc`.
    """

    def __init__(self, methods: QueryMethods) -> None:
        self._methods = methods

    def pr_curve(
        self,
        eta: Eta = None,
        *,
        y: Literal["precision", "fdr"] = "precision",
        confidence: float | None = None,
        interval: RateMethod = "wilson",
        band: BandKind = "mover",
        points: pl.DataFrame | None = None,
        log_y: bool | None = None,
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
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
    ) -> Chart:
        """Collect the curve at each prevalence, and draw precision by recall.

        Parameters
        ----------
        eta
            As in `curve`: one or several prevalences, a frame of them, or None for each
            group's own.
        confidence, interval, band
            As in `curve`. For a beta interval pass a table of `curve` to `charts.pr_curve`.
        y, points, log_y, color, facet, title
            As in `charts.pr_curve`.

        Returns
        -------
        An Altair chart; see `charts.pr_curve`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> chart = df.prc.plot.pr_curve(eta=[0.5, 0.01])
        >>> chart.to_dict()["title"]["text"]
        ['Precision and recall at two shares of positives']
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        read_choice("y=", y, ("precision", "fdr"))
        _check_points("pr_curve", points, ["recall", y])
        if log_y is not None:
            read_flag("log_y=", log_y)
        from polars_prcurve import charts

        query = self._methods.curve(
            eta,
            metrics=(y,),
            confidence=confidence,
            interval=interval,
            band=band,
            drop_intermediate=True,
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
        options: dict[str, Any] = {
            "points": points,
            "log_y": log_y,
            "color": color,
            "facet": facet,
            "title": title,
        }
        return charts.pr_curve(run_query(query), y=y, confidence=confidence, **options)

    def roc_curve(
        self,
        eta: float | str | None = None,
        *,
        log_x: bool = False,
        precisions: Sequence[float] = (0.1, 0.5, 0.9),
        points: pl.DataFrame | None = None,
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
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
    ) -> Chart:
        """Collect the sweep, and draw recall by fpr.

        Parameters
        ----------
        eta, log_x, precisions, points, color, facet, title
            As in `charts.roc_curve`.

        Returns
        -------
        An Altair chart; see `charts.roc_curve`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.roc_curve(title="Four rows").to_dict()["title"]["text"]
        ['Four rows']
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        _check_points("roc_curve", points, ["recall", "fpr"])
        from polars_prcurve import charts
        from polars_prcurve.charts.roc import read_precision_lines

        read_precision_lines(eta, precisions)
        read_flag("log_x=", log_x)

        query = self._methods.sweep(
            drop_intermediate=True,
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
        return charts.roc_curve(
            run_query(query),
            eta,
            log_x=log_x,
            precisions=precisions,
            points=points,
            color=color,
            facet=facet,
            title=title,
        )

    def prg_curve(
        self,
        eta: Eta = None,
        *,
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
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
    ) -> Chart:
        """Collect the curve at each prevalence, and draw precision gain by recall gain.

        Parameters
        ----------
        eta
            As in `curve`.
        color, facet, title
            As in `charts.prg_curve`.

        Returns
        -------
        An Altair chart; see `charts.prg_curve`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.prg_curve(eta=0.1, title="Gains").to_dict()["title"]["text"]
        ['Gains']
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        from polars_prcurve import charts

        query = self._methods.curve(
            eta,
            drop_intermediate=True,
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
        return charts.prg_curve(run_query(query), color=color, facet=facet, title=title)

    def gain_curve(
        self,
        eta: Eta = None,
        *,
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
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
    ) -> Chart:
        """Collect the curve at each prevalence, and draw recall by the share of cases alerted.

        Parameters
        ----------
        eta
            As in `curve`.
        color, facet, title
            As in `charts.gain_curve`.

        Returns
        -------
        An Altair chart; see `charts.gain_curve`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.gain_curve(eta=0.5, title="Four rows").to_dict()["title"]["text"]
        ['Four rows']
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        from polars_prcurve import charts

        query = self._methods.curve(
            eta,
            drop_intermediate=True,
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
        return charts.gain_curve(run_query(query), color=color, facet=facet, title=title)

    def decision_curve(
        self,
        eta: Eta = None,
        *,
        probabilities: Sequence[float] | None = None,
        eta_train: float | None = None,
        confidence: float | None = None,
        log_x: bool | None = None,
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect net benefit at each risk, and draw it beside that of treating all and none.

        Parameters
        ----------
        eta, eta_train, confidence
            As in `decision_curve`.
        probabilities
            As in `decision_curve`; but if left out where a prevalence is below 5 %, from a tenth of the
            least to 20 times the greatest, and at most 99 %.
        log_x, color, facet, title
            As in `charts.decision_curve`.

        Returns
        -------
        An Altair chart; see `charts.decision_curve`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.6, 0.3, 0.1], "label": [1, 0, 1, 0]})
        >>> chart = df.prc.plot.decision_curve(probabilities=[0.1, 0.2, 0.4], title="Four rows")
        >>> chart.to_dict()["title"]["text"]
        ['Four rows']
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        if log_x is not None:
            read_flag("log_x=", log_x)
        from polars_prcurve import charts

        asked: dict[str, Any] = {"eta_train": eta_train, "confidence": confidence, "by": by}
        asked |= {"score": score, "label": label, "pos_label": pos_label, "weight": weight}
        asked |= {"counts": counts, "missing": missing}
        risks = PROBABILITIES if probabilities is None else probabilities
        table = run_query(self._methods.decision_curve(eta, probabilities=risks, **asked))
        if probabilities is None and (risks := choose_risks(table["eta"].to_list())) != PROBABILITIES:
            table = run_query(self._methods.decision_curve(eta, probabilities=risks, **asked))
        return charts.decision_curve(
            table,
            confidence=confidence,
            log_x=log_x,
            color=color,
            facet=facet,
            title=title,
        )

    def difference(
        self,
        eta: Eta = None,
        *,
        model: Column = "model",
        metrics: str | CurveMetric | Sequence[str | CurveMetric] | None = None,
        confidence: float = 0.95,
        id: Columns = None,
        title: Title = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Compare models on the same examples, and draw the difference by prevalence.

        Parameters
        ----------
        eta
            As in `compare`, but `eta_grid()` if left out.
        model, confidence, id
            As in `compare`.
        metrics
            As in `compare`, but `average_precision` if left out.
        title
            As in `charts.difference`.

        Returns
        -------
        An Altair chart; see `charts.difference`.

        Examples
        --------
        >>> a, b = [6, 5, 3, 4, 2, 1], [6, 3, 1, 5, 4, 2]
        >>> df = pl.DataFrame({"label": [1, 1, 1, 0, 0, 0], "a": a, "b": b})
        >>> long = df.prc.unpivot_scores(["a", "b"], name="model", row="row")
        >>> chart = long.prc.plot.difference([0.01, 0.1, 0.5], id="row")
        >>> chart.to_dict()["title"]["subtitle"]
        ['a minus b: average precision, in points, by share of positives']
        """
        check_title(title)
        from polars_prcurve import charts

        query = self._methods.compare(
            model=model,
            metrics="average_precision" if metrics is None else metrics,
            eta=eta_grid() if eta is None else eta,
            confidence=confidence,
            id=id,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            missing=missing,
        )
        return charts.difference(run_query(query), confidence=confidence, title=title)

    def threshold_curve(
        self,
        eta: Eta = None,
        *,
        points: pl.DataFrame | None = None,
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        cells: Cells | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect the curve at every distinct score, and draw metrics by threshold.

        Parameters
        ----------
        eta
            As in `curve`.
        points, color, facet, title
            As in `charts.threshold_curve`.

        Returns
        -------
        Altair charts above each other; see `charts.threshold_curve`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.threshold_curve(eta=0.01).to_dict()["title"]["text"]
        ['Precision, recall and alerts by threshold']
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        _check_points("threshold_curve", points, ["recall", "precision"])
        from polars_prcurve import charts

        query = self._methods.curve(
            eta,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            cells=cells,
            missing=missing,
        )
        return charts.threshold_curve(
            run_query(query), points=points, color=color, facet=facet, title=title
        )

    def ribbon(
        self,
        eta: Eta = None,
        *,
        n_repeats: int = 30,
        seed: int | None = None,
        thresholds: Thresholds = None,
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        counts: Counts | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Leave out negatives at random many times, and draw the precision that the samples find.

        Parameters
        ----------
        eta, n_repeats, seed, thresholds
            As in `subsample_negatives`.
        color, facet, title
            As in `charts.ribbon`.

        Returns
        -------
        An Altair chart; see `charts.ribbon`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [2, 1, 0], "n_pos": [6, 3, 1], "n_neg": [5, 50, 945]})
        >>> chart = df.prc.plot.ribbon(0.1, seed=1, counts=("n_pos", "n_neg"))
        >>> print(chart.to_dict()["title"]["text"][0].replace("\xa0", " "))
        93 % precision at half recall reads as 75 % to 100 % with fewer negatives
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        from polars_prcurve import charts

        table = self._methods.subsample_negatives(
            eta,
            n_repeats=n_repeats,
            seed=seed,
            thresholds=thresholds,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            counts=counts,
            missing=missing,
        )
        return charts.ribbon(table, color=color, facet=facet, title=title)

    def ranking(
        self,
        eta: Eta = None,
        *,
        model: Column = "model",
        metric: str | CurveMetric | PointMetric | None = None,
        confidence: float | None = None,
        id: Columns = None,
        coarse: bool = False,
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
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
    ) -> Chart:
        """Collect the ranking at each prevalence, and draw ranks by prevalence.

        Parameters
        ----------
        eta
            As in `ranking`, but `eta_grid()` if left out.
        model, metric, confidence, id, coarse
            As in `ranking`.
        color, facet, title
            As in `charts.ranking`.

        Returns
        -------
        An Altair chart; see `charts.ranking`.

        Examples
        --------
        >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
        >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
        >>> df.prc.plot.ranking().to_dict()["title"]["text"]
        ['In the test a ranks first at every share of positives shown']
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        from polars_prcurve import charts

        query = self._methods.ranking(
            eta_grid() if eta is None else eta,
            model=model,
            metric=metric,
            confidence=confidence,
            id=id,
            coarse=coarse,
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
        return charts.ranking(
            run_query(query), confidence=confidence, color=color, facet=facet, title=title
        )

    def live(
        self,
        eta: float | str | None = None,
        *,
        width: int | Literal["container"] = 620,
        color: str | None = None,
        title: Title = None,
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
    ) -> Chart:
        """Collect the sweep, and draw PR curves under a slider for prevalence.

        Parameters
        ----------
        eta, width, color, title
            As in `charts.live`.

        Returns
        -------
        An Altair chart; see `charts.live`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.live(title="Move the slider").to_dict()["title"]["text"]
        ['Move the slider']
        """
        check_texts(color=color)
        check_title(title)
        from polars_prcurve import charts
        from polars_prcurve.charts.live_slider import check_width, read_start

        read_start(eta)
        check_width(width)

        query = self._methods.sweep(
            drop_intermediate=True,
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
        return charts.live(run_query(query), eta, width=width, color=color, title=title)

    def normal_quantiles(
        self,
        *,
        title: Title = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: Counts | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect the sweep, and draw the scores of each class by normal quantile.

        Parameters
        ----------
        title
            As in `charts.normal_quantiles`.

        Returns
        -------
        An Altair chart; see `charts.normal_quantiles`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.normal_quantiles().to_dict()["title"]["text"]
        ['Scores by normal quantile']
        """
        check_title(title)
        from polars_prcurve import charts

        query = self._methods.sweep(
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            missing=missing,
        )
        return charts.normal_quantiles(run_query(query), title=title)

    def metric_by_eta(
        self,
        eta: Eta = None,
        *,
        metrics: str | CurveMetric | Sequence[str | CurveMetric] | None = None,
        model: Column | None = None,
        confidence: float | None = None,
        coarse: bool = False,
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
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
    ) -> Chart:
        """Collect the summary at each prevalence, and draw metrics by prevalence.

        Parameters
        ----------
        eta
            As in `summary`, but `eta_grid()` if left out.
        metrics
            As in `summary`, but if left out `average_precision`, or `pr_auc` with `rates=` or `cells=`.
        confidence
            As in `summary`, with analytic errors. For the bootstrap pass a table of `summary` to
            `charts.metric_by_eta`.
        coarse
            As in `summary`: the shade is the limits of each value, such as over all that may lie between
            published points.
        model
            The column that names the model, as in `crossings`. It becomes the first group column. For
            one metric that depends on prevalence, and 2 to 8 models, the chart also shows where models
            trade places.
        color, facet, title
            As in `charts.metric_by_eta`.

        Returns
        -------
        An Altair chart; see `charts.metric_by_eta`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.metric_by_eta().to_dict()["title"]["text"]
        ['Average precision by prevalence']
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        if model is not None:
            read_expression("model=", model)
        from polars_prcurve import charts

        metrics = default_curve_metric(rates, cells) if metrics is None else metrics
        columns: dict[str, Any] = {
            "score": score,
            "label": label,
            "pos_label": pos_label,
            "weight": weight,
            "counts": counts,
            "rates": rates,
            "sizes": sizes,
            "cells": cells,
            "missing": missing,
        }
        query = self._methods.summary(
            eta_grid() if eta is None else eta,
            metrics=metrics,
            confidence=confidence,
            coarse=coarse,
            by=by if model is None else [model, *list_columns("by=", by)],
            **columns,
        )
        table = run_query(query)
        return charts.metric_by_eta(
            table,
            crossings=self._collect_crossings(table, model, metrics, by=by, **columns),
            confidence=confidence,
            color=color,
            facet=facet,
            title=title,
        )

    def _collect_crossings(
        self,
        table: pl.DataFrame,
        model: Column | None,
        metrics: str | CurveMetric | Sequence[str | CurveMetric],
        **columns: Any,
    ) -> pl.DataFrame | None:
        """Return the crossings of models within the prevalences of a summary table.

        Return None for a chart that shows none: without models or with many, for several metrics, and
        for one that does not depend on prevalence.
        """
        chosen = find_curve_metrics(metrics)
        if model is None or len(chosen) != 1 or not chosen[0].depends_on_eta:
            return None
        etas = table["eta"].filter(table["eta"].is_between(0, 1, closed="none")).unique().sort()
        if not 2 <= table[table.columns[0]].n_unique() <= _MAX_MODELS or len(etas) < 2:
            return None
        crossings: pl.DataFrame = self._methods.crossings(
            model=model, metric=chosen[0], eta_range=(etas[0], etas[-1]), **columns
        )
        return crossings

    def p3_curve(
        self,
        eta: Eta = None,
        *,
        threshold: Any = None,
        recall: TargetValues = None,
        fpr: TargetValues = None,
        confidence: float | None = None,
        interval: RateMethod = "wilson",
        band: BandKind = "mover",
        color: str | None = None,
        facet: str | None = None,
        title: Title = None,
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
    ) -> Chart:
        """Collect operating points at each prevalence, and draw their precision by prevalence.

        Parameters
        ----------
        eta
            As in `operating_points`, but `eta_grid()` if left out.
        threshold, recall, fpr
            Targets, as in `operating_points`, that fix a threshold for all prevalences.
        confidence, interval, band
            As in `operating_points`. For a beta interval pass a table of `operating_points` to
            `charts.p3_curve`.
        color, facet, title
            As in `charts.p3_curve`.

        Returns
        -------
        An Altair chart; see `charts.p3_curve`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.p3_curve(recall=[0.5, 1], confidence=0.95).to_dict()["title"]["text"]
        ['Precision by prevalence']
        """
        check_texts(color=color, facet=facet)
        check_title(title)
        from polars_prcurve import charts

        query = self._methods.operating_points(
            eta_grid() if eta is None else eta,
            threshold=threshold,
            recall=recall,
            fpr=fpr,
            metrics=("precision",),
            confidence=confidence,
            interval=interval,
            band=band,
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
        return charts.p3_curve(
            run_query(query), confidence=confidence, color=color, facet=facet, title=title
        )


def _check_points(chart: str, points: object, needed: Sequence[str]) -> None:
    """Raise unless the points are None, or a DataFrame with the needed columns."""
    if points is None:
        return
    if not isinstance(points, pl.DataFrame):
        raise refuse_kind("points=", "a DataFrame such as operating_points returns", points)
    from polars_prcurve.charts.parts.marked_points import check_points

    check_points(chart, points, needed)


_MAX_MODELS = 8
"""Crossings of more models than this are neither searched nor drawn."""
