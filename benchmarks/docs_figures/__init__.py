"""Which figures of the docs come from which table; `benchmarks/coverage.py --docs` writes them."""

from . import of_coverage, of_decisions, of_monitoring, of_pages
from .held import ROOT, Sentence, is_stored

FIGURES: list[Sentence] = [
    *of_coverage.FIGURES, *of_decisions.FIGURES, *of_monitoring.FIGURES, *of_pages.FIGURES,
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


__all__ = ["FIGURES", "PAGES", "Sentence", "is_stored", "write_docs", "write_page"]
