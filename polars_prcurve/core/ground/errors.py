"""The exception and the warning of the package."""

from __future__ import annotations

import sys
import warnings

from polars_prcurve.core.ground.visible_names import make_visible, shorten_name

_PACKAGE_NAME = "polars_prcurve"  # marks frames of the package, other than those of the user
_MAX_MESSAGE_LETTERS = 1_000  # of a message: about ten lines of a terminal


class PrcError(ValueError):
    """Input, or an argument, that `polars_prcurve` refuses.

    The message about an argument begins with what to do, or with what is expected; one about values
    begins with what is wrong with them, and in how many rows. It is one short line, in which names from
    the user's table cannot control a terminal.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten_name(make_visible(message), _MAX_MESSAGE_LETTERS))


class PrcWarning(UserWarning):
    """A result that was computed as requested, but is worthless; the text has the reason."""


for _public_class in (PrcError, PrcWarning):
    # A traceback names what users catch: `polars_prcurve.PrcError`.
    _public_class.__module__ = _PACKAGE_NAME


def warn_caller(message: str) -> None:
    """Warn at the line of the user's that called the package."""
    stack_depth, stack_frame = 2, sys._getframe(1)
    while stack_frame.f_back is not None and stack_frame.f_globals.get("__name__", "").startswith(
        _PACKAGE_NAME
    ):
        stack_depth, stack_frame = stack_depth + 1, stack_frame.f_back
    short_message = shorten_name(make_visible(message), _MAX_MESSAGE_LETTERS)
    warnings.warn(short_message, PrcWarning, stacklevel=stack_depth)
