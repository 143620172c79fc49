"""`.prc` on frames: each method reads its words, calls one stage and returns a table.

The lazy query of a DataFrame is collected here, at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve.core.binding.bound_table import F
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.query_guards import run_query
from polars_prcurve.core.inputs import wide_tables
from polars_prcurve.core.inputs.column_reader import refuse_reserved_names
from polars_prcurve.core.inputs.never_scored import hide_unknown
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.doors.namespace.comparison_methods import ComparisonMethods
from polars_prcurve.doors.namespace.curve_methods import CurveMethods
from polars_prcurve.doors.namespace.decision_methods import DecisionMethods
from polars_prcurve.doors.namespace.planning_and_prevalence_methods import PlanningMethods

if TYPE_CHECKING:
    from polars_prcurve.doors.namespace.plot import PlotPrc

_MANY_MODELS = 8
"""As many rows of other models are reckoned to stand beside each row, where models are compared."""


class FramePrc(
    CurveMethods[F], ComparisonMethods[F], PlanningMethods[F], DecisionMethods[F], public_name="prc"
):
    """Precision-recall analysis of a score table, at any prevalence.

    All methods share these arguments, which describe the table. `df.prc(...)` binds them for each method
    and chart of the object that it returns; a call's own arguments override them. Passing `label` (with
    `weight`), `counts`, `rates` or `cells` in a call replaces the others.

    by
        Group columns, as names or expressions, of any sortable dtype. Null is a group, the first.
    score
        Larger means more positive. Floats, integers, Decimals or Booleans, compared exactly; infinities
        are allowed, and -0.0 equals 0.0. A list of columns, one per model, makes a group column `model`;
        a mapping from each class of the label to its column, one against the rest, a group column
        `class`.
    label
        Booleans, or numbers: 0 and 1, or -1 and 1.
    pos_label
        The positive value, for labels of any other kind. It must occur in the table.
    weight
        A number >= 0 per row; rows of weight 0 are ignored. For intervals it is one over the sampling
        probability.
    stratum
        A column of strata, for intervals. In each stratum of a group a fixed number of rows was drawn at
        random; `weight` is the stratum's rows divided by that number, as from `reweight`: constant and
        at least 1. Strata may be ranges of the score, or the label where one negative in 20 was kept.
    counts
        Two columns, `("n_pos", "n_neg")`, instead of label and weight. Rows of equal score add up. For
        weights, also name the sums of their squares, as `counts(weight=)` gives them: `("n_pos",
        "n_neg", "n_pos_squares", "n_neg_squares")`.
    rates
        Two columns, `("tpr", "fpr")`, instead of score and label. Thresholds and counts are then
        null.
    sizes
        The numbers of positives and negatives behind `rates`, as two columns or two numbers, for
        intervals, the prevalence, and counts, which are not rounded. A null size has no interval, and
        drops no row.
    cells
        Four columns, `("tp", "fp", "fn", "tn")`, instead of label: one row per threshold, as other tools
        report it, or a single row from a paper. `score` names the threshold, null if there is none.
    cluster
        A column of clusters, such as patients, for intervals. Rows of one cluster need not be
        independent, whatever their labels. A class in fewer than two clusters has no interval.
    model
        The column that names the model, by default `model` in methods that compare models; in others the
        last group column. For `decide` and `report` None is one model, whatever columns there are.
    id
        The columns that identify an example of a group, where models scored the same examples. Each
        example has one row per model; `missing="drop"` drops it for all models.
    below
        The numbers of positives and negatives that were never scored, so that no threshold flags them:
        `(n_pos, n_neg)` for each group, or a frame with the group columns, `n_pos` and `n_neg`. It may
        have further groups; a group that it lacks has none. None, or null, as `n_neg` means that
        negatives are not counted: `eta`, `fpr`, `tn` and `n_neg` are then null, and results that need
        their number raise an error. Between models with `id`, an example that one model lacks counts as
        below its scores.
    missing
        What to do about a null or NaN score, or a null label or weight: `"raise"` an error, `"drop"` the
        row, or `"below"`: a null or NaN score, of a row that was never scored, lies below every score.

    Mistakes in names, dtypes and arguments raise `PrcError` at the call, mistakes in values when the
    query runs: with a LazyFrame, a `polars.exceptions.InvalidOperationError` with the same sentence.
    """

    def unpivot_scores(
        self,
        scores: Sequence[str] | Mapping[Any, str],
        *,
        label: str | None = None,
        name: str | None = None,
        score: str = "score",
        row: str | None = None,
        mix: Mapping[Any, float] | None = None,
    ) -> F:
        """Turn a wide table, one score column per model or per class, into a score table.

        Parameters
        ----------
        scores
            A list of score columns, one per model, or a mapping from each class to its score column, all
            of one dtype. A class that occurs in no row raises an error when the query runs, unless the
            labels are an Enum or all null.
        label
            The column that holds the true class, `label` if left out, for a mapping.
        name, score, row
            Names of the new columns: for the model or the class, `model` or `class` if left out; for the
            score; and, if you want it, for the row number.
        mix
            The relative frequency of every class of the label where the model will run: `{"cat": 20,
            "dog": 80}`. Adds the column `weight`, with which the classes have these shares. Pass
            `weight="weight"` on, and leave `eta` out: it is then the share of each class (in
            `sample_size`, pass `[None]`).

        Returns
        -------
        One row per row of the table and score column, in that order:

        - with `row`, that column: Int64
        - the other columns of the table
        - a column `name`: String; with a mapping as in the table, the label
        - a column `score`: as in the table
        - with `label`, `label`: Boolean, also if left out beside a mapping: whether the row belongs to
          that class; null where its class is null
        - with `mix`, `weight`: Float64, its class's frequency in `mix` over its table frequency; 1 for
          null

        Examples
        --------
        >>> df = pl.DataFrame({"label": [1, 0], "a": [0.9, 0.3], "b": [0.6, 0.5]})
        >>> df.prc.unpivot_scores(["a", "b"]).rows()
        [(1, 'a', 0.9), (1, 'b', 0.6), (0, 'a', 0.3), (0, 'b', 0.5)]
        >>> df = pl.DataFrame({"species": ["cat", "dog"], "p_cat": [0.7, 0.4], "p_dog": [0.3, 0.6]})
        >>> df.prc.unpivot_scores({"cat": "p_cat", "dog": "p_dog"}, label="species").head(2).rows()
        [('cat', 'cat', 0.7, True), ('cat', 'dog', 0.3, False)]
        """
        refuse_reserved_names(self._frame)
        wide_table = self._frame.lazy()
        if isinstance(scores, Mapping):
            new_column_names: dict[str, Any] = {
                "name": "class" if name is None else name,
                "score": score,
                "row": row,
            }
            class_column = "label" if label is None else label
            return self._finish(
                wide_tables.one_vs_rest(
                    wide_table, label=class_column, scores=scores, mix=mix, **new_column_names
                )
            )
        if label is not None or mix is not None:
            misused_argument = "label=" if mix is None else "mix="
            raise PrcError(
                "pass scores= as a mapping from each class to its score column, or leave out "
                f"{misused_argument}, which is only for classes"
            )
        new_column_names = {"name": "model" if name is None else name, "score": score, "row": row}
        return self._finish(wide_tables.unpivot_scores(wide_table, scores, **new_column_names))

    @property
    def plot(self) -> PlotPrc:
        """Charts of the score table; each method collects the table that it draws."""
        from polars_prcurve.doors.namespace.plot import PlotPrc

        return PlotPrc(self)

    def _finish(
        self,
        query: pl.LazyFrame,
        table: ResolvedTable | None = None,
        grid: EtaTable | None = None,
        *,
        pairs: bool = False,
    ) -> F:
        if table is not None and not table.counts_negatives:
            carried_columns: tuple[str, ...] = () if grid is None else grid.carried_columns
            query = hide_unknown(query, set(table.by).union(carried_columns))
        if table is not None and table.name_by_inner:
            # Groups that a mean is over are no columns of the result.
            query = query.rename(table.name_by_inner, strict=False)
        if isinstance(self._frame, pl.LazyFrame):
            return query
        n_etas = 1 if grid is None else grid.etas_per_group
        n_models = _MANY_MODELS if pairs else 1
        return run_query(query, None if n_etas is None else self._frame.height * n_etas * n_models)

    def _collect_table(self) -> DataFramePrc:
        frame = self._frame
        return DataFramePrc(run_query(frame) if isinstance(frame, pl.LazyFrame) else frame, self._words)


class DataFramePrc(FramePrc[pl.DataFrame]):
    __doc__ = FramePrc.__doc__
    _may_collect = True

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows that the words are about, for `pl.DataFrame(...)` and other libraries."""
        return self._frame.__arrow_c_stream__(requested_schema)


class LazyFramePrc(FramePrc[pl.LazyFrame]):
    __doc__ = FramePrc.__doc__
    _may_collect = False
