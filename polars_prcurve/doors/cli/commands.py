"""The commands: the method that each calls, and what it writes: rows, a table for people, documents."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from typing import TYPE_CHECKING

import polars as pl

from polars_prcurve.core.ground.errors import PrcError, suggest_names
from polars_prcurve.core.ground.progress import is_watched, print_beside, show_seconds
from polars_prcurve.core.ground.value_checks import run_query
from polars_prcurve.core.ground.visible_names import make_visible, shorten_name
from polars_prcurve.core.judging.status_names import STATUSES
from polars_prcurve.core.prevalence.estimated_eta import describe_refuted_estimates
from polars_prcurve.doors.cli import table_files
from polars_prcurve.doors.cli.method_call import MethodCall, as_list, read_command
from polars_prcurve.doors.cli.parser import Command, build_parser
from polars_prcurve.doors.cli.terminal_table import (
    Layout,
    collect_shown_rows,
    print_note,
    print_rows,
    print_text,
)
from polars_prcurve.view.verdicts.alarm_sentences import describe_alarms

if TYPE_CHECKING:
    from polars_prcurve.view.report.decision_result import Decision


def write_table(args: argparse.Namespace) -> int:
    """Run a command that makes a table, and write its rows; return 1 if --fail-unless is not so."""
    write, shown_rows, command = _choose_output(args.output), None, args.command
    with _show_work(args) as call:
        if "columns" in command.parameters:
            call.arguments.setdefault("columns", "short" if write is None else "all")
        flags = as_list(call.arguments.pop("fail_unless", None))
        result = getattr(call.table, command.method)(**call.arguments)
        if "guarantee" in call.arguments or flags:  # these rows are few, and read twice
            result = run_query(result.lazy())
        if isinstance(result, pl.DataFrame):
            _print_notes(result, call.groups)
        has_passed = not flags or _hold_all(result, flags, args)
        joined_lists = pl.selectors.by_dtype(pl.List).cast(pl.List(pl.String)).list.join(",")
        query = result.lazy().with_columns(joined_lists)  # a list of models is one word
        if write is None:
            shown_rows = collect_shown_rows(query)
        else:
            write(query)
    if shown_rows is not None:
        is_solved = call.arguments.get("solve_for") == "eta"
        answers = [*(["eta"] if is_solved else []), *command.columns.split()]
        print_rows(*shown_rows, Layout(call.groups, answers, call.level))
        if command.method in ("ranking", "crossings") and call.level is None:
            print_text("No lead was tested; ranking --confidence 95% shows which models may be best.")
    elif args.output not in (None, table_files.STDIO):
        _report_file(args.output)
    return 0 if has_passed else 1


def _hold_all(rows: pl.DataFrame, flags: Sequence[str], args: argparse.Namespace) -> bool:
    """Return whether each of these holds in all rows; of models print which are compared."""
    if args.command.method == "monitor":
        _check_flags(flags, ["no_alarm"], "no_alarm")
        return not rows["alarm"].fill_null(True).any()
    sentences = {"significant": "{model_a} differs significantly from {model_b}"}
    if "not_worse" in rows.columns:
        sentences["not_worse"] = f"{{model_a}} is not worse than {{model_b}} by more than {args.margin}"
    _check_flags(flags, sentences, "not_worse, with --margin, or significant")
    for name in flags:
        for pair_rows in rows.partition_by("model_a", "model_b", maintain_order=True):
            n_met, n_rows = pair_rows[name].sum(), pair_rows.height
            outcome = "met" if n_met == n_rows else f"met in {n_met} of {n_rows} rows"
            print_note(f"{sentences[name].format(**pair_rows.row(0, named=True))}: {outcome}")
    return all(rows[name].fill_null(False).all() for name in flags)


def _check_flags(flags: Sequence[str], valid_flags: Collection[str], valid_text: str) -> None:
    """Raise for a flag of `--fail-unless` that the rows do not have."""
    if unknown := [name for name in flags if name not in valid_flags]:
        raise PrcError(f"--fail-unless takes {valid_text}; got {unknown[0]}")


def _print_notes(rows: pl.DataFrame, groups: Sequence[str]) -> None:
    """Print alarms, and what is not as requested: targets that are not met, worthless prevalences."""
    for sentence in describe_alarms(rows) if "alarm" in rows.columns else ():
        print_note(sentence)
    if "guarantee" in rows.columns and (n_unmet := rows["threshold"].null_count()):
        print_note(
            f"{n_unmet} of {rows.height} rows have no threshold with this guarantee; n_pos_needed and "
            "n_neg_needed are the examples that even perfect scores need"
        )
    if "shift_p_value" in rows.columns:
        group_columns = [name for name in groups if name in rows.columns]
        for sentence in describe_refuted_estimates(rows, group_columns):
            print_note(sentence)


def write_report(args: argparse.Namespace) -> None:
    """Write the report on a table in files."""
    with _show_work(args) as call:
        path = call.table.report(args.output, **call.arguments)
    _report_file(path)


def write_decision(args: argparse.Namespace) -> int:
    """Print a decision, or write its rows, and documents; return 1 if it is none of --fail-unless."""
    from polars_prcurve.view.report.html_and_svg import check_page_path

    write = None if args.output is None else _choose_output(args.output)
    for path in filter(None, (args.report, args.page)):
        check_page_path(path)
    with _show_work(args) as call:
        wanted_statuses = as_list(call.arguments.pop("fail_unless", None))
        texts = {name: call.arguments.pop(name, None) for name in ("title", "date", "notes")}
        decision = call.table.decide(**call.arguments)
        has_passed = not wanted_statuses or _passes(decision, wanted_statuses)
        paths = [decision.report(args.report, **texts)] if args.report else []
        texts.pop("notes")
        paths += [decision.page(args.page, **texts)] if args.page else []
    if write is not None:
        verdicts = decision.verdicts.drop("models", "reasons", "would_settle")
        keys = [name for name in verdicts.columns if name in decision.table.columns]
        write(decision.table.join(verdicts, on=keys, how="left", nulls_equal=True).lazy())
        print_note(decision.verdict.sentence)
    else:
        print_text(decision.say(hint="; -o FILE writes every column"))
    for path in paths:
        _report_file(path)
    return 0 if has_passed else 1


def _passes(decision: Decision, wanted_statuses: Sequence[str]) -> bool:
    """Return whether a verdict has one of these statuses; `met` is that of the demand."""
    for status in wanted_statuses:
        if status not in STATUSES:
            names = suggest_names(status, STATUSES)
            raise PrcError(f"--fail-unless takes statuses, such as met or winner; {names}")
    if "met" in wanted_statuses and not decision.has_demand:
        raise PrcError(
            "pass a target, such as --precision, with --threshold (the one in use) or with "
            "--guarantee: --fail-unless met tests whether such a threshold meets its targets"
        )
    verdict = decision.verdict
    return verdict.status in {*wanted_statuses} - {"met"} or (
        "met" in wanted_statuses and verdict.met is True
    )


def _report_file(path: object) -> None:
    """Print which file was written, if a person watches."""
    if is_watched():
        print_beside(f"wrote {path}")


@contextmanager
def _show_work(args: argparse.Namespace) -> Iterator[MethodCall]:
    """Return the call of a command, and show its seconds, unless its rows go to the same terminal."""
    is_mixed = args.output == table_files.STDIO and sys.stdout.isatty()
    label = f"{args.command.name} of {shorten_name(make_visible(args.input), 40)}"
    with nullcontext() if is_mixed else show_seconds(label):
        yield read_command(args)


def _choose_output(path: str | None) -> Callable[[pl.LazyFrame], None] | None:
    """Return the function that writes rows to a path, or None for a table on a terminal."""
    if path is None and sys.stdout.isatty():
        return None
    if path is None or path == table_files.STDIO:
        return table_files.write_csv
    return table_files.build_writer(path)  # raises at once if it cannot be written


# The commands -----------------------------------------------------------------------------------

COMMANDS = [  # in the order of help, with the columns that a terminal shows first, and own options
    Command("decide", write_decision, "", "fail_unless report page title date notes"),
    Command("curve", write_table, "threshold value"),
    Command("summary", write_table, "value doubt"),
    Command("operating_points", write_table, "threshold precision value recall alerts true_alerts"),
    Command("decision_curve", write_table, "threshold_probability net_benefit treat_all"),
    Command("compare", write_table, "significant not_worse difference p_value", "fail_unless"),
    Command("ranking", write_table, "rank value behind may_be_best doubt"),
    Command("crossings", write_table, "eta value fpr recall model dominates on_hull"),
    Command("sample_size", write_table, "n_pos_needed n_neg_needed threshold"),
    Command("sampling_plan", write_table, "stratum n_next n n_labelled positive_share", "unlabelled"),
    Command("estimate_prevalence", write_table, "eta n shift_p_value converged"),
    Command("monitor", write_table, "value alarm since overall reference evidence", "fail_unless"),
    Command("reweight", write_table, "stratum weight"),
    Command("counts", write_table, "score n_pos n_neg n", "unlabelled"),
    Command("report", write_report, output="report.html"),
]


get_parser = cache(partial(build_parser, COMMANDS))  # of the command that is called, or of all
