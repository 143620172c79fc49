"""Metrics, each declared once by a decorator over its formula; `polars_prcurve.metrics` shows them."""
