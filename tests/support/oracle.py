"""The definition, by brute force: plain Python, exact fractions, no table library.

A table is a list of dicts. Counts are added up anew for every threshold, and metrics come from the
papers' formulas in (recall, fpr, eta). This module shares only the definition with the package:

    positive means score >= threshold; there is one row per distinct score that carries weight

An undefined value is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Mass = Fraction | int
"""A contribution to a class: an integer if all are whole, because integers are added much faster."""
Number = Fraction | float | None
"""A value: an exact fraction, inf or -inf, or None where it is undefined."""

OWN = None
"""In place of a prevalence: the own prevalence of each group."""


# Groups ---------------------------------------------------------------------------------------


def key(value: Any, categories: Sequence[str] | None = None) -> tuple[Any, ...]:
    """Return the key by which a group value is found and sorted: null first, NaN last, -0.0 as 0.0."""
    if value is None:
        return (0,)
    if isinstance(value, Mapping):
        return (1, tuple(key(part) for part in value.values()))
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    return (1, value if categories is None else categories.index(value))


@dataclass(frozen=True)
class Group:
    """One group: its `by` values, and the contribution of each of its rows."""

    by: dict[str, Any]
    rows: list[tuple[Any, Mass, Mass]]
    """The score of a row, and its contribution to the positives and to the negatives."""
    below: tuple[Mass, Mass] = (0, 0)
    """Positives and negatives that were never scored: they count in the totals alone."""

    @property
    def n_pos(self) -> Mass:
        return self.below[0] + sum(pos for _, pos, _ in self.rows)

    @property
    def n_neg(self) -> Mass:
        return self.below[1] + sum(neg for _, _, neg in self.rows)

    @property
    def scores(self) -> list[Any]:
        """Distinct scores of rows that weigh anything, falling."""
        return sorted({score for score, pos, neg in self.rows if pos > 0 or neg > 0}, reverse=True)

    @property
    def prevalence(self) -> Fraction:
        return Fraction(self.n_pos, self.n_pos + self.n_neg)


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
    below: Iterable[Row] = (),
) -> list[Group]:
    """Split a table into groups, in order; `categories` gives the order of values of Enum columns.

    A row without a score was never scored, and `below` holds numbers of more such examples. A row of
    weight 0 is as if it were not there, so a group of such rows is none.
    """
    by_key: dict[tuple[Any, ...], Group] = {}

    def find_group(row: Row) -> Group:
        group_key = tuple(key(row[name], (categories or {}).get(name)) for name in by)
        return by_key.setdefault(group_key, Group({name: row[name] for name in by}, []))

    for row in rows:
        if counts is None:
            mass = Fraction(1) if weight is None else Fraction(row[weight])
            positive = row[label] == (1 if pos_label is None else pos_label)
            masses = (mass, Fraction(0)) if positive else (Fraction(0), mass)
        else:
            masses = (Fraction(row[counts[0]]), Fraction(row[counts[1]]))
        find_group(row).rows.append((row[score], *masses))
    for row in below:
        find_group(row).rows.append((None, Fraction(row["n_pos"]), Fraction(row["n_neg"])))
    parted = (_part_unscored(by_key[group_key]) for group_key in sorted(by_key))
    return [group for group in parted if group.scores or any(group.below)]


def _part_unscored(group: Group) -> Group:
    """Return a group with the sums of its rows without a score in place of them."""
    below = [masses for score, *masses in group.rows if score is None]
    scored = [row for row in group.rows if row[0] is not None]
    return Group(group.by, scored, (sum(pos for pos, _ in below), sum(neg for _, neg in below)))


# Tables ---------------------------------------------------------------------------------------


def counts(rows: Iterable[Row], **columns: Any) -> list[dict[str, Any]]:
    """Return the rows of the frame method `counts`, with sums of squares, and how much may be cut."""
    return [
        {
            **group.by,
            "score": score,
            "n_pos": sum(pos for s, pos, _ in group.rows if s == score),
            "n_neg": sum(neg for s, _, neg in group.rows if s == score),
            "n_pos_squares": sum(pos * pos for s, pos, _ in group.rows if s == score),
            "n_neg_squares": sum(neg * neg for s, _, neg in group.rows if s == score),
            "cut": max(max(pos, neg) for _, pos, neg in group.rows) ** 2 * Fraction(1, 2**70),
        }
        for group in groups(rows, **columns)
        for score in group.scores
    ]


def count_at(group: Group, threshold: Any) -> dict[str, Any]:
    """Return the confusion counts and rates of a group at one threshold."""
    tp = sum(pos for score, pos, _ in group.rows if score >= threshold)
    fp = sum(neg for score, _, neg in group.rows if score >= threshold)
    n_pos, n_neg = group.n_pos, group.n_neg
    return {
        "threshold": threshold,
        "tp": tp,
        "fp": fp,
        "fn": n_pos - tp,
        "tn": n_neg - fp,
        "recall": Fraction(tp, n_pos) if n_pos else None,
        "fpr": Fraction(fp, n_neg) if n_neg else None,
    }


def sweep_group(
    group: Group, *, thresholds: int | str | Sequence[Any] | None = None
) -> list[dict[str, Any]]:
    """Return the sweep of one group, without its `by` values.

    Listed thresholds have rows even where nothing has a score.
    """
    points = [count_at(group, score) for score in group.scores]
    if thresholds == "corners":
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
        return [count_at(group, score) for score in sorted(set(thresholds), reverse=True)]
    return points


def sweep(
    rows: Iterable[Row],
    *,
    thresholds: int | str | Sequence[Any] | None = None,
    **columns: Any,
) -> list[dict[str, Any]]:
    """Return the rows of the frame method `sweep`."""
    return [
        {**group.by, **point}
        for group in groups(rows, **columns)
        for point in sweep_group(group, thresholds=thresholds)
    ]


def curve(
    rows: Iterable[Row],
    etas: Sequence[float | Fraction | None] = (OWN,),
    metrics: Sequence[str] = ("precision",),
    *,
    long: bool = False,
    thresholds: int | str | Sequence[Any] | None = None,
    **columns: Any,
) -> list[dict[str, Any]]:
    """Return the rows of the frame method `curve`; None in `etas` is the group's own prevalence."""
    out = []
    for group in groups(rows, **columns):
        points = sweep_group(group, thresholds=thresholds)
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
    """Return the sum of recall gained times precision, over the rows of one group's sweep."""
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
    """Return the area of the trapezoids under the ROC curve from (0, 0)."""
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
    """Return above / below; 0/0 is undefined, and x/0 is infinite."""
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
    """Return the square root to 50 digits."""
    if value is None or value == 0:
        return value
    context = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999)
    square = Fraction(value)
    quotient = context.divide(Decimal(square.numerator), Decimal(square.denominator))
    return Fraction(context.sqrt(quotient))


