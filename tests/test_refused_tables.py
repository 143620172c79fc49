"""Bad values in a table: what core/inputs refuses when the query runs, and in which words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import polars as pl
import pytest

from polars_prcurve import Decision, PrcError, PrcWarning, field, intervals, metrics, prc
from tests.support.arguments import Call, list_calls
from tests.support.comparing import assert_same_answer
from tests.support.good_rows import GOOD, ROWS, spoilt
from tests.support.plain_calls import ONE_PART, PLAN, RISKS
from tests.support.tiers import slow_unless

CALLS = list_calls()
TABLES = [name for name, call in CALLS.items() if call.table is not None]
SLOW = ("decide", "sample_size", "compare")
"""Methods that take seconds for all their arguments."""


def is_no_chart(name: str) -> bool:
    return not name.startswith(("plot.", "charts."))


# What only values tell ------------------------------------------------------------------------

RATES = pl.DataFrame({"g": ["a", "a", "b"], "tpr": [0.5, 0.4, 1.0], "fpr": [0.1, 0.2, 1.0]})

WHEN_RUN: dict[str, tuple[pl.DataFrame, dict[str, Any], str]] = {
    "NaN score": (spoilt("score", float("nan")), {}, "score column 'score' is NaN in 1 row"),
    "null score": (spoilt("score", None), {}, "score column 'score' is null in 1 row"),
    "null label": (spoilt("label", None), {}, "label column 'label' is null in 1 row"),
    "label 2": (spoilt("label", 2), {}, "label column 'label' is not binary in 1 row"),
    "label 0.5": (spoilt("label", 0.5, pl.Float64), {}, "label column 'label' is not binary in 1 row"),
    "labels 0 and -1": (spoilt("label", -1), {}, r"mixes \d+ rows of 0 with 1 of -1"),
    "absent pos_label": (
        GOOD,
        {"label": "kind", "pos_label": "spma"},
        "5000.*none equals pos_label='spma'",
    ),
    "null weight": (
        spoilt("weight", None),
        {"weight": "weight"},
        "weight column 'weight' is null in 1 row",
    ),
    "NaN weight": (
        spoilt("weight", float("nan")),
        {"weight": "weight"},
        "weight column 'weight' is NaN",
    ),
    "negative weight": (
        spoilt("weight", -1.0),
        {"weight": "weight"},
        "'weight' is negative, .* in 1 row",
    ),
    "infinite weight": (
        spoilt("weight", float("inf")),
        {"weight": "weight"},
        "negative, infinite, NaN or above 1e100 in 1 row",
    ),
    "weight whose sum may overflow": (
        spoilt("weight", 1e101),
        {"weight": "weight"},
        r"above 1e100 in 1 row; expected numbers from 0 to 1e100; divide larger ones",
    ),
    "integer weight whose squares may overflow": (
        GOOD.with_columns(heavy=pl.when(pl.int_range(pl.len()) == 9).then(2**45 + 1).otherwise(1)),
        {"weight": "heavy"},
        r"weight column 'heavy' is negative or above 2\*\*45 in 1 row; .*cast larger integers",
    ),
    "count whose sum may overflow": (
        spoilt("weight", 1e131),
        {"counts": ("label", "weight")},
        "counts column 'weight' is negative, infinite, NaN or above 1e130 in 1 row",
    ),
    "integer count whose sum may overflow": (
        spoilt("label", 2**126, pl.Int128),
        {"counts": ("label", "label")},
        r"counts column 'label' is negative or above 2\*\*63 - 1 in 1 row",
    ),
    "negative count": (
        spoilt("label", -1),
        {"counts": ("label", "weight")},
        "counts column 'label' is negative",
    ),
    "rate above 1": (RATES.with_columns(tpr=pl.lit(1.5)), {"rates": ("tpr", "fpr")}, "'tpr' is outside"),
    "falling tpr": (
        RATES,
        {"rates": ("tpr", "fpr")},
        r"1 point at which tpr falls while fpr rises; is it the specificity.*1 - pl.col",
    ),
    "null rate": (
        RATES.with_columns(fpr=pl.lit(None, pl.Float64)),
        {"rates": ("tpr", "fpr")},
        "null in 3",
    ),
}
METHODS: dict[str, Callable[..., Any]] = {
    "counts": lambda p, **how: p.counts(by="g", **how),
    "sweep": lambda p, **how: p.sweep(by="g", **how),
    "sweep without by": lambda p, **how: p.sweep(**how),
    "sweep at steps": lambda p, **how: p.sweep(by="g", thresholds=5, **how),
    "sweep reduced": lambda p, **how: p.sweep(by="g", thresholds="corners", **how),
    "curve at one eta": lambda p, **how: p.curve(0.1, by="g", **how),
    "curve at several": lambda p, **how: p.curve([0.1, 0.2], by="g", **how),
    "summary": lambda p, **how: p.summary([0.1, 0.2], by="g", columns="all", **how),
    "summary without eta": lambda p, **how: p.summary(
        0.1, by="g", metrics="roc_auc", columns="all", **how
    ),
    "summary with errors": lambda p, **how: p.summary(
        [0.1, 0.2], by="g", confidence=0.9, columns="all", **how
    ),
    "summary, smooth": lambda p, **how: p.summary(
        [0.1, 0.2], by="g", smooth="binormal", columns="all", **how
    ),
    "curve, smooth": lambda p, **how: p.curve([0.1, 0.2], by="g", smooth="binormal", **how),
    "binormal": lambda p, **how: p.binormal(1, by="g", **how),
    "compare": lambda p, **how: p.compare(model="g", id="row", eta=[0.1, 0.2], columns="all", **how),
    "ranking": lambda p, **how: p.ranking([0.1, 0.2], model="g", columns="all", **how),
    "ranking of points": lambda p, **how: p.ranking(
        0.1, model="g", metric="f1", fpr=0.5, columns="all", **how
    ),
    "ranking with errors": lambda p, **how: p.ranking(
        0.1, model="g", confidence=0.9, columns="all", **how
    ),
    "ranking, paired": lambda p, **how: p.ranking(
        0.1, model="g", confidence=0.9, id="row", columns="all", **how
    ),
    "points": lambda p, **how: p.operating_points([0.1, 0.2], by="g", recall=0.5, columns="all", **how),
    "points at eta": lambda p, **how: p.operating_points(
        0.1, by="g", precision=0.1, columns="all", **how
    ),
}
SHORT = ("sweep", "sweep without by", "curve at several", "summary", "points")
"""Methods that stand for the others in quick tests."""
SHAPES: dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]] = {
    "all": lambda q: q,
    "one column": lambda q: q.select(pl.first()),
    "head": lambda q: q.head(1),
    "tail": lambda q: q.tail(1),
    "slice": lambda q: q.slice(10, 2),
    "len": lambda q: q.select(pl.len()),
    "group_by": lambda q: q.group_by(pl.first()).agg(pl.last().max()),
    "filter on values": lambda q: q.filter(pl.last() > 2),
    "sort": lambda q: q.sort(pl.last()),
    "join": lambda q: q.with_row_index().join(pl.LazyFrame({"index": [1]}), on="index", how="semi"),
}


COLLECTED: dict[str, Callable[..., Any]] = {
    "crossings": lambda p, **how: p.crossings(model="g", **how),
    "crossings of ROC curves": lambda p, **how: p.crossings(of="roc", model="g", **how),
    "crossings of points": lambda p, **how: p.crossings(model="g", metric="f1", fpr=0.5, **how),
    "leaders": lambda p, **how: p.crossings(model="g", **how, leaders=True),
    "dominance": lambda p, **how: p.crossings(model="g", **how, of="roc", leaders=True),
}
"""What is run at the call, of lazy tables too."""


SMOOTH = ("summary, smooth", "curve, smooth")


def _allowed(case: str, method: str) -> bool:
    how = WHEN_RUN[case][1]
    of_examples = ("summary with errors", "compare", "ranking with errors", "ranking, paired")
    if "rates" in how:
        return method not in ("counts", "binormal", *SMOOTH, *of_examples)
    return not ("counts" in how and method in of_examples)


@pytest.mark.quick_cases(32)
@pytest.mark.parametrize("method", COLLECTED)
@pytest.mark.parametrize("case", WHEN_RUN)
def test_values_fail_at_the_call_of_what_is_collected(case: str, method: str) -> None:
    df, how, words = WHEN_RUN[case]
    messages = []
    for door in (df.prc, df.lazy().prc):
        with pytest.raises(PrcError, match=words) as error:
            COLLECTED[method](door, **how)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def engine_of(rows: Iterable[str], row: str, columns: Iterable[str], column: str) -> Any:
    """Return an engine for a pair of names, such that every name has pairs on either engine."""
    turn = list(rows).index(row) + list(columns).index(column)
    return ("streaming", "in-memory")[turn % 2]


@pytest.mark.quick_cases(32)
@pytest.mark.parametrize("method", slow_unless(lambda method: method in SHORT, METHODS))
@pytest.mark.parametrize("case", WHEN_RUN)
def test_values_fail_in_the_same_words_at_every_door(case: str, method: str) -> None:
    if not _allowed(case, method):
        return
    df, how, words = WHEN_RUN[case]
    if case == "falling tpr" and method == "sweep without by":
        df = df.filter(pl.col("g") == "a")
    with pytest.raises(PrcError, match=words) as eager:
        METHODS[method](df.prc, **how)
    query = METHODS[method](df.lazy().prc, **how)
    query.collect_schema()  # building it is fine
    with pytest.raises(pl.exceptions.InvalidOperationError) as lazy:
        query.collect(engine=engine_of(WHEN_RUN, case, METHODS, method))
    assert str(lazy.value).startswith(f"Invalid argument - {eager.value}\n")
    assert len(str(lazy.value)) < len(str(eager.value)) + 800  # no plan below it


@pytest.mark.quick_cases(14)
@pytest.mark.parametrize("shape", slow_unless(lambda shape: shape in ("slice", "len"), SHAPES))
@pytest.mark.parametrize("method", METHODS)
def test_no_shape_of_query_hides_a_bad_row(method: str, shape: str) -> None:
    query = SHAPES[shape](METHODS[method](spoilt("score", float("nan")).lazy().prc))
    with pytest.raises(pl.exceptions.InvalidOperationError, match="is NaN in 1 row"):
        query.collect(engine=engine_of(SHAPES, shape, METHODS, method))


@pytest.mark.slow
def test_an_error_never_locks_the_engine() -> None:
    """Many times over, since a lock depends on which thread is first."""
    bad, etas = spoilt("score", float("nan")).lazy(), pl.DataFrame({"g": ["g0"], "eta": [0.1]})
    for _ in range(40):
        for query in (
            bad.prc.summary([0.1, 0.2], by="g", columns="all"),
            bad.prc.operating_points([0.1, 0.2], by="g", precision=0.1, recall=0.3, columns="all"),
            METHODS["summary with errors"](bad.prc),
            METHODS["compare"](bad.prc),
            *(METHODS[name](bad.prc) for name in ("binormal", *SMOOTH)),
            GOOD.lazy().prc.summary(etas, by="g", columns="all"),
            GOOD.lazy().prc.operating_points(etas.lazy(), by="g", precision=0.1, columns="all"),
            GOOD.lazy().prc.summary(pl.LazyFrame({"eta": [0.1, 3.0]}), by="g", columns="all"),
        ):
            with pytest.raises(pl.exceptions.InvalidOperationError):
                query.collect()


@pytest.mark.parametrize("shape", ["filter", "semi join"])
def test_choosing_a_good_group_does_not_hide_a_bad_one(shape: str) -> None:
    bad = spoilt("score", float("nan"))
    group = bad["g"][ROWS - 3]
    good = next(g for g in bad["g"].unique() if g != group)
    query = bad.lazy().prc.sweep(by="g")
    if shape == "filter":
        query = query.filter(pl.col("g") == good)
    else:
        query = query.join(pl.LazyFrame({"g": [good]}), on="g", how="semi")
    for engine in ("streaming", "in-memory"):
        with pytest.raises(pl.exceptions.InvalidOperationError, match="is NaN in 1 row"):
            query.collect(engine=engine)


def test_a_group_that_the_eta_frame_forgot_is_named() -> None:
    etas = pl.DataFrame({"g": [f"g{i}" for i in range(6)], "eta": [0.1] * 6})
    with pytest.raises(PrcError, match=r"no row for 1 group, such as g = g6"):
        GOOD.prc.curve(etas, by="g")
    with pytest.raises(pl.exceptions.InvalidOperationError, match="such as g = g6"):
        GOOD.lazy().prc.curve(etas, by="g").collect()


def test_a_lazy_eta_frame_is_checked_when_the_query_runs() -> None:
    query = GOOD.lazy().prc.curve(pl.LazyFrame({"eta": [0.1, 3.0]}))
    with pytest.raises(pl.exceptions.InvalidOperationError, match="outside"):
        query.collect()


def test_one_vs_rest_names_a_class_that_no_row_has() -> None:
    df = pl.DataFrame({"y": ["cat", "dog"], "a": [0.1, 0.2], "b": [0.3, 0.4]})
    with pytest.raises(PrcError, match="none is 'cta'"):
        df.prc.unpivot_scores(label="y", scores={"cta": "a", "dog": "b"})
    assert df.head(0).prc.unpivot_scores(label="y", scores={"cta": "a", "dog": "b"}).is_empty()


def test_categories_of_an_enum_may_be_absent() -> None:
    """They cannot be misspelt, so a day without a class, or without positives, is no error."""
    classes = pl.Enum(["cat", "dog", "emu"])
    df = pl.DataFrame({"y": ["cat", "dog"], "a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.5, 0.6]})
    df, scores = df.with_columns(pl.col("y").cast(classes)), {"cat": "a", "dog": "b", "emu": "c"}
    for frame in (df, df.lazy()):
        table = frame.prc.summary(0.1, label="y", score=scores, metrics="roc_auc").lazy().collect()
        assert table.select("class", "n_pos").rows() == [("cat", 1), ("dog", 1), ("emu", 0)]
        assert table["value"].is_null().to_list() == [False, False, True]
        table = (
            frame.prc.summary(0.1, label="y", score="a", pos_label="emu", metrics="roc_auc")
            .lazy()
            .collect()
        )
        assert table.select("n_pos", "value").rows() == [(0, None)]
    with pytest.raises(PrcError, match="categor"):
        df.prc.summary(0.1, label="y", score="a", pos_label="emo")


EXPRESSIONS: dict[str, Callable[..., pl.Expr]] = {
    name: (lambda label, name=name, **how: getattr(pl.col("score").prc, name)(label, **how))
    for name in (
        *("tp", "fp", "fn", "tn", "recall", "fpr", "precision", "counts", "sweep", "curve"),
        *("average_precision", "pr_auc", "auprg", "roc_auc"),
    )
}


FOR_EXPRESSIONS = [  # which add whole weights as floats
    case
    for case, (_, how, _) in WHEN_RUN.items()
    if "rates" not in how and "counts" not in how and "integer" not in case
]


@pytest.mark.quick_cases(20)
@pytest.mark.parametrize(
    ("case", "name"),
    [  # each expression at a third of the cases, each case in a third of the expressions
        (case, name)
        for i, case in enumerate(FOR_EXPRESSIONS)
        for j, name in enumerate(EXPRESSIONS)
        if (i + j) % 3 == 0
    ],
)
def test_expressions_fail_in_the_words_of_the_frame(case: str, name: str) -> None:
    df, how, _ = WHEN_RUN[case]
    with pytest.raises(PrcError) as frame:
        df.prc.sweep(**how)
    options = {key: value for key, value in how.items() if key != "label"}
    expr = EXPRESSIONS[name](how.get("label", "label"), **options)
    with pytest.raises(pl.exceptions.InvalidOperationError, match=re.escape(str(frame.value))):
        df.select(expr)
    with pytest.raises(
        pl.exceptions.InvalidOperationError, match=r"column '(score|label|weight|kind)' "
    ):
        df.group_by("g").agg(expr)


DTYPES: dict[str, pl.Series] = {
    "String": pl.Series(["9", "10", "1", "3"]),
    "Categorical": pl.Series(["a", "b"] * 2, dtype=pl.Categorical),
    "Enum": pl.Series(["a", "b"] * 2, dtype=pl.Enum(["a", "b"])),
    "Date": pl.Series(range(4)).cast(pl.Date),
    "Datetime": pl.Series(range(4)).cast(pl.Datetime("ms", "UTC")),
    "Duration": pl.Series(range(4)).cast(pl.Duration),
    "Time": pl.Series(range(4)).cast(pl.Time),
    "List": pl.Series([[1], [2]] * 2),
    "Array": pl.Series([[1], [2]] * 2, dtype=pl.Array(pl.Int64, 1)),
    "Struct": pl.Series([{"a": 1}, {"a": 2}] * 2),
    "Binary": pl.Series([b"a", b"b"] * 2),
    "Null": pl.Series([None] * 4),
    "Object": pl.Series([object()] * 4, dtype=pl.Object),
    "Boolean": pl.Series([True, False] * 2),
}
FOUR = pl.DataFrame({"score": [0.9, 0.8, 0.3, 0.2], "label": [1, 0, 1, 0], "weight": [1, 2, 1, 1]})
DTYPE_CASES = [
    *((argument, dtype) for argument in ("score", "label") for dtype in DTYPES if dtype != "Boolean"),
    *(("weight", dtype) for dtype in DTYPES),
]
CONTEXTS: dict[str, Callable[[pl.LazyFrame, pl.Expr], pl.LazyFrame]] = {
    "select": lambda frame, expr: frame.select(expr),
    "agg": lambda frame, expr: frame.group_by(pl.lit(1)).agg(expr),
    "over": lambda frame, expr: frame.select(expr.over(pl.lit(1), mapping_strategy="join")),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("context", slow_unless(lambda context: context == "agg", CONTEXTS))
@pytest.mark.parametrize(
    ("argument", "dtype"),
    [
        case if case[1] in {"String", "Date"} else pytest.param(*case, marks=pytest.mark.slow)
        for case in DTYPE_CASES
    ],
)
def test_expressions_refuse_dtypes_in_the_words_of_the_frame(
    argument: str, dtype: str, context: str
) -> None:
    df = FOUR.with_columns(DTYPES[dtype].alias(argument))
    how = {"weight": "weight"} if argument == "weight" else {}
    says = "its dtype is Object" if dtype == "Object" else f"{argument} column '{argument}' is "
    with pytest.raises(PrcError, match=says) as frame:
        df.prc.sweep(**how)
    for name, make in EXPRESSIONS.items():
        query = CONTEXTS[context](df.lazy(), make("label", **how))
        with pytest.raises(pl.exceptions.InvalidOperationError) as error:
            query.collect(engine=engine_of(EXPRESSIONS, name, DTYPES, dtype))
        # Frames refuse an Object column by itself: Polars may fail on it before its dtype is checked.
        if dtype != "Object":
            assert str(error.value).startswith(f"Invalid argument - {frame.value}\n"), name


POS_LABELS: list[tuple[Any, pl.Series]] = [
    (3, pl.Series(["a", "b"] * 2)),
    ("a", pl.Series([1, 2] * 2)),
    (b"a", pl.Series(["a", "b"] * 2)),
    ("a", pl.Series([b"a", b"b"] * 2)),
    ("a", DTYPES["Struct"]),
    (1, DTYPES["Date"]),
]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("pos_label", "labels"), POS_LABELS)
def test_a_pos_label_of_another_kind_is_refused_in_the_same_words(
    pos_label: Any, labels: pl.Series
) -> None:
    df = FOUR.with_columns(label=labels)
    with pytest.raises(PrcError, match=re.escape(f"cannot equal pos_label={pos_label!r}")) as frame:
        df.prc.sweep(pos_label=pos_label)
    for make in EXPRESSIONS.values():
        with pytest.raises(pl.exceptions.InvalidOperationError) as error:
            df.select(make("label", pos_label=pos_label))
        assert str(error.value).startswith(f"Invalid argument - {frame.value}\n")


def test_a_pos_label_is_compared_exactly_at_every_door() -> None:
    cases: list[tuple[Any, pl.Series, list[bool]]] = [
        ("a", pl.Series(["a", "b"], dtype=pl.Categorical), [True, False]),
        ("a", pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), [True, False]),
        (b"a", pl.Series([b"a", b"b"]), [True, False]),
        (2**53 + 1, pl.Series([2**53 + 1, 2**53]), [True, False]),
        (0.1, pl.Series([0.1, 1.0], dtype=pl.Float32), [True, False]),
        (2.0, pl.Series([2, 1]), [True, False]),
        (True, pl.Series([1, 0]), [True, False]),
        (1, pl.Series([True, False]), [True, False]),
    ]
    for pos_label, labels, expected in cases:
        df = pl.DataFrame({"score": [1.0, 0.5], "label": labels, "is": expected})
        sweep = df.prc.sweep(label="is")
        assert df.prc.sweep(pos_label=pos_label).equals(sweep), pos_label
        expr = pl.col("score").prc.tp("label", pos_label=pos_label)
        assert df.select(expr)["score"].to_list() == sweep["tp"].to_list(), pos_label
    for pos_label, labels in ((1.5, pl.Series([1, 0])), (2, pl.Series([True, False]))):
        df = pl.DataFrame({"score": [1.0, 0.5], "label": labels})
        with pytest.raises(PrcError, match="none equals"):
            df.prc.sweep(pos_label=pos_label)
        with pytest.raises(pl.exceptions.InvalidOperationError, match="none equals"):
            df.select(pl.col("score").prc.tp("label", pos_label=pos_label))


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "Boolean"])
def test_score_columns_of_wide_tables_obey_the_rule_of_scores(dtype: str) -> None:
    wide = pl.DataFrame({"a": DTYPES[dtype], "b": DTYPES[dtype], "label": [1, 0, 1, 0]})
    for door in (wide.prc, wide.lazy().prc):
        for call in (
            lambda p: p.compare(score=["a", "b"], columns="all"),
            lambda p: p.unpivot_scores(["a", "b"]),
            lambda p: p.unpivot_scores(label="label", scores={1: "a", 0: "b"}, name="k"),
        ):
            with pytest.raises(PrcError, match=r"score column 'a' is .*; a score is a float"):
                call(door)


def test_rates_and_prevalences_of_expressions_are_numbers() -> None:
    df = FOUR.with_columns(text=pl.lit("0.1"))
    for expr, words in (
        (pl.col("text").prc.shift_prior(0.5, 0.1), "score column 'text' is String"),
        (pl.col("score").prc.shift_prior(pl.col("text"), 0.1), "eta_train= is String"),
        (pl.col("score").prc.pr_auc("label", pl.col("text").first()), "eta= is String"),
        (metrics.precision(pl.col("text"), 0.1, 0.1), "recall is String"),
    ):
        with pytest.raises(pl.exceptions.InvalidOperationError, match=words):
            df.select(expr)


def test_an_eta_expression_outside_0_and_1_stops_the_query() -> None:
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"eta= is outside \[0, 1\]"):
        GOOD.select(pl.col("score").prc.curve("label", pl.lit(1.5)))


def test_metrics_of_expressions_check_their_range() -> None:
    rates = pl.DataFrame({"r": [0.5, 1.2], "f": [0.1, 0.2]})
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"recall must lie in \[0, 1\]"):
        rates.select(metrics.precision(pl.col("r"), pl.col("f"), 0.1))


# What is dropped ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("df", "how"),
    [
        (spoilt("score", float("nan")), {}),
        (spoilt("score", None), {}),
        (spoilt("label", None), {}),
        (spoilt("weight", None), {"weight": "weight"}),
        (spoilt("weight", float("nan")), {"weight": "weight"}),
    ],
    ids=["NaN score", "null score", "null label", "null weight", "NaN weight"],
)
def test_drop_leaves_out_the_row_and_no_other(df: pl.DataFrame, how: dict[str, Any]) -> None:
    without = GOOD.filter(pl.int_range(pl.len()) != ROWS - 3)
    dropped = df.prc.sweep(by="g", missing="drop", **how)
    assert dropped.equals(without.prc.sweep(by="g", **how))


def test_missing_is_checked_before_rows_of_weight_0_leave() -> None:
    df = spoilt("score", float("nan")).with_columns(
        weight=pl.when(pl.col("score").is_nan()).then(0.0).otherwise("weight")
    )
    with pytest.raises(PrcError, match="is NaN in 1 row"):
        df.prc.sweep(weight="weight")


def test_drop_does_not_excuse_other_bad_values() -> None:
    with pytest.raises(PrcError, match="is not binary in 1 row"):
        spoilt("label", 2).prc.sweep(missing="drop")


def test_values_are_found_in_the_order_of_the_contracts_page() -> None:
    rows = {"score": None, "label": 2, "weight": -1.0}
    df = GOOD.with_columns(
        pl.when(pl.int_range(pl.len()) == ROWS - 3).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in rows.items()
    )
    etas = pl.DataFrame({"g": ["g0"], "eta": [0.1]})
    told = [
        ("score", "score column 'score' is null in 1 row"),
        ("label", "label column 'label' is not binary in 1 row"),
        ("weight", "weight column 'weight' is negative, infinite, NaN or above 1e100 in 1 row"),
    ]
    for name, words in told:
        with pytest.raises(PrcError, match=words):
            prc(df).curve(etas, by="g", weight="weight")
        df = df.with_columns(GOOD[name])
    with pytest.raises(PrcError, match="eta= frame"):
        prc(df).curve(etas, by="g", weight="weight")


# Objects --------------------------------------------------------------------------------------


REFUTED = pl.DataFrame(
    {"eta": 0.1, "eta_low": 0.05, "eta_high": 0.2, "eta_confidence": 0.95, "shift_p_value": 1e-9}
)


def make_objects(height: int) -> pl.Series:
    return pl.Series([object() for _ in range(height)], dtype=pl.Object)


def check_words(call: Call, table: pl.DataFrame, where: str, **given: Any) -> None:
    """Raise unless a call answers, or refuses in words of the package."""
    words = "none"
    try:
        call.find(table)(**{**call.plain, **given})
    except PrcError as error:
        words = str(error)
    except BaseException as error:  # a panic of Polars is no Exception
        raise AssertionError(f"{where}: {error!r}") from error
    assert len(words) <= 1_000, where
    assert words.isprintable(), where


def draw_frames(table: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield frames that stand beside a table, in each of which one column holds objects."""
    estimate = REFUTED.with_columns(pl.lit(1, pl.Int8).alias("day"), threshold=5, n=9)
    for frame in (ONE_PART, PLAN, table, estimate):
        for name in (*frame.columns, "thing"):
            yield frame.with_columns(make_objects(frame.height).alias(name))


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", slow_unless(is_no_chart, TABLES))
def test_a_column_of_objects_is_refused_in_words_wherever_it_is_asked_for(name: str) -> None:
    call = CALLS[name]
    table = call.table
    assert table is not None
    odd = table.with_columns(make_objects(table.height).alias("thing"))
    for column in table.columns:
        check_words(call, table.with_columns(make_objects(table.height).alias(column)), column)
    for argument in call.arguments():
        for value in ("thing", ["thing"], ("thing", "thing"), ("thing",) * 4, {"a": "thing"}):
            check_words(call, odd, f"{argument}={value}", **{argument: value})
        if name in SLOW:
            continue  # whose parts are other methods
        if argument in ("eta", "plan", "threshold", "start", "other", "reference"):
            for frame in draw_frames(table):
                where = f"{argument}={frame.schema}"
                check_words(call, table, where, **{argument: frame})


