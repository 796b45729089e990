"""Progress bars."""

from collections.abc import Iterable
from typing import Any

from tqdm import tqdm


def progress_bar(items: Iterable[Any] | None = None, *, unit: str, total: int | None = None, shown: bool) -> Any:
    """A bar that is gone when the work is done. Nothing is drawn where the output is not a terminal.

    items (Iterable[Any] | None): What to count while it is iterated over; None to call `update` instead.
    unit (str): What is counted, in the plural.
    shown (bool): Whether to draw a bar at all.
    """
    return tqdm(items, total=total, unit=f" {unit}", leave=False, disable=None if shown else True)
