"""Tables of several models, drawn at random, and what they score by the definition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import polars as pl
from hypothesis import strategies as st

from tests import oracle, oracle_areas
from tests.strategies import GROUP_KEYS, Table, tables

KINDS = [kind for kind, (columns, *_) in GROUP_KEYS.items() if len(columns) == 1]
"""What may name a model is what may name a group."""
COARSE = [pl.Int8(), pl.Boolean(), pl.Float64()]
LEAST = ("fdr", "false_omission_rate")


@dataclass(frozen=True)
class Models:
    """A table with a column `m` that names the model."""

    table: Table

    @property
    def frame(self) -> pl.DataFrame:
        return self.table.frame

    @property
    def package(self) -> dict[str, Any]:
        return {**self.table.package, "model": "m"}

    @cached_property
    def groups(self) -> dict[tuple[Any, ...], dict[tuple[Any, ...], list[dict[str, Any]]]]:
        """The sweep of each model by its key, by the key of its group, in order."""
        by = self.table.by
        found: dict[Any, Any] = {}
        columns = {**self.table.oracle, "by": [*by, "m"]}
        for group in oracle.groups(self.table.rows, **columns):
            of = found.setdefault(self.group_of(group.by), {})
            of[self.key("m", group.by["m"])] = oracle.sweep_of(group)
        return found

    def key(self, column: str, value: Any) -> tuple[Any, ...]:
        return oracle.key(value, self.table.categories.get(column))

    def group_of(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.key(name, row[name]) for name in self.table.by)

    def __repr__(self) -> str:
        return f"Models({self.table!r})"


@st.composite
def models(
    draw: st.DrawFn,
    *,
    kinds: list[str] | None = None,
    keys: list[str] | None = None,
    weights: list[str] | None = None,
    n_models: int = 3,
    max_size: int = 24,
) -> Models:
    table = draw(
        tables(
            keys=keys or ["none", "String", "two", "Float64"],
            scores=COARSE,
            weights=weights or ["", "small integers", "floats"],
            labels=draw(st.booleans()),
            max_size=max_size,
        )
    )
    _, schema, names = GROUP_KEYS[draw(st.sampled_from(kinds or KINDS))]
    [dtype] = schema.values()
    n = table.frame.height
    of = draw(st.lists(st.sampled_from(names[:n_models]), min_size=n, max_size=n))
    frame = table.frame.with_columns(pl.Series("m", [name for (name,) in of], dtype=dtype))
    if isinstance(dtype, pl.Enum):
        table.categories["m"] = dtype.categories.to_list()
    object.__setattr__(table, "frame", frame)
    return Models(table)


def examples_of(seed: int, n: int, **spread: tuple[float, float]) -> pl.DataFrame:
    """Scores of models on the same examples, of a gain and an error each."""
    import numpy as np

    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    common = rng.normal(size=n)
    return pl.concat(
        pl.DataFrame({"model": name, "id": range(n), "label": label}).with_columns(
            score=pl.Series(gain * label + common + error * rng.normal(size=n))
        )
        for name, (gain, error) in spread.items()
    )


def value(metric: str, sweep: list[dict[str, Any]], eta: float | Fraction) -> Fraction | None:
    """A curve metric by its name in the package."""
    found = oracle_areas.value(metric, sweep, Fraction(eta))
    return None if found is None else Fraction(found)


def sign_of(metric: str) -> int:
    return -1 if metric.removeprefix("best(").removesuffix(")") in LEAST else 1


def expit(place: float) -> float:
    return 1 / (1 + math.exp(-place))


def logit(eta: float) -> float:
    return math.log(eta) - math.log1p(-eta)


__all__ = ["COARSE", "KINDS", "Models", "examples_of", "expit", "logit", "models", "sign_of", "value"]
