"""Figures about verdicts: how often they are wrong, and how often they find a lead."""



from __future__ import annotations

import polars as pl
from polars import col

from .held import Grid, Held, Sentence, Stored, count, percent, show

PAGE = "decide"
VERDICTS = Stored("verdicts")
GOALS = ["recall 0.5", "none"]
IS_LEAD = col("what").str.starts_with("lead")


def name_truth() -> pl.Expr:
    """Return the truth of a cell in words."""
    coins = pl.when(col("n_models") == 1).then(pl.lit("one coin")).otherwise(pl.lit("2 or 5 coins"))
    lead = pl.lit("one model of two is better")
    unlike = pl.lit("two models, equal at the goal, of unlike shapes")
    equal = pl.when(col("what") == "unlike shapes").then(unlike).otherwise(col("what"))
    return pl.when(IS_LEAD).then(lead).when(col("what") == "coins").then(coins).otherwise(equal)


def sum_up_truths(found: pl.DataFrame) -> pl.DataFrame:
    """Return the greatest and the mean share of wrong verdicts, by what is true."""
    truths = found.group_by(name_truth().alias("truth"), maintain_order=True).agg(
        pl.len().cast(pl.String).alias("cells"),
        percent(col("wrong").max()).alias("most"),
        percent(col("wrong").mean()).alias("mean"),
    )
    return truths.select("truth", "cells", show("most"), show("mean"))


def sum_up_leads(found: pl.DataFrame) -> pl.DataFrame:
    """Return how often a lead is settled, by its size and by the number of positives."""
    leads = found.filter(IS_LEAD).with_columns(
        goal=col("goal").replace_strict({"recall 0.5": "`recall=0.5`", "none": "none"}),
        lead=col("what").str.strip_prefix("lead of "),
    )
    by_size = leads.pivot("n_pos", index=["goal", "lead"], values="settled", maintain_order=True)
    sizes = [name for name in by_size.columns if name not in ("goal", "lead")]
    return by_size.sort("goal", maintain_order=True).select(
        "goal", "lead", *(show(percent(size), 0).alias(size) for size in sizes)
    )


FIGURES: list[Held] = [
    Sentence(
        PAGE,
        "`python benchmarks/coverage.py verdicts` asks `decide` of {} test sets in each of {} cells.",
        VERDICTS(col("n_sets").min()),
        VERDICTS(count()),
    ),
    Grid(PAGE, "verdicts", "| in truth | cells | wrong, at most, % | on average, % |", sum_up_truths),
    Grid(
        PAGE, "verdicts", "| goal | lead | 20 positives, % | 100, % | 500, % | 2 000, % |", sum_up_leads
    ),
]
