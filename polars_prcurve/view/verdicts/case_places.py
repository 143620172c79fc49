"""Where cases are, in words: their groups and their prevalences."""

from __future__ import annotations

from collections.abc import Sequence

from polars_prcurve.core.ground.message_text import join_words, name_groups
from polars_prcurve.core.judging.case import Case
from polars_prcurve.view.words.names_in_sentences import name_group
from polars_prcurve.view.words.number_words import map_etas


def name_unit(cases: Sequence[Case], *, is_plural: bool = True) -> str:
    """Return what the cases are: "sites", "groups", "prevalences", "groups and prevalences"."""
    n_groups = len({tuple(case.groups.values()) for case in cases})
    if n_groups < 2:
        return "prevalences" if is_plural else "prevalence"
    has_named_groups = not any(
        isinstance(value, bool) for case in cases for value in case.groups.values()
    )
    singular_noun, plural_noun = name_groups(list(cases[0].groups) if has_named_groups else [])
    if n_groups < len(cases):
        return f"{plural_noun} and prevalences"
    return plural_noun if is_plural else singular_noun


def say_places(cases: Sequence[Case], quantifier: str) -> str:
    """Return in how many of several cases: `in all 4 sites`, `at both prevalences`."""
    n_cases, unit_noun = len(cases), name_unit(cases)
    number_text = "both" if n_cases == 2 and quantifier == "all" else f"{quantifier} {n_cases}"
    return f"{'at' if unit_noun == 'prevalences' else 'in'} {number_text} {unit_noun}"


def name_own_group(case: Case) -> str:
    """Return the group of a case: "Cork", of several columns "day 2 (Cork)"; empty without groups."""
    first_group_name, *other_group_names = [
        name_group(column, value) for column, value in case.groups.items()
    ] or [""]
    return (
        f"{first_group_name} ({', '.join(other_group_names)})" if other_group_names else first_group_name
    )


def join_places(cases: Sequence[Case], case_names: Sequence[str]) -> str:
    """Return which of several cases, by their names: `for Cork and Lund`, `at 1 in 50`."""
    preposition = "for" if any(case.groups for case in cases) else "at"
    return f"{preposition} {join_words(case_names)}"


def name_case(case: Case, eta_text: str, separator: str = ", ") -> str:
    """Return the name of a case, from its group and its prevalence in words: `Algeria, 1 in 15`."""
    return separator.join(filter(None, [name_own_group(case), eta_text]))


def name_etas(cases: Sequence[Case], *, is_in_sentence: bool = False) -> list[str]:
    """Return the prevalence of each case in words; empty if all have the same.

    In a sentence it is empty, too, where the group of each case names it.
    """
    n_groups = len({tuple(case.groups.values()) for case in cases})
    has_etas = len({case.eta for case in cases}) > 1
    if is_in_sentence and n_groups == len(cases) > 1:
        has_etas = False
    text_of_eta = map_etas(case.eta for case in cases if has_etas)
    return [text_of_eta.get(case.eta, "") if case.eta else "" for case in cases]
