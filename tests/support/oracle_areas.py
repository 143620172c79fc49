"""Curve metrics by their definitions, in exact fractions, or to 60 digits where logarithms enter.

A curve is a list of points `(recall, fpr)` by falling threshold, as fractions. A rate of an absent
class, and a value that is undefined, is None.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Any

from tests.support import oracle

if TYPE_CHECKING:
    from collections.abc import Sequence

Points = list[tuple[Fraction, Fraction]]
GAINS = {"auprg", "auprg_clipped"}
"""Areas of gains, which are undefined at eta = 0 and 1."""
REMEDY = (
    "no oracle for {!r}: add a function to METRICS in tests/support/oracle_areas.py, and say there "
    "where it is null: without negatives even at eta = 1, in NULL_WITHOUT_NEGATIVES; not at eta = 0, in "
    "DEFINED_AT_0"
)
_DIGITS = Context(prec=120, Emin=-9_999_999, Emax=9_999_999)


def log(value: Fraction) -> Fraction:
    """Return the natural logarithm to 120 digits."""
    ratio = _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(_DIGITS.ln(ratio))


def summary(
    rows: Any,
    etas: Sequence[float | None],
    names: Sequence[str],
    *,
    examples: bool = True,
    **columns: Any,
) -> list[dict[str, Any]]:
    """Return the rows of the frame method `summary`; counts are numbers of `examples`, or weights."""
    out = []
    for group in oracle.groups(rows, **columns):
        sweep = oracle.sweep_group(group)
        own = group.prevalence if group.n_pos + group.n_neg else None
        # The own prevalence of a group without examples is undefined, and comes last.
        known = sorted(
            Fraction(e) if e is not None else own for e in etas if e is not None or own is not None
        )
        filled = [*known, *[None] * (len(etas) - len(known))]
        out += [
            {
                **group.by,
                "eta": eta,
                "n_pos": group.n_pos,
                "n_neg": group.n_neg,
                "metric": name,
                "value": None if eta is None else value(name, sweep, eta, examples=examples),
            }
            for eta in filled
            for name in names
        ]
    return out


def value(
    name: str,
    sweep: list[dict[str, Any]],
    eta: Fraction,
    *,
    examples: bool = True,
    unscored: dict[str, Any] | None = None,
) -> Any:
    """Return a curve metric, by its name in the package, from one group's sweep.

    `unscored` is a row of examples below all thresholds, where all are found. To areas over pairs it
    is one score more, and to other metrics it is nothing: no threshold finds these examples.
    """
    kind, _, rest = name.partition("(")
    arguments = [part.strip(' "') for part in rest.removesuffix(")").split(",")] if rest else []
    if kind == "integrated":
        kind, *arguments = ["integrated_average_precision", *arguments[1:]]
    whole = [*sweep, unscored] if unscored else sweep
    if not whole or whole[0]["recall"] is None:
        return None
    if kind == "best":
        return best(rest.removesuffix(")"), sweep, eta)
    no_negatives = whole[0]["fpr"] is None
    base = kind.removesuffix("_hull")
    rows = whole if base in OVER_PAIRS else sweep
    points = [(p["recall"], Fraction(0) if no_negatives else p["fpr"]) for p in rows]
    if base in COUNTED:
        sizes = whole[-1]["tp"], whole[-1]["fp"]
        known = examples and (eta == 1 or not no_negatives)
        return COUNTED[base](*sizes, eta) if known else None
    if base not in METRICS:
        raise NotImplementedError(REMEDY.format(base))
    if base in NULL_WITHOUT_NEGATIVES:
        undefined = no_negatives or (base in GAINS and eta in (0, 1))
    else:
        undefined = (no_negatives and eta != 1) or (eta == 0 and not is_defined_at_0(base, points))
    return (
        None if undefined else METRICS[base](hull(points) if base != kind else points, eta, *arguments)
    )


def is_defined_at_0(name: str, points: Points) -> bool:
    """Return whether an area is defined at eta = 0: there are false positives wherever recall rises.

    Metrics in DEFINED_AT_0 decide for themselves.
    """
    return name in DEFINED_AT_0 or all(f > 0 for *_, f in segments(points))


def hull(points: Points) -> Points:
    """Return the vertices of the upper convex hull of a ROC curve, without the origin."""
    vertices = [(Fraction(0), Fraction(0))]
    for t, f in points:
        while len(vertices) > 1:
            (t0, f0), (t1, f1) = vertices[-2:]
            if (t1 - t0) * (f - f1) > (t - t1) * (f1 - f0):
                break
            vertices.pop()
        vertices.append((t, f))
    return vertices[1:]


def random_ranking(n_pos: Fraction, n_neg: Fraction, eta: Fraction) -> Fraction | None:
    """Return the mean average precision of all rankings of the examples.

    The sum runs over the i-th positive and the number j of negatives above it.
    """
    if eta == 1:
        return Fraction(1)
    if eta == 0:
        return None
    p, n = int(n_pos), int(n_neg)
    odds = (1 - eta) / eta * p / n
    ways = sum(
        Fraction(comb(i + j - 1, j) * comb(p - i + n - j, n - j)) * i / (i + odds * j)
        for i in range(1, p + 1)
        for j in range(n + 1)
    )
    return ways / comb(p + n, p) / p


def worst_ranking(n_pos: Fraction, n_neg: Fraction, eta: Fraction) -> Fraction:
    """Return the average precision of a ranking with all negatives above all positives."""
    if eta == 0:
        return Fraction(0)
    odds = (1 - eta) / eta
    return sum(Fraction(i) / (i + odds * n_pos) for i in range(1, int(n_pos) + 1)) / n_pos


def precision(t: Fraction, f: Fraction, eta: Fraction) -> Fraction | None:
    alerts = eta * t + (1 - eta) * f
    return eta * t / alerts if alerts else None


def segments(points: Points) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
    """Return the segments on which recall rises: recall and fpr at the start, and at the end."""
    ends = pairwise([(Fraction(0), Fraction(0)), *points])
    return [(*start, *end) for start, end in ends if end[0] > start[0]]


def average_precision(points: Points, eta: Fraction) -> Fraction:
    return sum((t - t0) * precision(t, f, eta) for t0, _, t, f in segments(points))


def average_precision_interpolated(points: Points, eta: Fraction) -> Fraction:
    steps = segments(points)
    later = [max(precision(t, f, eta) for _, _, t, f in steps[k:]) for k in range(len(steps))]
    return sum((t - t0) * p for (t0, _, t, _), p in zip(steps, later, strict=True))


def davis_goadrich(points: Points, eta: Fraction) -> Fraction:
    """Return the integral of precision over recall along the segments of the ROC curve."""
    area = Fraction(0)
    for t0, f0, t, f in segments(points):
        start, end = eta * t0 + (1 - eta) * f0, eta * t + (1 - eta) * f
        slope = (end - start) / (t - t0)
        rest = start - slope * t0  # alerts at recall x are slope x + rest
        if slope == 0:
            area += 0 if eta == 0 else eta * (t * t - t0 * t0) / (2 * start)
        elif rest == 0 or start == 0:
            area += eta * (t - t0) / slope
        else:
            area += eta * ((t - t0) / slope - rest / slope**2 * log(end / start))
    return area


def trapezoid(points: Points, eta: Fraction, anchor: str) -> Fraction:
    area = Fraction(0)
    for t0, f0, t, f in segments(points):
        here, before = precision(t, f, eta), precision(t0, f0, eta)
        if before is None:
            if anchor == "none":
                continue
            before = Fraction(1) if anchor == "one" else here
        area += (t - t0) * (here + before) / 2
    return area


def gain_segments(points: Points, eta: Fraction) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Return the segments of positive recall gain: their width, and precision gain at both ends."""
    odds, out = eta / (1 - eta), []
    for t0, f0, t, f in segments(points):
        if t > eta:
            start = max(t0, eta)
            cut = f0 + (f - f0) * (start - t0) / (t - t0)
            out.append((odds / start - odds / t, 1 - cut / start, 1 - f / t))
    return out


