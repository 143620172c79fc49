"""Hypothesis strategies that draw small score tables of every kind that the package takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import polars as pl
from hypothesis import strategies as st

__all__ = [
    "GROUP_KEYS",
    "INF",
    "IN_FLOATS",
    "LABELS",
    "MODERATE",
    "SCORES",
    "SMALL",
    "SPECIAL",
    "TINY",
    "VALUES",
    "WEIGHTS",
    "Table",
    "etas",
    "several",
    "tables",
]

INF = float("inf")
TINY = 5e-324


@dataclass(frozen=True)
class Table:
    """A score table, and the arguments that tell the package and the oracle what it holds."""

    frame: pl.DataFrame
    by: list[str]
    pos_label: Any = None
    weight: str | None = None
    categories: dict[str, list[str]] = field(default_factory=dict)
    """The order of values of Enum columns, for the oracle."""

    @property
    def package(self) -> dict[str, Any]:
        """Arguments of the frame methods."""
        return {"by": self.by or None, "pos_label": self.pos_label, "weight": self.weight}

    @property
    def oracle(self) -> dict[str, Any]:
        """Arguments of the oracle's functions."""
        return {
            "by": self.by,
            "pos_label": self.pos_label,
            "weight": self.weight,
            "categories": self.categories,
        }

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self.frame.to_dicts()

    @property
    def positive(self) -> pl.Expr:
        """The label as a Boolean expression, which works for groups without positives, too."""
        return pl.col("label") == (1 if self.pos_label is None else self.pos_label)

    @property
    def score_dtype(self) -> pl.DataType:
        return self.frame.schema["score"]

    def __repr__(self) -> str:
        return f"Table({self.frame.to_init_repr()}, {self.package})"


def _list_integers(low: int, high: int) -> list[int]:
    """Return a few integers, so that ties occur, at the ends and in the middle of the range."""
    near = {low, low + 1, high - 1, high, *range(7)}
    for power in (2**53, 2**62, 2**64, 2**100):  # neighbours that one float would stand for
        near |= {power - 1, power, power + 1, -power, -power - 1}
    return sorted(n for n in near if low <= n <= high)


def _list_decimals(*texts: str) -> list[Decimal]:
    return [Decimal(text) for text in texts]


SPECIAL = [-INF, -1e308, -1.0, -TINY, -0.0, 0.0, TINY, 1e-310, 0.1, 0.3, 0.5, 1.0, 1e17, INF]
NARROW = [-INF, -1.5, -0.0, 0.0, 2.0**-149, 0.5, 0.100000001490116119384765625, 1.0, 1.0 + 2.0**-23]
LONG = "123456789012345678901234"

