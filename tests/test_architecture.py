"""The shape of the code: who may import whom, how large a piece may grow, and what is public.

Each rule is one test, which lists all that breaks it, and says what to do.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import polars_prcurve

PACKAGE = Path(polars_prcurve.__file__).parent
HERE = "tests/test_architecture.py"


def module_name(path: Path) -> str:
    """Return `charts.pr` for a file; a folder goes by its own name, the package by "__init__"."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
MODULES = {name: ast.parse(source) for name, source in SOURCES.items()}


@cache
def list_nodes(tree: ast.Module) -> list[ast.AST]:
    """Return all nodes of a module, which most rules go through."""
    return list(ast.walk(tree))


# Three floors, each of which imports only from floors below it. The rooms of a floor stand in the order
# of the data: a room imports only from rooms before its own. Inside a room there are no circles either.
FLOORS = {
    "core": [
        *("ground", "metrics", "inputs", "confidence", "prevalence", "sweep", "curves", "uncertainty"),
        *("comparison", "binding", "judging"),
    ],
    "view": ["words", "verdicts", "charts", "report"],
    "doors": [
        "namespace",
        "published_rates",
        "retrieval_runs",
        "scorers",
        "scikit_learn",
        "engines",
        "cli",
    ],
}
# The paths that users know, which pass on names of the rooms. Only doors import them, too.
FACADES = ["metrics", "charts", "report", "engines", "__init__", "__main__"]
ROOMS = [f"{floor}.{room}" for floor, rooms in FLOORS.items() for room in rooms]
# The modules that users import from. All others may move without notice, as docs/compatibility.md says.
PUBLIC = {"__init__", "metrics", "charts", "engines", "report"}
# Which modules, or rooms, may import a package that is not everywhere.
ALLOWED = {
    "altair": ("view.charts",),
    "vl_convert": ("view.report.custom_page",),
    "sklearn": (),  # duck typing serves it
    "narwhals": ("doors.engines",),
    "scipy": ("core.confidence.rate_intervals",),
}
# `query_guards.run_query` collects for all modules, except a few that ask an engine about its values.
COLLECTS = {
    "core.ground.query_guards": 1,
    "doors.engines.narwhals_counts": 3,
}
# Doors, and the one method by which a stage collects half way, `ResolvedTable.collect`.
RUNS_QUERIES = {
    "core.ground.query_guards",
    "doors.engines.narwhals_counts",
    "core.inputs.resolved_tables",
    "core.inputs.never_scored",
    "core.inputs.column_reader",
    "core.curves.given_group_thresholds",
    "core.curves.target_arguments",
    "core.prevalence.eta_table",
    "core.prevalence.estimated_eta",
}
DOORS = ("doors.namespace", "doors.cli")
LINES = 40


def room_of(module: str) -> str:
    """Return the room of a module, such as "core.metrics"; of a façade its own name."""
    return ".".join(module.split(".")[:2])


