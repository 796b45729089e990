# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Flat mentions: the semi-Markov algorithm, rules (a) and (b) of the paper. O(n²).

    G[i] = G[i+1]  +  sum over j of M[i,j] * G[j+1]

read from the right, so that a row of spans with one start is one contiguous
sum. Notation and scaling: chart.pxd. Nothing is inside a mention, so its
scaled inside is just G[j+1] / G[i]. That may underflow without harm: it is only
ever multiplied with the weight of a first-level mention, and the product is an
upper bound of that mention's probability.
"""
from .chart cimport Chart, Semiring, row_length, row_offset, scratch_row


cdef int inside(Chart* chart) noexcept nogil:
    """Fill the tables from the weights. Always succeeds."""
    cdef const Semiring* ring = chart.ring
    cdef double* mentions = scratch_row(chart, 0)
    cdef double* row
    cdef Py_ssize_t i, length
    cdef double total
    # reach[j] is G[j+1] / G[i+1] while row i is computed.
    cdef double* rest = chart.reach
    chart.total = 0.0
    for i in range(chart.n - 1, -1, -1):
        row = chart.inside + row_offset(chart.n, chart.width, i)
        length = row_length(chart.n, chart.width, i)
        rest[i] = ring.one
        total = ring.multiply_sum(mentions, rest + i, chart.weight + (row - chart.inside), length)
        chart.total += ring.log_one_plus(total)
        chart.skip[i] = ring.inverse(ring.plus(ring.one, total))
        ring.scale(rest + i, chart.skip[i], rest + i, length)
        ring.scale(row, ring.one, rest + i, length)
        chart.token[i] = chart.skip[i]
    return 1


cdef void outside(Chart* chart) noexcept nogil:
    """Turn `inside` into marginal / weight, from the left."""
    cdef const Semiring* ring = chart.ring
    cdef double* reach = chart.reach
    cdef double* mentions = scratch_row(chart, 0)
    cdef double* row
    cdef Py_ssize_t i, length
    for i in range(chart.n + 1):
        reach[i] = ring.zero
    reach[0] = ring.one
    for i in range(chart.n):
        row = chart.inside + row_offset(chart.n, chart.width, i)
        length = row_length(chart.n, chart.width, i)
        ring.multiply(mentions, row, chart.weight + (row - chart.inside), length)
        ring.add_scaled(reach + i + 1, reach[i], mentions, length)
        reach[i + 1] = ring.plus(reach[i + 1], ring.times(reach[i], chart.skip[i]))
        ring.scale(row, reach[i], row, length)
