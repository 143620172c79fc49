"""Promises where alerts count as fewer than they are: with weights and clusters; and of cohorts."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from polars.testing import assert_frame_equal
from scipy import special

from polars_prcurve import PrcError, metrics, prc
from polars_prcurve.core.confidence.binomial_tails import is_tail_at_most, tail_quantile
from polars_prcurve.core.sweep.effective_alerts import WeightSums
from tests.support.profiles import examples

K, N, ODDS = pl.col("k"), pl.col("n"), pl.col("odds")
STRETCH = ["threshold", "holds_from", "holds_to"]
Floats = NDArray[np.float64]

# Tails of numbers that are not whole ----------------------------------------------------------

# The weight of the alerts, that of squares, that of false alerts, share at the target; the rest follows
WORKED = [
    (40.0, 160.0, 6.0, 0.335570469799, 10.0, 1.5, 0.184551212162),
    (120.0, 400.0, 10.0, 0.335570469799, 36.0, 3.0, 0.000446103138025),
    (40.0, 40.0, 3.0, 0.217391304348, 40.0, 3.0, 0.0156745576747),
]


@pytest.mark.parametrize("case", WORKED)
def test_worked_sizes_and_tails(case: tuple[float, ...]) -> None:
    weight, squares, wrong, share, size, k, tail = case
    assert pl.select(WeightSums(pl.lit(weight), pl.lit(squares)).measure_size()).item() == size
    assert wrong * (size / weight) == k
    assert special.betainc(size - k, k + 1, 1 - share) == pytest.approx(tail, rel=1e-10)
    table = pl.DataFrame({"k": [k], "n": [size], "odds": [share / (1 - share)]})
    assert special.ndtr(table.select(tail_quantile(K, N, ODDS)).item()) == pytest.approx(tail, rel=0.02)
    for alpha in (tail * 1.05, tail / 1.05):
        assert table.select(is_tail_at_most(alpha, K, N, ODDS)).item() == (tail <= alpha)


def test_tails_between_whole_numbers_decide_as_the_beta_function_does() -> None:
    rng = np.random.default_rng(2)
    for alpha, room in [(0.1, 0.04), (0.05, 0.05), (0.01, 0.1)]:
        k = np.concatenate([rng.uniform(0, 3, 20_000), rng.uniform(0, 90, 20_000)])
        n = k + 10 ** rng.uniform(0, 3, k.size)
        share = special.expit(rng.uniform(-8, 4, k.size))
        table = pl.DataFrame({"k": k, "n": n, "odds": share / (1 - share)})
        exact = special.betainc(n - k, k + 1, 1 - share)
        found = table.select(is_tail_at_most(alpha, K, N, ODDS)).to_series().to_numpy()
        clear = np.abs(exact / alpha - 1) > room
        assert np.array_equal(found[clear], exact[clear] <= alpha)
    few = pl.DataFrame({"k": [4.5, 4.999, 5.0], "n": [5.0, 5.0, 5.0], "odds": [1e9] * 3})
    assert few.select(is_tail_at_most(0.1, K, N, ODDS)).to_series().to_list() == [False] * 3


# Examples that count alike --------------------------------------------------------------------


@st.composite
def score_tables(draw: st.DrawFn) -> pl.DataFrame:
    """Draw groups of rows with ties or without, in clusters of each class or of both, and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([5, 60, 400]))
    label = rng.random(n) < draw(st.sampled_from([0.1, 0.5, 0.9]))
    patient = rng.integers(0, draw(st.sampled_from([3, 20, 300])), n)
    patient = 2 * patient + label * draw(st.booleans())
    score = rng.normal(size=n) + draw(st.sampled_from([0.0, 2.0, 4.0])) * label + (patient % 5) / 3
    columns = {"g": rng.integers(0, 2, n), "label": label, "patient": patient, "row": np.arange(n)}
    w = rng.choice([0.5, 1.0, 20.0], n) * np.where(label, 1, draw(st.sampled_from([1.0, 7.0])))
    return pl.DataFrame(columns | {"score": score.round(draw(st.sampled_from([0, 9]))), "w": w})