VALUES: dict[pl.DataType, list[Any]] = {
    pl.Float64(): [*SPECIAL, 0.30000000000000004],
    pl.Float32(): [*NARROW, 3e38 // 1e30 * 2.0**90, INF],
    pl.Boolean(): [False, True],
    pl.Int8(): _list_integers(-(2**7), 2**7 - 1),
    pl.Int16(): _list_integers(-(2**15), 2**15 - 1),
    pl.Int32(): _list_integers(-(2**31), 2**31 - 1),
    pl.Int64(): _list_integers(-(2**63), 2**63 - 1),
    pl.Int128(): _list_integers(-(2**127), 2**127 - 1),
    pl.UInt8(): _list_integers(0, 2**8 - 1),
    pl.UInt16(): _list_integers(0, 2**16 - 1),
    pl.UInt32(): _list_integers(0, 2**32 - 1),
    pl.UInt64(): _list_integers(0, 2**64 - 1),
    pl.Decimal(15, 2): _list_decimals("-1.50", "0.00", "0.01", "0.10", "0.11", "9999999999999.99"),
    pl.Decimal(38, 2): _list_decimals(f"-{LONG}.50", "0.10", "0.11", f"{LONG}.5", f"{LONG}.51"),
}
"""Values of each dtype that a score may have."""
SCORES = {dtype: st.sampled_from(values) for dtype, values in VALUES.items()}

LABELS: list[tuple[pl.DataType, Any, Any, Any]] = [
    (pl.Boolean(), False, True, None),
    (pl.Int64(), 0, 1, None),
    (pl.UInt8(), 0, 1, None),
    (pl.Int8(), -1, 1, None),
    (pl.Float64(), 0.0, 1.0, None),
    (pl.Float32(), -1.0, 1.0, None),
    (pl.String(), "ham", "spam", "spam"),
    (pl.Enum(["spam", "ham"]), "ham", "spam", "spam"),
    (pl.Categorical(), "ham", "spam", "spam"),
    (pl.Int64(), 7, 3, 3),
]
"""Dtype, negative value, positive value, and what to pass as pos_label=."""

WEIGHTS: dict[str, tuple[pl.DataType, list[Any]]] = {
    "small integers": (pl.Int64(), [0, 1, 1, 2, 3]),
    "large integers": (pl.UInt64(), [0, 1, 2**44 + 1, 2**45 - 1, 2**45]),
    "floats": (pl.Float64(), [0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 1e5]),
    "narrow floats": (pl.Float32(), [0.0, 0.10000000149011612, 0.5, 3.0]),
    "decimals": (pl.Decimal(10, 2), _list_decimals("0.00", "0.25", "3.10")),
    "minute": (pl.Float64(), [0.0, 1e-300, 3e-300, 1e-297]),
    "subnormal": (pl.Float64(), [0.0, TINY, 3 * TINY]),
    "huge": (pl.Float64(), [0.0, 1e100, 2.5e99]),
    "of any magnitude": (pl.Float64(), [0.0, 1e-300, 1e-17, 0.1, 1.0, 1e17]),
}
"""Dtype and values of each kind; a value listed twice is drawn twice as often. The last kind alone spans
more than 2**60."""
SMALL = ["", "small integers", "floats", "narrow floats", "decimals"]
MODERATE = [*SMALL, "large integers"]
IN_FLOATS = [kind for kind in WEIGHTS if kind not in ("large integers", "of any magnitude")]

_Keys = tuple[list[str], dict[str, pl.DataType], list[tuple[Any, ...]]]

GROUP_KEYS: dict[str, _Keys] = {
    "none": ([], {}, [()]),
    "String": (["g"], {"g": pl.String()}, [(None,), ("",), ("a",), ("é",)]),
    "Int64": (["g"], {"g": pl.Int64()}, [(None,), (-(2**63),), (0,), (2**53 + 1,), (2**53,)]),
    "Int8": (["g"], {"g": pl.Int8()}, [(None,), (-3,), (0,), (5,)]),
    "Int64 in a narrow span": (["g"], {"g": pl.Int64()}, [(None,), (2**62,), (2**62 + 7,)]),
    "UInt64 in a narrow span": (["g"], {"g": pl.UInt64()}, [(None,), (2**64 - 9,), (2**64 - 1,)]),
    "Datetime": (
        ["g"],
        {"g": pl.Datetime("ms", "Europe/Prague")},
        [
            (None,),
            (datetime(1969, 7, 20, tzinfo=timezone.utc),),
            (datetime(1969, 7, 21, tzinfo=timezone.utc),),
        ],
    ),
    "small keys": (
        ["fold", "fraud", "channel"],
        {"fold": pl.Int16(), "fraud": pl.Boolean(), "channel": pl.Enum(["web", "app"])},
        [(-4, True, "web"), (-4, None, "app"), (None, False, None), (9, True, "app"), (9, True, "web")],
    ),
    "UInt64": (["g"], {"g": pl.UInt64()}, [(None,), (0,), (2**64 - 1,)]),
    "Boolean": (["g"], {"g": pl.Boolean()}, [(None,), (False,), (True,)]),
    "Date": (["g"], {"g": pl.Date()}, [(None,), (date(1969, 12, 31),), (date(2024, 2, 29),)]),
    "Float64": (
        ["g"],
        {"g": pl.Float64()},
        [(None,), (float("nan"),), (-INF,), (-0.0,), (0.0,), (INF,)],
    ),
    "Float32": (["g"], {"g": pl.Float32()}, [(None,), (float("nan"),), (-1.5,), (0.0,)]),
    "Decimal": (["g"], {"g": pl.Decimal(10, 1)}, [(None,), (Decimal("-1.5"),), (Decimal("2.0"),)]),
    "Enum": (["g"], {"g": pl.Enum(["z", "a", "m"])}, [(None,), ("z",), ("a",), ("m",)]),
    "Categorical": (["g"], {"g": pl.Categorical()}, [("z",), (None,), ("a",), ("m",)]),
    "two": (
        ["market", "fold"],
        {"market": pl.String(), "fold": pl.Int32()},
        [("x", 1), ("x", 2), ("y", 1), (None, 2), ("y", None), (None, None)],
    ),
    "Struct": (
        ["g"],
        {"g": pl.Struct({"a": pl.String(), "b": pl.Int64()})},
        [({"a": "x", "b": 2},), ({"a": "x", "b": None},), ({"a": None, "b": 3},), ({"a": "w", "b": 9},)],
    ),
}
"""The columns, their dtypes, and the groups, of each kind of `by`."""


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    keys: list[str] | None = None,
    scores: list[pl.DataType] | None = None,
    weights: list[str] | None = None,
    labels: bool = True,
    min_size: int = 0,
    max_size: int = 24,
) -> Table:
    """Draw a score table with the columns `score`, `label`, the group columns, and maybe a weight `w`.

    `keys`, `scores` and `weights` restrict the kinds ("" is no weight). Without `labels` the label is
    Boolean. Groups of one class, of one row and of no weight occur by chance.
    """
    columns, schema, values = GROUP_KEYS[draw(st.sampled_from(keys or list(GROUP_KEYS)))]
    score_dtype = draw(st.sampled_from(scores or list(SCORES)))
    usual = [kind for kind in WEIGHTS if kind != "of any magnitude"]
    kind = draw(st.sampled_from(["", *usual] if weights is None else weights))
    dtype, negative, positive, pos_label = draw(st.sampled_from(LABELS)) if labels else LABELS[0]
    n = draw(st.integers(min_size, max_size))

    def draw_column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    label = draw_column(st.sampled_from([negative, positive]))
    if pos_label is not None and label and positive not in label:
        label[draw(st.integers(0, n - 1))] = positive
    data = {
        "score": pl.Series(draw_column(SCORES[score_dtype]), dtype=score_dtype),
        "label": pl.Series(label, dtype=dtype),
    }
    if kind:
        weight_dtype, amounts = WEIGHTS[kind]
        data["w"] = pl.Series(draw_column(st.sampled_from(amounts)), dtype=weight_dtype)
    if columns:
        groups = draw_column(st.sampled_from(values))
        for number, name in enumerate(columns):
            data[name] = pl.Series([group[number] for group in groups], dtype=schema[name])
    categories = {
        name: key_dtype.categories.to_list()
        for name, key_dtype in schema.items()
        if isinstance(key_dtype, pl.Enum)
    }
    return Table(pl.DataFrame(data), columns, pos_label, "w" if kind else None, categories)


def several(*values: float | None) -> st.SearchStrategy[list[float | None]]:
    """Draw one to four of the values, each at most once."""
    return st.lists(st.sampled_from(values), min_size=1, max_size=4, unique=True)


# None stands only beside prevalences that no group can have: two equal etas have no order.
etas = several(0.0, 1e-100, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999999, 1.0) | several(
    None, 1e-100, 0.0123, 0.777
)
