"""Examples that models share and that some of them never scored, as rows without a score.

    rows of all models -> lacking   the examples of a group that a model has no row for
    below= less those  -> rest      the examples that no model scored: one row per model and class

An example that a model lacks is among those that `below=` counts for it. With both, each model has all
examples of its group, and models are compared as on rows that were all there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.group_numbers import aggregate_by, join_groups
from polars_prcurve.inputs.score_table import MANY, NeverScored, ScoreTable, Tallies
from polars_prcurve.query_checks import Check, compose_sentence

_CLASSES = {c.POS: c.POS_BELOW, c.NEG: c.NEG_BELOW}
_KIND, _HAS_ROW = f"{c.RESERVED}kind", f"{c.RESERVED}has_row"
_TOO_FEW, _UNEQUAL = f"{c.RESERVED}too_few", f"{c.RESERVED}unequal_rest"


def complete_examples(table: ScoreTable, unscored: NeverScored) -> ScoreTable:
    """Return a table of several models with a row for each example of a group and model.

    What no model scored is one row per class, which counts as many examples.
    """
    amounts = {c.POS: table.columns[c.LABEL], c.NEG: ~table.columns[c.LABEL]}
    tests = {name: test.cast(pl.Int64) for name, test in table.tallies.tests.items()}
    given = {name: table.columns[name] for name in (c.SCORE, c.EXAMPLE)}
    counted = {name: amount.cast(pl.Int128) for name, amount in amounts.items()}
    rows = table.frame.select(*table.by_exprs, **given, **counted, **tests)
    rows = rows.with_columns(pl.lit(0, dtype=pl.Int8).alias(_KIND)).cache()
    below = _list_models(rows, table.by, unscored).cache()
    lacking = _find_lacking(rows, below.select(*table.by), table).cache()
    rest = _count_rest(below, lacking, table, of_negatives=unscored.counts_negatives)
    every = pl.concat([rows, lacking, rest], how="diagonal_relaxed")
    # What no model scored has no id, and one of its class.
    example = pl.struct(c.EXAMPLE, _KIND).alias(c.EXAMPLE)
    names = {name: pl.col(name) for name in (c.SCORE, c.POS, c.NEG)}
    tallies = Tallies({name: pl.col(name) for name in tests}, list(table.tallies.checks))
    tallies.checks += _list_checks(tallies)
    return replace(
        table,
        frame=every,
        by_exprs=[pl.col(name) for name in table.by],
        columns={**names, c.EXAMPLE: example},
        tallies=tallies,
        labelled=False,
        unscored=NeverScored(in_rows=True, counts_negatives=unscored.counts_negatives),
    )


def _list_models(
    rows: pl.LazyFrame, by: Mapping[str, pl.DataType], unscored: NeverScored
) -> pl.LazyFrame:
    """Return one row per group and model, with the numbers of `below=` in POS_BELOW and NEG_BELOW."""
    listed = rows.select(*by).unique()
    if unscored.frame is None:
        given = {c.POS_BELOW: unscored.n_pos, c.NEG_BELOW: unscored.n_neg}
        return listed.with_columns(pl.lit(n, dtype=pl.Int64).alias(name) for name, n in given.items())
    frame = unscored.frame.select(*by, *_CLASSES.values())
    every = pl.concat([listed, frame.select(*by)]).unique()
    return join_groups(every, frame, by, how="left").with_columns(
        pl.col(*_CLASSES.values()).fill_null(0)
    )


def _find_lacking(rows: pl.LazyFrame, models: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return the examples that a model has no row for, of all that a model of their group has."""
    group, dtype = table.group_columns, rows.collect_schema()[c.EXAMPLE]
    own = rows.group_by(*group, c.EXAMPLE).agg(pl.col(*_CLASSES).max())
    has_row = rows.select(*table.by, c.EXAMPLE).unique().with_columns(pl.lit(True).alias(_HAS_ROW))
    every = join_groups(own, models, group)
    found = join_groups(every, has_row, {**table.by, c.EXAMPLE: dtype}, how="left")
    return found.filter(pl.col(_HAS_ROW).is_null()).select(
        *table.by, c.EXAMPLE, *_CLASSES, pl.lit(0, dtype=pl.Int8).alias(_KIND)
    )


def _count_rest(
    below: pl.LazyFrame, lacking: pl.LazyFrame, table: ScoreTable, *, of_negatives: bool
) -> pl.LazyFrame:
    """Return a row per group, model and class: the examples that no model scored, and their tests."""
    group = list(table.group_columns)
    sums = aggregate_by(lacking, table.by, [pl.col(*_CLASSES).sum()])
    both = join_groups(below, sums, table.by, how="left")
    parts = []
    for kind, (of_class, given) in enumerate(_CLASSES.items(), start=1):
        rest = pl.col(given) - pl.col(of_class).fill_null(0)
        if of_class == c.NEG and not of_negatives:
            rest = 0 * rest + MANY  # those that no model scored are not counted
        most = rest.max().over(group) if group else rest.max()
        amounts = {name: rest if name == of_class else 0 * rest for name in _CLASSES}
        parts.append(
            both.select(
                *table.by,
                *(amount.clip(lower_bound=0).alias(name) for name, amount in amounts.items()),
                (rest < 0).cast(pl.Int64).alias(_TOO_FEW),
                (rest != most).cast(pl.Int64).alias(_UNEQUAL),
                pl.lit(kind, dtype=pl.Int8).alias(_KIND),
            )
        )
    return pl.concat(parts)


def _list_checks(tallies: Tallies) -> list[Check]:
    """Return the checks that `below=` fits the examples that models lack."""
    ends = {
        _TOO_FEW: "an example that one model lacks is among those that below= counts for it, and below= "
        "counts fewer, in ",
        _UNEQUAL: "models share their examples, so those with a row and those of below= add up to the "
        "same number in each; they do not in ",
    }
    advice = (
        '; pass below= as a frame with the numbers of each model, or missing="below" with null scores'
    )
    checks = []
    for name, text in ends.items():
        n = tallies.count(pl.col(name))
        sentence = compose_sentence(text, n.cast(pl.String), f" case(s) of a model and class{advice}")
        checks.append(Check(n > 0, sentence))
    return checks