def test_a_field_takes_no_objects() -> None:
    for name in (*ONE_PART.columns, "thing"):
        frame = ONE_PART.with_columns(make_objects(1).alias(name))
        with pytest.raises(PrcError, match=f"cast the column '{name}' of the frame of a field"):
            field(frame, parts="day")


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", [name for name in TABLES if is_no_chart(name)])
def test_a_column_of_objects_that_nobody_asks_for_does_not_matter(name: str) -> None:
    call = CALLS[name]
    assert call.table is not None
    odd = call.table.with_columns(make_objects(call.table.height).alias("thing"))
    seed = {"seed": 1} if "seed" in call.arguments() else {}
    found, expected = (call.find(table)(**call.plain, **seed) for table in (odd, call.table))
    if isinstance(expected, Decision):
        found, expected = found.verdicts, expected.verdicts
    assert_same_answer(found.drop("thing", strict=False), expected, name)


# What is no number of examples ----------------------------------------------------------------


def test_counts_that_overflow_are_refused_in_a_sentence() -> None:
    df = pl.DataFrame(
        {"score": [1.0, 0.5, 0.0], "many": [2**62, 2**62, 1], "few": [1, 2, 3], "g": [1, 1, 2]}
    )
    sentence = "counts= add up to more than 2**63 - 1 in a group; cast them to Float64"
    for name, call in CALLS.items():
        if call.table is None or "counts" not in call.arguments() or name.startswith("plot."):
            continue
        if name == "estimate_prevalence":  # which counts rows
            continue
        plain = {key: value for key, value in call.plain.items() if key != "by"} | {"model": "g"}
        if name == "compare":
            plain = {"model": "g", "paired": False}
        if name == "monitor":
            plain = plain | {"time": "g"}
        for counts in (("many", "few"), ("few", "many")):
            with pytest.raises(PrcError, match=re.escape(sentence)):
                call.find(df)(**plain, counts=counts)
    query = df.lazy().prc.sweep(counts=("many", "few"))
    with pytest.raises(pl.exceptions.InvalidOperationError, match=re.escape(sentence)):
        query.collect()
    below = df.with_columns(many=pl.Series([2**62, 2**62 - 1, 2**62]))
    assert below.prc.sweep(by="g", counts=("many", "few"))["tp"].max() == 2**63 - 1


