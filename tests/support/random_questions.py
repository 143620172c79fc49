"""Questions to random tables: calls with arguments drawn at random, and what the oracle has to say.

Each `ask_` draws one call of `counts`, `sweep`, `curve`, `summary` or `operating_points`, and
`find_failures` compares the answer for each table of a batch with that of the oracle.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import polars as pl

from polars_prcurve import metrics, prc
from tests.support import oracle, oracle_areas
from tests.support.comparing import JUMPS, is_close, is_same_value
from tests.support.random_tables import RATES, Batch, Key, Rng

Row = dict[str, Any]

COUNTS = ["score", "n_pos", "n_neg"]
LEAST_FLOAT = Fraction(1, 2**1074)
SQUARES = ("n_pos_squares", "n_neg_squares")
SWEEP = ["threshold", "tp", "fp", "fn", "tn", "recall", "fpr"]
SUMMARY = ["eta", "n_pos", "n_neg", "metric", "value"]
POINT = ["eta", "criterion", "target", *SWEEP]
SLACK = 2.0**-49
"""A row that misses a target by less than this, relative, may pass for one that meets it."""
EXACT = {"score", "threshold", "metric", "criterion", "target"}
AMOUNTS = {"tp", "fp", "fn", "tn", "n_pos", "n_neg"}

MOST_EXAMPLES = 40
"""Rankings without skill are enumerated by their definition, which takes n_pos times n_neg steps."""


# What a table holds, by the oracle ------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A group, with what is the same whatever is asked."""

    sweep: list[Row]
    curve: list[Row]
    """The rows that metrics of whole curves see: published points are led on to (1, 1)."""
    n_pos: Any = None
    n_neg: Any = None
    own: Fraction | None = None
    evidence: oracle.Group | None = None
    unscored: Row | None = None
    """What lies below all scores, as the last row of the curve that metrics over pairs see."""

    @classmethod
    def from_rows(cls, group: oracle.Group) -> Table:
        sweep, sizes = oracle.sweep_group(group), (group.n_pos, group.n_neg)
        # Below all scores there is a threshold that flags everything, in effect.
        unscored = any(group.below) and {
            **{"tp": group.n_pos, "fp": group.n_neg},
            **{
                rate: Fraction(1) if n else None
                for rate, n in zip(("recall", "fpr"), sizes, strict=True)
            },
        }
        own = group.prevalence if any(sizes) else None
        return cls(sweep, sweep, *sizes, own, group, unscored or None)

    @classmethod
    def from_points(cls, points: list[tuple[Fraction, Fraction]]) -> Table:
        one = Fraction(1)
        ends = [] if points[-1] == (one, one) else [(one, one)]
        sweep, curve = (
            [{**dict.fromkeys(SWEEP), "recall": t, "fpr": f} for t, f in rows]
            for rows in (points, [*points, *ends])
        )
        return cls(sweep, curve)

    def etas(self, asked: Sequence[float | None]) -> list[Fraction | None]:
        """Rising; a prevalence of nothing is undefined, and comes last."""
        found = [self.own if eta is None else Fraction(eta) for eta in asked]
        return sorted(found, key=lambda eta: (eta is None, eta or 0))


# Questions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """One call of a method, and what the oracle has to say."""

    method: str
    options: Row
    columns: list[str]
    """Of the answer, after those of `by`."""
    expected: Callable[[Table, Key], list[Row]]
    same: Callable[[Row, Row], bool]
    way: str = "eager"
    etas: Etas | None = None

    def ask(self, batch: Batch) -> pl.DataFrame:
        """What the package answers."""
        options = {**self.options, **batch.columns}
        if self.method == "operating_points":
            options["columns"] = "all"
        if self.etas is not None:
            options["eta"] = self.etas.argument(batch)
        if self.way == "expression":
            return _summarize_expressions(batch, **options)
        if self.way == "eager":
            return getattr(prc(batch.frame), self.method)(**options)
        if self.way == "bound":
            return self.ask_bound(
                batch, {name: options[name] for name in options.keys() - batch.columns}
            )
        if isinstance(options.get("below"), pl.DataFrame) and batch.counts_negatives:
            options["below"] = options["below"].lazy()
        query = getattr(prc(batch.frame.lazy()), self.method)(**options)
        return query.collect(engine=self.way)

    def ask_bound(self, batch: Batch, options: Row) -> pl.DataFrame:
        """The answer of a table that its words are bound to, from the counts that it has kept."""
        ask = getattr(prc(batch.frame, **batch.columns), self.method)
        first, second = ask(**options), ask(**options)
        return second if second.equals(first) else pl.DataFrame({"unlike the first answer": []})

    def __str__(self) -> str:
        options = {**self.options}
        if self.etas is not None:
            options["eta"] = self.etas
        shown = ", ".join(f"{name}={_format(value)}" for name, value in options.items())
        return f"{self.method}({shown}), {self.way}"


