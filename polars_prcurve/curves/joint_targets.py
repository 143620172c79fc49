"""Several targets that one threshold must meet together, such as a budget of alerts and a precision.

Without a guarantee each row tells whether it meets all of them. With one, each target has a stretch of
rows for which its promise holds, and the stretches have rows in common, or none:

    target   ->  first and last row of its stretch
    targets  ->  the rows from the last of the first ones to the first of the last ones

The lowest threshold of those has the most recall. Each promise may be broken with its share of the
error, so all of them hold with the level that was asked (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import polars as pl

from polars_prcurve.argument_kinds import read_flag
from polars_prcurve.curves.guarantees import promise_targets
from polars_prcurve.curves.targets import (
    ROW_NUMBER,
    Extreme,
    Promise,
    RowTest,
    Search,
    Target,
    choose_last,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable
from polars_prcurve.metrics.curve_metric import Rows
from polars_prcurve.prevalence.eta_table import EtaTable

_FIRST_ROW, _LAST_ROW = "first_row", "last_row"
_Found = Callable[[str], pl.Expr]
"""A function from the name of an extreme to its column."""


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
    return Target(
        " & ".join(target.criterion for target in targets),
        None,
        _join_searches(targets, promises) if promises else choose_last(_pass_all(tests)),
        any(target.depends_on_eta for target in targets),
        rate=next((target.rate for target in targets if target.rate is not None), None),
        promise=_join_promises(promises) if promises else None,
    )


def _pass_all(tests: Sequence[RowTest]) -> RowTest:
    return lambda rows: pl.all_horizontal(test(rows) for test in tests)


def _join_promises(promises: Sequence[Promise]) -> Promise:
    """Return the promise of the common stretch, which needs the most examples that any of them does."""
    n_pos = _join_counts([promise.n_pos_needed for promise in promises])
    n_neg = _join_counts([promise.n_neg_needed for promise in promises])
    level, alpha = promises[0].level, promises[0].alpha
    in_field = any(promise.in_field for promise in promises)
    return Promise(level, alpha, None, True, in_field=in_field, n_pos_needed=n_pos, n_neg_needed=n_neg)


_Needed = Callable[[pl.Expr, pl.Expr], pl.Expr]
"""A function from the size of the other class and eta to the number of examples needed."""


def _join_counts(counts: Sequence[_Needed | None]) -> _Needed | None:
    """Return the function that counts the most that any of them does; None if there is none."""
    given = [count for count in counts if count is not None]
    return (lambda n, eta: pl.max_horizontal(count(n, eta) for count in given)) if given else None


def _join_searches(targets: Sequence[Target], promises: Sequence[Promise]) -> Search:
    """Return the search for the last row of the stretch that all targets have in common."""

    def find_extremes(rows: Rows) -> dict[str, Extreme]:
        number = rows.column(ROW_NUMBER)
        found = {_FIRST_ROW: Extreme(number, False), _LAST_ROW: Extreme(number)}
        for place, target in enumerate(targets):
            of_target = target.search.extremes(rows)
            found |= {_name(place, name): extreme for name, extreme in of_target.items()}
        return found

    def find_stretch(found: _Found) -> tuple[pl.Expr, pl.Expr]:
        first, last = [found(_FIRST_ROW)], [found(_LAST_ROW)]
        for place, (target, promise) in enumerate(zip(targets, promises, strict=True)):
            of_target = partial(_read, found, place)
            ends = (last, first) if promise.holds_above else (first, last)
            ends[0].append(target.search.row(of_target))
            if promise.run_start is not None:
                ends[1].append(of_target(promise.run_start))
        # max_horizontal skips nulls, and a target that no row meets is one.
        known = pl.all_horizontal(row.is_not_null() for row in (*first, *last))
        top, bottom = pl.max_horizontal(first), pl.min_horizontal(last)
        shared = known & (top <= bottom)
        return pl.when(shared).then(top), pl.when(shared).then(bottom)

    return Search(
        find_extremes,
        lambda found: find_stretch(found)[1],
        _join_steps([target.search.steps for target in targets]),
        lambda found: find_stretch(found)[0],
    )


def _name(place: int, name: str) -> str:
    return f"{name}_{place}"


def _read(found: _Found, place: int, name: str) -> pl.Expr:
    return found(_name(place, name))


def _join_steps(
    steps: Sequence[Sequence[Callable[[Rows], Mapping[str, pl.Expr]]]],
) -> list[Callable[[Rows], Mapping[str, pl.Expr]]]:
    """Return the steps of all targets, the first ones as one step, then the second ones."""

    def add_all(adds: Sequence[Any], rows: Rows) -> dict[str, pl.Expr]:
        return {name: value for add in adds if add for name, value in add(rows).items()}

    return [partial(add_all, adds) for adds in zip_longest(*steps)]
