"""Columns of the rows that areas add up."""

from __future__ import annotations

CELLS = ("tp", "fp", "fn", "tn")
"""The four counts at a threshold."""


class Segment:
    """A piece of the ROC curve, from one distinct score to the next one: what an area adds up."""

    SCORE = "_prc_score"  # the score at its end; null below all scores
    RECALL_BEFORE = "_prc_recall_before"  # recall at the start of the segment
    FPR_BEFORE = "_prc_fpr_before"  # fpr at the start of the segment
    FPR_OR_ZERO = "_prc_fpr_or_zero"  # fpr, but 0 in a group without negatives
    RISE = "_prc_rise"  # growth of recall along the segment
    RUN = "_prc_run"  # growth of fpr along the segment
    RISES = "_prc_rises"  # true if the row has a positive, even one too light for a RISE above 0
    IS_ADDED = "_prc_is_added"  # true at an end (1, 1) that published points do not list
    FPR_GAP = "_prc_fpr_gap"  # growth of fpr over the rows that were left out before the segment
    FPR_RECALL_RATIO = "_prc_fpr_recall_ratio"  # fpr / recall
    ENVELOPE = "_prc_envelope"  # least fpr / recall of this row and the rows of lower score
    LEAST_FPR = "_prc_least_fpr"  # least fpr of the rows on which recall grows
    ODDS = "_prc_odds"  # negatives per positive, (1 - eta) / eta
    HALF_POSITIVE = "_prc_half_positive"  # half the rise in recall of one positive; 0 of weighted ones
    N_NEG_LOCAL = "_prc_n_neg_local"  # the negatives in weights of the next one, at a score or below


class Unseen:
    """Examples that a sample lacks by chance, as shares of its positives."""

    SHARE = "_prc_unseen_share"  # one unseen positive at the top, as a fraction of positives with it
    MISSED_SHARE = "_prc_missed_share"  # the same of one below all others
    MISSED_PRECISION = "_prc_missed_precision"  # of a positive below all others


class BinormalModel:
    """The model of two normal distributions, one row per group."""

    AUC = "_prc_binormal_auc"  # area under the ROC curve of the model
    SLOPE = "_prc_binormal_slope"  # sigma_pos / sigma_neg
    SHIFT = "_prc_binormal_shift"  # (mu_pos - mu_neg) / sigma_neg
