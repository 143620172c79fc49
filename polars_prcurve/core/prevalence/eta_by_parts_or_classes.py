"""What `eta=` takes beside numbers and frames: fields of several parts, and class mixes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import hint_at_arguments, suggest_names
from polars_prcurve.core.inputs.column_reader import Column, Columns, list_columns

_ROUNDING_OF_SHARES = 0.005  # papers print shares in whole per cent


@dataclass(frozen=True, eq=False)
class Field:
    """A field of several parts, each with a prevalence and a share; `field()` returns it."""

    frame: pl.DataFrame | pl.LazyFrame
    """One row per part: the columns of `parts`, eta (or k and n) and share."""
    parts: tuple[Column, ...]
    """The columns that distinguish the parts."""

    def __repr__(self) -> str:
        parts_text = ", ".join(str(part) for part in self.parts)
        return f"field(<{type(self.frame).__name__}>, parts=[{parts_text}])"


@dataclass(frozen=True)
class ClassMix:
    """The share of each class in a field; `class_mix()` returns it."""

    shares: Mapping[Any, float]

    def __repr__(self) -> str:
        return f"class_mix({dict(self.shares)!r})"


@hint_at_arguments
def field(frame: pl.DataFrame | pl.LazyFrame, parts: Columns) -> Field:
    """Return a field of several parts, such as countries that share one threshold, for `eta=`.

    All parts share one threshold, and their rows are weighted by the prevalence and the share of their
    part. The result is for the whole population: its prevalence is the sum of share times eta, and its
    counts are weighted, as by `reweight`. Intervals include the error of estimated prevalences (Zou and
    Donner 2008).

    Parameters
    ----------
    frame
        One row per part (and group): the columns of `parts`, any of the `by` columns, `share`
        (relative), and the prevalence: `eta`, null for the part's own; with `eta_low` and `eta_high` if
        it is an estimate; or `k` and `n`, positives in a sample.
    parts
        The column or columns that name the parts. If they are bound in `by`, they are dropped from it
        for that call.

    Examples
    --------
    >>> countries = ["de", "de", "fr", "fr"]
    >>> df = pl.DataFrame({"country": countries, "score": [4, 2, 3, 1], "label": [1, 0, 1, 0]})
    >>> markets = pl.DataFrame({"country": ["de", "fr"], "eta": [0.5, 0.1], "share": [1, 3]})
    >>> df.prc.curve(eta=field(markets, parts="country")).select("eta", "threshold", "precision")
    shape: (4, 3)
    ┌─────┬───────────┬───────────┐
    │ eta ┆ threshold ┆ precision │
    │ --- ┆ ---       ┆ ---       │
    │ f64 ┆ i64       ┆ f64       │
    ╞═════╪═══════════╪═══════════╡
    │ 0.2 ┆ 4         ┆ 1.0       │
    │ 0.2 ┆ 3         ┆ 1.0       │
    │ 0.2 ┆ 2         ┆ 0.615385  │
    │ 0.2 ┆ 1         ┆ 0.2       │
    └─────┴───────────┴───────────┘
    """
    part_rows = arguments.take_frame(frame)
    if not isinstance(part_rows, pl.DataFrame | pl.LazyFrame):
        raise arguments.refuse_kind("field()", "a frame with a row per part", frame)
    names_or_exprs = list_columns("parts=", parts)
    if not names_or_exprs:
        raise PrcError("pass at least one column as parts=; got none")
    schema = part_rows.lazy().collect_schema()
    arguments.refuse_objects("the frame of a field", schema)
    for name in (name_or_expr for name_or_expr in names_or_exprs if isinstance(name_or_expr, str)):
        if name not in schema:
            raise PrcError(
                f"parts= names the column {name!r}, which the frame of field() does not have; "
                f"{suggest_names(name, schema)}"
            )
    if "eta" not in schema and not {"k", "n"} <= set(schema):
        raise PrcError("add a column 'eta', or the columns 'k' and 'n', to the frame of field()")
    if "share" not in schema:
        raise PrcError(
            "add a column 'share' to the frame of field(), each part's share of cases: the "
            "table's row counts may differ from it"
        )
    return Field(part_rows, tuple(names_or_exprs))


@hint_at_arguments
def class_mix(shares: Mapping[Any, float]) -> ClassMix:
    """Return the shares of classes where the model will run, for `eta=`.

    For a table with one score column per class, `score={"cat": "p_cat", ...}`: each class then has its
    share as prevalence, and the other classes have theirs among its negatives.

    Parameters
    ----------
    shares
        A mapping from each class of the label to its share, a number >= 0: `{"cat": 0.2, "dog": 0.8}`.
        They sum to 1, apart from rounding: a sum up to 0.005 off is scaled.

    Examples
    --------
    >>> class_mix({"cat": 0.2, "dog": 0.8})
    class_mix({'cat': 0.2, 'dog': 0.8})
    """
    share_by_class = arguments.read_shares("class_mix()", shares)
    share_sum = math.fsum(share_by_class.values())
    if abs(share_sum - 1) > _ROUNDING_OF_SHARES * (1 + 1e-9):
        raise PrcError(
            "correct the shares of class_mix(), or divide each by their sum: they sum to "
            f"{share_sum:.6g} instead of 1"
        )
    return ClassMix({class_value: share / share_sum for class_value, share in share_by_class.items()})
