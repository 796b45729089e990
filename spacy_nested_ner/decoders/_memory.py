"""Refuse requests that do not fit into memory."""

import os

# Requests below _SMALL are not checked, and no machine has _IMPOSSIBLE bytes.
_SMALL = 2.0**30
_IMPOSSIBLE = 2.0**60


def physical_memory() -> float:
    """Bytes of memory that the machine has, as far as the system says so."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _IMPOSSIBLE


def check_memory(size: float, n_tokens: int, width: int, marginals: bool) -> None:
    """Raise MemoryError if tables of `size` bytes cannot fit.

    Systems that promise more memory than they have would end the process instead.
    """
    if is_too_large(size):
        raise out_of_memory(size, n_tokens, width, marginals, f", {more_than_there_is()}")


def is_too_large(size: float) -> bool:
    """Whether so many bytes cannot fit."""
    return size > _SMALL and size > physical_memory()


def more_than_there_is() -> str:
    """For messages."""
    return f"more than the {physical_memory() / 2**30:.1f} GiB there are"


def out_of_memory(size: float, n_tokens: int, width: int, marginals: bool, why: str = "") -> MemoryError:
    """The error for tables of `size` bytes that do not fit."""
    return MemoryError(
        f"{'marginals of' if marginals else 'decoding'} a segment of {n_tokens} tokens with spans of up to {width} "
        f"tokens needs {size / 2**30:.1f} GiB{why}: set max_span_length, or split the text into sentences"
    )
