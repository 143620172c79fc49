"""The evidence: what the methods of a table say of its models, each asked once.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from polars_prcurve.core.binding.bound_table import Question
from polars_prcurve.core.confidence.interval_columns import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.core.confidence.intervals import read_estimate
from polars_prcurve.core.ground.internal_names import RESERVED
from polars_prcurve.core.inputs.table_reader import DroppedRows, count_dropped_rows
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.metrics.best_and_integrated import precision_at_recall
from polars_prcurve.core.prevalence.fields import Field

AT_HALF = "precision_at_half"
"""Precision where half of the positives are found, which tells what a whole curve is good for."""
IS_REVERSED = f"{RESERVED}is_reversed"  # whether negatives surely rank above positives
BINDING = f"{RESERVED}binding"  # the targets that may bind where several have to hold together
_CURVE_STEPS, _RATES = 200, ("precision", "recall", "fpr")
GroupStanding = Literal["worse", "open", "better"]
_LEAST_GROUPS = 3
_MOST_ROWS = 10_000_000
"""Rows, at most, that the groups beside all others have; of more groups nothing is said."""
_CELL, _SIDE, _GROUP = "cell", "side", "group"
_COUNTS = ("n_pos", "n_neg")


@dataclass(frozen=True)
class Asked:
    """What is asked: of which table, at which prevalences, for what, and how sure."""

    table: Any  # a bound table, whose methods the evidence comes from
    eta: Any
    goal: Goal
    confidence: float
    model: str | None  # the column of models in results; None of a table without models
    open_table: Callable[[pl.DataFrame], Any]  # the function that gives another table its methods
    takes_apart: bool = False
    """Whether models at a target are compared by the intervals of each, without a test of pairs."""
    dropped: str = ""  # how many rows were left out, as a sentence; empty if none was
    unweighted: Any = None  # of rows with weights, the table in which each row counts as one example
    weighted: tuple[Any, Any] | None = None
    """Of a field, its examples with weights that make it one table, and its prevalence: areas and
    rankings are of that."""
    is_published: bool = False  # whether the table holds points of curves, without examples
    n_groups: int = 1  # the number of groups, which share the error of all tests

    @property
    def test_level(self) -> float:
        """The level of each test, with which all groups together err as one may (Bonferroni)."""
        return 1 - (1 - self.confidence) / self.n_groups

    @property
    def whole(self) -> tuple[Any, Any]:
        """The table whose areas are computed and whose models are ranked, and its prevalences."""
        return (self.table, self.eta) if self.weighted is None else self.weighted


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


def collect_evidence(asked: Asked) -> Evidence:
    """Return what the methods of the table say; each is asked once, and ranking once per target."""
    goal, model = asked.goal, asked.model
    table, eta = asked.whole
    area = goal.merit if goal.is_of_curve else "average_precision"
    metrics = [area, "roc_auc", precision_at_recall(0.5)]
    areas: pl.DataFrame = table.summary(eta, metrics=metrics, confidence=asked.confidence)
    least = areas["eta"].drop_nulls().min()
    # If it was not said, alerts are counted among a round number of cases with about 100 positives.
    per, least_eta = goal.per or 1_000.0, 0.5 if least is None else float(str(least))
    while goal.per is None and per * least_eta < 100 and per < 1e9:
        per *= 10
    if goal.is_of_curve:
        ends = {"value": area, "low": f"{area}_low", "high": f"{area}_high"}
        rows = areas.filter(metric=area).rename(ends).drop("metric", "standard_error")
        keys = areas.columns[: areas.columns.index("metric")]
    else:
        rows = _collect_points(asked, per)
        keys = rows.columns[: rows.columns.index("criterion")]
    keys = [name for name in keys if name not in (model, "n_pos", "n_neg")]
    models, groups = [] if model is None else [model], keys[: keys.index("eta")]
    if groups:
        asked = replace(asked, n_groups=max(1, areas.select(groups).n_unique()))
    if asked.n_groups > 1:  # tests against chance err together as one may
        tests = table.summary(0.5, metrics="roc_auc", confidence=asked.test_level)
        tests = tests.select(*groups, *models, "above_chance").unique()
        names = rows.columns
        rows = _join(rows.drop("above_chance"), tests, [*groups, *models]).select(names)
    on = [name for name in (*keys, *models) if name in areas.columns]  # a field has no limits of eta
    half, auc = (areas.filter(metric=name) for name in ("precision_at_recall(0.5)", "roc_auc"))
    sides = {AT_HALF: "value", f"{AT_HALF}_low": "low", f"{AT_HALF}_high": "high"}
    rows = _join(rows, half.select(*on, **{name: pl.col(kind) for name, kind in sides.items()}), on)
    rows = _join(rows, auc.select(*on, (pl.col("high") < 0.5).alias(IS_REVERSED)), on)
    rows = _add_leads(asked, rows, keys, per)
    curves = asked.table.curve(
        asked.eta, metrics=_RATES, confidence=asked.confidence, thresholds=_CURVE_STEPS
    )
    points = _collect_rates(asked, rows, curves, [*groups, *models])
    plain = asked.unweighted
    sizes = areas if plain is None else plain.summary(0.5, metrics="roc_auc")
    return Evidence(rows, keys, areas, sizes, curves, points, per, asked.test_level)


def _join(rows: pl.DataFrame, found: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Return the rows with what was found of them, in their order; null is a group, too."""
    return rows.join(found, on=on, how="left", nulls_equal=True, maintain_order="left")


