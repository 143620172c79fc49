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
Cell: TypeAlias = Any  # a number, a float array or a pl.Expr; formulas use the operations that all have


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


def atanh_rest(u: Cell, v: Cell) -> Cell:
    """Return `s = (atanh(v) / v - 1) / v**2`, where `v = u / (2 + u)` and so `2 atanh(v) = log1p(u)`."""
    # With s the mean of 1 / D is written so that nothing cancels, while a quantity D grows linearly from
    # D0 to D1, u = (D1 - D0) / D0 and v = (D1 - D0) / (D1 + D0):
    #     g1(u), the mean of D0 / D,            log1p(u) / u          = (1 - v) (1 + v^2 s)
    #     g2(u), the mean of t D0 / D for the   (u - log1p(u)) / u^2  = (1 - v) (1 - (1 - v) v s) / 2
    #     share t of the way, from 0 to 1
    # The series of atanh is s = 1/3 + v^2/5 + v^4/7 + ...
    w = v * v
    small = 0.0
    for k in range(21, 1, -2):  # what the series leaves out changes v s by less than 1e-16
        small = 1 / k + w * small
    exact = (log1p(u) / 2 / v - 1) / w
    # The difference loses digits as 1 / v**2, so the series takes over while that still costs little.
    return choose_where(abs(v) < 0.2, small, exact)
