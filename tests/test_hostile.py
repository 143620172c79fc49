"""Odd values, for every argument of anything public: an answer, or a sentence that says what to do."""

from __future__ import annotations

import multiprocessing
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polars_prcurve
from polars_prcurve import PrcError, PrcWarning, field, intervals
from polars_prcurve.view.report.decision import Decision
from tests.support.arguments import Call, has_computed, list_calls, never_computed
from tests.support.comparing import assert_same
from tests.support.plain_calls import ONE_PART, PLAN, RISKS
from tests.support.tiers import slow_unless

CALLS = list_calls()
TABLES = [name for name, call in CALLS.items() if call.table is not None]


def is_no_chart(name: str) -> bool:
    return not name.startswith(("plot.", "charts."))


# Numbers --------------------------------------------------------------------------------------

SCALARS: dict[Any, tuple[Any, ...]] = {
    0.5: (*(kind(0.5) for kind in (np.float16, np.float32, np.float64, np.longdouble)), Fraction(1, 2)),
    3: tuple(kind(3) for kind in (np.int8, np.uint8, np.int32, np.int64, np.uint64)),
    True: (np.True_,),
}
"""Values of Python, and those that are the same number in NumPy."""


def ask(call: Call, argument: str, value: Any) -> Any:
    """Return the answer, or the words of the error, in which the value itself stands in its own way."""
    try:
        answer = call.find(call.table)(**{**call.plain, argument: value})
    except PrcError as error:
        return re.sub(r"got .*|threshold=\S+", "", str(error))
    return answer.verdicts if isinstance(answer, Decision) else answer


def is_taken(call: Call, argument: str, value: Any) -> bool:
    """Return whether an argument takes a value, found before any work on a table."""
    table = None if call.table is None else never_computed(call.table)
    try:
        call.find(table)(**{**call.plain, argument: value})
    except Exception as error:
        return has_computed(error) or "needs a DataFrame" in str(error)
    return True


def pick_two(others: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    """Return two of the kinds of a number, so that arguments in a row meet all of them."""
    at = number % len(others)
    return (others * 2)[at : at + 2][: len(others)]


def assert_equal(found: Any, expected: Any, where: str) -> None:
    if isinstance(expected, pl.DataFrame):
        assert_same(found, expected)
    elif isinstance(expected, pl.Expr):
        assert found.meta.eq(expected) or str(found) == str(expected), where
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected, err_msg=where)
    else:
        assert str(found) == str(expected), where


SLOW = ("decide", "sample_size", "compare")
"""Methods that take seconds for all their arguments."""


@pytest.mark.parametrize(
    "name",
    slow_unless(
        lambda name: is_no_chart(name) and name not in SLOW, [n for n in CALLS if n[:7] != "charts."]
    ),
)
def test_a_number_of_numpy_means_what_it_does_in_python(name: str) -> None:
    """An answer is compared with that to two of the kinds; a refusal, which is quick, is for all."""
    call = CALLS[name]
    for number, argument in enumerate(call.arguments()):
        for value, others in SCALARS.items():
            if not is_taken(call, argument, value):
                for other in others:
                    assert not is_taken(call, argument, other), f"{argument}={other!r}"
                continue
            if name.startswith("plot.") or argument == "pos_label":
                continue  # charts draw what methods answer; labels are compared in their own dtype
            seed = {"seed": 1} if "seed" in call.arguments() and argument != "seed" else {}
            seeded = call._replace(plain=call.plain | seed)
            expected = ask(seeded, argument, value)
            for other in pick_two(others, number):
                assert_equal(ask(seeded, argument, other), expected, f"{argument}={other!r}")


# Objects --------------------------------------------------------------------------------------


SEEDED = {name: {"seed": 1} for name, call in CALLS.items() if "seed" in call.arguments()}


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
        with pytest.raises(
            PrcError, match=f"the frame of a field has a column '{name}' of dtype Object"
        ):
            field(frame, parts="day")


@pytest.mark.parametrize("name", [name for name in TABLES if is_no_chart(name)])
def test_a_column_of_objects_that_nobody_asks_for_does_not_matter(name: str) -> None:
    call = CALLS[name]
    assert call.table is not None
    odd = call.table.with_columns(make_objects(call.table.height).alias("thing"))
    seed = {"seed": 1} if "seed" in call.arguments() else {}
    found, expected = (call.find(table)(**call.plain, **seed) for table in (odd, call.table))
    if isinstance(expected, Decision):
        found, expected = found.verdicts, expected.verdicts
    assert_equal(found.drop("thing", strict=False), expected, name)


# Names ----------------------------------------------------------------------------------------

OF_GROUPS = [
    name for name in TABLES if is_no_chart(name) and {"by", "time"} & set(CALLS[name].arguments())
]


@pytest.mark.parametrize("name", slow_unless(lambda name: name not in SLOW, OF_GROUPS))
def test_group_columns_may_have_no_name(name: str) -> None:
    call = CALLS[name]
    assert call.table is not None
    argument = "time" if name == "monitor" else "by"
    answers = []
    for key in ("", "key"):
        table = call.table.with_columns((pl.int_range(pl.len()) // 400).alias(key))
        try:
            answer = call.find(table)(**{**call.plain, argument: key, **SEEDED.get(name, {})})
        except PrcError as error:
            answers.append(str(error).replace(repr(key), ""))
            continue
        answer = answer.verdicts if isinstance(answer, Decision) else answer
        answers.append(answer.rename({key: "key"}) if key in answer.columns else answer)
    assert_equal(answers[0], answers[1], name)


# What is no number of examples ----------------------------------------------------------------

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
    words = "confidence= needs numbers of examples, and counts= holds floats"
    with pytest.raises(PrcError, match=words):
        FLOATS.prc.compare(0.1, model="model", paired=False, counts=("p", "n"))
    with pytest.raises(PrcError, match=words):
        FLOATS.prc.operating_points(0.1, maximize="f1", confidence=BOOTSTRAP, counts=("p", "n"))


# What is worthless ----------------------------------------------------------------------------

REFUTED = pl.DataFrame(
    {"eta": 0.1, "eta_low": 0.05, "eta_high": 0.2, "eta_confidence": 0.95, "shift_p_value": 1e-9}
)


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


# Processes ------------------------------------------------------------------------------------

FORKED = """
import importlib, multiprocessing, pkgutil, sys
import polars as pl
import polars_prcurve

for module in pkgutil.walk_packages(polars_prcurve.__path__, "polars_prcurve."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

def work(_):
    df = pl.DataFrame({"score": range(400), "label": [i % 3 == 0 or i > 300 for i in range(400)],
                       "week": [i % 4 for i in range(400)]})
    watched = df.prc.monitor("week", reference=0.5, threshold=300)
    return len(df.prc.decide(0.1, recall=0.5).say(80)), df.prc.summary(0.1).height, watched.height

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(*pool.map_async(work, range(2)).get(timeout=300), sep="\\n")
"""


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_an_import_runs_no_query_so_that_a_fork_can() -> None:
    """The threads of Polars start with its first query, and do not survive a fork."""
    root = Path(polars_prcurve.__file__).parent.parent
    code = [sys.executable, "-W", "ignore", "-c", FORKED]
    done = subprocess.run(code, capture_output=True, text=True, check=False, timeout=400, cwd=root)
    assert done.returncode == 0, done.stderr[-2000:]
    first, second = done.stdout.splitlines()
    assert first == second
