"""What point metrics and curve metrics share: a name, a range, a direction, and how they were made.

A metric holds functions, which pickle cannot write. What is declared in this package is therefore
written as the call that makes it, such as `f_beta(beta=2)`, and made again when it is read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, dataclass, field, fields, replace
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from polars_prcurve.core.ground.argument_checks import hint_at_arguments
from polars_prcurve.core.ground.errors import PrcError

M = TypeVar("M", bound="Metric")  # a point metric or a curve metric
P = ParamSpec("P")  # the parameters of a function that makes metrics

DECLARED: dict[str, Any] = {}  # every metric of this package, and every function that makes one, by name


class Origin(NamedTuple):
    """The way in which a declared metric is made: by its name, or by a function and its arguments."""

    name: str  # a key of DECLARED
    arguments: tuple[tuple[str, Any], ...] | None = None  # None for a metric without a parameter


class Declaration(NamedTuple):
    """A declaration of a metric in this package: how it is made again, and what `help` says of it."""

    origin: Origin | None
    doc: str | None


@dataclass(frozen=True, eq=False)
class Metric:
    """The base of `PointMetric` and `CurveMetric`: what is known of any metric."""

    name: str
    _: KW_ONLY
    range: tuple[float, float] = (0.0, 1.0)
    direction: str = "maximize"
    depends_on_eta: bool = True
    source: str = field(default="", repr=False)
    origin: Origin | None = field(default=None, init=False, repr=False)
    """None for a metric that this package does not declare, and for one that `replace` has changed."""
    _declaration: InitVar[Declaration | None] = None
    """What `origin` and `__doc__` are taken from. `replace` leaves it out, because a changed metric
    is not the declared one."""

    def __post_init__(self, declaration: Declaration | None) -> None:
        if declaration is None:
            return
        object.__setattr__(self, "origin", declaration.origin)
        if declaration.doc is not None:
            object.__setattr__(self, "__doc__", declaration.doc)

    def alias(self: M, name: str) -> M:
        """Return the same metric under another name."""
        return replace(self, name=name, _declaration=Declaration(self.origin, self.__doc__))

    def higher_is_better(self) -> bool:
        """Whether larger values are better; raise if the metric has no direction."""
        if self.direction == "none":
            raise PrcError(f"{self.name} has no direction, so no threshold is best")
        return self.direction == "maximize"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        if self.origin is not None or other.origin is not None:
            return (self.name, self.origin) == (other.name, other.origin)
        return all(getattr(self, item.name) == getattr(other, item.name) for item in fields(self))

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.origin is None:
            return super().__reduce_ex__(protocol)
        return make_again, (self.origin, self.name)


def make_again(origin: Origin, name: str) -> Metric:
    """Return the metric of this origin, under this name."""
    declared = DECLARED[origin.name]
    metric: Metric = declared if origin.arguments is None else declared(**dict(origin.arguments))
    return metric if metric.name == name else metric.alias(name)


def declare(metric: M, doc: str | None, registry: dict[str, M]) -> M:
    """Return a metric without a parameter as a declared one, which strings may name from now on."""
    declaration = Declaration(Origin(metric.name), inspect.cleandoc(doc) if doc else None)
    metric = replace(metric, _declaration=declaration)
    registry[metric.name] = DECLARED[metric.name] = metric
    return metric


def declare_factory(make: Callable[P, M]) -> Callable[P, M]:
    """Declare a function that makes metrics, each of which remembers the arguments."""
    signature = inspect.signature(make)

    @wraps(make)
    def make_and_remember(*args: P.args, **kwargs: P.kwargs) -> M:
        metric = make(*args, **kwargs)
        call = signature.bind(*args, **kwargs)
        call.apply_defaults()
        origin = Origin(make.__name__, tuple(call.arguments.items()))
        return replace(metric, _declaration=Declaration(origin, make.__doc__))

    factory = hint_at_arguments(make_and_remember)
    DECLARED[make.__name__] = factory
    return factory


def list_factories(kind: type[Metric]) -> list[str]:
    """Return the names of the declared functions that make this kind of metric from parameters."""
    factories = {name: value for name, value in DECLARED.items() if inspect.isfunction(value)}
    # `point` is left out, because it takes a formula: no misspelt name can be meant for it.
    return sorted(
        name
        for name, make in factories.items()
        if inspect.signature(make).return_annotation == kind.__name__ and name != "point"
    )
