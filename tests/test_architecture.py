"""The shape of the code: who may import whom, and how large a piece may grow."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import polars_prcurve

PACKAGE = Path(polars_prcurve.__file__).parent


def module_name(path: Path) -> str:
    """`sweep`, or `charts.words`; a subpackage goes by its own name."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")
}

# In the order of the data: a module imports only from lines above its own.
LAYERS = [
    {"errors", "columns", "exact", "baselines", "resampling", "roots"},
    {"checks", "grouping", "point_metrics", "several", "hull", "models", "drafts"},
    {"intervals", "page"},
    {"bands", "published", "uncertainty"},
    {"widths"},
    {"inputs", "prevalence", "ordering", "curve_metrics", "eta_for"},
    {"sweep", "wide", "metrics", "prior_shift", "engine_counts"},
    {"binormal"},
    {"curve", "targets"},
    {"influence", "lanes"},
    {"expressions", "curves", "analytic"},
    {"bootstrap"},
    {"summary", "compare", "operating_points", "subsampling"},
    {"ranking", "crossings", "dominance"},
    {"charts.words"},
    {"charts.curves"},
    {"charts.channels"},
    {"charts.points", "charts.drawing"},
    {"charts.along_eta"},
    {
        "charts.pr",
        "charts.roc",
        "charts.gains",
        "charts.quantiles",
        "charts.slider",
        "charts.ribbons",
        "charts.thresholds",
    },
    {"charts.by_eta", "charts.ranks"},
    {"charts"},
    {"plots"},
    {"report"},
    {"namespace"},
    {"__init__"},
    {"files", "demo", "engines"},
    {"cli"},
    {"__main__"},
]


def imported(tree: ast.Module) -> set[str]:
    """The package's own modules that a module imports when it runs, at its top or inside."""
    found: set[str] = set()
    typing_only: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name):
            typing_only |= {id(inner) for inner in ast.walk(node)}  # if TYPE_CHECKING
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "polars_prcurve":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polars_prcurve."):
            found.add(str(node.module).partition(".")[2])
    return found & set(MODULES)


def test_every_module_has_a_place() -> None:
    assert set.union(*LAYERS) == set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    level = next(i for i, layer in enumerate(LAYERS) if module in layer)
    below = set.union(set(), *LAYERS[:level])
    assert imported(MODULES[module]) <= below


@pytest.mark.parametrize("module", MODULES)
def test_only_charts_know_altair(module: str) -> None:
    names = {
        name.partition(".")[0]
        for node in ast.walk(MODULES[module])
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    }
    allowed = {
        "polars",
        "numpy",
        "polars_prcurve",
        "__future__",
        "altair" if module.startswith("charts") or module == "page" else "",
        "vl_convert" if module == "page" else "",
        "sklearn" if module == "demo" else "",
        "narwhals" if module == "engine_counts" else "",
        "scipy" if module == "intervals" else "",
    }
    assert names - allowed <= set(__import__("sys").stdlib_module_names)


@pytest.mark.parametrize("module", MODULES)
def test_only_doors_collect(module: str) -> None:
    calls = [
        node
        for node in ast.walk(MODULES[module])
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "collect"
    ]
    # inputs tries a literal on no rows; prevalence checks the eta frame that came as a DataFrame;
    # engine_counts asks an engine for its kinds of values; engines is a door for eager tables, too
    few = {"inputs": 1, "prevalence": 1, "engine_counts": 1, "engines": 2}.get(module, 0)
    assert module in ("namespace", "plots", "cli") or len(calls) == few


def test_no_module_hides_a_function_of_its_name() -> None:
    assert not {f"charts.{name}" for name in polars_prcurve.charts.__all__} & set(MODULES)
    assert not (set(polars_prcurve.__all__) - {"charts", "metrics"}) & set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_functions_stay_small(module: str) -> None:
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = 0 if not body else (body[-1].end_lineno or 0) - body[0].lineno + 1
            assert lines <= 40, f"{module}.{node.name} has {lines} lines"


@pytest.mark.parametrize("module", MODULES)
def test_nothing_private_of_polars_is_used(module: str) -> None:
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polars."):
            assert not any(part.startswith("_") for part in str(node.module).split("."))
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "pl"
        ):
            assert not node.attr.startswith("_")
