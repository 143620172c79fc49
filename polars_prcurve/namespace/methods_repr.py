"""What namespaces share: a repr that lists their methods, and the names of these in Python's errors."""

from __future__ import annotations

import inspect


class MethodListing:
    """A base class: its repr lists the public methods, which are named as users write them.

    Python's own errors, such as one for an unknown argument, begin with the name of the method. In it
    `path` takes the place of the class, which users do not see: `prc.sweep()`.
    """

    def __init_subclass__(cls, path: str | None = None) -> None:
        super().__init_subclass__()
        for name, method in vars(cls).items():
            if path is not None and inspect.isfunction(method) and not name.startswith("_"):
                method.__qualname__ = f"{path}.{name}"

    def __repr__(self) -> str:
        public = [name for name in dir(self) if not name.startswith("_")]
        return f"<{type(self).__name__} with {', '.join(public)}>"
