"""The evidence: what the methods of a table say of its models, each asked once.

    summary            the area of each model, and whether its scores are above chance
    operating_points   what each model does at the targets, with intervals
    ranking            which models may be the best there: one joint statement
    curve              a thin curve of each model, from which everything is drawn

Several targets have to hold together. A model that keeps them all finds as much as it finds at the
limit of alerts that binds. So a model is behind another one if it surely is at each target that may
bind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.estimates import read_estimate
from polars_prcurve.decision.goal import Goal, choose_cases
from polars_prcurve.metrics.best_and_at_target import precision_at_recall
from polars_prcurve.prevalence.uncertain_eta import UNCERTAIN_ETA_COLUMNS

LEAD_COLUMNS = ("behind", "behind_low", "behind_high", "may_be_best")
AT_HALF = "precision_at_half"
"""Precision where half of the positives are found, which tells what a whole curve is good for."""
IS_REVERSED = f"{c.RESERVED}is_reversed"
"""Whether negatives surely rank above positives."""
BINDING = f"{c.RESERVED}binding"
"""The targets that may bind where several have to hold together."""
_CURVE_STEPS = 200
_CURVE_METRICS = ("precision", "recall", "fpr")


class Methods(Protocol):
    """The methods of a bound table that the evidence comes from.

    A protocol stands in for the namespace, which asks for decisions and must not be imported here.
    """

    def __call__(self, **words: Any) -> Methods: ...
    def summary(self, *values: Any, **options: Any) -> Any: ...
    def operating_points(self, *values: Any, **options: Any) -> Any: ...
    def ranking(self, *values: Any, **options: Any) -> Any: ...
    def compare(self, *values: Any, **options: Any) -> Any: ...
    def counts(self, *values: Any, **options: Any) -> Any: ...
    def curve(self, *values: Any, **options: Any) -> Any: ...


@dataclass(frozen=True)
class Asked:
    """What is asked: of which table, at which prevalences, for what, and how sure."""

    table: Methods
    eta: Any
    goal: Goal
    confidence: float
    model: str | None
    """The column of models in results; None of a table without models."""
    open_table: Callable[[pl.DataFrame], Methods]
    """The function that gives another table its methods."""
    takes_apart: bool = False
    """Whether models at a target are compared by the intervals of each, without a test of pairs."""
    dropped: str = ""
    """How many rows were left out, as a sentence; empty if none was."""
    unweighted: Methods | None = None
    """Of rows with weights, the table in which each row counts as one example."""
    weighted: tuple[Methods, Any] | None = None
    """Of a field, its examples with weights that make it one table, and its prevalence: areas and
    rankings are of that."""
    is_published: bool = False
    """Whether the table holds points of curves, without examples."""
    n_groups: int = 1
    """The number of groups, which share the error of all tests."""

    @property
    def test_level(self) -> float:
        """The level of each test, with which all groups together err as one may (Bonferroni)."""
        return 1 - (1 - self.confidence) / self.n_groups

    @property
    def whole(self) -> tuple[Methods, Any]:
        """The table whose areas are computed and whose models are ranked, and its prevalences."""
        return (self.table, self.eta) if self.weighted is None else self.weighted


@dataclass(frozen=True)
class Evidence:
    """What a table says: rows of its methods."""

    rows: pl.DataFrame
    """One row per case, which is a group at a prevalence, and model."""
    keys: list[str]
    """The columns of a case, which are those before `eta`, `eta`, and what an eta frame carries."""
    areas: pl.DataFrame
    """The areas of each model, by `summary`."""
    sizes: pl.DataFrame
    """The numbers of examples of each class, `n_pos` and `n_neg`, of each group and model."""
    curves: pl.DataFrame
    per: float
    """The number of cases among which alerts are counted."""
    test_level: float
    """The level of each test of models, and of each against chance."""


def collect_evidence(asked: Asked) -> Evidence:
    """Return what the methods of the table say; each is asked once, and ranking once per target."""
    goal = asked.goal
    areas = _collect_areas(asked)
    least = areas["eta"].drop_nulls().min()
    per = goal.per or choose_cases(0.5 if least is None else float(str(least)))
    if goal.is_of_curve:
        rows = _read_areas(areas, goal.merit)
        keys = [name for name in areas.columns[: areas.columns.index("metric")] if name not in _SIZES]
    else:
        rows = _collect_points(asked, per)
        keys = rows.columns[: rows.columns.index("criterion")]
    keys = [name for name in keys if name != asked.model]
    on = keys if asked.model is None else [*keys, asked.model]
    groups = keys[: keys.index("eta")]
    if groups:
        asked = replace(asked, n_groups=max(1, areas.select(groups).n_unique()))
    if asked.n_groups > 1:
        rows = _share_chance_tests(asked, rows, groups)
    rows = _add_leads(asked, _add_areas(rows, areas, on), keys, per)
    curves = asked.table.curve(
        asked.eta, metrics=_CURVE_METRICS, confidence=asked.confidence, thresholds=_CURVE_STEPS
    )
    sizes = areas
    if asked.unweighted is not None:
        sizes = asked.unweighted.summary(0.5, metrics="roc_auc")
    return Evidence(rows, keys, areas, sizes, curves, per, asked.test_level)


# Areas ------------------------------------------------------------------------------------------

_SIZES = ("n_pos", "n_neg")


def _collect_areas(asked: Asked) -> pl.DataFrame:
    metrics: list[Any] = [asked.goal.merit if asked.goal.is_of_curve else "average_precision", "roc_auc"]
    metrics.append(precision_at_recall(0.5))
    table, eta = asked.whole
    areas: pl.DataFrame = table.summary(eta, metrics=metrics, confidence=asked.confidence)
    return areas


def _share_chance_tests(asked: Asked, rows: pl.DataFrame, groups: Sequence[str]) -> pl.DataFrame:
    """Return the rows with `above_chance` of tests that err together as one may."""
    table, _ = asked.whole
    on = [*groups, *([] if asked.model is None else [asked.model])]
    tests: pl.DataFrame = table.summary(0.5, metrics="roc_auc", confidence=asked.test_level)
    tests = tests.select(*on, "above_chance").unique()
    others = rows.drop("above_chance")
    joined = others.join(tests, on=on, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(rows.columns)


def _read_areas(areas: pl.DataFrame, merit: str) -> pl.DataFrame:
    """Return one row per model: its area as columns of its name."""
    renamed = {"value": merit, "low": f"{merit}_low", "high": f"{merit}_high"}
    return areas.filter(metric=merit).rename(renamed).drop("metric", "standard_error")


def _add_areas(rows: pl.DataFrame, areas: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Add the columns of AT_HALF to rows of models, and whether scores rank the wrong way round."""
    on = [name for name in on if name in areas.columns]  # those of a field have no limits of eta
    half, auc = (areas.filter(metric=name) for name in ("precision_at_recall(0.5)", "roc_auc"))
    ends = {AT_HALF: "value", f"{AT_HALF}_low": "low", f"{AT_HALF}_high": "high"}
    known = half.select(*on, **{name: pl.col(kind) for name, kind in ends.items()})
    turned = auc.select(*on, (pl.col("high") < 0.5).alias(IS_REVERSED))
    for found in (known, turned):
        rows = rows.join(found, on=on, how="left", nulls_equal=True, maintain_order="left")
    return rows