# Points -----------------------------------------------------------------------------------------


def _collect_points(asked: Asked, per: float) -> pl.DataFrame:
    """Return what each model does where all targets hold; its thresholds are null if none does."""
    goal = asked.goal
    named = goal.maximized if goal.maximized is not None else goal.merit
    options = {
        "metrics": ["precision"] if named in ("precision", "recall") else ["precision", named],
        "confidence": asked.confidence,
        **goal.ask(),
        "per": per,
        "guarantee": goal.guarantee,
    }
    points: pl.DataFrame = asked.table.operating_points(asked.eta, together=goal.is_joint, **options)
    if not goal.is_joint or goal.guarantee is not None:  # the interval is of the promised threshold
        return points
    alone = asked.table.operating_points(asked.eta, **options)
    return _carry_binding_intervals(points, alone.filter(pl.col("criterion").is_in(goal.caps)))


def _collect_rates(
    asked: Asked, rows: pl.DataFrame, curves: pl.DataFrame, on: Sequence[str]
) -> pl.DataFrame:
    """Return the points at the thresholds of these rows, if the curves lack any of them."""
    if "threshold" not in rows.columns:
        return curves.clear()
    decided = rows.select(*on, "threshold").drop_nulls("threshold")
    if decided.join(curves, on=[*on, "threshold"], how="anti", nulls_equal=True).is_empty():
        return curves.clear()
    # Each model has to have a threshold, those too that keep no target.
    every = curves.drop_nulls("threshold").unique([*on, "eta"], keep="first", maintain_order=True)
    every = every.select(decided.columns)
    thresholds = pl.concat([decided, every], how="vertical_relaxed").unique(maintain_order=True)
    found: pl.DataFrame = asked.table.operating_points(
        asked.eta, threshold=thresholds, metrics=_RATES, confidence=asked.confidence
    )
    return found


