"""The docs' figures of coverage are those of stored tables, and the tables are those of the simulations.

`benchmarks/docs_figures` says which sentence and which table of the docs has which figure, and
`python benchmarks/coverage.py --docs` writes them. Here the docs must be what it would write.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from benchmarks.docs_figures import FIGURES, PAGES, write_page
from benchmarks.docs_figures.held import TABLES, Figure, Sentence, least, most, read_table
from benchmarks.docs_figures.of_coverage import FRESH

DOCS = Path(__file__).parent.parent / "docs"
STORED = sorted(path.stem for path in TABLES.glob("*.csv"))
SHARE = re.compile(r"\d[\d.]*%|\d\.\d+ \.\. \d|\| \d+\.\d (?=\|)")
CODE = re.compile(r"^```.*?^```$", flags=re.DOTALL | re.MULTILINE)
NOMINAL = re.compile(r"(95|5)%")
"""The levels that intervals and tests are asked for."""

CHECKED = sorted({path.stem for path in DOCS.glob("*.md")} - {"papers"})
"""All pages except the one whose figures scripts write."""

EXPLAINED = {
    "--margin 2% --fail-unless": "an argument",
    "of 4 at a power of 50%": "the standard error of 150 sets",
    "nearly all scores differ, and 10% are positive": "the table of benchmarks/scale.py",
    "with 1% positives, 100 prevalences cost hardly more than one, with 50%": "benchmarks/costs.py",
    "precision is <b>99%</b> in the test set": "the example of the README",
    "Precision is 99% in the test set": "the same",
    "at 50% recall, or at the only point, every interval rules out": "where chance is judged",
    "With 80% probability, a test set of this size": "the power of `would_settle`",
    "| two decimals | 2.6 |": "documents per score, not a share",
    "within 0.5% of `1 - guarantee` at a `guarantee` of 0.95 or less, 2% at 0.99 and 9% at 0.999": (
        "computed"
    ),
    "which leaves 4% for the tests. A 90% interval": "how 5% are shared",
}
"""Other shares on these pages, with what they are."""


def list_shares_in_code(text: str) -> set[str]:
    """Return the numbers of the examples of a page as shares in per cent, with up to two digits."""
    numbers = re.findall(r"\d*\.\d+|\d[\d.]*%", " ".join(CODE.findall(text)))
    values = [float(text.removesuffix("%")) / (100 if "%" in text else 1) for text in numbers]
    return {f"{100 * value:.{digits}f}%" for value in values for digits in (0, 1, 2)}


def find_unheld(page: str) -> list[str]:
    """Return the shares of a page that no table, no example and no explanation has."""
    whole = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    text = CODE.sub("", whole)
    for held in FIGURES:
        if held.page == page:
            start, end = held.find(text).span()
            text = text[:start] + " \n " + text[end:]
    for phrase in EXPLAINED:
        text = re.sub(r"\s+".join(map(re.escape, phrase.split())), " ", text)
    shares = {share[0] for share in SHARE.finditer(text)} - list_shares_in_code(whole)
    return sorted(share for share in shares if not NOMINAL.fullmatch(share))


@pytest.mark.parametrize("page", PAGES)
def test_figures_of_the_docs_are_those_of_the_stored_tables(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert write_page(page, text) == text, "run python benchmarks/coverage.py --docs"


def test_a_wrong_figure_is_found() -> None:
    ends = (Figure("posteriors", end("coverage")) for end in (least, most))
    held = Sentence("coverage", "the interval holds {} to {}%", *ends)
    low, high = held.find_figures()
    page = f"Here the interval\n  holds {low} to {high}% of them."
    assert held.write(page) == page
    assert held.write(page.replace(low, "12.3")) == page
    with pytest.raises(LookupError, match="found 0 times"):
        held.find("Here the interval fails")


def test_every_stored_table_is_used_in_the_docs() -> None:
    assert sorted(set().union(*(held.tables for held in FIGURES))) == STORED


def test_stored_tables_are_small() -> None:
    assert sum((TABLES / f"{name}.csv").stat().st_size for name in STORED) < 960_000


@pytest.mark.parametrize("page", CHECKED)
def test_every_share_on_a_page_is_held_shown_or_explained(page: str) -> None:
    assert find_unheld(page) == []


@pytest.mark.parametrize("phrase", EXPLAINED)
def test_what_is_explained_is_still_there(phrase: str) -> None:
    pattern = re.compile(r"\s+".join(map(re.escape, phrase.split())))
    assert any(pattern.search((DOCS / f"{page}.md").read_text(encoding="utf-8")) for page in CHECKED)


# The tables are those of the code -------------------------------------------------------------

AGAIN = {
    "bands": (0, 600),
    "bootstrap": (0, 10),
    "cluster_areas": (1, 60),
    "field_areas": (0, 30),
    "field_bands": (0, 30),
    "field_promises": (0, 30),
    "label_pairs": (0, 20),
    "labels": (0, 30),
    "maxima": (0, 10),
    "missed_positives": (0, 1),
    "sampled_eta_areas": (2, 30),
    "sampled_eta_differences": (4, 60),
    "sizes": (1, 100),
    "together": (1, 60),
}
"""Which cell is drawn again, with how many test sets; of others the first one, with 60. So few show that
a formula is wrong; how right it is, the stored tables tell, of many more."""


def is_near(found: float | None, stored: float | None, n: float, n_stored: float) -> bool:
    """Whether two shares, or means of numbers from 0 to 1, differ by no more than chance."""
    if found is None or stored is None:
        return found is stored or min(n, n_stored) < 20
    middle = (found * n + stored * n_stored + 2) / (n + n_stored + 4)
    spread = abs(middle * (1 - middle)) * (1 / max(n, 1) + 1 / max(n_stored, 1))
    return abs(found - stored) <= 4.5 * spread**0.5 + 0.002


@pytest.mark.slow
def test_populations_that_no_formula_was_tuned_on_are_those_of_the_simulations() -> None:
    pytest.importorskip("scipy")
    from benchmarks.experiments import populations

    assert [population.name for population in populations.FRESH] == [*FRESH]


@pytest.mark.slow
@pytest.mark.parametrize("name", STORED)
def test_stored_tables_have_all_cells(name: str) -> None:
    pytest.importorskip("scipy")
    from benchmarks.experiments import EXPERIMENTS

    one = EXPERIMENTS[name]
    found = read_table(name).group_by("cell").agg(pl.col("n_sets").unique()).sort("cell")
    assert found["cell"].to_list() == list(range(len(one.cells)))
    for cell, numbers in zip(one.cells, found["n_sets"], strict=True):
        most_sets = one.n_sets(cell)
        assert numbers.is_between(min(100, most_sets), most_sets).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", STORED)
def test_stored_tables_are_those_of_the_simulations(name: str) -> None:
    pytest.importorskip("scipy")
    from benchmarks.experiments import EXPERIMENTS

    cell, n_sets = AGAIN.get(name, (0, 60))
    found = EXPERIMENTS[name].run_cell(cell, n_sets)
    stored = read_table(name).filter(cell=cell)
    assert found.columns == stored.columns
    for new, old in zip(found.iter_rows(named=True), stored.iter_rows(named=True), strict=True):
        of_marked = {
            "coverage_of_marked": "marked",
            "rejected_of_marked": "marked",
            "recall_share": "found",
        }
        of_marked |= {"coverage": "met", "marked": "met"} if "met" in new else {}
        for column in (column for column in found.columns if column != "n_sets"):
            part = of_marked.get(column)
            n, n_old = (row["n_sets"] * (1 if part is None else row[part] or 0) for row in (new, old))
            if part is not None and (n == 0 or n_old == 0):
                continue
            if new[column] is None or isinstance(new[column], str | int):
                assert new[column] == old[column]
            else:
                assert is_near(new[column], old[column], n, n_old), column
