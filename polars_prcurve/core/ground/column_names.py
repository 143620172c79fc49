"""Names of columns: the public ones of counts and sweeps, and the internal ones of queries.

An internal name starts with `_prc_`. No group column of a user may have such a name, and no result
contains one. The sections follow the data: rows of the input, groups, pairs, rows of the curve.
"""

COUNT_COLUMNS = ("score", "n_pos", "n_neg")
SQUARE_COLUMNS = ("n_pos_squares", "n_neg_squares")
UNLABELLED_COLUMNS = ("score", "n")
ETA_LOW, ETA_HIGH, ETA_CONFIDENCE = "eta_low", "eta_high", "eta_confidence"
UNCERTAIN_ETA_COLUMNS = (ETA_LOW, ETA_HIGH, ETA_CONFIDENCE)
"""The columns that stand after eta in every result, if an eta= frame has them."""
FIELD_COLUMNS = ("n_pos_effective", "n_neg_effective", "fp_effective")
CELLS = ("tp", "fp", "fn", "tn")
SWEEP_COLUMNS = ("threshold", *CELLS, "recall", "fpr")

RESERVED = "_prc_"

# One row per example, or per row of counts -----------------------------------------------------

SCORE = "_prc_score"
LABEL = "_prc_label"  # Boolean, true for a positive; tables without it have POS and NEG
POS = "_prc_pos"  # the row's contribution to the positives: a count or a weight
NEG = "_prc_neg"  # the row's contribution to the negatives
POS_SQUARES = "_prc_pos_squares"  # the square of the weight of a positive, or a sum of such squares
NEG_SQUARES = "_prc_neg_squares"
STRATUM = "_prc_stratum"  # equal for rows that were drawn from one stratum
ROW_WEIGHT = "_prc_row_weight"  # how many rows of its stratum a row stands for
CLUSTER = "_prc_cluster"  # equal for rows that need not be independent, such as those of one patient
MODEL = "_prc_model"  # the last group column, where models are compared
CLASS = "_prc_class"  # the class that a row of a stacked table tells from the rest
EXAMPLE = "_prc_example"  # equal for rows of one example, scored by several models
MARK = "_prc_mark"  # Boolean, true for a requested threshold without an example

# One row per group ----------------------------------------------------------------------------

GROUP = "_prc_group"  # a UInt32 that rises in the order of the `by` columns
FIRST_IN_GROUP = "_prc_first_in_group"  # Boolean, true for the first row of a group in a longer table
N_POS = "_prc_n_pos"
N_NEG = "_prc_n_neg"
POS_BELOW = "_prc_pos_below"  # those of the positives that were never scored
NEG_BELOW = "_prc_neg_below"
N_POS_SQUARES = "_prc_n_pos_squares"  # sum of the squares of the weights of positives
N_NEG_SQUARES = "_prc_n_neg_squares"
N_POS_EFFECTIVE = "_prc_n_pos_effective"  # of weights, sum(w)**2 / sum(w**2); see `effective_weights`
N_NEG_EFFECTIVE = "_prc_n_neg_effective"
N_POS_LEAST = "_prc_n_pos_least"  # the same, or fewer: positives may weigh as much as any row
N_NEG_LEAST = "_prc_n_neg_least"
N_NEG_LOCAL = "_prc_n_neg_local"  # the negatives in weights of the next negative: at a score or below
HALF_POSITIVE = "_prc_half_positive"  # half the rise in recall of one positive; 0 of weighted ones
UNSEEN_SHARE = "_prc_unseen_share"  # one unseen positive at the top, as a share of positives with it
MISSED_SHARE = "_prc_missed_share"  # the same of one below all others
MISSED_PRECISION = "_prc_missed_precision"  # of a positive below all others
POS_LABELS = "_prc_pos_labels"  # labelled positives, of rows that were drawn by strata
NEG_LABELS = "_prc_neg_labels"
N_ALONE = "_prc_n_alone"  # strata of which one row was drawn
POS_BEFORE_GROUP = "_prc_pos_before_group"  # positives in all the groups before this one
NEG_BEFORE_GROUP = "_prc_neg_before_group"
POS_SQUARES_BEFORE_GROUP = "_prc_pos_squares_before_group"
NEG_SQUARES_BEFORE_GROUP = "_prc_neg_squares_before_group"
POS_EXPONENT = "_prc_pos_exponent"  # weights are added as integers: the weight times 2**exponent
NEG_EXPONENT = "_prc_neg_exponent"
WEIGHT_UNIT = "_prc_weight_unit"  # power of two that brings weights near 1: products do not vanish
LEAST_FPR = "_prc_least_fpr"  # least fpr of the rows on which recall grows
RECALL_FALLS = "_prc_recall_falls"  # number of published points at which recall falls and fpr rises
SIZES_DIFFER = "_prc_sizes_differ"  # 1 if class sizes differ between published points, 0 otherwise

# The binormal model of a group
MU_POS = "_prc_mu_pos"  # mean of the scores of the positives
SIGMA_POS = "_prc_sigma_pos"  # their standard deviation
MU_NEG = "_prc_mu_neg"
SIGMA_NEG = "_prc_sigma_neg"
BINORMAL_AUC = "_prc_binormal_auc"  # area under the ROC curve of the model
BINORMAL_SLOPE = "_prc_binormal_slope"  # sigma_pos / sigma_neg
BINORMAL_SHIFT = "_prc_binormal_shift"  # (mu_pos - mu_neg) / sigma_neg

# One row per pair, a group at a prevalence ----------------------------------------------------

