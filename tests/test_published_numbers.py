"""Numbers that others printed, recomputed from their counts, and the page of what becomes of them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

ROOT = Path(__file__).parent.parent
PUBLISHED = ROOT / "examples" / "published"
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
SOURCES = (PUBLISHED / "SOURCES.md").read_text(encoding="utf-8")
NAMES = sorted({path.stem for path in PUBLISHED.glob("*.py")} - {"__main__", "story", "strips"})
DIFFER = {  # what the source printed otherwise, or rounded before
    ("liver_scan", "precision (yardstick)"),  # 0.878327, cut off after five digits
    ("liver_scan", "negative predictive value (BMJ, web)"),  # 54/81 printed as 0.59
    ("serology", "low end of its interval"),
    ("serology", "high end of its interval"),
    ("face_recognition", "wrong among alerts"),  # 2297/2470 printed as 92%
    ("polygraph", "false alarms per true one at 0.01"),  # from a rounded row
}


@pytest.fixture(scope="module")
def shared() -> Iterator[ModuleType]:
    """Yield what the sources share, imported as the command imports it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PUBLISHED))
        yield import_module("story")
    for name in ("story", *NAMES):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def stories(shared: ModuleType) -> dict[str, Any]:
    return shared.stories(shared.NAMES)


@pytest.fixture(scope="module")
def numbers(stories: dict[str, Any]) -> dict[str, Any]:
    return {name: story.numbers() for name, story in stories.items()}


# Numbers --------------------------------------------------------------------------------------


def test_the_title_tells_how_many_there_are(shared: ModuleType, stories: dict[str, Any]) -> None:
    assert sorted(shared.NAMES) == NAMES
    assert "\n## What became of twenty published numbers?\n" in PAGE
    assert len(NAMES) == 20
    assert sum(story.fetched for story in stories.values()) >= 10


def test_printed_numbers_are_ours_to_their_last_digit(numbers: dict[str, Any]) -> None:
    rows = [(name, row) for name, found in numbers.items() for row in found.printed]
    assert {name for name, _ in rows} == set(NAMES)
    assert {(name, row.what) for name, row in rows if not row.same} == DIFFER


def test_the_interval_of_the_fda_is_ours_but_for_rounding(numbers: dict[str, Any]) -> None:
    found = {row.what: row.here for row in numbers["serology"].printed}
    assert found["precision at 5%"] == "all 134"
    assert found["low end of its interval"] == "130 of 134, the others within 0.072"
    assert found["high end of its interval"] == "132 of 134, the others within 0.053"


@pytest.mark.parametrize("name", NAMES)
def test_every_source_is_measured_and_moved(numbers: dict[str, Any], name: str) -> None:
    found = numbers[name]
    assert found.measured
    assert found.becomes
    for value in (*found.measured, *found.becomes):
        assert 0 < value.eta < 1
        assert -1 < value.value <= 1
        if value.low is not None:
            assert value.low <= value.value <= value.high, value


def test_what_the_sentences_say(numbers: dict[str, Any]) -> None:
    def values(name: str, kind: str, what: str) -> list[float]:
        return [value.value for value in getattr(numbers[name], kind) if value.what == what]

    first, second = values("recidivism", "measured", "precision")
    there, there_second = values("recidivism", "becomes", "precision")
    assert first > second
    assert there < there_second
    for kind in ("measured", "becomes"):  # the grade leads by roc_auc, 0.824 to 0.731
        grade, marker = values("haemorrhage", kind, "average precision")
        assert grade < marker
    assert min(values("spam_filter", "becomes", "precision")) > 0.98
    assert values("essays", "measured", "fpr") == [0]
    assert values("essays", "becomes", "fpr")[0] > 0.5
    scanner, other = values("vulnerabilities", "becomes", "precision")
    assert scanner < 0.1
    assert round(other, 2) == 0.74
    there_as_seen = {"sepsis": 0.31, "antigen_test": 0.58}
    for name, seen in there_as_seen.items():
        assert round(values(name, "becomes", "precision")[1], 2) == seen
    studies = values("alcohol", "becomes", "precision")
    assert [round(value, 2) for value in studies] == [0.09, 0.37]


def test_a_number_beyond_its_last_digit_is_seen(shared: ModuleType) -> None:
    cases = [("12%", 0.1249, 0.1251), ("0.45", 0.4549, 0.4551), ("0.0640000", 0.06400004, 0.06400006)]
    for printed, inside, outside in cases:
        found = shared.Numbers()
        found.check("inside", printed, inside)
        found.check("outside", printed, outside)
        assert [row.same for row in found.printed] == [True, False]
    found = shared.Numbers()
    found.check_all("three", pl.Series([1.0, 2.0, 3.0]), pl.Series([1.04, 2.06, 3.0]), decimals=1)
    assert found.printed[0].here == "2 of 3, the others within 0.06"


# Sources --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_source_says_where_it_is_from(stories: dict[str, Any], name: str) -> None:
    story = stories[name]
    words = str(import_module(name).__doc__)
    if story.fetched:
        assert re.search(r"[\w.-]+/[\w.-]+ at [0-9a-f]{10}", words), "no repository and commit"
        assert re.search(r"licence|GPL|CC0", words), "no licence"
    for text in (story.claim, story.place, story.field, story.so):
        assert text
    assert len(re.findall(r"[.?!](?= |$)", story.so)) <= 3


def test_data_are_small_tables_of_counts() -> None:
    files = list((PUBLISHED / "data").iterdir())
    assert {path.suffix for path in files} == {".csv"}
    assert sum(path.stat().st_size for path in files) < 100_000
    words = {"tool", "model", "finding", "marker"}
    for path in files:
        table = pl.read_csv(path)
        texts = {name for name, dtype in table.schema.items() if dtype == pl.String}
        assert texts <= words, f"{path.name} has columns of text {texts}"
        counts = set(table.columns) & {"tp", "fp", "fn", "tn", "n_pos", "n_neg"}
        assert len(counts) in {2, 4}
        assert all(table[name].dtype == pl.Int64 for name in counts)


def test_sources_use_what_is_public() -> None:
    for name in (*NAMES, "story"):
        text = (PUBLISHED / f"{name}.py").read_text(encoding="utf-8")
        assert not re.search(r"polars_prcurve\.\w|polars_prcurve import _", text), name


# The page -------------------------------------------------------------------------------------


def test_the_page_shows_what_comes_out(shared: ModuleType, stories: dict[str, Any]) -> None:
    assert shared.fill(PAGE) == PAGE
    assert shared.fill(SOURCES) == SOURCES
    titles = [story.title for story in stories.values()]
    assert re.findall(r"^\| ([^|]+) \|.*\*\* \|$", PAGE, flags=re.M) == titles
    assert re.findall(r"^- \*\*(.+?)\.\*\* From", SOURCES, flags=re.M) == titles


@pytest.mark.slow
def test_the_command_prints_one_source() -> None:
    command = [sys.executable, "-W", "error", str(PUBLISHED), "--only", "tornadoes"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "28.0% (20.1 to 37.5): precision at 1.8%" in done.stdout
    assert "Sepsis" not in done.stdout
