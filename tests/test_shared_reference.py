"""A prevalence estimated with the evaluated table: `eta=` is a bound table without labels."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, PrcWarning, intervals, metrics, prc, rate_interval
from tests.support import oracle, oracle_errors
from tests.support.oracle_uncertain_eta import scale, unscale
from tests.support.profiles import examples
from tests.support.tiers import pair_each

LEVEL = 0.95
ETA_COLUMNS = ("eta", "eta_low", "eta_high", "eta_confidence")
RISING = ("precision", "f1", "jaccard", "f_beta(2)")
"""Point metrics that rise with recall and with prevalence, and fall with fpr."""


class Tables:
    """Counts of positives, negatives and unlabelled rows at a few scores, the highest score first."""

    def __init__(self, positives: Any, negatives: Any, unlabelled: Any) -> None:
        self.a, self.n, self.u = (np.array(x, dtype=float) for x in (positives, negatives, unlabelled))
        self.score = [float(s) for s in range(len(self.a), 0, -1)]

    def __repr__(self) -> str:
        return f"Tables({self.a.tolist()}, {self.n.tolist()}, {self.u.tolist()})"

    def build_test(self) -> pl.DataFrame:
        counts = {"n_pos": self.a, "n_neg": self.n}
        whole = {name: x.astype(int) for name, x in counts.items()}
        return pl.DataFrame({"score": self.score, **whole})

    def build_field(self) -> pl.DataFrame:
        return pl.DataFrame({"score": np.repeat(self.score, self.u.astype(int))})

    def ask(self, method: str, **asked: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return what a method answers at the estimate, and at the estimate as if of another table."""
        test = self.build_test().prc(counts=("n_pos", "n_neg"))
        field = self.build_field().prc(label=None)
        estimate = field.estimate_prevalence(reference=test, confidence=LEVEL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrcWarning)
            shared = getattr(test, method)(field, **asked)
        return shared, getattr(test, method)(estimate.select(ETA_COLUMNS), **asked)


def find_slopes(tables: Tables, eta: float) -> tuple[Any, Any, float]:
    """Return by how much eta moves with one positive or negative of a level, and its variance."""
    a, n, u = tables.a, tables.n, tables.u
    n_levels, (n_pos, n_neg, n_rows) = len(a), (x.sum() for x in (a, n, u))
    alpha, beta = (a + 0.5 / n_levels) / (n_pos + 0.5), (n + 0.5 / n_levels) / (n_neg + 0.5)
    q = eta * alpha + (1 - eta) * beta

    def spread(of: Any) -> Any:
        return np.diag(of) - np.outer(of, of)

    s = spread(q) / n_rows + eta**2 * spread(alpha) / n_pos + (1 - eta) ** 2 * spread(beta) / n_neg
    g = np.linalg.pinv(s, rcond=1e-10) @ (alpha - beta)
    c = g / ((alpha - beta) @ g)
    of_pos = -eta * (c - (a * c).sum() / n_pos) / n_pos
    of_neg = -(1 - eta) * (c - (n * c).sum() / n_neg) / n_neg
    of_field = ((u * c**2).sum() / n_rows - ((u * c).sum() / n_rows) ** 2) / n_rows
    variance = (a * of_pos**2).sum() + (n * of_neg**2).sum() + of_field
    return of_pos, of_neg, variance


def correlate_rates(tables: Tables, level: int, eta: float) -> tuple[float, float]:
    """Return the correlations of the errors of recall and of fpr, at a level, with that of eta."""
    of_pos, of_neg, variance = find_slopes(tables, eta)
    found = []
    for counts, slope in ((tables.a, of_pos), (tables.n, of_neg)):
        size, k = counts.sum(), counts[: level + 1].sum()
        near = (k + 0.5) / (size + 1)
        flagged = (np.arange(len(counts)) <= level) - k / size
        shared = (counts * flagged * slope).sum() / size
        found.append(shared / math.sqrt(near * (1 - near) / size * variance))
    return found[0], found[1]


@st.composite
def three_tables(draw: st.DrawFn) -> Tables:
    """Draw classes that five scores tell apart, of 50 or more examples each: each score is a level."""
    better = sorted(draw(st.lists(st.integers(10, 60), min_size=5, max_size=5)), reverse=True)
    worse = sorted(draw(st.lists(st.integers(11, 300), min_size=5, max_size=5)))
    eta = draw(st.floats(0.02, 0.9))
    a, n = np.array(better, dtype=float), np.array(worse, dtype=float)
    assume(abs(a / a.sum() - n / n.sum()).max() > 0.05)
    mixed = eta * a / a.sum() + (1 - eta) * n / n.sum()
    noise = np.array(draw(st.lists(st.integers(-20, 20), min_size=5, max_size=5)))
    return Tables(a, n, np.maximum(np.round(draw(st.integers(500, 20_000)) * mixed) + noise, 1))


