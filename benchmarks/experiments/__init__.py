"""Simulations of what intervals and promises are worth; `python benchmarks/coverage.py` runs them.

`experiment` has what an experiment is, `populations` what test sets are drawn from, and each other
module some experiments of one subject.
"""

from . import areas, bands, designs, estimated_prevalence, fields, labels, points, promises  # noqa: F401
from .experiment import EXPERIMENTS as EXPERIMENTS
