"""What a chart says and draws, read from its specification."""

from __future__ import annotations

import json
import re

import altair as alt
import pytest

PNG = b"\x89PNG\r\n\x1a\n"
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

_READ: list = []


def read_spec(chart) -> dict:
    """The dict of a chart, which takes its time, so the last one is kept."""
    if not (_READ and _READ[0] is chart):
        _READ[:] = [chart, chart.to_dict()]
    return _READ[1]


def records(chart, part="curve") -> list[dict]:
    """The records of one part, without those that only join dotted and solid stretches of a line."""
    rows = [row for row in all_records(chart) if row.get("part") == part]
    # A further stretch of a line starts with a copy of the point before it.
    is_copy = [
        "run" in row and old.get("run") != row["run"] and old.get("curve") == row["curve"]
        for old, row in zip([{}, *rows], rows, strict=False)
    ]
    return [row for row, copy in zip(rows, is_copy, strict=True) if not copy]


def points(chart, x, y, curve=0) -> list[tuple[float, float]]:
    return [(row[x], row[y]) for row in records(chart) if row["curve"] == curve]


def inner(chart) -> dict:
    """The layered part of the spec, with or without panels around it; of several the first."""
    spec = read_spec(chart)
    spec = spec.get("vconcat", [spec])[0]
    return spec.get("spec", spec)


def layer(chart, mark, part="curve", number=-1) -> dict:
    """The layer of a mark that draws the records of a part; of several the last."""
    wanted = {"filter": f"datum.part === '{part}'"}
    found = [
        one
        for one in inner(chart)["layer"]
        if one["mark"]["type"] == mark and wanted in one.get("transform", [])
    ]
    return found[number]


def plain(text) -> str:
    return text.replace("\xa0", " ")


def heading(chart) -> str:
    return plain(" ".join(read_spec(chart)["title"]["text"]))


def subtitle(chart) -> str:
    """All words around a chart: those of its description, which screen readers say."""
    return plain(read_spec(chart)["description"])


def names(chart) -> list[str]:
    """The names that stand at lines; those in several rows are joined by line breaks."""
    rows: dict[str, list[str]] = {}
    for row in records(chart, "name"):
        rows.setdefault(row["color"], []).append(row["text"])
    return ["\n".join(each) for each in rows.values()]


def labels(chart, channel) -> list[str]:
    return list(dict.fromkeys(plain(row[channel]) for row in records(chart) if channel in row))


def channels(chart) -> tuple[str | None, str | None]:
    """Titles of colour and of panels."""
    color = layer(chart, "line")["encoding"].get("color", {})
    is_split = bool(labels(chart, "facet"))
    said = re.search(r"Panels: ([^.]*)", subtitle(chart))
    facet = (said[1] if said else "prevalence") if is_split else None
    return color.get("title") if labels(chart, "color") else None, facet


def png(chart) -> bytes:
    import vl_convert

    return vl_convert.vegalite_to_png(read_spec(chart))


FIELDS = {
    "rank",
    *("part", "curve", "order", "run", "doubt", "copy", "grey", "facet", "color", "recall", "x", "y"),
    *(
        "precision",
        "fpr",
        "eta",
        "value",
        "low",
        "high",
        "q1",
        "q3",
        "alerts",
        "alerted",
        "difference",
        "side",
    ),
    *("threshold_probability", "net_benefit", "net_benefit_low", "net_benefit_high"),
    *("recall_gain", "precision_gain", "ref", "ref_order", "place", "below", "above", "said", "to"),
    *("kind", "size", "width"),  # of icons
    "off",  # of ranges of scores
    *("top", "shape", "precision_wide", "recall_wide", "alerts_wide"),  # of rules and of marked points
    *("row", "settled", "foot", "net_benefit_label"),
    *("text", "ink", "note", *(f"s{slot}" for slot in range(8))),
    *(f"{name}_label" for name in ("precision", "recall", "alerts", "precision_gain")),
}


def check_fields(chart):
    """Raise unless records have only fields of ours, so that no column of a user's can become one."""
    others = {name for row in all_records(chart) for name in row} - FIELDS
    assert not others, (
        f"records have the fields {others}: add them to FIELDS in tests/support/chart_specs.py"
    )


def all_records(chart) -> list[dict]:
    """The records of a chart, those of lines with one per point."""
    rows = [row for data in read_spec(chart)["datasets"].values() for row in data]
    return [point for row in rows for point in unpack(row)]


def unpack(row: dict) -> list[dict]:
    """The points of a record of a line."""
    columns = {
        name.removesuffix("_line"): values for name, values in row.items() if isinstance(values, list)
    }
    if not columns:
        return [row]
    fields = {name: value for name, value in row.items() if not isinstance(value, list)}
    count = max(map(len, columns.values()))
    points = [{name: values[k] for name, values in columns.items() if values} for k in range(count)]
    return [
        fields | {name: value for name, value in point.items() if value is not None} for point in points
    ]


def check_data(chart) -> None:
    text = json.dumps(read_spec(chart))
    json.loads(text, parse_constant=pytest.fail)
    assert chart.config is alt.Undefined
    check_fields(chart)
    for row in all_records(chart):
        assert all(value is not None for value in row.values())
    if len(labels(chart, "facet")) < 100:
        import vl_convert

        assert vl_convert.vegalite_to_svg(text).startswith("<svg")


def walk_texts(part):
    """Yield all texts of a specification, names of fields among them."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for key, value in part.items():
            yield key
            yield from walk_texts(value)
    elif isinstance(part, list):
        for value in part:
            yield from walk_texts(value)
