"""The prefix of internal column names.

No group column of a user may have such a name, and no result contains one. Each stage names its columns
in a small class beside it, such as `Row` of the input and `Pair` of a group at a prevalence.
"""

from __future__ import annotations

RESERVED = "_prc_"
"""What internal names start with."""
