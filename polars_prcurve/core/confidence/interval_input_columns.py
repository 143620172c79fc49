"""Columns that intervals read: sizes, the error of a prevalence, and of the choice of a threshold."""

from __future__ import annotations

ETA_LOW = "eta_low"  # the low end of the interval of a prevalence that is an estimate
ETA_HIGH = "eta_high"  # its high end
ETA_CONFIDENCE = "eta_confidence"  # its level
UNCERTAIN_ETA_COLUMNS = (ETA_LOW, ETA_HIGH, ETA_CONFIDENCE)
"""The columns that stand after eta in every result, if an eta= frame has them."""


class EffectiveSize:
    """The number of independent examples that the rows of a group count as, and how sure that is."""

    WEIGHT_UNIT = "_prc_weight_unit"  # power of two that brings weights near 1: products do not vanish
    POS_FREEDOM = "_prc_pos_freedom"  # degrees of freedom of the variance of recall among clusters
    NEG_FREEDOM = "_prc_neg_freedom"
    RATE_CORRELATION = "_prc_rate_correlation"  # of recall and fpr, among clusters or strata
    N_POS = "_prc_n_pos_effective"  # of weights, sum(w)**2 / sum(w**2); see `effective_weights`
    N_NEG = "_prc_n_neg_effective"
    N_POS_LEAST = "_prc_n_pos_least"  # the same, or fewer: positives may weigh as much as any row
    N_NEG_LEAST = "_prc_n_neg_least"


class EtaError:
    """What is known of a prevalence: whether it was counted here, and its error."""

    IS_OWN = "_prc_is_own_eta"  # Boolean, true if eta is the prevalence of the group
    VARIANCE = "_prc_eta_variance"  # of the logit of a prevalence that was counted in the table
    REFERENCE = "_prc_eta_reference"  # how the error of eta shares in those of the rates; a struct
    STANDARD_ERROR = "_prc_eta_error"  # standard error of that logit; 0 of a prevalence that was stated
    LIMITS = ("_prc_eta_low", "_prc_eta_high")  # the interval of eta, just inside 0 and 1


class TargetRow:
    """An operating point, whose threshold a target may have chosen."""

    # Float64, how many true positives, and how few false ones, a point may owe to its choice; 0 for none
    N_RIGHT_BY_CHOICE = "_prc_n_right_by_choice"
    N_WRONG_BY_CHOICE = "_prc_n_wrong_by_choice"
    IS_MAXIMIZED = "_prc_is_maximized"  # Boolean, true for such a row, null for other targets
    OPTIMISM = "_prc_optimism"  # with the number of a metric: by how much its value is too good there