PAIR = "_prc_pair"  # number of the pair
HAS_ETA_ROW = "_prc_has_eta_row"  # true if the eta= frame has a row for the group, null otherwise
ETA_ROW = "_prc_eta_row"  # number of a row of the grid, which orders equal prevalences
IS_OWN_ETA = "_prc_is_own_eta"  # Boolean, true if eta is the group's own prevalence
ETA_VARIANCE = "_prc_eta_variance"  # of the logit of a prevalence that was counted in the table
ETA_REFERENCE = "_prc_eta_reference"  # how the error of eta shares in those of the rates; a struct
ETA_ERROR = "_prc_eta_error"  # standard error of that logit; 0 of a prevalence that was said
POS_FACTOR = "_prc_pos_factor"  # positives times this and negatives times NEG_FACTOR have prevalence eta
NEG_FACTOR = "_prc_neg_factor"
ETA_LIMITS = "_prc_eta_low", "_prc_eta_high"  # the interval of eta, just inside 0 and 1
ODDS = "_prc_odds"  # negatives per positive, (1 - eta) / eta
PART_ETA = "_prc_part_eta"  # prevalence of a part of a field
FIELD_ETA = "_prc_field_eta"  # prevalence of a field, from those of its parts and their shares alone
PART_SHARE = "_prc_part_share"  # its share of the field; the shares of a group sum to 1
CHECK = "_prc_check"  # the sentence of a check that is broken, in a query that is about to stop
COPY = "_prc_copy"  # number of a repeated row, such as one per metric

# One row per operating point of the greatest value of a metric
IS_MOVING = "_prc_is_moving"  # Boolean, of an operating point: whether the sample chose its threshold
IS_MAXIMIZED = "_prc_is_maximized"  # Boolean, true for such a row, null for other targets
OPTIMISM = "_prc_optimism"  # and the number of a metric: by how much its value is too good there

# One row per distinct score -------------------------------------------------------------------

CUM_POS = "_prc_cum_pos"  # positives at this score and above, plus those of all groups before
CUM_NEG = "_prc_cum_neg"
CUM_POS_ABOVE = "_prc_cum_pos_above"  # CUM_POS of the next higher score
CUM_NEG_ABOVE = "_prc_cum_neg_above"
ENDS_GROUP = "_prc_ends_group"  # Boolean, true for the last row of a group
BLOCK = "_prc_block"  # number of a block, which is the rows of a group that share a recall
IS_CORNER = "_prc_is_corner"  # Boolean, true for the first and the last row of a block
CUM_POS_SQUARES = "_prc_cum_pos_squares"  # as CUM_POS, of the squares of weights
CUM_NEG_SQUARES = "_prc_cum_neg_squares"
CUM_POS_SQUARES_ABOVE = "_prc_cum_pos_squares_above"
CUM_NEG_SQUARES_ABOVE = "_prc_cum_neg_squares_above"
# Of rows in clusters, or drawn by strata
N_POS_CLUSTERED = "_prc_n_pos_clustered"  # what the positives count as at this threshold
N_NEG_CLUSTERED = "_prc_n_neg_clustered"
N_POS_UNREACHED = "_prc_n_pos_unreached"  # what they count as where none is flagged
N_NEG_UNREACHED = "_prc_n_neg_unreached"
POS_FREEDOM = "_prc_pos_freedom"  # degrees of freedom of the variance of recall among clusters
NEG_FREEDOM = "_prc_neg_freedom"
RATE_CORRELATION = "_prc_rate_correlation"  # of recall and fpr, among clusters or strata
N_ABOVE = "_prc_n_above"  # labelled rows at this score and above, of rows that were drawn by strata
# Of rows with weights or in clusters: as how many examples they count; see `effective_alerts`
FLAGGED_SIZE = "_prc_flagged_size"  # the alerts
SILENT_SIZE = "_prc_silent_size"  # the rows that are not flagged
FLAGGED_AT_ETA = "_prc_flagged_at_eta"  # the same, or fewer, at a prevalence that is a number
SILENT_AT_ETA = "_prc_silent_at_eta"
RECALL_SIZE = "_prc_recall_size"  # the positives, for recall at this threshold
FPR_SIZE = "_prc_fpr_size"  # the negatives, for fpr at this threshold
POS_SIZE = "_prc_pos_size"  # all positives
NEG_SIZE = "_prc_neg_size"
TABLE_SIZE = "_prc_table_size"  # all rows of the group
FPR_OR_ZERO = "_prc_fpr_or_zero"  # fpr, but 0 in a group without negatives
FPR_RECALL_RATIO = "_prc_fpr_recall_ratio"  # fpr / recall
ENVELOPE = "_prc_envelope"  # least fpr / recall of this row and the rows of lower score

# A segment of the ROC curve ends at each row
RECALL_BEFORE = "_prc_recall_before"  # recall at the start of the segment
FPR_BEFORE = "_prc_fpr_before"  # fpr at the start of the segment
RISES = "_prc_rises"  # Boolean, true if a positive is on the row, though too light for a RISE above 0
RISE = "_prc_rise"  # growth of recall along the segment
RUN = "_prc_run"  # growth of fpr along the segment
FPR_GAP = "_prc_fpr_gap"  # growth of fpr over the rows that were left out before the segment
# The same of the squares of weights, whose shares tell how much an example adds to a variance
SQUARE_RECALL = "_prc_square_recall"
SQUARE_FPR = "_prc_square_fpr"
SQUARE_RECALL_BEFORE = "_prc_square_recall_before"
SQUARE_FPR_BEFORE = "_prc_square_fpr_before"
SQUARE_RISE = "_prc_square_rise"
SQUARE_RUN = "_prc_square_run"
SQUARE_GAP = "_prc_square_gap"
PLACE = "_prc_place"  # number of the row among those of its curve that have influences