ASKED: dict[str, Any] = {
    "recall": 0.7, "fpr": 0.2, "precision": [0.2, 0.8], "npv": 0.6, "fdr": 0.4, "lift": 1.3,
}  # fmt: skip


@examples(60)
@given(score_tables(), st.sampled_from([0.8, 0.95]), st.sampled_from([None, 1.0]))
def test_rows_that_count_alike_are_promised_as_without_weights(
    table: pl.DataFrame, level: float, start: float | None
) -> None:
    asked: dict[str, Any] = {**ASKED, "by": "g", "guarantee": level}
    if start is not None:
        asked = {**asked, "start": start, "recall": None, "fpr": None}
    etas = [None, 0.3, 0.01]
    plain = prc(table).operating_points(etas, columns="all", **asked)
    rows = table.with_columns(one=1.0, heavy=2.5)
    needed = ["n_pos_needed", "n_neg_needed"]
    for how in ({"cluster": "row"}, {"weight": "one"}, {"weight": "heavy"}):
        found = prc(rows).operating_points(etas, columns="all", **asked, **how)
        assert_frame_equal(found.select(STRETCH), plain.select(STRETCH), check_exact=True)
        if "heavy" not in how.values():
            # Of weights they are not rounded up; infinite less infinite is NaN.
            rest = (plain.select(needed) - found.select(needed)).select(pl.all().fill_nan(0.0))
            assert rest.select(pl.all().is_between(-1e-6, 1.000001).all()).row(0) == (True, True)
    both = plain.select("recall", "fpr", "precision")
    clustered = prc(rows).operating_points(etas, columns="all", **asked, cluster="row", confidence=0.9)
    assert_frame_equal(clustered.select(STRETCH), plain.select(STRETCH), check_exact=True)
    assert_frame_equal(clustered.select("recall", "fpr", "precision"), both, check_exact=True)


def test_all_weights_may_be_multiplied() -> None:
    rng = np.random.default_rng(4)
    label = rng.random(2_000) < 0.2
    table = pl.DataFrame({"score": rng.normal(size=2_000) + 3 * label, "label": label})
    table = table.with_columns(w=pl.Series(rng.choice([1.0, 3.0], 2_000)))
    found = [
        table.with_columns(pl.col("w") * by).prc.operating_points(
            0.1, precision=0.5, npv=0.9, fpr=0.1, guarantee=0.95, weight="w", columns="all"
        )
        for by in (1, 2.0**-40, 1e30)
    ]
    assert found[0]["threshold"].null_count() == 0
    for other in found[1:]:
        assert other.select(STRETCH).equals(found[0].select(STRETCH))


# A reference that adds up clusters one by one ---------------------------------------------------


