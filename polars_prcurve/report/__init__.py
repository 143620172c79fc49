"""Parts of your own for a report, the HTML file on what to expect in the field."""

from __future__ import annotations

from polars_prcurve.report.custom_page import Figure, Table

__all__ = ["Figure", "Table"]


def __dir__() -> list[str]:
    return list(__all__)
