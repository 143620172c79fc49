"""Published numbers, recomputed with this library, and what they become where positives are rarer.

    python examples/published [--only NAME] [--docs]

Prints one block per source. With --docs the table in docs/papers.md, SOURCES.md and the picture are new.
"""

from __future__ import annotations

import argparse

from story import HERE, NAMES, fill, print_story, stories

PAGE = HERE.parent.parent / "docs" / "papers.md"
SOURCES = HERE / "SOURCES.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", choices=NAMES, metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--docs", action="store_true", help="make the table and its picture anew")
    asked = parser.parse_args()
    for name, story in stories([asked.only] if asked.only else NAMES).items():
        print_story(name, story)
    if asked.docs:
        from strips import write_strips  # which needs what draws charts

        for path in (PAGE, SOURCES):
            path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")
        write_strips(PAGE.parent / "images" / "published.png")


if __name__ == "__main__":
    main()
