"""Commands that write a report: of a table in files, and of a demonstration."""

from __future__ import annotations

import argparse

from polars_prcurve.cli.file_methods import FilePrc
from polars_prcurve.cli.notes import print_progress
from polars_prcurve.cli.read_command import check_output_path, read_command, report_dropped_rows
from polars_prcurve.cli.table_command import show_work
from polars_prcurve.errors import PrcError
from polars_prcurve.namespace import prc
from polars_prcurve.progress import show_seconds


def write_report(args: argparse.Namespace) -> None:
    """Write the report on a table in files."""
    check_output_path(args)
    with show_work(args):
        asked = read_command(args)
        report_dropped_rows(asked)
        path = FilePrc(asked.table).report(args.output, **asked.arguments)
    print_progress(f"wrote {path}")


def write_demo(args: argparse.Namespace) -> None:
    """Write a report on two classifiers that are trained here and now."""
    try:
        from polars_prcurve.cli.demo_digits import ETAS, NOTES, TITLE, build_digits_table
    except ImportError:
        raise PrcError('the demo needs scikit-learn: pip install "scikit-learn>=1.5"') from None
    with show_seconds("training two classifiers"):
        table = build_digits_table()
    with show_seconds("report"):
        path = prc(table).report(
            args.output, ETAS, model="model", id="scan", recall=0.8, title=TITLE, notes=NOTES
        )
    print_progress(f"wrote {path}")
