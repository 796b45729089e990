"""Saying no before the machine does."""

import os

# Below this a request is not worth a look at the machine.
_SMALL = 1 << 30


def _available() -> float:
    """Bytes that can be had without swapping, as far as the system tells."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return float("inf")


def check_memory(size: int, n_tokens: int, width: int, marginals: bool) -> None:
    """Raise MemoryError if tables of `size` bytes do not fit.

    Systems that promise more memory than they have would end the process instead.
    """
    if size < _SMALL:
        return
    available = _available()
    if size > available:
        raise MemoryError(
            f"{'marginals of' if marginals else 'decoding'} a segment of {n_tokens} tokens with spans of up to "
            f"{width} tokens needs {size / 2**30:.1f} GiB, and {available / 2**30:.1f} GiB are free: set "
            f"max_span_length, or split the text into sentences"
        )
