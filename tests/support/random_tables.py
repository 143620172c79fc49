"""Random score tables by the thousand, all in one frame: a table is a group of it.

Groups do not affect each other, so one call of a method tries every table. A frame has one dtype of
score and one form of label and weight, so these are drawn once per batch. Sizes, ties, shares of
positives and skill are drawn once per table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tests.support import oracle, strategies
from tests.support.strategies import INF, LABELS, SPECIAL

__all__ = ["FORMS", "RATES", "Batch", "Key", "Rng", "draw_batch"]

Key = tuple[Any, ...]
Pool = tuple[pl.DataType, list[Any]]
"""A dtype, and values to draw from; a value that is listed twice is drawn twice as often."""
Rng = np.random.Generator


# Scores ---------------------------------------------------------------------------------------


def _special_floats(rng: Rng) -> Pool:
    """Return the ends of the range, zeros, subnormals, and neighbours that differ in the last bit."""
    some = rng.normal(size=4).tolist()
    return pl.Float64(), [*SPECIAL, *some, *(math.nextafter(x, INF) for x in [*some, 0.3, 1.0])]


def _special_narrow_floats(rng: Rng) -> Pool:
    """Return special values of Float32: ends, zeros, subnormals, neighbours in the last bit."""
    some = [*rng.normal(size=4).astype(np.float32), np.float32(0.1), np.float32(1)]
    ends = [-INF, -1.5, -0.0, 0.0, 2.0**-149, 2.0**-126, 2.0**127, INF]
    return pl.Float32(), [*ends, *(float(x) for y in some for x in (y, np.nextafter(y, np.float32(2))))]


def _smooth_floats(rng: Rng) -> Pool:
    return pl.Float64(), rng.normal(size=4_000).tolist()


def _rounded_floats(rng: Rng) -> Pool:
    return pl.Float64(), rng.random(40).round(1).tolist()


def _decimals(rng: Rng) -> Pool:
    cents = [*rng.integers(-500, 500, 10).tolist(), 0, 1, 10, 11, 10**15 - 1, -150]
    return pl.Decimal(15, 2), [Decimal(int(n)).scaleb(-2) for n in cents]


def _list_fixed(dtype: pl.DataType) -> Callable[[Rng], Pool]:
    return lambda rng: (dtype, strategies.VALUES[dtype])


INTEGERS = "Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Int128"
SCORES: dict[str, Callable[[Rng], Pool]] = {
    "special floats": _special_floats,
    "special narrow floats": _special_narrow_floats,
    "smooth": _smooth_floats,
    "rounded": _rounded_floats,
    "Boolean": _list_fixed(pl.Boolean()),
    **{name: _list_fixed(getattr(pl, name)()) for name in INTEGERS.split()},
    "Decimal": _decimals,
    "wide Decimal": _list_fixed(pl.Decimal(38, 2)),
}

# Weights, counts, groups --------------------------------------------------------------


def _list_weights(kind: str) -> Callable[[Rng], Pool]:
    return lambda rng: strategies.WEIGHTS[kind]


WEIGHTS: dict[str, Callable[[Rng], Pool]] = {
    "small integers": _list_weights("small integers"),
    "integers": lambda rng: (pl.UInt32(), rng.integers(0, 1_000, 12).tolist()),
    "large integers": _list_weights("large integers"),
    "floats": _list_weights("floats"),
    "any floats": lambda rng: (pl.Float64(), [0.0, *rng.lognormal(size=12).tolist()]),
    **{
        kind: _list_weights(kind)
        for kind in ("narrow floats", "decimals", "minute", "subnormal", "huge")
    },
}
"""Weights of each kind. The weights of no table span more than a factor of 2**60."""

COUNTS: dict[str, Pool] = {
    "small counts": (pl.Int64(), [0, 0, 1, 2, 3]),
    "narrow counts": (pl.UInt8(), [0, 0, 1, 2, 255]),
    "large counts": (pl.UInt64(), [0, 1, 5, 2**31, 2**40 + 1]),
    "float counts": (pl.Float64(), [0.0, 0.5, 1.0, 0.1, 1e-3]),
    "decimal counts": (pl.Decimal(10, 2), [Decimal(s) for s in ("0.00", "0.25", "3.10")]),
}

RATES = "rates"
FORMS = ["", "", "", "", *WEIGHTS, *COUNTS, RATES]
"""What a row stands for: "" is one example, and published rates hold no examples."""
IN_EXAMPLES = ("", "small counts", "narrow counts", "large counts")
"""Forms with whole numbers of examples, beside which there may be examples that were never scored."""
UNSCORED = ["", "", "", "rows", "numbers", "frame", "rows and frame"]
"""Where examples that were never scored are: rows without a score, two numbers that each group has, or a
frame of `below=`."""


def _draw_group_columns(rng: Rng, n: int) -> dict[str, pl.Series]:
    """Draw the `by` columns of n groups, of some dtype; one group may be null."""
    numbers = rng.choice(10 * n, n, replace=False)
    match int(rng.integers(0, 6)):
        case 0:
            keys = {"g": pl.Series(numbers - 5 * n, dtype=pl.Int64)}
        case 1:
            keys = {"g": pl.Series([None, *numbers[1:].tolist()], dtype=pl.Int32)}
        case 2:
            keys = {"g": pl.Series([2**64 - 1 - int(i) for i in numbers], dtype=pl.UInt64)}
        case 3:
            keys = {"g": pl.Series([None, *(f"é{i}" for i in numbers[1:])], dtype=pl.String)}
        case 4:
            days = [date(1969, 7, 20) + timedelta(int(i)) for i in numbers]
            keys = {"g": pl.Series(days, dtype=pl.Date)}
        case _:
            markets = pl.Series(numbers % 7, dtype=pl.Int64).cast(pl.String)
            keys = {"market": markets, "fold": pl.Series(numbers // 7, dtype=pl.Int32)}
    return keys


# Batches --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """Score tables as groups of one frame, and the arguments that say what the frame holds."""

    frame: pl.DataFrame
    by: list[str]
    form: str
    """One of FORMS."""
    scores: pl.Series
    """The values that scores are drawn from."""
    pos_label: Any = None
    missing: str = "raise"
    below: tuple[int, int] | pl.DataFrame | None = None
    """Numbers of examples below all scores, of each group, or with a row per group."""
    counts_negatives: bool = True
    """Whether `below=` says how many negatives there are; otherwise `below` holds any number."""

    @property
    def counts(self) -> tuple[str, str] | None:
        return ("n_pos", "n_neg") if self.form in COUNTS else None

    @property
    def weight(self) -> str | None:
        return "w" if self.form in WEIGHTS else None

    @property
    def rates(self) -> tuple[str, str] | None:
        return ("tpr", "fpr") if self.form == RATES else None

    @property
    def holds_examples(self) -> bool:
        """Whether every row holds whole numbers of examples; weights do not tell how many there are."""
        if self.form == RATES or self.weight:
            return False
        return all(self.frame.schema[name].is_integer() for name in self.counts or ())

    @property
    def columns(self) -> dict[str, Any]:
        """Arguments of the frame methods that say what the columns are."""
        given = {
            "pos_label": self.pos_label,
            "weight": self.weight,
            "counts": self.counts,
            "rates": self.rates,
            "missing": self.missing if self.missing != "raise" else None,
            "below": self._said_below,
        }
        return {"by": self.by, **{name: v for name, v in given.items() if v is not None}}

    @property
    def _said_below(self) -> Any:
        """What `below=` is: without the number of negatives if it is not known."""
        if self.counts_negatives or self.below is None:
            return self.below
        if isinstance(self.below, tuple):
            return self.below[0], None
        unknown = self.below.with_columns(n_neg=pl.lit(None, dtype=pl.Int64))
        return unknown.drop("n_neg") if len(unknown) % 2 else unknown

    @property
    def has_unscored(self) -> bool:
        return self.missing == "below" or self.below is not None

    @property
    def groups(self) -> pl.DataFrame:
        """The `by` columns of all groups, also of those of which `below=` alone tells."""
        groups = self.frame.select(self.by)
        if isinstance(self.below, pl.DataFrame):
            groups = pl.concat([groups, self.below.select(self.by)])
        return groups.unique(maintain_order=True)

    @cached_property
    def tables(self) -> dict[Key, oracle.Group]:
        """The oracle's groups by their keys, in order."""
        frame = self.frame
        if self.missing == "drop":
            frame = frame.drop_nulls(["score", "label"])
            if frame.schema["score"].is_float():
                frame = frame.filter(~pl.col("score").is_nan())
        below = self.below
        if isinstance(below, tuple):
            left = frame.select(self.by).unique(maintain_order=True)  # a group may lose all of its rows
            left = left if self.by else pl.DataFrame({"": [0]})
            below = left.with_columns(n_pos=below[0], n_neg=below[1])
        groups = oracle.groups(
            frame.to_dicts(),
            by=self.by,
            pos_label=self.pos_label,
            weight=self.weight,
            counts=self.counts,
            below=() if below is None else below.to_dicts(),
        )
        return {self.key(group.by): _to_integers(group) for group in groups}

    @cached_property
    def points(self) -> dict[Key, list[tuple[Fraction, Fraction]]]:
        """Recall and fpr of each group of published rates, by the key of the group, in order."""
        by_key: dict[Key, list[tuple[Fraction, Fraction]]] = {}
        for row in self.frame.to_dicts():
            by_key.setdefault(self.key(row), []).append((Fraction(row["tpr"]), Fraction(row["fpr"])))
        return {key: sorted(by_key[key]) for key in sorted(by_key)}

    def key(self, row: Any) -> Key:
        """Return the key of a group from a row with its `by` values."""
        return tuple(oracle.key(row[name]) for name in self.by)

    def with_rows(self, numbers: list[int]) -> Batch:
        """Return a batch of only the rows with these numbers."""
        return replace(self, frame=self.frame[numbers])

    def isolate(self, key: Key) -> Batch:
        """Return a batch of one table, whose label is Boolean so that it may lack positives."""
        if not self.by:
            return self

        def keep_group(frame: pl.DataFrame) -> pl.DataFrame:
            in_group = [self.key(row) == key for row in frame.select(self.by).to_dicts()]
            return frame.filter(pl.Series(in_group, dtype=pl.Boolean))

        frame, below, pos_label = keep_group(self.frame), self.below, self.pos_label
        below = keep_group(below) if isinstance(below, pl.DataFrame) else below
        if pos_label is not None:
            frame = frame.with_columns(pl.col("label") == pl.lit(pos_label))
            pos_label = None
        return replace(self, frame=frame, pos_label=pos_label, below=below)


