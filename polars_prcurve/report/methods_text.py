"""How the numbers of a document are made, in a few sentences, with their sources."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import version

from polars_prcurve.decision.cases import LEAST_OF_CLASS
from polars_prcurve.decision.decide import Findings
from polars_prcurve.number_words import format_level
from polars_prcurve.report.html_parts import escape


def write_methods(findings: Findings) -> str:
    """Return the methods as paragraphs of HTML."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in _list_methods(findings))


def _list_methods(findings: Findings) -> Iterator[str]:
    goal, level = findings.goal, format_level(findings.confidence)
    yield (
        "Recall and false positive rate are measured; precision at a prevalence eta follows from them: "
        "recall * eta / (recall * eta + fpr * (1 - eta)). This holds where positives resemble those "
        "tested, and negatives those tested. Rows are taken as independent unless clusters were named."
    )
    yield (
        f"Intervals have a level of {level}: of rates by Wilson (1927), of precision by the distances "
        "to their ends, which add up in quadrature (Zou and Donner 2008), and with the choice of the "
        "score where it was found on the test. Average precision allows for examples that a test lacks."
    )
    if findings.model is not None:
        yield (
            "Models are compared in pairs where they scored the same examples. Of several models all "
            "differences hold at once (Tukey 1953, Kramer 1956): a model that none beats "
            f"is ruled out in at most {format_level(1 - findings.confidence)} of tests."
        )
    yield (
        "Whether scores are above chance is tested on ranks and on reciprocal ranks of the positives. "
        f"With fewer than {LEAST_OF_CLASS} examples of a class nothing is decided."
    )
    if goal.guarantee is not None:
        yield (
            f"Scores are promised: in {format_level(goal.guarantee)} of tests the targets hold in truth "
            "at the score that is found."
        )
    yield (
        f"Made by polars-prcurve {version('polars-prcurve')}, Polars {version('polars')}, "
        f"Python {platform.python_version()}."
    )
