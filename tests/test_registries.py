"""What the package offers is in every list that tests and pages keep of it. Runs first, in seconds.

Each test looks at one list and says in words what to add where. After you add a metric, a chart, a
method or a command, run `pytest tests/test_registries.py` until it passes.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import get_args

import polars_prcurve
from polars_prcurve import charts, metrics
from polars_prcurve.core.binding.argument_rules import RULES
from polars_prcurve.core.binding.shared_arguments import TABLE_WORDS, TARGET_WORDS
from polars_prcurve.core.inputs.sample_kinds import SAMPLE_KINDS
from polars_prcurve.core.judging import goal
from polars_prcurve.core.judging.status_names import STATUSES, GroupStanding
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.core.metrics.metric_base import DECLARED_BY_NAME
from polars_prcurve.core.metrics.point_metric import POINT_METRICS
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS, EtaWords, RateWords
from polars_prcurve.core.sweep.sampling_designs import DESIGNS
from polars_prcurve.core.uncertainty.summary_table import needs_negatives
from polars_prcurve.doors.cli import options
from polars_prcurve.doors.cli.printing import ANSWERS_OF_METHOD
from polars_prcurve.doors.namespace.expression import ExprPrc
from polars_prcurve.doors.namespace.frame import FramePrc, LazyFramePrc
from polars_prcurve.doors.namespace.plot import PlotPrc
from polars_prcurve.view.report import decision_drawings
from polars_prcurve.view.verdicts import value_phrases, verdict_sentences
from tests.support import oracle, oracle_areas, oracle_errors
from tests.support.all_metrics import ALL_CURVE_METRICS, ALL_POINT_METRICS
from tests.support.arguments import list_calls
from tests.support.drawings import DRAW, DRAWN_APART
from tests.support.plain_calls import OTHERS, PLAIN
from tests.support.queries import QUERIES

ROOT = Path(__file__).parent.parent
CHARTS = set(charts.__all__) - {"Chart"}
METHODS = {name for name in dir(FramePrc) if not name.startswith("_")}
METHODS -= {"plot", "report", "decide"}
"""The methods that return a table."""
PARSER = options.build_parser(ANSWERS_OF_METHOD)
[COMMANDS] = [a for a in PARSER._actions if isinstance(a, argparse._SubParsersAction)]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def assert_equal_sets(offered: Iterable[str], listed: Iterable[str], what: str, remedy: str) -> None:
    """Raise with the remedy unless the list names everything that is offered, and nothing else."""
    missing, unknown = sorted(set(offered) - set(listed)), sorted(set(listed) - set(offered))
    said = [f"{what} {name!r} is not in its list: {remedy}" for name in missing]
    said += [
        f"{name!r} is listed, but there is no such {what}: take it out. The list: {remedy}"
        for name in unknown
    ]
    assert not said, "\n".join(said)


# Metrics --------------------------------------------------------------------------------------


def test_every_point_metric_has_an_oracle() -> None:
    at = Fraction(1, 2), Fraction(1, 4), Fraction(1, 3)
    for metric in ALL_POINT_METRICS:
        assert oracle.metric(metric.name, *at) is not None, f"{metric.name} is undefined in its oracle"


def test_every_curve_metric_has_an_oracle() -> None:
    rows = [{"score": score, "label": label} for score, label in ((4, 1), (3, 0), (2, 1), (1, 0))]
    sweep = oracle.sweep(rows)
    for metric in ALL_CURVE_METRICS:
        value = oracle_areas.value(metric.name, sweep, Fraction(1, 3))
        assert value is not None, f"{metric.name} is undefined in its oracle"


def test_the_oracle_and_the_package_agree_on_directions() -> None:
    for metric in ALL_POINT_METRICS:
        remedy = f"{metric.name}: mend its direction=, or WITHOUT_DIRECTION in tests/support/oracle.py"
        assert (metric.direction == "none") == (metric.name in oracle.WITHOUT_DIRECTION), remedy
        if metric.direction != "none":
            best = "maximize" if oracle.higher_is_better(metric.name) else "minimize"
            assert metric.direction == best, remedy
    for curve in ALL_CURVE_METRICS:
        if curve.direction != "none":
            best = "maximize" if oracle_areas.higher_is_better(curve.name) else "minimize"
            assert curve.direction == best, f"{curve.name}: set direction= of the metric"


def test_every_curve_metric_with_an_influence_has_an_oracle_of_it() -> None:
    offered = {name for name, metric in CURVE_METRICS.items() if metric.recipe.influence is not None}
    assert_equal_sets(
        offered,
        oracle_errors.DDOF,
        "metric with an influence",
        "add its ddof to DDOF, and a case to influences(), in tests/support/oracle_errors.py",
    )


def test_every_metric_with_parameters_is_tried_with_some() -> None:
    made = {
        name
        for name in metrics.__all__
        if inspect.isfunction(getattr(metrics, name)) and name not in ("point", "at_threshold")
    }  # what is of a score, which arrays of rates lack, is tried in test_metrics_at_thresholds.py
    everything = [*ALL_POINT_METRICS, *ALL_CURVE_METRICS]
    # integrated() is named after what it means over; best() and the rest after themselves
    tried = {metric.name.partition("(")[0] for metric in everything if "(" in metric.name}
    remedy = "add one with parameters to tests/support/all_metrics.py"
    assert_equal_sets(made, tried, "metric with parameters", remedy)


def test_every_metric_can_be_imported_from_metrics() -> None:
    registered = {*POINT_METRICS, *CURVE_METRICS}
    assert_equal_sets(
        registered,
        {name for name in metrics.__all__ if not callable(getattr(metrics, name)) or name in registered},
        "metric",
        "import it in the module polars_prcurve.metrics, and add it to __all__ there",
    )


# Targets --------------------------------------------------------------------------------------

# A kind of target is declared in TARGET_KINDS of core/metrics/target_kinds.py, from which rooms
# read their lists. `tests/test_new_entries.py` walks with a new one. These lists have to be written out.


def test_signatures_take_every_target() -> None:
    free_of_eta = {word for word, kind in TARGET_KINDS.items() if not kind.metric.depends_on_eta}
    for words, listed in (
        (free_of_eta, RateWords),
        ({*TARGET_KINDS, "per"} - free_of_eta, EtaWords),
    ):
        remedy = f"add it to {listed.__name__} in {listed.__module__}"
        assert_equal_sets(words, listed.__annotations__, "target", remedy)


def test_docstrings_name_all_targets_that_a_method_takes() -> None:
    for owner in (FramePrc, PlotPrc):
        for name, method in inspect.getmembers(owner, inspect.isfunction):
            _, _, section = (inspect.getdoc(method) or "").partition("Parameters\n----------\n")
            lines = re.findall(r"^\w+(?:, \w+)*$", re.split(r"^-+$", section, flags=re.M)[0], flags=re.M)
            named = {word for line in lines for word in line.split(", ")} & {*TARGET_WORDS}
            words = {*TARGET_WORDS} & set(inspect.signature(method).parameters)
            if named:  # methods of charts may leave their words to the method that makes the table
                remedy = f"the docstring of {owner.__name__}.{name}"
                assert_equal_sets(words, named, "target", remedy)


def test_options_of_targets_take_their_kind_of_values() -> None:
    for word, kind in TARGET_KINDS.items():
        metavar = "ALERTS/CASES" if kind.value_kind == "number" else "N"
        assert options.find_kind(word, "TargetValues").metavar == metavar, f"--{word}"


def test_verdicts_order_every_target() -> None:
    assert_equal_sets(
        set(TARGET_WORDS) - {"per"}, goal._ORDER, "target", "_ORDER in core/judging/goal.py"
    )


def test_every_kind_of_sample_has_a_design_and_words() -> None:
    names = {kind.name for kind in SAMPLE_KINDS}
    designed = {kind.name for kind in DESIGNS}
    assert_equal_sets(names, designed, "kind of sample", "DESIGNS in core/sweep/sampling_designs.py")
    words = {kind.word for kind in SAMPLE_KINDS if kind.word}
    known = words & set(TABLE_WORDS)
    assert_equal_sets(words, known, "kind of sample", "TableWords in core/binding/shared_arguments.py")


def test_every_status_has_a_sentence_a_block_and_a_line_of_help() -> None:
    listed = re.findall(r"^ *- `(\w+)`:", FramePrc.decide.__doc__ or "", re.M)
    assert listed == list(STATUSES), "decide() lists the statuses in the order in which they are tried"
    remedy = "_WRITERS in view/verdicts/verdict_sentences.py"
    assert_equal_sets(STATUSES, verdict_sentences._WRITERS, "status", remedy)
    remedy, standings = "_STANDINGS in view/verdicts/value_phrases.py", get_args(GroupStanding)
    assert_equal_sets(standings, value_phrases._STANDINGS, "standing of a group", remedy)
    remedy = "_COLORS in view/report/decision_drawings.py"
    assert_equal_sets({*STATUSES, *standings}, decision_drawings._COLORS, "outcome", remedy)


def test_rules_know_which_targets_need_the_number_of_negatives() -> None:
    needing = {f"{word}=" for word, kind in TARGET_KINDS.items() if needs_negatives(kind.metric)}
    unknown = "negatives are not counted"
    named = {rule.facts[1] for rule in RULES if rule.facts[0] == unknown and len(rule.facts) == 2}
    named &= {f"{word}=" for word in TARGET_KINDS}
    remedy = f"the rules of {unknown!r} in core/binding/argument_rules.py"
    assert_equal_sets(needing, named, "target that needs the number of negatives", remedy)


# Frame methods --------------------------------------------------------------------------------


class Recorder:
    """Stands in for `.prc`, and keeps the name of the method that is called."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: self.called.append(name)