def auprg(points: Points, eta: Fraction) -> Fraction:
    return sum((w * (a + b) / 2 for w, a, b in gain_segments(points, eta)), Fraction(0))


def auprg_clipped(points: Points, eta: Fraction) -> Fraction:
    area = Fraction(0)
    for width, a, b in gain_segments(points, eta):
        high, low = max(a, b), min(a, b)
        if low >= 0:
            area += width * (a + b) / 2
        elif high > 0:
            area += width * high / 2 * high / (high - low)
    return area


def roc_auc(points: Points, eta: Fraction, limit: str = "1") -> Fraction:
    limit, area = Fraction(limit), Fraction(0)
    for (t0, f0), (t, f) in pairwise([(Fraction(0), Fraction(0)), *points]):
        end = min(f, limit)
        if end > f0:
            height = t0 + (t - t0) * (end - f0) / (f - f0)
            area += (end - f0) * (t0 + height) / 2
    return area


def partial_roc_auc_mcclish(points: Points, eta: Fraction, limit: str) -> Fraction:
    bound = Fraction(limit)
    least = bound**2 / 2
    return (1 + (roc_auc(points, eta, limit) - least) / (bound - least)) / 2


NEARLY = 1 - Fraction(1, 2**50)  # a value that is rounded may fall short of a target by less


