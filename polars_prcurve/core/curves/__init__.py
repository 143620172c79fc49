"""Curves: the sweep at each prevalence, as rows per threshold or segments to add up."""
