"""Try the package on random tables, as many as you like, against the exact definition.

    python -m tests.explore --seeds 0:1000 --tables 1000

A seed is a batch: this many tables as groups of one frame, and one call each of `counts` or a kind
of `sweep`, `curve`, `summary` and `operating_points`, with arguments drawn at random. Every group
of every result is compared with the oracle. One table in 100 is asked alone, too, and areas also as
means over groups; and there are as many tests of which rates are published as there are tables.
Equal seeds and numbers of tables draw equal batches, whatever the range, so disjoint ranges of seeds
may run side by side. `test_random_tables` tries a few.

A failure is shrunk to the rows that it needs and printed; the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from tests.support.random_questions import Question, ask_all, find_failures, make_tables, to_readable
from tests.support.random_tables import Batch, Key, draw_batch
from tests.support.random_ways import draw_alone, find_wrong_means, find_wrong_rates


@dataclass(frozen=True)
class Failure:
    """An answer that is not that of the oracle, on the fewest rows."""

    seed: int
    question: Question | str
    batch: Batch
    key: Key | None
    found: Any
    expected: Any

    def __str__(self) -> str:
        return "\n".join(
            [
                f"FAILURE seed {self.seed}, group {self.key}, {self.batch.form or 'examples'}",
                f"  {self.question}",
                f"  columns: {self.batch.columns}",
                f"  frame = {self.batch.frame.to_init_repr() if self.batch.frame.height < 100 else ...}",
                f"  found:    {self.found}",
                f"  expected: {to_readable(self.expected)}",
            ]
        )


def shrink(seed: int, question: Question, batch: Batch, key: Key | None, *of: Any) -> Failure:
    """The failure on the table alone, less each row that it can do without, where that fails, too."""

    def fails(part: Batch) -> tuple[Any, Any, Any] | None:
        return next(find_failures(question, part, make_tables(part)), None)

    failure = Failure(seed, question, batch, key, *of)
    if key is None:
        return failure
    alone = batch.isolate(key)
    again = fails(alone)
    if again is None:
        return failure
    row = 0
    while row < alone.frame.height and alone.frame.height > 1:
        less = alone.with_rows([i for i in range(alone.frame.height) if i != row])
        if found := fails(less):
            alone, again = less, found
        else:
            row += 1
    return Failure(seed, question, alone, key, *again[1:])


def try_batch(seed: int, n_tables: int, most: int = 3) -> Iterator[Failure]:
    """Draw the batch of a seed, ask, compare; of each question the first few failures."""
    rng = np.random.default_rng(seed)
    batch = draw_batch(rng, n_tables)
    tables = make_tables(batch)
    asked = [(batch, tables, question) for question in ask_all(rng, batch)]
    for alone, questions in draw_alone(rng, batch, max(1, n_tables // 100)):
        asked += [(alone, make_tables(alone), question) for question in questions]
    for part, part_tables, question in asked:
        failures = find_failures(question, part, part_tables)
        for key, found, expected in islice(failures, most):
            yield shrink(seed, question, part, key, found, expected)
    for wrong in (*find_wrong_means(rng, batch, tables), *find_wrong_rates(rng, n_tables)):
        yield Failure(seed, wrong.asked, batch, wrong.key, wrong.found, wrong.expected)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.explore", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--seeds", default="0:10", help="first:end, one batch per seed (default: 0:10)")
    parser.add_argument("--tables", type=int, default=1000, help="tables in a batch (default: 1000)")
    options = parser.parse_args(arguments)
    first, end = map(int, options.seeds.split(":"))
    start, done, failures = time.monotonic(), 0, 0
    for seed in range(first, end):
        for failure in try_batch(seed, options.tables):
            failures += 1
            print(failure, flush=True)
        done += options.tables
        if (seed - first) % 10 == 9 or seed == end - 1:
            rate = done / (time.monotonic() - start)
            print(f"seed {seed}: {done} tables, {rate:.0f} per second, {failures} failures", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
