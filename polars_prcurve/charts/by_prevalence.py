"""Metrics by prevalence: P3 curves, and charts of any metric, with circles where models trade places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import check_texts
from polars_prcurve.charts.parts.chart_assembly import (
    CHANCE_STYLE,
    THRESHOLD_TOOLTIP,
    Chart,
    ChartSpec,
    ChartText,
    build_chart,
    keep_part,
)
from polars_prcurve.charts.parts.chart_curves import ChartCurves, check_table, describe_sizes
from polars_prcurve.charts.parts.colors_and_panels import Channels, read_channels
from polars_prcurve.charts.parts.lines_by_prevalence import (
    build_eta_axis,
    describe_eta_zero,
    is_sparse,
    is_within,
    read_lines,
    with_yes_and_no,
)
from polars_prcurve.charts.parts.number_formats import (
    format_level,
    format_metric,
    format_share,
    format_value,
    round_digits,
)
from polars_prcurve.charts.parts.points_to_draw import build_records
from polars_prcurve.errors import PrcError

_TOOLTIP = (
    alt.Tooltip("prevalence:N"),
    alt.Tooltip("value:Q", format=".4~g"),
    alt.Tooltip("low:Q", format=".4~g"),
    alt.Tooltip("high:Q", format=".4~g"),
    alt.Tooltip("reliable:N"),
    *THRESHOLD_TOOLTIP,
    alt.Tooltip("fpr:Q", format=".4~g"),
)
_TOOLTIP_FIELDS = (
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
    """Metrics by prevalence, from the table of `summary` or `operating_points`, in any row order.

    There is a line per group, metric and target, straight between the prevalences of the table, on a
    log axis. If these are few, each is a dot, too. A null value is a gap. The shade is the table's
    intervals. The dashed rule is the test set's own prevalence, if the table tells it.

    Parameters
    ----------
    table
        What `summary` or `operating_points` returns for several eta, such as `eta_grid()`, long or
        with a column per metric. You can drop columns and rows that you do not want to see.
    crossings
        What `crossings` returns for the same metric: circles where two models trade places. Crossings
        of models or prevalences that the table lacks are left out.
    confidence
        The level of the table's intervals, for the subtitle, since the table does not hold it.
    color, facet
        A `by` column, `"metric"` or `"target"`. By default the first `by` column is colour, and the
        others are panels, as are metrics and targets if there are several. With more than 8 groups,
        or more than 9 panels, groups are panels.
    title
        Replaces the chart's own title; the subtitle stays.

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
    check_texts(color=color, facet=facet, title=title)
    curves = read_lines("metric_by_eta", table)
    metrics = curves.per_curve["metric"].unique().to_list()
    own_title = (
        f"{format_metric(metrics[0])} by prevalence" if len(metrics) == 1 else "Metrics by prevalence"
    )
    lines = _LineChart(curves, read_channels(curves, color, facet), confidence, describe_eta_zero(table))
    return lines.draw(title or own_title, crossings)