def recall_at_precision(points: Points, eta: Fraction, target: str) -> Fraction | None:
    found = [(t, precision(t, f, eta)) for t, f in points]
    enough = [t for t, p in found if p is not None and p >= Fraction(float(target)) * NEARLY]
    return enough[-1] if enough else None


def find_last_within(points: Points, shares: list[Fraction], most: Fraction) -> Any:
    within = [point for point, share in zip(points, shares, strict=True) if share <= most / NEARLY]
    return within[-1] if within else (None, None)


def recall_at_fpr(points: Points, eta: Fraction, most: str) -> Fraction | None:
    return find_last_within(points, [f for _, f in points], Fraction(float(most)))[0]


def precision_at_fpr(points: Points, eta: Fraction, most: str) -> Fraction | None:
    t, f = find_last_within(points, [f for _, f in points], Fraction(float(most)))
    return None if t is None else precision(t, f, eta)


def find_within_budget(points: Points, eta: Fraction, budget: str, events: str) -> Any:
    shares = [eta * t + (1 - eta) * f for t, f in points]
    return find_last_within(points, shares, Fraction(float(budget) / float(events)))


def recall_at_alerts(points: Points, eta: Fraction, budget: str, events: str) -> Fraction | None:
    return find_within_budget(points, eta, budget, events)[0]


def precision_at_alerts(points: Points, eta: Fraction, budget: str, events: str) -> Fraction | None:
    t, f = find_within_budget(points, eta, budget, events)
    return None if t is None else precision(t, f, eta)


def precision_at_recall(points: Points, eta: Fraction, target: str) -> Fraction | None:
    recall = Fraction(float(target)) * NEARLY
    # Of positives that were never scored there may be too many.
    return next((precision(t, f, eta) for t, f in points if t >= recall), None)


def integrated_average_precision(
    points: Points, eta: Fraction, low: str, high: str, prior: str
) -> Fraction:
    a, b = Fraction(float(low)), Fraction(float(high))
    total = Fraction(0)
    for t0, _, t, f in segments(points):
        s = t - f
        at_a, at_b = f + a * s, f + b * s
        if f == 0:
            mean = Fraction(1)
        elif prior == "uniform":
            mean = (a + b) / 2 if s == 0 else t / s * (1 - f / (s * (b - a)) * log(at_b / at_a))
        elif prior == "log":
            mean = ((b - a) if s == 0 else t / s * log(at_b / at_a)) / log(b / a)
        else:
            r_a, r_b = a / (1 - a), b / (1 - b)
            mean = log((f + r_b * t) / (f + r_a * t)) / log(r_b / r_a)
        total += (t - t0) * mean
    return total