def _format(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_format, value))}]"
    return repr(getattr(value, "name", value))


def _summarize_expressions(
    batch: Batch, metrics: list[Any], eta: float | None, **columns: Any
) -> pl.DataFrame:
    by, options = columns.pop("by"), {"label": "label", **columns}
    values = {f"v{i}": pl.col("score").prc.summary(m, eta=eta, **options) for i, m in enumerate(metrics)}
    weight = columns.get("weight")
    # Of a group of weight 0 an expression has a null, where frames and the oracle have no row.
    counted = pl.lit(True) if weight is None else (pl.col(weight) > 0).any().over(by)
    return batch.frame.filter(counted).group_by(by).agg(**values).sort(by, nulls_last=False)


@dataclass(frozen=True)
class Etas:
    """Prevalences asked for: those of a list, or each group's from a frame."""

    listed: list[float | None] = field(default_factory=list)
    of_group: dict[Key, list[float | None]] | None = None

    def list_for(self, key: Key) -> list[float | None]:
        return self.listed if self.of_group is None else self.of_group[key]

    def argument(self, batch: Batch) -> Any:
        if self.of_group is None:
            return self.listed
        groups = batch.groups
        etas = [self.list_for(batch.key(row)) for row in groups.to_dicts()]
        return groups.with_columns(eta=pl.Series(etas, dtype=pl.List(pl.Float64))).explode(
            "eta", empty_as_null=False
        )

    def __repr__(self) -> str:
        if self.of_group is None:
            return repr(self.listed)
        distinct = list(self.of_group.values())
        return f"a frame with {distinct[0]}" + (", ..." if len(distinct) > 1 else "")


def draw_eta(rng: Rng) -> float:
    """0, 1, near them, ordinary."""
    match int(rng.integers(0, 8)):
        case 0:
            return float(rng.choice([0.0, 1.0]))
        case 1:
            return 1e-15
        case 2:
            return float(10 ** rng.uniform(-12, 0))
        case 3:
            return float(1 - 10 ** rng.uniform(-9, 0))
        case 4:
            return float(rng.choice([0.01, 0.3, 0.5, 0.9, 0.999999]))
        case _:
            return float(rng.random())


def draw_etas(rng: Rng, batch: Batch) -> Etas:
    """One or two: a list, or a frame with those of each group. Own ones come alone."""

    def some() -> list[float | None]:
        if not batch.counts_negatives or (rng.random() < 0.3 and batch.form != RATES):
            return [None]
        return list({draw_eta(rng) for _ in range(rng.integers(1, 3))})

    if not batch.by or not batch.counts_negatives or rng.random() < 0.6:
        return Etas(some())
    keys = {batch.key(row) for row in batch.groups.to_dicts()}
    return Etas(of_group={key: some() for key in sorted(keys)})


def draw_way(rng: Rng) -> str:
    return str(rng.choice(["eager", "bound", "in-memory", "streaming"], p=[0.4, 0.3, 0.1, 0.2]))


# Counts and sweeps ----------------------------------------------------------------------------


def is_same_row(found: Row, expected: Row) -> bool:
    """Scores, names and targets to the bit, whole numbers exactly, floats as everywhere in the tests."""
    return all(
        found[name] == value if name in EXACT else is_same_number(name, found[name], value)
        for name, value in expected.items()
    )


def is_same_number(name: str, found: Any, expected: Any) -> bool:
    try:
        return is_same_value(name, found, expected)
    except OverflowError:  # the exact value is beyond the largest float
        return bool(found == math.copysign(math.inf, expected))