class Sizes:
    """The rows of one curve by distinct score, from the highest: counts and sizes, by definition."""

    finds_positives = False
    """Whether positives are what is false: those that are not flagged."""

    def __init__(self, rows: pl.DataFrame, *, clustered: bool) -> None:
        self.score = np.unique(rows["score"].to_numpy())[::-1]
        score, self.label = rows["score"].to_numpy(), rows["label"].to_numpy()
        self.w = np.ones(rows.height) if clustered else rows["w"].to_numpy()
        self.cluster = rows["patient" if clustered else "row"].to_numpy()
        self.above = [score >= at for at in self.score]
        self.clustered, self.place = clustered, score
        self.every = np.ones(rows.height, dtype=bool)

    def add(self, of: NDArray[np.bool_]) -> tuple[float, float]:
        _, number = np.unique(self.cluster, return_inverse=True)
        sums = np.bincount(number, self.w * of)
        return float(sums.sum()), float((sums * sums).sum())

    def mean(self, of: NDArray[np.bool_]) -> float:
        weight, squares = self.add(of)
        return squares / weight if weight > 0 else math.nan

    def unseen(self, i: int, *, positive: bool) -> float:
        """Return the weight of a negative that was not seen above a threshold, or a positive below."""
        own, above, at = self.label == positive, self.above[i], self.score[i]
        side = ~above if positive else above
        if self.clustered:
            totals = {k: float(np.sum(self.cluster == k)) for k in np.unique(self.cluster)}
            seen = [np.mean([totals[k] for k in self.cluster[of]]) for of in (own, ~own)]
            return float(np.nanmin([self.mean(side) * max(1.0, seen[0] / seen[1]), self.mean(own)]))
        if not positive:  # the next negative at this score or below, or else the next one above
            below = [s for s in self.place[own] if s <= at]
            return self.mean(own & (self.place == (max(below) if below else min(self.place[own]))))
        by_score = self.mean(side) if side.any() else self.mean(self.every)
        means = [self.mean(of) for of in (own & above, ~own & ~above, ~own & above)]
        by_class = means[0] * means[1] / means[2]
        by_class = means[0] if math.isnan(by_class) else by_class
        return by_class if by_class > 1.5 * by_score else by_score

    def count(self, i: int, side: NDArray[np.bool_], false: NDArray[np.bool_], *others: float) -> float:
        """Return as how many independent rows some count, of which some are false."""
        if not side.any():
            return 0.0
        unseen = self.unseen(i, positive=self.finds_positives)
        weight, squares = self.add(false)
        of_false = (squares + unseen**2) / (weight + unseen)
        return self.add(side)[0] / max(self.mean(side), of_false, *others)

    def weigh_rate(
        self, side: NDArray[np.bool_], rest: NDArray[np.bool_], mean: float, unseen: float
    ) -> float:
        """Return the weight of rows that count alike, and whose rate of their class errs as it does."""
        weight, (other, squares) = self.add(side)[0], self.add(rest)
        total = weight + other
        rate = weight / total
        return (1 - rate) ** 2 * mean + rate * (squares + unseen**2) / total if weight else 0.0

    def count_alerts(self, i: int, *, good: bool, own: bool) -> float:
        """Return as how many examples the alerts count, or for npv those that are not flagged."""
        side = self.above[i] if good else ~self.above[i]
        right, self.finds_positives = self.label == good, not good
        if own:
            return self.count(i, side, side & ~right)
        unseen = [self.unseen(i, positive=positive) for positive in (not good, good)]
        weight, squares = self.add(side & ~right)
        false = (squares + unseen[0] ** 2) / (weight + unseen[0])
        mean = self.mean(side & right) if (side & right).any() else 0.0
        others = (
            self.weigh_rate(side & right, ~side & right, mean, unseen[1]),
            self.weigh_rate(side & ~right, ~side & ~right, false, 0.0) if weight else 0.0,
        )
        return self.count(i, side, side & ~right, *others)


def passes(k: float, n: float, share: float, alpha: float) -> bool:
    return n - k >= 1 and bool(special.betainc(n - k, k + 1, 1 - share) <= alpha)


def find_run(
    sizes: Sizes, criterion: str, value: float, eta: float | None, alphas: tuple[float, float]
) -> Any:
    """Return the threshold of precision or npv, row by row, by the levels of rows and of the start."""
    alpha, start_alpha = alphas
    good = criterion != "npv"
    label = sizes.label == good
    total, squares = sizes.add(sizes.every)
    n_good, n_bad = sizes.add(label)[0], sizes.add(~label)[0]
    if eta is None:
        share = 1 - value
    else:
        at = eta if good else 1 - eta
        odds = n_bad * at * (1 - value) / ((1 - at) * value) / n_good
        share = odds / (1 + odds)
    flagged = [above if good else ~above for above in sizes.above]
    order = range(len(sizes.score)) if good else range(len(sizes.score) - 1, -1, -1)
    odds, scale = share / (1 - share), total / squares
    least = math.ceil(math.log(start_alpha) / math.log(1 - share))
    most = min((n_good + n_good * odds) * scale, total * scale)
    m = math.ceil(max(least, min(2 * least, most / 4), most / 10))
    z = special.ndtri(start_alpha)
    k = m * share + math.sqrt(m * share * (1 - share)) * z + (z * z - 1) * (1 - 2 * share) / 6
    k = max(0, math.floor(k - 0.5))
    found, started = None, False
    for i in order:
        of = flagged[i]
        wrong = sizes.add(of & ~label)[0]
        n = sizes.count_alerts(i, good=good, own=eta is None)
        started = started or n >= m or passes(k, n, share, start_alpha)
        if not started:
            continue
        alerts = sizes.add(of)[0]
        if alerts == wrong or not passes(wrong * n / alerts, n, share, alpha):
            break
        found = sizes.score[i]
    return found


