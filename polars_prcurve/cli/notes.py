"""What the command line says on standard error, beside the table."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from polars_prcurve.progress import clear_line

PROGRAM = "polars-prcurve"
_SHOWN = 5


def print_note(text: str) -> None:
    """Print a sentence on what the result lacks, whoever reads standard error."""
    clear_line()
    print(f"{PROGRAM}: {text}", file=sys.stderr)


def print_progress(text: str) -> None:
    """Print a line on what is done, if a person watches."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


# Promises that no threshold keeps ----------------------------------------------------------------


def describe_unmet_promises(points: pl.DataFrame, by: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for the first rows of operating points that have no threshold, and a count."""
    keys = [*by, "eta", "criterion", "target"]
    unmet = points.filter(pl.col("threshold").is_null()).unique(keys, keep="first", maintain_order=True)
    for row in unmet.head(_SHOWN).to_dicts():
        where = "".join(f"{name} = {row[name]}, " for name in by) + f"eta {row['eta']:g}"
        target = row["criterion"] + ("" if row["target"] is None else f" {row['target']:g}")
        need = _describe_need(row)
        level = f"with a guarantee of {row['guarantee']:g}"
        yield f"{where}: no threshold keeps {target} {level}; {need}"
    if unmet.height > _SHOWN:
        yield f"{unmet.height - _SHOWN} more rows have no threshold either"


def _describe_need(row: dict[str, Any]) -> str:
    """Return what even perfect scores need, and what it means if the table has it."""
    given = {"positives": row["n_pos_needed"], "negatives": row["n_neg_needed"]}
    needed = {what: n for what, n in given.items() if n is not None}
    if not needed:
        if row["criterion"] in ("alerts", "predicted_positive_rate"):
            return "take a larger budget, or a larger test set"
        return "promise less, or take a larger test set"
    if math.inf in needed.values():
        return "no test set could prove it"
    numbers = " and ".join(f"{n:,.0f} {what}".replace(",", " ") for what, n in needed.items())
    columns = ", ".join(f"n_{what[:3]}_needed" for what in needed)
    return f"even perfect scores need {numbers} ({columns}); if the table has as many, it is the scores"


# Sizes that cannot be told, or say little --------------------------------------------------------


def describe_needed_sizes(sizes: pl.DataFrame, delta: float | None) -> Iterator[str]:
    """Yield why sizes are missing, and that a band as wide as precision itself says little of it.

    `delta` is the width, or None if it is a share of the precision.
    """
    is_met = pl.col("recall").is_not_null()
    missing = sizes.filter(is_met & pl.col("n_neg_needed").is_null())
    if missing.height:
        rows = f"{missing.height} row{'' if missing.height == 1 else 's'}"
        yield (
            f"{rows} without numbers: no positive is found there, or no negative is flagged, so the "
            "table does not tell the rate that they depend on"
        )
    if "eta" not in sizes.columns or delta is None:
        return
    true, false = pl.col("recall") * pl.col("eta"), pl.col("fpr") * (1 - pl.col("eta"))
    precision = sizes.select((true / (true + false)).alias("precision"))["precision"].to_list()
    low = [value for value in precision if value is not None and 0 < value <= delta]
    if low:
        least, most = f"{min(low):.2g}", f"{max(low):.2g}"
        span = least if least == most else f"{least} to {most}"
        yield (
            f"precision is {span} in {len(low)} of {sizes.height} rows, so a band {delta:g} wide says "
            f"little of it; pass --relative, or a smaller --delta, such as {min(low) / 2:.1g}"
        )
