# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What Python calls. Every function takes a Batch and a search space (`short_child`: see arena.pyx), releases the
GIL while it works and keeps nothing between calls.

decode          the chart of highest weights, read from the top down (traceback.pyx)
log_partition   the chart of sums, over plain numbers or over logarithms; marginals by going back through it
sample          the same chart, read from the top down by chance
entropy         the chart of highest weights, with sums relative to them (entropy.pyx)

Sums: weights become plain numbers first and the dynamic program runs over the linear semiring. A segment whose
numbers do not fit (some weight above 80, or spans so unequal that scaling does not help) is done again over
logarithms, exactly but slower; nothing of this is visible from outside.

Ties: every mention costs a fee of TIE times the weight of the best analysis, so that of analyses of equal weight the
one with fewest mentions is the best, and a mention that weighs no more than the fee is not worth having. Almost
no segment has any such choice, so it is decoded without a fee first. If no choice on the way down is as close as all
fees together, the fee would change nothing; otherwise the chart is filled again with it.
"""
from libc.stdint cimport uint64_t

from . cimport cubic, flat, quadratic, traceback
from .arena cimport FLAT, NO_LIMIT, Arena
from .batch cimport Batch, Segment, weight_at
from .chart cimport Semiring, row_offset
from .entropy cimport entropy as entropy_of
from .labels cimport (
    careful_row, careful_spread_row, highest_row, linear_row, spread_row, undecided_row, uses_avx2,
)
from .output cimport Output

cdef extern from "rings.h" nogil:
    const Semiring* semiring_linear(int avx2)
    const Semiring* semiring_maximum(int avx2)
    const Semiring* semiring_logarithm()

cdef const Semiring* LINEAR = semiring_linear(uses_avx2())
cdef const Semiring* MAXIMUM = semiring_maximum(uses_avx2())
cdef const Semiring* LOGARITHM = semiring_logarithm()

# The one place that says what a tie is; reference.py has the same rule in one line.
cdef double TIE = 1e-12

cdef enum Status:
    DONE
    BAD_WEIGHT
    NO_MEMORY


class BadWeightError(Exception):
    """A NaN, +inf or too large a weight in segment `number`: the caller knows how to say so."""

    def __init__(self, number):
        self.number = number


cdef int _check(Status status, Py_ssize_t number) except -1:
    if status == BAD_WEIGHT:
        raise BadWeightError(number)
    if status == NO_MEMORY:
        raise MemoryError(f"out of memory for the mentions of segment {number} of the batch")
    return 0


# ---- one segment ----

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


cdef Status _decode(Arena arena, const Segment* segment, Output output) noexcept nogil:
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


cdef Status _sum_over_analyses(Arena arena, const Segment* segment) noexcept nogil:
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


cdef void _find_marginals(Arena arena, const Segment* segment) noexcept nogil:
    cdef Py_ssize_t i
    cdef double* factor
    _outside(arena)
    for i in range(segment.n):
        factor = arena.chart.inside + row_offset(segment.n, segment.width, i)
        if arena.chart.ring == LINEAR:
            spread_row(segment, i, arena.multi_label, _row(arena, i), factor)
        else:
            careful_spread_row(segment, i, _row(arena, i), factor)


cdef Status _entropy(Arena arena, const Segment* segment, double* result) noexcept nogil:
    cdef Py_ssize_t i
    _start(arena, segment, MAXIMUM)
    for i in range(segment.n):
        if undecided_row(segment, i, arena.multi_label, _row(arena, i),
                         arena.spreads.labels + row_offset(segment.n, segment.width, i)):
            return BAD_WEIGHT
    _inside(arena)
    result[0] = entropy_of(&arena.chart, &arena.spreads)
    return DONE


# ---- a batch ----

def decode(Batch batch not None, Py_ssize_t short_child, bint multi_label):
    """The best analysis of every segment: arrays of starts, ends, labels and offsets."""
    cdef Arena arena = Arena(batch, short_child, multi_label)
    cdef Output output = Output()
    cdef Status status = DONE
    cdef Py_ssize_t k = 0
    with nogil:
        while k < batch.size and status == DONE:
            status = _decode(arena, &batch.segments[k], output)
            k += 1
    _check(status, k - 1)
    return output.arrays()


def log_partition(Batch batch not None, Py_ssize_t short_child, bint multi_label):
    """log Z of every segment; marginals to the outputs of the batch, if it has any."""
    cdef bint marginals = batch.outputs is not None
    cdef Arena arena = Arena(batch, short_child, multi_label, marginals)
    cdef Status status
    cdef Py_ssize_t k
    cdef list totals = []
    for k in range(batch.size):
        with nogil:
            status = _sum_over_analyses(arena, &batch.segments[k])
            if marginals and status == DONE:
                _find_marginals(arena, &batch.segments[k])
        _check(status, k)
        totals.append(arena.chart.total)
    return totals


def sample(Batch batch not None, Py_ssize_t short_child, bint multi_label, Py_ssize_t n_samples, uint64_t seed):
    """Independent samples of every segment, as the arrays of `decode`: first all of segment 0, and so on. They depend
    on the seed and on the number of the segment in the batch."""
    cdef Arena arena = Arena(batch, short_child, multi_label)
    cdef Output output = Output()
    cdef Status status = DONE
    cdef Py_ssize_t k = 0, s, n_found
    cdef uint64_t state
    with nogil:
        while k < batch.size and status == DONE:
            state = seed + <uint64_t>k * <uint64_t>0xD1342543DE82EF95
            status = _sum_over_analyses(arena, &batch.segments[k])
            s = 0
            while s < n_samples and status == DONE:
                n_found = traceback.sample(&arena.chart, &state, arena.room.found, arena.room.stack)
                if output.write_drawn(&arena.room, &batch.segments[k], multi_label, n_found, &state):
                    status = NO_MEMORY
                s += 1
            k += 1
    _check(status, k - 1)
    return output.arrays()


def entropy(Batch batch not None, Py_ssize_t short_child, bint multi_label):
    """The entropy of every segment, whatever the size of its weights."""
    cdef Arena arena = Arena(batch, short_child, multi_label, False, True)
    cdef Status status
    cdef Py_ssize_t k
    cdef double result = 0.0
    cdef list results = []
    for k in range(batch.size):
        with nogil:
            status = _entropy(arena, &batch.segments[k], &result)
        _check(status, k)
        results.append(result)
    return results