def _to_integers(group: oracle.Group) -> oracle.Group:
    """Return a group with integers in place of fractions, if all its contributions are whole."""
    if any(mass.denominator > 1 for _, *masses in group.rows for mass in masses):
        return group
    rows = [(score, int(pos), int(neg)) for score, pos, neg in group.rows]
    return replace(group, rows=rows, below=tuple(map(int, group.below)))


def draw_batch(rng: Rng, n_tables: int) -> Batch:
    """Draw a batch of `n_tables` tables; batches of many seeds have every form and dtype."""
    max_rows = int(rng.choice([2, 6, 12, 20, 40], p=[0.1, 0.35, 0.35, 0.15, 0.05]))
    group = np.repeat(np.arange(n_tables), rng.integers(1, max_rows + 1, n_tables))
    n = len(group)
    share = rng.choice([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0], n_tables, p=[0.04, *[0.184] * 5, 0.04])
    positive = rng.random(n) < share[group]

    dtype, values = SCORES[str(rng.choice(list(SCORES)))](rng)
    scores = pl.Series(sorted(values), dtype=dtype)
    # A table draws from a few neighbouring values, which tie, or from all. Skill moves positives up.
    span = rng.choice([1, 2, 3, 5, len(scores), len(scores)], n_tables)[group]
    first = rng.integers(0, len(scores), n_tables)[group]
    skill = rng.choice([0.3, 1.0, 1.0, 3.0], n_tables)[group]
    within = rng.random(n) ** np.where(positive, 1 / skill, 1.0)
    data = {"score": scores.gather((first + np.floor(within * span).astype(int)) % len(scores))}

    form = FORMS[int(rng.integers(0, len(FORMS)))]
    pos_label, missing = None, "raise"
    if form in COUNTS:
        for name in ("n_pos", "n_neg"):
            data[name] = _draw_from(rng, COUNTS[form], n)
    elif form != RATES:
        dtype, *values, pos_label = LABELS[int(rng.integers(0, len(LABELS)))]
        positive[0] |= not positive.any()  # pos_label= must occur in the frame
        data["label"] = pl.Series(values, dtype=dtype).gather(positive.astype(int))
        if form:
            data["w"] = _draw_from(rng, WEIGHTS[form](rng), n)
        missing = "drop" if rng.random() < 0.1 else "raise"
    else:
        data = _draw_rising_rates(rng, group)
    keys = _draw_group_columns(rng, n_tables)
    data |= {name: column.gather(group) for name, column in keys.items()}
    frame = pl.DataFrame(data)
    if missing == "drop":
        frame = _insert_missing(rng, frame, except_row=int(positive.argmax()))
    frame = frame[rng.permutation(n)]
    batch = Batch(frame, list(keys), form, scores, pos_label, missing)
    if form not in IN_EXAMPLES or n == 1:
        return batch
    return _draw_unscored(rng, batch, pl.DataFrame(keys))


