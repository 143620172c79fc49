"""A formula of a metric that pickle can import by its name."""

from __future__ import annotations

from typing import Any


def cost(tp: Any, fn: Any, fp: Any, tn: Any) -> Any:
    """Return the cost where a miss costs as much as five false alerts."""
    return 5 * fn + fp
