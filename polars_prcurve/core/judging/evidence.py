"""The evidence: what the methods of a table say of its models, each request once.

    summary            the area of each model, and whether its scores are above chance
    operating_points   what each model does at the targets, with intervals
    ranking            which models may be the best there: one joint statement
    curve              a thin curve of each model, from which everything is drawn
    compare            which groups of one model are unlike the others: each beside all others

Several targets have to hold together. A model that keeps them all finds as much as it finds at the
limit of alerts that binds. So a model is behind another one if it surely is at each target that may
bind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.interval_inputs import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.core.confidence.intervals import read_estimate
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.metrics.best_and_integrated import precision_at_recall

_CURVE_STEPS = 200  # the thresholds of a curve that is only drawn: more would not be seen
_RATES = ("precision", "recall", "fpr")  # what is drawn of a curve, or computed from in a page
_LEAST_TRUE_CASES = 100  # positives, about, among the cases in which alerts are counted
_MOST_CASES = 1e9  # of which none is positive where a prevalence is that small: more would say nothing


class EvidenceColumn:
    """Columns of the evidence that no method has under these names."""

    AT_HALF = "precision_at_half"
    """Precision where half of the positives are found, which tells what a whole curve is good for."""
    IS_REVERSED = f"{RESERVED}is_reversed"  # whether negatives surely rank above positives
    BINDING = f"{RESERVED}binding"  # the targets that may bind where several have to hold together


@dataclass(frozen=True)
class Evidence:
    """What a table says: rows of its methods."""

    rows: pl.DataFrame  # one row per case, which is a group at a prevalence, and model
    keys: list[str]
    """The columns of a case, which are those before `eta`, `eta`, and what an eta frame carries."""
    areas: pl.DataFrame  # the areas of each model, by `summary`
    sizes: pl.DataFrame
    """The numbers of examples of each class, `n_pos` and `n_neg`, of each group and model."""
    curves: pl.DataFrame
    points: pl.DataFrame
    """Rates at the scores that are decided about, as they stand: a thin curve may lack some of them."""
    per: float  # the number of cases among which alerts are counted
    test_level: float  # the level of each test of models, and of each against chance

    @property
    def group_columns(self) -> list[str]:
        """The columns of groups, without that of models."""
        return self.keys[: self.keys.index("eta")]


def collect_evidence(request: DecisionRequest) -> Evidence:
    """Return what the methods of the table say; each is asked once, and ranking once per target."""
    goal, model = request.goal, request.model
    table, eta = request.whole_table
    area = goal.merit if goal.is_of_curve else "average_precision"
    metrics = [area, "roc_auc", precision_at_recall(0.5)]
    areas: pl.DataFrame = table.summary(eta, metrics=metrics, confidence=request.confidence)
    per = _choose_per(areas) if goal.per is None else goal.per
    if goal.is_of_curve:
        names = {"value": area, "low": f"{area}_low", "high": f"{area}_high"}
        rows = areas.filter(metric=area).rename(names).drop("metric", "standard_error")
        keys = areas.columns[: areas.columns.index("metric")]
    else:
        rows = _collect_points(request, per)
        keys = rows.columns[: rows.columns.index("criterion")]
    keys = [name for name in keys if name not in (model, "n_pos", "n_neg")]
    models, groups = [] if model is None else [model], keys[: keys.index("eta")]
    if groups:
        request = replace(request, n_groups=max(1, areas.select(groups).n_unique()))
    if request.n_groups > 1:
        rows = _replace_chance_tests(request, rows, [*groups, *models])
    rows = _add_whole_curves(rows, areas, [*keys, *models])
    rows = _add_leads(request, rows, keys, per)
    curves = request.table.curve(
        request.eta, metrics=_RATES, confidence=request.confidence, thresholds=_CURVE_STEPS
    )
    plain_table = request.unweighted_table
    return Evidence(
        rows=rows,
        keys=keys,
        areas=areas,
        sizes=areas if plain_table is None else plain_table.summary(0.5, metrics="roc_auc"),
        curves=curves,
        points=_collect_rates(request, rows, curves, [*groups, *models]),
        per=per,
        test_level=request.test_level,
    )


def _choose_per(areas: pl.DataFrame) -> float:
    """Return a round number of cases in which to count alerts: with 100 positives or more, about."""
    least = areas["eta"].drop_nulls().min()
    per, least_eta = 1_000.0, 0.5 if least is None else float(str(least))
    while per * least_eta < _LEAST_TRUE_CASES and per < _MOST_CASES:
        per *= 10
    return per


def _replace_chance_tests(
    request: DecisionRequest, rows: pl.DataFrame, keys: Sequence[str]
) -> pl.DataFrame:
    """Return the rows with tests against chance that err together, over all groups, as one may."""
    tests = request.whole_table[0].summary(0.5, metrics="roc_auc", confidence=request.test_level)
    tests = tests.select(*keys, "above_chance").unique()
    return _join(rows.drop("above_chance"), tests, keys).select(rows.columns)


def _add_whole_curves(rows: pl.DataFrame, areas: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Add what is of the whole curve of a model: AT_HALF with its interval, and IS_REVERSED."""
    keys = [name for name in keys if name in areas.columns]  # a field has no limits of eta
    half, auc = (areas.filter(metric=name) for name in ("precision_at_recall(0.5)", "roc_auc"))
    name = EvidenceColumn.AT_HALF
    columns = {name: pl.col("value"), f"{name}_low": pl.col("low"), f"{name}_high": pl.col("high")}
    half = half.select(*keys, **columns)
    auc = auc.select(*keys, (pl.col("high") < 0.5).alias(EvidenceColumn.IS_REVERSED))
    return _join(_join(rows, half, keys), auc, keys)


