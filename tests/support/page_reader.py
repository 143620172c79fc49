"""What stands in an HTML page, and names that want to do harm there."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a:b",
    "x.y",
    "z[0]",
    "\"quoted\" & 'single'",
    "🦊",
    "שלום",
    "long " * 60,
    "a\x01b",
    "\x1b]0;title\x07",
    "nul\0",
    "\x7f\x85\x9b",
    "\ufffe\uffff",
    "turn \u202edrow\u2066 \u2028line",
]

UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066\u2067\ud800-\udfff\ufffe\uffff]"
)

NAMES_OF_PAGES = {
    "recall": "recall",
    "value": "precision",
    "low": "precision_low",
    "high": "precision_high",
    "alerts": "alerts",
    "alertsLow": "alerts_low",
    "alertsHigh": "alerts_high",
}
"""What the scripts of pages compute, by its name in the table of operating points."""


def show(name: str) -> str:
    """Return the name as a page shows it, written down apart from the package."""
    symbols = dict(zip("\0\x01\x07\x1b\x7f", "␀␁␇␛␡", strict=True))
    return UNSEEN.sub(lambda found: symbols.get(found[0], "�"), name)


class PageReader(HTMLParser):
    """The tags of a page, all of which are closed, and the texts in them."""

    VOID = ("meta", "img", "br", "input", "!doctype")
    UNREAD = ("script", "style", "title")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((" ".join(self.open), data))

    def within(self, tag: str) -> list[str]:
        """Return the texts that stand right in such a tag."""
        return [text for at, text in self.texts if at.split()[-1] == tag]

    def read(self, tag: str = "body") -> str:
        """Return all that people read in such a tag, with plain blanks."""
        texts = [
            text
            for at, text in self.texts
            if tag in at.split() and not set(self.UNREAD) & set(at.split())
        ]
        return " ".join(" ".join(texts).split())
