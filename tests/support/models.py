"""Tables of several models, drawn at random, and their curve metrics by the oracle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import polars as pl
from hypothesis import strategies as st

from tests.support import oracle, oracle_areas
from tests.support.strategies import GROUP_KEYS, Table, tables

KINDS = [kind for kind, (columns, *_) in GROUP_KEYS.items() if len(columns) == 1]
"""The kinds of group columns that may name a model: all that are one column."""
COARSE = [pl.Int8(), pl.Boolean(), pl.Float64()]


@dataclass(frozen=True)
class Models:
    """A table with a column `m` that names the model."""

    table: Table

    @property
    def frame(self) -> pl.DataFrame:
        return self.table.frame

    @property
    def package(self) -> dict[str, Any]:
        """Arguments of the frame methods."""
        return {**self.table.package, "model": "m"}

    @cached_property
    def groups(self) -> dict[tuple[Any, ...], dict[tuple[Any, ...], list[dict[str, Any]]]]:
        """Sweeps by the key of the group, and in it by the key of the model, in order."""
        sweeps: dict[Any, Any] = {}
        columns = {**self.table.oracle, "by": [*self.table.by, "m"]}
        for group in oracle.groups(self.table.rows, **columns):
            models_of_group = sweeps.setdefault(self.group_key(group.by), {})
            models_of_group[self.key("m", group.by["m"])] = oracle.sweep_group(group)
        return sweeps

    def key(self, column: str, value: Any) -> tuple[Any, ...]:
        """Return the key by which a value of a group column, or of the models, is sorted."""
        return oracle.key(value, self.table.categories.get(column))

    def group_key(self, row: dict[str, Any]) -> tuple[Any, ...]:
        """Return the key of the group that a row belongs to."""
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
    """Draw a table of up to `n_models` models; `kinds` are those of the column `m`."""
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
    drawn = draw(st.lists(st.sampled_from(names[:n_models]), min_size=n, max_size=n))
    frame = table.frame.with_columns(pl.Series("m", [name for (name,) in drawn], dtype=dtype))
    if isinstance(dtype, pl.Enum):
        table.categories["m"] = dtype.categories.to_list()
    object.__setattr__(table, "frame", frame)
    return Models(table)


def draw_examples(seed: int, n: int, **spread: tuple[float, float]) -> pl.DataFrame:
    """Return the scores of models on the same n examples; `spread` gives a model's gain and error."""
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
    """Return a curve metric, by its name in the package, from one sweep of the oracle."""
    area = oracle_areas.value(metric, sweep, Fraction(eta))
    return None if area is None else Fraction(area)


def direction_sign(metric: str) -> int:
    """Return 1, or -1 for a metric that is better when it is smaller."""
    return 1 if oracle_areas.higher_is_better(metric) else -1


def expit(logit_eta: float) -> float:
    return 1 / (1 + math.exp(-logit_eta))


def logit(eta: float) -> float:
    return math.log(eta) - math.log1p(-eta)


__all__ = [
    "COARSE",
    "KINDS",
    "Models",
    "direction_sign",
    "draw_examples",
    "expit",
    "logit",
    "models",
    "value",
]
