"""Published numbers, recomputed with this library, and what they become where positives are rarer.

    python examples/published [--only NAME] [--docs]

Prints one block per source. With --docs the tables of docs/published-numbers.md are made anew.
"""

from __future__ import annotations

import argparse

from story import HERE, NAMES, fill, print_story, stories

PAGE = HERE.parent.parent / "docs" / "published-numbers.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", choices=NAMES, metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--docs", action="store_true", help=f"make the tables of {PAGE.name} anew")
    asked = parser.parse_args()
    for name, story in stories([asked.only] if asked.only else NAMES).items():
        print_story(name, story)
    if asked.docs:
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
