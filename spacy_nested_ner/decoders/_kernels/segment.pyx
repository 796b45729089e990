# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""One segment: labels to span weights, dynamic program, and back.

Sums: weights become plain numbers first and the dynamic program runs over the linear semiring. A segment whose
numbers do not fit (some weight above 80, or spans so unequal that scaling does not help) is done again over
logarithms, exactly but slower; nothing of this is visible from outside.

Ties: every mention costs a fee of TIE times the weight of the best analysis, so that of analyses of equal weight the
one with fewest mentions is the best, and a mention that weighs no more than the fee is not worth having. Almost
no segment has any such choice, so it is decoded without a fee first. If no choice on the way down is as close as all
fees together, the fee would change nothing; otherwise the chart is filled again with it.
"""
from libc.stdint cimport uint64_t

from . cimport cubic, entropy, flat, quadratic, traceback
from .arena cimport FLAT, NO_LIMIT, Arena
from .batch cimport Segment, weight_at
from .chart cimport Semiring, row_offset
from .labels cimport (
    careful_row, careful_spread_row, highest_row, linear_row, spread_row, undecided_row, uses_avx2,
)
from .output cimport Output
from .segment cimport BAD_WEIGHT, DONE, NO_MEMORY, Status

cdef extern from "rings.h" nogil:
    const Semiring* semiring_linear(int avx2)
    const Semiring* semiring_maximum(int avx2)
    const Semiring* semiring_logarithm()

cdef const Semiring* LINEAR = semiring_linear(uses_avx2())
cdef const Semiring* MAXIMUM = semiring_maximum(uses_avx2())
cdef const Semiring* LOGARITHM = semiring_logarithm()

# The one place that says what a tie is; reference.py has the same rule in one line.
cdef double TIE = 1e-12


cdef inline double* _row(Arena arena, Py_ssize_t i) noexcept nogil:
    return arena.chart.weight + row_offset(arena.chart.n, arena.chart.width, i)


cdef void _start(Arena arena, const Segment* segment, const Semiring* ring) noexcept nogil:
    arena.chart.ring = ring
    arena.chart.n, arena.chart.width = segment.n, segment.width
    arena.chart.short = arena.short_child
    # With c = 1 the quadratic program also does the segments that have no longer children.
    if arena.short_child == NO_LIMIT or arena.short_child > max(segment.width, 1):
        arena.chart.short = segment.width


cdef int _inside(Arena arena) noexcept nogil:
    if arena.short_child == FLAT:
        return flat.inside(&arena.chart)
    if arena.short_child == 1:
        return quadratic.inside(&arena.chart)
    return cubic.inside(&arena.chart)


cdef void _outside(Arena arena) noexcept nogil:
    if arena.short_child == FLAT:
        flat.outside(&arena.chart)
    elif arena.short_child == 1:
        quadratic.outside(&arena.chart)
    else:
        cubic.outside(&arena.chart)


cdef Status _find_highest(Arena arena, const Segment* segment, double fee) noexcept nogil:
    """Fill the chart of highest weights, less a fee per mention."""
    cdef Py_ssize_t i
    _start(arena, segment, MAXIMUM)
    for i in range(segment.n):
        if highest_row(segment, i, arena.multi_label, fee, arena.room.labels, _row(arena, i)):
            return BAD_WEIGHT
    _inside(arena)
    return DONE


cdef bint _has_faint_label(Arena arena, const Segment* segment, Py_ssize_t n_found, double margin) noexcept nogil:
    """Whether a label of a mention that was found adds next to nothing."""
    cdef Py_ssize_t k, t
    for k in range(n_found):
        for t in range(segment.labels):
            if 0 < weight_at(segment, arena.room.found[k].start, arena.room.found[k].length, t) <= margin:
                return True
    return False


cdef Status decode(Arena arena, const Segment* segment, Output output) noexcept nogil:
    """Write the best analysis to the output."""
    cdef Py_ssize_t n_found
    cdef double fee = 0.0, margin
    if _find_highest(arena, segment, 0.0) != DONE:
        return BAD_WEIGHT
    # Mentions do not cross: there are fewer than two per token.
    margin = TIE * arena.chart.total * 2.0 * segment.n * (segment.labels if arena.multi_label else 1)
    n_found = traceback.highest(&arena.chart, margin, arena.room.found, arena.room.stack)
    if n_found < 0 or arena.multi_label and _has_faint_label(arena, segment, n_found, margin):
        fee = TIE * arena.chart.total
        _find_highest(arena, segment, fee)
        n_found = traceback.highest(&arena.chart, -1.0, arena.room.found, arena.room.stack)
    return NO_MEMORY if output.write_best(&arena.room, segment, arena.multi_label, fee, n_found) else DONE


cdef Status sum_over_analyses(Arena arena, const Segment* segment) noexcept nogil:
    """Fill the chart over the linear semiring, or over logarithms where that fails."""
    cdef Py_ssize_t i
    cdef bint fits = True
    _start(arena, segment, LINEAR)
    for i in range(segment.n):
        if linear_row(segment, i, arena.multi_label, arena.room.labels, _row(arena, i)):
            fits = False
            break
    if fits and _inside(arena):
        return DONE
    _start(arena, segment, LOGARITHM)
    for i in range(segment.n):
        if careful_row(segment, i, arena.multi_label, arena.room.labels, _row(arena, i)):
            return BAD_WEIGHT
    _inside(arena)
    return DONE


cdef void find_marginals(Arena arena, const Segment* segment) noexcept nogil:
    """Write marginals to the output of the segment, after `sum_over_analyses`."""
    cdef Py_ssize_t i
    cdef double* factor
    _outside(arena)
    for i in range(segment.n):
        factor = arena.chart.inside + row_offset(segment.n, segment.width, i)
        if arena.chart.ring == LINEAR:
            spread_row(segment, i, arena.multi_label, _row(arena, i), factor)
        else:
            careful_spread_row(segment, i, _row(arena, i), factor)


cdef Status find_entropy(Arena arena, const Segment* segment, double* result) noexcept nogil:
    cdef Py_ssize_t i
    _start(arena, segment, MAXIMUM)
    for i in range(segment.n):
        if undecided_row(segment, i, arena.multi_label, _row(arena, i),
                         arena.spreads.labels + row_offset(segment.n, segment.width, i)):
            return BAD_WEIGHT
    _inside(arena)
    result[0] = entropy.entropy(&arena.chart, &arena.spreads)
    return DONE


cdef Status sample(Arena arena, const Segment* segment, Py_ssize_t n_samples, uint64_t seed,
                   Output output) noexcept nogil:
    """Write independent analyses to the output, each drawn with its probability."""
    cdef uint64_t state = seed
    cdef Py_ssize_t _s, n_found
    if sum_over_analyses(arena, segment) != DONE:
        return BAD_WEIGHT
    for _s in range(n_samples):
        n_found = traceback.sample(&arena.chart, &state, arena.room.found, arena.room.stack)
        if output.write_drawn(&arena.room, segment, arena.multi_label, n_found, &state):
            return NO_MEMORY
    return DONE
