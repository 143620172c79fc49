"""Charts: each function takes a table of this package and returns a plain Altair chart.

    table -> curves     checked, put in order, one number per group and prevalence
          -> channels   which of their columns are colour and which are panels
          -> points     what is drawn, reduced without changing the picture
          -> chart      chance below, then the lines, then points to hover over

A chart bears no configuration and no theme, so it can be layered, put beside others and themed.
Its data is inline, under fixed field names: Altair's limit of 5 000 rows does not apply, and a
column called `a:b` or `x.y`, which Vega would parse, is only ever text in a title.
"""

from __future__ import annotations

import math
import re
import textwrap
from dataclasses import dataclass
from itertools import count, repeat
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import altair as alt
import polars as pl

from polars_prcurve.columns import SWEEP
from polars_prcurve.errors import PrcError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Chart", "normal_quantiles", "pr_curve", "roc_curve"]

Chart: TypeAlias = alt.LayerChart | alt.FacetChart

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
_DASHES = ([1, 0], [6, 2], [2, 2], [9, 2, 2, 2], [14, 3])
_CHANCE: dict[str, Any] = {"color": "#888888", "strokeDash": [4, 4], "strokeWidth": 1}
_IS_CHANCE = "datum.part === 'chance'"
_MOST_ETA_PANELS = 9
_MOST_POINTS = 2000  # per curve
_PIXELS = 500  # columns in which a curve of more points is thinned
_HOVERED = 200  # points per curve: as many as a pointer can tell apart
_LOG_STEPS = 100  # points on a line that is straight on a linear axis only