def test_every_frame_method_has_a_plain_call() -> None:
    assert_equal_sets(
        METHODS, PLAIN, "frame method", "add a call to PLAIN in tests/support/plain_calls.py"
    )


def test_every_lazy_method_has_a_query() -> None:
    recorder = Recorder()
    for _, call in QUERIES.values():
        call(recorder)
    lazy = {n for n in METHODS if inspect.signature(getattr(LazyFramePrc, n)).return_annotation == "F"}
    assert lazy, "no method is annotated to return the kind of frame that it is given"
    assert_equal_sets(
        lazy, recorder.called, "lazy method", "add queries of it to QUERIES in tests/support/queries.py"
    )


def test_the_page_of_methods_lists_every_frame_method() -> None:
    table = page("docs/methods.md").partition("## Which expression?")[0]
    first = " ".join(re.findall(r"^\| ([^|]*) \|", table, flags=re.M))
    listed = set(re.findall(r"`(\w+)`", first)) - {"method"}
    remedy = "add it to the table on top of docs/methods.md"
    assert_equal_sets(METHODS | {"report", "decide"}, listed, "frame method", remedy)


# Arguments ------------------------------------------------------------------------------------


def test_every_public_function_is_tried_with_wrong_arguments() -> None:
    def public(owner: type) -> set[str]:
        return {name for name in vars(owner) if not name.startswith("_")}

    named = {name: getattr(polars_prcurve, name) for name in polars_prcurve.__all__}
    functions = {f"function.{name}" for name, value in named.items() if inspect.isfunction(value)}
    functions |= {
        f"function.{name}.{method}"
        for name, owner in named.items()
        if inspect.isclass(owner)
        for method in public(owner)
        if isinstance(vars(owner)[method], classmethod)
    }
    makers = {f"metrics.{name}" for name, value in DECLARED_BY_NAME.items() if inspect.isfunction(value)}
    drawn = {f"plot.{name}" for name in public(PlotPrc)} | {f"charts.{name}" for name in CHARTS}
    offered = (
        METHODS | {"decide"} | {f"expr.{name}" for name in public(ExprPrc)} | functions | makers | drawn
    )
    offered |= {*OTHERS}
    remedy = "add a plain call of it to tests/support/arguments.py"
    assert_equal_sets(
        offered, list_calls(), "function", f"{remedy}; of a chart, to PLOTS and list_charts"
    )