# Point metrics --------------------------------------------------------------------------------


@examples(40)
@given(three_tables())
def test_bands_have_both_correlations_under_the_root(tables: Tables) -> None:
    names = [metrics.f_beta(2) if name == "f_beta(2)" else name for name in RISING]
    shared, apart = tables.ask(
        "operating_points", threshold=tables.score, metrics=names, confidence=LEVEL
    )
    assert_frame_equal(shared.select("eta", *RISING), apart.select("eta", *RISING))
    for level, row in enumerate(shared.to_dicts()):
        eta = row["eta"]
        if not 1e-9 < eta < 1 - 1e-9:
            continue
        r_recall, r_fpr = correlate_rates(tables, level, eta)
        for name, metric in zip(RISING, names, strict=True):
            value = getattr(metrics, metric) if isinstance(metric, str) else metric
            low, high = widen(tables, level, value, row, (r_recall, r_fpr))
            assert row[f"{name}_low"] == pytest.approx(min(low, row[name]), rel=1e-9, abs=1e-12)
            assert row[f"{name}_high"] == pytest.approx(max(high, row[name]), rel=1e-9, abs=1e-12)


def widen(
    tables: Tables, level: int, metric: Any, row: Any, shared: tuple[float, float]
) -> tuple[float, float]:
    """Return the band of a metric that rises with recall and eta and falls with fpr."""
    (k, n_pos), (j, n_neg) = ((int(x[: level + 1].sum()), int(x.sum())) for x in (tables.a, tables.n))
    t, f, eta = k / n_pos, j / n_neg, row["eta"]
    ts, fs = rate_interval(k, n_pos, LEVEL), rate_interval(j, n_neg, LEVEL)
    ts = ts[0], oracle_errors.raise_end_of_recall(k, n_pos, ts[1], LEVEL)
    etas = row["eta_low"] or row["eta_high"] * 2.0**-69, min(row["eta_high"], 1 - 2.0**-53)
    middle = scale(float(metric(t, f, eta)), metric.range)
    assert math.isfinite(middle)
    ends = []
    for sign, side in ((-1, 0), (1, 1)):
        moved = (metric(ts[side], f, eta), metric(t, fs[1 - side], eta), metric(t, f, etas[side]))
        of_t, of_f, of_eta = (abs(scale(float(x), metric.range) - middle) for x in moved)
        square = of_t**2 + of_f**2 + of_eta**2
        square += 0.0 if math.isinf(of_eta) else 2 * of_eta * (shared[0] * of_t - shared[1] * of_f)
        end = unscale(middle + sign * math.sqrt(max(square, 0.0)), metric.range)
        # Where eta may be 1, a metric is at its bound, infinitely far.
        ends.append(float(metric(1, 0, 1)) if math.isinf(of_eta) else end)
    return ends[0], ends[1]


def test_intervals_are_wider_than_with_another_table() -> None:
    """An fpr that is too high by chance lowers precision, and eta, and so precision again."""
    tables = Tables([40, 30, 15, 10, 5], [10, 40, 150, 300, 500], [400, 900, 3_000, 6_000, 9_700])
    shared, apart = tables.ask("operating_points", threshold=5.0, confidence=LEVEL)
    ends = [(table["precision_low"][0], table["precision_high"][0]) for table in (shared, apart)]
    assert ends[0][0] < ends[1][0] < ends[1][1] < ends[0][1]


def test_rates_and_what_does_not_depend_on_eta_stay() -> None:
    tables = Tables([40, 30, 15, 10, 5], [10, 40, 150, 300, 500], [400, 900, 3_000, 6_000, 9_700])
    names = ["recall", "fpr", "balanced_accuracy", "informedness"]
    asked: Any = {"threshold": tables.score, "metrics": names, "confidence": LEVEL}
    shared, apart = tables.ask("operating_points", **asked)
    shown = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    assert_frame_equal(shared.select(shown), apart.select(shown), check_exact=True)


# Areas ----------------------------------------------------------------------------------------


@examples(15)
@given(three_tables())
def test_average_precision_has_the_correlation_of_its_influences(tables: Tables) -> None:
    shared, apart = tables.ask("summary", metrics="average_precision", confidence=LEVEL)
    row, other = shared.to_dicts()[0], apart.to_dicts()[0]
    assert (row["eta"], row["value"]) == (other["eta"], other["value"])
    eta = row["eta"]
    if not 1e-6 < eta < 1 - 1e-6:
        return
    test = tables.build_test().prc(counts=("n_pos", "n_neg"))
    exact = test.summary(eta, metrics="average_precision", confidence=LEVEL, columns="all").to_dicts()[0]
    ends = [
        test.summary(
            row[f"eta_{end}"] or row["eta_high"] * 2.0**-69, metrics="average_precision", columns="all"
        )
        for end in ("low", "high")
    ]
    low, high = (scale(end["value"][0], (0, 1)) for end in ends)
    correlation = correlate_area(tables, eta)
    middle = scale(row["value"], (0, 1))
    for end, of_eta in (("low", middle - low), ("high", high - middle)):
        of_sample = abs(scale(exact[end], (0, 1)) - middle)
        square = of_sample**2 + of_eta**2 + 2 * correlation * of_sample * of_eta
        found = abs(scale(row[end], (0, 1)) - middle)
        assert found == pytest.approx(math.sqrt(max(square, 0.0)), rel=1e-6)