def imported(tree: ast.Module) -> set[str]:
    """Return the package's own modules that a module imports: when it runs, or for types alone."""
    found: set[str] = set()
    for node in list_nodes(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE.name:
            inside = str(node.module).removeprefix(PACKAGE.name).removeprefix(".")
            prefix = f"{inside}." if inside else ""
            names = {prefix + alias.name for alias in node.names}
            found |= names | ({inside or "__init__"} if names - set(MODULES) else set())
    return found & set(MODULES) - {*FLOORS}


def top_level_names(tree: ast.Module) -> set[str]:
    """Return the packages that a module imports when it runs, at its top or inside."""
    for_types = [n for n in list_nodes(tree) if isinstance(n, ast.If) and isinstance(n.test, ast.Name)]
    left_out = {id(inner) for node in for_types for inner in ast.walk(node)}
    return {
        name.partition(".")[0]
        for node in list_nodes(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in left_out
        for name in (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    }


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield all functions and methods of a module, nested ones too."""
    return (node for node in list_nodes(tree) if isinstance(node, ast.FunctionDef))


def report(broken: Iterable[str]) -> None:
    """Raise with one line for each way in which the rule is broken."""
    said = list(broken)
    assert not said, "\n".join(said)


# Who imports whom -----------------------------------------------------------------------------


def test_every_module_has_a_room() -> None:
    known = {room_of(module) for module in MODULES} - {*FLOORS}
    expected = {*ROOMS, *FACADES}
    report(
        f"{name} is in no room: put it into one of a floor, or into FLOORS in {HERE}"
        for name in sorted(known - expected)
    )
    report(f"FLOORS in {HERE} names {name!r}, which is no room" for name in sorted(expected - known))


def test_imports_point_one_way() -> None:
    """Also those for types alone, which a reader follows like any other."""

    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            room = room_of(module)
            for other in sorted(imported(tree)):
                theirs = room_of(other)
                if room not in ROOMS or room == theirs:
                    continue
                if theirs in FACADES and room.startswith("doors."):
                    continue  # doors may use what users use
                if theirs not in ROOMS or ROOMS.index(theirs) > ROOMS.index(room):
                    yield (
                        f"{module} imports {other}, which is in no earlier room: move what both "
                        f"need to an earlier one, or mend FLOORS in {HERE}"
                    )

    report(broken())


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Also not through a third module, not inside functions, and not for types alone."""
    left = {module: imported(tree) - {module} for module, tree in MODULES.items()}
    # A sub-package that passes names of its modules on is imported by none of them.
    while free := [module for module, others in left.items() if not others & left.keys()]:
        for module in free:
            del left[module]
    report(
        f"{module} is in a circle of imports with {sorted(left[module] & set(left))}" for module in left
    )


def test_only_some_modules_know_other_packages() -> None:
    everywhere = {"polars", "numpy", "polars_prcurve", "__future__", *sys.stdlib_module_names}

    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            for name in sorted(top_level_names(tree) - everywhere):
                allowed = ALLOWED.get(name, ())
                if not any(module == one or module.startswith(f"{one}.") for one in allowed):
                    few = ", ".join(allowed) or "no module"
                    yield (
                        f"{module} imports {name}, and only {few} may: call a function there, or mend "
                        f"ALLOWED in {HERE}"
                    )

    report(broken())


def test_only_doors_collect() -> None:
    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            if room_of(module) in DOORS:
                continue
            calls = [node for node in list_nodes(tree) if isinstance(node, ast.Call)]
            collects = [
                call.lineno
                for call in calls
                if isinstance(call.func, ast.Attribute)
                and call.func.attr == "collect"
                # `table.collect` is `ResolvedTable.collect`, which refuses a LazyFrame
                and not (isinstance(call.func.value, ast.Name) and call.func.value.id == "table")
                and not (isinstance(call.func.value, ast.Attribute) and call.func.value.attr == "table")
            ]
            runs = any(isinstance(c.func, ast.Name) and c.func.id == "run_query" for c in calls)
            if len(collects) != COLLECTS.get(module, 0) or (runs and module not in RUNS_QUERIES):
                yield (
                    f"{module} runs queries (.collect() at {collects}): return a LazyFrame, or ask "
                    f"`table.collect(query, why)`, or mend COLLECTS and RUNS_QUERIES in {HERE}"
                )

    report(broken())


# What is public -------------------------------------------------------------------------------


def test_only_public_modules_list_their_names() -> None:
    """`__all__` has one meaning: what users may import."""
    having = {name for name, source in SOURCES.items() if re.search(r"^__all__\b", source, re.M)}
    report(f"{name} is private and has an __all__: delete it" for name in sorted(having - PUBLIC))
    report(f"{name} is public and has no __all__: list its names" for name in sorted(PUBLIC - having))


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_a_public_module_shows_just_its_names(module: str) -> None:
    """What an editor offers after `polars_prcurve.` is what users may import, and nothing else."""
    path = "polars_prcurve" + ("" if module == "__init__" else f".{module}")
    found = import_module(path)
    assert {name for name in dir(found) if not name.startswith("__")} == set(found.__all__)
    assert all(hasattr(found, name) for name in found.__all__)


ROOT_FILES = {
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"),
    *("mkdocs.yml", "noxfile.py", "pyproject.toml", ".gitignore", ".pre-commit-config.yaml"),
    *("polars_prcurve", "tests", "docs", "examples", "benchmarks", "conda", ".ci", ".github"),
}


def test_nothing_strays_to_the_root() -> None:
    """A table that a test or an example wrote there, and that was committed by mistake."""
    root = PACKAGE.parent
    if not (root / ".git").exists():
        pytest.skip("needs a checkout")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    assert {name.partition("/")[0] for name in listed.splitlines()} == ROOT_FILES


def test_the_docs_name_the_public_modules() -> None:
    page = (PACKAGE.parent / "docs" / "compatibility.md").read_text(encoding="utf-8")
    paths = {"polars_prcurve" if name == "__init__" else f"polars_prcurve.{name}" for name in PUBLIC}
    assert set(re.findall(r"`(polars_prcurve(?:\.\w+)?)`", page)) == paths


def test_no_module_hides_a_function_of_its_name() -> None:
    public = {f"charts.{name}" for name in polars_prcurve.charts.__all__}
    public |= set(polars_prcurve.__all__) - {"charts", "metrics"}
    report(
        f"{name} is the name of a module and of a public function: name the module after what it holds"
        for name in sorted(public & set(MODULES))
    )


# Names and sizes ------------------------------------------------------------------------------


def public_names() -> set[str]:
    """Return what users call, whose names stay as they are."""
    paths = ("polars_prcurve" if name == "__init__" else f"polars_prcurve.{name}" for name in PUBLIC)
    return {name for path in paths for name in import_module(path).__all__}


# Participles and prepositions read as values. A function is a verb, or a noun if it only returns that.
PREPOSITIONS = {
    "of",
    "at",
    "in",
    "by",
    "for",
    "on",
    "over",
    "above",
    "below",
    "with",
    "without",
    "within",
}
NO_PARTICIPLES = {"feed", "need", "seed", "embed", "exceed"}


def test_functions_are_named_by_verbs_or_nouns() -> None:
    public = public_names() | {"by_columns"}  # the columns of by=

    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            for function in functions(tree):
                first = function.name.strip("_").partition("_")[0]
                participle = first.endswith("ed") and first not in NO_PARTICIPLES
                if (participle or first in PREPOSITIONS) and function.name not in public:
                    yield f"{module}.{function.name} is no verb, and no noun: build_, check_, read_ ...?"

    report(broken())


# Participles, prepositions and pronouns say nothing of what a value is. As adjectives in a longer name
# (`known_rows`) they do.
NO_NOUNS = {
    *(
        "asked",
        "built",
        "chosen",
        "counted",
        "done",
        "drawn",
        "found",
        "given",
        "gone",
        "held",
        "judged",
    ),
    *("kept", "known", "left", "made", "meant", "met", "moved", "needed", "put", "read", "said", "seen"),
    *("sent", "shown", "sought", "stored", "taken", "told", "wanted", "written"),
    *("at", "both", "each", "here", "how", "more", "of", "on", "one", "own", "there", "what"),
}
MOST_WITHOUT_A_NOUN = 30


def report_beyond(most: int, broken: Iterable[str], advice: str) -> None:
    """Raise if a rule is broken more often than it was; the number may only fall."""
    places = list(broken)
    listed = "\n".join(places)
    assert len(places) <= most, f"{listed}\n{len(places)} places, of which {most} may be: {advice}"


def name_values(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the name and the line of each variable, parameter and attribute."""
    for node in list_nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def test_values_are_named_by_nouns() -> None:
    report_beyond(
        MOST_WITHOUT_A_NOUN,
        (
            f"{module}:{line}: {name}"
            for module, tree in MODULES.items()
            for name, line in name_values(tree)
            if name.strip("_") in NO_NOUNS
        ),
        "name a value by a noun that says what it holds",
    )


def test_no_literal_is_built_to_be_unpacked() -> None:
    report(
        f"{module}:{node.lineno}: {ast.unparse(node)}: write one list, or pass each value by name"
        for module, tree in MODULES.items()
        for node in list_nodes(tree)
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List)
    )


def needs_reason(value: ast.expr | None) -> bool:
    """Return whether a constant is a number, a pattern or a tuple, which do not say why they are so."""
    match value:
        case ast.Constant(value=number):
            return isinstance(number, int | float) and not isinstance(number, bool)
        case ast.UnaryOp(operand=operand):
            return needs_reason(operand)
        case ast.BinOp(left=left, right=right):
            return needs_reason(left) and needs_reason(right)
        case ast.Tuple(elts=elements):
            return bool(elements)
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "re.compile"


def test_constants_have_a_reason_beside_them() -> None:
    """As a comment on the line or above it, or as a string below it."""

    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            lines = SOURCES[module].splitlines()
            for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
                if not isinstance(node, ast.Assign | ast.AnnAssign) or not needs_reason(node.value):
                    continue
                above = lines[node.lineno - 2].startswith("#")
                beside = any(" # " in f" {line}" for line in lines[node.lineno - 1 : node.end_lineno])
                if not (above or beside or isinstance(after, ast.Expr)):
                    yield f"{module}:{node.lineno}: {lines[node.lineno - 1]}"

    report(f"{place}: say why it has this value, or what it is for" for place in broken())


def test_private_names_stay_in_their_module() -> None:
    report(
        f"{module} imports {alias.name}, private to {node.module}: leave out its underscore"
        for module, tree in MODULES.items()
        for node in list_nodes(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polars_prcurve")
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    )


def test_no_two_classes_share_a_name() -> None:
    seen: dict[str, str] = {}

    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            for node in list_nodes(tree):
                if isinstance(node, ast.ClassDef):
                    if node.name in seen:
                        yield f"{node.name} is a class of {seen[node.name]} and of {module}: rename one"
                    seen[node.name] = module

    report(broken())


def assigned(function: ast.FunctionDef) -> set[str]:
    """Return the names of a function's parameters and variables, without those of inner functions."""
    arguments = [*function.args.args, *function.args.kwonlyargs, *function.args.posonlyargs]
    names = {argument.arg for argument in arguments}
    others = (node for node in ast.walk(function) if isinstance(node, ast.FunctionDef))
    inner = {id(node) for other in others if other is not function for node in ast.walk(other)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in inner:
            names.add(node.id)
    return names


def test_no_variable_bears_the_name_of_a_function() -> None:
    """Public names aside: users know `recall` and `precision` as arguments and as metrics."""
    public = public_names()
    private = {
        node.name: module
        for module, tree in MODULES.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name not in public
    }
    report(
        f"{module}.{function.name} has a variable {name!r}, and {private[name]} a function: rename one"
        for module, tree in MODULES.items()
        for function in functions(tree)
        for name in sorted(assigned(function) & private.keys())
    )


def test_docstrings_stand_alone() -> None:
    """The first line is read in a tooltip, where there is no line above."""
    leaning = re.compile(r"(The same|As |Or |And |Of |So many|Also )")

    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            for node in list_nodes(tree):
                if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                    first = (ast.get_docstring(node) or ".").partition("\n")[0]
                    if leaning.match(first):
                        name = getattr(node, "name", "")
                        yield f"{module}.{name}: {first!r} leans on other lines: what comes back?"

    report(broken())


def test_functions_stay_small() -> None:
    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            for node in functions(tree):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = 0 if not body else (body[-1].end_lineno or 0) - body[0].lineno + 1
                if lines > LINES:
                    yield f"{module}.{node.name} has {lines} lines, more than {LINES}: split it"

    report(broken())


def test_nothing_private_of_polars_is_used() -> None:
    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            for node in list_nodes(tree):
                private = ""
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polars."):
                    names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
                    private = next((name for name in names if name.startswith("_")), "")
                elif (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name)
                    and node.value.id == "pl"
                    and node.attr.startswith("_")
                    and node.attr != "__version__"
                ):
                    private = node.attr
                if private:
                    yield f"{module} uses {private}, private to Polars: use what Polars documents"

    report(broken())


def test_each_explode_says_what_an_empty_list_becomes() -> None:
    """The default of Polars may change."""

    def broken() -> Iterator[str]:
        for module, tree in MODULES.items():
            for node in list_nodes(tree):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                    continue
                if node.func.attr == "explode" and "empty_as_null" not in {k.arg for k in node.keywords}:
                    yield f"{module} leaves explode() what an empty list becomes: pass empty_as_null="

    report(broken())


def test_messages_name_packages_that_pip_finds() -> None:
    """An extra is found in a checkout alone; the packages behind it are found anywhere."""
    tomllib = pytest.importorskip("tomllib", reason="needs Python 3.11")
    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = {name for names in project["optional-dependencies"].values() for name in names}
    files = [*(root / "polars_prcurve").rglob("*.py"), *(root / "docs").glob("*.md"), root / "README.md"]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    asked = {name: re.findall(r'pip install "([^"]+)"', text) for name, text in texts.items()}
    assert sum(map(len, asked.values())) > 5
    for name, packages in asked.items():
        for package in packages:
            is_checkout = package.startswith(".[") and not name.endswith(".py")
            assert package in known or is_checkout or package == "polars[rt64]", (name, package)


EXAMPLES = {
    "average_precision_at_0.004",  # the name of a scorer
    "neg_...",  # that of a cost of XGBoost
    "lightgbm.train",
    "polars.api",
    *("carried_0", "_doubt"),  # columns with a number, or of a name
    "recall_line",
    "cohort_points",  # a table of benchmarks/coverage
    "falling",  # explained above the function that reads it
}
"""What comments and docstrings have in backticks without being a name in the package."""


@cache
def list_code_words(tree: ast.Module) -> set[str]:
    """Return all names in the code of a module, and all words of its text that is no docstring."""
    docstrings = {
        id(node.value)
        for node in list_nodes(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    words = set()
    for node in list_nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            words.update(re.findall(r"\w+", node.value))
        names = (getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname"))
        words.update(part for name in names if isinstance(name, str) for part in name.split("."))
    return words


def test_comments_and_docstrings_name_what_exists() -> None:
    words = {part for path in PACKAGE.rglob("*") for part in (path.stem, path.name)}
    words = words.union(*map(list_code_words, MODULES.values()))
    broken = [
        f"{module}.py, line {number}: {name}"
        for module, source in SOURCES.items()
        for number, line in enumerate(source.splitlines(), 1)
        for name in re.findall(r"`(_?[A-Za-z][\w.]*)`", line)
        if name not in EXAMPLES and not words.issuperset(name.split("."))
    ]
    assert not broken, f"name what exists, or add an example to EXAMPLES of {HERE}: {broken}"


def test_contributing_names_what_exists() -> None:
    root = PACKAGE.parent
    files = [path.relative_to(root).as_posix() for path in root.rglob("*") if ".git" not in path.parts]
    words = set().union(*map(list_code_words, MODULES.values()), (Path(name).stem for name in files))
    for path in (root / "tests").rglob("*.py"):
        words.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    text = re.sub(r"```.*?```", "", (root / "CONTRIBUTING.md").read_text(), flags=re.S)
    text = text[: text.index("## Docs")]  # below it stand names of what other tools write
    names = re.findall(r"`(_?[A-Za-z][\w./]*)`", text)
    broken = [
        name
        for name in names
        if not words.issuperset(name.split("."))
        and not any(file.endswith(name.rstrip("/")) for file in files)
    ]
    assert not broken, broken
