"""What namespaces share: complete signatures, hints at misspelt words, and names in Python's errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.binding import words


class PublicMethods:
    """A base class whose public methods have complete signatures, and are named as users write them.

    Errors of a call, such as one for an argument given twice, begin with the name of the method. In it
    `path` takes the place of the class, which users do not see: `prc.sweep()`. An argument that a
    method does not have raises with a hint at the one that may be meant.
    """

    def __init_subclass__(cls, path: str | None = None) -> None:
        super().__init_subclass__()
        for name, method in list(vars(cls).items()):
            is_public = name == "__call__" or not name.startswith("_")
            if path is not None and is_public and inspect.isfunction(method):
                method.__qualname__ = path if name == "__call__" else f"{path}.{name}"
                setattr(cls, name, complete_signature(method))


def complete_signature(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with hints, whose signature lists each word of its `**words`."""
    found = inspect.signature(function)
    parameters = [p for p in found.parameters.values() if p.kind is not p.VAR_KEYWORD]
    for taken in (p for p in found.parameters.values() if p.kind is p.VAR_KEYWORD):
        parameters += _list_words(str(taken.annotation))
    function.__signature__ = found.replace(parameters=parameters)  # type: ignore[attr-defined]
    return hint_at_arguments(function)


def _list_words(annotation: str) -> Iterator[inspect.Parameter]:
    """Yield the words of a group that is written `Unpack[Group]`, with the defaults of the library."""
    group = getattr(words, annotation.removeprefix("Unpack[").removesuffix("]"))
    for name, kind in group.__annotations__.items():
        yield inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=words.DEFAULTS.get(name),
            annotation=getattr(kind, "__forward_arg__", kind),
        )