def ask_counts(rng: Rng, batch: Batch) -> Question:
    if batch.form == RATES or not batch.counts_negatives:
        return ask_sweep(rng, batch)

    squares = list(SQUARES) if "weight" in batch.columns else []

    def expected(table: Table, key: Key) -> list[Row]:
        tp = fp = Fraction(0)
        rows = []
        for point in table.sweep:
            gained = {"n_pos": point["tp"] - tp, "n_neg": point["fp"] - fp}
            rows.append({"score": point["threshold"], **gained, **add_squares(table, point, squares)})
            tp, fp = point["tp"], point["fp"]
        n_pos, n_neg = table.evidence.below if table.evidence else (0, 0)
        return [*rows, {"score": None, "n_pos": n_pos, "n_neg": n_neg}] if n_pos or n_neg else rows

    return Question("counts", {}, [*COUNTS, *squares], expected, is_same_counts, draw_way(rng))


def add_squares(table: Table, point: Row, names: Sequence[str]) -> Row:
    """Return the sums of squared weights at a score, by name, and by how much they may be cut."""
    if table.evidence is None or not names:
        return {}
    rows = table.evidence.rows
    at_score = [row for row in rows if row[0] == point["threshold"]]
    sums = {name: sum(Fraction(row[n]) ** 2 for row in at_score) for n, name in enumerate(names, 1)}
    # Next to weights of another size, the squares of the smallest are cut.
    largest = {name: max(Fraction(row[n]) for row in rows) for n, name in enumerate(names, 1)}
    return sums | {"cut": {name: weight**2 / 2**70 for name, weight in largest.items()}}


def is_same_counts(found: Row, expected: Row) -> bool:
    cut = expected.get("cut", {})
    counts = {name: value for name, value in expected.items() if name not in (*cut, "cut")}
    return is_same_row(found, counts) and all(
        is_near(found[name], expected[name], most) for name, most in cut.items()
    )


def is_near(found: float, exact: Fraction, cut: Fraction) -> bool:
    """Whether a sum that may have been cut is the exact one, which may be beyond the largest float."""
    if math.isinf(found):
        return exact > sys.float_info.max
    return abs(Fraction(found) - exact) <= cut + abs(exact) / 10**12 + LEAST_FLOAT


TOLD_APART = ("", "small integers", "integers", "small counts", "narrow counts")
"""Forms of which floats tell every recall from every step of recall."""


def _draw_rows(rng: Rng, batch: Batch) -> Row:
    """Which rows of the sweep to ask for: all of published points, which have no thresholds."""
    if batch.form == RATES:
        return {}
    kind = rng.choice(["all", "drop", "steps", "listed"])
    if kind == "drop":
        return {"thresholds": "corners"}
    if kind == "steps" and batch.form in TOLD_APART:
        return {"thresholds": int(rng.integers(1, 12))}
    if kind == "listed":
        places = rng.integers(0, len(batch.scores), int(rng.integers(1, 5)))
        return {"thresholds": batch.scores.gather(places).to_list()}
    return {}


def _sweep_rows(table: Table, rows: Row) -> list[Row]:
    return oracle.sweep_group(table.evidence, **rows) if table.evidence and rows else table.sweep


def ask_sweep(rng: Rng, batch: Batch) -> Question:
    rows = _draw_rows(rng, batch)
    return Question("sweep", rows, SWEEP, lambda t, _: _sweep_rows(t, rows), is_same_row, draw_way(rng))


# Curves ---------------------------------------------------------------------------------------

POINT_METRICS = [m for m in vars(metrics).values() if isinstance(m, metrics.PointMetric)]


OF_FOUND = {
    *("precision", "recall", "fdr", "fnr", "f1", "f_beta", "jaccard", "fowlkes_mallows"),
    *("average_precision", "average_precision_interpolated", "pr_auc", "pr_auc_trapezoid"),
    *("recall_at_precision", "precision_at_recall"),
}
"""Metrics that no number of negatives below all scores changes, at the own prevalence."""


def may_ask(metric: Any, batch: Batch) -> bool:
    """Whether a metric is known of a batch, where examples were never scored or are not counted."""
    kind, _, rest = metric.name.partition("(")
    kind = rest.partition("(")[0].rstrip(")") if kind == "best" else kind
    on_hull = isinstance(metric, metrics.CurveMetric) and metric.recipe.on_hull
    return not (on_hull and batch.has_unscored) and (batch.counts_negatives or kind in OF_FOUND)


def draw_point_metric(rng: Rng) -> metrics.PointMetric:
    """One of those with a name, or of those with a parameter."""
    number = int(rng.integers(0, len(POINT_METRICS) + 3))
    if number < len(POINT_METRICS):
        return POINT_METRICS[number]
    match number - len(POINT_METRICS):
        case 0:
            return metrics.f_beta(_draw_parameter(rng, 0.01, 10))
        case 1:
            return metrics.f_gain(_draw_parameter(rng, 0.01, 10))
        case _:
            return metrics.net_benefit(_draw_parameter(rng, 0, 0.99))


