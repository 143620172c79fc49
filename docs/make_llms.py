"""Write llms.txt: a plain list of all pages for language models, each with its first sentence.

    python docs/make_llms.py [folder]

The folder holds the pages, and gets the file: this one, if none is given. Write the reference first, so
that its pages are listed, too. The repository holds neither.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

DOCS = Path(__file__).parent
NAVIGATION = DOCS.parent / "mkdocs.yml"
HEAD = """# polars_prcurve

> Precision-recall analysis at any prevalence, in Polars. Recall and false positive rate of a classifier
> are measured once; precision, F-scores, areas, alerts and the rank among models follow at any
> prevalence, with confidence intervals.

`pip install polars-prcurve`, then `import polars_prcurve` registers the namespace `prc` on DataFrame,
LazyFrame and expressions. A table has one row per example, with its score and its label; `eta=` is the
prevalence where the model runs. `test = df.prc(score="p", label="outcome", by="country")` names the
columns once; `test.summary(eta=0.001)` is a call.
"""
ENTRY = re.compile(r"^(?P<indent> *)- (?:(?P<title>[^:\n]+):)?\s*(?P<page>\S+\.md)?$", re.M)


def read_navigation(text: str) -> Iterator[tuple[str, str]]:
    """Yield each section and page of the navigation, from the text of mkdocs.yml."""
    section = "Start"
    for entry in ENTRY.finditer(text[text.index("\nnav:") :]):
        if entry["page"]:
            yield section if entry["indent"].strip("\n") > "  " else "Start", entry["page"]
        elif entry["title"]:
            section = entry["title"].strip()


def describe_page(text: str) -> tuple[str, str]:
    """Return the heading of a page and the first sentence under it, without links and marks."""
    text = unescape(re.sub(r"^<h1[^>]*>(.*)</h1>$", r"# \1", text, flags=re.M)).replace("\u00a0", " ")
    heading = re.search(r"^# (.+)$", text, flags=re.M)
    if heading is None:
        raise ValueError("a page without a heading")
    blocks = re.split(r"\n\s*\n", text[heading.end() :].strip())
    prose = next((b for b in blocks if not re.match(r"[#`|<!>*-]|\d\.|---", b)), "")
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(prose.split()))
    return re.sub(r"<[^>]+>", "", heading[1]), re.split(r"(?<=[.?!])\s", plain, maxsplit=1)[0]


def write_llms(docs: Path, navigation: str) -> None:
    """Write llms.txt beside the pages that are there."""
    lines, last = [HEAD], ""
    for section, page in read_navigation(navigation):
        if not (docs / page).exists():
            continue
        if section != last:
            lines.append(f"\n## {section}\n")
            last = section
        title, sentence = describe_page((docs / page).read_text(encoding="utf-8"))
        html = page.removesuffix(".md") + ".html"
        lines.append(f"- [{title}]({html})" + (f": {sentence}" if sentence else ""))
    (docs / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS
    write_llms(folder, NAVIGATION.read_text(encoding="utf-8"))
