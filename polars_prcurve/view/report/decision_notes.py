"""Notes of a document in words: what was tested, and what its intervals are of."""

from __future__ import annotations

import hashlib

import polars as pl
from polars import selectors

from polars_prcurve.core.ground.message_text import add_noun, format_count, name_groups
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
from polars_prcurve.core.judging.judgement import Judgement
from polars_prcurve.view.verdicts.case_places import name_cases
from polars_prcurve.view.words.number_words import (
    format_level,
    glue_numbers,
    say_computed_level,
    say_dropped_rows,
)
from polars_prcurve.view.words.shown_names import show_on_one_line, start_sentence


def describe_intervals(judgement: Judgement) -> str:
    """Return what the intervals are of, and at which level, or levels and why."""
    goal = judgement.goal
    basis_phrase = "at a threshold chosen on the test set, allowing for that choice"
    if goal.mean_over:
        basis_phrase = f"for means over {name_groups(goal.mean_over)[1]}, by Student's t distribution"
    elif goal.is_of_curve:
        basis_phrase = "for the model over all thresholds"
    elif goal.is_of_point:
        basis_phrase = "for this point"
    elif goal.is_at_threshold:
        basis_phrase = "at a threshold that was not chosen on these data"
    interval_name = start_sentence(name_interval(judgement, "intervals"))
    sentences = filter(None, [f"{interval_name} {basis_phrase}", describe_levels(judgement)])
    return " ".join(f"{sentence}." for sentence in sentences)


def name_interval(judgement: Judgement, noun: str = "interval") -> str:
    """Return what intervals are called, `95% interval`; without the level where tests have several."""
    level_texts = _list_levels(judgement)
    return noun if len(level_texts) > 1 else f"{level_texts[0]} {noun}"


def describe_levels(judgement: Judgement) -> str:
    """Return which levels tests of groups have, and why, in a sentence; empty if they have one."""
    level_texts = _list_levels(judgement)
    if len(level_texts) > 1:
        tests_text = f"{len(judgement.cases)} {name_cases(judgement.cases)}"
        return (
            f"Confidence levels are {' to '.join(level_texts)}, corrected for testing "
            f"{tests_text} (Holm 1979)"
        )
    test_level = judgement.evidence.test_level
    if judgement.has_one_model or test_level == judgement.confidence:
        return ""
    case_by_group = {tuple(case.groups.values()): case for case in judgement.cases}
    groups_text = f"{len(case_by_group)} {name_cases([*case_by_group.values()])}"
    level_text = say_computed_level(test_level)
    return (
        f"Differences between models have a level of {level_text}, corrected for {groups_text} "
        "(Bonferroni)"
    )


def _list_levels(judgement: Judgement) -> list[str]:
    """Return the level of the intervals; the lowest and the highest where tests have several."""
    levels = sorted(judgement.evidence.rows[EvidenceColumn.LEVEL]) if judgement.goal.is_gate else []
    if not levels:
        return [format_level(judgement.confidence)]
    return [*dict.fromkeys(map(say_computed_level, (levels[0], levels[-1])))]


def describe_test(judgement: Judgement, date_text: str | None) -> str:
    """Return a line on the test: its date, its size, and a hash of what it showed."""
    phrases = [] if date_text is None else [date_text]
    if judgement.cases:
        phrases.append(f"tested on {_describe_sizes(judgement)}")
    if judgement.dropped_rows is not None:
        phrases.append(say_dropped_rows(judgement.dropped_rows))
    # The start of the SHA-256 of the curves and areas below the judgement. CSV has neither dtype.
    csv_safe_exprs = [selectors.duration().cast(pl.Int64), selectors.binary().bin.encode("hex")]
    evidence_frames = (judgement.evidence.curves, judgement.evidence.areas)
    csv_text = "".join(
        evidence_frame.with_columns(csv_safe_exprs).write_csv() for evidence_frame in evidence_frames
    )
    phrases.append(f"data {hashlib.sha256(csv_text.encode()).hexdigest()[:12]}")
    return glue_numbers(start_sentence(" · ".join(phrases)))


def describe_dependence(judgement: Judgement) -> str:
    """Return which rows are treated as independent, in a sentence."""
    if judgement.clusters is None:
        return "Rows are treated as independent."
    cluster_column, _ = judgement.clusters
    return (
        f"Rows with the same {show_on_one_line(cluster_column)} are one cluster, and clusters are "
        "independent."
    )


def _describe_sizes(judgement: Judgement) -> str:
    """Return the numbers of examples, in how many groups; those of several classes are the same ones."""
    class_names = {tuple(case.groups.values())[-1] for case in judgement.cases if judgement.has_classes}
    shares_examples = len(class_names) > 1
    sizes_by_group = {
        tuple(case.groups.values())[: -1 if shares_examples else None]: (case.n_pos, case.n_neg)
        for case in judgement.cases
    }
    n_pos, n_neg = (
        round(sum(n_pos_and_n_neg)) for n_pos_and_n_neg in zip(*sizes_by_group.values(), strict=True)
    )
    n_pos_text, n_neg_text, n_text = map(format_count, (n_pos, n_neg, n_pos + n_neg))
    sizes_text = f"{add_noun(n_pos_text, 'positive')} and {add_noun(n_neg_text, 'negative')}"
    if shares_examples:
        sizes_text = add_noun(n_text, "example")
    elif judgement.goal.mean_over and n_neg == 0:  # which are not counted
        sizes_text = add_noun(n_pos_text, "positive")
    if len(sizes_by_group) > 1:
        sizes_text += f" in {len(sizes_by_group)} groups"
    if judgement.clusters is not None:
        cluster_column, n_clusters = judgement.clusters
        sizes_text += (
            f", from {add_noun(format_count(n_clusters), 'cluster')} "
            f"({show_on_one_line(cluster_column)})"
        )
    return (
        f"{sizes_text}; all count in each of {len(class_names)} classes"
        if shares_examples
        else sizes_text
    )