def _draw_parameter(rng: Rng, low: float, high: float) -> float:
    """Of as many digits as the name of the metric shows."""
    return float(f"{rng.uniform(low, high):.3g}") if rng.random() < 0.7 else min(0.5, high)


def _draw_known(rng: Rng, draw: Callable[[Rng], Any], batch: Batch) -> Any:
    """A metric that is known of the batch."""
    while not may_ask(metric := draw(rng), batch):
        pass
    return metric


def _draw_distinct(rng: Rng, draw: Callable[[Rng], Any], n: int, batch: Batch) -> list[Any]:
    """At most n metrics of different names."""
    return list({m.name: m for m in (_draw_known(rng, draw, batch) for _ in range(n))}.values())


def ask_curve(rng: Rng, batch: Batch) -> Question:
    asked = _draw_distinct(rng, draw_point_metric, int(rng.integers(1, 5)), batch)
    etas, rows, long = draw_etas(rng, batch), _draw_rows(rng, batch), bool(rng.random() < 0.3)
    names = [metric.name for metric in asked]
    extra = ["metric", "value"] if long else [name for name in names if name not in SWEEP]

    def expected(table: Table, key: Key) -> list[Row]:
        points = _sweep_rows(table, rows)
        of_each = [
            (eta, [[oracle.metric(name, p["recall"], p["fpr"], eta) for p in points] for name in names])
            for eta in (table.etas(etas.list_for(key)) if points else [])
            if eta is not None
        ]
        if long:
            return [
                {"eta": eta, **point, "metric": name, "value": value}
                for eta, columns in of_each
                for name, values in zip(names, columns, strict=True)
                for point, value in zip(points, values, strict=True)
            ]
        return [
            {"eta": eta, **point, **dict(zip(names, values, strict=True))}
            for eta, columns in of_each
            for point, *values in zip(points, *columns, strict=True)
        ]

    def same(found: Row, expected: Row) -> bool:
        if not long:
            return is_same_row(found, expected)
        value = expected["metric"]
        return is_same_row(found, {**expected, "value": found["value"]}) and is_same_number(
            value, found["value"], expected["value"]
        )

    options = {"metrics": asked, **({"long": True} if long else {}), **rows}
    return Question("curve", options, ["eta", *SWEEP, *extra], expected, same, draw_way(rng), etas)


# Summaries ------------------------------------------------------------------------------------

CURVE_METRICS = [m for m in vars(metrics).values() if isinstance(m, metrics.CurveMetric)]
PRIORS: list[tuple[float, float, Any]] = [
    (0.01, 0.5, "uniform"),
    (0, 1, "uniform"),
    (0.0001, 1, "log"),
    (0.0001, 0.1, "logit"),
]
AVERAGED = [metrics.integrated("average_precision", *prior) for prior in PRIORS]
FACTORIES: list[Callable[[Rng], metrics.CurveMetric]] = [
    lambda rng: metrics.pr_auc_trapezoid(("first", "one", "none")[int(rng.integers(0, 3))]),
    lambda rng: metrics.partial_roc_auc(_draw_parameter(rng, 0.001, 1)),
    lambda rng: metrics.partial_roc_auc_mcclish(_draw_parameter(rng, 0.001, 1)),
    lambda rng: metrics.recall_at_fpr(_draw_parameter(rng, 0, 1)),
    lambda rng: metrics.recall_at_precision(_draw_parameter(rng, 0, 1)),
    lambda rng: metrics.precision_at_recall(_draw_parameter(rng, 0.01, 1)),
    lambda rng: metrics.precision_at_fpr(_draw_parameter(rng, 0, 1)),
    lambda rng: metrics.recall_at_alerts(_draw_parameter(rng, 0, 1), 1),
    lambda rng: metrics.precision_at_alerts(_draw_parameter(rng, 0, 1), 1),
    lambda rng: metrics.integrated_average_precision(*PRIORS[int(rng.integers(0, len(PRIORS)))]),
    lambda rng: AVERAGED[int(rng.integers(0, len(AVERAGED)))],
    *[lambda rng: metrics.best(draw_directed(rng))] * 4,
]


