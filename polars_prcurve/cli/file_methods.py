"""The methods of a table in files."""

from __future__ import annotations

from polars_prcurve.namespace.frame import LazyFramePrc


class FilePrc(LazyFramePrc):
    """The methods of a table in files: lazy, except where one must collect half way."""

    _may_collect = True
