"""The namespace `.prc`, and the function `prc()`, which gives its methods to type checkers.

`register` makes `.prc` a property of Polars' classes. `prc` and `estimate_prevalence` are the functions
of this chapter that `polars_prcurve` offers.
"""

from __future__ import annotations

from typing import Any, Protocol, cast, overload

import polars as pl

from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.column_reader import Column, Columns, Missing
from polars_prcurve.namespace.expression import ExprPrc
from polars_prcurve.namespace.frame import DataFramePrc, LazyFramePrc
from polars_prcurve.prevalence.estimate import EstimateMethod


class ArrowTable(Protocol):
    """Anything that exports an Arrow stream: a pyarrow table, a DuckDB relation, ..."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@overload
def prc(x: pl.DataFrame) -> DataFramePrc: ...


@overload
def prc(x: pl.LazyFrame) -> LazyFramePrc: ...


@overload
def prc(x: pl.Expr) -> ExprPrc: ...


@overload
def prc(x: ArrowTable) -> DataFramePrc: ...


@hint_at_arguments
def prc(x: object) -> DataFramePrc | LazyFramePrc | ExprPrc:
    """The namespace `.prc` of a frame or an expression, as a call that type checkers can see.

    A table that exports an Arrow stream becomes a DataFrame.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.2], "label": [1, 0]})
    >>> prc(df).sweep().equals(df.prc.sweep()) and df.pipe(prc).sweep().equals(df.prc.sweep())
    True
    """
    if isinstance(x, pl.DataFrame):
        return DataFramePrc(x)
    if isinstance(x, pl.LazyFrame):
        return LazyFramePrc(x)
    if isinstance(x, pl.Expr):
        return ExprPrc(x)
    if hasattr(x, "__arrow_c_stream__"):
        return DataFramePrc(pl.DataFrame(cast("Any", x)))
    raise PrcError(
        "prc() takes a Polars DataFrame, LazyFrame or Expr, or a table that exports an Arrow "
        f"stream; got {type(x).__name__}; for tables of other engines use polars_prcurve.engines"
    )


@hint_at_arguments
def estimate_prevalence(
    frame: pl.DataFrame | pl.LazyFrame | ArrowTable,
    score: Column,
    eta_train: float | None = None,
    by: Columns = None,
    *,
    method: EstimateMethod = "posteriors",
    reference: pl.DataFrame | pl.LazyFrame | None = None,
    reference_counts: tuple[Column, Column] | None = None,
    counts: Column | None = None,
    confidence: float | None = None,
    label: Column = "label",
    pos_label: Any = None,
    missing: Missing = "raise",
    tolerance: float | None = None,
    max_iterations: int | None = None,
) -> pl.DataFrame:
    """Estimate the prevalence of rows without labels; a LazyFrame is collected at the call.

    This is the frame method `estimate_prevalence` as a function.

    Examples
    --------
    >>> field = pl.DataFrame({"p": [0.9, 0.8, 0.75, 0.6, 0.4, 0.35, 0.3, 0.2, 0.1, 0.05]})
    >>> round(estimate_prevalence(field, "p", eta_train=0.5)["eta"].item(), 6)
    0.335914
    """
    if isinstance(frame, pl.Expr):
        raise PrcError(f"estimate_prevalence() takes a table; got the expression {frame}")
    return prc(frame).estimate_prevalence(
        eta_train,
        method=method,
        reference=reference,
        reference_counts=reference_counts,
        counts=counts,
        confidence=confidence,
        by=by,
        score=score,
        label=label,
        pos_label=pos_label,
        missing=missing,
        tolerance=tolerance,
        max_iterations=max_iterations,
    )


class NamespaceProperty(property):
    """A property that, read from a class, is its namespace, as for `help(pl.DataFrame.prc.curve)`."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the namespace of a frame or an expression, or the class of the namespace."""
        return self.fget if instance is None else super().__get__(instance, owner)


def register() -> None:
    """Make `.prc` an attribute of DataFrame, LazyFrame and Expr.

    It is a property, because a namespace that is registered with `polars.api` is kept on the frame: it
    would hold the old rows after an in-place `extend`, or keep the frame alive in a cycle.
    """
    pl.DataFrame.prc = NamespaceProperty(DataFramePrc)  # type: ignore[attr-defined]
    pl.LazyFrame.prc = NamespaceProperty(LazyFramePrc)  # type: ignore[attr-defined]
    pl.Expr.prc = NamespaceProperty(ExprPrc)  # type: ignore[attr-defined]