def draw_directed(rng: Rng) -> metrics.PointMetric:
    """A point metric of which there is a best."""
    while (metric := draw_point_metric(rng)).direction == "none":
        pass
    return metric


def draw_curve_metric(rng: Rng) -> metrics.CurveMetric:
    number = int(rng.integers(0, len(CURVE_METRICS) + len(FACTORIES)))
    known = number < len(CURVE_METRICS)
    return CURVE_METRICS[number] if known else FACTORIES[number - len(CURVE_METRICS)](rng)


@dataclass(frozen=True)
class Area:
    """A curve metric of one table at a prevalence, as the oracle has it."""

    name: str
    table: Table
    eta: Fraction | None
    examples: bool
    """Counts are numbers of examples, and known."""
    weighted: bool

    def value(self, name: str, eta: Fraction | None) -> Any:
        # The line on to (1, 1) has no threshold that a target may find.
        points = self.table.sweep if "_at_" in name else self.table.curve
        return (
            None
            if eta is None
            else oracle_areas.value(
                name, points, eta, examples=self.examples, unscored=self.table.unscored
            )
        )

    @property
    def takes_too_long(self) -> bool:
        counted = self.name in oracle_areas.COUNTED and self.examples
        return counted and self.table.n_pos + self.table.n_neg > MOST_EXAMPLES

    def fits(self, found: Any) -> bool:
        """The value found is this one, or that of a case which no float tells from this one."""
        eta = self.eta
        if self.takes_too_long or self._equals(found, self.name, eta):
            return True
        if eta is None:
            return False
        etas = {eta, *self._rounded()}
        if eta != 1 and 1 in etas and self.name.startswith(JUMPS):
            return True
        return any(self._equals(found, name, at) for name in self._near_names() for at in etas)

    def _rounded(self) -> list[Fraction]:
        """A group's own prevalence as a float, which its float counts may put one bit off.

        Areas are of the prevalence that the table shows. Where few are negative, rounding it moves
        1 - eta, and thus the area, by more than what is allowed for.
        """
        if self.eta is None or self.eta != self.table.own:
            return []
        own = float(self.eta)
        return [Fraction(x) for x in (own, math.nextafter(own, 0), math.nextafter(own, 1))]

    def _near_names(self) -> list[str]:
        """The name, and that of a target that is missed by SLACK, which may pass for it."""
        kind, _, target = self.name.removesuffix(")").partition("(")
        if "_at_" not in kind:
            return [self.name]
        value, *events = target.split(", ")
        side = -1 if kind.endswith(("_at_precision", "_at_recall")) else 1
        near_value = float(value) * (1 + side * SLACK)
        return [self.name, f"{kind}({', '.join([repr(near_value), *events])})"]

    def _equals(self, found: Any, name: str, eta: Fraction | None) -> bool:
        value = self.value(name, eta)
        if name.startswith("best("):
            return is_same_number(name.removeprefix("best(").removesuffix(")"), found, value)
        try:
            return is_close(name, found, value, eta, weighted=self.weighted)
        except OverflowError:
            return bool(found == math.copysign(math.inf, value))

    def __repr__(self) -> str:
        return (
            "not computed" if self.takes_too_long else repr(to_readable(self.value(self.name, self.eta)))
        )


def ask_summary(rng: Rng, batch: Batch, asked: Sequence[metrics.CurveMetric] = ()) -> Question:
    asked = asked or _draw_distinct(rng, draw_curve_metric, int(rng.integers(2, 7)), batch)
    etas, examples, weighted = draw_etas(rng, batch), batch.holds_examples, batch.form != ""
    way = draw_way(rng)
    if any(metric.recipe.on_hull for metric in asked):
        way = "eager"

    def expected(table: Table, key: Key) -> list[Row]:
        sizes = {"n_pos": table.n_pos, "n_neg": table.n_neg}
        return [
            {
                "eta": eta,
                **sizes,
                "metric": metric.name,
                "value": Area(metric.name, table, eta, examples, weighted),
            }
            for eta in table.etas(etas.list_for(key))
            for metric in asked
        ]

    def same(found: Row, expected: Row) -> bool:
        told = {name: expected[name] for name in ("eta", "n_pos", "n_neg", "metric")}
        return is_same_row(found, told) and expected["value"].fits(found["value"])

    return Question("summary", {"metrics": asked}, SUMMARY, expected, same, way, etas)


