"""The definition, by brute force: plain Python, exact fractions, no table library.

A table is a list of dicts. Counts are added up anew for every threshold, metrics come from the
closed forms of the papers in (recall, fpr, eta), so that nothing is shared with the package but
the definition:

    positive means score >= threshold; one row per distinct score that carries weight

Undefined is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Number = Fraction | float | None
"""A value: exact, or inf or -inf, or undefined."""

OWN = None


# Groups ---------------------------------------------------------------------------------------


def key(value: Any, categories: Sequence[str] | None = None) -> tuple[Any, ...]:
    """What a group value is known by, and sorted by: null first, NaN last, -0.0 as 0.0."""
    if value is None:
        return (0,)
    if isinstance(value, Mapping):
        return (1, tuple(key(part) for part in value.values()))
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    return (1, value if categories is None else categories.index(value))


@dataclass(frozen=True)
class Evidence:
    """One group: what each row adds, and the `by` values of the group."""

    by: dict[str, Any]
    rows: list[tuple[Any, Fraction, Fraction]]
    """Score, what is added to the positives, to the negatives."""

    @property
    def n_pos(self) -> Fraction:
        return sum((pos for _, pos, _ in self.rows), Fraction(0))

    @property
    def n_neg(self) -> Fraction:
        return sum((neg for _, _, neg in self.rows), Fraction(0))

    @property
    def scores(self) -> list[Any]:
        """The distinct ones, falling."""
        return sorted({score for score, pos, neg in self.rows if pos > 0 or neg > 0}, reverse=True)

    @property
    def prevalence(self) -> Fraction:
        return self.n_pos / (self.n_pos + self.n_neg)


def groups(
    rows: Iterable[Row],
    *,
    by: Sequence[str] = (),
    score: str = "score",
    label: str = "label",
    pos_label: Any = None,
    weight: str | None = None,
    counts: tuple[str, str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
) -> list[Evidence]:
    """The table split by group, in order. `categories` is the order of values of Enum columns."""
    found: dict[tuple[Any, ...], Evidence] = {}
    for row in rows:
        place = tuple(key(row[name], (categories or {}).get(name)) for name in by)
        group = found.setdefault(place, Evidence({name: row[name] for name in by}, []))
        if counts is None:
            mass = Fraction(1) if weight is None else Fraction(row[weight])
            positive = row[label] == (1 if pos_label is None else pos_label)
            added = (mass, Fraction(0)) if positive else (Fraction(0), mass)
        else:
            added = (Fraction(row[counts[0]]), Fraction(row[counts[1]]))
        group.rows.append((row[score], *added))
    return [found[place] for place in sorted(found)]


# Tables ---------------------------------------------------------------------------------------


def counts(rows: Iterable[Row], **columns: Any) -> list[dict[str, Any]]:
    """What `counts()` holds."""
    return [
        {
            **group.by,
            "score": score,
            "n_pos": sum((pos for s, pos, _ in group.rows if s == score), Fraction(0)),
            "n_neg": sum((neg for s, _, neg in group.rows if s == score), Fraction(0)),
        }
        for group in groups(rows, **columns)
        for score in group.scores
    ]


def at(group: Evidence, threshold: Any) -> dict[str, Any]:
    """The confusion counts and rates of one threshold."""
    tp = sum((pos for score, pos, _ in group.rows if score >= threshold), Fraction(0))
    fp = sum((neg for score, _, neg in group.rows if score >= threshold), Fraction(0))
    n_pos, n_neg = group.n_pos, group.n_neg
    return {
        "threshold": threshold,
        "tp": tp,
        "fp": fp,
        "fn": n_pos - tp,
        "tn": n_neg - fp,
        "recall": tp / n_pos if n_pos else None,
        "fpr": fp / n_neg if n_neg else None,
    }


def sweep_of(
    group: Evidence, *, drop_intermediate: bool = False, thresholds: int | Sequence[Any] | None = None
) -> list[dict[str, Any]]:
    """The sweep of one group, without its `by` values."""
    points = [at(group, score) for score in group.scores]
    if drop_intermediate:
        last = len(points) - 1
        return [
            point
            for k, point in enumerate(points)
            if k in (0, last) or not points[k - 1]["tp"] == point["tp"] == points[k + 1]["tp"]
        ]
    if isinstance(thresholds, int):
        chosen = [
            next(
                (p["threshold"] for p in points if p["recall"] is not None and p["recall"] >= step), None
            )
            for step in (Fraction(k, thresholds) for k in range(1, thresholds + 1))
        ]
        return [point for point in points if point["threshold"] in chosen]
    if thresholds is not None:
        return [at(group, score) for score in sorted(set(thresholds), reverse=True)] if points else []
    return points


def sweep(
    rows: Iterable[Row],
    *,
    drop_intermediate: bool = False,
    thresholds: int | Sequence[Any] | None = None,
    **columns: Any,
) -> list[dict[str, Any]]:
    """What `sweep()` holds."""
    return [
        {**group.by, **point}
        for group in groups(rows, **columns)
        for point in sweep_of(group, drop_intermediate=drop_intermediate, thresholds=thresholds)
    ]


def curve(
    rows: Iterable[Row],
    etas: Sequence[float | Fraction | None] = (OWN,),
    metrics: Sequence[str] = ("precision",),
    *,
    long: bool = False,
    drop_intermediate: bool = False,
    thresholds: int | Sequence[Any] | None = None,
    **columns: Any,
) -> list[dict[str, Any]]:
    """What `curve()` holds; eta None is the group's own."""
    out = []
    for group in groups(rows, **columns):
        points = sweep_of(group, drop_intermediate=drop_intermediate, thresholds=thresholds)
        if not points:
            continue
        for eta in sorted(group.prevalence if e is None else Fraction(e) for e in etas):
            if long:
                out += [
                    {
                        **group.by,
                        "eta": eta,
                        **point,
                        "metric": name,
                        "value": metric(name, point["recall"], point["fpr"], eta),
                    }
                    for name in metrics
                    for point in points
                ]
            else:
                out += [
                    {
                        **group.by,
                        "eta": eta,
                        **point,
                        **{name: metric(name, point["recall"], point["fpr"], eta) for name in metrics},
                    }
                    for point in points
                ]
    return out