def worst_pr_auc(points: Points, eta: Fraction) -> Fraction:
    if eta in (0, 1):
        return eta
    return 1 + (1 - eta) / eta * log(1 - eta)


def best(name: str, sweep: list[dict[str, Any]], eta: Fraction) -> Any:
    found = [oracle.metric(name, p["recall"], p["fpr"], eta) for p in sweep]
    known = [v for v in found if v is not None]
    return (max if oracle.higher_is_better(name) else min)(known, default=None)


def higher_is_better(name: str) -> bool:
    """Return whether the larger value of a metric, of a point or of a curve, is the better one."""
    if name.startswith("best("):
        return oracle.higher_is_better(name[len("best(") : -1])
    kind = name.partition("(")[0].removesuffix("_hull")
    if kind in METRICS or kind == "integrated":
        return True
    try:
        return oracle.higher_is_better(name)
    except NotImplementedError as error:
        raise NotImplementedError(f"{error}; of a curve metric: {REMEDY.format(kind)}") from None


def boyd_pr_auc(points: Points, eta: Fraction) -> Fraction | None:
    return _rescale(davis_goadrich(points, eta), worst_pr_auc(points, eta), eta)


def _rescale(area: Fraction, least: Fraction, eta: Fraction) -> Fraction | None:
    """Return an area as a share of what lies above the least one; at eta = 1 nothing does."""
    return None if eta == 1 else (area - least) / (1 - least)


def _normalized(area: Fraction, eta: Fraction) -> Any:
    return oracle.ratio(area, eta)


NULL_WITHOUT_NEGATIVES = {
    *("roc_auc", "partial_roc_auc", "partial_roc_auc_mcclish", "integrated_average_precision"),
    *("recall_at_fpr", "precision_at_fpr"),
    *GAINS,
}
"""Undefined without negatives at every prevalence. At eta = 1 other metrics do not need any."""
DEFINED_AT_0 = {
    *("precision_at_recall", "recall_at_fpr", "precision_at_fpr", "worst_pr_auc"),
    *("recall_at_precision", "recall_at_alerts", "precision_at_alerts"),
}
"""Defined at eta = 0 even without false positives; other areas are null there."""
OVER_PAIRS = {"roc_auc", "partial_roc_auc", "partial_roc_auc_mcclish"}
"""Areas over pairs of a positive and a negative, in which examples that were never scored tie."""
COUNTED = {"random_average_precision": random_ranking, "worst_average_precision": worst_ranking}
METRICS: dict[str, Any] = {
    "average_precision": average_precision,
    "average_precision_interpolated": average_precision_interpolated,
    "pr_auc": davis_goadrich,
    "pr_auc_trapezoid": trapezoid,
    "auprg": auprg,
    "auprg_clipped": auprg_clipped,
    "roc_auc": roc_auc,
    "partial_roc_auc": roc_auc,
    "partial_roc_auc_mcclish": partial_roc_auc_mcclish,
    "recall_at_fpr": recall_at_fpr,
    "precision_at_fpr": precision_at_fpr,
    "recall_at_alerts": recall_at_alerts,
    "precision_at_alerts": precision_at_alerts,
    "recall_at_precision": recall_at_precision,
    "precision_at_recall": precision_at_recall,
    "integrated_average_precision": integrated_average_precision,
    "worst_pr_auc": worst_pr_auc,
    "boyd_pr_auc": boyd_pr_auc,
    "marginal_average_precision": lambda p, eta: average_precision(p, eta) - eta,
    "normalized_average_precision": lambda p, eta: _normalized(average_precision(p, eta), eta),
    "min_max_average_precision": lambda p, eta: _rescale(average_precision(p, eta), eta, eta),
}
