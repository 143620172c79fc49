"""Metrics along prevalence: the P3 curve, average precision and others, with trades of places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.charts.along_eta import (
    eta_axis,
    no_place,
    read_lines,
    sparse,
    with_yes_and_no,
    within,
)
from polars_prcurve.charts.channels import Channels, channels_of
from polars_prcurve.charts.curves import Curves, check_table, said_sizes
from polars_prcurve.charts.drawing import CHANCE, SWEPT, Chart, Look, Words, chart, part
from polars_prcurve.charts.points import records
from polars_prcurve.charts.words import metric_title, rounded, said, said_level, said_share
from polars_prcurve.errors import PrcError

__all__ = ["metric_by_eta", "p3_curve"]

_TOOLTIP = (
    alt.Tooltip("prevalence:N"),
    alt.Tooltip("value:Q", format=".4~g"),
    alt.Tooltip("low:Q", format=".4~g"),
    alt.Tooltip("high:Q", format=".4~g"),
    alt.Tooltip("reliable:N"),
    *SWEPT,
    alt.Tooltip("fpr:Q", format=".4~g"),
)
_TOLD = (
    "prevalence",
    "value",
    "low",
    "high",
    "reliable",
    "threshold",
    "tp",
    "fp",
    "recall",
    "fpr",
    "test_set",
)


def metric_by_eta(
    table: pl.DataFrame,
    *,
    crossings: pl.DataFrame | None = None,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """Metrics along prevalence, from the table of `summary` or `operating_points`, in any row order.

    A line per group, metric and target, straight between the prevalences of the table on a log
    axis; few of them are dots, too. Where a value is null there is a gap. Shaded: the table's
    intervals. The dashed rule is the test set's own prevalence, where the table tells it.

    Parameters
    ----------
    table
        What `summary` or `operating_points` returns for several eta, such as `eta_grid()`, long or
        with a column per metric. Columns and rows that are not to be drawn can be left out.
    crossings
        What `crossings` returns for the same metric: circles where two models trade places. Those of
        models or prevalences that the table lacks are left out.
    confidence
        The level that the table's intervals have, for the subtitle: the table does not hold it.
    color, facet
        A `by` column, `"metric"` or `"target"`. Left out: the first `by` column is colour, the others
        are panels, and so are metrics and targets if there are several. More than 8 groups, or than 9
        panels: groups are panels.
    title
        In place of the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> from polars_prcurve import eta_grid
    >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
    >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
    >>> table = df.prc.summary(eta_grid(0.001, 0.9), metrics="average_precision", by="model")
    >>> chart = metric_by_eta(table, crossings=df.prc.crossings(eta_range=(0.001, 0.9)))
    >>> for line in chart.to_dict()["title"]["subtitle"]:
    ...     print(line)
    Dashed: the test set's own prevalence, 0.5 (1 in 2)
    Circles: two models trade places
    Test set: 3 positives : 3 negatives
    """
    curves = read_lines("metric_by_eta", table)
    metrics = curves.each["metric"].unique().to_list()
    own_title = (
        f"{metric_title(metrics[0])} by prevalence" if len(metrics) == 1 else "Metrics by prevalence"
    )
    lines = _Lines(curves, channels_of(curves, color, facet), confidence, no_place(table))
    return lines.chart(title or own_title, crossings)


def p3_curve(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """Precision along prevalence at fixed operating points (Brabec et al. 2020): P3 curves.

    What precision follows from the recall and fpr of one threshold wherever the classifier runs. On
    the log axis it is S-shaped, and a smaller fpr moves it to the left.

    Parameters
    ----------
    table
        What `operating_points` returns for several eta, such as `eta_grid()`, with `recall=`,
        `threshold=` or `fpr=`, and precision among its metrics.
    confidence
        The level that the table's intervals have, for the subtitle: the table does not hold it.
    color, facet
        A `by` column or `"target"`. Left out: the first `by` column is colour; the others are panels,
        and so are targets if there are several.
    title
        In place of the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = p3_curve(df.prc.operating_points([0.5, 0.1, 0.01, 0.001], recall=1))
    >>> for line in chart.to_dict()["title"]["subtitle"]:
    ...     print(line)
    Target: recall 1
    Dashed: the test set's own prevalence, 0.5 (1 in 2)
    Test set: 2 positives : 2 negatives
    """
    curves = read_lines("p3_curve", table, "precision")
    lines = _Lines(curves, channels_of(curves, color, facet), confidence, no_place(table))
    return lines.chart(title or "Precision by prevalence", None)


@dataclass(frozen=True)
class _Lines:
    curves: Curves
    channels: Channels
    confidence: float | None
    missing: list[str]

    def chart(self, title: str, crossings: pl.DataFrame | None) -> Chart:
        rows = self.curves.rows
        x, low, high = eta_axis(rows)
        y, free = self._y_axis()
        trades = [] if crossings is None else _trades(self.curves, self.channels, crossings)
        trades = [trade for trade in trades if within(trade["eta"], low, high)]
        own = [
            {"eta": rounded(at), **place}
            for at, place in self.channels.places("own", self._own())
            if within(at, low, high)
        ]
        rule = alt.Chart().mark_rule(**CHANCE).encode(x)
        look = Look(
            x=x,
            y=y,
            interpolate="linear",
            tooltip=_TOOLTIP,
            below=(part(rule, "own"),),
            above=(_circles(x, y),) if trades else (),
            bands=(("low", "high"),),
            dots=sparse(rows),
            height=0.65,
            free_y=free,
        )
        fields = [name for name in ("eta", "value", "low", "high") if name in rows.columns]
        told = [name for name in _TOLD if name in (*rows.columns, "prevalence", "test_set")]
        lines = records(self.curves, self.channels, with_yes_and_no(rows), fields, told)
        data = [*own, *lines, *trades]
        words = Words(title, self._subtitle(bool(own), bool(trades)), "")
        return chart(look, data, self.channels, words)

    def _own(self) -> list[float | None]:
        sizes = self.curves.each.select(pl.col("n_pos", "n_neg").cast(pl.Float64))
        return [p / (p + n) if p and n else None for p, n in sizes.iter_rows()]

    def _y_axis(self) -> tuple[alt.Y, bool]:
        """From 0 to 1, if all is within; else as far as there are values, and a metric for itself."""
        names = [name for name in ("value", "low", "high") if name in self.curves.rows.columns]
        numbers = pl.concat([self.curves.rows[name].cast(pl.Float64) for name in names]).drop_nulls()
        metrics = self.curves.each["metric"].unique().to_list()
        label = metric_title(metrics[0]) if len(metrics) == 1 else "Value"
        share = bool(numbers.is_between(-1e-9, 1 + 1e-9).all())
        scale = alt.Scale(domain=[0, 1]) if share else alt.Scale(zero=False)
        facet = self.channels.facet
        free = not share and facet is not None and "metric" in facet.fields
        return alt.Y("value:Q", title=label, scale=scale), free

    def _subtitle(self, own: bool, trades: bool) -> tuple[str, ...]:
        each, rows, said_all = self.curves.each, self.curves.rows, []
        if "target" in each.columns and each["target"].n_unique() == 1:
            said_all.append(f"Target: {said('target', each['target'][0])}")
        if "low" in rows.columns and rows["low"].count():
            level = "the intervals of the table"
            if self.confidence is not None:
                level = f"intervals of {said_level(self.confidence)}"
            fixed = " for a fixed threshold" if "target" in each.columns else ""
            doubt = "reliable" in rows.columns and not rows["reliable"].all()
            said_all.append(f"Shaded: {level}{fixed}{', not all of them reliable' if doubt else ''}")
        if own:
            etas = pl.Series(self._own()).drop_nulls().unique().sort()
            ends = [said_share(eta) for eta in dict.fromkeys((etas[0], etas[-1]))]
            said_all.append(f"Dashed: the test set's own prevalence, {' to '.join(ends)}")
        said_all += ["Circles: two models trade places"] if trades else []
        return (*said_all, *said_sizes(self.curves), *self.missing)


# Where two models trade places ----------------------------------------------------------------


def _circles(x: alt.X, y: alt.Y) -> alt.Chart:
    told = [
        alt.Tooltip("prevalence:N"),
        alt.Tooltip("value:Q", format=".4~g"),
        alt.Tooltip("below:N", title="leads below"),
        alt.Tooltip("above:N", title="leads above"),
    ]
    mark = alt.Chart().mark_point(size=70, filled=True, fill="white", stroke="black", opacity=1)
    return part(mark.encode(x, y, tooltip=told), "crossing")


def _trades(curves: Curves, channels: Channels, crossings: pl.DataFrame) -> list[dict[str, Any]]:
    """Each crossing, in the panels of both models."""
    made_by, columns = "crossings", ["model_a", "model_b", "eta", "value"]
    crossings = check_table("crossings= of metric_by_eta", crossings, made_by, columns)
    if curves.count(curves.others) > 1:
        raise PrcError("crossings= are of one metric, at one target; the table has several, filter it")
    if crossings.is_empty() or curves.each.is_empty():
        return []
    by = {field: name for field, name in curves.names.items() if name in crossings.columns[:-4]}
    models = [field for field in curves.groups if field not in by]
    if len(models) != 1 or len(by) != len(crossings.columns) - 4:
        raise PrcError(
            "crossings= come from the same table with model= one of its group columns and by= the "
            f"others; the groups here are {', '.join(curves.names[g] for g in curves.groups) or 'none'}"
        )
    found = [crossings.get_column(name).alias(field) for field, name in by.items()]
    found += [crossings.get_column(name) for name in columns]
    return _placed(curves, channels, pl.DataFrame(found).with_row_index("trade"), models[0])


def _placed(
    curves: Curves, channels: Channels, trades: pl.DataFrame, model: str
) -> list[dict[str, Any]]:
    """A record per trade and panel in which one of its models has a line."""
    by = [field for field in trades.columns if field.startswith("group")]
    each = curves.each.select(*by, model).with_row_index("at")
    if each.schema[model] != trades.schema["model_a"]:
        raise PrcError(
            f"crossings= are of models of dtype {trades.schema['model_a']}, and the table of models of "
            f"dtype {each.schema[model]}; make both from one table"
        )
    placed: dict[tuple[int, str | None], dict[str, Any]] = {}
    for side in ("model_a", "model_b"):
        left, right = [*by, model], [*by, side]
        both = each.join(trades, left_on=left, right_on=right, nulls_equal=True, coalesce=False)
        for row in both.iter_rows(named=True):
            panel = channels.facet.of_curve[row["at"]] if channels.facet else None
            placed[row["trade"], panel] = {
                "part": "crossing",
                "eta": rounded(row["eta"]),
                "value": rounded(row["value"]),
                "prevalence": said_share(row["eta"]),
                "below": said("", row["model_a"]),
                "above": said("", row["model_b"]),
                **({} if panel is None else {"facet": panel}),
            }
    return [placed[key] for key in sorted(placed, key=lambda key: (key[0], key[1] or ""))]
