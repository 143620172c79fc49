"""Simulations of what intervals and promises are worth; `python benchmarks/coverage.py` runs them.

`experiment` has what an experiment is, `populations` what test sets are drawn from, and each other
module some experiments of one subject.
"""

from . import (  # noqa: F401
    areas,
    bands,
    certainties,
    chance,
    cohorts,
    designs,
    estimated_prevalence,
    fields,
    labels,
    margins,
    matched_points,
    means,
    monitoring,
    never_scored,
    points,
    promises,
    uneven_promises,
    verdicts,
)
from .experiment import EXPERIMENTS as EXPERIMENTS
