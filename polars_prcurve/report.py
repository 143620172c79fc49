"""Your own parts for a report, the HTML file on what to expect where the model runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polars_prcurve.view.report.custom_page import Figure, Table

__all__ = ["Figure", "Table"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # imported at first use only, with the charts whose colours a page has
        from polars_prcurve.view.report import custom_page

        return getattr(custom_page, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
