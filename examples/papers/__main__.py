"""Every figure of five sources, from the library: numbers beside those of the papers, and charts.

    python examples/papers [folder] [--fast] [--docs]

With --docs the tables and images of docs/papers.md are made anew. The full size takes some two minutes.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import polars as pl
from common import Main, arguments, reproduce, title

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"
SCRIPTS = [
    "williams_1", "williams_training", "williams_gains",
    "brabec_1", "brabec_2", "brabec_3", "brabec_4", "brabec_5", "brabec_6", "brabec_width",
    "brodersen_1", "brodersen_2", "brodersen_equations",
    "richardson_2_3", "richardson_4", "richardson_5", "richardson_6", "richardson_7_8", "richardson_9",
    "balanced_precision",
]  # fmt: skip
BLOCK = re.compile(r"(<!-- numbers: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    parser = arguments(str(__doc__).splitlines()[0])
    parser.add_argument("--docs", action="store_true", help="make docs/papers.md and its images anew")
    asked = parser.parse_args()
    mains: dict[str, Main] = {name: import_module(name).main for name in SCRIPTS}
    numbers = reproduce(list(mains.values()), asked.folder, fast=asked.fast)
    print(f"{numbers.height} numbers, all within their limits; see {asked.folder}")
    if asked.docs:
        page = filled((DOCS / "papers.md").read_text(encoding="utf-8"), numbers, mains)
        (DOCS / "papers.md").write_text(page, encoding="utf-8")
        images(asked.folder, page)


def filled(page: str, numbers: pl.DataFrame, mains: dict[str, Main]) -> str:
    """The page with a table in each block: of all scripts whose name starts as the block says."""

    def table(block: re.Match[str]) -> str:
        rows = numbers.filter(pl.col("figure").str.starts_with(block[2]), "listed")
        lines = ["| where | what | it says | here |", "|---|---|---|---|"]
        last = ""
        for row in rows.iter_rows(named=True):
            name = row["figure"]
            where = title(mains[name]).partition(":")[0].partition(", ")[2] or "the example"
            place = "" if name == last else f"{where}, `{name}.py`"
            last = name
            cells = (place, row["what"], row["paper"], row["found"])
            lines.append(f"| {' | '.join(cells)} |")
        return "".join([block[1], *(f"{line}\n" for line in lines), block[3]])

    return BLOCK.sub(table, page)


def images(folder: Path, page: str) -> None:
    """The charts that the page shows."""
    sys.path.append(str(HERE.parent))
    compress = import_module("gallery").compress
    (DOCS / "images" / "papers").mkdir(exist_ok=True)
    for name in re.findall(r"images/papers/(\w+)\.png", page):
        image = compress((folder / f"{name}.png").read_bytes())
        (DOCS / "images" / "papers" / f"{name}.png").write_bytes(image)


if __name__ == "__main__":
    main()
