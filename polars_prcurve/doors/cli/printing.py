"""What a command prints: notes on standard error, texts and tables on standard output."""

from __future__ import annotations

import sys
from shutil import get_terminal_size

import polars as pl

from polars_prcurve.core.ground.progress import clear_line, is_watched, print_beside
from polars_prcurve.core.ground.query_guards import run_query
from polars_prcurve.core.ground.terminal_text import fill_lines
from polars_prcurve.view.report.result_text import Layout, format_table

ANSWERS_OF_METHOD = {  # of each command, in the order of help, the columns that stand first
    "decide": "",  # which has a table of its own
    "curve": "threshold value",
    "summary": "value doubt",
    "operating_points": "threshold precision value recall alerts true_alerts",
    "decision_curve": "threshold_probability net_benefit treat_all",
    "compare": "significant not_worse difference p_value",
    "ranking": "rank value behind may_be_best doubt",
    "crossings": "eta value fpr recall model dominates on_hull",
    "sample_size": "n_pos_needed n_neg_needed threshold",
    "sampling_plan": "stratum n_next n n_labelled positive_share",
    "estimate_prevalence": "eta n shift_p_value converged",
    "monitor": "value alarm since overall reference evidence",
    "reweight": "stratum weight",
    "counts": "score n_pos n_neg n",
}
PROGRAM = "polars-prcurve"  # the name of the command, which begins each line on standard error
_MOST_SHOWN_ROWS = 50  # more would scroll away what stands above the table
_MOST_SORTED_ROWS = 5_000  # results of at most this many rows are put in order before they are cut


def print_note(text: str) -> None:
    """Print a sentence on standard error: in one line, or as a terminal has room for."""
    clear_line()
    text = f"{PROGRAM}: {text}"
    lines = fill_lines(text, get_terminal_size().columns) if is_watched() else [text]
    print_beside("\n".join(lines))


def print_text(text: str) -> None:
    """Print a text; what the terminal has no character for becomes a question mark."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))


def collect_shown_rows(query: pl.LazyFrame) -> tuple[pl.DataFrame, int]:
    """Return the first rows of a query, by prevalence, then by metric or target, and how many it has."""
    result = run_query(query.head(_MOST_SORTED_ROWS + 1))  # one row more shows whether any are left out
    if result.height > _MOST_SORTED_ROWS:
        return result.head(_MOST_SHOWN_ROWS), run_query(query.select(pl.len())).item()
    criteria = {*result["criterion"]} if "criterion" in result.columns else set()
    if criteria == {"threshold"} and result["target"].n_unique() > 1:  # which thresholds repeat
        result = result.drop("target")
    keys = [name for name in ("eta", "metric", "criterion", "target") if name in result.columns]
    if len(keys) > 1 or "rank" in result.columns:
        result = result.sort(keys, nulls_last=True, maintain_order=True)
    return result.head(_MOST_SHOWN_ROWS), result.height


def print_rows(rows: pl.DataFrame, n_rows: int, layout: Layout) -> None:
    """Print a table that fits the terminal, and how much is left out."""
    lines, shown_columns = format_table(rows, layout, get_terminal_size().columns)
    print_text("\n".join(lines))
    counts = {"rows": (rows.height, n_rows), "columns": (len(shown_columns), rows.width)}
    omissions = [f"{n} of {n_all} {unit}" for unit, (n, n_all) in counts.items() if n < n_all]
    if omissions:
        sys.stdout.flush()
        print_note(f"{', '.join(omissions)}; -o FILE writes all, such as -o table.csv")
