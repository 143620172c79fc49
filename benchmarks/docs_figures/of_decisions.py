"""Figures of docs/verdicts.md: how often verdicts are wrong, and how often they find a lead."""

from __future__ import annotations

import polars as pl
from polars import col

from .held import Sentence, Stored, count, least, mean, most

PAGE, VERDICTS = "verdicts", Stored("verdicts")
what, IS_ALONE = col("what"), col("n_models") == 1
MAY_MISS = col("goal").is_in(["recall 0.5, precision 0.13", "precision 0.3, promised"])
SIZES = (20, 100, 500, 2_000)


def hold_truth(label: str, *which: pl.Expr) -> Sentence:
    """Return a row of what is true: cells, and the greatest and the mean share of wrong verdicts."""
    figures = (count(*which), most("wrong", *which), mean("wrong", *which))
    return Sentence(PAGE, f"| {label} | {{}} | {{}} | {{}} |", *map(VERDICTS, figures))


def hold_lead(label: str, lead: str, goal: str) -> Sentence:
    """Return a row of how often a lead is detected, with a column for each number of positives."""
    is_row = (what == f"lead of {lead} d'") & (col("goal") == goal)
    found = (least("winner", is_row, col("n_pos") == size) for size in SIZES)
    gaps = " | ".join(["{:.0f}"] * len(SIZES))
    return Sentence(PAGE, f"| {label} | {lead} | {gaps} |", *map(VERDICTS, found))


FIGURES: list[Sentence] = [
    Sentence(
        PAGE,
        "calls `decide` on {} to {} test sets in each of {} settings.",
        *map(VERDICTS, (col("n_sets").min(), col("n_sets").max(), count(col("cell") >= 0))),
    ),
    hold_truth("5 equal models", what == "5 equal models"),
    hold_truth("2 equal models", what == "2 equal models", ~MAY_MISS),
    hold_truth("2 equal models, of which one may miss a target", what == "2 equal models", MAY_MISS),
    hold_truth("2 models of different shapes, equal at the target", what == "unlike shapes"),
    hold_truth("one random classifier", what == "coins", IS_ALONE),
    hold_truth("2 or 5 random classifiers", what == "coins", ~IS_ALONE),
    hold_truth("one model of two is better", what.str.starts_with("lead")),
    *(hold_lead("`recall=0.5`", lead, "recall 0.5") for lead in ("0.25", "0.5", "1")),
    *(hold_lead("none", lead, "none") for lead in ("0.25", "0.5", "1")),
]