def _draw_unscored(rng: Rng, batch: Batch, groups: pl.DataFrame) -> Batch:
    """Draw what was never scored: many or few of a table, or all of it, or nothing."""
    kind = str(rng.choice(UNSCORED))
    if not kind:
        return batch
    numbers = np.array([0, 0, 1, 2, 5, 40, 1_000_003])
    n_pos, n_neg = rng.choice(numbers, (2, len(groups)))
    if rng.random() < 0.3 and kind != "rows":
        # A group may have negatives, whatever else it has.
        batch, n_neg = replace(batch, counts_negatives=False), n_neg + 1
    if "rows" in kind and batch.missing == "raise":
        batch = _hide_scores(rng, batch, groups)
    if kind == "numbers":
        return replace(batch, below=(int(n_pos[0]), int(n_neg[0])))
    if "frame" not in kind:
        return batch
    below = groups.with_columns(n_pos=pl.Series(n_pos), n_neg=pl.Series(n_neg))
    below = below.filter(pl.Series(rng.random(len(groups)) < 0.9))
    # Of some tables nothing was returned, and the frame alone tells of them.
    none_returned = groups.filter(pl.Series(rng.random(len(groups)) < 0.1))
    frame = batch.frame.join(none_returned, on=batch.by, how="anti", nulls_equal=True)
    needed = batch.pos_label is not None and not frame["label"].eq_missing(batch.pos_label).any()
    return replace(batch, frame=batch.frame if needed else frame, below=below)


