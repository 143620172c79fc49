"""Write down what the package answers, so that two versions of it are compared to the last bit.

    python -m tests.answers before.txt                                      in the tree as it was
    python -m tests.answers after.txt && diff before.txt after.txt          in the tree as it is

A line is an answer and the digest of all its bits: a table, a chart, the documents of a decision, or an
error. What is asked is what `support/` lists: queries on each engine, all public functions with right
and with wrong arguments, commands, numbers of papers, and each group of random tables.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polars_prcurve import prc
from tests.support.arguments import wrong_values
from tests.support.new_entries import (
    VALUES,
    answer,
    list_all_calls,
    list_variants,
    run_command,
    show,
)
from tests.support.plain_calls import DF
from tests.support.queries import QUERIES
from tests.support.random_questions import ask_all, make_tables
from tests.support.random_tables import draw_batch

PAPERS = Path(__file__).parent.parent / "examples" / "papers"
N_BATCHES, N_TABLES = 12, 100
DEAR = ("plot.", "decide", "report")
"""What draws or judges, which takes long, is asked with right arguments alone."""


def digest(result: Any) -> str:
    """Return a text that differs where a bit of a result does."""
    if isinstance(result, dict):
        return digest([f"{name} {digest(part)}" for name, part in result.items()])
    if isinstance(result, pl.DataFrame):
        result = [result.schema, *result.rows()]
    return hashlib.sha256(repr(result).encode()).hexdigest()[:16]


def clean(name: str) -> str:
    """Return a name on one line, without addresses of functions."""
    return re.sub(r" at 0x\w+", "", " ".join(name.split()))


def ask_queries() -> Iterator[tuple[str, Any]]:
    """Yield the answer of each query, eager, lazy and streaming."""
    for name, (table, call) in QUERIES.items():
        yield f"{name}, eager", call(prc(table))
        for engine in ("in-memory", "streaming"):
            yield f"{name}, {engine}", call(prc(table.lazy())).collect(engine=engine)


def ask_calls() -> Iterator[tuple[str, Any]]:
    """Yield what each function answers to its variants, and to wrong values in turn."""
    number = count()
    wrong = list(wrong_values())
    for name, call in list_all_calls().items():
        plain = call.plain | ({"seed": 1} if name == "subsample_negatives" else {})
        for variant in list_variants(name, call):
            targets = [{word: VALUES[word]} for word in ("npv", "fpr") if word in call.arguments()]
            for target in [{}, *targets]:
                yield f"{name}({variant | target})", answer(call, {**plain, **variant, **target})
        for argument in call.arguments() if not any(word in name for word in DEAR) else []:
            for _ in range(3):
                kind, value = wrong[next(number) % len(wrong)]
                if kind != "generator":
                    yield f"{name}({argument}={kind})", answer(call, {**plain, argument: value})


def ask_commands() -> Iterator[tuple[str, Any]]:
    """Yield what commands print."""
    DF.with_columns(pl.col("label").cast(pl.Int8)).write_csv("table.csv")
    for command in ("counts", "sweep", "curve", "summary", "operating-points", "ranking", "decide"):
        for words in (
            "",
            "--eta 0.1",
            "--eta 0.1 --recall 0.5",
            "--by day",
            "--confidence 0.9",
            "--eta 2",
        ):
            yield f"{command} {words}", run_command(command, "table.csv", *words.split())


def ask_papers() -> Iterator[tuple[str, Any]]:
    """Yield each number of the papers that are reproduced."""
    subprocess.run([sys.executable, PAPERS, "papers", "--fast"], check=True, stdout=subprocess.DEVNULL)
    for number, line in enumerate(Path("papers", "numbers.csv").read_text("utf-8").splitlines()):
        yield f"papers, number {number}", line


def ask_random_tables() -> Iterator[tuple[str, Any]]:
    """Yield what methods answer to each of random tables, which are groups of one."""
    for seed in range(N_BATCHES):
        rng = np.random.default_rng(seed)
        batch = draw_batch(rng, N_TABLES)
        for number, question in enumerate(ask_all(rng, batch)):
            rows_by_key: dict[Any, list[Any]] = {key: [] for key in make_tables(batch)}
            for row in question.ask(batch).iter_rows(named=True):
                rows_by_key[batch.key(row)].append(row)
            for key, rows in rows_by_key.items():
                yield f"seed {seed}, question {number}, {key}", rows


def main(path: str) -> int:
    """Write a line for each answer into a file, and return how many there are."""
    os.environ["PYTHONPATH"] = str(PAPERS.parent.parent)
    asks = (ask_queries, ask_calls, ask_commands, ask_papers, ask_random_tables)
    place = Path.cwd()
    with Path(path).open("w", encoding="utf-8") as file, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        lines = [f"{clean(name)}: {digest(show(found))}\n" for ask in asks for name, found in ask()]
        os.chdir(place)
        file.writelines(lines)
    return len(lines)


if __name__ == "__main__":
    print(main(sys.argv[1]), "answers")