# Points -----------------------------------------------------------------------------------------


def _collect_points(asked: Asked, per: float) -> pl.DataFrame:
    """Return what each model does where all targets hold; its thresholds are null if none does."""
    goal = asked.goal
    named = goal.maximized if goal.maximized is not None else goal.merit
    metrics = ["precision"] if named in ("precision", "recall") else ["precision", named]
    options: dict[str, Any] = {"metrics": metrics, "confidence": asked.confidence}
    options |= goal.ask() | {"per": per}
    if goal.guarantee is not None:
        options["guarantee"] = goal.guarantee
    if not goal.is_joint:
        points: pl.DataFrame = asked.table.operating_points(asked.eta, **options)
        return points
    joint: pl.DataFrame = asked.table.operating_points(asked.eta, together=True, **options)
    if goal.guarantee is not None:  # the interval is of the promised threshold
        return joint
    alone: pl.DataFrame = asked.table.operating_points(asked.eta, **options)
    return _carry_binding_intervals(joint, alone.filter(pl.col("criterion").is_in(goal.caps)))


def _carry_binding_intervals(joint: pl.DataFrame, alone: pl.DataFrame) -> pl.DataFrame:
    """Give the rows of all targets the intervals of the target that binds, and of those that may.

    At the target that binds, a model finds least. Another one may bind in another sample if, by its
    interval, it may be found that little there. BINDING lists them.
    """
    keys = joint.columns[: joint.columns.index("criterion")]
    by_case: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in alone.iter_rows(named=True):
        by_case.setdefault(tuple(row[key] for key in keys), []).append(row)
    ends = [name for name in joint.columns if name.endswith(("_low", "_high")) and name not in keys]
    rows = []
    for row in joint.iter_rows(named=True):
        single = by_case.get(tuple(row[key] for key in keys), [])
        binding = list_binding(row, single)
        rows.append(_widen(row, binding, ends) | {BINDING: [other["criterion"] for other in binding]})
    return pl.DataFrame(rows, schema=joint.schema | {BINDING: pl.List(pl.String)})