def _cell(of_class: Fraction, rate: Fraction | None) -> Fraction | None:
    """Return the prevalence of a class times a rate; 0 for an absent class, whatever the rate."""
    if of_class == 0:
        return Fraction(0)
    return None if rate is None else of_class * rate


def _subtract(a: Number, b: Number) -> Number:
    return None if a is None or b is None else a - b


def _add(a: Number, b: Number) -> Number:
    return None if a is None or b is None else a + b


def _multiply(a: Number, b: Number) -> Number:
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


WITHOUT_DIRECTION = {"predicted_positive_rate"}
"""Point metrics that are neither better nor worse when they are larger."""


def metric(name: str, t: Fraction | None, f: Fraction | None, eta: Fraction | float) -> Number:
    """Return a point metric, by its name in the package, at recall t, fpr f and prevalence eta."""
    kind, _, rest = name.partition("(")
    argument = Fraction(rest.removesuffix(")")) if rest else None
    if kind in RATE_METRICS:
        return _rate_metric(kind, t, f)
    return _cell_metric(kind, t, f, Fraction(eta), argument)


RATE_METRICS = {
    *("recall", "fpr", "fnr", "specificity", "balanced_accuracy", "g_mean", "informedness"),
    *("lr_pos", "lr_neg", "diagnostic_odds_ratio", "precision_gain"),
}
"""Point metrics that do not depend on prevalence."""


