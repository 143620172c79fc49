"""Columns of the binormal fit."""

from __future__ import annotations


class NormalFit:
    """Means and standard deviations of the scores of both classes, one row per group, and their test."""

    MU_POS = "_prc_mu_pos"  # mean of the scores of the positives
    SIGMA_POS = "_prc_sigma_pos"  # their standard deviation
    MU_NEG = "_prc_mu_neg"
    SIGMA_NEG = "_prc_sigma_neg"
    P_VALUE_POS = "_prc_p_value_pos"  # of the test that the positives have normal scores
    P_VALUE_NEG = "_prc_p_value_neg"
