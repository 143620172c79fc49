"""Columns of a sweep: the public ones of counts and sweeps, and the internal ones of its stages."""

from __future__ import annotations

from polars_prcurve.core.metrics.segment_column_names import CELLS

COUNT_COLUMNS = ("score", "n_pos", "n_neg")
"""What `counts` returns, behind the groups."""
SQUARE_COLUMNS = ("n_pos_squares", "n_neg_squares")
"""What it adds for weights: sums of their squares."""
UNLABELLED_COLUMNS = ("score", "n")
"""What it returns without labels."""
FIELD_COLUMNS = ("n_pos_effective", "n_neg_effective", "fp_effective")
"""What curves in a field add: as how many examples of equal weight a sum of weights counts."""
SWEEP_COLUMNS = ("threshold", *CELLS, "recall", "fpr")
"""What `sweep` returns, behind the groups."""


class Sweep:
    """A distinct score of a group, in falling order: what is at this score and above."""

    CUM_POS = "_prc_cum_pos"  # positives at this score and above, plus those of all groups before
    CUM_NEG = "_prc_cum_neg"
    CUM_POS_ABOVE = "_prc_cum_pos_above"  # CUM_POS of the next higher score
    CUM_NEG_ABOVE = "_prc_cum_neg_above"
    FIRST_IN_GROUP = "_prc_first_in_group"  # Boolean, true for the first of the rows of a group
    ENDS_GROUP = "_prc_ends_group"  # Boolean, true for the last row of a group
    BLOCK = "_prc_block"  # number of a block, which is the rows of a group that share a recall
    IS_CORNER = "_prc_is_corner"  # Boolean, true for the first and the last row of a block


class GroupSums:
    """Sums of a group that its sweep needs once."""

    POS_BEFORE_GROUP = "_prc_pos_before_group"  # positives in all the groups before this one
    NEG_BEFORE_GROUP = "_prc_neg_before_group"
    RECALL_FALLS = "_prc_recall_falls"  # number of published points at which recall falls and fpr rises
    SIZES_DIFFER = "_prc_sizes_differ"  # 1 if class sizes differ between published points, 0 otherwise


class SquareSegment:
    """A segment, as of `Segment`, in shares of squared weights: what an example adds to a variance."""

    RECALL = "_prc_square_recall"
    FPR = "_prc_square_fpr"
    RECALL_BEFORE = "_prc_square_recall_before"
    FPR_BEFORE = "_prc_square_fpr_before"
    RISE = "_prc_square_rise"
    RUN = "_prc_square_run"
    FPR_GAP = "_prc_square_gap"


class ClusterSize:
    """The number of examples that rows in clusters, or drawn by strata, count as at a threshold."""

    N_POS = "_prc_n_pos_clustered"  # what the positives count as at this threshold
    N_NEG = "_prc_n_neg_clustered"
    N_POS_UNREACHED = "_prc_n_pos_unreached"  # what they count as where none is flagged
    N_NEG_UNREACHED = "_prc_n_neg_unreached"


class StratumLabels:
    """Labels of rows that were drawn by strata."""

    N_ABOVE = "_prc_n_above"  # labelled rows at this score and above, of rows that were drawn by strata
    N_ALONE = "_prc_n_alone"  # strata of which one row was drawn
    POS = "_prc_pos_labels"  # labelled positives, of rows that were drawn by strata
    NEG = "_prc_neg_labels"
    BY_CLASS = "_prc_strata_by_class"  # Boolean, whether rows were drawn by their labels


class AlertSize:
    """The number of examples that rows with weights or in clusters count as: `effective_alerts`."""

    FLAGGED = "_prc_flagged_size"  # the alerts
    SILENT = "_prc_silent_size"  # the rows that are not flagged
    FLAGGED_AT_ETA = "_prc_flagged_at_eta"  # the same, or fewer, at a prevalence that is a number
    SILENT_AT_ETA = "_prc_silent_at_eta"
    RECALL = "_prc_recall_size"  # the positives, for recall at this threshold
    FPR = "_prc_fpr_size"  # the negatives, for fpr at this threshold
    POS = "_prc_pos_size"  # all positives
    NEG = "_prc_neg_size"
    TABLE = "_prc_table_size"  # all rows of the group
