"""The papers, reproduced: scripts hold their numbers to limits, and docs/papers.md shows them."""

from __future__ import annotations

import importlib.util
import math
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

# All go to one worker, which then runs the scripts once.
pytestmark = [pytest.mark.extras, pytest.mark.xdist_group("papers")]

ROOT = Path(__file__).parent.parent
PAPERS = ROOT / "examples" / "papers"
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
FIGURES = {
    "williams": {"1"},
    "brabec": {"1", "2", "3", "4", "5", "6"},
    "brodersen": {"1", "2"},
    "richardson": {"2", "3", "4", "5", "6", "7", "8", "9"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `python examples/papers --fast` writes."""
    folder = tmp_path_factory.mktemp("papers")
    command = [sys.executable, "-W", "error", str(PAPERS), str(folder), "--fast"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return folder


@pytest.fixture(scope="module")
def numbers(folder: Path) -> pl.DataFrame:
    return pl.read_csv(folder / "numbers.csv", infer_schema=False).fill_null("")


@pytest.fixture(scope="module")
def common() -> ModuleType:
    spec = importlib.util.spec_from_file_location("papers_common", PAPERS / "common.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def scripts() -> set[str]:
    """All files that are a figure, and not what figures share."""
    paths = PAPERS.glob("*.py")
    return {path.stem for path in paths if "\ndef main(figure: Figure)" in path.read_text("utf-8")}


# Scripts --------------------------------------------------------------------------------------


def test_every_figure_has_its_script() -> None:
    found: dict[str, set[str]] = {}
    for name in scripts():
        paper, *rest = name.split("_")
        found.setdefault(paper, set()).update(part for part in rest if part.isdigit())
    assert {paper: figures for paper, figures in found.items() if figures} == FIGURES
    assert "balanced_precision" in scripts()


def test_every_script_checks_numbers_and_draws(folder: Path, numbers: pl.DataFrame) -> None:
    assert set(numbers["figure"]) == scripts()
    assert {path.stem for path in folder.glob("*.png")} == scripts()
    assert all(path.stat().st_size > 5_000 for path in folder.glob("*.png"))
    held = numbers.filter(pl.col("limit") != "").group_by("figure").len()
    assert set(held.filter(pl.col("len") >= 3)["figure"]) == scripts()


def test_only_one_number_is_told_and_not_held(numbers: pl.DataFrame) -> None:
    assert numbers.filter(limit="")["what"].to_list() == ["alpha-binormal at 0.05"]


@pytest.mark.parametrize("name", sorted(scripts()))
def test_scripts_use_what_is_public(name: str) -> None:
    source = (PAPERS / f"{name}.py").read_text(encoding="utf-8")
    assert not re.search(r"polars_prcurve\.(?!metrics)\w|polars_prcurve import _", source)


# Limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "inside", "outside"),
    [
        (("about", 0.5, 0.01), [0.49, 0.5, 0.51], [0.4899, 0.5101, math.nan]),
        (("about", 3.0, 0.0), [3.0], [3.0000001, 2.9999999, math.nan]),
        (("at_most", 1e-12), [0.0, -1.0], [2e-12, math.nan]),
        (("at_least", 2.0), [2.0, 9.0], [1.999, math.nan]),
    ],
)
def test_a_number_outside_of_its_limit_does_not_hold(
    common: ModuleType, limit: tuple, inside: list[float], outside: list[float]
) -> None:
    figure = common.Figure("a_figure")
    for number in [*inside, *outside]:
        figure.check("a number", "", number, getattr(common, limit[0])(*limit[1:]))
    assert figure.table()["holds"].to_list() == [True] * len(inside) + [False] * len(outside)


def test_what_does_not_hold_stops_the_run(common: ModuleType, tmp_path: Path) -> None:
    def empty(figure: object) -> object:
        return None

    def wrong(figure: object) -> object:
        figure.check("one is two", "", 1, common.about(2, 0.5))  # type: ignore[attr-defined]
        import altair as alt

        return alt.Chart(alt.InlineData(values=[{"x": 1}])).mark_point().encode(x="x:Q")

    for main, message in ((empty, "checks nothing"), (wrong, "one is two")):
        with pytest.raises(common.OutsideError, match=message):
            common.reproduce([main], tmp_path, fast=True)


# The page -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown() -> pl.DataFrame:
    """The rows of the tables of docs/papers.md."""
    rows, figure = [], ""
    for line in PAGE.partition("## What became")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] in ("where", "---"):
            continue
        if cells[0]:
            figure = Path(cells[0].partition("`")[2].rstrip("`")).stem
        rows.append([figure, *cells[1:]])
    return pl.DataFrame(rows, schema=["figure", "what", "paper", "found"], orient="row")


def test_the_page_shows_the_numbers_of_the_scripts(shown: pl.DataFrame, numbers: pl.DataFrame) -> None:
    listed = numbers.filter(listed="true")
    same = ["figure", "what", "paper"]
    assert shown.select(same).rows() == listed.select(same).rows()
    exact = listed["exact"] == "true"
    assert exact.sum() > 25
    columns = ["figure", "what", "found"]
    assert shown.select(columns).filter(exact).rows() == listed.select(columns).filter(exact).rows()
    assert f"all {numbers.height} numbers" in PAGE


def test_what_the_page_shows_of_larger_simulations_is_within_its_limits(
    shown: pl.DataFrame, numbers: pl.DataFrame
) -> None:
    drawn = numbers.filter(listed="true").with_columns(found=shown["found"]).filter(exact="false")
    limits = drawn.filter(pl.col("limit").str.contains(" ± "))
    assert limits.height > 5
    for what, found, limit in limits.select("what", "found", "limit").iter_rows():
        middle, _, slack = limit.partition(" ± ")
        assert abs(float(found) - float(middle)) <= float(slack) * 1.01, what


def test_the_page_has_small_images() -> None:
    names = re.findall(r"images/papers/(\w+)\.png", PAGE)
    assert set(names) <= scripts()
    folder = ROOT / "docs" / "images" / "papers"
    assert {path.stem for path in folder.iterdir()} == set(names)
    assert max(path.stat().st_size for path in folder.iterdir()) < 60_000
