"""Where cases are, in words: their groups and their prevalences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from polars_prcurve.core.ground.message_text import name_groups
from polars_prcurve.core.judging.case import Case
from polars_prcurve.view.verdicts.value_phrases import list_texts, name_model
from polars_prcurve.view.words.number_words import map_etas
from polars_prcurve.view.words.shown_names import name_group


def name_cases(cases: Sequence[Case], *, is_plural: bool = True) -> str:
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


def name_own_group(case: Case) -> str:
    """Return the group of a case: "Cork", of several columns "day 2 (Cork)"; empty without groups."""
    first_group_name, *other_group_names = [
        name_group(column, value) for column, value in case.groups.items()
    ] or [""]
    return (
        f"{first_group_name} ({', '.join(other_group_names)})" if other_group_names else first_group_name
    )


def name_eta(case: Case) -> str:
    """Return the prevalence of a case, as texts of its table write it; empty if all have the same."""
    if len(case.etas_of_table) < 2 or not case.eta:
        return ""
    return _map_etas(case.etas_of_table)[case.eta]


@lru_cache(maxsize=4)
def _map_etas(etas: tuple[float | None, ...]) -> dict[float, str]:
    return map_etas(etas)


def name_in_table(case: Case) -> str:
    """Return the name of a case where all stand below each other: `Algeria, 1 in 15`."""
    return ", ".join(filter(None, [name_own_group(case), name_eta(case)]))


def name_in_sentence(case: Case) -> str:
    """Return the name of a case in a sentence: `Algeria at 1 in 15`, or without if it has one."""
    group_name = name_own_group(case)
    is_named_by_group = group_name and case.is_only_one_of_group
    return group_name if is_named_by_group else " at ".join(filter(None, [group_name, name_eta(case)]))


def name_places(cases: Sequence[Case]) -> str:
    """Return where some cases are: `for a, b and 4 more`, or `at 1 in 50`."""
    preposition = "for" if any(case.groups for case in cases) else "at"
    return f"{preposition} {list_texts([*map(name_in_sentence, cases)])}"


def name_all(cases: Sequence[Case]) -> str:
    """Return all of several cases: `all 4 sites`, `both prevalences`."""
    return f"{'both' if len(cases) == 2 else f'all {len(cases)}'} {name_cases(cases)}"


def name_all_places(cases: Sequence[Case], claim: str) -> str:
    """Return that a claim holds in all of several cases: `in all 4 sites`, `at both prevalences`.

    What begins with "no" holds in any of them: `in any of the 4 sites`, `at either prevalence`.
    """
    preposition = "in" if cases[0].groups else "at"
    if not claim.lower().startswith(("no clear", "no threshold", "no significant")):
        return f"{preposition} {name_all(cases)}"
    has_two = len(cases) == 2
    quantifier = "either" if has_two else f"any of the {len(cases)}"
    return f"{preposition} {quantifier} {name_cases(cases, is_plural=not has_two)}"


def join_by_place(cases_by_text: Mapping[str, Sequence[Case]], cases: Sequence[Case]) -> str:
    """Return texts, each with the cases where it holds: `not sure for a; no threshold for b`."""
    clauses = []
    for text, cases_here in cases_by_text.items():
        is_everywhere = len(cases_here) == len(cases)
        place_phrase = name_all_places(cases, text) if is_everywhere else name_places(cases_here)
        clauses.append(f"{text} {place_phrase}")
    return "; ".join(clauses)


def list_all_names(cases: Sequence[Case]) -> set[str]:
    """Return the names of all models and groups, as sentences have them."""
    candidates = [candidate for case in cases for candidate in case.candidates]
    model_names = {name_model(candidate) for candidate in candidates if candidate.model}
    return model_names | {name_group(*group) for case in cases for group in case.groups.items()}
