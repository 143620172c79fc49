"""Write the reference pages from docstrings and registries.

    python docs/make_reference.py [folder]

Without a folder they go to reference/ beside this file. Run it before you build the site: the repository
does not hold these pages.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import textwrap
import typing
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl

import polars_prcurve
from polars_prcurve import Decision, PrevalenceDisplay, Verdict, charts, engines, metrics
from polars_prcurve.core.binding.argument_rules import RULES
from polars_prcurve.core.binding.shared_arguments import CHART_WORDS, TABLE_WORDS, TARGET_WORDS
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.core.metrics.point_metric import POINT_METRICS, PointMetric
from polars_prcurve.doors.namespace.expression import ExprPrc
from polars_prcurve.doors.namespace.frame import FramePrc
from polars_prcurve.doors.namespace.plot import PlotPrc
from polars_prcurve.view.report import custom_page

WIDTH = 88
WHOLE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}

GROUPS = {
    "Measure": ("counts", "sweep", "curve", "summary", "binormal"),
    "Decide": ("decide", "report", "operating_points", "decision_curve"),
    "Compare models": ("compare", "ranking", "crossings"),
    "Plan a test": ("sample_size", "sampling_plan", "subsample_negatives"),
    "Meet another prevalence": ("estimate_prevalence", "reweight"),
    "Watch a series": ("monitor",),
    "Bring a wide table": ("unpivot_scores",),
}
"""The frame methods by what one wants, each of which has a page."""
TYPES = {
    "Any": "any value",
    "None": "None",
    "Part": "part",
    "Column": "column",
    "Columns": "column, several, or None",
    "Eta": "number, several, frame, field or None",
    "Confidence": "level, `intervals(...)` or None",
    "Adjust": '`"holm"` or None',
    "BoundTable[Any]": "bound table",
    "Field": "`field(...)`",
    "TargetValues": "number, several, or None",
    "Thresholds": "number, several, frame or None",
    "Cells": "four columns",
    "Sizes": "two columns or numbers",
    "Title": "text, False or None",
    "CurveMetric": "metric",
    "PointMetric": "metric",
    "tuple[Column, Column]": "two columns",
    "tuple[float, float]": "two numbers",
    "os.PathLike[str]": "path",
    "pl.DataFrame": "DataFrame",
    "pl.LazyFrame": "LazyFrame",
    "float": "number",
    "bool": "True or False",
    "int": "whole number",
    "str": "text",
}
"""What the table of parameters calls the types of the code."""

FRAMES = """
Methods of `df.prc`, where `df` is a DataFrame or a LazyFrame; `prc(df)` is the same for type checkers.
Arguments that [describe the table](#what-the-table-holds) are passed once, in `df.prc(...)`, or in a
call. A DataFrame gives a DataFrame and a LazyFrame a LazyFrame, unless a method collects the query. Each
has a page with its parameters, its columns and an example. Charts are [methods of
`df.prc.plot`](plots.md).
"""
TABLE_HEADING = "## What the table holds"
BINDING = "## Stored arguments: `df.prc(...)`"
EXPRESSIONS = 'Methods of `.prc` on a score column: `pl.col("score").prc.recall("label")`.'
DECISIONS = """
What [`decide`](frames/decide.md) returns. A [page](../decide.md) shows what each document looks like.
"""

DISPLAYS = """
Curves of estimators, for users of scikit-learn: [what is called what](../coming-from.md#scikit-learn).
"""

PLOTS = """
Methods of `df.prc.plot`, which make a table and draw it. [Charts](../charts.md) shows them.
"""
CHARTS = """
Functions of `polars_prcurve.charts`, which draw a table that a method has made. [Charts](../charts.md)
shows them.
"""
PARTS = """
From `polars_prcurve.report`, for the argument `parts` of [`report`](frames/report.md).
"""
FUNCTIONS = "All of `polars_prcurve` but the namespace `.prc`."
ENGINES = """
From `polars_prcurve.engines`; [counting on an engine](../engines.md) shows it on each.
"""
METRICS = """
All are in `polars_prcurve.metrics`. Metrics are passed by name or as values; those with a parameter
as values, `metrics.f_beta(2)`. `.alias(name)` sets the column name. [Which area?](../which-area.md)
compares them.
"""
POINTS = """
For `curve` and `operating_points`, and to call: `metrics.precision(recall, fpr, eta)` takes numbers,
arrays or expressions. The formula is of the four cells in the proportions of eta: tp = eta recall, fn =
eta (1 - recall), fp = (1 - eta) fpr, tn = (1 - eta) (1 - fpr). Null rule: a quotient 0/0 is undefined,
null in tables and expressions and NaN from numbers and arrays. Exceptions, as curves and searches need
them: `mcc` is 0 where all or nothing is predicted positive; recall gain is undefined at eta = 1; and at
eta = 0 `lift`, `fowlkes_mallows` and the gains are their limits.
"""
CURVES = """
For `summary`, `compare`, `ranking` and the expressions, and to call: `metrics.pr_auc(recall, fpr, eta)`
takes arrays, and undefined is NaN. All are null without positives; the last column
has the other cases: for a table without negatives, at eta = 0 where the first
positives come before any negative, at eta = 1, and from weights or rates instead of counts.
"""
SOURCES = """
Sources: (W) Williams 2021, (B) Brabec et al. 2020, (DG) Davis and Goadrich 2006, (FK) Flach and Kull
2015, (H) Hoiem et al. 2012, (M) McClish 1989, (R) Richardson et al. 2024; numbers are those of
equations.
"""


COMBINATIONS = """
A call with all arguments of a row raises the error on the right, before any row of the table is read.
The first broken rule is reported. `weights` are those of `weight=`, or of
`counts=` with four columns. A stored `id`, `cluster`, `stratum` or `score` that the call does not use
is ignored. Arguments that do go together are in
[contracts](../contracts.md#stored-arguments-and-arguments-of-a-call).
"""


COMBINATIONS_EXAMPLE = """
```python
>>> df = pl.DataFrame({"score": [0.9, 0.2], "label": [1, 0]})
>>> df.prc.summary(smooth="binormal", confidence=0.95)
Traceback (most recent call last):
polars_prcurve.PrcError: leave out confidence= or smooth=: a fitted model has no interval

```
"""


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "reference")
    folder.mkdir(parents=True, exist_ok=True)
    for name, parts in pages().items():
        text = "\n\n".join(part.strip("\n") for part in parts)
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make_relative(text, Path(name).parent) + "\n", encoding="utf-8")
    scripts = (
        Path(custom_page.__file__).with_name("page_formulas.js"),
        Path(__file__).with_name("two_by_two.js"),
    )
    script = "\n".join(path.read_text(encoding="utf-8") for path in scripts)
    (folder / "two_by_two.js").write_text(script, encoding="utf-8")


def make_relative(text: str, folder: Path) -> str:
    """Return the text of a page in this folder of the reference, with its links led from there."""
    return re.sub(
        r"\]\(((?:\.\./)*[\w/-]+\.md)",
        lambda m: f"]({os.path.relpath(m[1], folder).replace(os.sep, '/')}",
        text,
    )


def pages() -> dict[str, Iterable[str]]:
    names = [name for name in polars_prcurve.__all__ if not name.endswith("Prc")]
    functions = [name for name in names if not isinstance(getattr(polars_prcurve, name), ModuleType)]
    functions = [name for name in functions if name not in ("Decision", "PrevalenceDisplay", "Verdict")]
    drawn = [name for name in charts.__all__ if name != "Chart"]
    with_parameter = [name for name in metrics.__all__ if inspect.isfunction(getattr(metrics, name))]
    of_points = [m for m in with_parameter if getattr(metrics, m).__module__.endswith("point_formulas")]
    of_curves = [m for m in with_parameter if m not in of_points]
    return {
        "frames": [
            *["# Frame methods", FRAMES, *groups(), TABLE_HEADING, *described(FramePrc)],
            *[BINDING, setup(), markdown(inspect.getdoc(FramePrc.__call__) or "")],
        ],
        **{f"frames/{name}": method_page(name) for names in GROUPS.values() for name in names},
        "decisions": [
            *["# Decisions", DECISIONS, overview(Decision, list_methods(Decision))],
            *[setup(), *described(Decision), *entries(Decision, list_methods(Decision))],
            *entry("Verdict", Verdict, "##"),
        ],
        "displays": [
            *["# Displays", DISPLAYS, setup(), *entry("PrevalenceDisplay", PrevalenceDisplay, "##")],
            *entries(
                PrevalenceDisplay, ["from_estimator", "from_predictions", "from_cv_results", "plot"]
            ),
        ],
        "combinations": [
            *["# What does not go together", COMBINATIONS, setup(), COMBINATIONS_EXAMPLE, rule_grid()],
        ],
        "expressions": [
            *["# Expressions", EXPRESSIONS, overview(ExprPrc, list_methods(ExprPrc))],
            *[*described(ExprPrc), setup(), *entries(ExprPrc, list_methods(ExprPrc))],
        ],
        "plots": [
            *["# Charts of a score table", PLOTS, overview(PlotPrc, drawn)],
            *[setup(), *described(PlotPrc), *entries(PlotPrc, drawn)],
        ],
        "charts": [
            *["# Charts of a finished table", CHARTS, overview(charts, drawn)],
            setup(*imports("polars_prcurve.charts", drawn)),
            *entries(charts, drawn),
            *["## Parts of a report", PARTS, *entries(custom_page, ["Table", "Figure"], "###")],
        ],
        "functions": [
            *["# Functions", FUNCTIONS, overview(polars_prcurve, functions)],
            setup(*imports("polars_prcurve", functions)),
            *entries(polars_prcurve, functions),
            *["## On an engine", ENGINES, *entries(engines, ["counts"], "###")],
        ],
        "metrics": [
            *["# Metrics", METRICS, setup("from polars_prcurve.metrics import f_beta, point")],
            *["## Of an operating point", POINTS, point_grid()],
            *["## Of an operating point, with a parameter", *entries(metrics, of_points, "###")],
            *["## Of a curve", CURVES, curve_grid()],
            *["## Of a curve, with a parameter", *entries(metrics, of_curves, "###")],
            SOURCES,
        ],
    }


def setup(*lines: str) -> str:
    """What the examples of a page need, which run as they stand there."""
    return "\n".join(
        [
            "```python",
            ">>> import polars as pl",
            ">>> import polars_prcurve",
            *[f">>> {line}" for line in lines],
            "",
            "```",
        ]
    )


def imports(module: str, names: list[str]) -> list[str]:
    listed = textwrap.wrap(", ".join(names), 80)
    return [f"from {module} import {line.rstrip(',')}" for line in listed]


# One entry --------------------------------------------------------------------------------------


def described(kind: type) -> Iterator[str]:
    """What the docstring of a class has for all its methods, below its first line."""
    yield markdown((inspect.getdoc(kind) or "").partition("\n\n")[2])


def list_methods(kind: type) -> list[str]:
    """Return the public methods of a class, in order, those of its bases first."""
    names = dict.fromkeys(name for base in reversed(kind.__mro__) for name in vars(base))
    return [name for name in names if not name.startswith("_") and name != "plot"]


def groups() -> Iterator[str]:
    """Yield a table of methods per group; raise if a method is in none."""
    listed = [name for names in GROUPS.values() for name in names]
    if sorted(listed) != sorted(list_methods(FramePrc)):
        different = set(listed) ^ set(list_methods(FramePrc))
        raise SystemExit(f"GROUPS in docs/make_reference.py must list each method once: {different}")
    for title, names in GROUPS.items():
        rows = [[f"[`{name}`](frames/{name}.md)", first_line(getattr(FramePrc, name))] for name in names]
        yield f"## {title}\n\n" + grid(["method", "what you get"], rows)


def method_page(name: str) -> list[str]:
    """Return the page of one frame method; its examples run on their own."""
    _, text, *rest = entry(name, getattr(FramePrc, name), "#")
    body = "\n\n".join(rest)
    before, fence, after = body.partition("```python\n>>>")
    return [f"# `{name}`", text, before, *([f"{setup()}\n\n{fence}{after}"] if fence else [])]


def overview(module: Any, names: list[str]) -> str:
    """Return a table of one line each, with links to the entries below."""
    rows = [[f"[`{name}`](#{name.lower()})", first_line(getattr(module, name))] for name in names]
    return grid(["name", "what it is"], rows)


def first_line(value: Any) -> str:
    return prose((inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " "))


def entries(module: Any, names: list[str], heading: str = "##") -> Iterator[str]:
    for name in names:
        yield from entry(name, getattr(module, name), heading)


def entry(name: str, value: Any, heading: str) -> Iterator[str]:
    yield f"{heading} `{name}`"
    if callable(value) and not (isinstance(value, type) and issubclass(value, Exception)):
        yield f"```py\n{signature(name, value)}\n```"
    yield markdown(inspect.getdoc(value) or "", value)


def signature(name: str, value: Callable[..., Any]) -> str:
    """The call without types; words that methods share are named in a line for each group."""
    own: list[str] = []
    groups = {title: list_words(value, title) for title in SHARED}
    shared = {word for title in SHARED for word in takes_words(value, title)}
    for argument in inspect.signature(value).parameters.values():
        if argument.name == "self" or argument.name.startswith("_") or argument.name in shared:
            continue
        if argument.kind is argument.KEYWORD_ONLY and "*" not in own:
            own.append("*")
        own.append(shown(argument))
    if not shared and len(name) + len(", ".join(own)) < WIDTH:
        return f"{name}({', '.join(own)})"
    lines = [f"    {line.rstrip(',')}," for line in textwrap.wrap(", ".join(own), WIDTH)]
    for title, words in groups.items():
        text = f"{title}: {', '.join(words)}" if words else ""
        lines += [f"    # {line}" for line in textwrap.wrap(text, WIDTH - 2)]
    return "\n".join([f"{name}(", *lines, ")"])


SHARED = {"a target": TARGET_WORDS, "of the table": TABLE_WORDS, "of the chart": CHART_WORDS}
"""The groups of words that methods share, each of which is described at one place."""


def takes_words(value: Callable[..., Any], title: str) -> set[str]:
    """Return the words of a group in a signature; one name alone may be an argument of the method."""
    known = inspect.signature(value).parameters
    always = {"a target": "recall", "of the table": "missing", "of the chart": "facet"}[title]
    is_method = {"label", "missing"} <= set(known)
    return set(SHARED[title]) & set(known) if is_method and always in known else set()


def list_words(value: Callable[..., Any], title: str) -> list[str]:
    """Return the words of a group that a method takes beside its own arguments, and has a use for."""
    uses = takes_words(value, title)
    if title == "a target":
        described = read_parameters(inspect.getdoc(value) or "")
        uses &= {name for names in described for name in names.split(", ")}
    return [word for word in SHARED[title] if word in uses]


def shown(argument: inspect.Parameter) -> str:
    if argument.default is argument.empty:
        return argument.name
    return f"{argument.name}={argument.default!r}".replace("'", '"')


# Docstrings -------------------------------------------------------------------------------------


def add_parameters(docstring: str, value: Any) -> str:
    """Return the docstring of a method that draws, with the words that it does not describe itself.

    They are as in the method that makes the table, which the first line names, or as in the chart.
    """
    made_by = re.search(r"`(\w+)`", docstring.partition("\n")[0])[1]
    known, order = (list(inspect.signature(of).parameters) for of in (getattr(FramePrc, made_by), value))
    items = read_parameters(docstring)
    told = {"self", *(word for title in SHARED for word in takes_words(value, title))}
    told |= {name for names in items for name in names.split(", ")}
    for name in (name for name in order if name not in told):
        items[name] = f"As in `{made_by if name in known else f'charts.{value.__name__}'}`."
    if not items:
        return docstring
    listed = sorted(items.items(), key=lambda item: order.index(item[0].split(", ")[0]))
    section = "".join(f"{names}\n    {text}\n" for names, text in listed)
    before, examples, after = docstring.partition("\n\nExamples\n")
    before = before.partition("\n\nParameters\n")[0]
    return f"{before}\n\nParameters\n----------\n{section}{examples[1:]}{after}"


def markdown(docstring: str, value: Any = None) -> str:
    """The sections of a docstring. Examples are code already; parameters of a call are a table."""
    if getattr(value, "__qualname__", "").startswith("prc.plot."):
        docstring = add_parameters(docstring, value)
    first, *sections = re.split(
        r"^(Parameters|Attributes|Returns|Examples)\n-+\n", docstring, flags=re.M
    )
    parts = [paragraphs(first)]
    if inspect.isfunction(value) and "Parameters" not in sections:
        parts.append(describe_shared(value))
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        if title == "Parameters" and callable(value) and not isinstance(value, type):
            parts += [f"**{title}**", parameters(body, value)]
        else:
            parts += [f"**{title}**", listed(body) if title[0] in "PA" else paragraphs(body)]
    return "\n\n".join(part for part in parts if part)


def listed(body: str) -> str:
    """Names, each followed by indented lines, as a list."""
    items = re.split(r"^(\S.*)\n", body, flags=re.M)[1:]
    lines = [
        f"- {', '.join(f'`{name}`' for name in names.split(', '))}: {' '.join(text.split())}"
        for names, text in zip(items[::2], items[1::2], strict=True)
    ]
    return "\n".join(textwrap.fill(prose(line), 112, subsequent_indent="  ", **WHOLE) for line in lines)


def read_parameters(docstring: str) -> dict[str, str]:
    """Return the text on each parameter, or on several at once, by their names."""
    section = re.split(r"^(?:Parameters|Returns|Examples)\n-+\n", docstring, flags=re.M)
    return read_items(section[1]) if re.search(r"^Parameters\n-", docstring, flags=re.M) else {}


def read_items(body: str) -> dict[str, str]:
    items = re.split(r"^(\S.*)\n", body, flags=re.M)[1:]
    return {names: " ".join(text.split()) for names, text in zip(items[::2], items[1::2], strict=True)}


def parameters(body: str, value: Callable[..., Any]) -> str:
    """Return the table of parameters, and a line on those that all methods share."""
    known = inspect.signature(value).parameters
    targets = set(list_words(value, "a target")) if value.__name__ != "operating_points" else set()
    rows, told = [], set()
    for names, text in read_items(body).items():
        own = [name for name in names.split(", ") if name in known]
        told |= set(own)
        meant = ", ".join(f"`{name}`" for name in own if name in targets)
        own = [name for name in own if name not in targets]
        looks = {(name_type(known[n].annotation), show_default(known[n]), look_up(n, text)) for n in own}
        for together in [own] if len(looks) == 1 else [[name] for name in own]:
            first = known[together[0]]
            cells = (name_type(first.annotation), show_default(first), prose(look_up(first.name, text)))
            said = ", ".join(f"`{name}`" for name in together)
            rows.append([said, *cells])
        if meant:
            rows.append([meant, "[target](frames/operating_points.md)", "`None`", prose(text)])
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    table = grid(["parameter", "type", "default", "meaning"], rows)
    return f'<div class="parameters"></div>\n\n{table}\n\n{describe_shared(value, told)}'.rstrip()


def describe_shared(value: Callable[..., Any], told: Collection[str] = ()) -> str:
    """Return a line on the words that methods share, which are described at one place."""
    of_table, of_chart = (
        ", ".join(f"`{name}`" for name in list_words(value, title) if name not in told)
        for title in ("of the table", "of the chart")
    )
    where = "[what the table holds](frames.md#what-the-table-holds)"
    once = "passed in the call or [once](frames.md#stored-arguments-dfprc)"
    text = f"Also {where}, {once}: {of_table}." if of_table else ""
    return f"{text} Of the chart: {of_chart}." if of_chart else text


def look_up(names: str, text: str) -> str:
    """Return the text on a parameter, with that of another method instead of a plain `as in`."""
    found = re.match(r"As in `(charts\.)?(\w+)`([.;]) ?(.*)", text)
    if not found:
        return text
    module, name, _, rest = found.groups()
    other = getattr(charts if module else FramePrc, name, None)
    texts = read_parameters(inspect.getdoc(other) or "")
    said = [t for n, t in texts.items() if set(names.split(", ")) & set(n.split(", "))]
    if len(said) != 1 or said[0] == text:
        return text
    return f"{look_up(names, said[0])} {rest[:1].upper()}{rest[1:]}".strip()


def name_type(annotation: Any) -> str:
    """Return the type of a parameter in words."""
    parts = re.split(r" \| (?![^\[]*\])", str(annotation))
    words = dict.fromkeys(name_one_type(part) for part in parts)
    return " or ".join(words).replace("or None or None", "or None")


def name_one_type(name: str) -> str:
    if name in TYPES:
        return TYPES[name]
    values = re.match(r"Literal\[(.*)\]", name)
    if values:
        return " or ".join(f"`{value.strip()}`" for value in values[1].split(","))
    for module in list(sys.modules.values()):
        alias = (
            getattr(module, name, None) if "polars_prcurve" in getattr(module, "__name__", "") else None
        )
        if typing.get_origin(alias) is typing.Literal:
            return " or ".join(f'`"{value}"`' for value in typing.get_args(alias))
    if re.match(r"(?:Sequence|Iterable)\[", name):
        return "several"
    pair = re.match(r"Mapping\[", name)
    return "mapping" if pair else f"`{name}`" if name.isidentifier() else "see below"


def show_default(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return "required"
    text = repr(parameter.default).replace("'", '"')
    return f"`{text}`" if len(text) < 30 else "see above"


def paragraphs(text: str) -> str:
    """Code as it stands in fences, lists of names as lists, all else as prose."""
    parts = []
    for part in text.strip().split("\n\n"):
        if part.startswith(">>>"):
            parts.append(f"```python\n{part}\n\n```")
        elif re.match(r"[a-z_]+(, [a-z_]+)*\n    ", part):
            parts.append(listed(part + "\n"))
        else:
            parts.append(prose(part))
    return "\n\n".join(parts)


def prose(text: str) -> str:
    """Stars mean themselves; `as in` and `see` lead to where it is."""
    pieces = re.split(r"(`[^`]*`)", text)
    text = "".join(p if p.startswith("`") else p.replace("*", r"\*") for p in pieces)
    return re.sub(
        r"\b([Aa]s in|[Ss]ee|[Ff]unction|method) `(charts\.)?(\w+)`",
        lambda m: f"{m[1]} [`{m[2] or ''}{m[3]}`]({to})" if (to := place(m[3], m[2], m[1])) else m[0],
        text,
    )


def place(name: str, module: str | None, kind: str) -> str:
    if module:
        return f"charts.md#{name}"
    if name in list_methods(FramePrc) and kind.lower() != "function":
        return f"frames/{name}.md"
    return f"functions.md#{name}" if name in polars_prcurve.__all__ else ""


# Metrics ----------------------------------------------------------------------------------------


def point_grid() -> str:
    """Every point metric, a row each."""
    names = ["metric", "formula", "range", "better", "depends on eta", "source"]
    rows = [[f"`{m.name}`", f"`{formula(m)}`", *of_any(m)] for m in POINT_METRICS.values()]
    return grid(names, rows)


def curve_grid() -> str:
    """Every curve metric, a row each."""
    names = ["metric", "what it is", "range", "better", "depends on eta", "source", "null"]
    rows = [
        [f"`{m.name}`", " ".join((m.__doc__ or "").split()).rstrip("."), *of_any(m), "; ".join(nulls(m))]
        for m in CURVE_METRICS.values()
    ]
    return grid(names, rows)


def of_any(metric: Any) -> list[str]:
    low, high = (f"{end:g}".replace("inf", "∞") for end in metric.range)
    better = {"maximize": "more", "minimize": "less", "none": ""}[metric.direction]
    source = f"`{metric.source}`" if "*" in metric.source else metric.source
    return [f"{low} to {high}", better, "yes" if metric.depends_on_eta else "no", source]


def rule_grid() -> str:
    """Return a table of the rules that a call is held to, in their order."""
    return grid(
        ["passed together", "unless", "methods", "the error"],
        [
            [
                " and ".join(f"`{fact}`" for fact in rule.facts),
                " or ".join(f"`{fact}`" for fact in rule.unless),
                ", ".join(f"`{name}`" for name in rule.methods) or "all that take both",
                rule.write("curve" if not rule.methods else rule.methods[0]),
            ]
            for rule in RULES
        ],
    )


def grid(names: list[str], rows: list[list[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("\n", " ") for cell in line) + " |" for line in lines
    )


class Term:
    """A formula as text: what a metric does with its cells is written down instead."""

    __array_ufunc__ = None  # else NumPy would take over

    def __init__(self, text: str, binds: int = 9) -> None:
        self.text, self.binds = text, binds

    def within(self, binds: int) -> str:
        return self.text if self.binds >= binds else f"({self.text})"

    def __bool__(self) -> bool:
        return False  # of a comparison: the general case

    def __pow__(self, power: float) -> Term:
        return Term(f"sqrt({self.text})") if power == 0.5 else Term(f"{self.within(9)}^{power:g}", 3)


def _operation(sign: str, binds: int) -> tuple[Callable[..., Term], Callable[..., Term]]:
    right = binds + (sign in "-/")

    def apply(a: Any, b: Any) -> Term:
        a, b = (x if isinstance(x, Term) else Term(f"{x:g}") for x in (a, b))
        if sign == "*" and a.text == "1":
            return b
        return Term(f"{a.within(binds)} {sign} {b.within(right)}", binds)

    return apply, lambda b, a: apply(a, b)


for _name, _sign, _binds in (("add", "+", 1), ("sub", "-", 1), ("mul", "*", 2), ("truediv", "/", 2)):
    _forth, _back = _operation(_sign, _binds)
    setattr(Term, f"__{_name}__", _forth)
    setattr(Term, f"__r{_name}__", _back)
for _name in ("eq", "gt", "and"):
    setattr(Term, f"__{_name}__", lambda a, b: a)


def formula(metric: PointMetric) -> str:
    """What its code computes, read off the code."""
    value = metric.formula(*map(Term, ("tp", "fn", "fp", "tn")))
    return str((value.item() if isinstance(value, np.ndarray) else value).text)


def nulls(metric: Any) -> list[str]:
    """Where its value is null, besides without positives, of a few tables."""
    rows = pl.DataFrame({"score": [3, 2, 1, 0], "label": [1, 0, 1, 0], "w": [1.5, 1.0, 1.0, 1.0]})
    points = pl.DataFrame({"tpr": [0.5, 1.0], "fpr": [0.1, 1.0]})

    def is_null(table: pl.DataFrame, eta: float, **given: Any) -> bool:
        return table.prc.summary(eta, metrics=metric, **given)["value"].item() is None

    assert is_null(rows.filter(label=0), 0.5)
    found = {
        "no negatives, unless eta = 1": is_null(rows.filter(label=1), 0.5),
        "no negatives": is_null(rows.filter(label=1), 1.0),
        "eta = 0": is_null(rows, 0.0),
        "eta = 1": is_null(rows, 1.0),
        "weights": is_null(rows, 0.5, weight="w"),
        "rates": is_null(points, 0.5, rates=("tpr", "fpr")),
    }
    if found["no negatives"]:
        del found["no negatives, unless eta = 1"]
    return [name for name, is_so in found.items() if is_so]


if __name__ == "__main__":
    main()
