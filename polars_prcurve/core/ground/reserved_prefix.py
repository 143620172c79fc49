"""The prefixes of internal column names.

No group column of a user may have such a name, and no result contains one. Each stage names its columns
in a small class beside it, such as `Row` of the input and `Population` of a group at a prevalence.
"""

from __future__ import annotations

RESERVED = "_prc_"
"""What internal names start with."""
USER_NAME = f"{RESERVED}user_"
"""What inner names of columns of a user start with, which have them for the time being."""
