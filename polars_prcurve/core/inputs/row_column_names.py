"""Columns of rows and groups of the input."""

from __future__ import annotations

from polars_prcurve.core.metrics.segment_column_names import Segment


class Row:
    """A row of the input: an example, or counts at a score."""

    SCORE = Segment.SCORE
    LABEL = "_prc_label"  # Boolean, true for a positive; tables without it have POS and NEG
    POS = "_prc_pos"  # the row's contribution to the positives: a count or a weight
    NEG = "_prc_neg"  # the row's contribution to the negatives
    POS_SQUARES = "_prc_pos_squares"  # the square of the weight of a positive, or a sum of such squares
    NEG_SQUARES = "_prc_neg_squares"
    STRATUM = "_prc_stratum"  # equal for rows that were drawn from one stratum
    STRATUM_WEIGHT = "_prc_row_weight"  # how many rows of its stratum a row represents
    CLUSTER = "_prc_cluster"  # equal for rows that need not be independent, such as those of one patient
    MODEL = "_prc_model"  # the last group column, where models are compared
    CLASS = "_prc_class"  # the class that a row of a stacked table compares with the rest
    EXAMPLE = "_prc_example"  # equal for rows of one example, scored by several models
    MARK = "_prc_mark"  # Boolean, true for a requested threshold without an example


class Group:
    """A group: all rows with equal values in the `by` columns."""

    N_POS = "_prc_n_pos"
    N_NEG = "_prc_n_neg"
    POS_BELOW = "_prc_pos_below"  # those of the positives that were never scored
    NEG_BELOW = "_prc_neg_below"
    NUMBER = "_prc_group"  # a UInt32 that rises in the order of the `by` columns
    POS_EXPONENT = "_prc_pos_exponent"  # weights are added as integers: the weight times 2**exponent
    NEG_EXPONENT = "_prc_neg_exponent"