def find_rate(sizes: Sizes, criterion: str, value: float, alpha: float) -> Any:
    """Return the threshold of recall, or fpr: the last before the first that fails, from its end."""
    positive = criterion == "recall"
    own = sizes.label == positive
    share = 1 - value if positive else value
    found = None
    order = range(len(sizes.score))
    for i in reversed(order) if positive else order:
        of = ~sizes.above[i] if positive else sizes.above[i]
        sizes.finds_positives = positive
        n = sizes.count(i, own, own & of)
        if not passes(sizes.add(own & of)[0] * n / sizes.add(own)[0], n, share, alpha):
            break
        found = sizes.score[i]
    return found


@examples(100)
@given(score_tables(), st.booleans(), st.sampled_from([None, 0.3, 0.02]), st.sampled_from([0.8, 0.95]))
def test_sizes_are_those_of_the_definition(
    table: pl.DataFrame, clustered: bool, eta: float | None, level: float
) -> None:
    how = {"cluster": "patient"} if clustered else {"weight": "w"}
    asked: dict[str, Any] = {"recall": 0.7, "fpr": 0.2, "precision": [0.2, 0.8], "npv": 0.6}
    found = prc(table).operating_points(eta, by="g", guarantee=level, columns="all", **asked, **how)
    for g, rows in table.partition_by("g", as_dict=True).items():
        sizes = Sizes(rows, clustered=clustered)
        if rows["label"].n_unique() == 1:
            continue
        for point in found.filter(g=g[0]).to_dicts():
            target = point["criterion"], point["target"]
            near = set()
            # Where a tail is next to alpha, at the start or later, the approximation decides.
            alphas = [(1 - level) * room for room in (0.9, 1.1)]
            if point["criterion"] in ("recall", "fpr"):
                near |= {find_rate(sizes, *target, alpha) for alpha in alphas}
            else:
                near |= {find_run(sizes, *target, eta, both) for both in product(alphas, alphas)}
            if len(near) == 1:
                assert {point["threshold"]} == near, (point, near)


def test_weighted_counts_are_promised_as_their_rows() -> None:
    rng = np.random.default_rng(7)
    label = rng.random(3_000) < 0.2
    table = pl.DataFrame({"score": (rng.normal(size=3_000) + 3 * label).round(2), "label": label})
    table = table.with_columns(w=pl.Series(rng.choice([1.0, 3.0], 3_000)))
    asked: dict[str, Any] = {"precision": 0.5, "recall": 0.8, "npv": 0.9, "guarantee": 0.95}
    found = table.prc.operating_points([None, 0.1], weight="w", columns="all", **asked)
    assert found["threshold"].null_count() == 0
    sums = ("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")
    counted = table.prc.counts(weight="w").prc.operating_points(
        [None, 0.1], counts=sums, columns="all", **asked
    )
    assert_frame_equal(counted, found)


def test_a_run_ends_where_a_heavy_alert_makes_the_others_count_less() -> None:
    """Thirty alerts are enough to start. With a heavy one they count as 8, and no run starts anew."""
    light = [(1.0, True)] * 30
    table = pl.DataFrame(
        [*light, (15.0, True), *[(1.0, True)] * 40, *[(1.0, False)] * 60], orient="row",
        schema={"w": pl.Float64, "label": pl.Boolean},
    ).with_columns(score=-pl.int_range(pl.len()))  # fmt: skip
    found = table.prc.operating_points(0.5, precision=0.8, guarantee=0.95, weight="w", columns="all")
    assert found.select(STRETCH).row(0) == (-29, -29, -27)
    same = table.with_columns(w=pl.lit(1.0))
    found = same.prc.operating_points(0.5, precision=0.8, guarantee=0.95, weight="w", columns="all")
    assert found["threshold"].item() <= -70


