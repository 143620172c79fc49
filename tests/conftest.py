"""Importing the package registers `.prc`, for every test."""

import polars_prcurve  # noqa: F401