def _join(rows: pl.DataFrame, columns: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the rows with further columns, in their order; null is a group, too."""
    return rows.join(columns, on=keys, how="left", nulls_equal=True, maintain_order="left")


# Points -----------------------------------------------------------------------------------------


def _collect_points(request: DecisionRequest, per: float) -> pl.DataFrame:
    """Return what each model does where all targets hold; its thresholds are null if none does."""
    goal = request.goal
    metric = goal.maximized if goal.maximized is not None else goal.merit
    options = {
        "metrics": ["precision"] if metric in ("precision", "recall") else ["precision", metric],
        "confidence": request.confidence,
        **goal.build_arguments(),
        "per": per,
        "guarantee": goal.guarantee,
    }
    points: pl.DataFrame = request.table.operating_points(request.eta, together=goal.is_joint, **options)
    if not goal.is_joint or goal.guarantee is not None:  # the interval is of the promised threshold
        return points
    points_of_targets = request.table.operating_points(request.eta, **options)
    return _carry_binding_intervals(
        points, points_of_targets.filter(pl.col("criterion").is_in(goal.caps))
    )


def _collect_rates(
    request: DecisionRequest, rows: pl.DataFrame, curves: pl.DataFrame, keys: Sequence[str]
) -> pl.DataFrame:
    """Return the points at the thresholds of these rows, if the curves lack any of them."""
    if "threshold" not in rows.columns:
        return curves.clear()
    thresholds = rows.select(*keys, "threshold").drop_nulls("threshold")
    if thresholds.join(curves, on=[*keys, "threshold"], how="anti", nulls_equal=True).is_empty():
        return curves.clear()
    # Each model has to have a threshold, those too that keep no target.
    spares = curves.drop_nulls("threshold").unique([*keys, "eta"], keep="first", maintain_order=True)
    spares = spares.select(thresholds.columns)
    thresholds = pl.concat([thresholds, spares], how="vertical_relaxed").unique(maintain_order=True)
    points: pl.DataFrame = request.table.operating_points(
        request.eta, threshold=thresholds, metrics=_RATES, confidence=request.confidence
    )
    return points


def _carry_binding_intervals(joint_points: pl.DataFrame, single_points: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of all targets, with intervals that hold their values and those that may bind."""
    keys = joint_points.columns[: joint_points.columns.index("criterion")]
    points_by_case: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for point in single_points.iter_rows(named=True):
        if point["threshold"] is not None:
            points_by_case.setdefault(tuple(point[key] for key in keys), []).append(point)
    limits = [n for n in joint_points.columns if n.endswith(("_low", "_high")) and n not in keys]
    rows = []
    for row in joint_points.iter_rows(named=True):
        points: list[dict[str, Any]] = []
        if row["threshold"] is not None:
            points = points_by_case.get(tuple(row[key] for key in keys), [])
        # At the target that binds, a model finds least. Another one may bind in another sample if, by
        # its interval, it may be found that little there.
        same_points = [point for point in points if point["threshold"] == row["threshold"]]
        highs = (read_estimate(point, "recall").high or 1.0 for point in same_points)
        most = max(highs, default=row["recall"])
        binding = [p for p in points if (read_estimate(p, "recall").low or 0.0) <= most]
        for name in limits if binding else ():
            value, _, side = name.rpartition("_")
            numbers = [*(point[name] for point in binding), row[value]]
            known_numbers = [number for number in numbers if number is not None]
            row[name] = (min if side == "low" else max)(known_numbers, default=None)
        if binding:
            row["interval_of"] = "model"
        rows.append({**row, EvidenceColumn.BINDING: [point["criterion"] for point in binding]})
    return pl.DataFrame(rows, schema=joint_points.schema | {EvidenceColumn.BINDING: pl.List(pl.String)})


# Leads ------------------------------------------------------------------------------------------


def _add_leads(
    request: DecisionRequest, rows: pl.DataFrame, keys: list[str], per: float
) -> pl.DataFrame:
    """Add how far each model is behind the best other one, with both ends, and if it may be the best."""
    model = request.model
    if model is None or rows[model].n_unique() < 2:
        return rows
    if request.compares_intervals:
        return _add_leads_by_intervals(request, rows, keys, per)
    groups = keys[: keys.index("eta")]
    # Models are compared at all targets, but where several have to hold together at those that may bind.
    goal = request.goal
    words: list[str | None] = [None] if goal.is_of_curve else list(goal.targets)
    if goal.is_joint:
        column = EvidenceColumn.BINDING
        binding = set(rows[column].explode()) if column in rows.columns else set()
        words = [word for word in goal.caps if word in binding] or list(goal.caps)
    columns: list[Any] = [
        *groups,
        "eta",
        pl.col("model").alias(model),
        "behind",
        "low",
        "high",
        "may_be_best",
    ]
    rankings = [
        ranking.select(columns)
        for word in words
        for ranking in _rank_models(request, rows, groups, word)
    ]
    ranking_keys = [*groups, "eta", model]
    # All rankings have to rule out a model, and its limits are the widest.
    leads = pl.concat(rankings, how="vertical_relaxed").group_by(ranking_keys)
    leads_of_models = leads.agg(
        pl.col("behind").first(),
        pl.col("low").min().alias("behind_low"),
        pl.col("high").max().alias("behind_high"),
        pl.col("may_be_best").any(),
    )
    return _join(rows, leads_of_models, ranking_keys)


def _rank_models(
    request: DecisionRequest, rows: pl.DataFrame, groups: Sequence[str], word: str | None
) -> Iterator[pl.DataFrame]:
    """Yield the rankings at a target: one, or if eta is an estimate, one at it and at either end."""
    goal = request.goal
    target = {} if word is None else goal.build_arguments(word)
    arguments: dict[str, Any] = {"metric": goal.merit, "confidence": request.test_level, **target}
    (table, eta), (low, high, _) = request.whole_table, UNCERTAIN_ETA_COLUMNS
    if low not in rows.columns or request.weighted_field is not None:
        yield table.ranking(eta, **arguments)
        return
    limits = rows.select(*groups, "eta", pl.col(low, high).fill_null(pl.col("eta")))
    limits = limits.unique(maintain_order=True)
    least = pl.max_horizontal(low, pl.col("eta") * 0.01)  # at 0 nothing differs
    for end in (pl.col("eta"), least, pl.col(high)):
        etas = limits.select(*groups, end.alias("eta"), estimate="eta")
        yield table.ranking(etas, **arguments).with_columns(eta="estimate")


def _add_leads_by_intervals(
    request: DecisionRequest, rows: pl.DataFrame, keys: list[str], per: float
) -> pl.DataFrame:
    """Add the columns of leads from the intervals of the models, each of which is of one model."""
    model, name, sign = str(request.model), request.goal.merit, request.goal.sign
    # Each pair has the level that all of them take (Bonferroni).
    level = 1 - (1 - request.test_level) / math.comb(rows[model].n_unique(), 2)
    points = rows
    if level != request.confidence:
        points = _collect_points(replace(request, confidence=level), per)
    # Best values are those without optimism.
    value = f"{name}_corrected" if f"{name}_corrected" in points.columns else name
    limits = [pl.col(f"{name}_{end}") * sign for end in ("low", "high")]
    low, high = limits if sign > 0 else limits[::-1]
    point_keys = [*keys, model]
    values = points.select(
        *point_keys, (pl.col(value) * sign).alias("v"), low.alias("l"), high.alias("h")
    )
    other_values = values.rename({"v": "v2", "l": "l2", "h": "h2", model: RESERVED})
    pairs = values.join(other_values, on=keys, nulls_equal=True)
    pairs = pairs.filter(pl.col(model) != pl.col(RESERVED))
    # The distances of both intervals add up in quadrature (Zou and Donner 2008), as of models that were
    # tested apart: the difference v2 - v has the ends gap -+ sqrt((v2 - l2)^2 + (h - v)^2), and the like
    # with l and h exchanged. What models of one test share makes the difference surer than that.
    gap = pl.col("v2") - pl.col("v")
    least = gap - ((pl.col("v2") - pl.col("l2")) ** 2 + (pl.col("h") - pl.col("v")) ** 2).sqrt()
    most = gap + ((pl.col("h2") - pl.col("v2")) ** 2 + (pl.col("v") - pl.col("l")) ** 2).sqrt()
    leads = pairs.group_by(point_keys).agg(
        gap.max().alias("behind"),
        least.max().alias("behind_low"),
        most.max().alias("behind_high"),
        ~(least > 0).any().alias("may_be_best"),
    )
    return _join(rows, leads, point_keys)
