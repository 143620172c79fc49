"""`.prc` on expressions: one value per row, one value per group, or structs, from a score column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import polars as pl

from polars_prcurve.core.binding.argument_rules import check_rules, list_facts
from polars_prcurve.core.binding.bound_table import PublicMethods
from polars_prcurve.core.binding.shared_arguments import (
    TARGET_WORDS,
    ExpressionWords,
    TableWords,
    TargetsOfExpression,
)
from polars_prcurve.core.curves.expression_sweep import read_scored_rows
from polars_prcurve.core.curves.guarantees import promise_targets_of_expression
from polars_prcurve.core.curves.target_arguments import check_per_has_alerts, read_targets
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.inputs.column_reader import Column
from polars_prcurve.core.metrics.areas import partial_roc_auc_mcclish
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_lookup import find_curve_metric, find_metrics, find_point_metric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.prior_shift import shift_prior

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ExprPrc(PublicMethods, public_name="prc"):
    """The sweep as expressions on a score column.

    `label` and `weight` are names or expressions, and `pos_label` is the positive value of a label
    that is not Boolean or numeric, which each group must hold (otherwise pass a Boolean label).
    Counts are Int64, or Float64 with weights. `eta` is a number, None for the prevalence of the rows
    in the context, or an expression with one value per group, such as `pl.col("eta").first()`. All
    expressions work in `select`, `with_columns`, `over` and `group_by().agg`, and are named like the
    score, which is one column. A null, a NaN or a label that is not binary stops the query, so
    filter such rows out first.
    """

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def __call__(self, **words: Unpack[TableWords]) -> NoReturn:
        """Raise: what a table holds is passed to a frame."""
        raise PrcError(
            'call the method, such as pl.col("score").prc.precision("label", eta=0.01), or '
            "bind a frame, df.prc(score=..., ...): an expression stores no arguments"
        )

    def __repr__(self) -> str:
        return f"<prc of the expression {self._expr}>"

    def tp(self, label: Column, **rows: Unpack[ExpressionWords]) -> pl.Expr:
        """True positives at the row's own score: positives that score at least as high.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.2, 0.9, 0.1], "label": [1, 1, 0, 0]})
        >>> df.select(pl.col("score").prc.tp("label")).to_series().to_list()
        [1, 2, 1, 2]
        """
        return read_scored_rows(self._expr, label, **rows).count("tp")

    def fp(self, label: Column, **rows: Unpack[ExpressionWords]) -> pl.Expr:
        """False positives at the row's own score: negatives that score at least as high."""
        return read_scored_rows(self._expr, label, **rows).count("fp")

    def fn(self, label: Column, **rows: Unpack[ExpressionWords]) -> pl.Expr:
        """False negatives at the row's own score: positives that score lower."""
        return read_scored_rows(self._expr, label, **rows).count("fn")

    def tn(self, label: Column, **rows: Unpack[ExpressionWords]) -> pl.Expr:
        """True negatives at the row's own score: negatives that score lower."""
        return read_scored_rows(self._expr, label, **rows).count("tn")

    def recall(self, label: Column, **rows: Unpack[ExpressionWords]) -> pl.Expr:
        """Recall at the row's own score, `tp / (tp + fn)`: Float64, null without positives."""
        return read_scored_rows(self._expr, label, **rows).rate(of_positives=True)

    def fpr(self, label: Column, **rows: Unpack[ExpressionWords]) -> pl.Expr:
        """Fpr at the row's own score, `fp / (fp + tn)`: Float64, null without negatives."""
        return read_scored_rows(self._expr, label, **rows).rate(of_positives=False)

    def precision(
        self, label: Column, eta: float | pl.Expr | None = None, **rows: Unpack[ExpressionWords]
    ) -> pl.Expr:
        """Precision at the row's own score and prevalence `eta`; see `metric`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.2, 0.8, 0.1], "label": [1, 1, 0, 0]})
        >>> df.select(pl.col("score").prc.precision("label", eta=0.01)).to_series().round(4).to_list()
        [1.0, 0.0198, 0.01, 0.01]
        """
        return self.metric("precision", label, eta, **rows)

    def metric(
        self,
        metric: str | PointMetric,
        label: Column,
        eta: float | pl.Expr | None = None,
        **rows: Unpack[ExpressionWords],
    ) -> pl.Expr:
        """Any point metric at the row's own score: Float64, null where undefined."""
        point_metric = find_point_metric(metric)
        return read_scored_rows(self._expr, label, eta, **rows).point_metric(point_metric)

    def counts(self, label: Column, **rows: Unpack[ExpressionWords]) -> pl.Expr:
        """Structs of `score, n_pos, n_neg`, one per distinct score, by falling score.

        They equal the rows of the frame method `counts`, also with weights.
        """
        return read_scored_rows(self._expr, label, **rows).count_structs()

    def sweep(self, label: Column, **rows: Unpack[ExpressionWords]) -> pl.Expr:
        """Structs of `threshold, tp, fp, fn, tn, recall, fpr`, one per distinct score.

        They equal the rows of the frame method `sweep`, by falling threshold.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.9, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.select(pl.col("score").prc.sweep("label")).unnest("score").equals(df.prc.sweep())
        True
        """
        return read_scored_rows(self._expr, label, **rows).sweep_structs()

    def curve(
        self,
        label: Column,
        eta: float | Sequence[float | None] | pl.Expr | None = None,
        *,
        metrics: str | PointMetric | Iterable[str | PointMetric] = ("precision",),
        **rows: Unpack[ExpressionWords],
    ) -> pl.Expr:
        """Structs of `eta`, the fields of `sweep` and the metrics, one per prevalence and score.

        They equal the rows of the frame method `curve`, without bands. `eta` may also be a list.
        """
        point_metrics = find_metrics(metrics, PointMetric)
        scored_rows = read_scored_rows(self._expr, label, eta, **rows, takes_several=True)
        return scored_rows.curve_structs(point_metrics)

    def summary(
        self,
        metric: str | CurveMetric,
        label: Column,
        eta: float | pl.Expr | None = None,
        **rows: Unpack[ExpressionWords],
    ) -> pl.Expr:
        """A curve metric: one Float64, null where undefined, equal to the frame method's value.

        Examples
        --------
        >>> from polars_prcurve import metrics
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> best_f1 = pl.col("score").prc.summary(metrics.best("f1"), "label", eta=0.01)
        >>> df.select(best_f1).item()
        0.6666666666666667
        """
        curve_metric = find_curve_metric(metric)
        return read_scored_rows(self._expr, label, eta, **rows).summarize(curve_metric)

    def average_precision(
        self, label: Column, eta: float | pl.Expr | None = None, **rows: Unpack[ExpressionWords]
    ) -> pl.Expr:
        """Average precision at prevalence `eta`, the sum of steps; see `summary`.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> df.select(pl.col("score").prc.average_precision("label", eta=0.5)).item()
        0.8333333333333333
        """
        return self.summary("average_precision", label, eta, **rows)

    def pr_auc(
        self, label: Column, eta: float | pl.Expr | None = None, **rows: Unpack[ExpressionWords]
    ) -> pl.Expr:
        """The area under the PR curve at prevalence `eta` (Davis and Goadrich); see `summary`."""
        return self.summary("pr_auc", label, eta, **rows)

    def auprg(
        self, label: Column, eta: float | pl.Expr | None = None, **rows: Unpack[ExpressionWords]
    ) -> pl.Expr:
        """The area under the precision-recall-gain curve at prevalence `eta`; see `summary`."""
        return self.summary("auprg", label, eta, **rows)

    def roc_auc(
        self, label: Column, *, max_fpr: float | None = None, **rows: Unpack[ExpressionWords]
    ) -> pl.Expr:
        """The area under the ROC curve; see `summary`.

        With `max_fpr` it is the area up to this fpr, standardized as by McClish and scikit-learn. The
        area without standardization is `metrics.partial_roc_auc`.
        """
        area_metric = "roc_auc" if max_fpr is None else partial_roc_auc_mcclish(max_fpr)
        return self.summary(area_metric, label, **rows)

    def threshold(
        self,
        label: Column,
        eta: float | pl.Expr | None = None,
        *,
        maximize: str | PointMetric | None = None,
        guarantee: float | str | None = None,
        start: float | None = None,
        **words: Unpack[TargetsOfExpression],
    ) -> pl.Expr:
        """The threshold that meets a target at prevalence `eta`: one value, a score of the column.

        Pass one target, as in the frame method `operating_points`. The value is null where no threshold
        meets it. `guarantee` and `start` are as there, except that the start is a number, with which
        scores are compared as Float64. Targets of alerts have no guarantee here.

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 1, 0, 1]})
        >>> df.select(pl.col("score").prc.threshold("label", eta=0.01, precision=0.9)).item()
        0.8
        """
        check_per_has_alerts(words.get("alerts"), words.get("per"))
        value_by_target: dict[str, Any] = {
            name: value for name, value in words.items() if name in TARGET_WORDS
        }
        value_by_target["maximize"] = maximize
        row_arguments: Any = {name: value for name, value in words.items() if name not in TARGET_WORDS}
        targets = read_targets(None, **value_by_target)
        if len(targets) > 1:
            raise PrcError(f"write one expression for each target (recall=, ...); got {len(targets)}")
        arguments = {**value_by_target, "guarantee": guarantee, "start": start}
        check_rules("threshold", list_facts(row_arguments, arguments, None, None))
        is_weighted = row_arguments.get("weight") is not None
        promised_targets = promise_targets_of_expression(
            targets, guarantee, start, has_weights=is_weighted
        )
        return read_scored_rows(self._expr, label, eta, **row_arguments).find_threshold(
            promised_targets[0]
        )

    def shift_prior(self, eta_train: float | pl.Expr, eta: float | pl.Expr) -> pl.Expr:
        """Posteriors, or thresholds on them, moved to another prevalence: Float64, one per row.

        They move from `eta_train`, the prevalence of training, to `eta` (Williams 2021, eq. 3), each a
        number or an expression between 0 and 1. Posteriors 0, 1 and null do not change. A NaN or a value
        outside [0, 1] stops the query.

        Examples
        --------
        >>> df = pl.DataFrame({"p": [0.2, 0.5, 0.9], "eta": [0.5, 0.1, 0.01]})
        >>> df.select(pl.col("p").prc.shift_prior(0.5, pl.col("eta"))).to_series().round(6).to_list()
        [0.2, 0.1, 0.083333]
        """
        return shift_prior(self._expr, eta_train, eta)
