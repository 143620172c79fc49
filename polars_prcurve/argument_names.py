"""Hints at the right name where a function is called with an argument that it does not have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import update_wrapper
from types import FunctionType
from typing import Any, NoReturn, ParamSpec, TypeVar, cast

from polars_prcurve.errors import PrcError, describe_value, suggest_names
from polars_prcurve.other_names import OLD_WORDS, list_arguments_meant, tell_alternative
from polars_prcurve.visible_text import make_visible

P = ParamSpec("P")
R = TypeVar("R")
_OWNERS = ("self", "cls")
"""What a method takes that users do not write."""


def suggest_arguments(
    name: str, known: Mapping[str, str], *, weight: str = "weight=", written: str | None = None
) -> str:
    """Return a hint at the known argument that a wrong name stands for, as others or by its spelling.

    `known` tells how users write each argument, `weight` how they write that for weights, and `written`
    how they wrote `name`, unless just so.
    """
    if instead := tell_alternative(name, known, weight):
        return instead
    for meant in list_arguments_meant(name.lower()):
        if meant in known:
            return f"did you mean {known[meant]!r}?"
    return suggest_names(written or name, known.values())


def hint_at_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with a hint in its `TypeError` for an argument that it does not have.

    A word that the method took once raises a `PrcError` that tells how the same is said now.
    """
    parameters = inspect.signature(function).parameters
    names = frozenset(list(parameters))
    by_place = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]

    def call(*args: Any, **kwargs: Any) -> Any:
        if not names.issuperset(kwargs):
            refuse(kwargs)
        if len(args) > len(by_place):
            refuse_place(args[len(by_place)])
        return function(*args, **kwargs)

    def refuse(kwargs: dict[str, Any]) -> NoReturn:
        unknown = next(name for name in kwargs if name not in names)
        public = {name: name for name in parameters if name not in _OWNERS}
        called = f"{cast('FunctionType', function).__qualname__}()"
        if unknown in OLD_WORDS and called.startswith("prc"):
            raise PrcError(f"{called} takes no {unknown}=; {OLD_WORDS[unknown]}")
        raise TypeError(
            make_visible(
                f"{called} got an unexpected keyword argument {unknown!r}; "
                f"{suggest_arguments(unknown, public)}"
            )
        )

    def refuse_place(value: object) -> NoReturn:
        called = f"{cast('FunctionType', function).__qualname__}()"
        first = ", ".join(name for name in by_place if name not in _OWNERS)
        only = f"only {first} without a name" if first else "each argument by its name (score=...)"
        raise TypeError(f"{called} takes {only}; got {describe_value(value)} without one")

    # Doctest passes by functions whose globals are of another module than the one it reads.
    origin = cast("FunctionType", inspect.unwrap(function))
    hinting = FunctionType(call.__code__, origin.__globals__, origin.__name__, None, call.__closure__)
    return cast("Callable[P, R]", update_wrapper(hinting, function))