def correlate_area(tables: Tables, eta: float) -> float:
    """Return the correlation of the errors of average precision and of eta, from influences."""
    rows = list(zip(tables.score, tables.a, tables.n, strict=True))
    group = oracle.Group(
        {},
        [(s, Fraction(int(a)), Fraction(0)) for s, a, _ in rows]
        + [(s, Fraction(0), Fraction(int(n))) for s, _, n in rows],
    )
    found = oracle_errors.influences("average_precision", group, Fraction(eta))
    listed = oracle_errors.list_rows(group)
    of_pos, of_neg, variance = find_slopes(tables, eta)
    slopes = dict(zip(tables.score, zip(of_pos, of_neg, strict=True), strict=True))
    shared = own = 0.0
    for row, influence in zip(listed, found, strict=True):
        is_neg, mass = row.neg > 0, float(row.pos + row.neg)
        size = float(group.n_neg if is_neg else group.n_pos)
        shared += mass * float(influence) * slopes[row.score][is_neg] / size
        own += mass * float(influence) ** 2 / size**2
    return shared / math.sqrt(own * variance)


# Who may ask ----------------------------------------------------------------------------------


def draw_markets() -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(5)
    label = np.arange(900) % 9 == 0
    test = pl.DataFrame(
        {
            "market": ["b", "a"] * 450,
            "score": rng.normal(size=900) + 2 * label,
            "label": label,
            "model": ["x", "x", "y"] * 300,
        }
    )
    hidden = rng.random(4_000) < np.repeat([0.05, 0.3], 2_000)
    field = pl.DataFrame(
        {"market": np.repeat(["a", "b"], 2_000), "score": rng.normal(size=4_000) + 2 * hidden}
    )
    return test, field


METHODS = {
    "curve": {"thresholds": 5},
    "summary": {"metrics": ["average_precision", "roc_auc"]},
    "operating_points": {"threshold": [1.0, 2.0]},
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("confidence", "method"), pair_each([None, LEVEL], METHODS))
def test_each_group_is_estimated_with_its_own_rows(method: str, confidence: float | None) -> None:
    test, field = draw_markets()
    asked: Any = METHODS[method] | {"confidence": confidence}
    together = getattr(test.prc(by="market"), method)(field.prc(label=None), **asked)
    assert together["market"].unique(maintain_order=True).to_list() == ["a", "b"]
    for name, found in together.group_by("market", maintain_order=True):
        own, month = (table.filter(market=name[0]) for table in (test, field))
        alone = getattr(own.prc, method)(month.prc(label=None), **asked)
        # NumPy 1 rounds the functions of an array by its length, and so the ends of eta.
        assert_frame_equal(found.drop("market"), alone, check_exact=False, rel_tol=1e-12)


def test_values_are_those_at_the_estimate() -> None:
    test, field = draw_markets()
    bound, month = test.prc(by="market"), field.prc(label=None)
    estimates = field.prc(label=None, by="market").estimate_prevalence(reference=bound)
    assert_frame_equal(
        bound.curve(month), bound.curve(estimates.select("market", "eta")), check_exact=True
    )


def test_an_interval_of_eta_stands_in_the_result() -> None:
    test, field = draw_markets()
    found = test.prc.operating_points(
        field.prc(label=None), threshold=1.0, confidence=LEVEL, columns="all"
    )
    estimate = field.prc(label=None).estimate_prevalence(reference=test, confidence=LEVEL)
    assert_frame_equal(found.select(ETA_COLUMNS), estimate.select(ETA_COLUMNS), check_exact=True)


def test_words_of_the_field_hold_before_those_of_the_table() -> None:
    test, field = draw_markets()
    named = field.rename({"score": "p"})
    found = test.prc.curve(named.prc(score="p", label=None))
    assert_frame_equal(found, test.prc.curve(field.prc(label=None)))
    wide = test.rename({"score": "p"}).prc(score="p")
    assert_frame_equal(wide.curve(named.prc(label=None)), found.rename({}), check_exact=True)


