"""The namespace `.prc`, and the function `prc()`, which gives its methods to type checkers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast, overload

import polars as pl

from polars_prcurve.core.binding.bound_table import complete_signature
from polars_prcurve.core.binding.shared_arguments import TableWords
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.doors.namespace.frame import DataFramePrc, LazyFramePrc

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_prcurve.doors.namespace.expression import ExprPrc


class ArrowTable(Protocol):
    """Anything that exports an Arrow stream: a pyarrow table, a DuckDB relation, ..."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@overload
def prc(x: pl.DataFrame | DataFramePrc, **words: Unpack[TableWords]) -> DataFramePrc: ...


@overload
def prc(x: pl.LazyFrame | LazyFramePrc, **words: Unpack[TableWords]) -> LazyFramePrc: ...


@overload
def prc(x: pl.Expr) -> ExprPrc: ...


@overload
def prc(x: ArrowTable, **words: Unpack[TableWords]) -> DataFramePrc: ...


@complete_signature
def prc(x: object, **words: Unpack[TableWords]) -> DataFramePrc | LazyFramePrc | ExprPrc:
    """The namespace `.prc` of a frame or an expression, as a call that type checkers can see.

    Parameters
    ----------
    x
        A Polars DataFrame, LazyFrame or Expr, or a table that exports an Arrow stream, which becomes a
        DataFrame.
    by, score, label, pos_label, weight, stratum, counts, rates, sizes, cells, cluster, model, id, below
        Which columns of a frame hold what; `help(pl.DataFrame.prc)` describes each. An expression takes
        none of them.
    missing
        `"raise"`, `"drop"` or `"below"`: what to do about nulls and NaN, as described there.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.2], "label": [1, 0]})
    >>> prc(df).sweep().equals(df.prc.sweep()) and df.pipe(prc).sweep().equals(df.prc.sweep())
    True
    """
    if isinstance(x, pl.Expr):
        expression_namespace = _find_expression_methods()(x)
        return expression_namespace(**words) if words else expression_namespace
    if isinstance(x, DataFramePrc | LazyFramePrc):
        return x(**words) if words else x
    if not isinstance(x, pl.DataFrame | pl.LazyFrame):
        if not hasattr(x, "__arrow_c_stream__"):
            remedy_text = "for tables of other engines use polars_prcurve.engines"
            if isinstance(x, list | tuple) or hasattr(x, "__array__"):
                remedy_text = 'put arrays into a table: pass pl.DataFrame({"label": ..., "score": ...})'
            raise PrcError(
                "prc() takes a Polars DataFrame, LazyFrame or Expr, or a table that exports an Arrow "
                f"stream; got {type(x).__name__}; {remedy_text}"
            )
        x = pl.DataFrame(cast("Any", x))
    namespace = DataFramePrc(x) if isinstance(x, pl.DataFrame) else LazyFramePrc(x)
    return namespace(**words)


class NamespaceProperty(property):
    """A property that, read from a class, is its namespace, as for `help(pl.DataFrame.prc.curve)`."""

    def __init__(self, find_class: Callable[[], Callable[[Any], Any]]) -> None:
        super().__init__()
        self._find_class = find_class

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the namespace of a frame or an expression, or the class of the namespace."""
        namespace_class = self._find_class()
        return namespace_class if instance is None else namespace_class(instance)


def _find_expression_methods() -> type[ExprPrc]:
    """Return the namespace of expressions, which most programs do without."""
    from polars_prcurve.doors.namespace.expression import ExprPrc

    return ExprPrc


def register() -> None:
    """Make `.prc` an attribute of DataFrame, LazyFrame and Expr."""
    # A namespace that is registered with `polars.api` is kept on the frame: it would hold the old rows
    # after an in-place `extend`, or keep the frame alive in a cycle.
    pl.DataFrame.prc = NamespaceProperty(lambda: DataFramePrc)  # type: ignore[attr-defined]
    pl.LazyFrame.prc = NamespaceProperty(lambda: LazyFramePrc)  # type: ignore[attr-defined]
    pl.Expr.prc = NamespaceProperty(_find_expression_methods)  # type: ignore[attr-defined]
