"""Which rows to label next, so that precision at a threshold becomes known best.

    scores and labels so far -> strata      ranges of the score, on either side of the threshold
    strata                   -> shares      of positives, from a logistic fit of the label on the rank
    shares                   -> allocation  labels per stratum (Neyman 1934)

The variance of logit precision is that of `ln recall - ln fpr`, at any prevalence. A row adds to it, if
it is positive and flagged `a = (1 - r) / (r P)`, if it is negative and flagged `b = -(1 - f) / (f N)`,
and below the threshold `a = -1 / P` and `b = 1 / N`. In a stratum with a share p of positives these vary
with `S = sqrt(p (1 - p)) |a - b|`, and least variance comes of labels in proportion to `rows * S`.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_whole_number
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.inputs.threshold_values import read_threshold_list, to_least_scores
from polars_prcurve.sweep.sweep_table import count_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

PLAN_COLUMNS = (
    *("stratum", "score_low", "score_high", "n", "n_labelled", "positive_share", "n_next", "weight"),
)
LEAST_PER_STRATUM = 10
"""Labels that a stratum gets at least, if it has that many rows and the budget suffices."""

_RIDGE = 0.05
_PLACES = 16
"""Ranks within a stratum at which the fitted share is read."""

_IS_ABOVE, _N_POS = f"{c.RESERVED}is_above", f"{c.RESERVED}n_pos"


def build_sampling_plan(
    table: ScoreTable, labelled: ScoreTable, *, threshold: Any, budget: int, strata: int
) -> pl.LazyFrame:
    """Return one row per stratum, from the highest scores down: PLAN_COLUMNS.

    `table` holds all rows, and `labelled` those that have a label.
    """
    budget = read_whole_number("budget=", budget, 0)
    strata = read_whole_number("strata=", strata, 2)
    [number] = read_threshold_list("threshold", [threshold], table.score_dtype)
    least = to_least_scores([number], table.score_dtype)
    counts = count_scores(labelled).rename({"n_pos": _N_POS, "n_neg": "n_labelled"})
    query = count_scores(table, c.UNLABELLED_COLUMNS).join(counts, on="score", how="left")
    scores = table.collect(
        query.with_columns(
            (pl.col("score") >= pl.lit(least).first()).fill_null(False).alias(_IS_ABOVE),
            pl.col(_N_POS).fill_null(0),
            (pl.col(_N_POS) + pl.col("n_labelled")).fill_null(0).alias("n_labelled"),
        ).sort("score", descending=True),
        "sampling_plan",
    )
    _check_labels(scores, threshold)
    cut = _cut_strata(scores, strata)
    shares = _estimate_shares(scores, cut)
    n, n_labelled = (cut[name].to_numpy().astype("int64") for name in ("n", "n_labelled"))
    total = int(n_labelled.sum()) + min(budget, int((n - n_labelled).sum()))
    deviations = compute_deviations(n, shares, cut[_IS_ABOVE].to_numpy())
    n_next = allocate_labels(n, deviations, n_labelled, total) - n_labelled
    drawn = pl.col("n_labelled") + pl.col("n_next")
    return (
        cut.lazy()
        .with_columns(pl.Series("positive_share", shares), pl.Series("n_next", n_next, dtype=pl.Int64))
        .with_columns(pl.when(drawn > 0).then(pl.col("n") / drawn).alias("weight"))
        .select(PLAN_COLUMNS)
    )


def _check_labels(scores: pl.DataFrame, threshold: Any) -> None:
    """Raise unless both classes have two labels, and scores are on both sides of the threshold."""
    n_pos = int(scores[_N_POS].sum())
    n_neg = int(scores["n_labelled"].sum()) - n_pos
    if n_pos < 2 or n_neg < 2:
        raise PrcError(
            "a plan needs two labelled positives and two labelled negatives, to learn which scores are "
            f"uncertain; there are {n_pos} and {n_neg}; label some more rows of high and of low scores"
        )
    if scores[_IS_ABOVE].n_unique() < 2:
        where = "all scores reach" if scores[_IS_ABOVE].all() else "no score reaches"
        raise PrcError(
            f"{where} threshold={threshold}, so there is nothing to sample on one side of it; "
            f"scores go from {scores['score'].min()!s} to {scores['score'].max()!s}"
        )


def _cut_strata(scores: pl.DataFrame, strata: int) -> pl.DataFrame:
    """Return the strata: half of them flagged rows, half the others, of about equal numbers of rows.

    Rows of equal score stay together, so there may be fewer strata.
    """
    rows, above = pl.col("n"), pl.col(_IS_ABOVE)
    number = pl.when(above).then(strata // 2).otherwise(strata - strata // 2)
    # The rank of a score's middle row within its side, times the number of strata there.
    place = (rows.cum_sum() * 2 - rows).over(_IS_ABOVE) * number // (rows.sum().over(_IS_ABOVE) * 2)
    cut = (
        scores.with_columns(place.alias("stratum"))
        .group_by((~above).alias(c.RESERVED), "stratum", maintain_order=True)
        .agg(
            pl.col("score").min().alias("score_low"),
            pl.col("score").max().alias("score_high"),
            pl.col("n", "n_labelled", _N_POS).sum(),
            above.first(),
        )
    )
    return cut.with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("stratum"))


def _estimate_shares(scores: pl.DataFrame, cut: pl.DataFrame) -> Floats:
    """Return the share of positives in each stratum, by a logistic fit of the label on the rank."""
    # Ranks stand for scores as quantiles of a normal distribution, so that any scores of one order give
    # one plan. Labels may be denser at some scores than at others: the fit is of a label given its
    # score.
    import numpy as np

    n = scores["n"].to_numpy().astype(np.float64)
    middle = np.cumsum(n) - n / 2
    known = scores["n_labelled"].to_numpy() > 0
    n_labelled, n_pos = (
        scores[name].to_numpy().astype(np.float64)[known] for name in ("n_labelled", _N_POS)
    )
    intercept, slope = _fit_logistic(_to_normal(middle[known] / n.sum()), n_pos, n_labelled)
    sizes = cut["n"].to_numpy().astype(np.float64)
    starts = np.cumsum(sizes) - sizes
    within = (np.arange(_PLACES) + 0.5) / _PLACES
    places = (starts[:, None] + sizes[:, None] * within) / n.sum()
    log_odds = intercept + slope * _to_normal(places.ravel()).reshape(places.shape)
    shares: Floats = (1 / (1 + np.exp(-log_odds))).mean(axis=1)
    return shares


def _to_normal(share_above: Floats) -> Floats:
    """Return the normal quantiles that have these shares above them."""
    import numpy as np

    quantile = NormalDist().inv_cdf
    return np.array([-quantile(share) for share in share_above.tolist()])


def _fit_logistic(x: Floats, n_pos: Floats, n: Floats) -> tuple[float, float]:
    """Return intercept and slope of greatest likelihood, less half _RIDGE times the slope squared."""
    # The ridge keeps the slope finite where x separates the labels. Steps of Newton are halved until the
    # likelihood rises.
    import numpy as np

    columns = np.column_stack([np.ones_like(x), x])
    ridge = np.array([0.0, _RIDGE])

    def compute_objective(beta: Floats) -> float:
        log_odds = columns @ beta
        likelihood = (n_pos * log_odds - n * np.logaddexp(0, log_odds)).sum()
        return float(likelihood - (ridge * beta**2).sum() / 2)

    share = n_pos.sum() / n.sum()
    beta: Floats = np.array([np.log(share / (1 - share)), 0.0])
    value = compute_objective(beta)
    for _ in range(100):
        p = 1 / (1 + np.exp(-(columns @ beta)))
        gradient = columns.T @ (n_pos - n * p) - ridge * beta
        curvature = (columns * (n * p * (1 - p))[:, None]).T @ columns + np.diag(ridge)
        step: Floats = np.linalg.solve(curvature, gradient).astype(np.float64)
        new = compute_objective(beta + step)
        while new < value and np.abs(step).max() > 1e-12:
            step = np.asarray(step / 2, dtype=np.float64)
            new = compute_objective(beta + step)
        beta, value = beta + step, new
        if np.abs(step).max() <= 1e-10:
            break
    return float(beta[0]), float(beta[1])


def compute_deviations(n: Integers, shares: Floats, above: NDArray[np.bool_]) -> Floats:
    """Return S of each stratum, from its rows, its share of positives, and whether it is flagged."""
    import numpy as np

    pos, neg = n * shares, n * (1 - shares)
    n_pos, n_neg = pos.sum(), neg.sum()
    recall, fpr = pos[above].sum() / n_pos, neg[above].sum() / n_neg
    a = np.where(above, (1 - recall) / (recall * n_pos), -1 / n_pos)
    b = np.where(above, -(1 - fpr) / (fpr * n_neg), 1 / n_neg)
    deviations: Floats = np.sqrt(shares * (1 - shares)) * np.abs(a - b)
    return deviations


def allocate_labels(n: Integers, deviations: Floats, n_labelled: Integers, total: int) -> Integers:
    """Return the labels of each stratum, old and new: in proportion to `n * deviations`, `total` in all.

    No stratum has fewer than it has already, nor more than its rows, nor fewer than LEAST_PER_STRATUM,
    as long as `total` allows that. What one stratum cannot take is shared out among the others.
    """
    import numpy as np

    least = np.maximum(n_labelled, np.minimum(LEAST_PER_STRATUM, n))
    if least.sum() > total:
        least = n_labelled
    wanted = n * deviations
    wanted = wanted / wanted.sum() if wanted.sum() > 0 else n / n.sum()
    low, high = 0.0, 1.0
    while np.clip(high * wanted, least, n).sum() < total and high < 1e300:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if np.clip(middle * wanted, least, n).sum() < total:
            low = middle
        else:
            high = middle
    exact = np.clip(high * wanted, least, n)
    labels: Integers = np.floor(exact).astype(np.int64)
    # Rounded down, some labels are left over: they go where rounding cost most, and a row is left.
    for place in np.argsort(labels - exact, kind="stable"):
        if labels.sum() < total and labels[place] < n[place]:
            labels[place] += 1
    while labels.sum() > total:
        labels[np.argmax(labels - least)] -= 1
    return labels
