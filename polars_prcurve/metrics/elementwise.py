"""Functions of arrays or expressions alike: what formulas use beyond operators.

A formula that is written over operators and these functions is written once, and serves tables and
arrays. Undefined is NaN in both, until a table makes it null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

if TYPE_CHECKING:  # NumPy is imported when numbers are first computed with
    import numpy as np
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[np.float64]"
Cell: TypeAlias = Any
"""A number, a float array or a pl.Expr; formulas use the operations that all have."""


def choose_where(condition: Cell, then: Cell, otherwise: Cell) -> Cell:
    """Return `then` where the condition is true and `otherwise` elsewhere."""
    if isinstance(condition, pl.Expr):
        return pl.when(condition).then(then).otherwise(otherwise)
    import numpy as np

    return np.where(condition, then, otherwise)


def maximum(value: Cell, other: Cell) -> Cell:
    """Return the greater one of two values."""
    if isinstance(value, pl.Expr):
        return pl.max_horizontal(value, other)
    import numpy as np

    return np.maximum(value, other)


def minimum(value: Cell, other: Cell) -> Cell:
    """Return the lesser one of two values."""
    if isinstance(value, pl.Expr):
        return pl.min_horizontal(value, other)
    import numpy as np

    return np.minimum(value, other)


def log1p(value: Cell) -> Cell:
    """Return `log(1 + value)`, with no digit lost for a small value."""
    if isinstance(value, pl.Expr):
        return value.log1p()
    import numpy as np

    return np.log1p(value)


def keep_where(condition: Cell, value: Cell) -> Cell:
    """Return the value where the condition is true, and undefined elsewhere."""
    return choose_where(condition, value, float("nan"))
