"""The tables of a decision: what people are shown of its evidence, and a verdict for each case."""

from __future__ import annotations

import polars as pl
from polars import selectors

from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.judging.evidence import VERDICT_DTYPES
from polars_prcurve.core.judging.judgement import Judgement
from polars_prcurve.view.verdicts.verdict_sentences import write_verdict


def build_table(judgement: Judgement) -> pl.DataFrame:
    """Return one row per case and model, in the order of the evidence: what people are shown."""
    hidden_column_names = () if judgement.goal.is_of_curve else ("criterion", "target")
    return judgement.evidence.rows.drop(*hidden_column_names, selectors.starts_with(RESERVED))


def build_verdicts(judgement: Judgement) -> pl.DataFrame:
    """Return one row per case: its key, and its verdict."""
    evidence_schema, model_column = judgement.evidence.rows.schema, judgement.model
    verdict_schema = {
        **{column_name: evidence_schema[column_name] for column_name in judgement.evidence.keys},
        **VERDICT_DTYPES,
    }
    if model_column is not None:
        verdict_schema["models"] = pl.List(evidence_schema[model_column])
    records = [{**case.key_values, **vars(write_verdict(judgement, case))} for case in judgement.cases]
    return pl.DataFrame(
        [{column_name: record[column_name] for column_name in verdict_schema} for record in records],
        schema=verdict_schema,
    )
