"""Where data are, and where results go: the recipes for Delta, Iceberg, notebooks and tables."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest

import polars_prcurve
from polars_prcurve import engines

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
RNG = np.random.default_rng(7)
LABEL = RNG.random(4_000) < 0.2
DF = pl.DataFrame(
    {
        "day": [date(2026, 2, 27 + i % 2) if i % 3 else date(2026, 3, 1) for i in range(4_000)],
        "model": RNG.choice(["careful", "broad"], 4_000),
        "score": 2 * LABEL + RNG.normal(size=4_000),
        "label": LABEL,
    }
)


def blocks(page: str, kind: str = "python") -> list[str]:
    """Return the blocks of code of a page that have no results below."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(rf"^```{re.escape(kind)}\n(.*?)^```$", text, flags=re.M | re.S)
    return [block for block in found if ">>>" not in block]


def block_with(page: str, part: str) -> str:
    [block] = [block for block in blocks(page) if part in block]
    return block


# Where data are -------------------------------------------------------------------------------


def write_delta(folder: Path) -> Callable[[], pl.LazyFrame]:
    pytest.importorskip(
        "deltalake", reason="needs deltalake, which is too large to ask of every test run"
    )
    DF.write_delta(folder / "delta")
    return lambda: pl.scan_delta(folder / "delta")


def write_iceberg(folder: Path) -> Callable[[], pl.LazyFrame]:
    memory = pytest.importorskip("pyiceberg.catalog.memory", reason="needs pyiceberg[sql-sqlite]")
    catalog = memory.InMemoryCatalog("tests", warehouse=folder.as_uri())
    catalog.create_namespace("tests")
    table = catalog.create_table("tests.scores", schema=DF.to_arrow().schema)
    for _, part in sorted(DF.partition_by("day", as_dict=True).items()):
        table.append(part.to_arrow())
    catalog.close()
    return lambda: pl.scan_iceberg(table)


def write_iceberg_metadata(folder: Path) -> Callable[[], pl.LazyFrame]:
    pytest.importorskip("pyiceberg.catalog.memory", reason="needs pyiceberg[sql-sqlite]")
    write_iceberg(folder)
    newest = sorted(folder.rglob("*.metadata.json"))[-1]
    return lambda: pl.scan_iceberg(str(newest))


def write_hive(folder: Path) -> Callable[[], pl.LazyFrame]:
    DF.write_parquet(folder / "store", partition_by="day", mkdir=True)
    return lambda: pl.scan_parquet(folder / "store", hive_partitioning=True)


SOURCES = {
    "Hive": write_hive,
    "Delta": write_delta,
    "Iceberg": write_iceberg,
    "Iceberg, by its metadata": write_iceberg_metadata,
}


@pytest.mark.filterwarnings("ignore::polars.exceptions.PerformanceWarning")  # polars_iceberg is faster
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    "write",
    [
        pytest.param(write, id=name, marks=[] if write is write_hive else pytest.mark.extras)
        for name, write in SOURCES.items()
    ],
)
def test_a_scan_is_as_good_as_the_table(
    write: Callable[[Path], Callable[[], pl.LazyFrame]], tmp_path: Path
) -> None:
    scan = write(tmp_path)
    asked: dict[str, Any] = {"eta": [0.1, 0.001], "by": "model", "confidence": 0.9}
    march = pl.col("day") >= date(2026, 3, 1)
    for part in (pl.lit(True), march):
        found = scan().filter(part).prc.summary(columns="all", **asked).collect(engine="streaming")
        assert found.equals(DF.filter(part).prc.summary(columns="all", **asked))
    counts = scan().prc.counts(by="day").collect(engine="streaming")
    assert counts.equals(DF.prc.counts(by="day"))
    in_polars = engines.counts(scan(), by=["model"]).collect()
    assert in_polars.equals(DF.prc.counts(by="model"))