FLOATS = RISKS.with_columns(p=pl.lit(0.3), n=pl.lit(0.4))
BOOTSTRAP = intervals(0.9, method="bootstrap", resamples=20, seed=1)
COUNTED = [name for name in TABLES if "counts" in CALLS[name].arguments() and name != "sample_size"]
"""How many examples a rate needs depends on the rate alone, so `sample_size` takes any counts."""


@pytest.mark.parametrize("name", slow_unless(is_no_chart, COUNTED))
def test_float_counts_have_no_intervals_and_no_promises(name: str) -> None:
    """They may be weights, of which sums do not tell how many examples there are."""
    call = CALLS[name]
    plain = {word: value for word, value in call.plain.items() if word not in ("by", "id")}
    plain |= {"model": "model", "paired": False} if name == "compare" else {}
    plain |= {"eta": 0.1} if "eta" in call.arguments() and name != "decision_curve" else {}
    asked: list[dict[str, Any]] = [{"confidence": 0.9}, {"confidence": BOOTSTRAP}, {"guarantee": 0.9}]
    asked += [{**more, "maximize": "f1", "recall": None} for more in asked]
    for more in asked:
        if set(more) - {"recall"} <= set(call.arguments()):
            for table in (FLOATS, FLOATS.lazy()):
                with pytest.raises(PrcError):
                    call.find(table)(**{**plain, "counts": ("p", "n"), **more})


