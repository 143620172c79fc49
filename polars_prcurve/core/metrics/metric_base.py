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

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import hint_at_arguments

M = TypeVar("M", bound="Metric")  # a point metric or a curve metric
P = ParamSpec("P")  # the parameters of a function that makes metrics

# Every metric of this package, and every function that makes one, by name.
DECLARED_BY_NAME: dict[str, Any] = {}
EXAMPLE_OF_FACTORY: dict[str, str] = {}
"""Parameters for the functions that make metrics, so that a hint can be run as it stands."""


class Origin(NamedTuple):
    """The way in which a declared metric is made: by its name, or by a function and its arguments."""

    name: str  # a key of DECLARED_BY_NAME
    arguments: tuple[tuple[str, Any], ...] | None = None  # None for a metric without a parameter


class Declaration(NamedTuple):
    """A declaration of a metric in this package: how it is made again, and what `help` shows of it."""

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

    def __post_init__(self, own_declaration: Declaration | None) -> None:
        if own_declaration is None:
            return
        object.__setattr__(self, "origin", own_declaration.origin)
        if own_declaration.doc is not None:
            object.__setattr__(self, "__doc__", own_declaration.doc)

    def alias(self: M, name: str) -> M:
        """Return the same metric under another name."""
        return replace(self, name=name, _declaration=Declaration(self.origin, self.__doc__))

    def higher_is_better(self) -> bool:
        """Whether larger values are better; raise if the metric has no direction."""
        if self.direction == "none":
            raise PrcError(
                f"pass a metric with a direction: {self.name} has none, so no threshold is best"
            )
        return self.direction == "maximize"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        if self.origin is not None or other.origin is not None:
            return (self.name, self.origin) == (other.name, other.origin)
        return all(
            getattr(self, metric_field.name) == getattr(other, metric_field.name)
            for metric_field in fields(self)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.origin is None:
            return super().__reduce_ex__(protocol)
        return make_again, (self.origin, self.name)


def make_again(origin: Origin, name: str) -> Metric:
    """Return the metric of this origin, under this name."""
    metric_or_factory = DECLARED_BY_NAME[origin.name]
    metric: Metric = (
        metric_or_factory if origin.arguments is None else metric_or_factory(**dict(origin.arguments))
    )
    return metric if metric.name == name else metric.alias(name)


def declare(metric: M, docstring: str | None, metrics_by_name: dict[str, M]) -> M:
    """Return a metric without a parameter as a declared one, which strings may name from now on."""
    declaration = Declaration(Origin(metric.name), inspect.cleandoc(docstring) if docstring else None)
    metric = replace(metric, _declaration=declaration)
    metrics_by_name[metric.name] = DECLARED_BY_NAME[metric.name] = metric
    return metric


def declare_factory(example_parameters: str | None) -> Callable[[Callable[P, M]], Callable[P, M]]:
    """Declare a function that makes metrics, each of which remembers the arguments.

    `example_parameters` are parameters as a hint writes them; None if no text can have them.
    """

    def declare_function(make_metric: Callable[P, M]) -> Callable[P, M]:
        signature, factory_name = inspect.signature(make_metric), make_metric.__name__

        @wraps(make_metric)
        def make_and_remember(*args: P.args, **kwargs: P.kwargs) -> M:
            metric = make_metric(*args, **kwargs)
            bound_arguments = signature.bind(*args, **kwargs)
            bound_arguments.apply_defaults()
            origin = Origin(factory_name, tuple(bound_arguments.arguments.items()))
            return replace(metric, _declaration=Declaration(origin, make_metric.__doc__))

        factory = hint_at_arguments(make_and_remember)
        DECLARED_BY_NAME[factory_name] = factory
        if example_parameters is not None:
            EXAMPLE_OF_FACTORY[factory_name] = example_parameters
        return factory

    return declare_function


def write_parameter(number: float) -> str:
    """Return a number in a name of a metric: the shortest text that is read as it, such as 0.8 or 2."""
    return repr(number if isinstance(number, int) else float(number)).removesuffix(".0")


def list_factories(metric_class: type[Metric]) -> list[str]:
    """Return the names of the declared functions that make this kind of metric from parameters."""
    # Without an example it takes a formula, as `point` does: no misspelt name can be meant for it.
    return sorted(
        factory_name
        for factory_name in EXAMPLE_OF_FACTORY
        if inspect.signature(DECLARED_BY_NAME[factory_name]).return_annotation == metric_class.__name__
    )


def direction_sign(metric: Metric) -> float:
    """Return 1.0 if larger values are better, -1.0 if smaller ones are; raise if neither is."""
    if metric.direction == "none":
        raise PrcError(
            f"pass a metric with a direction: {metric.name} has none, so no model is better by it"
        )
    return 1.0 if metric.direction == "maximize" else -1.0
