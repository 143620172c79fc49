"""Intervals of rates, and from them bands of point metrics, widths and sample sizes."""
