"""What type checkers see through the typed doors. Checked by mypy and pyright, never run."""

from __future__ import annotations

import polars as pl
from typing_extensions import assert_type

from polars_prcurve import (
    DataFramePrc,
    ExprPrc,
    LazyFramePrc,
    PrevalenceDisplay,
    class_mix,
    crossing,
    eta_for_precision,
    eta_grid,
    field,
    intervals,
    metrics,
    prc,
    shift_prior,
)
from polars_prcurve.charts import Chart
from polars_prcurve.metrics import f_beta

df = pl.DataFrame({"score": [0.9], "label": [1]})

assert_type(prc(df), DataFramePrc)
assert_type(prc(df.lazy()), LazyFramePrc)
assert_type(prc(pl.col("score")), ExprPrc)


class Relation:
    """Stands for a pyarrow.Table, a DuckDB relation or any other Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


assert_type(prc(Relation()), DataFramePrc)

assert_type(prc(df).curve(eta=0.01, by="model"), pl.DataFrame)
display = PrevalenceDisplay.from_predictions([1, 0], [0.9, 0.1], eta=0.01)
assert_type(display, PrevalenceDisplay)
assert_type(display.average_precision, float | list[float])
assert_type(display.test, DataFramePrc)
assert_type(display.plot(), Chart)
assert_type(prc(df.lazy()).curve(eta=[0.5, None], by=["model", "fold"]), pl.LazyFrame)
assert_type(df.pipe(prc).sweep(thresholds=10), pl.DataFrame)
assert_type(df.lazy().pipe(prc).counts(), pl.LazyFrame)
assert_type(prc(df).curve(eta=eta_grid(), metrics=("precision", metrics.f_beta(2))), pl.DataFrame)
assert_type(prc(df).curve(eta=df, by=pl.col("a")), pl.DataFrame)
assert_type(prc(df).summary(eta=[0.1], metrics=("roc_auc", metrics.best("f1"))), pl.DataFrame)
assert_type(prc(df.lazy()).operating_points(eta=0.01, recall=[0.5, 0.8], per=1e6), pl.LazyFrame)
assert_type(prc(df).unpivot_scores(["a", "b"]), pl.DataFrame)
assert_type(prc(df.lazy()).estimate_prevalence(0.5, by="market"), pl.DataFrame)

bound = prc(df, score="p", label="sick", by=["market", pl.col("day")], missing="drop")
assert_type(bound, DataFramePrc)
assert_type(bound(model="model", id=["id", "day"]), DataFramePrc)
assert_type(prc(bound, cells=("tp", "fp", "fn", "tn"), cluster=None), DataFramePrc)
assert_type(prc(df.lazy(), rates=("tpr", "fpr"), sizes=(10, "n_neg")), LazyFramePrc)
assert_type(df.pipe(prc, score="p"), DataFramePrc)
assert_type(df.lazy().pipe(prc, score={"cat": "p_cat", "dog": "p_dog"}), LazyFramePrc)
assert_type(bound.summary(eta=0.1, by=["market"], columns="all"), pl.DataFrame)
assert_type(bound.operating_points(recall=0.5, metrics=["tp", metrics.f1]), pl.DataFrame)
assert_type(bound.compare(eta=[0.1, None], score=["a", "b"], recall=0.5), pl.DataFrame)
assert_type(bound.curve(field(df, parts="market"), confidence=intervals(0.9, seed=1)), pl.DataFrame)
assert_type(bound.summary(class_mix({"cat": 0.25, "dog": 0.75}), confidence=0.95), pl.DataFrame)
assert_type(bound(by=None).estimate_prevalence(reference=bound, counts="n"), pl.DataFrame)
assert_type(bound.reweight(field(df, parts=["market", "day"])), pl.DataFrame)
assert_type(bound.crossings(of="roc"), pl.DataFrame)
assert_type(bound.counts(below=(3, None), weight="w"), pl.DataFrame)
assert_type(bound.sample_size(recall=0.8, rates=("tpr", "fpr")), pl.DataFrame)
assert_type(bound.curve(0.1, stratum="s", weight="w", confidence=0.95), pl.DataFrame)
assert_type(bound.plot.pr_curve(0.1, facet="market", title=False, score="q"), Chart)
assert_type(bound.plot.p3_curve(recall=[0.5, 0.8], confidence=intervals()), Chart)
assert_type(prc(pl.col("score")).sweep("label"), pl.Expr)
assert_type(prc(pl.col("score")).precision("label", eta=0.01), pl.Expr)
assert_type(prc(pl.col("score")).curve("label", eta=[0.5, None]), pl.Expr)
assert_type(prc(pl.col("score")).average_precision("label", eta=pl.col("eta").first()), pl.Expr)
assert_type(prc(pl.col("score")).roc_auc("label", max_fpr=0.1), pl.Expr)

assert_type(prc(df).plot.threshold_curve(eta=0.1, by="model"), Chart)
assert_type(prc(df.lazy()).plot.ranking(eta=[0.1, 0.5], id="row"), Chart)

assert_type(metrics.best(metrics.f1), metrics.CurveMetric)
assert_type(eta_for_precision(0.6, 0.001, 0.9), float)
assert_type(eta_for_precision(pl.col("recall"), pl.col("fpr"), 0.9), pl.Expr)
assert_type(shift_prior(0.9, 0.5, 0.01), float)
assert_type(shift_prior(pl.col("p"), 0.5, pl.col("eta")), pl.Expr)
assert_type(prc(pl.col("p", "q")).shift_prior(pl.col("eta_train"), 0.01), pl.Expr)
assert_type(crossing((0.9, 0.01), (0.6, 0.001), "f1"), float | None)
assert_type(metrics.precision(0.6, 0.001, 0.01), float)
assert_type(metrics.precision(pl.col("recall"), pl.col("fpr"), 0.01), pl.Expr)
assert_type(metrics.precision.name, str)
assert_type(metrics.f_beta(2), metrics.PointMetric)
assert_type(f_beta(2), metrics.PointMetric)
assert_type(metrics.precision, metrics.PointMetric)
assert_type(metrics.precision.alias("ppv"), metrics.PointMetric)
assert_type(metrics.pr_auc, metrics.CurveMetric)
assert_type(metrics.pr_auc_hull, metrics.CurveMetric)
assert_type(metrics.worst_pr_auc, metrics.CurveMetric)
assert_type(eta_grid(), list[float])

# Each line is wrong; where a checker does not see it, mypy finds that the comment is not needed.
prc(df).curve(eta=0.01, score=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
prc(df).sweep(treshold=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.curve(labl="sick")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.curve(weight=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
bound.curve(missing="skip")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
bound.sweep(cluster="patient")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.curve(id="row")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.decision_curve(rates=("tpr", "fpr"))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.monitor("week", reference=0.8, threshold=1, weight="w")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.plot.roc_curve(stratum="s")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.compare(maximize="f1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.summary(recall=0.5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.plot.pr_curve(recall=0.5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.plot.pr_curve(colour="m")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound.plot.p3_curve(facet=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
bound(cluster=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
bound(eta=0.1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bound(3)  # type: ignore[arg-type, call-arg]  # pyright: ignore[reportCallIssue]
intervals(rate="exakt")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
prc(df, scores=["a"])  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
prc(df, counts=("a",))  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
prc(pl.col("p"), label="sick")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
df.pipe(prc, scores=["a"])  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue]
df.pipe(prc, missing="skip")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
prc([1, 2])  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
bound.ranking(columns="most")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
