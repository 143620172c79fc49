"""Names that look alike are told apart wherever they are shown, and a decision says that they differ."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from itertools import cycle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import prc
from polars_prcurve.core.ground.visible_names import find_lookalikes, shorten_names, show_name
from polars_prcurve.view.report.result_text import Layout, format_table, show_names
from polars_prcurve.view.words.shown_names import name_value
from tests.support.arguments import PLOTS
from tests.support.model_tests import draw_models
from tests.support.profiles import examples

LONG = "gradient boosting with isotonic calibration, retrained at each site, of depth {}" + 40 * "x"
PAIRS = {
    "a blank at the end": ("forest", "forest "),
    "a blank at the start": ("forest", " forest"),
    "two blanks": ("a b", "a  b"),
    "a line end": ("a b", "a\nb"),
    "a tab": ("a ", "a\t"),
    "no-break blanks": ("a b", "a\u00a0b"),
    "of no width": ("paypal", "pay\u200bpal"),
    "a byte order mark": ("paypal", "\ufeffpaypal"),
    "tag letters": ("paypal", "pay\U000e0061pal"),
    "a soft hyphen": ("cooperate", "co\u00adoperate"),
    "directions": ("abc", "abc\u200e"),
    "blank names": (" ", "\u00a0"),
    "names of nothing": ("\u200b", ""),
    "a filler": ("ab", "a\u3164b"),
    "accents": ("Zürich", "Zu\u0308rich"),
    "angstroms": ("\u00c5", "\u212b"),
    "controls": ("a\x80", "a\x81"),
    "no characters": ("a\ufffe", "a\uffff"),
    "long names": (LONG.format(3), LONG.format(4)),
    "variations": ("ab", "a\ufe0fb"),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_names_that_look_alike_are_shown_apart(pair: tuple[str, str]) -> None:
    first, second = map(name_value, pair)
    assert len({first, second, *map(name_value, ("forest", "", "null"))}) >= 4
    for shown in (first, second):
        assert 0 < len(shown) <= 80
        assert shown == unicodedata.normalize("NFC", shown)
        assert not re.search(r"^ | $|  |[^\S ]", shown)
        categories = {unicodedata.category(letter) for letter in shown.replace(" ", "")}
        assert not categories & {"Cc", "Cf", "Zs"}
    assert find_lookalikes([*pair, "another"]) == [[show_name(name) for name in sorted(pair)]]
    assert len(set(show_names(pair))) == 2
    assert max(map(len, show_names(pair))) <= 32


ORDINARY = [
    "forest",
    "a b",
    "Zürich",
    "日本語",
    "🏴\U000e0067\U000e0062\U000e007f",
    "❤\ufe0f",
    "👨\u200d👩\u200d👧",
]
ORDINARY += ["می\u200cخواهم", "मर\u094dद", "x.y", "<b>", "say (hi)", "2026-01-01", "№ 5", "a·b"]


@pytest.mark.parametrize("name", ORDINARY)
def test_a_name_whose_signs_are_all_seen_stands_as_it_is(name: str) -> None:
    assert show_name(name) == name
    assert find_lookalikes([*ORDINARY]) == []


TRICKY = st.text(
    st.sampled_from('ab  \t\n\u00a0\u200b\u200d\u2423\u2400\u0308ü"\ufe0f\u202e\x80[U+00A0]'), max_size=6
)


@examples(200)
@given(TRICKY | st.text(max_size=100), TRICKY | st.text(max_size=100))
def test_no_two_names_are_shown_as_one(first: str, second: str) -> None:
    if first != second:
        assert show_name(first) != show_name(second)


def test_names_that_are_cut_differ_where_they_differ() -> None:
    names = [f"logistic regression, version {number}, with isotonic calibration" for number in range(40)]
    assert len({*shorten_names(names, 32)}) == 40
    assert shorten_names(["a" * 50, "b" * 50], 32) == [f"{letter * 21}…{letter * 10}" for letter in "ab"]
    assert len({*shorten_names([show_name(name * 3) for name in names], 32)}) == 40
    assert show_names([None, "-", ""]) == ["-", '"-"', '""']


# Wherever names are shown ---------------------------------------------------------------------

TEST = draw_models({"first": 2.5, "second": 1.0}, 60, 600)
WIDTHS = (50, 80, 120)  # of terminals


def build_rows(pair: tuple[str, str]) -> pl.DataFrame:
    """Return a long table of two models with these names, whose scores may be probabilities."""
    first, second = pair
    rows = TEST.select("label", pl.col("first").alias(first), pl.col("second").alias(second))
    rows = rows.with_row_index("id").unpivot(
        pair, index=["id", "label"], variable_name="model", value_name="score"
    )
    return rows.with_columns(score=1 / (1 + (-pl.col("score")).exp()), week=pl.col("id") % 3)


def assert_shown(text: str, pair: tuple[str, str]) -> None:
    """Raise unless both names are in a text as they are shown."""
    plain_text = re.sub("[\u2060\u2066-\u2069]", "", html.unescape(text))  # marks of direction
    for name in pair:
        assert show_name(name) in plain_text


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("words", "pair"),
    [*zip(cycle([{"model": "model", "id": "id"}, {"by": "model"}]), PAIRS.values())],
)
def test_a_decision_tells_models_or_groups_apart(
    words: dict[str, str], pair: tuple[str, str], tmp_path: Path
) -> None:
    decision = prc(build_rows(pair), **words).decide(0.1, recall=0.5)
    both = " and ".join(show_name(name) for name in sorted(pair))
    assert f"; {both} are different names" in decision.verdict.conditions
    paths = [decision.report(tmp_path / "report.html"), decision.page(tmp_path / "page.html")]
    documents = [Path(path).read_text(encoding="utf-8") for path in paths]
    card = re.sub(r"\\(?=[^\w\s])", "", decision.model_card())
    for text in (" ".join(str(decision).split()), card, *documents):
        assert_shown(text, pair)
    for width in WIDTHS:
        said = decision.say(width)
        table_lines = said.split("\n\n")[1].splitlines()[1:]
        assert len({re.split(r" {2,}", line)[0] for line in table_lines}) == 2, said


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("chart", "pair"), [*zip(cycle(PLOTS), PAIRS.values())])
@pytest.mark.usefixtures("with_schema")
def test_a_chart_tells_models_apart(chart: str, pair: tuple[str, str]) -> None:
    options: dict[str, Any] = {**PLOTS[chart], "model": "model"}
    if chart in ("monitor", "alerts"):
        options |= {"by": options.pop("model")}
    if chart == "monitor":
        options |= {"time": "week", "threshold": 0.5}
    drawn = getattr(build_rows(pair).prc.plot, chart)(**options)
    text = json.dumps(drawn.to_dict(), ensure_ascii=False)
    assert_shown(text.replace('\\"', '"'), pair)


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_tables_of_the_terminal_tell_models_apart(pair: tuple[str, str]) -> None:
    result = build_rows(pair).prc.summary(0.1, by="model", metrics="roc_auc", confidence=0.9)
    for width in WIDTHS:
        lines, _ = format_table(result, Layout(["model"], ["value"]), width)
        table_lines = lines[next(i for i, line in enumerate(lines) if line.startswith("---")) + 1 :]
        first_words = {re.split(r" {2,}", line)[0] for line in table_lines}
        assert len(first_words) == len(table_lines) == 2, lines
