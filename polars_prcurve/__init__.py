"""Precision-recall analysis at any prevalence, in Polars.

Importing the package registers the namespace `.prc` on DataFrame, LazyFrame and Expr.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from polars_prcurve import metrics
from polars_prcurve.core.confidence.interval_options import intervals
from polars_prcurve.core.confidence.rate_intervals import rate_interval
from polars_prcurve.core.ground.errors import PrcError, PrcWarning
from polars_prcurve.core.ground.package_version import __version__ as __version__
from polars_prcurve.core.prevalence.estimated_eta import eta_from_sample
from polars_prcurve.core.prevalence.eta_by_parts_or_classes import class_mix, field
from polars_prcurve.core.prevalence.eta_values import eta_from_ratio, eta_grid, ratio_from_eta
from polars_prcurve.core.prevalence.prior_shift import shift_prior
from polars_prcurve.doors.namespace import prc, register
from polars_prcurve.doors.namespace.frame import DataFramePrc, LazyFramePrc

if TYPE_CHECKING:
    from polars_prcurve import charts
    from polars_prcurve.core.confidence.precision_band_width import (
        max_width,
        precision_interval,
        rectangle_level,
    )
    from polars_prcurve.core.confidence.published_metric_intervals import (
        published_average_precision,
        published_precision,
        published_roc_auc,
    )
    from polars_prcurve.core.confidence.sample_sizes import sample_size
    from polars_prcurve.core.prevalence.solve_for_eta import crossing, eta_for_f_beta, eta_for_precision
    from polars_prcurve.core.sweep.array_sweep import RocPoints, roc_points
    from polars_prcurve.core.uncertainty.precision_under_subsampling import subsampled_precision
    from polars_prcurve.doors.namespace.expression import ExprPrc
    from polars_prcurve.doors.published_rates import from_rates
    from polars_prcurve.doors.retrieval_runs import from_trec
    from polars_prcurve.doors.scikit_learn import PrevalenceDisplay, from_cv_results, from_folds
    from polars_prcurve.doors.scorers import Scorer, scorer
    from polars_prcurve.view.report.decision_result import Decision
    from polars_prcurve.view.verdicts.verdict import Verdict

__all__ = [
    "DataFramePrc",
    "Decision",
    "ExprPrc",
    "LazyFramePrc",
    "PrcError",
    "PrcWarning",
    "PrevalenceDisplay",
    "RocPoints",
    "Scorer",
    "Verdict",
    "charts",
    "class_mix",
    "crossing",
    "eta_for_f_beta",
    "eta_for_precision",
    "eta_from_ratio",
    "eta_from_sample",
    "eta_grid",
    "field",
    "from_cv_results",
    "from_folds",
    "from_rates",
    "from_trec",
    "intervals",
    "max_width",
    "metrics",
    "prc",
    "precision_interval",
    "published_average_precision",
    "published_precision",
    "published_roc_auc",
    "rate_interval",
    "ratio_from_eta",
    "rectangle_level",
    "roc_points",
    "sample_size",
    "scorer",
    "shift_prior",
    "subsampled_precision",
]
register()

# What is imported at its first use, because most programs do without it: modules, some of which import
# Altair and others, and the modules of names.
_MODULES = ("charts", "engines", "report")
_MODULE_OF_NAME = {
    "Decision": "view.report.decision_result",
    "ExprPrc": "doors.namespace.expression",
    "PrevalenceDisplay": "doors.scikit_learn",
    "RocPoints": "core.sweep.array_sweep",
    "Scorer": "doors.scorers",
    "Verdict": "view.verdicts.verdict",
    "crossing": "core.prevalence.solve_for_eta",
    "eta_for_f_beta": "core.prevalence.solve_for_eta",
    "eta_for_precision": "core.prevalence.solve_for_eta",
    "from_cv_results": "doors.scikit_learn",
    "from_folds": "doors.scikit_learn",
    "from_rates": "doors.published_rates",
    "from_trec": "doors.retrieval_runs",
    "max_width": "core.confidence.precision_band_width",
    "precision_interval": "core.confidence.precision_band_width",
    "published_average_precision": "core.confidence.published_metric_intervals",
    "published_precision": "core.confidence.published_metric_intervals",
    "published_roc_auc": "core.confidence.published_metric_intervals",
    "rectangle_level": "core.confidence.precision_band_width",
    "roc_points": "core.sweep.array_sweep",
    "sample_size": "core.confidence.sample_sizes",
    "scorer": "doors.scorers",
    "subsampled_precision": "core.uncertainty.precision_under_subsampling",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _MODULE_OF_NAME:
        return getattr(import_module(f"{__name__}.{_MODULE_OF_NAME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
