"""What namespaces share: a repr that lists their methods, and the names of these in Python's errors."""

from __future__ import annotations

import inspect

from polars_prcurve.argument_names import hint_at_arguments


class MethodListing:
    """A base class: its repr lists the public methods, which are named as users write them.

    Errors of a call, such as one for an argument given twice, begin with the name of the method. In it
    `path` takes the place of the class, which users do not see: `prc.sweep()`. An argument that a
    method does not have raises with a hint at the one that may be meant.
    """

    def __init_subclass__(cls, path: str | None = None) -> None:
        super().__init_subclass__()
        for name, method in list(vars(cls).items()):
            if path is not None and inspect.isfunction(method) and not name.startswith("_"):
                method.__qualname__ = f"{path}.{name}"
                setattr(cls, name, hint_at_arguments(method))

    def __repr__(self) -> str:
        public = [name for name in dir(self) if not name.startswith("_")]
        return f"<{type(self).__name__} with {', '.join(public)}>"
