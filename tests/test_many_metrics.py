"""Long tables of many metrics are stacked, and those of few are repeated: both ways give one table."""

from __future__ import annotations

import pytest

from polars_prcurve import metrics
from polars_prcurve.core.curves import long_tables
from tests.support.comparing import assert_same
from tests.support.queries import DF, QUERIES
from tests.support.tiers import slow_unless

QUICK = [
    "curve, long",
    "curve, with bands",
    "points, long",
    "summary, grid",
    "summary, uncertain eta frame, with errors",
]
LONG = [name for name in QUERIES if name.startswith("summary") or "long" in name]
LONG = [*LONG, *(name for name in QUERIES if name.startswith("curve, ") and "bands" in name)]


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", slow_unless(lambda name: name in QUICK, LONG))
@pytest.mark.parametrize("is_lazy", [False, True])
def test_both_ways_to_a_long_table_agree(
    name: str, is_lazy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    df, ask = QUERIES[name]
    tables = []
    for many in (2, 1_000):
        monkeypatch.setattr(long_tables, "_MANY", many)
        monkeypatch.setattr(long_tables, "_MANY_WITH_BANDS", many)
        tables.append(ask((df.lazy() if is_lazy else df).prc).lazy().collect())
    assert_same(*tables)


def test_each_of_many_metrics_has_the_value_that_it_has_alone() -> None:
    levels = [number / 100 for number in range(1, 100)]
    many_metrics = [metrics.precision_at_recall(level) for level in levels]
    summary = DF.prc.summary([0.1, 0.4], by="g", metrics=many_metrics, confidence=0.9)
    for place in (0, 50, 98):
        alone = DF.prc.summary([0.1, 0.4], by="g", metrics=many_metrics[place], confidence=0.9)
        assert_same(summary.filter(metric=many_metrics[place].name), alone)
    net_benefits = [metrics.net_benefit(level) for level in levels]
    curve = DF.prc.curve([0.1, 0.4], by="g", metrics=net_benefits, long=True)
    for place in (0, 98):
        alone = DF.prc.curve([0.1, 0.4], by="g", metrics=net_benefits[place], long=True)
        assert_same(curve.filter(metric=net_benefits[place].name), alone)
