"""How often intervals hold the truth, and thresholds what they promise: the simulations behind the docs.

    python benchmarks/coverage.py                       # lists the experiments
    python benchmarks/coverage.py bands missed_positives
    python benchmarks/coverage.py bands --sets 200      # shows a table of few test sets, stores none
    python benchmarks/coverage.py --all                 # hours
    python benchmarks/coverage.py --docs                # writes the stored figures into the docs

Each experiment draws test sets from populations whose rates are known, asks the library, and counts.
Its table is stored as `benchmarks/coverage/<experiment>.csv`, from which the docs take their figures.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import polars as pl
from experiments import EXPERIMENTS
from experiments.experiment import write_table


def run_experiment(name: str, n_sets: int | None) -> None:
    """Run an experiment, and store its table; show it instead if the number of test sets was given."""
    one, start = EXPERIMENTS[name], perf_counter()
    found = one.run(n_sets)
    if n_sets is None:
        write_table(one, found)
    else:
        with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=200):
            print(found)
    cells = len(one.cells)
    print(
        f"{name}: {cells} cells, {found.height} rows, {perf_counter() - start:.0f} seconds", flush=True
    )


def list_experiments() -> None:
    """Print what there is, and what is measured."""
    for name, one in EXPERIMENTS.items():
        what = (one.measure.__doc__ or "").splitlines()[0]
        print(f"{name:22} {len(one.cells):3} cells   {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of intervals, and broken promises.")
    parser.add_argument("names", nargs="*", metavar="experiment", help="without any: the list of them")
    parser.add_argument("--all", action="store_true", help="run all experiments")
    parser.add_argument("--sets", type=int, help="test sets a cell; then the table is shown, not stored")
    parser.add_argument("--docs", action="store_true", help="write the stored figures into the docs")
    given = parser.parse_args()
    names = list(EXPERIMENTS) if given.all else given.names
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"no experiment {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}")
    for name in names:
        run_experiment(name, given.sets)
    if given.docs:
        from docs_figures import write_docs

        write_docs()
    if not names and not given.docs:
        list_experiments()


if __name__ == "__main__":
    main()
