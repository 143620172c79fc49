"""Modules that are imported when they are first used: most queries never do, and imports are faster."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import fractions as fractions  # noqa: PLC0414

    import numpy as numpy  # noqa: PLC0414
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[numpy.float64]"
"""An array of 64-bit floats, which stands in annotations alone."""


class LazyModule:
    """A module by its name, which takes the place of an import of it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Return what the module has under a name, which is found at once from now on."""
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


if not TYPE_CHECKING:
    fractions, numpy = LazyModule("fractions"), LazyModule("numpy")
