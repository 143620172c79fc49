"""Columns of populations, which are groups at prevalences, and of the parts of a field."""

from __future__ import annotations


class Population:
    """A group at a prevalence."""

    HAS_ETA_ROW = "_prc_has_eta_row"  # true if the eta= frame has a row for the group, null otherwise
    ETA_ROW = "_prc_eta_row"  # number of a row of the grid, which orders equal prevalences
    POS_FACTOR = "_prc_pos_factor"  # with this and NEG_FACTOR the cells have the prevalence eta
    NEG_FACTOR = "_prc_neg_factor"
    COPY = "_prc_copy"  # number of a repeated row, such as one per metric
    NUMBER = "_prc_population"  # number of the population


class Part:
    """A part of a field, such as a country."""

    ETA = "_prc_part_eta"  # prevalence of a part of a field
    SHARE = "_prc_part_share"  # its share of the field; the shares of a group sum to 1
    FIELD_ETA = "_prc_field_eta"  # prevalence of a field, from those of its parts and their shares alone
