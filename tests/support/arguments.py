"""Every public function and method, a plain call of each, and values of the wrong kind.

The arguments are read from the signatures, so those of a new method are tried as soon as it has a plain
call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from decimal import Decimal
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import polars as pl

import polars_prcurve
from polars_prcurve import charts, metrics, prc
from tests.support.plain_calls import DF, ONE_PART, OTHERS, PLAIN, RISKS


class Call(NamedTuple):
    """A function, a table that it is asked of, if any, and arguments that it takes."""

    table: pl.DataFrame | None
    find: Callable[[Any], Callable[..., Any]]
    """Return the function, from the table, a DataFrame or a LazyFrame."""
    plain: dict[str, Any]

    def arguments(self) -> list[str]:
        """Return the names of all arguments."""
        return list(inspect.signature(self.find(self.table)).parameters)


class Guess:
    """An estimator that has three scores for anything: what is wrong with features is for it to say."""

    def decision_function(self, rows: Any) -> Any:
        return np.linspace(0, 1, 3)


LABELLED = {"label": "label"}
EXPRESSIONS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("tp", "fp", "fn", "tn", "recall", "fpr", "counts", "sweep"), LABELLED),
    **dict.fromkeys(("precision", "curve", "average_precision", "pr_auc", "auprg"), LABELLED),
    "roc_auc": LABELLED,
    "metric": {"metric": "f1", **LABELLED},
    "summary": {"metric": "pr_auc", **LABELLED},
    "threshold": {"recall": 0.5, **LABELLED},
    "shift_prior": {"eta_train": 0.5, "eta": 0.1},
}
PLOTS: dict[str, dict[str, Any]] = {
    **{name: {"eta": 0.1} for name in ("pr_curve", "prg_curve", "threshold_curve", "gain_curve")},
    "alerts": {"eta": 0.1, "recall": 0.5},
    "decision_curve": {"probabilities": [0.2, 0.5]},
    "difference": {"eta": [0.1, 0.5], "id": "id"},
    **{name: {} for name in ("roc_curve", "reliability", "scores")},
    "monitor": {"time": "id", "reference": 0.5, "threshold": 5},
    "ranking": {"eta": [0.1, 0.5]},
    "metric_by_eta": {"eta": [0.1, 0.5]},
    "p3_curve": {"eta": [0.1, 0.5], "recall": 0.5},
}
DATA = Path(__file__).parent.parent / "data"
RATES = {"recall": 0.5, "fpr": 0.1}
VALIDATED = {
    "cv_results": {"estimator": [Guess()], "indices": {"test": [np.arange(3)]}},
    "X": np.array([[1], [2], [3]]),
    "y": [0, 1, 0],
}
FUNCTIONS: dict[str, dict[str, Any]] = {
    "PrevalenceDisplay.from_cv_results": VALIDATED,
    "PrevalenceDisplay.from_estimator": {"estimator": Guess(), "X": VALIDATED["X"], "y": [0, 1, 0]},
    "PrevalenceDisplay.from_predictions": {"y_true": [0, 1, 0], "y_score": [0.1, 0.5, 0.9]},
    "class_mix": {"shares": {"cat": 0.25, "dog": 0.75}},
    "crossing": {"a": (0.5, 0.1), "b": (0.8, 0.3), "metric": "f1"},
    "eta_for_f_beta": {**RATES, "value": 0.3},
    "eta_for_precision": {**RATES, "precision": 0.3},
    "eta_from_ratio": {"ratio": "1:9"},
    "eta_from_sample": {"k": 3, "n": 10},
    "eta_grid": {},
    "field": {"frame": ONE_PART, "parts": "day"},
    "from_cv_results": VALIDATED,
    "from_folds": {"folds": [([0, 2], [0.9, 0.4])], "y": [1, 0, 1]},
    "from_rates": RATES,
    "from_trec": {"run": DATA / "run.txt", "qrels": DATA / "qrels.txt"},
    "intervals": {},
    "max_width": {**RATES, "recall_half_width": 0.1, "fpr_half_width": 0.01},
    "prc": {"x": DF},
    "precision_interval": {**RATES, "eta": 0.1, "recall_half_width": 0.1, "fpr_half_width": 0.01},
    "published_average_precision": {"average_precision": 0.5, "n_pos": 10},
    "published_precision": {"tp": 5, "n_pos": 10, "fp": 3, "n_neg": 20, "eta": 0.1},
    "published_roc_auc": {"roc_auc": 0.8, "n_pos": 10, "n_neg": 20},
    "rate_interval": {"k": 3, "n": 10},
    "ratio_from_eta": {"eta": 0.1},
    "rectangle_level": {**RATES, "n_pos": 10, "n_neg": 20},
    "roc_points": {"label": [1, 0], "score": [0.9, 0.1]},
    "sample_size": {"rate": 0.5},
    "scorer": {"metric": "pr_auc"},
    "shift_prior": {"p": 0.3, "eta_train": 0.5, "eta": 0.1},
    "subsampled_precision": {"tp": 5, "n_pos": 10, "fp": 3, "n_neg": 20, "n_kept": 10},
}
MADE_METRICS: dict[str, dict[str, Any]] = {
    "best": {"metric": "f1"},
    "f_beta": {"beta": 2},
    "f_gain": {"beta": 2},
    "integrated": {"metric": "pr_auc", "low": 0.1, "high": 0.5},
    "integrated_average_precision": {"low": 0.1, "high": 0.5},
    "net_benefit": {"threshold_probability": 0.1},
    "partial_roc_auc": {"max_fpr": 0.1},
    "partial_roc_auc_mcclish": {"max_fpr": 0.1},
    "point": {"name": "cost", "formula": lambda tp, fn, fp, tn: fn + fp},
    "pr_auc_trapezoid": {},
    "precision_at_alerts": {"alerts": 20, "per": 1000},
    "precision_at_fpr": {"fpr": 0.1},
    "at_threshold": {"metric": "precision", "threshold": 0.5},
    "precision_at_recall": {"recall": 0.5},
    "recall_at_alerts": {"alerts": 20, "per": 1000},
    "recall_at_fpr": {"fpr": 0.1},
    "recall_at_precision": {"precision": 0.5},
}


class Unspeakable:
    """An object that fails wherever it is looked at."""

    def __repr__(self) -> str:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError


HUGE = 10**400
"""An integer above all floats, and above what Polars can hold."""


def wrong_values() -> Iterator[tuple[str, Any]]:
    """Yield values of many kinds, each with a name; a plain argument takes one or two of the kinds."""
    values: dict[str, Any] = {
        "None": None,
        "int": 3,
        "negative": -1,
        "float": 2.5,
        "NaN": float("nan"),
        "True": True,
        "text": "x",
        "no text": "",
        "bytes": b"x",
        "list": ["x"],
        "list of int": [3],
        "list of None": [None],
        "empty list": [],
        "tuple": ("x", 3),
        "dict": {"x": 1},
        "set": {"x"},
        "object": object(),
        "type": int,
        "function": len,
        "Series": pl.Series([1, 2]),
        "array": np.array([[1, 2]]),
        "frame": pl.DataFrame({"x": [1]}),
        "expression": pl.col("x"),
        "columns": pl.all(),
        "pattern": "^a$",
        "metric": metrics.f1,
        "curve metric": metrics.pr_auc,
        "huge": HUGE,
        "huge and negative": -HUGE,
        "without a text": 10**5_000,  # which Python refuses to write out
        "huge Decimal": Decimal("1e400"),
        "Decimal NaN": Decimal("nan"),
        "list of huge": [HUGE],
        "pair of huge": (HUGE, HUGE),
        "dict of huge": {"x": HUGE},
        "beyond Int64": 2**64,
        "complex": 1j,
        "half a character": "\ud800",
        "turning text": "\u202ex",
        "long text": "x" * 10_000,
        "unspeakable": Unspeakable(),
        "Objects": pl.lit(object(), allow_object=True),
        "Series of Objects": pl.Series([object()], dtype=pl.Object),
        "frame of Objects": pl.DataFrame({"eta": pl.Series([object()], dtype=pl.Object)}),
    }
    yield from values.items()
    yield "generator", (value for value in ("x",))


class ComputedError(Exception):
    """Work was done on a table that only arguments should have been looked at for."""


def refuse_to_compute(_: pl.DataFrame) -> NoReturn:
    raise ComputedError


def has_computed(error: Exception | None) -> bool:
    """Return whether work was begun; Polars wraps the error of a Python function in its own."""
    return isinstance(error, ComputedError) or "ComputedError" in str(error)


def never_computed(table: pl.DataFrame) -> pl.LazyFrame:
    return table.lazy().map_batches(refuse_to_compute, schema=table.schema)


def list_calls() -> dict[str, Call]:
    """Return a plain call of every public function and method; frame methods have the plain names."""
    calls = {
        name: Call(table, lambda table, name=name: getattr(prc(table), name), plain)
        for name, (table, plain) in PLAIN.items()
    }
    calls |= {
        name: Call(table, lambda table, method=method: getattr(prc(table), method), plain)
        for name, (method, table, plain) in OTHERS.items()
    }
    calls["decide"] = Call(DF, lambda table: prc(table).decide, {"eta": 0.1, "recall": 0.5})
    calls |= {
        f"plot.{name}": Call(
            RISKS if name in ("decision_curve", "reliability") else DF,
            lambda table, name=name: getattr(prc(table).plot, name),
            plain,
        )
        for name, plain in PLOTS.items()
    }
    calls |= {
        f"expr.{name}": Call(None, lambda _, name=name: getattr(prc(pl.col("score")), name), plain)
        for name, plain in EXPRESSIONS.items()
    }
    calls |= {
        f"function.{name}": Call(None, lambda _, name=name: attrgetter(name)(polars_prcurve), plain)
        for name, plain in FUNCTIONS.items()
    }
    calls |= {
        f"metrics.{name}": Call(None, lambda _, name=name: getattr(metrics, name), plain)
        for name, plain in MADE_METRICS.items()
    }
    calls |= {
        f"charts.{name}": Call(None, lambda _, name=name: getattr(charts, name), plain)
        for name, plain in list_charts().items()
    }
    return calls


def list_charts() -> dict[str, dict[str, Any]]:
    """Return a finished table for every chart."""
    p = prc(DF)
    pairs = p.compare(model="model", id="id", eta=[0.1, 0.5], metrics="roc_auc", columns="all")
    tables = {
        "alerts": p.operating_points([0.1, 0.5], recall=0.5, columns="all"),
        "decision_curve": prc(RISKS).decision_curve(columns="all"),
        "difference": pairs,
        "gain_curve": p.curve(0.1),
        "monitor": p.monitor("id", reference=0.5, threshold=5, columns="all"),
        "metric_by_eta": p.summary([0.1, 0.5], metrics="pr_auc", columns="all"),
        "p3_curve": p.operating_points([0.1, 0.5], recall=0.5, columns="all"),
        "pr_curve": p.curve(0.1),
        "prg_curve": p.curve(0.1),
        "ranking": p.ranking([0.1, 0.5], columns="all"),
        "reliability": prc(RISKS).sweep(),
        "roc_curve": p.sweep(),
        "scores": p.sweep(),
        "threshold_curve": p.curve(0.1),
    }
    return {name: {"table": table} for name, table in tables.items()}


__all__ = ["PLOTS", "Call", "has_computed", "list_calls", "never_computed", "wrong_values"]
