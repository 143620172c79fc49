"""Which figures of the docs come from which table; `benchmarks/coverage.py --docs` writes them."""

from . import (
    of_designs,
    of_differences,
    of_estimates,
    of_intervals,
    of_labels,
    of_monitoring,
    of_promises,
)
from .held import ROOT, Grid, Held, Sentence, is_stored

FIGURES: list[Held] = [
    *of_intervals.FIGURES, *of_differences.FIGURES, *of_promises.FIGURES,
    *of_estimates.FIGURES, *of_designs.FIGURES, *of_labels.FIGURES, *of_monitoring.FIGURES,
]  # fmt: skip
PAGES = list(dict.fromkeys(held.page for held in FIGURES))


def write_page(page: str, text: str) -> str:
    """Return the text of a page with all of its figures as the stored tables have them."""
    for held in FIGURES:
        if held.page == page and all(is_stored(table) for table in held.tables):
            text = held.write(text)
    return text


def write_docs() -> None:
    """Write the stored figures into the docs."""
    for page in PAGES:
        path = ROOT / "docs" / f"{page}.md"
        path.write_text(write_page(page, path.read_text(encoding="utf-8")), encoding="utf-8")


__all__ = ["FIGURES", "PAGES", "Grid", "Held", "Sentence", "is_stored", "write_docs", "write_page"]