def ask_expressions(rng: Rng, batch: Batch) -> Question:
    """Summaries as expressions in an aggregation; a group without positives has no pos_label=."""
    has_rows = batch.form != RATES and batch.counts is None
    if not has_rows or batch.pos_label is not None or batch.missing == "drop" or batch.has_unscored:
        return ask_summary(rng, batch)
    asked = [
        metric
        for metric in _draw_distinct(rng, draw_curve_metric, 4, batch)
        if not metric.recipe.on_hull and metric.recipe.averages is None
    ] or [metrics.pr_auc]
    eta = None if rng.random() < 0.3 else draw_eta(rng)
    weighted = batch.form != ""
    examples = batch.holds_examples
    names = {f"v{i}": metric.name for i, metric in enumerate(asked)}

    def expected(table: Table, key: Key) -> list[Row]:
        [at] = table.etas([eta])
        return [{v: Area(name, table, at, examples, weighted) for v, name in names.items()}]

    def same(found: Row, expected: Row) -> bool:
        return all(area.fits(found[v]) for v, area in expected.items())

    return Question("summary", {"metrics": asked, "eta": eta}, list(names), expected, same, "expression")


# Operating points -----------------------------------------------------------------------------

TARGETS = ["recall", "fpr", "precision", "predicted_positive_rate"]
FOUND = ["recall", "precision"]
"""Targets of what was found, which need no number of negatives."""


def list_possible_rows(values: list[Any], criterion: str, target: float | None) -> set[int | None]:
    """The places of the values that meet a target; several where rounding decides, None for none."""
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if target is None:
        name = criterion.removeprefix("maximize(").removesuffix(")")
        best = (min if name in LEAST else max)((value for _, value in known), default=None)
        return {p for p, value in known if is_same_number(name, to_float(value), best)} or {None}
    if criterion != "recall":
        known.reverse()
    to_reach = criterion in ("recall", "precision")  # the others are not to be passed
    possible: set[int | None] = set()
    for place, value in known:
        more, less = (Fraction(value), target) if to_reach else (Fraction(target), value)
        if more >= Fraction(less) * (1 - Fraction(SLACK)):
            possible.add(place)
        if more >= Fraction(less) * (1 - Fraction(SLACK) / 8):
            return possible
    return {*possible, None}


LEAST = {"fdr", "false_omission_rate", "fnr", "fpr", "lr_neg"}


def to_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def ask_points(rng: Rng, batch: Batch, *, maximizes: bool = True) -> Question:
    # Many targets of one kind are searched together.
    n_targets = int(rng.integers(16, 20)) if rng.random() < 0.15 else 1
    if rng.random() < 0.3 and batch.form != RATES:
        places = rng.integers(0, len(batch.scores), n_targets + 1)
        options: Row = {"threshold": batch.scores.gather(places).to_list()}
    else:
        usual = [0.0, 0.25, 1 / 3, 0.5, 0.75, 1.0, rng.random()]
        values = rng.choice(usual + rng.random(n_targets - 1).tolist(), n_targets).tolist()
        options = {str(rng.choice(TARGETS if batch.counts_negatives else FOUND)): values}
    asked = [(name, value) for name, values in options.items() for value in values]
    if maximizes and rng.random() < 0.5:
        options["maximize"] = _draw_known(rng, draw_directed, batch)
        asked.append((f"maximize({options['maximize'].name})", None))
    shown = options["metrics"] = _draw_known(rng, draw_point_metric, batch)
    etas = draw_etas(rng, batch)
    per = float(rng.choice([1.0, 1e6])) if rng.random() < 0.3 and batch.counts_negatives else None
    if per is not None:
        options["per"] = per

    def metric(name: str, point: Row, eta: Fraction | None) -> Any:
        return None if eta is None else oracle.metric(name, point["recall"], point["fpr"], eta)

    def possible(table: Table, name: str, target: Any, eta: Fraction | None) -> list[Row]:
        if name == "threshold" and table.evidence:
            return [oracle.count_at(table.evidence, target)]
        by = name.removeprefix("maximize(").removesuffix(")") if target is None else name
        if eta is None:
            return [dict.fromkeys(SWEEP)]
        known = [metric(by, point, eta) for point in table.sweep]
        places = list_possible_rows(known, name, target)
        return [dict.fromkeys(SWEEP) if place is None else table.sweep[place] for place in places]

    def alerts(point: Row, eta: Fraction | None) -> Row:
        """Alerts, those that are right, and positives without one, of `per` events."""
        share, recall = metric("predicted_positive_rate", point, eta), metric("recall", point, eta)
        right = missed = None
        if eta is not None and recall is not None:
            right, missed = eta * recall, eta * (1 - recall)
        shares = {"alerts": share, "true_alerts": right, "missed": missed}
        return {name: None if of is None else of * Fraction(per) for name, of in shares.items()}

    def expected(table: Table, key: Key) -> list[Row]:
        return [
            {
                "eta": eta,
                "criterion": name,
                "target": None if name == "threshold" else target,
                "possible": [
                    {
                        **point,
                        shown.name: metric(shown.name, point, eta),
                        **(alerts(point, eta) if per else {}),
                    }
                    for point in possible(table, name, target, eta)
                ],
            }
            for eta in table.etas(etas.list_for(key))
            for name, target in asked
        ]

    def same(found: Row, expected: Row) -> bool:
        of_all = {name: expected[name] for name in ("eta", "criterion")}
        if expected["criterion"] != "threshold":
            of_all["target"] = expected["target"]
        return is_same_row(found, of_all) and any(
            is_same_row(found, row) for row in expected["possible"]
        )

    of_alerts = [] if per is None else ["alerts", "true_alerts", "missed"]
    columns = [*POINT, *({shown.name} - set(SWEEP)), *of_alerts]
    return Question("operating_points", options, columns, expected, same, draw_way(rng), etas)


