"""Curve metrics of each group, with their standard errors and intervals."""
