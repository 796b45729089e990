# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Nested mentions with at most one child of two tokens or more. O(n²).

The rules (d), (f)-(i) and (j)-(p) of the paper, factorized. With token-inclusive
indices, M[i,j] the weight of a mention over its labels, and P[i,j] = one + M[i,j]
("a mention or not"):

    C[i,j] = I[i,j] * M[i,j]                                  (g)
    I[i,i] = one
    I[i,j] = I[i,j-1] * P[i,j-1] * P[j,j]  +  B[i,j]          (d)(f)(j)(k) + (p)
    B[i,j] = P[i,i] * X[i+1,j]              for j >= i + 2    (l)(m)(n)(o)
    X[i,j] = C[i,j] + B[i,j]                for j >= i + 1
    G[i]   = G[i+1] + sum over j of C[i,j] * G[j+1]           (h)(i), from the right

I + C = I * P folds rules (d) with (f) and (j) with (k); one + M[i,i] folds (l) with
(m) and (n) with (o). Row i needs row i + 1 only: B is one row operation, I a scan
along the row. With scaled numbers (chart.pxd) P[j,j] * G[j+1] / G[j] is token[j],
and B takes row i + 1 as it is.

The linear chart is exact while no inside comes near underflow (semiring.h,
is_safe); otherwise `inside` gives up and the segment is done over logarithms.
"""
from .chart cimport Chart, Semiring, row_length, row_offset, scratch_row


cdef int inside(Chart* chart) noexcept nogil:
    """Fill the tables from the weights. Returns 0 if the semiring cannot hold them."""
    cdef const Semiring* ring = chart.ring
    cdef Py_ssize_t n = chart.n, width = chart.width
    cdef double* mentions = scratch_row(chart, 0)  # C
    cdef double* weight
    cdef double* row
    cdef double* long
    cdef double* long_next = NULL
    cdef Py_ssize_t i, length
    cdef double either, total, skip
    chart.total = 0.0
    for i in range(n - 1, -1, -1):
        weight = chart.weight + row_offset(n, width, i)
        row = chart.inside + (weight - chart.weight)
        long = chart.long + (weight - chart.weight)
        length = row_length(n, width, i)
        either = ring.plus(ring.one, weight[0])

        # B[i,j] is `either` times the place before j in row i + 1 of X.
        ring.scan(row, weight, chart.token + i + 1, either, long_next, length)
        total = ring.multiply_sum(mentions, row, weight, length)
        chart.total += ring.log_one_plus(total)
        skip = ring.inverse(ring.plus(ring.one, total))
        chart.skip[i] = skip
        chart.token[i] = ring.times(either, skip)
        if not ring.is_safe(skip, row, length):
            return 0
        ring.scale(row, skip, row, length)
        ring.scale_sum(long + 1, skip, mentions + 1, either, long_next, length - 1)
        long[0] = ring.zero  # one token is no long child
        long_next = long
    return 1


cdef void outside(Chart* chart) noexcept nogil:
    """Turn `inside` into marginal / weight: the adjoint of `inside`, rows from the left.

    A name with `bar` is the derivative of log G[0] by that entry, scaled inversely,
    so that entry * bar is a probability.
    """
    cdef const Semiring* ring = chart.ring
    cdef Py_ssize_t n = chart.n, width = chart.width
    cdef double* reach = chart.reach
    cdef double* token = chart.token
    cdef double* either = scratch_row(chart, 0)
    cdef double* mentions = scratch_row(chart, 1)
    cdef double* mentions_bar = scratch_row(chart, 2)
    cdef double* inside_bar = scratch_row(chart, 3)
    cdef double* long_bar = scratch_row(chart, 4)
    cdef double* after = scratch_row(chart, 5)
    cdef double* weight
    cdef double* row
    cdef double* long_next
    cdef Py_ssize_t i, d, length
    for i in range(n + 1):
        reach[i] = ring.zero
        chart.token_bar[i] = ring.zero
    for d in range(width + 1):
        long_bar[d] = ring.zero
    reach[0] = ring.one
    for i in range(n):
        weight = chart.weight + row_offset(n, width, i)
        row = chart.inside + (weight - chart.weight)
        length = row_length(n, width, i)
        ring.one_plus(either, weight, length)
        ring.multiply(mentions, row, weight, length)

        # A complete mention is at the first level, or a long child of an earlier
        # row, or as one token a short child anywhere.
        ring.shift(mentions_bar, reach[i], long_bar, length)
        mentions_bar[0] = ring.plus(reach[i], chart.token_bar[i])
        ring.scan_back(inside_bar, weight, token + i + 1, mentions_bar, length)

        # The same as first child of a longer mention: what follows in the scan.
        ring.multiply(after, token + i + 1, inside_bar + 1, length - 1)
        after[length - 1] = ring.zero
        ring.multiply(either, either, row, length)
        ring.add_product(chart.token_bar + i + 1, either, inside_bar + 1, length - 1)

        ring.add_scaled(reach + i + 1, reach[i], mentions, length)
        reach[i + 1] = ring.plus(reach[i + 1], ring.times(reach[i], chart.skip[i]))

        # From B back to row i + 1, which may be one span longer than this one.
        if length > 2:
            long_next = chart.long + row_offset(n, width, i + 1)
            ring.add(long_bar + 2, long_bar + 2, inside_bar + 2, length - 2)
            mentions_bar[0] = ring.plus(
                mentions_bar[0], ring.dot(long_bar + 2, long_next + 1, length - 2))
            ring.scale(long_bar + 1, token[i], long_bar + 2, length - 2)  # to the left, in place
        if length > 1:
            long_bar[length - 1] = ring.zero
        long_bar[0] = ring.zero
        ring.add(after, after, mentions_bar, length)
        ring.multiply(row, row, after, length)
