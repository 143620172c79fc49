"""Charts straight from a score table: `df.prc.plot.<chart>(...)`.

Each method asks the lazy namespace for the reduced table that its chart is drawn from, collects
it, and hands it to `charts`. Altair is imported then, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from polars_prcurve.curve_metrics import CurveMetric, curve_metrics
from polars_prcurve.errors import raised_eagerly
from polars_prcurve.inputs import listed
from polars_prcurve.prevalence import eta_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polars_prcurve.bands import Band as BandKind
    from polars_prcurve.charts import Chart
    from polars_prcurve.inputs import Column, Columns, Missing
    from polars_prcurve.intervals import RateMethod
    from polars_prcurve.namespace import LazyFramePrc
    from polars_prcurve.point_metrics import PointMetric
    from polars_prcurve.prevalence import Eta
    from polars_prcurve.sweep import Thresholds
    from polars_prcurve.targets import Several

__all__ = ["Listed", "PlotPrc"]


class Listed:
    """A repr that says what can be called."""

    def __repr__(self) -> str:
        public = [name for name in dir(self) if not name.startswith("_")]
        return f"<{type(self).__name__} with {', '.join(public)}>"


class PlotPrc(Listed):
    """Charts of a score table, as plain Altair charts.

    Every method collects at the call what it draws. Of a curve that is at most 2 * positives + 2 rows
    per group; `threshold_curve` and `normal_quantiles` draw every score. The arguments that say what
    the table holds are those of `.prc`.
    """

    def __init__(self, prc: LazyFramePrc) -> None:
        self._prc = prc

    def pr_curve(
        self,
        eta: Eta = None,
        *,
        y: Literal["precision", "fdr"] = "precision",
        confidence: float | None = None,
        interval: RateMethod = "wilson",
        band: BandKind = "mover",
        color: str | None = None,
        facet: str | None = None,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect the curve at each prevalence, and draw precision by recall.

        Parameters
        ----------
        eta
            As in `curve`: one or several prevalences, a frame of them, or None for each
            group's own.
        confidence, interval, band
            As in `curve`; a beta interval needs a table of `curve` and `charts.pr_curve`.
        y, color, facet, title
            As in `charts.pr_curve`.

        Returns
        -------
        An Altair chart; see `charts.pr_curve`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> chart = df.prc.plot.pr_curve(eta=[0.5, 0.01])
        >>> chart.to_dict()["title"]["text"]
        ['Precision-recall curve']
        """
        from polars_prcurve import charts

        query = self._prc.curve(
            eta,
            metrics=(y,),
            confidence=confidence,
            interval=interval,
            band=band,
            drop_intermediate=True,
            **_of_table(locals()),
        )
        return charts.pr_curve(_collected(query), y=y, confidence=confidence, **_of_looks(locals()))

    def roc_curve(
        self,
        *,
        log_x: bool = False,
        eta: float | None = None,
        precisions: Sequence[float] = (0.1, 0.5, 0.9),
        color: str | None = None,
        facet: str | None = None,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect the sweep, and draw recall by fpr.

        Parameters
        ----------
        log_x, eta, precisions, color, facet, title
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
        from polars_prcurve import charts

        query = self._prc.sweep(drop_intermediate=True, **_of_table(locals()))
        table, looks = _collected(query), _of_looks(locals())
        return charts.roc_curve(table, log_x=log_x, eta=eta, precisions=precisions, **looks)

    def prg_curve(
        self,
        eta: Eta = None,
        *,
        color: str | None = None,
        facet: str | None = None,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
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
        >>> df.prc.plot.prg_curve(eta=0.1).to_dict()["title"]["text"]
        ['Precision-recall-gain curve']
        """
        from polars_prcurve import charts

        query = self._prc.curve(eta, drop_intermediate=True, **_of_table(locals()))
        return charts.prg_curve(_collected(query), **_of_looks(locals()))

    def threshold_curve(
        self,
        eta: Eta = None,
        *,
        color: str | None = None,
        facet: str | None = None,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect the whole curve, a row per distinct score, and draw what each threshold does.

        Parameters
        ----------
        eta
            As in `curve`.
        color, facet, title
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
        from polars_prcurve import charts

        query = self._prc.curve(eta, **_of_table(locals()))
        return charts.threshold_curve(_collected(query), **_of_looks(locals()))

    def ribbon(
        self,
        eta: Eta = None,
        *,
        n_repeats: int = 30,
        seed: int | None = None,
        thresholds: Thresholds = None,
        color: str | None = None,
        facet: str | None = None,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        counts: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Leave out negatives again and again, and draw the precision that is found.

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
        >>> chart.to_dict()["title"]["text"]
        ['Precision-recall curve of fewer negatives']
        """
        from polars_prcurve import charts

        table = self._prc.subsample_negatives(
            eta, n_repeats=n_repeats, seed=seed, thresholds=thresholds, **_of_table(locals())
        )
        return charts.ribbon(table, **_of_looks(locals()))

    def ranking(
        self,
        eta: Eta = None,
        *,
        model: Column = "model",
        metric: str | CurveMetric | PointMetric = "average_precision",
        confidence: float | None = None,
        id: Column | None = None,
        color: str | None = None,
        facet: str | None = None,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect the ranking at each prevalence, and draw ranks by prevalence.

        Parameters
        ----------
        eta
            As in `ranking`, but if left out `eta_grid()`.
        model, metric, confidence, id
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
        ['Ranking by prevalence']
        """
        from polars_prcurve import charts

        query = self._prc.ranking(
            eta_grid() if eta is None else eta,
            model=model,
            metric=metric,
            confidence=confidence,
            id=id,
            **_of_table(locals()),
        )
        return charts.ranking(_collected(query), confidence=confidence, **_of_looks(locals()))

    def live(
        self,
        *,
        eta: float | None = None,
        color: str | None = None,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect the sweep, and draw ROC beside PR, with a slider for prevalence.

        Parameters
        ----------
        eta, color, title
            As in `charts.live`.

        Returns
        -------
        Altair charts beside each other; see `charts.live`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.live().to_dict()["title"]["text"]
        ['ROC and precision-recall curves']
        """
        from polars_prcurve import charts

        query = self._prc.sweep(drop_intermediate=True, **_of_table(locals()))
        return charts.live(_collected(query), eta=eta, color=color, title=title)

    def normal_quantiles(
        self,
        *,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
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
        from polars_prcurve import charts

        query = self._prc.sweep(**_of_table(locals()))
        return charts.normal_quantiles(_collected(query), title=title)

    def metric_by_eta(
        self,
        eta: Eta = None,
        *,
        metrics: str | CurveMetric | Sequence[str | CurveMetric] = "average_precision",
        model: Column | None = None,
        confidence: float | None = None,
        color: str | None = None,
        facet: str | None = None,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect the summary at each prevalence, and draw metrics by prevalence.

        Parameters
        ----------
        eta
            As in `summary`, but if left out `eta_grid()`.
        metrics, confidence
            As in `summary`, analytic; for the bootstrap pass a table of `summary` to
            `charts.metric_by_eta`.
        model
            The column that names the model, as in `crossings`: it is the first group column. Of one
            metric that depends on prevalence, and of 2 to 8 models, the trades of places are found and
            drawn, too.
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
        from polars_prcurve import charts

        given = _of_table(locals())
        groups: dict[str, Any] = given if model is None else given | {"by": _first(model, by)}
        at = eta_grid() if eta is None else eta
        query = self._prc.summary(at, metrics=metrics, confidence=confidence, **groups)
        table, crossings = _collected(query), None
        asked = curve_metrics(metrics)
        if model is not None and len(asked) == 1 and asked[0].depends_on_eta:
            crossings = self._crossings(table, model, asked[0], given)
        looks = _of_looks(locals())
        return charts.metric_by_eta(table, crossings=crossings, confidence=confidence, **looks)

    def _crossings(
        self, table: pl.DataFrame, model: Column, metric: CurveMetric, given: dict[str, Any]
    ) -> pl.DataFrame | None:
        """Where models trade places within the prevalences of the table, if models are few."""
        etas = table["eta"].filter(table["eta"].is_between(0, 1, closed="none")).unique().sort()
        if not 2 <= table[table.columns[0]].n_unique() <= _FEW_MODELS or len(etas) < 2:
            return None
        return self._prc.crossings(model=model, metric=metric, eta_range=(etas[0], etas[-1]), **given)

    def p3_curve(
        self,
        eta: Eta = None,
        *,
        threshold: Any = None,
        recall: Several = None,
        fpr: Several = None,
        confidence: float | None = None,
        interval: RateMethod = "wilson",
        band: BandKind = "mover",
        color: str | None = None,
        facet: str | None = None,
        title: str | None = None,
        by: Columns = None,
        score: Column = "score",
        label: Column = "label",
        pos_label: Any = None,
        weight: Column | None = None,
        counts: tuple[Column, Column] | None = None,
        rates: tuple[Column, Column] | None = None,
        missing: Missing = "raise",
    ) -> Chart:
        """Collect operating points at each prevalence, and draw their precision by prevalence.

        Parameters
        ----------
        eta
            As in `operating_points`, but if left out `eta_grid()`.
        threshold, recall, fpr
            What is fixed, as in `operating_points`.
        confidence, interval, band
            As in `operating_points`; a beta interval needs a table of `operating_points` and
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
        from polars_prcurve import charts

        query = self._prc.operating_points(
            eta_grid() if eta is None else eta,
            threshold=threshold,
            recall=recall,
            fpr=fpr,
            metrics=("precision",),
            confidence=confidence,
            interval=interval,
            band=band,
            **_of_table(locals()),
        )
        return charts.p3_curve(_collected(query), confidence=confidence, **_of_looks(locals()))


_FEW_MODELS = 8
_TABLE = ("by", "score", "label", "pos_label", "weight", "counts", "rates", "missing")


def _of_table(arguments: dict[str, Any]) -> dict[str, Any]:
    """Of a method's arguments those that say what the table holds."""
    return {name: arguments[name] for name in _TABLE if name in arguments}


def _of_looks(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in ("color", "facet", "title")}


def _first(model: Column, by: Columns) -> list[Column]:
    return [model, *listed(by)]


def _collected(query: pl.LazyFrame) -> pl.DataFrame:
    with raised_eagerly():
        return query.collect()