# What Kish's size alone does not know -----------------------------------------------------------


def share_broken(found: pl.Series, ratio: float, most: float) -> float:
    """Return the share of test sets with a threshold on a line whose precision is just too low."""
    return float((found.drop_nulls() > -ratio * most).sum() / len(found))


def draw_line(rng: np.random.Generator, shape: tuple[int, int], ratio: float) -> Floats:
    """Return the fpr of thresholds at positives, on a line up to a recall of 0.9."""
    recall = rng.random(shape)
    return np.interp(recall, [0, 0.9, 1], [0, 0.9 * ratio, 1])


def test_false_alerts_may_be_heavier_than_true_ones() -> None:
    """One negative in ten was sampled, and precision is the same at all thresholds, just too low."""
    rng, sets, ratio = np.random.default_rng(3), 300, 1.001 / 9
    above = np.concatenate([draw_line(rng, (sets, 300), ratio), rng.random((sets, 300))], axis=1)
    label = np.tile(np.arange(600) < 300, sets)
    table = pl.DataFrame(
        {"set": np.repeat(np.arange(sets), 600), "score": -above.ravel(), "label": label}
    )
    table = table.with_columns(w=pl.when("label").then(1.0).otherwise(10.0))
    found = table.prc.operating_points(
        0.1, precision=0.5, by="set", guarantee=0.95, weight="w", columns="all"
    )
    assert share_broken(found["threshold"], ratio, 0.9) < 0.05 + 2 * (0.05 * 0.95 / sets) ** 0.5


def test_healthy_patients_may_have_more_rows_than_ill_ones() -> None:
    rng, sets, ratio = np.random.default_rng(3), 150, 1.001 / 9
    ill = -draw_line(rng, (sets, 200), ratio)
    healthy = rng.normal(size=(sets, 300, 1)) + 0.3 * rng.normal(size=(sets, 300, 10))
    healthy = -special.ndtr(-healthy.reshape(sets, 3_000) / (1 + 0.3**2) ** 0.5)
    patient = np.concatenate([np.arange(200), np.repeat(np.arange(200, 500), 10)])
    table = pl.DataFrame(
        {
            "set": np.repeat(np.arange(sets), 3_200),
            "score": np.concatenate([ill, healthy], axis=1).ravel(),
            "label": np.tile(np.arange(3_200) < 200, sets),
            "patient": np.tile(patient, sets),
        }
    )
    asked: dict[str, Any] = {"precision": 0.5, "by": "set", "guarantee": 0.95}
    alone = table.prc.operating_points(0.1, columns="all", **asked)["threshold"]
    kept = table.prc.operating_points(0.1, columns="all", **asked, cluster="patient")["threshold"]
    assert share_broken(alone, ratio, 0.9) > 0.07
    assert share_broken(kept, ratio, 0.9) < 0.05


# The own prevalence -----------------------------------------------------------------------------


@examples(60)
@given(score_tables(), st.sampled_from([0.1, 0.5, 0.9]), st.sampled_from([0.8, 0.95]))
def test_at_the_own_prevalence_the_share_of_false_alerts_is_known(
    table: pl.DataFrame, value: float, level: float
) -> None:
    asked: dict[str, Any] = {"precision": value, "by": "g", "guarantee": level, "start": 99.0}
    found = prc(table).operating_points([None, 0.4], columns="all", **asked)
    alpha = 1 - level
    for (g,), rows in prc(table).sweep(by="g").partition_by("g", as_dict=True).items():
        expected, near = None, False
        for row in rows.to_dicts():
            tail = special.bdtr(row["fp"], row["tp"] + row["fp"], 1 - value)
            near = near or abs(tail / alpha - 1) < 0.02
            if row["tp"] == 0 or tail > alpha:
                break
            expected = row["threshold"]
        own = rows["tp"][0] + rows["fn"][0], rows["fp"][0] + rows["tn"][0]
        point = found.filter(pl.col("g") == g).row(0 if own[0] < 0.4 * sum(own) else 1, named=True)
        if 0 in own or near or own[0] == 0.4 * sum(own):
            continue
        assert point["eta"] == own[0] / sum(own)
        assert point["n_neg_needed"] is None
        assert point["n_pos_needed"] == math.ceil(round(math.log(alpha) / math.log(value), 9))
        # A start above all scores begins with no alert, which proves nothing.
        assert point["threshold"] is None
        low = prc(table.filter(g=g)).operating_points(
            precision=value, guarantee=level, start=float(rows["threshold"][0]), columns="all"
        )
        assert low["threshold"].item() == expected


