"""Where cases are, in words: their groups and their prevalences."""

from __future__ import annotations

from collections.abc import Sequence

from polars_prcurve.core.judging.case_status import Case
from polars_prcurve.view.words.number_words import say_eta, say_where
from polars_prcurve.view.words.value_names import name_group


def say_places(cases: Sequence[Case], quantifier: str = "") -> str:
    """Return where several cases are: in so many groups, at so many prevalences.

    `quantifier` stands before the number, as in `in all 4 groups` and `in any of 4 groups`.
    """
    n_cases, n_groups = len(cases), len({tuple(case.groups.values()) for case in cases})
    number = "both" if n_cases == 2 and quantifier == "all" else f"{quantifier} {n_cases}".strip()
    if n_groups == 1:
        return f"at {number} prevalences"
    return f"in {number} groups" if n_groups == n_cases else f"in {number} groups and prevalences"


def say_place(case: Case, *, has_eta: bool = True) -> str:
    """Return where a case is: its group, and its prevalence."""
    group_names = [name_group(column, value) for column, value in case.groups.items()]
    phrases = [f"in {', '.join(group_names)}"] if group_names else []
    if has_eta and case.eta is not None:
        phrases.append(say_where(case.eta))
    return " ".join(phrases)


def name_cases(cases: Sequence[Case]) -> list[str]:
    """Return the names of cases where they stand below each other: `Algeria, 1 in 15`."""
    has_etas = len({case.eta for case in cases}) > 1
    case_names = []
    for case in cases:
        name_parts = [name_group(column, value) for column, value in case.groups.items()]
        case_names.append(
            ", ".join([*name_parts, *([say_eta(case.eta)] if has_etas and case.eta else [])])
        )
    return case_names