def p3_curve(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """P3 curves: precision by prevalence at fixed operating points (Brabec et al. 2020).

    A line is the precision that follows at each prevalence from the recall and fpr of one threshold. On
    the log axis it is S-shaped, and a smaller fpr moves it to the left.

    Parameters
    ----------
    table
        What `operating_points` returns for several eta, such as `eta_grid()`, with `recall=`,
        `threshold=` or `fpr=`, and precision among its metrics.
    confidence
        The level of the table's intervals, for the subtitle, since the table does not hold it.
    color, facet
        A `by` column or `"target"`. By default the first `by` column is colour, and the others are
        panels, as are targets if there are several.
    title
        Replaces the chart's own title; the subtitle stays.

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
    check_texts(color=color, facet=facet, title=title)
    curves = read_lines("p3_curve", table, "precision")
    lines = _LineChart(curves, read_channels(curves, color, facet), confidence, describe_eta_zero(table))
    return lines.draw(title or "Precision by prevalence", None)


@dataclass(frozen=True)
class _LineChart:
    """Lines by prevalence, and what their chart needs besides."""

    curves: ChartCurves
    channels: Channels
    confidence: float | None
    not_drawn: list[str]
    """Lines for the subtitle on prevalences that the axis does not show."""

    def draw(self, title: str, crossings: pl.DataFrame | None) -> Chart:
        """Return the chart, with circles for the crossings that lie within its axis."""
        rows = self.curves.rows
        x, low, high = build_eta_axis(rows)
        y, has_free_y = self._build_y_axis()
        trades = [] if crossings is None else _read_trades(self.curves, self.channels, crossings)
        trades = [trade for trade in trades if is_within(trade["eta"], low, high)]
        own = [
            {"eta": round_digits(eta), **place}
            for eta, place in self.channels.repeat_in_panels("own", self._compute_own_etas())
            if is_within(eta, low, high)
        ]
        rule = alt.Chart().mark_rule(**CHANCE_STYLE).encode(x)
        spec = ChartSpec(
            x=x,
            y=y,
            interpolate="linear",
            tooltip=_TOOLTIP,
            below=(keep_part(rule, "own"),),
            above=(_build_circles(x, y),) if trades else (),
            bands=(("low", "high"),),
            dots=is_sparse(rows),
            height=0.65,
            has_free_y=has_free_y,
        )
        fields = [name for name in ("eta", "value", "low", "high") if name in rows.columns]
        known = (*rows.columns, "prevalence", "test_set")
        tooltip_fields = [name for name in _TOOLTIP_FIELDS if name in known]
        lines = build_records(self.curves, self.channels, with_yes_and_no(rows), fields, tooltip_fields)
        data = [*own, *lines, *trades]
        text = ChartText(title, self._build_subtitle(bool(own), bool(trades)), "")
        return build_chart(spec, data, self.channels, text)

    def _compute_own_etas(self) -> list[float | None]:
        """Return the own prevalence of each curve, or None if it is unknown, 0 or 1."""
        sizes = self.curves.per_curve.select(pl.col("n_pos", "n_neg").cast(pl.Float64))
        return [p / (p + n) if p and n else None for p, n in sizes.iter_rows()]

    def _build_y_axis(self) -> tuple[alt.Y, bool]:
        """Return the axis, from 0 to 1 if all values are, and whether each metric needs its own."""
        names = [name for name in ("value", "low", "high") if name in self.curves.rows.columns]
        numbers = pl.concat([self.curves.rows[name].cast(pl.Float64) for name in names]).drop_nulls()
        metrics = self.curves.per_curve["metric"].unique().to_list()
        label = format_metric(metrics[0]) if len(metrics) == 1 else "Value"
        are_shares = bool(numbers.is_between(-1e-9, 1 + 1e-9).all())
        scale = alt.Scale(domain=[0, 1]) if are_shares else alt.Scale(zero=False)
        facet = self.channels.facet
        has_free_y = not are_shares and facet is not None and "metric" in facet.fields
        return alt.Y("value:Q", title=label, scale=scale), has_free_y

    def _build_subtitle(self, has_own: bool, has_trades: bool) -> tuple[str, ...]:
        """Return the lines of the subtitle; the rule and the circles are named if they are drawn."""
        per_curve, rows, lines = self.curves.per_curve, self.curves.rows, []
        if "target" in per_curve.columns and per_curve["target"].n_unique() == 1:
            lines.append(f"Target: {format_value('target', per_curve['target'][0])}")
        if "low" in rows.columns and rows["low"].count():
            level = "the intervals of the table"
            if self.confidence is not None:
                level = f"intervals of {format_level(self.confidence)}"
            fixed = " for a fixed threshold" if "target" in per_curve.columns else ""
            is_doubtful = "reliable" in rows.columns and not rows["reliable"].all()
            doubt = ", not all of them reliable" if is_doubtful else ""
            lines.append(f"Shaded: {level}{fixed}{doubt}")
        if has_own:
            etas = pl.Series(self._compute_own_etas()).drop_nulls().unique().sort()
            ends = [format_share(eta) for eta in dict.fromkeys((etas[0], etas[-1]))]
            lines.append(f"Dashed: the test set's own prevalence, {' to '.join(ends)}")
        lines += ["Circles: two models trade places"] if has_trades else []
        return (*lines, *describe_sizes(self.curves), *self.not_drawn)


# Where two models trade places ----------------------------------------------------------------


def _build_circles(x: alt.X, y: alt.Y) -> alt.Chart:
    """Return the layer of circles where two models trade places."""
    tooltip = [
        alt.Tooltip("prevalence:N"),
        alt.Tooltip("value:Q", format=".4~g"),
        alt.Tooltip("below:N", title="leads below"),
        alt.Tooltip("above:N", title="leads above"),
    ]
    mark = alt.Chart().mark_point(size=70, filled=True, fill="white", stroke="black", opacity=1)
    return keep_part(mark.encode(x, y, tooltip=tooltip), "crossing")


def _read_trades(
    curves: ChartCurves, channels: Channels, crossings: pl.DataFrame
) -> list[dict[str, Any]]:
    """Return the records of crossings; raise unless these are of the table's models and groups."""
    made_by, columns = "crossings", ["model_a", "model_b", "eta", "value"]
    crossings = check_table("crossings= of metric_by_eta", crossings, made_by, columns)
    if curves.count_distinct(curves.other_fields) > 1:
        raise PrcError("crossings= are of one metric at one target; the table has several, filter it")
    if crossings.is_empty() or curves.per_curve.is_empty():
        return []
    by = {field: name for field, name in curves.field_names.items() if name in crossings.columns[:-4]}
    models = [field for field in curves.group_fields if field not in by]
    if len(models) != 1 or len(by) != len(crossings.columns) - 4:
        groups = ", ".join(curves.field_names[field] for field in curves.group_fields) or "none"
        raise PrcError(
            "crossings= must come from the same scores, with model= one of the group columns and by= "
            f"the others; the groups here are {groups}"
        )
    renamed = [crossings.get_column(name).alias(field) for field, name in by.items()]
    renamed += [crossings.get_column(name) for name in columns]
    return _place_trades(curves, channels, pl.DataFrame(renamed).with_row_index("trade"), models[0])


def _place_trades(
    curves: ChartCurves, channels: Channels, trades: pl.DataFrame, model: str
) -> list[dict[str, Any]]:
    """Return a record per trade and panel in which one of its models has a line."""
    by = [field for field in trades.columns if field.startswith("group")]
    lines = curves.per_curve.select(*by, model).with_row_index("line")
    if lines.schema[model] != trades.schema["model_a"]:
        raise PrcError(
            f"crossings= are of models of dtype {trades.schema['model_a']}, and the table of models of "
            f"dtype {lines.schema[model]}; make both from one table"
        )
    # Both models of a trade may share a panel, which then shows one circle.
    records: dict[tuple[int, str | None], dict[str, Any]] = {}
    for side in ("model_a", "model_b"):
        left, right = [*by, model], [*by, side]
        joined = lines.join(trades, left_on=left, right_on=right, nulls_equal=True, coalesce=False)
        for row in joined.iter_rows(named=True):
            panel = channels.facet.label_by_curve[row["line"]] if channels.facet else None
            records[row["trade"], panel] = {
                "part": "crossing",
                "eta": round_digits(row["eta"]),
                "value": round_digits(row["value"]),
                "prevalence": format_share(row["eta"]),
                "below": format_value("", row["model_a"]),
                "above": format_value("", row["model_b"]),
                **({} if panel is None else {"facet": panel}),
            }
    return [records[key] for key in sorted(records, key=lambda key: (key[0], key[1] or ""))]