# Charts ---------------------------------------------------------------------------------------


def test_every_chart_is_drawn_of_odd_tables() -> None:
    assert not set(DRAW) & DRAWN_APART
    assert_equal_sets(
        CHARTS,
        {*DRAW, *DRAWN_APART},
        "chart",
        "add a drawing of it to DRAW in tests/support/drawings.py",
    )


def test_every_chart_has_a_method_of_plot() -> None:
    methods = {name for name in vars(PlotPrc) if not name.startswith("_")}
    assert_equal_sets(CHARTS, methods, "chart", "add a method of its name to PlotPrc")


def test_the_page_of_methods_lists_every_chart() -> None:
    [row] = [line for line in page("docs/methods.md").splitlines() if line.startswith("| `plot.")]
    remedy = "add it to the row of charts in docs/methods.md"
    assert_equal_sets(CHARTS, re.findall(r"`(?:plot)?\.(\w+)`", row), "chart", remedy)


def test_the_page_of_charts_lists_and_shows_every_chart() -> None:
    text = page("docs/charts.md")
    listed = re.findall(r"<code>(\w+)</code>", text)
    remedy = "add it to the gallery on top of docs/charts.md, and a section with an example below"
    assert_equal_sets(CHARTS, listed, "chart", remedy)
    shown = set(
        re.findall(r"images/(\w+)\.png", "".join(page(f"docs/{p}.md") for p in ("charts", "binormal")))
    )
    for name in sorted(CHARTS):
        where = "add an example and its image to docs/charts.md, then run examples/gallery.py"
        assert name in shown, f"docs show no image of the chart {name!r}: {where}"
        image = ROOT / "docs" / "images" / f"{name}.png"
        assert image.exists(), f"there is no docs/images/{name}.png: run examples/gallery.py"


