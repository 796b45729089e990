"""Rows of span lengths in the embedding; long lengths are rare, so they share rows."""

N_ROWS = 28
# Every length up to this one has a row of its own; beyond it, there are two rows per doubling.
_OWN_ROWS = 16


def length_row(length: int) -> int:
    """The row of a length: 17–23, 24–31, 32–47, 48–63, 64–95, … share one row each.

    length (int): Tokens of a span, from 1.
    RETURNS (int): From 0 to N_ROWS - 1.
    """
    if length <= _OWN_ROWS:
        return length - 1
    doublings = length.bit_length() - _OWN_ROWS.bit_length()
    upper_half = (length >> (length.bit_length() - 2)) & 1
    return min(_OWN_ROWS + 2 * doublings + upper_half, N_ROWS - 1)