# Areas ----------------------------------------------------------------------------------------


def step_average_precision(points: Sequence[Row], eta: Fraction) -> Fraction | None:
    """Sum of recall gained times precision, over the rows of one group's sweep."""
    area, before = Fraction(0), Fraction(0)
    for point in points:
        if point["recall"] is None:
            return None
        gained = point["recall"] - before
        if gained:
            value = metric("precision", point["recall"], point["fpr"], eta)
            if value is None:
                return None
            area += gained * Fraction(value)
        before = point["recall"]
    return area


def roc_area(points: Sequence[Row]) -> Fraction | None:
    """Trapezoids under the ROC curve from (0, 0)."""
    area, before = Fraction(0), (Fraction(0), Fraction(0))
    for point in points:
        if point["recall"] is None or point["fpr"] is None:
            return None
        here = (point["fpr"], point["recall"])
        area += (here[0] - before[0]) * (here[1] + before[1]) / 2
        before = here
    return area


# Metrics --------------------------------------------------------------------------------------


def ratio(above: Number, below: Number) -> Number:
    """Above over below; 0/0 is undefined, x/0 infinite."""
    if above is None or below is None:
        return None
    if isinstance(above, float) or isinstance(below, float):  # infinite
        return (
            None
            if isinstance(above, float) and isinstance(below, float)
            else float(above) / float(below)
        )
    if below == 0:
        return None if above == 0 else math.copysign(math.inf, above)
    return above / below


def root(value: Number) -> Number:
    """A square root to 50 digits."""
    if value is None or value == 0:
        return value
    context = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999)
    square = Fraction(value)
    quotient = context.divide(Decimal(square.numerator), Decimal(square.denominator))
    return Fraction(context.sqrt(quotient))