def test_differences_and_optimism_of_float_counts_are_refused_in_words() -> None:
    words = r"^cast counts= to integers.*confidence= cannot use floats alone"
    with pytest.raises(PrcError, match=words):
        FLOATS.prc.compare(0.1, model="model", paired=False, counts=("p", "n"), columns="all")
    with pytest.raises(PrcError, match=words):
        FLOATS.prc.operating_points(
            0.1, maximize="f1", confidence=BOOTSTRAP, counts=("p", "n"), columns="all"
        )


# What is worthless ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name for name in TABLES if is_no_chart(name) and "eta" in CALLS[name].arguments()]
)
def test_a_method_that_takes_an_estimate_warns_if_its_test_refutes_it(name: str) -> None:
    call = CALLS[name]
    plain = {word: value for word, value in call.plain.items() if word != "by"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        refused = False
        try:
            call.find(call.table)(**{**plain, "eta": REFUTED})
        except PrcError:
            refused = True
    said = [str(warning.message) for warning in caught if warning.category is PrcWarning]
    assert refused or any("worthless" in text for text in said)


# What a table lacks, or holds twice ------------------------------------------------------------

LACKING: dict[str, tuple[Callable[[], object], str]] = {
    "a plan for no rows": (
        lambda: GOOD.clear().prc.sampling_plan(0.5, budget=3),
        "needs rows with a score; the table has none",
    ),
    "a frame without columns": (
        lambda: GOOD.prc(below=pl.DataFrame()).summary(0.1),
        "n_pos and n_neg; got no columns",
    ),
    "a group twice": (
        lambda: GOOD.prc.summary(0.1, by=["g", "kind", "g"]),
        "name the column 'g' only once in by=",
    ),
    "two groups of one name": (
        lambda: GOOD.lazy().prc(by=["g", pl.col("kind").alias("g")]).sweep(),
        "name the column 'g' only once in by=",
    ),
}


@pytest.mark.parametrize(("ask", "words"), LACKING.values(), ids=LACKING)
def test_what_is_lacking_or_doubled_is_named(ask: Callable[[], object], words: str) -> None:
    with pytest.raises(PrcError, match=re.escape(words)):
        ask()
