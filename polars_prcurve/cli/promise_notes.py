"""What the command line says where no threshold keeps a promise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import polars as pl

_SHOWN = 5


def describe_unmet_promises(points: pl.DataFrame, by: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for the first rows of operating points that have no threshold, and a count."""
    unmet = points.filter(pl.col("threshold").is_null())
    for row in unmet.head(_SHOWN).to_dicts():
        where = "".join(f"{name} = {row[name]}, " for name in by) + f"eta {row['eta']:g}"
        target = f"{row['criterion']} {row['target']:g}"
        need = _describe_need(row["n_pos_needed"], row["n_neg_needed"])
        level = f"with a guarantee of {row['guarantee']:g}"
        yield f"{where}: no threshold keeps {target} {level}; {need}"
    if unmet.height > _SHOWN:
        yield f"{unmet.height - _SHOWN} more rows have no threshold either"


def _describe_need(n_pos: float | None, n_neg: float | None) -> str:
    """Return what even perfect scores need, and what it means if the table has it."""
    number, what = (n_pos, "positives") if n_neg is None else (n_neg, "negatives")
    if number is None:
        return "take a larger budget, or a larger test set"
    if math.isinf(number):
        return "no test set could prove it"
    text = f"{number:,.0f}".replace(",", " ")
    return (
        f"even perfect scores need {text} {what} (n_{what[:3]}_needed); if the table has as many, "
        "it is the scores"
    )