def test_a_refuted_estimate_warns_once_at_the_line_that_asks() -> None:
    test, _ = draw_markets()
    odd = pl.DataFrame({"score": np.r_[np.full(2_000, 9.0), np.full(2_000, 1.0)]})
    estimate = odd.prc(label=None).estimate_prevalence(reference=test)
    for eta in (odd.prc(label=None), estimate):
        with pytest.warns(PrcWarning, match="worthless") as caught:
            test.prc.summary(eta, columns="all")
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        test.prc.summary(estimate.drop("shift_p_value"), columns="all")


@pytest.mark.quick_cases(2)
@pytest.mark.filterwarnings("ignore::polars_prcurve.PrcWarning")
@pytest.mark.parametrize(
    ("method", "asked", "columns"),
    [
        ("summary", {"score": "score"}, "short"),
        ("operating_points", {"score": "score", "recall": 0.5}, "all"),
        ("operating_points", {"score": "score", "threshold": 1.0, "long": True}, "short"),
        ("compare", {"score": ["score", "other"]}, "all"),
        ("ranking", {"score": ["score", "other"]}, "short"),
    ],
)
def test_all_intervals_at_a_refuted_estimate_are_in_doubt(
    method: str, asked: dict[str, Any], columns: str
) -> None:
    """Those of groups whose estimate holds are not, and no warning has to be read."""
    test, field = draw_markets()
    test = test.with_columns(
        other=pl.col("score") + pl.Series(np.random.default_rng(4).normal(size=len(test)))
    )
    odd = field.with_columns(score=pl.when(market="b").then(3 * pl.col("score")).otherwise("score"))
    unlabelled = odd.prc(score="score", by="market", label=None)
    estimates = unlabelled.estimate_prevalence(reference=test.prc(by="market"), confidence=LEVEL)
    assert (estimates["shift_p_value"] < 0.01).to_list() == [False, True]
    ask = getattr(test.prc(by="market"), method)
    etas = [estimates, estimates.lazy()] + [unlabelled] * (len(asked["score"]) > 2)
    for eta in etas:
        found = ask(eta, confidence=LEVEL, columns=columns, **asked)
        is_refuted = pl.col("doubt").eq_missing("more than prevalence changed")
        assert dict(found.select("market", is_refuted).rows()) == {"a": False, "b": True}, found


REFUSED: dict[str, tuple[Any, str]] = {
    "labels": (lambda t, f: t.prc.curve(t.prc(label="label")), "pass a table without labels as eta="),
    "lazy": (lambda t, f: t.lazy().prc.curve(f.prc(label=None)), "needs a DataFrame"),
    "no group": (
        lambda t, f: t.prc(by="market").curve(f.filter(market="a").prc(label=None)),
        "market",
    ),
    "one class": (
        lambda t, f: t.filter("label").prc.curve(f.prc(label=None)),
        "there are no negatives",
    ),
    "a list": (lambda t, f: t.prc.curve([f.prc(label=None)]), "eta="),
    "compare": (
        lambda t, f: t.prc.ranking(f.prc(label=None), columns="all"),
        "has no formula for an eta that is",
    ),
    "weights": (
        lambda t, f: t.with_columns(w=1.0).prc.curve(f.prc(label=None), weight="w"),
        "leave out weights",
    ),
    "bootstrap": (
        lambda t, f: t.prc.summary(
            f.prc(label=None), confidence=intervals(0.95, method="bootstrap", seed=1), columns="all"
        ),
        "only the default intervals allow for",
    ),
    "dtype": (
        lambda t, f: t.prc.curve(f.cast({"score": pl.Float32}).prc(label=None)),
        "cast both scores to one dtype",
    ),
    "groups of the table alone": (
        lambda t, f: t.prc(by="market").curve(f.prc(label=None, by=None)),
        "the evaluated table is grouped by 'market', and the rows without labels are not",
    ),
    "groups of the reference alone": (
        lambda t, f: f.prc.estimate_prevalence(reference=t.prc(by="market")),
        "the reference= table is grouped by 'market', and the rows without labels are not",
    ),
    "groups of another dtype": (
        lambda t, f: t.prc(by="market").curve(f.cast({"market": pl.Categorical}).prc(label=None)),
        "'market' to one dtype: it is String in the evaluated table and Categorical",
    ),
    "NaN": (
        lambda t, f: t.prc.curve(f.with_columns(score=math.nan).prc(label=None)),
        "is NaN in 4000 row",
    ),
    "not there": (
        lambda t, f: t.prc.curve(f.prc(score="missing", label=None)),
        "missing",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    call, says = REFUSED[case]
    with pytest.raises(PrcError, match=says):
        call(*draw_markets())


def test_a_function_asks_as_the_namespace_does() -> None:
    test, field = draw_markets()
    assert_frame_equal(prc(test).curve(prc(field, label=None)), test.prc.curve(field.prc(label=None)))
