"""The names of columns: those users read, and the reserved ones that tables hold on the way.

Names that start with `_prc_` are ours inside a query; no user column may bear one, and none
is left in a result.
"""

from __future__ import annotations

COUNTS = ("score", "n_pos", "n_neg")
SWEEP = ("threshold", "tp", "fp", "fn", "tn", "recall", "fpr")

RESERVED = "_prc_"

# one row per example, or per aggregated count
SCORE = "_prc_score"
LABEL = "_prc_label"  # Boolean: is positive; or else
POS = "_prc_pos"  # what the row adds to the positives
NEG = "_prc_neg"  # and to the negatives
CLUSTER = "_prc_cluster"  # rows that are drawn together
MODEL = "_prc_model"  # the last of the group columns, where models are compared
EXAMPLE = "_prc_example"  # rows of the same example under several models
MARK = "_prc_mark"  # an asked-for threshold, not an example

# one row per group
GROUP = "_prc_group"  # a UInt32 that rises in the order of the `by` columns
N_POS = "_prc_n_pos"
N_NEG = "_prc_n_neg"
N_POS_EFFECTIVE = "_prc_n_pos_effective"  # of weights: sum(w)**2 / sum(w**2)
N_NEG_EFFECTIVE = "_prc_n_neg_effective"
MU_POS = "_prc_mu_pos"  # of a normal distribution of the scores of a class
SIGMA_POS = "_prc_sigma_pos"
MU_NEG = "_prc_mu_neg"
SIGMA_NEG = "_prc_sigma_neg"
AUC = "_prc_auc"  # the area under the ROC curve of both
SLOPE = "_prc_slope"  # sigma_pos / sigma_neg
SHIFT = "_prc_shift"  # (mu_pos - mu_neg) / sigma_neg
POS_BEFORE = "_prc_pos_before"  # positives in all the groups before this one
NEG_BEFORE = "_prc_neg_before"
POS_EXPONENT = "_prc_pos_exponent"  # sums of floats are integers here, times 2 to this power
NEG_EXPONENT = "_prc_neg_exponent"

# one row per group and prevalence
UNIT = "_prc_unit"  # a power of two that brings weights near 1, so that products do not vanish
POS_FACTOR = "_prc_pos_factor"  # counts times these are in the proportions of prevalence eta
NEG_FACTOR = "_prc_neg_factor"

FIRST = "_prc_first"  # the first row of a group
FOUND = "_prc_found"  # the eta frame has a row for the group
OWN = "_prc_own"  # the prevalence is the group's own
FALLS = "_prc_falls"  # recall falls while fpr rises, in published rates
PAIR = "_prc_pair"  # number of the group and prevalence
ODDS = "_prc_odds"  # negatives to one positive

COPY = "_prc_copy"  # number of the repetition, where a prevalence is wanted several times

# one row per distinct score
RUN_POS = "_prc_run_pos"  # positives at this score and above, and in all groups before
RUN_NEG = "_prc_run_neg"
START_POS = "_prc_start_pos"  # the same at the next higher score
START_NEG = "_prc_start_neg"
RECALL_BEFORE = "_prc_recall_before"  # where the segment of the ROC curve that ends here starts
FPR_BEFORE = "_prc_fpr_before"
FPR = "_prc_fpr"  # fpr, but 0 without negatives
RISE = "_prc_rise"  # by how much recall grows along it
RUN = "_prc_run"  # and fpr
LEAST_FPR = "_prc_least_fpr"  # of the rows on which recall grows
GAP = (
    "_prc_gap"  # by how much fpr grows from the row before in the same frame to where the segment starts
)
RATIO = "_prc_ratio"  # fpr / recall
ENVELOPE = "_prc_envelope"  # the least of them from here on
