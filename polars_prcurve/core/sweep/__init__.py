"""Counting: one sort gives cumulative counts at every distinct score of every group."""
