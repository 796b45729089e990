# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Nested mentions with any children, O(n³), and the family between. O(c·n²).

Children of up to c tokens are short, and a mention may have any number of them,
but at most one that is longer. With c >= n every child is short: the CYK-like
algorithm, rules (c)-(i) of the paper. With c = 1 it is quadratic.pyx, which is
faster at that. Token-inclusive indices, P = one + M:

    C[i,j] = I[i,j] * M[i,j]                                             (g)
    S[i,j] = I[i,j] * P[i,j]                                             (f) with (d), (e) with (c)
    D[k,j] = C[k,j], and one more for k = j: the token is no mention     (d)
    I[i,i] = one
    I[i,j] = sum over k, i < k <= j, j - k < c, of S[i,k-1] * D[k,j]  +  B[i,j]
    X[i,j] = (C[i,j] if it is longer than c)  +  B[i,j]
    B[i,j] = X[i+1,j]  +  sum over m, 1 <= m <= c, of C[i,i+m-1] * X[i+m,j]
    G[i]   = G[i+1]  +  sum over j of C[i,j] * G[j+1]                    (h)(i), from the right

The sum over k is done for a whole row at a time: as soon as S[i,k-1] is known, it
times the contiguous row k of D is added to row i of I, four such steps in one go
where no band is in the way. Scaling: chart.pxd; when
`inside` gives up: quadratic.pyx.
"""
from .chart cimport Chart, Semiring, row_length, row_offset, scratch_row


cdef int inside(Chart* chart) noexcept nogil:
    """Fill the tables from the weights. Returns 0 if the semiring cannot hold them."""
    cdef const Semiring* ring = chart.ring
    cdef Py_ssize_t n = chart.n, width = chart.width, c = chart.short
    cdef double* left = scratch_row(chart, 0)      # B
    cdef double* mentions = scratch_row(chart, 1)  # C
    cdef double* row
    cdef double* weight
    cdef Py_ssize_t i, length, here
    cdef double total, skip
    chart.total = 0.0
    for i in range(n - 1, -1, -1):
        here = row_offset(n, width, i)
        weight = chart.weight + here
        row = chart.inside + here
        length = row_length(n, width, i)

        _fill_row(chart, i, row, weight, length, left)
        total = ring.multiply_sum(mentions, row, weight, length)
        chart.total += ring.log_one_plus(total)
        skip = ring.inverse(ring.plus(ring.one, total))
        chart.skip[i] = skip
        chart.token[i] = ring.times(ring.plus(ring.one, weight[0]), skip)
        if not ring.is_safe(skip, row, length):
            return 0
        ring.scale(row, skip, row, length)
        ring.scale(chart.child + here, skip, mentions, length)
        chart.child[here] = chart.token[i]
        if c < length:
            if c + 1 < length:
                ring.add(mentions + c + 1, mentions + c + 1, left + c + 1, length - c - 1)
            ring.scale(chart.long + here + c, skip, mentions + c, length - c)
    return 1


cdef void _fill_row(Chart* chart, Py_ssize_t i, double* row, const double* weight, Py_ssize_t length,
                    double* left) noexcept nogil:
    """I of row i, not yet scaled: a triangular system, solved from its left end."""
    cdef const Semiring* ring = chart.ring
    cdef Py_ssize_t n = chart.n, width = chart.width, c = chart.short
    cdef Py_ssize_t d, k = 1
    cdef const double* children[4]
    row[0] = ring.one
    for d in range(1, length):
        row[d] = ring.zero
    if c >= length:
        while k + 4 <= length:
            for d in range(4):
                children[d] = chart.child + row_offset(n, width, i + k + d)
            ring.solve4(row + k, weight + k, children, length - k)
            k += 4
    while k < length:
        if k == c + 1:
            _left_of_long_child(chart, i, length, left)
            ring.add(row + k, row + k, left + k, length - k)
        ring.add_scaled(row + k, ring.times(row[k - 1], ring.plus(ring.one, weight[k - 1])),
                        chart.child + row_offset(n, width, i + k), min(c, length - k))
        k += 1


cdef void _left_of_long_child(Chart* chart, Py_ssize_t i, Py_ssize_t length, double* left) noexcept nogil:
    """B of row i, not yet scaled, from place c + 1 on. The first c insides are known."""
    cdef const Semiring* ring = chart.ring
    cdef Py_ssize_t n = chart.n, width = chart.width, c = chart.short
    cdef Py_ssize_t m, here = row_offset(n, width, i)
    ring.scale(left + c + 1, ring.one, chart.long + row_offset(n, width, i + 1) + c, length - c - 1)
    for m in range(1, min(c, length - c - 1) + 1):
        ring.add_scaled(
            left + c + m,
            ring.times(chart.inside[here + m - 1], chart.weight[here + m - 1]),
            chart.long + row_offset(n, width, i + m) + c,
            length - c - m)


cdef void outside(Chart* chart) noexcept nogil:
    """Turn `inside` into marginal / weight: the adjoint of `inside`, rows from the left.

    A name with `bar` is the derivative of log G[0] by that entry, scaled inversely,
    so that entry * bar is a probability.
    """
    cdef const Semiring* ring = chart.ring
    cdef Py_ssize_t n = chart.n, width = chart.width, c = chart.short
    cdef double* reach = chart.reach
    cdef double* either = scratch_row(chart, 0)
    cdef double* mentions = scratch_row(chart, 1)
    cdef double* mentions_bar = scratch_row(chart, 2)
    cdef double* inside_bar = scratch_row(chart, 3)
    cdef double* after = scratch_row(chart, 4)
    cdef double* long_bar = NULL
    cdef double* weight
    cdef double* row
    cdef Py_ssize_t i, d, k, length, here, there, cells = row_offset(n, width, n)
    for i in range(n + 1):
        reach[i] = ring.zero
    reach[0] = ring.one
    for k in range(cells):
        chart.child_bar[k] = ring.zero
    if c < width:
        for k in range(cells):
            chart.long_bar[k] = ring.zero
    for i in range(n):
        here = row_offset(n, width, i)
        weight = chart.weight + here
        row = chart.inside + here
        length = row_length(n, width, i)
        ring.one_plus(either, weight, length)
        ring.multiply(mentions, row, weight, length)

        # A complete mention is at the first level, or a short or a long child.
        ring.shift(mentions_bar, reach[i], chart.child_bar + here, min(c, length))
        if c < length:
            long_bar = chart.long_bar + here
            ring.shift(mentions_bar + c, reach[i], long_bar + c, length - c)

        for d in range(length - 1, -1, -1):
            if d == c - 1 and c + 1 < length:
                ring.add(long_bar + c + 1, long_bar + c + 1, inside_bar + c + 1, length - c - 1)
                _back_to_long_children(chart, i, length, mentions, mentions_bar)
            after[d] = ring.zero
            if d + 1 < length:
                there = row_offset(n, width, i + d + 1)
                after[d] = ring.add_scaled_dot(chart.child_bar + there, ring.times(row[d], either[d]),
                                               inside_bar + d + 1, chart.child + there,
                                               min(c, length - d - 1))
            inside_bar[d] = ring.plus(ring.times(weight[d], mentions_bar[d]),
                                      ring.times(either[d], after[d]))

        ring.add_scaled(reach + i + 1, reach[i], mentions, length)
        reach[i + 1] = ring.plus(reach[i + 1], ring.times(reach[i], chart.skip[i]))
        ring.add(after, after, mentions_bar, length)
        ring.multiply(row, row, after, length)


cdef void _back_to_long_children(Chart* chart, Py_ssize_t i, Py_ssize_t length, const double* mentions,
                                 double* mentions_bar) noexcept nogil:
    """The adjoint of `_left_of_long_child`: from B of row i to the long children it came from,
    and to the short ones on their left."""
    cdef const Semiring* ring = chart.ring
    cdef Py_ssize_t n = chart.n, width = chart.width, c = chart.short
    cdef Py_ssize_t m, there
    cdef double* left_bar = chart.long_bar + row_offset(n, width, i)
    there = row_offset(n, width, i + 1) + c
    ring.add_scaled(chart.long_bar + there, chart.skip[i], left_bar + c + 1, length - c - 1)
    for m in range(1, min(c, length - c - 1) + 1):
        there = row_offset(n, width, i + m) + c
        mentions_bar[m - 1] = ring.plus(
            mentions_bar[m - 1], ring.dot(left_bar + c + m, chart.long + there, length - c - m))
        ring.add_scaled(chart.long_bar + there, mentions[m - 1], left_bar + c + m, length - c - m)
