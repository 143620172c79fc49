"""How many examples Hypothesis tries: the profiles `least`, `quick`, `full` and `explore`.

A property test states a number n of examples, and the `max_examples` of a profile is the percentage of
n that it tries: `full` tries 6% of n, `explore` ten times n. Choose a profile with
`pytest --hypothesis-profile=full`.
"""

from __future__ import annotations

import math
from typing import Any

from hypothesis import HealthCheck, settings

SHARED: dict[str, Any] = {
    "deadline": None,  # the first query takes much longer than later queries
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}

# All but explore draw equal examples on every run, so a failure comes from a change and not from luck.
settings.register_profile("least", max_examples=1, derandomize=True, **SHARED)
settings.register_profile("quick", max_examples=3, derandomize=True, **SHARED)
settings.register_profile("full", max_examples=6, derandomize=True, **SHARED)
settings.register_profile("explore", max_examples=1000, derandomize=False, print_blob=True, **SHARED)


def examples(n: int = 60) -> settings:
    """Return settings that try the profile's share of n examples, at least 2."""
    per_cent = settings.default.max_examples
    return settings(max_examples=max(2, math.ceil(n * per_cent / 100)))


__all__ = ["examples"]
