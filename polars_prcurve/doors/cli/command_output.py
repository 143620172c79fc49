"""What a command writes: rows of its method, a table for people, or a decision and its documents."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import polars as pl

from polars_prcurve.core.comparison.model_pairs import find_lacking_groups, keep_first_model
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.progress import is_watched, print_beside, show_seconds
from polars_prcurve.core.ground.query_guards import run_query
from polars_prcurve.core.ground.visible_names import make_visible, shorten_name
from polars_prcurve.core.judging.status_names import STATUSES
from polars_prcurve.doors.cli import table_files
from polars_prcurve.doors.cli.method_call import as_list, open_tables
from polars_prcurve.doors.cli.options import list_parameters, spell_name
from polars_prcurve.doors.cli.printing import collect_shown_rows, print_note, print_rows, print_text
from polars_prcurve.view.report.result_notes import (
    describe_lacking_group,
    describe_pairs,
    describe_result,
)

Options = Mapping[str, Any]  # what the options of a command mean, by their names


def run_command(args: argparse.Namespace, options: Options) -> bool:
    """Run a method, and write what it returns; return whether --fail-unless holds."""
    write = write_decision if args.method == "decide" else write_table
    is_mixed = options.get("output") == table_files.STDIO and sys.stdout.isatty()
    label = f"{spell_name(args.method)} of {shorten_name(make_visible(args.input), 40)}"
    # Seconds are not shown on a terminal to which rows go.
    with ExitStack() as work:
        if not is_mixed:
            work.enter_context(show_seconds(label))
        has_passed = write(args, options, work)
    for name in ("output", "report", "page"):
        if options.get(name, table_files.STDIO) != table_files.STDIO and is_watched():
            print_beside(f"wrote {options[name]}")
    return has_passed


def write_table(args: argparse.Namespace, options: Options, work: ExitStack) -> bool:
    """Run a method that makes a table, and write its rows; return whether --fail-unless holds."""
    write = _choose_output(options)
    table, arguments, layout = open_tables(args, options)
    if "columns" in list_parameters(args.method):
        arguments.setdefault("columns", "short" if write is None else "all")
    result = getattr(table, args.method)(**arguments)
    if "guarantee" in arguments or "fail_unless" in options:  # few rows, which are read twice
        result = run_query(result.lazy())
    if isinstance(result, pl.DataFrame):
        for sentence in describe_result(result, layout.by):
            print_note(sentence)
    has_passed = "fail_unless" not in options or _pass_gate(result, options, layout.by)
    joined_lists = pl.selectors.by_dtype(pl.List).cast(pl.List(pl.String)).list.join(",")
    query = result.lazy().with_columns(joined_lists)  # a list of models is one word
    if write is not None:
        write(query)
        return has_passed
    shown_rows = collect_shown_rows(query)
    work.close()
    print_rows(*shown_rows, layout)
    if args.method in ("ranking", "crossings") and layout.level is None:
        print_text("No lead was tested; ranking --confidence 95% shows which models may be best.")
    return has_passed


def write_decision(args: argparse.Namespace, options: Options, work: ExitStack) -> bool:
    """Print a decision, or write its rows, and documents; return whether it is one of --fail-unless."""
    from polars_prcurve.view.report.html_and_svg import check_page_path

    write = _choose_output(options) if "output" in options else None
    for name in ("report", "page"):
        if name in options:
            check_page_path(options[name])
    table, arguments, _ = open_tables(args, options)
    decision = table.decide(**arguments)
    has_passed = "fail_unless" not in options or _pass_gate(decision, options)
    texts = {name: options[name] for name in ("title", "date", "notes") if name in options}
    if "report" in options:
        decision.report(options["report"], **texts)
    texts.pop("notes", None)
    if "page" in options:
        decision.page(options["page"], **texts)
    work.close()
    if write is None:
        print_text(decision.say(hint="; -o FILE writes every column"))
    else:
        verdicts = decision.verdicts.drop("models", "reasons", "would_settle")
        keys = [name for name in verdicts.columns if name in decision.table.columns]
        write(decision.table.join(verdicts, on=keys, how="left", nulls_equal=True).lazy())
        print_note(decision.verdict.sentence)
    return has_passed


def _pass_gate(result: Any, options: Options, by: Sequence[str] = ()) -> bool:
    """Return whether a table or a decision is as required; of models print which are compared."""
    words = as_list(options["fail_unless"])
    if not isinstance(result, pl.DataFrame):
        if "met" in words and not result.has_demand:
            raise PrcError(
                "pass a target, such as --precision, and --threshold or --guarantee: --fail-unless "
                "met tests whether that threshold meets the target"
            )
        verdict = result.verdict
        truth_by_word: dict[str, bool] = {name: verdict.status == name for name in STATUSES}
        truth_by_word["met"] = verdict.met is True
        return any(_look_up(words, truth_by_word, "statuses, such as met or winner"))
    has_rows = not result.is_empty()  # whatever holds in all of no rows has not been tested
    if not has_rows:
        print_note("the table has no rows")
    if "alarm" in result.columns:
        has_no_alarm = has_rows and not result["alarm"].fill_null(True).any()
        return all(_look_up(words, {"no_alarm": has_no_alarm}, "no_alarm"))
    first_model_rows = keep_first_model(result)
    group_columns = [name for name in by if name in result.columns]
    lacking_groups = find_lacking_groups(result, first_model_rows, group_columns)
    for group in lacking_groups:
        print_note(describe_lacking_group(group, first_model_rows["model_a"][0]))
    is_tested = has_rows and not lacking_groups
    names = [name for name in ("significant", "not_worse") if name in result.columns]
    truth_by_word = {name: is_tested and first_model_rows[name].fill_null(False).all() for name in names}
    truths = _look_up(words, truth_by_word, "not_worse, with --margin, or significant")
    for name in words:
        for sentence in describe_pairs(first_model_rows, name, options.get("margin")):
            print_note(sentence)
    return all(truths)


def _look_up(words: Sequence[str], truth_by_word: Mapping[str, bool], expected: str) -> list[bool]:
    """Return which words of `--fail-unless` hold; raise for one that the result does not have."""
    if unknown_words := [word for word in words if word not in truth_by_word]:
        raise PrcError(f"--fail-unless takes {expected}; got {unknown_words[0]}")
    return [truth_by_word[word] for word in words]


def _choose_output(options: Options) -> Callable[[pl.LazyFrame], None] | None:
    """Return the function that writes rows to a path, or None for a table on a terminal."""
    path = options.get("output")
    if path is None and sys.stdout.isatty():
        return None
    if path is None or path == table_files.STDIO:
        return table_files.write_csv
    return table_files.build_writer(path)  # raises at once if it cannot be written