def _rate_metric(kind: str, t: Fraction | None, f: Fraction | None) -> Number:  # noqa: PLR0911
    match kind:
        case "recall":
            return t
        case "fpr":
            return f
        case "lr_pos":
            return ratio(t, f)
        case "informedness":
            return _subtract(t, f)
        case "precision_gain":
            return _subtract(Fraction(1), ratio(f, t))
    t_not, f_not = _subtract(Fraction(1), t), _subtract(Fraction(1), f)
    match kind:
        case "fnr":
            return t_not
        case "specificity":
            return f_not
        case "balanced_accuracy":
            return ratio(_add(t, f_not), Fraction(2))
        case "g_mean":
            return root(_multiply(t, f_not))
        case "lr_neg":
            return ratio(t_not, f_not)
        case "diagnostic_odds_ratio":
            return ratio(_multiply(t, f_not), _multiply(t_not, f))
    raise NotImplementedError(
        f"no oracle for {kind!r}: it is in RATE_METRICS, so add a case to _rate_metric(), both in "
        "tests/support/oracle.py"
    )


def _cell_metric(  # noqa: PLR0911, PLR0912
    kind: str, t: Fraction | None, f: Fraction | None, eta: Fraction, argument: Fraction | None
) -> Number:
    """Return a point metric from the four cells, as shares of all examples.

    The metrics of alerts come first: they need no false or true negatives, which may be undefined.
    """
    if kind == "balanced_precision":
        kind, eta = "precision", Fraction(1, 2)
    tp, fp = _cell(eta, t), _cell(1 - eta, f)
    q = _add(tp, fp)
    match kind:
        case "precision":
            return ratio(tp, q)
        case "fdr":
            return ratio(fp, q)
        case "lift":
            return None if q == 0 else ratio(t, q)
        case "predicted_positive_rate":
            return q
        case "fowlkes_mallows":
            return root(_multiply(ratio(tp, q), t))
        case "mcc":
            return None if t is None or f is None else _mcc(t, f, eta, q)
        case "recall_gain":
            return None if f is None else _recall_gain(t, eta)  # the curve is of both classes
        case "f_gain":
            square = argument**2
            gains = metric("precision_gain", t, f, eta), _multiply(square, _recall_gain(t, eta))
            return ratio(_add(*gains), 1 + square)
        case "net_benefit":
            return _subtract(tp, _multiply(argument / (1 - argument), fp))
    fn, tn = _cell(eta, _subtract(Fraction(1), t)), _cell(1 - eta, _subtract(Fraction(1), f))
    match kind:
        case "npv":
            return ratio(tn, _add(tn, fn))
        case "false_omission_rate":
            return ratio(fn, _add(tn, fn))
        case "accuracy":
            return _add(tp, tn)
        case "f1" | "f_beta":
            square = Fraction(1) if argument is None else argument**2
            hits = _multiply(1 + square, tp)
            return ratio(hits, _add(hits, _add(_multiply(square, fn), fp)))
        case "jaccard":
            return ratio(tp, _add(tp, _add(fn, fp)))
        case "cohen_kappa":
            determinant = _subtract(_multiply(tp, tn), _multiply(fp, fn))
            return ratio(_multiply(2, determinant), _subtract(_add(eta, q), _multiply(2 * eta, q)))
        case "markedness":
            return _subtract(_add(ratio(tp, q), ratio(tn, _add(tn, fn))), Fraction(1))
    raise NotImplementedError(
        f"no oracle for {kind!r}: add a case to _cell_metric() in tests/support/oracle.py; or, if it "
        "does not depend on eta, to _rate_metric() there, and its name to RATE_METRICS"
    )


def higher_is_better(name: str) -> bool:
    """Return whether more recall and less fpr make the value larger; raise if they do not move it."""
    good, poor = ((Fraction(9, 10), Fraction(1, 20)), (Fraction(6, 10), Fraction(3, 10)))
    better, worse = (metric(name, *point, Fraction(1, 5)) for point in (good, poor))
    if better == worse or name in WITHOUT_DIRECTION:
        raise ValueError(f"{name!r} has no direction; ask only for metrics that can be best")
    return better > worse