def _hide_scores(rng: Rng, batch: Batch, groups: pl.DataFrame) -> Batch:
    """Replace some scores by null; of a table none, some, or all."""
    share = rng.choice([0.0, 0.2, 0.6, 1.0], len(groups), p=[0.3, 0.3, 0.3, 0.1])
    shares = groups.with_columns(share=pl.Series(share))
    of_row = batch.frame.join(shares, on=batch.by, how="left", nulls_equal=True, maintain_order="left")
    hidden = pl.Series(rng.random(batch.frame.height)) < of_row["share"]
    frame = batch.frame.with_columns(score=pl.when(~hidden).then("score"))
    return replace(batch, frame=frame, missing="below")


def _draw_from(rng: Rng, pool: Pool, n: int) -> pl.Series:
    dtype, values = pool
    return pl.Series(values, dtype=dtype).gather(rng.integers(0, len(values), n))


def _draw_rising_rates(rng: Rng, group: np.ndarray[Any, Any]) -> dict[str, pl.Series]:
    """Draw recall and fpr that rise together within each group, some of them equal, 0 or 1.

    No rate is so small that the product of two, or their odds, would leave the range of floats.
    """
    some = [0.0, 1e-100, 1e-9, 0.1, 0.25, 0.5, 0.75, 1 - 2.0**-53, 1.0, *rng.random(12).tolist()]
    drawn = rng.choice(some, (2, len(group)))
    return {
        name: pl.Series(values[np.lexsort((values, group))])
        for name, values in zip(("tpr", "fpr"), drawn, strict=True)
    }


def _insert_missing(rng: Rng, frame: pl.DataFrame, except_row: int) -> pl.DataFrame:
    """Replace some scores by null or NaN and some labels by null, except in one row."""
    drawn = rng.choice(3, frame.height, p=[0.9, 0.06, 0.04])
    drawn[except_row] = 0
    fate = pl.Series(drawn)
    nothing = math.nan if frame.schema["score"].is_float() and rng.random() < 0.5 else None
    return frame.with_columns(
        score=pl.when(fate == 1).then(pl.lit(nothing, dtype=frame.schema["score"])).otherwise("score"),
        label=pl.when(fate == 2).then(None).otherwise("label"),
    )
