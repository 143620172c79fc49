"""All that is decided of a table, with the verdicts on it.

request -> judgement      what is decided, without a sentence, see `core.judging`
        -> worded cases   a verdict for each case, see `verdict_sentences`
        -> verdict        the one above them, see `verdict_of_all_cases`
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import polars as pl
from polars import selectors

from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.evidence import VERDICT_DTYPES
from polars_prcurve.core.judging.table_judgement import TableJudgement, judge_table
from polars_prcurve.view.verdicts.case_places import name_case, name_etas
from polars_prcurve.view.verdicts.value_phrases import name_model
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.verdicts.verdict_of_all_cases import WordedCase, describe_conditions, sum_up
from polars_prcurve.view.verdicts.verdict_sentences import write_verdict
from polars_prcurve.view.words.names_in_sentences import name_group


@dataclass(frozen=True, kw_only=True)
class WordedJudgement(TableJudgement):
    """All that is decided of a table, and the verdicts on it."""

    cases: tuple[WordedCase, ...]
    verdict: Verdict  # the verdict above those of all cases


def decide(request: DecisionRequest) -> WordedJudgement:
    """Return what is decided for the table of the request, in words."""
    judgement = judge_table(request)
    test_level = judgement.evidence.test_level
    eta_texts = name_etas(judgement.cases)
    short_eta_texts = name_etas(judgement.cases, is_in_sentence=True)
    worded_cases = tuple(
        WordedCase(
            **_read_fields(case),
            verdict=write_verdict(case, test_level, describe_conditions(judgement, [case])),
            eta_text=eta_text,
            short_name=name_case(case, short_eta_text, " at "),
        )
        for case, eta_text, short_eta_text in zip(
            judgement.cases, eta_texts, short_eta_texts, strict=True
        )
    )
    return WordedJudgement(
        **{**_read_fields(judgement), "cases": worded_cases}, verdict=sum_up(judgement, worded_cases)
    )


def _read_fields(instance: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, without what it keeps beside them."""
    return {field.name: getattr(instance, field.name) for field in fields(instance)}


def build_table(judgement: WordedJudgement) -> pl.DataFrame:
    """Return one row per case and model, in the order of the evidence: what people are shown."""
    hidden_column_names = () if judgement.goal.is_of_curve else ("criterion", "target")
    return judgement.evidence.rows.drop(*hidden_column_names, selectors.starts_with(RESERVED))


def build_verdicts(judgement: WordedJudgement) -> pl.DataFrame:
    """Return one row per case: its key, and its verdict."""
    evidence_schema, model_column = judgement.evidence.rows.schema, judgement.model
    verdict_schema = {
        **{column_name: evidence_schema[column_name] for column_name in judgement.evidence.keys},
        **VERDICT_DTYPES,
    }
    if model_column is not None:
        verdict_schema["models"] = pl.List(evidence_schema[model_column])
    return pl.DataFrame(
        [
            {
                column_name: value
                for column_name, value in {**case.key_values, **vars(case.verdict)}.items()
                if column_name in verdict_schema
            }
            for case in judgement.cases
        ],
        schema=verdict_schema,
    )


def list_all_names(judgement: WordedJudgement) -> set[str]:
    """Return the names of all models and groups, as sentences have them."""
    candidates = [candidate for case in judgement.cases for candidate in case.candidates]
    model_names = {name_model(candidate) for candidate in candidates if candidate.model}
    group_names = {
        name_group(*column_and_value)
        for case in judgement.cases
        for column_and_value in case.groups.items()
    }
    return model_names | group_names
