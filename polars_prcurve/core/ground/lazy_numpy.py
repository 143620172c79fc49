"""NumPy, imported when it is first used: most queries never do, and the package is imported faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as numpy  # noqa: PLC0414
    from numpy.typing import NDArray
else:

    class _LazyNumPy:
        def __getattr__(self, name: str) -> Any:
            import numpy as module

            setattr(self, name, getattr(module, name))  # so that it is found at once from now on
            return getattr(module, name)

    numpy = _LazyNumPy()

Floats: TypeAlias = "NDArray[numpy.float64]"
"""An array of 64-bit floats, which stands in annotations alone."""
