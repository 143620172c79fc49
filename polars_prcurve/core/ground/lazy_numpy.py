"""NumPy, imported when it is first used: most queries never do, and the package is imported faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from polars_prcurve.core.ground.lazy_modules import LazyModule

if TYPE_CHECKING:
    import numpy as numpy  # noqa: PLC0414
    from numpy.typing import NDArray
else:
    numpy = LazyModule("numpy")

Floats: TypeAlias = "NDArray[numpy.float64]"
"""An array of 64-bit floats, which stands in annotations alone."""