def _carry_binding_intervals(joint: pl.DataFrame, alone: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of all targets, with intervals that hold their values and those that may bind."""
    keys = joint.columns[: joint.columns.index("criterion")]
    by_case: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in alone.iter_rows(named=True):
        by_case.setdefault(tuple(row[key] for key in keys), []).append(row)
    ends = [name for name in joint.columns if name.endswith(("_low", "_high")) and name not in keys]
    rows = []
    for row in joint.iter_rows(named=True):
        others = by_case.get(tuple(row[key] for key in keys), [])
        known = [of for of in others if row["threshold"] is not None and of["threshold"] is not None]
        # At the target that binds, a model finds least. Another one may bind in another sample if, by
        # its interval, it may be found that little there.
        first = [of for of in known if of["threshold"] == row["threshold"]]
        most = max((read_estimate(of, "recall").high or 1.0 for of in first), default=row["recall"])
        binding = [of for of in known if (read_estimate(of, "recall").low or 0.0) <= most]
        for name in ends if binding else ():
            value, _, side = name.rpartition("_")
            values = [one for one in (*(of[name] for of in binding), row[value]) if one is not None]
            row[name] = (min if side == "low" else max)(values, default=None)
        of_model = {"interval_of": "model"} if binding else {}
        rows.append({**row, **of_model, BINDING: [other["criterion"] for other in binding]})
    return pl.DataFrame(rows, schema=joint.schema | {BINDING: pl.List(pl.String)})


# Leads ------------------------------------------------------------------------------------------


def _add_leads(asked: Asked, rows: pl.DataFrame, keys: list[str], per: float) -> pl.DataFrame:
    """Add how far each model is behind the best other one, with both ends, and if it may be the best."""
    model = asked.model
    if model is None or rows[model].n_unique() < 2:
        return rows
    if asked.takes_apart:
        return _lead_by_intervals(asked, rows, keys, per)
    on = [*keys[: keys.index("eta")], "eta", model]
    told = ("behind", "low", "high", "may_be_best")
    # Models are compared at all targets, but where several have to hold together at those that may bind.
    goal = asked.goal
    words: list[str | None] = [None] if goal.is_of_curve else list(goal.targets)
    if goal.is_joint:
        binding = set(rows[BINDING].explode()) if BINDING in rows.columns else set()
        words = [word for word in goal.caps if word in binding] or list(goal.caps)
    ranks = [
        ranked.select(*on[:-1], pl.col("model").alias(model), *told)
        for word in words
        for ranked in _rank_models(asked, rows, on[:-2], word)
    ]
    leads = pl.concat(ranks, how="vertical_relaxed").group_by(on)
    # All rankings have to rule out a model, and its limits are the widest.
    leads_of_models = leads.agg(
        pl.col("behind").first(),
        pl.col("low").min().alias("behind_low"),
        pl.col("high").max().alias("behind_high"),
        pl.col("may_be_best").any(),
    )
    return _join(rows, leads_of_models, on)


def _rank_models(
    asked: Asked, rows: pl.DataFrame, groups: Sequence[str], word: str | None
) -> Iterator[pl.DataFrame]:
    """Yield the rankings at a target: one, or if eta is an estimate, one at it and at either end."""
    target = {} if word is None else asked.goal.ask(word)
    asking: dict[str, Any] = {"metric": asked.goal.merit, "confidence": asked.test_level, **target}
    (table, eta), (low, high, _) = asked.whole, UNCERTAIN_ETA_COLUMNS
    if low not in rows.columns or asked.weighted is not None:
        yield table.ranking(eta, **asking)
        return
    ends = rows.select(*groups, "eta", pl.col(low, high).fill_null(pl.col("eta")))
    ends = ends.unique(maintain_order=True)
    least = pl.max_horizontal(low, pl.col("eta") * 0.01)  # at 0 nothing differs
    for end in (pl.col("eta"), least, pl.col(high)):
        etas = ends.select(*groups, end.alias("eta"), estimate="eta")
        yield table.ranking(etas, **asking).with_columns(eta="estimate")


def _lead_by_intervals(asked: Asked, rows: pl.DataFrame, keys: list[str], per: float) -> pl.DataFrame:
    """Add the columns of leads from the intervals of the models, each of which is of one model."""
    model, name, sign = str(asked.model), asked.goal.merit, asked.goal.sign
    # Each pair has the level that all of them take (Bonferroni).
    level = 1 - (1 - asked.test_level) / math.comb(rows[model].n_unique(), 2)
    wide = rows if level == asked.confidence else _collect_points(replace(asked, confidence=level), per)
    # Best values are those without optimism.
    value = f"{name}_corrected" if f"{name}_corrected" in wide.columns else name
    ends = [pl.col(f"{name}_{end}") * sign for end in ("low", "high")]
    low, high = ends if sign > 0 else ends[::-1]
    on = [*keys, model]
    mine = wide.select(*on, (pl.col(value) * sign).alias("v"), low.alias("l"), high.alias("h"))
    theirs = mine.rename({"v": "v2", "l": "l2", "h": "h2", model: RESERVED})
    pairs = mine.join(theirs, on=keys, nulls_equal=True).filter(pl.col(model) != pl.col(RESERVED))
    # The distances of both intervals add up in quadrature (Zou and Donner 2008), as of models that were
    # tested apart: the difference v2 - v has the ends gap -+ sqrt((v2 - l2)^2 + (h - v)^2), and the like
    # with l and h exchanged. What models of one test share makes the difference surer than that.
    gap = pl.col("v2") - pl.col("v")
    least = gap - ((pl.col("v2") - pl.col("l2")) ** 2 + (pl.col("h") - pl.col("v")) ** 2).sqrt()
    most = gap + ((pl.col("h2") - pl.col("v2")) ** 2 + (pl.col("v") - pl.col("l")) ** 2).sqrt()
    leads = pairs.group_by(on).agg(
        gap.max().alias("behind"),
        least.max().alias("behind_low"),
        most.max().alias("behind_high"),
        ~(least > 0).any().alias("may_be_best"),
    )
    return _join(rows, leads, on)


# Groups -----------------------------------------------------------------------------------------

# A group and all others have examples of their own, so their errors add up in quadrature (`compare`).
# All groups are tested at once: by Holm's steps (1979), in which the least likely ones go first, and the
# others then share the level that is left.


@dataclass(frozen=True)
class GroupTests:
    """How each group stands beside all others together, in the order of the cases."""

    standings: tuple[GroupStanding, ...]
    together: float | None  # the value of all groups together, by which models are judged


def test_groups(asked: Asked, evidence: Evidence) -> GroupTests | None:
    """Return how groups of one model stand; None if they cannot be tested."""
    groups, goal = evidence.keys[: evidence.keys.index("eta")], asked.goal
    is_plain = asked.unweighted is None and asked.weighted is None and not asked.takes_apart
    if goal.is_joint or goal.maximized is not None or not is_plain or asked.is_published:
        return None
    cases = evidence.rows.select(*groups, "eta")
    if len(evidence.keys) > len(groups) + 1 or cases.height < _LEAST_GROUPS or asked.eta is None:
        return None  # prevalences have to be numbers: groups with their own ones differ by these alone
    if cases.select(groups).n_unique() < cases.height or cases["eta"].n_unique() > 1:
        return None
    counts: pl.DataFrame = asked.table.counts()
    if asked.model is not None:
        if counts[asked.model].n_unique() > 1:
            return None
        counts = counts.drop(asked.model)
    numbered = cases.select(groups).with_row_index(_GROUP)
    counts = counts.join(numbered, on=groups, nulls_equal=True).drop(groups)
    if counts.height * cases.height > _MOST_ROWS:
        return None
    eta, target = cases["eta"][0], goal.ask()
    table = asked.open_table(counts)(counts=_COUNTS)
    if target:
        value = table.operating_points(eta, metrics=["precision"], **target)[goal.merit][0]
    else:
        value = table.summary(eta, metrics=goal.merit)["value"][0]
    asking = {"eta": eta, "metrics": goal.merit, "paired": False, **target}
    gaps = _find_gaps(asked, counts, range(cases.height), asking)
    named: dict[int, GroupStanding] = {n: "better" if gap > 0 else "worse" for n, gap in gaps.items()}
    return GroupTests(tuple(named.get(cell, "open") for cell in range(cases.height)), value)


def _find_gaps(
    asked: Asked, counts: pl.DataFrame, cells: Iterable[int], asking: Mapping[str, Any]
) -> dict[int, float]:
    """Return how far groups are ahead of all others, of those groups that are told apart from them."""
    gaps: dict[int, float] = {}
    left = [*cells]
    side = (
        pl.when(pl.col(_GROUP).cast(pl.Int64) == pl.col(_CELL)).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    while left:
        # The level is shared by the groups that no earlier step has told apart (Holm).
        level = 1 - (1 - asked.confidence) / len(left)
        each = pl.DataFrame({_CELL: left}, schema={_CELL: pl.Int64})
        # The counts once for each group, which is one model, and all others are another one.
        stacked = asked.open_table(counts.join(each, how="cross").with_columns(side.alias(_SIDE)))
        beside = stacked(by=_CELL, model=_SIDE, counts=_COUNTS)
        told: pl.DataFrame = beside.compare(**asking, confidence=level).filter(pl.col("resolved"))
        gaps |= dict(zip(told[_CELL].to_list(), told["difference"].to_list(), strict=True))
        rest = [cell for cell in left if cell not in gaps]
        if len(rest) == len(left):
            break
        left = rest
    return gaps


# The table that is asked -------------------------------------------------------------------------


def describe_dropped(question: Question) -> str:
    """Return how many rows are left out because a value is missing; empty if none is."""
    columns, stacked = question.columns, question.stacked
    if columns.get("missing") != "drop":
        return ""
    found = count_dropped_rows(question.frame, id=columns.get("example"), **columns)
    if stacked is not None and columns.get("model") is not None:  # a row goes for all models
        found = DroppedRows(found.n // len(stacked), found.total // len(stacked))
    elif stacked is not None:  # each class leaves out rows of its own
        found = found._replace(what="scores")
    return found.sentence if found.n else ""


def weigh_field(asked: Asked, question: Question, frame: pl.DataFrame) -> Asked:
    """Return what is asked, with the examples of a field weighted so that they make one table.

    `frame` tells its parts.
    """
    table: Any = asked.table
    field: Field = asked.eta
    exact = replace(field, frame=frame.drop(UNCERTAIN_ETA_COLUMNS, strict=False))
    found = table.summary(exact, metrics="roc_auc")
    groups = found.columns[: found.columns.index("eta")]
    groups = [name for name in groups if name != asked.model]
    etas = found.select(*groups, "eta").unique(maintain_order=True)
    eta: Any = etas if groups else etas["eta"].to_list()
    weight = "weight"
    while weight in table._frame.columns:
        weight += " of the field"
    words = {**table._words, "by": question.columns["by"], "weight": weight}
    if asked.model is not None and question.stacked is None:
        words["model"] = asked.model
    weighted = type(table)(table.reweight(eta=exact, name=weight), words)
    asked = replace(asked, unweighted=table(by=question.columns["by"]))
    # Without a promise, and at exact prevalences, that table is asked for everything.
    if asked.goal.guarantee is None and exact.frame.columns == frame.columns:
        return replace(asked, table=weighted, eta=eta)
    return replace(asked, weighted=(weighted, eta))
