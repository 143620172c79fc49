"""Charts straight from a score table: `df.prc.plot.<chart>(...)`.

Each method asks the lazy namespace for the reduced table that its chart is drawn from, collects
it, and hands it to `charts`. Altair is imported then, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from polars_prcurve.errors import raised_eagerly

if TYPE_CHECKING:
    import polars as pl

    from polars_prcurve.charts import Chart
    from polars_prcurve.inputs import Column, Columns, Missing
    from polars_prcurve.namespace import LazyFramePrc
    from polars_prcurve.prevalence import Eta

__all__ = ["Listed", "PlotPrc"]


class Listed:
    """A repr that says what can be called."""

    def __repr__(self) -> str:
        public = [name for name in dir(self) if not name.startswith("_")]
        return f"<{type(self).__name__} with {', '.join(public)}>"


class PlotPrc(Listed):
    """Charts of a score table, as plain Altair charts.

    Every method collects at the call: the curve, reduced to at most 2 * positives + 2 rows per group,
    or the sweep for `normal_quantiles`. The arguments that say what the table holds are those of `.prc`.
    """

    def __init__(self, prc: LazyFramePrc) -> None:
        self._prc = prc

    def pr_curve(
        self,
        eta: Eta = None,
        *,
        y: Literal["precision", "fdr"] = "precision",
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
        y, color, facet, title
            As in `charts.pr_curve`.

        Returns
        -------
        An Altair chart; see `charts.pr_curve`.

        Examples
        --------
        >>> import polars as pl
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> chart = df.prc.plot.pr_curve(eta=[0.5, 0.01])
        >>> chart.to_dict()["title"]["text"]
        ['Precision-recall curve']
        """
        from polars_prcurve import charts

        query = self._prc.curve(
            eta,
            metrics=(y,),
            drop_intermediate=True,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            missing=missing,
        )
        return charts.pr_curve(_collected(query), y=y, color=color, facet=facet, title=title)

    def roc_curve(
        self,
        *,
        log_x: bool = False,
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
        log_x, color, facet, title
            As in `charts.roc_curve`.

        Returns
        -------
        An Altair chart; see `charts.roc_curve`.

        Examples
        --------
        >>> import polars as pl
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.roc_curve(title="Four rows").to_dict()["title"]["text"]
        ['Four rows']
        """
        from polars_prcurve import charts

        query = self._prc.sweep(
            drop_intermediate=True,
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            rates=rates,
            missing=missing,
        )
        return charts.roc_curve(_collected(query), log_x=log_x, color=color, facet=facet, title=title)

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
        >>> import polars as pl
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.prc.plot.normal_quantiles().to_dict()["title"]["text"]
        ['Scores by normal quantile']
        """
        from polars_prcurve import charts

        query = self._prc.sweep(
            by=by,
            score=score,
            label=label,
            pos_label=pos_label,
            weight=weight,
            counts=counts,
            missing=missing,
        )
        return charts.normal_quantiles(_collected(query), title=title)


def _collected(query: pl.LazyFrame) -> pl.DataFrame:
    with raised_eagerly():
        return query.collect()
