"""Warnings to the user."""

import sys
import warnings


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn like `warnings.warn`, without a line of source code below the message.

    Python looks the line up in the file that a warning names. This names the calling module instead, which says as
    much and is no file. Filters by category, message and module work as usual.

    message (str): What happened, what was found and what to do.
    category (type[Warning]): For filters.
    """
    caller = sys._getframe(1)
    module = caller.f_globals["__name__"]
    registry = caller.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, module, caller.f_lineno, module, registry)
