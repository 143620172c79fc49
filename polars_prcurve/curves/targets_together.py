"""Several targets that one threshold must meet together, such as a budget of alerts and a precision.

Without a guarantee each row tells whether it meets all of them. With one, each target has a stretch of
rows for which its promise holds, and the stretches have rows in common, or none:

    target   ->  first and last row of its stretch
    targets  ->  the rows from the last of the first ones to the first of the last ones

The lowest threshold of those has the most recall. Each promise may be broken with its share of the
error, so all of them hold with the level that was asked (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from polars_prcurve.argument_kinds import read_flag
from polars_prcurve.curves.guarantees import promise_targets
from polars_prcurve.curves.targets import (
    ROW_NUMBER,
    Extreme,
    Needed,
    Promise,
    Search,
    Target,
    choose_last,
    merge_steps,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable
from polars_prcurve.metrics.curve_metric import Rows
from polars_prcurve.prevalence.eta_table import EtaTable

_FIRST_ROW, _LAST_ROW = "first_row", "last_row"


def promise_and_join(
    targets: Sequence[Target],
    table: InputTable,
    grid: EtaTable,
    *,
    guarantee: Any,
    start: Any,
    together: Any,
) -> list[Target]:
    """Return the targets as promised by `guarantee=`, and as one if all must be met `together`."""
    joined = _read_together(together, targets, start)
    promised = promise_targets(
        targets, guarantee, start, table, uncertain_eta=grid.uncertain, together=joined
    )
    return [join_targets(promised)] if joined else promised


def _read_together(together: Any, targets: Sequence[Target], start: object) -> bool:
    """Return whether one threshold is to meet all targets; raise if they cannot be met together."""
    if not read_flag("together=", together):
        return False
    for target in targets:
        if target.test is None:
            said = "threshold=" if target.criterion == "threshold" else "maximize="
            raise PrcError(
                f"together= looks for a threshold that meets all targets, and {said} is met by one "
                "alone; leave it out"
            )
    if len(targets) < 2:
        raise PrcError(
            f"together= joins several targets, and there is one, {targets[0].criterion}; leave "
            "together= out, or add a target"
        )
    if start is not None:
        raise PrcError("with together= each target has a start of its own; leave out start=")
    return True


def join_targets(targets: Sequence[Target]) -> Target:
    """Return the target that is met where all are; promised if they are promised."""
    promises = [target.promise for target in targets if target.promise is not None]
    tests = [target.test for target in targets if target.test is not None]
    search = choose_last(lambda rows: pl.all_horizontal(test(rows) for test in tests))
    return Target(
        " & ".join(target.criterion for target in targets),
        None,
        _join_searches(targets, promises) if promises else search,
        any(target.depends_on_eta for target in targets),
        rate=next((target.rate for target in targets if target.rate is not None), None),
        promise=_join_promises(promises) if promises else None,
    )


def _join_promises(promises: Sequence[Promise]) -> Promise:
    """Return the promise of the common stretch, which needs the most examples that any of them does."""

    def count_most(counts: Sequence[Needed | None]) -> Needed | None:
        given = [count for count in counts if count is not None]
        return (lambda n, eta: pl.max_horizontal(count(n, eta) for count in given)) if given else None

    return promises[0]._replace(
        end=None,
        holds_above=True,
        run_start=None,
        n_pos_needed=count_most([promise.n_pos_needed for promise in promises]),
        n_neg_needed=count_most([promise.n_neg_needed for promise in promises]),
    )


def _join_searches(targets: Sequence[Target], promises: Sequence[Promise]) -> Search:
    """Return the search for the last row of the stretch that all targets have in common."""

    def find_extremes(rows: Rows) -> dict[str, Extreme]:
        number = rows.column(ROW_NUMBER)
        found = {_FIRST_ROW: Extreme(number, False), _LAST_ROW: Extreme(number)}
        for place, target in enumerate(targets):
            of_target = target.search.extremes(rows)
            found |= {f"{name}_{place}": extreme for name, extreme in of_target.items()}
        return found

    def find_stretch(found: Callable[[str], pl.Expr]) -> tuple[pl.Expr, pl.Expr]:
        first, last = [found(_FIRST_ROW)], [found(_LAST_ROW)]
        for place, (target, promise) in enumerate(zip(targets, promises, strict=True)):

            def found_here(name: str, place: int = place) -> pl.Expr:
                return found(f"{name}_{place}")

            ends = (last, first) if promise.holds_above else (first, last)
            ends[0].append(target.search.row(found_here))
            if promise.run_start is not None:
                ends[1].append(found_here(promise.run_start))
        # max_horizontal skips nulls, and a target that no row meets is one.
        known = pl.all_horizontal(row.is_not_null() for row in (*first, *last))
        top, bottom = pl.max_horizontal(first), pl.min_horizontal(last)
        shared = known & (top <= bottom)
        return pl.when(shared).then(top), pl.when(shared).then(bottom)

    return Search(
        find_extremes,
        lambda found: find_stretch(found)[1],
        merge_steps(targets),
        lambda found: find_stretch(found)[0],
    )