# The command line -----------------------------------------------------------------------------


def test_the_page_of_the_command_line_lists_every_command() -> None:
    table = page("docs/command-line.md").partition("\n## Commands")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([\w-]+)` \|", table, flags=re.M)
    remedy = "add it to the table under 'Commands' in docs/command-line.md"
    assert_equal_sets(COMMANDS.choices, listed, "command", remedy)


def test_the_page_of_the_command_line_explains_options_that_are_no_argument() -> None:
    """All others are called as the argument of the method, and `--help` lists them."""
    every, own = set(), set()
    for parser in COMMANDS.choices.values():
        arguments = {*options.list_parameters(parser.get_default("method")), *TABLE_WORDS}
        flags = {name for action in parser._actions for name in action.option_strings}
        every |= flags - {"-h", "--help"}
        own |= {name for name in flags if name.lstrip("-").replace("-", "_") not in arguments}
    table = page("docs/command-line.md").partition("## Options that are not arguments")[2]
    rows = re.findall(r"^\| (`-[^|]*) \|", table, flags=re.M)
    listed = {option for row in rows for option in re.findall(r"(?<=`)--?[a-z-]+", row)}
    remedy = "the table under 'Options that are not arguments' in docs/command-line.md"
    assert_equal_sets(every & (own | listed), listed, "option", remedy)


def test_the_page_of_the_command_line_says_what_only_python_has() -> None:
    table = page("docs/command-line.md").partition("## What only Python has")[2]
    rows = re.findall(r"^\| (`[^|]*`) \|", table, flags=re.M)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    asked = {parser.get_default("method") for parser in COMMANDS.choices.values()}
    without = (METHODS | {"plot", "report"}) - asked
    remedy = "the table under 'What only Python has' in docs/command-line.md"
    assert_equal_sets(without, listed, "method without a command", remedy)


def test_a_command_has_an_option_for_each_argument_of_its_method() -> None:
    for name, parser in COMMANDS.choices.items():
        has = {action.dest for action in parser._actions}
        lacking = {*options.list_parameters(parser.get_default("method"))} - has
        assert not lacking, f"{name} has no option for {sorted(lacking)}: describe it in cli/options.py"


# The tests themselves -------------------------------------------------------------------------


def test_tests_do_not_import_each_other() -> None:
    importing = re.compile(
        r"^ *(?:from tests import .*\btest_|(?:from|import) tests\.test_).*", re.MULTILINE
    )
    for path in sorted((ROOT / "tests").rglob("*.py")):
        found = importing.findall(path.read_text(encoding="utf-8"))
        assert not found, f"{path.name} has {found}: move what they share to tests/support/"


def test_the_page_of_the_tests_names_every_file() -> None:
    listed = set(re.findall(r"`(test_\w+)`", page("tests/README.md")))
    files = {path.stem for path in (ROOT / "tests").glob("test_*.py")}
    assert_equal_sets(files, listed, "test file", "say in tests/README.md which promise it holds")