def _share(of_class: Fraction, rate: Fraction | None) -> Fraction | None:
    """A cell: the prevalence of a class times a rate; none of an absent class, whatever the rate."""
    if of_class == 0:
        return Fraction(0)
    return None if rate is None else of_class * rate


def _minus(a: Number, b: Number) -> Number:
    return None if a is None or b is None else a - b


def _plus(a: Number, b: Number) -> Number:
    return None if a is None or b is None else a + b


def _times(a: Number, b: Number) -> Number:
    return None if a is None or b is None else a * b


def _mcc(t: Fraction, f: Fraction, eta: Fraction, q: Fraction) -> Number:
    if eta in (0, 1):
        return None
    if q in (0, 1):
        return Fraction(0)
    return (t - f) * root(eta * (1 - eta) / (q * (1 - q)))


def _recall_gain(t: Fraction | None, eta: Fraction) -> Number:
    if t is None or eta == 1:
        return None
    odds = eta / (1 - eta)
    if t == 0:
        return None if odds == 0 else -math.inf
    return 1 - odds * (1 - t) / t


def _argument(name: str) -> Fraction:
    return Fraction(name[name.index("(") + 1 : -1])


def metric(name: str, t: Fraction | None, f: Fraction | None, eta: Fraction | float) -> Number:  # noqa: PLR0911, PLR0912
    """A point metric, by its name in the package, at recall t, fpr f and prevalence eta."""
    eta = Fraction(eta)
    if name == "balanced_precision":
        eta = Fraction(1, 2)
    t_not, f_not = _minus(Fraction(1), t), _minus(Fraction(1), f)
    tp, fn = _share(eta, t), _share(eta, t_not)
    fp, tn = _share(1 - eta, f), _share(1 - eta, f_not)
    q = _plus(tp, fp)
    match name.partition("(")[0]:
        case "recall":
            return t
        case "fpr":
            return f
        case "fnr":
            return t_not
        case "specificity":
            return f_not
        case "precision" | "balanced_precision":
            return ratio(tp, q)
        case "fdr":
            return ratio(fp, q)
        case "npv":
            return ratio(tn, _plus(tn, fn))
        case "false_omission_rate":
            return ratio(fn, _plus(tn, fn))
        case "accuracy":
            return _plus(tp, tn)
        case "balanced_accuracy":
            return ratio(_plus(t, f_not), Fraction(2))
        case "g_mean":
            return root(_times(t, f_not))
        case "f1":
            return metric("f_beta(1)", t, f, eta)
        case "f_beta":
            square = _argument(name) ** 2
            of = _times(1 + square, tp)
            return ratio(of, _plus(of, _plus(_times(square, fn), fp)))
        case "jaccard":
            return ratio(tp, _plus(tp, _plus(fn, fp)))
        case "fowlkes_mallows":
            return root(_times(ratio(tp, q), t))
        case "mcc":
            return None if t is None or f is None else _mcc(t, f, eta, q)
        case "cohen_kappa":
            of = _minus(_times(tp, tn), _times(fp, fn))
            return ratio(_times(2, of), _minus(_plus(eta, q), _times(2 * eta, q)))
        case "informedness":
            return _minus(t, f)
        case "markedness":
            return _minus(_plus(ratio(tp, q), ratio(tn, _plus(tn, fn))), Fraction(1))
        case "lift":
            return None if q == 0 else ratio(t, q)
        case "predicted_positive_rate":
            return q
        case "lr_pos":
            return ratio(t, f)
        case "lr_neg":
            return ratio(t_not, f_not)
        case "diagnostic_odds_ratio":
            return ratio(_times(t, f_not), _times(t_not, f))
        case "precision_gain":
            return _minus(Fraction(1), ratio(f, t))
        case "recall_gain":
            return None if f is None else _recall_gain(t, eta)  # the curve is of both classes
        case "f_gain":
            square = _argument(name) ** 2
            gains = metric("precision_gain", t, f, eta), _times(square, _recall_gain(t, eta))
            return ratio(_plus(*gains), 1 + square)
        case "net_benefit":
            p = _argument(name)
            return _minus(tp, _times(p / (1 - p), fp))
    raise KeyError(name)