def pr_curve(
    table: pl.DataFrame,
    *,
    y: Literal["precision", "fdr"] = "precision",
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """Precision-recall curves from the table of `curve`, in any row order.

    Steps, never slopes: a threshold's precision holds back to the recall of the threshold
    before it. A curve starts at recall 0 with its first defined precision; no point (0, 1) is
    invented. The dashed line is chance, precision = eta. The subtitle states eta and the size
    of the test set, and names the groups that have no curve.

    Parameters
    ----------
    table
        What `curve` returns: the `by` columns, `eta`, the columns of `sweep`, and `y`.
    y
        `"precision"`, or `"fdr"` (1 - precision) of a table with `metrics=("fdr",)`.
    color, facet
        A `by` column, `"eta"`, or a further column that an eta frame brought along. Left out:
        the first `by` column is colour, the others are panels, and so is eta where a group has
        several. More than 8 groups, or than 9 panels: groups are panels, and eta is colour.
    title
        In place of the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = pr_curve(df.prc.curve(eta=0.001))
    >>> for line in chart.to_dict()["title"]["subtitle"]:
    ...     print(line)
    Prevalence eta = 0.001 (1 in 1 000); dashed: chance
    Test set: 2 positives : 2 negatives
    """
    if y not in _Y_TITLES:
        raise PrcError(f'y= of pr_curve is "precision" or "fdr"; got {y!r}')
    curves = _read("pr_curve", table, y)
    channels = _channels(curves, color, facet)
    points = _steps(curves.rows, y)
    drawn = _thinned(points, pl.col("recall"), pl.col("fpr") / pl.col("recall"))
    level = curves.each["eta"] if y == "precision" else 1 - curves.each["eta"]
    chance = [{y: _rounded(value), **place} for value, place in channels.places(level)]
    axis = alt.Y(f"{y}:Q", title=_Y_TITLES[y], scale=alt.Scale(domain=[0, 1]))
    look = _Look(
        x=alt.X("recall:Q", title="Recall", scale=alt.Scale(domain=[0, 1])),
        y=axis,
        below=alt.Chart().mark_rule(**_CHANCE).encode(axis).transform_filter(_IS_CHANCE),
        interpolate="step-before",
        tooltip=(*_SWEPT, alt.Tooltip(f"{y}:Q", format=".4~g"), alt.Tooltip("prevalence:N")),
    )
    data = [*chance, *_records(curves, channels, drawn, ["recall", y, *_TOLD, "prevalence", "test_set"])]
    words = _Words(
        title or _PR_TITLES[y],
        (*_said_eta(curves), *_said_sizes(curves)),
        _said_thinned(points, drawn),
    )
    return _chart(look, data, channels, words)


def roc_curve(
    table: pl.DataFrame,
    *,
    log_x: bool = False,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """ROC curves from the table of `sweep` or of `curve`, in any row order.

    Straight from point to point, from the origin: tied scores make a slope. Prevalence has no
    part in it, so several eta in the table are one curve. The dashed line is chance,
    recall = fpr.

    Parameters
    ----------
    table
        What `sweep` or `curve` returns: the `by` columns, then the columns of `sweep`.
    log_x
        A log axis for fpr, where rare positives are decided. Fpr 0 is drawn at the left edge,
        which is half the smallest other fpr, and straight lines bend as the axis does.
    color, facet
        A `by` column. Left out: the first is colour and the others are panels; of more than 8
        groups all are panels.
    title
        In place of the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> roc_curve(df.prc.sweep()).to_dict()["title"]["text"]
    ['ROC curve']
    """
    curves = _read("roc_curve", table, None)
    channels = _channels(curves, color, facet)
    points = _corners(_from_origin(curves.rows))
    edge = _left_edge(curves.rows) if log_x else 0.0
    drawn = _thinned(points, _place_on_log(edge) if log_x else pl.col("fpr"), pl.col("recall"))
    steps = [0.0, 1.0]
    if log_x:
        steps = [edge ** (1 - k / _LOG_STEPS) for k in range(_LOG_STEPS + 1)]
        drawn = _corners(_bent(drawn, steps))
    drawn = drawn.with_columns(pl.max_horizontal("fpr", pl.lit(edge)).alias("x"))
    chance = [
        {"x": _rounded(at), "recall": _rounded(at), **place}
        for _, place in channels.places([0] * len(curves.each))
        for at in steps
    ]
    at_edge = ["Fpr 0 is drawn at the left edge"] if log_x else []
    x, y = _fpr_axis(edge), alt.Y("recall:Q", title="Recall", scale=alt.Scale(domain=[0, 1]))
    look = _Look(
        x=x,
        y=y,
        below=alt.Chart()
        .mark_line(**_CHANCE)
        .encode(x, y, alt.Order("x:Q"))
        .transform_filter(_IS_CHANCE),
        interpolate="linear",
        tooltip=(*_SWEPT, alt.Tooltip("fpr:Q", format=".4~g")),
    )
    data = [*chance, *_records(curves, channels, drawn, ["x", "recall", *_TOLD, "fpr", "test_set"])]
    words = _Words(
        title or "ROC curve",
        ("The same at every prevalence; dashed: chance", *_said_sizes(curves), *at_edge),
        _said_thinned(points, drawn),
    )
    return _chart(look, data, channels, words)


def normal_quantiles(table: pl.DataFrame, *, title: str | None = None) -> Chart:
    """Scores by normal quantile, class by class: straight where the scores of a class are normal.

    Whether a binormal model may be trusted, see `binormal`. A point is a score; across is where a
    normal distribution of mean 0 and deviation 1 has as large a share above it, ties by halves. The
    lines are the fit, mu + sigma x. Groups are panels, each with a scale of its own for scores.

    Parameters
    ----------
    table
        What `sweep` returns, with all its rows: the `by` columns, then the columns of `sweep`. Of many
        scores some 200 of each class are drawn, dense in the tails.
    title
        In place of the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> normal_quantiles(df.prc.sweep()).to_dict()["title"]["subtitle"]
    ['Straight where scores are normal; lines: the fit', 'Test set: 2 positives : 2 negatives']
    """
    curves = _read("normal_quantiles", table, None)
    if curves.rows["threshold"].null_count():
        raise PrcError("normal_quantiles draws thresholds, and published rates have none")
    classes = _by_class(curves)
    points = _quantiles(classes.rows)
    channels = _class_channels(classes)
    drawn = _thinned_by_quantile(points)
    x = alt.X("x:Q", title="Normal quantile")
    y = alt.Y("y:Q", title="Score", scale=alt.Scale(zero=False))
    dots = alt.Chart().mark_point(filled=True, size=16, opacity=0.6)
    shade = _shades(channels.color)[:1] if channels.color else []
    look = _Look(
        x=x,
        y=y,
        below=dots.encode(x, y, *shade).transform_filter("datum.part === 'sample'"),
        interpolate="linear",
        tooltip=(alt.Tooltip("threshold:N"), alt.Tooltip("x:Q", title="normal quantile", format=".3f")),
    )
    sample = _records(classes, channels, drawn, ["x", "y", "threshold", "test_set"])
    data = [{**record, "part": "sample"} for record in sample]
    data += _records(classes, channels, _fits(points, drawn), ["x", "y"])
    said = ("Straight where scores are normal; lines: the fit", *_said_sizes(curves))
    words = _Words(title or "Scores by normal quantile", said, _said_thinned(points, drawn))
    chart = _chart(look, data, channels, words)
    return chart.resolve_scale(y="independent") if isinstance(chart, alt.FacetChart) else chart


_Y_TITLES = {"precision": "Precision", "fdr": "False discovery rate"}
_PR_TITLES = {"precision": "Precision-recall curve", "fdr": "False discovery rate by recall"}
_TOLD = ("threshold", "tp", "fp")
_SWEPT = (
    alt.Tooltip("threshold:N"),
    alt.Tooltip("tp:Q"),
    alt.Tooltip("fp:Q"),
    alt.Tooltip("recall:Q", format=".4~g"),
)

# From a table to curves -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Curves:
    """The table under fixed names, in order; curves without a defined point are not in it."""

    rows: pl.DataFrame
    """One row per point: `curve` (its number), the columns of SWEEP, and y."""
    each: pl.DataFrame
    """One row per curve: `curve`, the fields of `names`, `n_pos`, `n_neg`."""
    names: dict[str, str]
    """From `group_0`, ..., `eta`, `carried_0`, ... to what the table calls them."""
    left_out: str
    """The groups that have no curve, in words."""

    @property
    def groups(self) -> list[str]:
        return [field for field in self.names if field.startswith("group")]

    def count(self, fields: Sequence[str]) -> int:
        return self.each.n_unique(fields) if fields else 1


def _read(chart: str, table: pl.DataFrame, y: str | None) -> _Curves:
    """Check, rename, sort and number; `y` is the metric of a chart that needs eta."""
    _check_table(chart, table, y)
    names = _fields(table.columns, with_eta=y is not None)
    groups = [field for field in names if field.startswith("group")]
    frame = _numbered(table, names, [*groups, *(["eta"] if y else [])], y)
    rows = frame.drop_nulls(["recall", y or "fpr"])
    _check_curves(rows)
    each = frame.group_by("curve", maintain_order=True).agg(
        *(pl.col(field).first() for field in names),
        (pl.col("tp") + pl.col("fn")).first().alias("n_pos"),
        (pl.col("fp") + pl.col("tn")).first().alias("n_neg"),
    )
    drawn = pl.col("curve").is_in(rows["curve"].unique().implode())
    return _Curves(
        rows.drop(names), each.filter(drawn), names, _said_left_out(each.filter(~drawn), groups)
    )


def _numbered(
    table: pl.DataFrame, names: dict[str, str], keys: list[str], y: str | None
) -> pl.DataFrame:
    """The columns of a chart, by curve and falling threshold; a point once; no NaN."""
    rates = ["recall", "fpr", *([y] if y else [])]
    frame = pl.DataFrame(
        [table.get_column(name).alias(field) for field, name in names.items()]
        + [table.get_column(name) for name in dict.fromkeys([*SWEEP, *rates])]
    )
    rate = pl.col(rates).cast(pl.Float64)
    order = [*keys, "threshold", "fpr", "recall"]
    falling = [name == "threshold" for name in order]
    return (
        frame.with_columns(pl.when(rate.is_finite()).then(rate))
        .sort(order, descending=falling, nulls_last=falling)
        .with_columns(curve=pl.struct(keys).rle_id() if keys else pl.lit(0, dtype=pl.UInt32))
        .unique(["curve", "threshold", "fpr", "recall"], keep="first", maintain_order=True)
    )


def _check_table(chart: str, table: object, y: str | None) -> None:
    made_by = "curve" if y else "sweep or curve"
    if isinstance(table, pl.LazyFrame):
        raise PrcError(
            f"{chart} takes a DataFrame and got a LazyFrame; collect it first: table.collect()"
        )
    if not isinstance(table, pl.DataFrame):
        raise PrcError(f"{chart} takes the DataFrame that {made_by} returns; got {type(table).__name__}")
    needed = [*(["eta"] if y else []), *SWEEP]
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise PrcError(
            f"{chart} takes the table that {made_by} returns, with all its columns; "
            f"this one lacks {', '.join(missing)}"
        )
    if y and y not in table.columns:
        todo = "leave out long=True" if "metric" in table.columns else f'pass metrics=("{y}",) to curve'
        raise PrcError(f"{chart} draws the column {y!r}, which the table lacks; {todo}")


def _fields(columns: list[str], *, with_eta: bool) -> dict[str, str]:
    """Fixed names for what stands before the threshold; a ROC curve has no part for eta."""
    start = columns.index("threshold")
    end = columns.index("eta") if "eta" in columns[:start] else start
    fields = {f"group_{number}": name for number, name in enumerate(columns[:end])}
    if with_eta:
        carried = columns[end + 1 : start]
        fields |= {"eta": "eta", **{f"carried_{number}": name for number, name in enumerate(carried)}}
    return fields


def _check_curves(rows: pl.DataFrame) -> None:
    """In one curve recall and fpr rise together, and every row is of the same test set."""
    rates = ["recall", "fpr"]
    sizes = (pl.col("tp") + pl.col("fn"), pl.col("fp") + pl.col("tn"))
    mixed = rows.group_by("curve").agg(
        pl.any_horizontal(pl.col(rates).diff() < 0).any().alias("falls"),
        *((size.max() > size.min() * (1 + 1e-9)).alias(f"size_{i}") for i, size in enumerate(sizes)),
    )
    if mixed.select(pl.any_horizontal("falls", "size_0", "size_1").any()).item():
        raise PrcError(
            "some rows do not fit in one curve: recall or fpr falls while the threshold falls, or the "
            "numbers of positives and negatives differ; keep the group columns of the table, and keep "
            "them before eta and threshold"
        )


# Which columns are colour, and which are panels -----------------------------------------------


@dataclass(frozen=True)
class _Channel:
    """Columns that are shown together, and the label of each curve."""

    fields: list[str]
    title: str
    labels: list[str]
    """The distinct labels in order."""
    of_curve: list[str]
    last: int
    """How many values the last field has."""


@dataclass(frozen=True)
class _Channels:
    color: _Channel | None
    facet: _Channel | None

    def of_curve(self, position: int) -> dict[str, str]:
        """The fields that place a curve, by its position in `each`."""
        found = {"color": self.color, "facet": self.facet}
        return {name: channel.of_curve[position] for name, channel in found.items() if channel}

    def places(self, values: Iterable[Any]) -> Iterator[tuple[Any, dict[str, str]]]:
        """Each value of the curves, once in each panel."""
        panels = self.facet.of_curve if self.facet else repeat(None)
        for value, panel in dict.fromkeys(zip(values, panels, strict=False)):
            yield value, {"part": "chance"} | ({} if panel is None else {"facet": panel})


def _channels(curves: _Curves, color: str | None, facet: str | None) -> _Channels:
    if color is not None and color == facet:
        raise PrcError(f"color= and facet= both name {color!r}; leave one of them out")
    colors, facets = _assigned(curves, _asked(curves, "color", color), _asked(curves, "facet", facet))
    if curves.each.is_empty():
        return _Channels(None, None)
    return _Channels(
        _channel(curves, colors, " ({})", eta="eta" not in facets) if colors else None,
        _channel(curves, facets, "\n{}", eta="eta" not in colors) if facets else None,
    )


def _asked(curves: _Curves, argument: str, name: str | None) -> list[str]:
    if name is None:
        return []
    for field, known in curves.names.items():
        if known == name:
            return [field]
    hint = did_you_mean(name, curves.names.values()) if curves.names else "the table has no group column"
    raise PrcError(f"{argument}= names {name!r}, which does not tell curves of this table apart; {hint}")


def _assigned(curves: _Curves, color: list[str], facet: list[str]) -> tuple[list[str], list[str]]:
    """Every column that tells curves apart is in one of the two, so no curves merge."""
    rest = [field for field in curves.groups if field not in color + facet]
    if "eta" in curves.names and curves.count(color + facet + rest) < len(curves.each):
        rest.append("eta")
    if color:
        return color, facet + rest
    color, facets = rest[:1], facet + rest[1:]
    crowded = curves.count(color) > len(_COLORS)
    sprawling = "eta" in rest and curves.count(facets) > _MOST_ETA_PANELS
    if color != ["eta"] and (crowded or sprawling):
        color = [field for field in rest if field == "eta"]
        facets = facet + [field for field in rest if field != "eta"]
    return color, facets


def _channel(curves: _Curves, fields: list[str], note: str, *, eta: bool) -> _Channel:
    """The columns of a channel; `note` says how what is known of a label is put behind it."""
    index = curves.each.select(fields).unique().sort(fields).with_row_index("label")
    numbers = curves.each.join(index, on=fields, how="left", nulls_equal=True, maintain_order="left")[
        "label"
    ]
    labels = _labels(index, fields)
    for number, label in enumerate(labels):
        known = _known(curves, curves.each.filter(numbers == number), eta=eta and "eta" not in fields)
        labels[number] = label + (note.format(known) if known else "")
    title = " · ".join("prevalence eta" if f == "eta" else _shown(curves.names[f]) for f in fields)
    of_curve = [labels[number] for number in numbers]
    return _Channel(fields, title, labels, of_curve, curves.count(fields[-1:]))


def _known(curves: _Curves, some: pl.DataFrame, *, eta: bool) -> str:
    """What the curves of one label share and others do not: the size of the test set, eta."""
    parts = []
    sizes = ["n_pos", "n_neg"]
    if curves.count(sizes) > 1 and some.n_unique(sizes) == 1 and some["n_pos"][0] is not None:
        parts.append(_said_size(some["n_pos"][0], some["n_neg"][0]))
    if eta and "eta" in curves.names and curves.count(["eta"]) > 1 and some.n_unique("eta") == 1:
        parts.append(_one_in(some["eta"][0]) or _said_share(some["eta"][0]))
    return ", ".join(parts)


# What is drawn --------------------------------------------------------------------------------


def _steps(rows: pl.DataFrame, y: str) -> pl.DataFrame:
    """The rows where recall rises and the last, from recall 0 on; `made` marks what is added."""
    recall, place = pl.col("recall"), pl.int_range(pl.len())
    risen = recall > recall.shift(1, fill_value=0.0)
    kept = rows.filter((risen | (place == pl.len() - 1)).over("curve"))
    start = rows.group_by("curve", maintain_order=True).agg(
        pl.lit(0.0).alias("recall"), pl.col(y).first()
    )
    return _with_made(start, kept)


def _from_origin(rows: pl.DataFrame) -> pl.DataFrame:
    origin = rows.select(pl.col("curve").unique(maintain_order=True), recall=0.0, fpr=0.0)
    return _with_made(origin, rows.filter((pl.col("recall") > 0) | (pl.col("fpr") > 0)))


def _with_made(made: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Points of ours, and after them those of the table, curve by curve."""
    marked = [made.with_columns(made=True), rows.with_columns(made=False)]
    return pl.concat(marked, how="diagonal").sort("curve", maintain_order=True)


def _corners(points: pl.DataFrame) -> pl.DataFrame:
    """Leave out the inside of what is straight up or straight across."""

    def inside(value: pl.Expr) -> pl.Expr:
        return ((value == value.shift(1)) & (value == value.shift(-1))).fill_null(False).over("curve")

    return points.filter(~inside(pl.col("recall")) & ~inside(pl.col("fpr")))


def _bent(points: pl.DataFrame, steps: list[float]) -> pl.DataFrame:
    """Further points on lines that are straight on a linear axis and are not on a log axis."""
    ends = points.group_by("curve").agg(pl.col("fpr").max().alias("end"))
    between = ends.join(pl.DataFrame({"fpr": steps}), how="cross").filter(pl.col("fpr") < pl.col("end"))
    between = between.drop("end").join(points, on=["curve", "fpr"], how="anti").with_columns(made=True)
    merged = pl.concat([points, between], how="diagonal").sort("curve", "fpr", maintain_order=True)
    return merged.with_columns(pl.col("recall").interpolate_by("fpr").over("curve"))


def _thinned(points: pl.DataFrame, along: pl.Expr, across: pl.Expr) -> pl.DataFrame:
    """Of a very long curve: in each column of pixels the first, last, lowest and highest point.

    Precision is monotone in fpr / recall at every eta, so which points stay is free of eta.
    """
    place = pl.int_range(pl.len())
    ends = (place == 0) | (place == pl.len() - 1)
    kept = ends | (place == across.arg_min()) | (place == across.arg_max())
    short = pl.len().over("curve") <= _MOST_POINTS
    pixel = (along * _PIXELS).floor().alias("pixel")
    return points.filter(short | kept.over("curve", pixel))


def _left_edge(rows: pl.DataFrame) -> float:
    """Half the smallest fpr above 0, so that 0 has a place of its own."""
    low: float | None = rows.select(pl.col("fpr").filter(pl.col("fpr") > 0).min()).item()
    return min(0.1, low / 2) if low else 0.001


def _place_on_log(edge: float) -> pl.Expr:
    return 1 - pl.max_horizontal("fpr", pl.lit(edge)).log() / math.log(edge)


def _by_class(curves: _Curves) -> _Curves:
    """The curves, each as two: the scores of positives, and those of negatives."""
    share = {"positives": "recall", "negatives": "fpr"}
    rows, each = [], []
    for number, (name, rate) in enumerate(share.items()):
        own = pl.col("curve") * 2 + number
        rows.append(curves.rows.with_columns(own.alias("curve"), pl.col(rate).alias("share")))
        each.append(curves.each.with_columns(own.alias("curve"), pl.lit(name).alias("class")))
    return _Curves(pl.concat(rows), pl.concat(each).sort("curve"), curves.names, curves.left_out)


def _class_channels(curves: _Curves) -> _Channels:
    """Classes in colours, groups in panels."""
    if curves.each.is_empty():
        return _Channels(None, None)
    of_curve = curves.each["class"].to_list()
    color = _Channel(["class"], "class", ["positives", "negatives"], of_curve, 2)
    return _Channels(
        color, _channel(curves, curves.groups, "\n{}", eta=False) if curves.groups else None
    )


def _quantiles(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each class its finite scores y, the share of the class that each is, and that above it."""
    before = pl.col("share").shift(1, fill_value=0.0).over("curve")
    above = ((before + pl.col("share")) / 2).clip(1e-16, 1 - 2.0**-53)
    points = rows.sort("curve", maintain_order=True).with_columns(
        pl.col("threshold").cast(pl.Float64).alias("y"),
        (pl.col("share") - before).alias("rise"),
        above.alias("above"),
        made=False,
    )
    return points.filter((pl.col("rise") > 0) & pl.col("y").is_finite())


def _thinned_by_quantile(points: pl.DataFrame) -> pl.DataFrame:
    """Of a long curve some 200 points, dense in the tails; and the normal quantile x of each."""
    short = pl.len().over("curve") <= _HOVERED
    logit = (pl.col("above") / (1 - pl.col("above"))).log()
    first = pl.int_range(pl.len()).over("curve", (logit * 6).floor()) == 0
    drawn = points.filter(short | first)
    quantile = NormalDist().inv_cdf
    return drawn.with_columns(pl.Series("x", [-quantile(above) for above in drawn["above"]], pl.Float64))


def _fits(points: pl.DataFrame, drawn: pl.DataFrame) -> pl.DataFrame:
    """Mean and standard deviation of each curve's scores, as a line between its outermost points."""
    total = pl.col("rise").sum()
    mean = (pl.col("y") * pl.col("rise")).sum() / total
    variance = ((pl.col("y") - mean) ** 2 * pl.col("rise")).sum() / total
    fits = points.group_by("curve").agg(mean.alias("mean"), variance.sqrt().alias("deviation"))
    reach = drawn.group_by("curve")
    ends = pl.concat([reach.agg(pl.col("x").min()), reach.agg(pl.col("x").max())]).sort("curve", "x")
    line = pl.col("mean") + pl.col("deviation") * pl.col("x")
    return ends.join(fits, on="curve", maintain_order="left").with_columns(line.alias("y"), made=True)


def _records(
    curves: _Curves, channels: _Channels, points: pl.DataFrame, fields: list[str]
) -> Iterator[dict[str, Any]]:
    """The points as Vega reads them: no null, 6 digits; what tooltips need only where they are."""
    x, y, *told = fields
    place = pl.int_range(pl.len()).over("curve")
    every = pl.len().over("curve") // _HOVERED + 1
    marked = points.with_columns(hover=~pl.col("made") & (place % every == 0))
    placed = {row["curve"]: channels.of_curve(at) for at, row in enumerate(curves.each.to_dicts())}
    facts = {row["curve"]: _facts(row) for row in curves.each.to_dicts()}
    for order, row in enumerate(marked.iter_rows(named=True)):
        record = {"part": "curve", "curve": row["curve"], "order": order, **placed[row["curve"]]}
        record |= {x: _rounded(row[x]), y: _rounded(row[y])}
        if row["hover"]:
            known = row | facts[row["curve"]] | {"threshold": _said_threshold(row["threshold"])}
            record["hover"] = 1
            record |= {name: _rounded(known[name]) for name in told if known[name] is not None}
        yield record


def _facts(curve: dict[str, Any]) -> dict[str, str | None]:
    """What the tooltips of a curve's points have in common."""
    n_pos, n_neg = curve["n_pos"], curve["n_neg"]
    return {
        "prevalence": _said_share(curve["eta"]) if "eta" in curve else None,
        "test_set": None if n_pos is None or n_neg is None else _said_size(n_pos, n_neg),
    }


# The chart ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Look:
    """What is particular to a kind of chart."""

    x: alt.X
    y: alt.Y
    below: alt.Chart
    """What the lines are drawn over."""
    interpolate: Literal["step-before", "linear"]
    tooltip: tuple[alt.Tooltip, ...]


@dataclass(frozen=True)
class _Words:
    title: str
    subtitle: tuple[str, ...]
    aside: str
    """What only the description says, which browsers read out."""


def _chart(look: _Look, data: list[dict[str, Any]], channels: _Channels, words: _Words) -> Chart:
    """What is below, then the lines, then points to hover over; in panels if there are any."""
    color, facet = channels.color, channels.facet
    shades = _shades(color) if color else []
    lines = alt.Chart().mark_line(interpolate=look.interpolate, strokeWidth=1.8)
    lines = lines.encode(look.x, look.y, alt.Order("order:Q"), alt.Detail("curve:N"), *shades)
    told = [*look.tooltip, alt.Tooltip("test_set:N", title="test set")]
    told = [field for field in told if any(field.shorthand.split(":")[0] in row for row in data)]
    if color:
        told.insert(0, alt.Tooltip("color:N", title=color.title))
    points = alt.Chart().mark_point(opacity=0, size=60, filled=True, aria=False)
    points = points.encode(look.x, look.y, tooltip=told)
    panels, size = _grid(facet)
    layered = alt.layer(
        look.below,
        lines.transform_filter("datum.part === 'curve'"),
        points.transform_filter("datum.hover === 1"),
        data=alt.InlineData(values=data),
    ).properties(width=size, height=size)
    head = _head(words, width=panels * size)
    if facet is None:
        return layered.properties(**head)
    header = alt.Header(labelExpr=_LINES, labelLimit=size, titleLimit=panels * size)
    split = alt.Facet("facet:N", title=facet.title, sort=facet.labels, header=header)
    return layered.facet(split, columns=panels).properties(**head)


def _head(words: _Words, *, width: int) -> dict[str, Any]:
    """Title, subtitle in lines that fit, and the text for those who cannot see the chart."""
    letters = max(56, width // 6)
    clauses = (
        clause
        for text in words.subtitle
        for clause in ([text] if len(text) <= letters else text.split("; "))
    )
    title = alt.Title(
        textwrap.wrap(_shown(words.title), letters),
        subtitle=[line for clause in clauses for line in textwrap.wrap(_shown(clause), letters)],
        anchor="start",
    )
    texts = [words.title, *words.subtitle, *([words.aside] if words.aside else [])]
    return {"title": title, "description": ". ".join(map(_shown, texts))}


_LINES = r"split(datum.label, '\n')"


def _shades(channel: _Channel) -> list[Any]:
    """Colour, and for groups a dash as well; few enough legend entries to read."""
    labels = channel.labels
    shown = labels[:: math.ceil(len(labels) / 12)] if channel.fields == ["eta"] else labels
    legend = alt.Legend(values=shown, symbolType="stroke", labelLimit=220)
    if channel.fields == ["eta"]:
        viridis = alt.SchemeParams(name="viridis", extent=[0, 0.9])
        scale = alt.Scale(domain=labels, scheme=viridis)
        return [alt.Color("color:O", title=channel.title, scale=scale, legend=legend)]
    turns = range(len(labels))
    colors = [_COLORS[i % len(_COLORS)] for i in turns]
    dashes = [_DASHES[(i + i // len(_COLORS)) % len(_DASHES)] for i in turns]
    return [
        alt.Color(
            "color:N", title=channel.title, scale=alt.Scale(domain=labels, range=colors), legend=legend
        ),
        alt.StrokeDash(
            "color:N", title=channel.title, scale=alt.Scale(domain=labels, range=dashes), legend=legend
        ),
    ]


def _grid(facet: _Channel | None) -> tuple[int, int]:
    """Panels in a row, and their size in pixels."""
    if facet is None:
        return 1, 320
    n = len(facet.labels)
    if n <= 3:
        return n, 220
    if len(facet.fields) > 1 and facet.fields[-1] == "eta" and facet.last <= 8:
        return facet.last, 160  # a row per group, a column per eta
    square = min(math.ceil(math.sqrt(n)), 8)
    panels = min(range(square, min(2 * square, 8) + 1), key=lambda k: (-n % k, k))
    return panels, 200 if n <= 4 else 160 if n <= 16 else 110


def _fpr_axis(edge: float) -> alt.X:
    if not edge:
        return alt.X("x:Q", title="False positive rate", scale=alt.Scale(domain=[0, 1]))
    tens = [float(f"1e{power}") for power in range(math.ceil(math.log10(edge)), 1)]
    return alt.X(
        "x:Q",
        title="False positive rate",
        scale=alt.Scale(type="log", domain=[_rounded(edge), 1], nice=False),
        axis=alt.Axis(values=tens, format="~g"),
    )


# Words and numbers ----------------------------------------------------------------------------


def _rounded(value: Any) -> Any:
    """Six digits are more than a screen has."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _said_eta(curves: _Curves) -> list[str]:
    etas = curves.each["eta"].unique().sort().to_list()
    if not etas:
        return []
    low, high = _said_share(etas[0]), _said_share(etas[-1])
    said = f"eta = {low}" if len(etas) == 1 else f"eta from {low} to {high}"
    return [f"Prevalence {said}; dashed: chance"]


def _said_sizes(curves: _Curves) -> list[str]:
    """The test set in words, and the groups that have no curve."""
    said: list[str] = []
    sizes = [curves.each[name].drop_nulls() for name in ("n_pos", "n_neg")]
    if curves.each.is_empty() and not curves.left_out:
        said.append("The table has no rows")
    elif all(len(size) for size in sizes):
        plural = "Test set" if curves.count(["n_pos", "n_neg"]) == 1 else "Test sets"
        pos, neg = (_said_range(size) for size in sizes)
        said.append(f"{plural}: {pos} positives : {neg} negatives")
    return [*said, *([curves.left_out] if curves.left_out else [])]


def _said_left_out(each: pl.DataFrame, groups: list[str]) -> str:
    if each.is_empty():
        return ""
    single = each.select(((pl.col("n_pos") == 0) | (pl.col("n_neg") == 0)).all()).item()
    missing = each.unique(groups, maintain_order=True) if groups else each
    names = _labels(missing, groups) if groups else ["the whole table"]
    names = [textwrap.shorten(name, 40, placeholder="…") for name in names]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"Not drawn, {'one class only' if single else 'undefined'}: {', '.join(names[:5])}{more}"


def _said_thinned(points: pl.DataFrame, drawn: pl.DataFrame) -> str:
    before, after = (frame["made"].not_().sum() for frame in (points, drawn))
    return "" if before == after else f"Drawn from {_said_count(after)} of {_said_count(before)} points"


def _said_range(sizes: pl.Series) -> str:
    low, high = (_said_count(size) for size in (sizes.min(), sizes.max()))
    return low if low == high else f"{low} to {high}"


def _said_size(n_pos: float, n_neg: float) -> str:
    return f"{_said_count(n_pos)} : {_said_count(n_neg)}"


def _said_count(count: Any) -> str:
    """A count, or a sum of weights: 1 000, or 12.5."""
    return f"{round(count):,}".replace(",", " ") if count == round(count) else f"{count:.6g}"


def _said_share(eta: float) -> str:
    """A prevalence as a number and as people say it: 0.001 (1 in 1 000)."""
    number = f"{eta:.4g}".replace("e-0", "e-")
    words = _one_in(eta)
    return f"{number} ({words})" if words else number


def _one_in(eta: float) -> str:
    if not 0 < eta <= 0.5:
        return ""
    n = float(f"{1 / eta:.2g}") if 1 / eta < 10 else float(f"{1 / eta:.3g}")
    return f"1 in {_said_count(n)}" if n < 1e9 else f"1 in {n:.3g}"


def _said_threshold(value: Any) -> str | None:
    return None if value is None else _label("threshold", value)


def _labels(keys: pl.DataFrame, fields: list[str]) -> list[str]:
    """One label per row, all different: a null and the text "null" are two groups."""
    labels: list[str] = []
    for row in keys.select(fields).iter_rows():
        label = " · ".join(_label(*pair) for pair in zip(fields, row, strict=True))
        others = (f"{label} ({number})" for number in count(2))
        labels.append(
            label if label not in labels else next(name for name in others if name not in labels)
        )
    return labels


def _label(field: str, value: Any) -> str:
    if field == "eta":
        return _said_share(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if value in ("", "null"):
        return f'"{value}"'
    return _shown(f"{value:.6g}" if isinstance(value, float) else str(value))


_MARKUP = re.compile(r"<(?=[/!]|script)", re.I)


def _shown(text: str) -> str:
    """Text of the user's, on one line, and harmless inside the script of an HTML page.

    Altair writes data into a page as it is, so a label `</script>` would end the script. An
    invisible joiner after the bracket keeps it text.
    """
    return _MARKUP.sub("<\u2060", " ".join(text.split()))