def ask_all(rng: Rng, batch: Batch) -> list[Question]:
    """One question of each kind."""
    first = [ask_counts, ask_sweep, ask_sweep, ask_sweep][int(rng.integers(0, 4))]
    of_curves = [ask_summary, ask_summary, ask_summary, ask_expressions][int(rng.integers(0, 4))]
    return [ask(rng, batch) for ask in (first, ask_curve, of_curves, ask_points)]


# Judging --------------------------------------------------------------------------------------


def make_tables(batch: Batch) -> dict[Key, Table]:
    if batch.form == RATES:
        return {key: Table.from_points(points) for key, points in batch.points.items()}
    return {key: Table.from_rows(evidence) for key, evidence in batch.tables.items()}


def find_failures(
    question: Question, batch: Batch, tables: dict[Key, Table]
) -> Iterator[tuple[Any, Any, Any]]:
    """Each group of which the answer differs, with both; group None is of the whole answer."""
    try:
        answer = question.ask(batch)
    except Exception as error:  # whatever it is, it is no answer
        yield None, f"{type(error).__name__}: {error}", "an answer"
        return
    expected_columns = [*batch.by, *question.columns]
    if answer.columns != expected_columns:
        yield None, answer.columns, expected_columns
        return
    for name, dtype in answer.schema.items():
        if name not in batch.by and dtype != (right := _dtype(name, batch)):
            yield None, f"{name}: {dtype}", f"{name}: {right}"
    parts: dict[Key, list[Row]] = {}
    for row in answer.to_dicts():
        parts.setdefault(batch.key(row), []).append(row)
    if list(parts) != (order := [key for key in tables if key in parts]):
        yield None, list(parts), order
    for key, table in tables.items():
        rows, expected = parts.get(key, []), question.expected(table, key)
        if not batch.counts_negatives:
            expected = [_hide_uncounted(row) for row in expected]
        if len(rows) != len(expected):
            yield key, rows, expected
            continue
        for found, right in zip(rows, expected, strict=True):
            if not question.same(found, right):
                yield key, found, right
                break


def _hide_uncounted(row: Row) -> Row:
    """The row with nothing in place of what only the number of negatives tells."""
    shown = {name: None if name in ("eta", "n_neg", "tn", "fpr") else of for name, of in row.items()}
    return shown | {name: [*map(_hide_uncounted, of)] for name, of in row.items() if name == "possible"}


def _dtype(name: str, batch: Batch) -> pl.DataType:
    if name in ("score", "threshold") and batch.form != RATES:
        return batch.scores.dtype
    if name in ("metric", "criterion"):
        return pl.String()
    in_examples = batch.form == RATES or batch.holds_examples
    return pl.Int64() if name in AMOUNTS and in_examples else pl.Float64()


def to_readable(value: Any) -> Any:
    """With floats for fractions."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else to_float(value)
    if isinstance(value, dict):
        return {name: to_readable(of) for name, of in value.items()}
    return [to_readable(each) for each in value] if isinstance(value, list) else value