def test_as_many_positives_as_needed_prove_a_precision_in_a_cohort() -> None:
    for value, level in [(0.9, 0.95), (0.5, 0.99), (0.7, 0.8)]:
        for criterion, target in (("precision", value), ("fdr", 1 - value), ("npv", value)):
            is_npv = criterion == "npv"
            needed = math.ceil(math.log(1 - level) / math.log(value))
            for n in (needed, needed - 1):
                label = [not is_npv] * n + [is_npv] * 5
                table = pl.DataFrame({"score": [2] * n + [1] * 5, "label": label})
                table = table.with_columns(score=-pl.col("score")) if is_npv else table
                at: dict[str, Any] = {criterion: target, "guarantee": level}
                start = -1.5 if is_npv else 2
                found = table.prc.operating_points(columns="all", **at, start=start).row(0, named=True)
                names = ("n_neg_needed", "n_pos_needed")
                assert [found[name] for name in (names if is_npv else names[::-1])] == [needed, None]
                assert (found["threshold"] is not None) == (n == needed), (criterion, n)


def test_a_lift_stays_at_the_prevalence_that_was_counted() -> None:
    table = pl.DataFrame({"score": range(200, 0, -1), "label": [1] * 60 + [0, 0, 1, 0] * 35})
    own = table.prc.operating_points(lift=1.5, guarantee=0.95, columns="all")
    at_number = table.prc.operating_points(own["eta"].item(), lift=1.5, guarantee=0.95, columns="all")
    assert own.equals(at_number)
    assert own["n_neg_needed"].item() is not None


def test_the_promise_of_a_cohort_is_kept() -> None:
    rng, sets, n = np.random.default_rng(9), 300, 1_000
    label = rng.random((sets, n)) < 0.1
    score = rng.normal(size=(sets, n)) + 2.0 * label
    number = np.repeat(np.arange(sets), n)
    table = pl.DataFrame({"set": number, "score": score.ravel(), "label": label.ravel()})
    broken = []
    for more in ({}, {"guarantee": 0.95}):
        at = table.prc.operating_points(precision=0.5, by="set", columns="all", **more)[
            "threshold"
        ].drop_nulls()
        rates = special.ndtr(2 - at.to_numpy()), special.ndtr(-at.to_numpy())
        broken.append(float((metrics.precision(*rates, 0.1) < 0.5).sum() / sets))
        assert len(at) > 0.8 * sets
    assert broken[0] > 0.3
    assert broken[1] < 0.05 + 2 * (0.05 * 0.95 / sets) ** 0.5


# Refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"precision": 0.5, "weight": "w", "cluster": "c"}, "takes clusters or weights, not both"),
        ({"alerts": 5, "per": 9, "weight": "w"}, "guarantee= of alerts= needs independent"),
        ({"predicted_positive_rate": 0.1, "cluster": "c"}, "pass confidence= for the interval"),
        (
            {"precision": 0.5, "counts": ("w", "w")},
            r"^cast counts= to integers.*guarantee= cannot use floats alone",
        ),
    ],
)
def test_refused(options: dict[str, Any], hint: str) -> None:
    table = pl.DataFrame({"score": [2, 1], "label": [1, 0], "w": [1.5, 2], "c": [1, 1]})
    for frame in (table, table.lazy()):
        with pytest.raises(PrcError, match=hint):
            prc(frame).operating_points(0.1, guarantee=0.9, columns="all", **options)