@pytest.mark.extras
def test_the_page_of_sources_has_a_query_that_runs(tmp_path: Path) -> None:
    scan = write_delta(tmp_path)
    code = block_with("docs/pipelines.md", "scan_delta")
    assert '"scores"' in code
    names: dict[str, Any] = {"pl": pl, "date": date}
    exec(code.replace('"scores"', repr(str(tmp_path / "delta"))), names)
    march = scan().filter(pl.col("day") >= date(2026, 3, 1)).collect()
    assert names["areas"].equals(march.prc.summary(0.001, by="model", columns="all"))


# Where results go -----------------------------------------------------------------------------


@pytest.mark.extras
def test_the_marimo_notebook_runs_as_a_script() -> None:
    pytest.importorskip("marimo", reason="needs marimo, which is too large to ask of every test run")
    command = [sys.executable, str(EXAMPLES / "screening_marimo.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "12.181069" in done.stdout, "the alerts among 1,000 women at recall 0.95"


@pytest.mark.extras
@pytest.mark.filterwarnings("ignore")  # of marimo and what it imports
def test_the_marimo_notebook_shows_a_chart_and_a_table() -> None:
    marimo = pytest.importorskip("marimo", reason="needs marimo")
    app = runpy.run_path(str(EXAMPLES / "screening_marimo.py"))["app"]
    outputs, names = app.run()
    assert isinstance(names["chart"], alt.TopLevelMixin)
    assert names["shown"].equals(
        names["df"]
        .prc.operating_points(0.004, recall=[0.8, 0.9, 0.95], per=1_000, confidence=0.95, columns="all")
        .select(names["shown"].columns)
    )
    kinds = [type(output) for output in outputs]
    assert marimo.ui.altair_chart in kinds
    assert marimo.ui.table in kinds


def test_the_page_shows_the_marimo_notebook() -> None:
    notebook = (EXAMPLES / "screening_marimo.py").read_text(encoding="utf-8")
    assert block_with("docs/figures.md", "@app.cell").strip() in notebook


@pytest.mark.extras
def test_the_cells_of_the_quarto_page_run() -> None:
    """As Quarto does: in order, and the last line of a cell is what it shows."""
    text = (EXAMPLES / "screening.qmd").read_text(encoding="utf-8")
    cells = re.findall(r"^```\{python\}\n(.*?)^```$", text, flags=re.M | re.S)
    shown, names = [], dict[str, Any]()
    for cell in cells:
        body, _, last = cell.rstrip().rpartition("\n")
        exec(body, names)
        if last.startswith(("df.", "points.")):
            shown.append(eval(last, names))
        else:
            exec(last, names)
    chart, table = shown
    assert isinstance(chart, alt.TopLevelMixin)
    assert table.columns[0] == "eta"
    assert table.height == 2
    [sentence] = re.findall(r"`\{python\} (.*?)`", text)
    assert eval(sentence, names) == f"{table['alerts'].min():.0f}" == "6"
    [example] = re.findall(
        r"````markdown\n(.*?)````", (ROOT / "docs/figures.md").read_text("utf-8"), flags=re.S
    )
    assert example.strip() in text
    assert sentence in (ROOT / "docs/figures.md").read_text(encoding="utf-8")


@pytest.mark.extras
def test_great_tables_takes_operating_points() -> None:
    pytest.importorskip("great_tables", minversion="1.0", reason="needs great-tables")
    names: dict[str, Any] = {"df": DF, "pl": pl, "polars_prcurve": polars_prcurve}
    exec(block_with("docs/figures.md", "GT("), names)
    html = names["table"].as_raw_html()
    words = " ".join(re.sub("<[^>]+>", " ", html[html.index("<table") :]).split())
    points = names["points"]
    for row in points.iter_rows(named=True):
        names_of_ends = ("precision", "precision_low", "precision_high")
        ends = [f"{100 * row[name]:#.2g}".removesuffix(".") for name in names_of_ends]
        assert "{}% ({}% to {}%)".format(*ends) in words
    assert [words.count(name) for name in ("broad", "careful")] == [1, 1], "one heading for each"
