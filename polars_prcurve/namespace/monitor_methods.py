"""Is it still as good: `monitor`, which watches a rate for as long as one likes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import refuse_kind
from polars_prcurve.binding.bound_table import BoundTable, F, merge_words, name_column
from polars_prcurve.binding.shared_arguments import TableWords
from polars_prcurve.comparison.monitoring import (
    MONITOR_COLUMNS,
    build_monitor_table,
    read_reference_rate,
    read_watch,
)
from polars_prcurve.confidence.confidence_argument import Confidence
from polars_prcurve.curves.operating_points import build_points_table
from polars_prcurve.curves.targets import read_targets
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.column_reader import Column, ColumnReader, list_columns
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.prevalence.eta_argument import check_eta, read_eta
from polars_prcurve.query_guards import run_query

if TYPE_CHECKING:
    from typing_extensions import Unpack


class MonitorMethods(BoundTable[F], path="prc"):
    """The method of `.prc` that watches a series."""

    def monitor(
        self,
        time: Column,
        eta: float | str | None = None,
        *,
        reference: BoundTable[Any] | float,
        threshold: Any,
        metrics: str | PointMetric = "precision",
        confidence: Confidence = 0.95,
        **words: Unpack[TableWords],
    ) -> pl.DataFrame:
        """Tell in which period a rate has become worse than a reference; a LazyFrame is collected.

        The probability that there is ever a false alarm is at most `1 - confidence`, however many
        periods there are and however often you look: run it each week on all weeks so far, and stop or
        go on as you like. Each group is watched on its own, with an error of its own.

        Parameters
        ----------
        time
            The column or expression that tells the period of a row, such as
            `pl.col("day").dt.truncate("1w").alias("week")`. Its values stand in their order. A period is
            that in which a label became known: rows with late labels belong to a late period.
        eta
            With `metrics="precision"`, the prevalence at which precision is watched, so that a change of
            prevalence is no alarm. None watches the precision of the alerts themselves, which falls with
            prevalence, too.
        reference
            What the rate was when all was well: a bound table of other rows with labels, such as
            `prc(last_year)`, whose own error is allowed for. Or a number, which is taken as it is. Words
            that the bound table leaves open are as in the table. Of its `by` columns it has all, some or
            none.
        threshold
            The threshold in use, which no row of the series has chosen: a number, or a frame with one
            for each group.
        metrics
            `"precision"`, `"recall"` or `"fpr"`, one a call. A rise of fpr is what is bad.
        confidence
            The level, 1 less the probability that there is ever a false alarm.

        Returns
        -------
        One row per `by` group and period, in order. `bound` is null, and so are `evidence` and `alarm`,
        if the reference has no row by which a change could be shown:

        - a column `time`: as in the table, the period
        - `metric`: String
        - with `eta`, `eta`: Float64
        - `threshold`: as in the table, the score
        - `tp`, `fp`, `fn`, `tn`: Int64, the rows of the period; null rules are as in `operating_points`
        - `value`: Float64, the rate in the period; null if it has no row that the rate is of
        - `overall`: Float64, the rate of all rows since the first period
        - `overall_low`, `overall_high`: Float64, its interval, which holds in all periods at once with a
          probability of `confidence`: of the mean rate so far, even if periods differ
        - `reference`: Float64, the rate of the reference
        - `bound`: Float64, the reference less its error; only what is worse than that can be an alarm
        - `evidence`: Float64, how many times likelier the series is with a change than without one, over
          all starts and sizes of changes
        - `needed`: Float64, the evidence that makes an alarm
        - `alarm`: Boolean, whether the evidence has reached that in this period or before
        - `since`: as in the table, the period with which the change likely began, as seen at the alarm;
          null before it

        The evidence is a product of likelihood ratios, mixed over sizes and starts (Robbins 1970; Shin,
        Ramdas and Rinaldo 2023), so that Ville's inequality holds it (1939).

        Examples
        --------
        >>> weeks = pl.DataFrame({"week": [1, 2, 3, 4, 5], "score": 0.8, "n_pos": [82, 79, 81, 64, 61]})
        >>> weeks = weeks.with_columns(n_neg=100 - pl.col("n_pos"))
        >>> alerts = weeks.prc(counts=("n_pos", "n_neg"))
        >>> found = alerts.monitor("week", reference=0.8, threshold=0.8)
        >>> found.select("week", "value", pl.col("evidence").round(3), "alarm", "since").rows()[2:]
        [(3, 0.81, 0.525, False, None), (4, 0.64, 9.934, False, None), (5, 0.61, 58035.263, True, 4)]
        """
        own = self._merge_words(words)
        if own.get("cluster") is not None:
            raise PrcError(
                "monitor() takes no cluster=; its rows have to be independent, so make each cluster one "
                "row, such as by the highest score of a patient"
            )
        groups: list[Column] = list_columns("by=", own.get("by"))
        reader = ColumnReader(self._frame, "raise", may_collect=False)
        if len(periods := reader.read_by(time, MONITOR_COLUMNS, "time")[1]) != 1:
            raise refuse_kind("time=", "one column name or expression", time)
        [name] = periods
        if name in map(name_column, groups):
            raise PrcError(f"by= and time= both hold the column {name!r}; leave it out of by=")
        question = self._ask("monitor", words, eta=eta, confidence=confidence, collects=True)
        level = question.require_certainty().level
        rate = None if isinstance(reference, BoundTable) else read_reference_rate(reference)
        watch = read_watch(metrics, None if eta is None else check_eta(eta), level, rate)
        cells = self._count_cells(threshold, {**words, "by": [*groups, time]})
        of = None
        if isinstance(reference, BoundTable):
            of = self._count_reference(reference, threshold, words)
        return build_monitor_table(cells, name, watch, of)

    def _count_cells(self, threshold: Any, words: Any) -> pl.DataFrame:
        """Return the cells at the threshold, a row per group."""
        question = self._ask("monitor", words, collects=True)
        table = question.read(MONITOR_COLUMNS)
        if table.count_dtype != pl.Int64:
            raise PrcError(
                "monitor() takes numbers of examples, and counts= holds floats; cast them to integers "
                "if that is what they are"
            )
        targets = read_targets(table, threshold=threshold)
        if len(targets) != 1:
            raise refuse_kind(
                "threshold=", "one threshold, or a frame with one for each group", threshold
            )
        grid = read_eta(None, table, MONITOR_COLUMNS)
        found = run_query(build_points_table(table, grid, targets, []))
        keys = list(table.by)
        if found.select(keys).is_duplicated().any() if keys else found.height > 1:
            raise PrcError("monitor() takes one threshold for each group; the frame holds several")
        return found.select(*keys, "threshold", *c.CELLS)

    def _count_reference(self, reference: BoundTable[Any], threshold: Any, words: Any) -> pl.DataFrame:
        """Return the cells of the reference, by the groups that it tells apart."""
        own = self._merge_words(words)
        words_of_both = ("score", "label", "pos_label", "by", "model", "missing")
        shared = {name: own[name] for name in words_of_both if own.get(name) is not None}
        held = merge_words(shared, reference._words)
        known = set(reference._frame.lazy().collect_schema())
        held["by"] = [
            column
            for column in list_columns("by=", held.get("by"))
            if ({column} if isinstance(column, str) else set(column.meta.root_names())) <= known
        ]
        table: Any = type(reference)(reference._frame, held)
        try:
            found: pl.DataFrame = table._count_cells(threshold, {})
        except PrcError as error:
            raise PrcError(f"in the reference= table, {error}") from None
        return found