def list_binding(row: Mapping[str, Any], alone: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of those single targets that may bind, where `row` is of all together."""
    if row["threshold"] is None:
        return []
    known = [other for other in alone if other["threshold"] is not None]
    first = [other for other in known if other["threshold"] == row["threshold"]]
    most = max((read_estimate(other, "recall").high or 1.0 for other in first), default=row["recall"])
    return [other for other in known if (read_estimate(other, "recall").low or 0.0) <= most]


def _widen(
    row: dict[str, Any], binding: Iterable[Mapping[str, Any]], ends: Iterable[str]
) -> dict[str, Any]:
    """Return the row with the widest of the intervals of these rows, and of its own value."""
    rows = list(binding)
    if not rows:
        return row
    changed = dict(row)
    for name in ends:
        value, _, side = name.rpartition("_")
        known = [other[name] for other in rows if other[name] is not None]
        known += [row[value]] if row[value] is not None else []
        changed[name] = (min if side == "low" else max)(known, default=None)
    return changed | {"interval_of": "model"}


# Leads ------------------------------------------------------------------------------------------


def _add_leads(asked: Asked, rows: pl.DataFrame, keys: list[str], per: float) -> pl.DataFrame:
    """Add LEAD_COLUMNS: how far each model is behind the best other one, and if it may be the best."""
    if asked.model is None or rows[asked.model].n_unique() < 2:
        return rows
    if asked.takes_apart:
        return _lead_by_intervals(asked, rows, keys, per)
    words = _list_binding_words(asked, rows)
    ranks = [
        ranked.select(
            *_list_groups(asked, rows), pl.col("eta"), pl.col("model").alias(asked.model), *_TOLD
        )
        for word in words
        for ranked in _rank_models(asked, rows, word)
    ]
    return _join_leads(asked, rows, ranks, keys)


_TOLD = ("behind", "low", "high", "may_be_best")


def _list_groups(asked: Asked, rows: pl.DataFrame) -> list[str]:
    return [name for name in rows.columns[: rows.columns.index("eta")] if name != asked.model]


def _list_binding_words(asked: Asked, rows: pl.DataFrame) -> list[str | None]:
    """Return the targets at which models are compared: of several, those that may bind."""
    goal = asked.goal
    if goal.is_of_curve:
        return [None]
    if not goal.is_joint:
        return list(goal.targets)
    if BINDING not in rows.columns:
        return list(goal.caps)
    binding = set(rows[BINDING].explode().drop_nulls().to_list())
    return [word for word in goal.caps if word in binding] or list(goal.caps)


def _rank_models(asked: Asked, rows: pl.DataFrame, word: str | None) -> list[pl.DataFrame]:
    """Return the rankings at a target: one, or if eta is an estimate, one at it and at either end.

    Each has the estimate as its `eta`.
    """
    target = {} if word is None else asked.goal.ask(word)
    if "alerts" not in target:
        target.pop("per", None)
    asking: dict[str, Any] = {"metric": asked.goal.merit, "confidence": asked.test_level, **target}
    table, eta = asked.whole
    if UNCERTAIN_ETA_COLUMNS[0] not in rows.columns or asked.weighted is not None:
        return [table.ranking(eta, **asking)]
    groups = _list_groups(asked, rows)
    low, high = (pl.col(name).fill_null(pl.col("eta")) for name in UNCERTAIN_ETA_COLUMNS[:2])
    ends = rows.select(*groups, "eta", low, high).unique(maintain_order=True)
    least = pl.max_horizontal(UNCERTAIN_ETA_COLUMNS[0], pl.col("eta") * 0.01)  # at 0 nothing differs
    ranked = []
    for end in (pl.col("eta"), least, pl.col(UNCERTAIN_ETA_COLUMNS[1])):
        at = ends.select(*groups, end.alias(c.RESERVED), pl.col("eta").alias("estimate"))
        etas: Any = at.select(*groups, pl.col(c.RESERVED).alias("eta"), "estimate")
        found = table.ranking(etas, **asking)
        ranked.append(found.with_columns(pl.col("estimate").alias("eta")))
    return ranked


def _join_leads(
    asked: Asked, rows: pl.DataFrame, ranks: Sequence[pl.DataFrame], keys: list[str]
) -> pl.DataFrame:
    """Add LEAD_COLUMNS from rankings, all of which have to rule out a model; limits are the widest."""
    on = [*_list_groups(asked, rows), "eta", str(asked.model)]
    joined = (
        pl.concat(ranks, how="vertical_relaxed")
        .group_by(on)
        .agg(
            pl.col("behind").first(),
            pl.col("low").min().alias("behind_low"),
            pl.col("high").max().alias("behind_high"),
            pl.col("may_be_best").any(),
        )
    )
    return rows.join(joined, on=on, how="left", nulls_equal=True, maintain_order="left")


def _lead_by_intervals(asked: Asked, rows: pl.DataFrame, keys: list[str], per: float) -> pl.DataFrame:
    """Add LEAD_COLUMNS from the intervals of the models, each of which is of one model.

    The distances of both intervals add up in quadrature (Zou and Donner 2008), as of models that were
    tested apart; what models of one test share makes the difference surer than that. Each pair has the
    level that all of them take (Bonferroni). Best values are those without optimism.
    """
    model, name, sign = str(asked.model), asked.goal.merit, asked.goal.sign
    n_pairs = math.comb(rows[model].n_unique(), 2)
    level = 1 - (1 - asked.test_level) / n_pairs
    wide = rows if level == asked.confidence else _collect_points(replace(asked, confidence=level), per)
    value = f"{name}_corrected" if f"{name}_corrected" in wide.columns else name
    ends = [pl.col(f"{name}_{end}") * sign for end in ("low", "high")]
    low, high = ends if sign > 0 else ends[::-1]
    on = [*keys, model]
    mine = wide.select(*on, (pl.col(value) * sign).alias("v"), low.alias("l"), high.alias("h"))
    theirs = mine.rename({"v": "v2", "l": "l2", "h": "h2", model: c.RESERVED})
    pairs = mine.join(theirs, on=keys, nulls_equal=True).filter(pl.col(model) != pl.col(c.RESERVED))
    gap = pl.col("v2") - pl.col("v")
    least = gap - ((pl.col("v2") - pl.col("l2")) ** 2 + (pl.col("h") - pl.col("v")) ** 2).sqrt()
    most = gap + ((pl.col("h2") - pl.col("v2")) ** 2 + (pl.col("v") - pl.col("l")) ** 2).sqrt()
    leads = pairs.group_by(on).agg(
        gap.max().alias("behind"),
        least.max().alias("behind_low"),
        most.max().alias("behind_high"),
        ~(least > 0).any().alias("may_be_best"),
    )
    return rows.join(leads, on=on, how="left", nulls_equal=True, maintain_order="left")
