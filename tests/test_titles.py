"""What charts say: no title claims what no test settled, numbers have few digits, names stay names."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from polars_prcurve import charts, eta_grid, prc
from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.visible_names import make_visible
from polars_prcurve.view.charts.model_difference import IntervalRow
from polars_prcurve.view.charts.model_difference import _say_row as say_difference
from polars_prcurve.view.charts.net_benefit import _say_benefit as say_benefit
from polars_prcurve.view.charts.parts.active_theme import measure_text
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis
from polars_prcurve.view.charts.parts.colors_and_sizes import COLORS
from polars_prcurve.view.charts.parts.panel_in_pixels import LabelSpace
from polars_prcurve.view.charts.parts.title_phrases import find_wilson_limits
from polars_prcurve.view.charts.period_series import _say_period as say_period
from polars_prcurve.view.charts.pr import _say_row as read_precision
from polars_prcurve.view.report.result_text import show_number
from polars_prcurve.view.verdicts.value_phrases import (
    format_ends,
    format_estimate,
    write_value,
)
from polars_prcurve.view.words.number_words import (
    count_of_100,
    join_value,
    say_count,
    say_estimate,
    say_eta,
    say_etas,
    say_precisions,
    say_share,
    say_shares,
    say_signed,
    say_threshold,
)
from polars_prcurve.view.words.shown_names import isolate_name
from polars_prcurve.view.words.wrapped_text import count_letters, wrap_words
from tests.support.arguments import PLOTS
from tests.support.chart_specs import (
    UNSEEN,
    all_records,
    heading,
    labels,
    names,
    plain,
    png,
    records,
    subtitle,
    walk_texts,
)
from tests.support.drawings import draw_scores

pytestmark = pytest.mark.extras
pytest.importorskip("vl_convert")

CLAIMS = re.compile(r"\b(better|best|leads?|first|ahead|wins?|winner|beats?|worst|worse|surely)\b", re.I)
NEUTRAL = "What acting on the model is worth, by risk"  # of acting and not acting
MODELS = {"model": "model", "id": "row"}
ETAS = [0.2, 0.01]


def make_models(
    steps: dict[str, float], *, pos: int = 200, neg: int = 800, seed: int = 0
) -> pl.DataFrame:
    """Return posteriors of models of one test set, whose positives are so many deviations higher."""
    random = np.random.default_rng(seed)
    label = np.arange(pos + neg) < pos
    shared = random.normal(size=pos + neg)
    wide = {"label": label}
    for name, step in steps.items():
        score = step * label + 0.6 * shared + 0.8 * random.normal(size=pos + neg)
        wide[name] = 1 / (1 + neg / pos * np.exp(step * step / 2 - max(step, 0.1) * score))
    return pl.DataFrame(wide).prc.unpivot_scores([*steps], name="model", row="row")


TABLES = {
    "clear": make_models({"sharp": 3.0, "dull": 0.8}),
    "alike": make_models({"one": 1.5, "two": 1.5}),
    "few": make_models({"sharp": 3.0, "dull": 0.8}, pos=14, neg=357),
    "perfect": make_models({"perfect": 9.0, "coin": 0.0}),
    "six": make_models({f"model {k}": 0.4 * k for k in range(6)}),
    "nine": make_models({str(k): 1.0 + 0.2 * k for k in range(9)}),
    "scripts": make_models(
        {"Gradient boosting of 2024": 2, "مصنف عشوائي (عملة)": 0, "ナイーブベイズ": 1}
    ),
}
WORDS = {
    **{name: {"eta": ETAS} for name in ("pr_curve", "prg_curve", "threshold_curve", "gain_curve")},
    "alerts": {"eta": ETAS[:1], "recall": 0.5, "confidence": None},
    "decision_curve": {"eta": 0.1, "eta_train": 0.2},
    "reliability": {"confidence": None},
    "monitor": {"time": pl.col("row") % 5, "reference": 0.5, "threshold": 0.5},
    "p3_curve": {"eta": ETAS, "recall": 0.5},
    **{name: {"eta": eta_grid(0.001, 0.5, 5)} for name in ("ranking", "metric_by_eta")},
    "roc_curve": {},
    "scores": {},
}


ONE_ETA = ("pr_curve", "prg_curve", "threshold_curve", "gain_curve", "alerts")


def draw(chart: str, table: pl.DataFrame, **more):
    return getattr(prc(table, **MODELS).plot, chart)(**WORDS[chart], **more)


def test_the_walk_knows_every_chart():
    assert set(WORDS) | {"difference"} == set(PLOTS), "add the new chart to WORDS"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("chart", WORDS)
def test_without_confidence_no_title_names_a_model_as_better(chart, table):
    drawn = draw(chart, TABLES[table])
    said = heading(drawn)
    assert said
    if chart in ("roc_curve", "scores"):  # of one prevalence: models are tested at 50% recall
        said = re.sub(", (no clear winner[^:]*|.* is be(tter|st)): ", ", ", said)
    assert said == NEUTRAL or not CLAIMS.search(said), said
    sentences = re.sub(r"Difference in precision at .*? worse\. ", "", subtitle(drawn))  # as tested
    assert not CLAIMS.search(sentences.partition(". ")[2]) or chart in (
        "ranking",
        "decision_curve",
        "gain_curve",
        "prg_curve",
    ), "nor does any sentence below, but where a word says how to read the chart"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("chart", ["pr_curve", "p3_curve", "decision_curve"])
def test_intervals_alone_settle_no_lead(chart, table):
    if chart == "p3_curve":  # the method ranks the models; the table of points holds no test
        test = prc(TABLES[table], **MODELS)
        points = test.operating_points(ETAS, recall=0.5, confidence=0.95, columns="all")
        said = heading(charts.p3_curve(points, confidence=0.95))
    else:
        said = heading(draw(chart, TABLES[table], confidence=0.95))
    assert said == NEUTRAL or not CLAIMS.search(said), said


@pytest.mark.parametrize("seed", range(6))
def test_a_ranking_names_as_first_who_is_first_for_sure(seed):
    steps = dict(zip("abc", np.random.default_rng(seed).uniform(0.5, 2.0, 3).tolist(), strict=True))
    table = make_models(steps, pos=60, neg=600, seed=seed)
    test, etas = prc(table, **MODELS), eta_grid(0.001, 0.5, 6)
    said = heading(test.plot.ranking(etas, confidence=0.95))
    sure = test.ranking(etas, confidence=0.95, columns="all").filter(
        pl.col("rank") == 1, pl.col("behind_high") < 0
    )
    named = set(re.findall(r"(?<! or )\b([abc]) is best|, ([abc]) (?:from|up|at)", said))
    named = {name for pair in named for name in pair if name}
    assert named <= set(sure["model"])
    if "every share" in said:
        assert len(sure) == len(etas)
    if "no clear winner" in said and not named:
        assert sure.is_empty()


@pytest.mark.parametrize("table", ["clear", "alike", "few", "six"])
def test_metrics_by_prevalence_name_as_best_whom_the_ranking_names(table):
    test, etas = prc(TABLES[table], **MODELS), eta_grid(0.001, 0.5, 6)
    chart = test.plot.metric_by_eta(etas, confidence=0.95)
    sentences = [
        re.split(r"; (?:it|either|any|\d)", heading(drawn))[0]
        for drawn in (chart, test.plot.ranking(etas, confidence=0.95))
    ]
    assert sentences[0] == sentences[1]
    strip = records(chart, "first")
    ends = [(row["eta"], row["to"]) for row in strip]
    assert [ends[0][0], ends[-1][1]] == pytest.approx([etas[0], etas[-1]], rel=1e-5)
    assert all(high == low for (_, high), (low, _) in pairwise(ends)), "the strip has no gap"
    assert all(row["color"] in heading(chart) for row in strip if "color" in row)


def test_charts_of_an_undecided_test_have_titles_of_their_own():
    test, etas = prc(TABLES["alike"], **MODELS), eta_grid(0.001, 0.5, 6)
    names = [*dict.fromkeys(TABLES["alike"]["model"])]
    said = [
        heading(drawn)
        for drawn in (
            test.plot.difference(etas),
            test.plot.ranking(etas, confidence=0.95),
            test.plot.metric_by_eta(etas, confidence=0.95),
        )
    ]
    starts, _, ends = zip(*(sentence.partition("; ") for sentence in said), strict=True)
    assert len({*starts}) == 1
    assert starts[0].startswith("By average precision, no clear winner between ")
    assert ends[:2] == (
        "the interval of their difference includes 0 at all prevalences shown",
        "",
    )
    assert re.fullmatch(r"it is \d+% for \w+ and \d+% for \w+ at a prevalence of .*", ends[2])
    assert all(name in ends[2] for name in names)


@pytest.mark.parametrize("table", ["clear", "alike", "few", "perfect", "six"])
def test_what_is_not_known_well_is_dotted_whether_or_not_intervals_are_asked(table):
    test, etas = prc(TABLES[table], **MODELS), eta_grid(0.0001, 0.5, 9)
    bare, banded = (test.plot.metric_by_eta(etas, confidence=level) for level in (None, 0.95))
    dotted = [[(r["color"], r["eta"], "doubt" in r) for r in records(chart)] for chart in (bare, banded)]
    assert dotted[0] == dotted[1]
    assert not any("low" in row for row in all_records(bare))
    summary = test(model=None).summary(etas, by="model", metrics="average_precision", confidence=0.95)
    wide = summary.filter(pl.col("high") > 2 * pl.col("low"), pl.col("n_pos") >= 20)
    names_of_wide = {(model, float(f"{eta:.6g}")) for model, eta in wide.select("model", "eta").rows()}
    assert names_of_wide <= {(model, eta) for model, eta, is_dotted in dotted[0] if is_dotted}
    assert ("not known to within a factor of 2" in subtitle(bare)) == bool(
        len(summary.filter(pl.col("high") > 2 * pl.col("low")))
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_difference_names_as_better_who_is_better_for_sure(seed):
    steps = dict(zip("ab", np.random.default_rng(seed).uniform(0.8, 1.6, 2).tolist(), strict=True))
    test = prc(make_models(steps, pos=60, neg=600, seed=seed), **MODELS)
    etas = eta_grid(0.001, 0.5, 6)
    said = heading(test.plot.difference(etas))
    sure = test.compare(etas, metrics="average_precision", columns="all").filter("significant")
    better = {"a" if d > 0 else "b" for d in sure["difference"]}
    named = set(re.findall(r"\b([ab]) is better", said))
    assert named <= better
    assert ("every share" in said) == (len(sure) == len(etas) and len(better) == 1)
    assert ("no clear winner between" in said) == sure.is_empty()


def test_titles_with_few_positives_say_how_little_they_tell():
    high = 0.5 + 1.96 / 2 / math.sqrt(14 + 1.96**2)  # Wilson 1927
    low, _ = find_wilson_limits(6.5 / 14, 14)  # a threshold was chosen, at a positive
    for chart in sorted(set(WORDS) - {"monitor", "reliability", "ranking", "decision_curve"}):
        said = heading(draw(chart, TABLES["few"]))
        assert said.startswith("With 14 positives, "), f"{chart}: {said}"
        shares = [float(share) / 100 for share in re.findall(r"([\d.]+)%", said)]
        assert shares in ([], pytest.approx([0.5, low, high], abs=0.006)), said


@pytest.mark.parametrize("table", [*TABLES, "twelve"])
@pytest.mark.parametrize("chart", WORDS)
def test_no_title_is_silent_or_counts_what_is_drawn(chart, table):
    twelve = pl.concat(
        TABLES["alike"]
        .filter(pl.col("model") == "one", pl.col("row") % 12 >= k % 3)
        .with_columns(model=pl.lit(f"city {k}"), score=pl.col("score") ** (1 + k / 12))
        for k in range(12)
    )
    words = {name: value for name, value in WORDS[chart].items() if name != "eta"}
    words |= {"eta": 0.2} if chart in ONE_ETA else {"confidence": 0.95} if chart == "reliability" else {}
    if chart == "decision_curve":
        words = WORDS[chart]
    rows = twelve if table == "twelve" else TABLES[table]
    said = heading(getattr(prc(rows, **MODELS).plot, chart)(**words))
    silent = "Recall by|Metrics by|Precision gain and|Average precision by|Ranking by"
    silent += "|Precision by|True positives among|Observed share"
    assert not re.match(rf"({silent})", said), said
    assert not re.search(r"\d+ of (the )?\d+ (panels|ranges|prevalences|shares|points)", said)
    assert not re.search(r"\d%? \([A-Za-z]", said), "no lists in brackets"
    dotted = draw("roc_curve", TABLES["few"])
    assert all(row.get("doubt") for row in records(dotted)), "10 positives are drawn with doubt"
    assert "or 20 positives" in subtitle(dotted)


# Digits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("eta", "words"),
    [
        *((1 / 79.9, "1 in 80"), (1 / 9.52, "11%"), (0.008, "1 in 125"), (1 / 1_234, "1 in 1,200")),
        *(
            (1e-6, "1 in 1,000,000"),
            (0.5, "50%"),
            (0.08, "8%"),
            (0.035, "3.5%"),
            (0.7, "70%"),
            (0.0, "0%"),
            (1.0, "100%"),
        ),
        *((1 / 250, "1 in 250"), (14 / 371, "1 in 27"), (1 / 345.2, "1 in 350"), (1 / 143, "1 in 143")),
        *((0.1, "1 in 10"), (0.05, "1 in 20"), (0.2, "20%")),
    ],
)
def test_prevalences_have_two_digits_or_are_exact(eta, words):
    assert plain(say_eta(eta)) == words


@pytest.mark.parametrize(
    ("etas", "words"),
    [
        ([0.5, 0.01], ["1 in 2", "1 in 100"]),
        ([0.5, 0.2], ["50%", "20%"]),
        ([0.57, 0.15, 0.015], ["57%", "15%", "1.5%"]),
        ([0.0278, 0.1], ["1 in 36", "1 in 10"]),
        ([0.3, 0.01], ["30%", "1%"]),
        ([0.048, 0.04, 0.056], ["4.8%", "4%", "5.6%"]),
        ([0.7, 1e-9], ["70%", "0.0000001%"]),
        ([1 / 200, 1 / 45_000], ["1 in 200", "1 in 45,000"]),
    ],
)
def test_prevalences_of_one_comparison_have_one_unit(etas, words):
    assert [plain(text) for text in say_etas(etas)] == words


def test_shares_and_counts_have_two_digits():
    assert [plain(say_share(x)) for x in (1 / 2_583, 0.0371, 0.9997)] == [
        "1 in 2,600",
        "3.7%",
        "99.97%",
    ]
    assert [plain(say_count(x, 2)) for x in (13_361.8, 7.234, 0.0123)] == ["13,000", "7.2", "0.012"]
    assert [count_of_100(x) for x in (0, 0.004, 0.985, 0.9996, 1)] == [0, 0, 99, 99, 100]


@pytest.mark.parametrize(
    ("threshold", "others", "words"),
    [
        (0.426835, [0.41], "0.42"),
        (0.426835, [0.4267], "0.4268"),
        (0.9999999997, [0.9999999995], "0.9999999997"),
        (3e-9, [], "0.000000003"),
        (1.04, [0.7], "1.04"),
        (-2.345, [-3.0], "\u22122.4"),
        (12_345.5, [12_344.0], "12345"),
        (0.5, [0.25], "0.5"),
        (0.426835, None, "0.426835"),
        (7, [6], "7"),
        (True, [False], "true"),
        (None, [], ""),
    ],
)
def test_thresholds_have_the_digits_that_tell_them_apart(threshold, others, words):
    assert say_threshold(threshold, others) == words


def test_a_threshold_as_said_flags_the_same_cases():
    random = np.random.default_rng(1)
    for scale in (1e-6, 1.0, 1e4):
        scores = sorted(set((random.normal(size=300) * scale).tolist()))
        for lower, score in pairwise(scores):
            said = float(say_threshold(score, [lower]).replace("\u2212", "-"))
            assert lower < said <= score
            assert said not in (0.0, 1.0)


def test_rules_of_thresholds_stand_at_their_scores_with_their_words():
    table = make_models({"a": 2.0, "b": 1.0}, neg=4_000)
    test = prc(table, by="model")
    points = test.operating_points(0.1, recall=0.5, columns="all")
    chart = test.plot.threshold_curve(0.1)
    rules = {row["color"]: row for row in records(chart, "threshold")}
    odds = {m: math.log(t / (1 - t)) for m, t in points.select("model", "threshold").rows()}
    assert {m: row["x"] for m, row in rules.items()} == pytest.approx(odds, rel=1e-5), "log odds"
    for model, row in rules.items():
        own = table.filter(pl.col("model") == model)
        threshold = points.filter(pl.col("model") == model)["threshold"].item()
        flagged = (own["score"] >= float(row["said"])).sum()
        assert flagged == (own["score"] >= threshold).sum(), "what is said flags the same cases"
        assert row["said"] in [r.get("text") for r in all_records(chart)], "over the rule"
    layers = [one["layer"] for one in chart.to_dict()["vconcat"]]
    for each in layers:
        marks = [one for one in each if "threshold" in json.dumps(one.get("transform", []))]
        assert {one["mark"]["type"] for one in marks} == {"rule"}, "a rule runs through each chart"
    assert "Scores are on an axis of log odds" in subtitle(chart)
    apart = test.plot.threshold_curve([0.1, 0.0001]).to_dict()["vconcat"][0]["concat"]
    kinds = [each["vconcat"][0]["layer"][-1]["encoding"] for each in apart]
    assert len(kinds) == 2, "prevalences that need other axes have a column each"
    log = [json.dumps(each["vconcat"][0]).count('"type": "log"') > 0 for each in apart]
    assert log == [False, True]


@pytest.mark.parametrize(
    ("target", "opening"),
    [
        ({"threshold": 0.2}, "At threshold 0.2, "),
        ({"precision": 0.5}, "At the threshold for 50% precision, "),
    ],
)
def test_titles_of_scores_say_what_their_thresholds_are_for(target, opening):
    test = prc(make_models({"a": 2.0, "b": 1.0}).filter(pl.col("model") == "a"))
    points = test.operating_points(0.3, **target, columns="all")
    assert heading(test.plot.scores(points=points)).startswith(opening)


def test_axes_of_metrics_end_where_the_negatives_end():
    test = prc(TABLES["few"], **MODELS)
    for chart in (test.plot.metric_by_eta(), test.plot.p3_curve(recall=0.5)):
        assert min(row["eta"] for row in records(chart)) == 0.001, "357 negatives"
    asked = test.plot.metric_by_eta([1e-6, 0.1])
    assert min(row["eta"] for row in records(asked)) == 1e-6, "but not where the user asks"


@pytest.mark.parametrize("size", [0.0, 1e-17, 4e-5, 0.004, 0.2])
def test_nothing_that_reads_as_0_has_a_sign(size):
    for value in (size, -size):
        low, high = -0.3 * size, 0.25
        row = IntervalRow("a over b", 0.2, value, high, is_settled=False)
        texts = [row.say(), IntervalRow("", value, low, high, is_settled=False).say()]
        texts += [say_signed(value, "{:.1f}".format), *say_benefit({"net_benefit": value}, 1_000)]
        told = {"difference": value, "low": low, "high": high, "significant": False, "eta": 0.1}
        texts.append(say_difference(told)[1])
        for text in texts:
            assert not re.search(r"[-+\u2212]0(\.0+)?(?![.\d])", text), text
            assert "-" not in text, "a minus is no hyphen"
    assert IntervalRow("", 0.12, 0.003, 0.2, is_settled=True).say() == "12 (0.30 to 20)"
    assert show_number(-0.0, 2) == "0.00"


def test_charts_and_documents_write_an_interval_in_the_same_digits():
    rng = np.random.default_rng(7)
    for _ in range(2_000):
        value = float(rng.beta(*rng.choice([0.3, 1.0, 30.0], 2)))
        low, high = value * rng.random() ** 0.2, value + (1 - value) * rng.random() ** 5
        estimate = Estimate(value, low, high)
        texts = write_value("precision", estimate)
        assert join_value(*say_estimate(value, low, high)) == texts
        ends = format_ends("precision", estimate)
        assert texts == f"{format_estimate('precision', estimate)[0]} ({ends[0][:-1]} to {ends[1][:-1]})"
        row = {"precision": value, "low": low, "high": high, "at": 0.5}
        assert read_precision(("precision", "low", "high"), row)[1] == texts
        row = {"overall": value, "overall_low": low, "overall_high": high, "value": None}
        assert say_period(row | {"alarm": False, "time": 1})[1] == f"all so far {texts}"
        benefit = {"net_benefit": value, "net_benefit_low": low, "net_benefit_high": high}
        points = texts.replace("%", "")
        if low > 0.01 and high < 0.9:  # a share that is not 100% does not read so, which a count may
            assert join_value(*say_benefit(benefit, 100)) == points
            assert IntervalRow("", value, low, high, is_settled=True).say() == points
        alone = say_estimate(value, None, None)[0]
        assert write_value("precision", Estimate(value, None, None)) == alone
        assert say_share(value) == alone or value < 0.001


# Names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chart", WORDS)
def test_names_from_right_to_left_are_isolated(chart):
    table = TABLES["scripts"]
    drawn = draw(chart, table)
    texts = [text for text in walk_texts(drawn.to_dict()) if "مصنف" in text]
    assert texts
    for text in texts:
        inside = re.sub("\u2068[^\u2068\u2069]*\u2069", "", text)
        assert "مصنف" not in inside, "every such name is inside isolates"
    assert png(drawn)


@pytest.mark.parametrize("chart", WORDS)
def test_characters_that_turn_a_text_are_never_raw(chart):
    name = "evil \u202edrows\u2066 \u2069name"
    table = TABLES["clear"].with_columns(
        model=pl.when(pl.col("model") == "dull").then(pl.lit(name)).otherwise("model")
    )
    spec = draw(chart, table).to_dict()
    for text in walk_texts(spec):
        assert not UNSEEN.search(text)
        assert not re.search("[\u202a-\u202e\u2066\u2067]", text)


def test_isolates_and_widths():
    assert isolate_name("a\u2069b") == "ab"
    assert isolate_name("סיווג 1") == "\u2068סיווג 1\u2069"
    assert make_visible("a\u202eb\u2067") == "a\ufffdb\ufffd"
    assert measure_text("分類") > 1.7 * measure_text("ab")
    assert measure_text("\u2068ab\u2069") == measure_text("ab")


def test_numbers_as_names_come_with_their_column():
    random = np.random.default_rng(2)
    rows = [
        pl.DataFrame({"digit": [k] * 400, "score": random.normal(size=400), "label": [1, 0] * 200})
        for k in range(1, 10)
    ]
    table = pl.concat(rows)
    chart = table.prc.plot.pr_curve(0.1, by="digit")
    assert labels(chart, "facet") == [f"digit {k}" for k in range(1, 10)] or set(
        labels(chart, "facet")
    ) == {f"digit {k}" for k in range(1, 10)}
    as_text = table.with_columns(pl.col("digit").cast(pl.String))
    assert "digit 6" in labels(as_text.prc.plot.pr_curve(0.1, by="digit"), "facet")
    nine = prc(TABLES["nine"], **MODELS)
    shown = [plain(str(r.get("text"))) for r in all_records(nine.plot.ranking([0.1, 0.5]))]
    assert "1" in shown
    assert {f"model {k}" for k in range(9)} <= set(shown), "never `1 3`"
    words = json.dumps(draw("alerts", TABLES["nine"]).to_dict())
    assert '"model 3"' in words


def test_six_long_names_stand_at_their_lines_or_right_of_them():
    steps = {f"a model whose name is as long as a sentence, version {k}": 0.5 * k for k in range(6)}
    for chart in ("pr_curve", "roc_curve", "gain_curve", "metric_by_eta"):
        drawn = draw(chart, make_models(steps))
        assert len(names(drawn)) == 6
        assert '"legend": {' not in json.dumps(drawn.to_dict())
    ends = draw("metric_by_eta", make_models(steps))
    leaders = records(ends, "leader")
    assert leaders, "a thin line leads to a name that had to move"
    last = {row["color"]: row["value"] for row in records(ends) if row["eta"] == 0.5}
    for row in leaders[::2]:
        assert row["value"] == pytest.approx(last[row["color"]], abs=0.02)


def test_six_colours_differ_in_grey_print():
    def find_lightness(color: str) -> float:
        value = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
        y = float(linear @ [0.2126, 0.7152, 0.0722])
        return 116 * (y ** (1 / 3) if y > 0.008856 else 7.787 * y + 16 / 116) - 16

    light = sorted(map(find_lightness, COLORS[:6]))
    assert min(b - a for a, b in pairwise(light)) > 7


# Faults that were seen on tables of other kinds ---------------------------------------------------


@pytest.mark.parametrize("chart", ["ranking", "difference"])
def test_default_axes_of_pairs_end_where_the_negatives_end(chart):
    drawn = getattr(prc(TABLES["few"], **MODELS).plot, chart)()
    assert min(row["eta"] for row in records(drawn)) == pytest.approx(0.001), "357 negatives"


def test_rows_of_words_fit_are_alike_and_lose_no_letter():
    for text in (
        "New Zealand (1 in 16)",
        "a bb ccc dddd eeeee ffffff",
        "校正済みの画像分類モデル",
        "x" * 50,
    ):
        for letters in (12, 20, 31):
            rows = wrap_words(text, letters)
            assert "".join(rows).replace(" ", "") == text.replace(" ", "")
            assert max(map(count_letters, rows)) <= letters
    assert wrap_words("To find half of the positives, 2% of the alerts are right", 56) == [
        "To find half of the positives,",
        "2% of the alerts are right",
    ], "no word stands in a row of its own"
    assert wrap_words("", 20) == []


def test_log_axes_say_all_ticks_in_one_unit():
    axis = ChartAxis("x", "Precision", 2e-5, 1.0, "share", is_log=True)
    assert axis.said_as == "one in"
    assert all(math.isclose(math.log10(tick) % 1, 0, abs_tol=1e-9) for tick in axis.list_ticks(300, 30))
    assert replace(axis, low=0.002).said_as == "share"


def test_labels_of_many_points_have_two_digits_and_lie_on_nothing():
    steps = {f"model {k}": 0.3 * k for k in range(20)}
    test = prc(make_models(steps), by="model")
    chart = test.plot.threshold_curve(0.1, points=test.operating_points(0.1, recall=0.5, columns="all"))
    marks = records(chart, "mark")
    assert {plain(row["precision_label"]) for row in marks} == {
        plain(say_share(row["precision"])) for row in marks
    }
    space = LabelSpace(100, 100, [(0.0, -50.0, 150.0, 200.0)])
    assert space.place_beside_point((50, 50), "50%") is None


def test_points_of_a_roc_curve_tell_what_they_cost():
    test = prc(TABLES["clear"], **MODELS)
    points = prc(TABLES["clear"], by="model").operating_points(0.1, recall=0.5, columns="all")
    drawn = prc(TABLES["clear"], by="model").plot.roc_curve(points=points)
    said = {row["recall_label"] for row in records(drawn, "mark")}
    assert all(words.startswith("fpr ") for words in said)
    assert heading(test.plot.gain_curve(0.1)), "and other charts keep theirs"


def test_many_groups_at_prevalences_far_apart_share_columns():
    steps = {f"model {k}": 0.3 * k for k in range(12)}
    chart = prc(make_models(steps), by="model").plot.threshold_curve([0.1, 0.0001])
    assert len(chart.to_dict()["vconcat"][0]["concat"]) == 2


def test_lines_of_few_positives_are_dotted_in_gains_and_by_prevalence():
    for chart in ("gain_curve", "metric_by_eta"):
        drawn = draw(chart, TABLES["few"])
        assert all(row.get("doubt") for row in records(drawn)), chart
        assert "fewer than 20 positives" in subtitle(drawn), chart
    assert not any(row.get("doubt") for row in records(draw("gain_curve", TABLES["alike"])))


def test_a_metric_is_told_where_the_test_was_made():
    chart = prc(TABLES["clear"], **MODELS).plot.metric_by_eta()
    values = prc(TABLES["clear"], by="model").summary(0.2, metrics="average_precision", columns="all")[
        "value"
    ]
    said = [float(part) / 100 for part in re.findall(r"([\d.]+)% for", plain(heading(chart)))]
    assert sorted(said) == pytest.approx(sorted(values), abs=0.012)
    assert "at a prevalence of 20%" in plain(heading(chart))


def test_thin_lines_to_names_stay_in_the_panel_of_the_names():
    steps = {f"a model whose name is as long as a sentence, version {k}": 0.5 * k for k in range(6)}
    chart = prc(make_models(steps), **MODELS).plot.metric_by_eta(
        metrics=["roc_auc", "average_precision"]
    )
    leaders = records(chart, "leader")
    assert leaders
    assert {row["facet"] for row in leaders} == {row["facet"] for row in records(chart, "name")}


def test_names_of_a_ranking_take_rows_beside_their_places():
    long = {f"a model whose name is as long as a sentence, version {k}": 0.5 * k for k in range(4)}
    chart = prc(make_models(long), **MODELS).plot.ranking([0.1, 0.5])
    spec = json.dumps(chart.to_dict())
    words = [row["text"] for row in all_records(chart) if row.get("part", "").startswith("word")]
    assert {"1", "2", "3", "4"} <= set(words), "places are texts of their own"
    assert max(map(measure_text, words)) < 260
    assert "1\u20132" not in spec


def test_points_of_one_target_have_the_title():
    test = prc(make_models({"sharp": 1.6, "dull": 0.8}), **MODELS)
    for target, said in (
        (
            {"recall": 0.7},
            r"At 70% recall, sharp is better: precision is \d+% for sharp and \d+% for dull",
        ),
        ({"threshold": 0.2}, r"At threshold 0.2, precision is \d+% for sharp and \d+% for dull"),
        ({"precision": 0.5}, r"At 50% precision, recall is [\d.]+% for sharp and [\d.]+% for dull"),
    ):
        marked = test.operating_points(0.2, **target)
        assert "fpr" not in marked.columns, "how many false positives there are follows from precision"
        assert re.fullmatch(said, heading(test.plot.pr_curve(0.2, points=marked)))


def test_a_difference_at_one_prevalence_is_a_row_with_its_interval():
    for table, settled in (("clear", True), ("alike", False)):
        test = prc(TABLES[table], **MODELS)
        chart = test.plot.difference(0.01)
        [row] = records(chart, "interval")
        compared = test.compare(0.01, metrics="average_precision").row(0, named=True)
        low, high = sorted(np.sign(compared["difference"]) * compared[end] for end in ("low", "high"))
        assert (row["low"], row["high"]) == pytest.approx((low, high), rel=1e-5)
        assert row["difference"] == pytest.approx(abs(compared["difference"]), rel=1e-5)
        assert ("settled" in row) == settled
        assert "in percentage points, at a prevalence of 1 in 100. Lines: " in subtitle(chart)
        assert heading(chart).startswith(
            "Significantly better by average precision: "
            if settled
            else "By average precision, no clear winner between "
        )
        assert png(chart)


def test_differences_of_many_pairs_are_named_with_their_prevalence():
    chart = prc(TABLES["six"], **MODELS).plot.difference([0.03, 0.2])
    texts = [row["text"] for row in all_records(chart) if "text" in row]
    assert any(re.search(r" over .* · prevalence (3%|20%)$", text) for text in texts)
    assert re.match(r"\d+ of 30 differences in average precision are significant", heading(chart))
    has_open = any("settled" not in row for row in records(chart, "interval"))
    assert ("Dotted and hollow" in subtitle(chart)) == has_open, "of the rows that are shown"


def test_which_metrics_are_known_only_roughly():
    few = prc(make_models({"one": 1.0, "two": 1.5}, pos=14, neg=357), **MODELS)
    both = {"metrics": ["average_precision", "roc_auc"]}
    assert heading(few.plot.metric_by_eta(**both)) == (
        "With 14 positives, the metrics are known only roughly"
    )
    one = prc(TABLES["alike"].filter(model="one")).plot.metric_by_eta([0.0001, 0.001, 0.01], **both)
    assert heading(one) == "Average precision is known only roughly"
    table = pl.DataFrame({"tp": [45], "fp": [12], "fn": [5], "tn": [138]})
    table = table.prc(cells=("tp", "fp", "fn", "tn"))
    for metrics, said in {
        ("npv",): "Intervals may be too narrow: few positives",  # 99.95%, from 99.88% to 99.98%
        ("npv", "precision"): "Precision is known only roughly",  # 5.4%, from 3.2% to 8.9%
    }.items():
        chart = table.plot.metric_by_eta([0.005, 0.2], metrics=[*metrics], confidence=0.95)
        assert heading(chart) == said


def watch(*rights: int, name: str = "", n: int = 100) -> pl.DataFrame:
    """Return weeks of n alerts each, of which so many are true."""
    n_neg = [n - right for right in rights]
    weeks = pl.DataFrame({"week": range(1, len(rights) + 1), "n_pos": rights, "n_neg": n_neg})
    return weeks.with_columns(score=pl.lit(1.0), site=pl.lit(name))


def test_a_rate_that_is_back_is_not_said_to_be_below_the_reference():
    counts = {"counts": ("n_pos", "n_neg")}
    options = {"reference": 0.4, "threshold": 1.0}
    back, low = [40] * 10 + [20] * 8 + [70] * 20, [40] * 10 + [20] * 28
    chart = watch(*back).prc(**counts).plot.monitor("week", **options)
    assert heading(chart) == (
        "Precision was temporarily below the reference of 40%, probably from week 11 on; "
        "the mean since then is 56%"
    )
    lately = watch(*[40] * 10 + [20] * 20 + [42] * 8)
    assert heading(lately.prc(**counts).plot.monitor("week", **options)) == (
        "Precision fell, probably in week 11; its last 8 values are not below the reference"
    )
    both = pl.concat([watch(*back, name="back"), lately.with_columns(site=pl.lit("lately"))])
    assert heading(both.prc(by="site", **counts).plot.monitor("week", **options)) == (
        "Precision was temporarily below the reference for back, probably from week 11 on; "
        "it fell for lately, probably in week 11, and is back"
    )
    both = pl.concat([watch(*back, name="back"), watch(*low, name="low")])
    assert heading(both.prc(by="site", **counts).plot.monitor("week", **options)) == (
        "Precision was temporarily below the reference for back, probably from week 11 on; "
        "it has fallen for low, probably in week 11"
    )
    many = pl.concat([watch(*back, name=f"back {k}") for k in range(4)])
    chart = many.prc(by="site", **counts).plot.monitor("week", **options)
    assert heading(chart) == "Precision has fallen in 4 of 4 series, and is back in 4 of them"


def test_what_monitor_cannot_test_is_named():
    counts, calm = {"counts": ("n_pos", "n_neg")}, watch(50, 50)
    chart = calm.prc(**counts).plot.monitor("week", reference=0.5, threshold=2.0)
    assert heading(chart) == "Precision is not tested: no week has a value"
    empty = calm.prc(**counts).monitor("week", reference=0.5, threshold=1.0, columns="all")
    lost = empty.with_columns(alarm=pl.lit(None, dtype=pl.Boolean))
    assert heading(charts.monitor(lost)) == "Precision is not tested: the reference has no value"
    none = watch(50, 50, name="none").with_columns(score=pl.lit(0.0))
    both = pl.concat([watch(50, 50, name="calm"), none]).prc(by="site", **counts)
    assert heading(both.plot.monitor("week", reference=0.5, threshold=1.0)) == (
        "Precision is not significantly below the reference of 50%; no value to test in 1 of 2 series"
    )


def test_ranges_that_are_off_on_one_side_alone_are_not_said_to_alternate():
    def draw_ranges(*positives: int) -> str:
        scores = zip((0.3, 0.5, 0.7, 0.8, 0.9), positives, strict=True)
        rows = [(score, k < n_positives) for score, n_positives in scores for k in range(100)]
        table = pl.DataFrame(rows, schema=["score", "label"], orient="row")
        return heading(table.prc().plot.reliability())

    assert draw_ranges(15, 48, 52, 78, 75) == "Scores are too high in 3 of 5 ranges"
    said = "Scores are too high in 2 of 5 ranges and too low in 1"
    assert draw_ranges(50, 48, 52, 78, 75) == said


def test_the_number_of_a_title_is_that_of_the_panel():
    chart = prc(TABLES["clear"].with_columns(pl.col("score") ** 2), **MODELS).plot.reliability()
    panel_texts = [plain(row["text"]) for row in all_records(chart) if "expected" in row.get("text", "")]
    said = re.findall(r"([\d,.]+) positives expected, ([\d,]+) observed", heading(chart))
    assert said
    assert {f"{expected} expected, {observed} observed" for expected, observed in said} <= {*panel_texts}


def test_a_model_that_is_one_of_two_is_better_and_not_best():
    chart = draw("metric_by_eta", TABLES["clear"], confidence=0.95)
    assert "sharp is better at " in heading(chart)
    assert "is best" not in " ".join(str(row.get("text")) for row in all_records(chart))


def test_icons_have_a_title_without_counts_and_with_few_positives():
    points = prc(TABLES["clear"], **MODELS).operating_points(0.2, recall=0.5)
    assert "n_pos" not in points.columns
    assert "true positives" in heading(charts.alerts(points))
    sites = [
        draw_scores(pos=n_pos).with_columns(site=pl.lit(name)) for name, n_pos in (("a", 8), ("b", 9))
    ]
    few = pl.concat(sites).prc.plot.alerts(0.5, by="site", recall=0.5)
    assert heading(few).endswith(" (the test sets have only 8 to 9 positives)")


def test_few_positives_of_equal_recalls_have_intervals_of_their_own() -> None:
    """Of 6 in 10 and of 9 in 15 found: texts belong to lines, and not to values."""

    def find(n_hits: int, n_pos: int) -> pl.DataFrame:
        n_misses = n_pos - n_hits
        scores = [9.0] * n_hits + [-1.0] * n_misses + [k / 500 for k in range(400)]
        labels = [1] * n_pos + [0] * 400
        return pl.DataFrame({"score": scores, "label": labels, "site": f"{n_hits} hits"})

    test = pl.concat([find(6, 10), find(9, 15)]).prc(by="site")
    points = test.operating_points(0.01, predicted_positive_rate=0.1, confidence=0.95, columns="all")
    for name, low, high in points.select("site", "recall_low", "recall_high").rows():
        span = " to ".join(say_shares([low, high]))
        assert f"{span} for {name}" in heading(test.plot.gain_curve(0.01))


@pytest.mark.parametrize("n_models", [1, 2])
@pytest.mark.parametrize("step", [0.01, 0.5, 1.0, 2.5])
def test_titles_name_the_recall_that_points_have_and_not_the_target_that_ties_exceed(step, n_models):
    rng = np.random.default_rng(4)
    label = rng.random(3000) < 0.1
    scores = {name: (rng.normal(size=3000) + 2.2 * label) // step * step for name in "ab"[:n_models]}
    models = pl.DataFrame({"label": label} | scores).prc(score=[*scores])
    reached = models.operating_points(0.1, recall=0.5, columns="all")["recall"]
    texts = {plain(say_share(recall)) for recall in reached}
    expected = f"{texts.pop()} recall" if len(texts) == 1 else "50% recall or more"
    for chart in (
        models.plot.roc_curve(),
        models.plot.scores(),
        models.plot.threshold_curve([0.1, 0.2]),
    ):
        said = heading(chart)
        assert not re.findall(r"[^ ]+% recall", said) or expected in said, said
    said = heading(models.plot.roc_curve())
    assert re.match(f"At {expected}, (no clear winner: |. is better: |)the false positive rate", said)
    assert f". {expected}, at a prevalence" in subtitle(models.plot.alerts(0.1, recall=0.5))


@pytest.mark.parametrize("eta", [0.02, 0.3])
@pytest.mark.parametrize("slope", [-2.0, -0.3, 0.0, 0.3, 2.0, 4.0])
def test_the_title_of_a_gain_curve_is_on_a_point_of_it(slope, eta):
    rng = np.random.default_rng(8)
    label = rng.random(1000) < 0.2
    test = pl.DataFrame({"label": label, "score": rng.normal(size=1000) + slope * label}).prc
    [half] = test.operating_points(eta, recall=0.5, columns="all").to_dicts()
    chart = test.plot.prg_curve(eta)
    if half["fp"] < 5:
        assert heading(chart) == "At 50% recall, precision rests on fewer than 5 false positives"
        return
    value = half["recall"] * eta / (half["recall"] * eta + half["fpr"] * (1 - eta))
    said = f"t 50% recall, precision is {plain(say_precisions([value])[0])}"
    opening = "The scores may be no better than chance: a" if slope == 0 else "A"
    assert heading(chart) == f"{opening}{said}"
    [mark] = records(chart, "mark")
    [label] = [text for name, text in mark.items() if name.endswith("_label")]
    assert plain(label) == plain(say_precisions([value])[0]), "also of what is worse than chance"


@pytest.mark.parametrize("n_pos", [1, 2, 3, 7, 19])
@pytest.mark.parametrize("place", range(5))
def test_what_few_positives_leave_open_has_an_interval_or_none(n_pos, place):
    negatives = pl.DataFrame({"label": False, "score": [float(number) for number in range(100)]})
    positives = pl.DataFrame({"label": [True] * n_pos, "score": [93.0 + 2 * place] * n_pos})
    test = pl.concat([negatives, positives]).prc
    said = heading(test.plot.gain_curve(0.1))
    [point] = test.operating_points(0.1, predicted_positive_rate=0.1, confidence=0.95).to_dicts()
    ending = r" known only roughly$" if point["recall_low"] is None else r" [\d.]+% to \d+%$"
    assert re.search(ending, said), said
    for share in (0.0, 1.0):
        assert share in find_wilson_limits(share, n_pos)


# What is written once, and what a reader finds in the picture ------------------------------------


def above(chart) -> list[str]:
    """The title and the subtitle of a chart."""
    title = chart.to_dict()["title"]
    return [plain(" ".join(title[part])) for part in ("text", "subtitle")]


@pytest.mark.parametrize("chart", WORDS)
def test_a_title_without_a_finding_is_not_repeated_below_it(chart):
    sites = "abcd"[: 2 if chart == "alerts" else 4]
    table = pl.concat(
        TABLES["six"].with_columns(model=pl.format("{} of {}", "model", pl.lit(site))) for site in sites
    )
    words = WORDS[chart] | ({"eta": [0.2, 0.1, 0.01]} if chart.endswith("_curve") else {})
    words = WORDS[chart] if chart in ("roc_curve", "decision_curve") else words
    found, below = above(getattr(prc(table, **MODELS).plot, chart)(**words))
    assert found not in below
    assert not below or not found.startswith(below)


def test_recall_in_the_title_is_that_of_the_marks():
    coarse = TABLES["clear"].with_columns(pl.col("score").round(0))
    for model in ("sharp", "dull"):
        one = prc(coarse.filter(model=model)).plot
        for chart in (one.pr_curve(0.1), one.pr_curve(0.1, y="fdr")):
            [mark] = records(chart, "mark")
            assert heading(chart).startswith(f"At {say_share(mark['recall'])} recall, ")
    title = heading(prc(coarse, **MODELS).plot.pr_curve(0.1))
    assert title.startswith("At 50% recall or more, sharp is better: ")


def test_a_title_names_no_line_that_is_grey():
    random = np.random.default_rng(4)
    site = random.integers(0, 12, 12_000)
    label = random.random(12_000) < 0.08
    score = (1.2 + 0.12 * site) * label + random.normal(size=12_000)
    table = pl.DataFrame({"label": label, "score": score, "site": [f"Site {k:02}" for k in site]})
    chart = prc(table, by="site").plot.threshold_curve(0.05)
    told = re.fullmatch(
        r"At 50% recall.*, precision ranges from .* for (.*) to .* for (.*)", heading(chart)
    )
    lines = [row for row in all_records(chart) if row.get("part", "").startswith("curve")]
    assert {*told.groups()} <= {row["color"] for row in lines if "grey" not in row}
    assert re.search(
        r"\. At 5\d% recall.*, precision (for|of) .* rests on fewer than 5", subtitle(chart)
    )
    two = table.filter(pl.col("site").is_in(["Site 00", "Site 11"]))
    said = heading(prc(two, by="site").plot.threshold_curve(0.05))
    assert "precision for Site 11 rests on fewer than 5" in said


def test_no_line_of_a_title_ends_within_a_short_name():
    chart = prc(TABLES["six"].filter(pl.col("model") < "model 3"), **MODELS).plot.pr_curve(0.05)
    said = " ".join(chart.to_dict()["title"]["text"])
    assert "model\u00a02" in said
    assert "model 2" not in said


def test_grey_lines_of_panels_are_named_below_them():
    weeks = pl.DataFrame({"week": [*range(1, 9)] * 2, "site": ["a"] * 8 + ["b"] * 8, "score": 1.0})
    weeks = weeks.with_columns(n_pos=pl.when(site="a").then(80).otherwise(40), n_neg=20)
    test = weeks.prc(counts=("n_pos", "n_neg"), by="site")
    said = subtitle(test.plot.monitor("week", reference=0.8, threshold=1.0))
    assert "Level grey line: the reference, 80%" in said
    alone = weeks.filter(site="a").prc(counts=("n_pos", "n_neg"))
    assert "Level grey" not in subtitle(alone.plot.monitor("week", reference=0.8, threshold=1.0))


def test_words_at_lines_of_one_precision_stand_apart():
    for eta in (0.005, 0.02, 0.05):
        chart = prc(TABLES["clear"], **MODELS).plot.roc_curve(
            eta=eta, precisions=[k / 10 for k in range(1, 10)]
        )
        places = sorted(
            (row["fpr"], row["text"])
            for row in all_records(chart)
            if "precision " in row.get("text", "")
        )
        width = chart.to_dict()["width"]
        for (left, text), (right, _) in pairwise(places):
            assert (right - left) * width > measure_text(text, 10)


def test_weighted_counts_have_few_digits_and_one_prevalence():
    rows = TABLES["clear"].with_columns(w=pl.col("row").mod(97) / 7)
    test = prc(rows, **MODELS, weight="w").plot
    captions = [
        row["text"] for row in all_records(test.reliability()) if "observed" in row.get("text", "")
    ]
    assert captions
    assert all("." not in caption for caption in captions), captions
    assert "each test set" not in subtitle(test.p3_curve([0.001, 0.1, 0.5], recall=0.5))


@pytest.mark.parametrize("chart", ["pr_curve", "roc_curve", "gain_curve", "threshold_curve"])
def test_models_of_many_sites_stand_beside_each_other(chart):
    random = np.random.default_rng(1)
    site, label = random.integers(0, 8, 4_000), random.random(4_000) < 0.2
    wide = pl.DataFrame({"label": label, "site": site, "a": random.normal(size=4_000) + label})
    wide = wide.with_columns(b=pl.col("a") + random.normal(size=4_000))
    drawn = getattr(wide.prc(by="site", score=["a", "b"]).plot, chart)()
    assert labels(drawn, "color") == ["a", "b"]
