# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""One segment: labels to span weights, dynamic program, and back.

Sums: weights become plain numbers first and the dynamic program runs over the linear semiring. A segment whose
numbers do not fit (some weight above 80, or spans so unequal that scaling does not help) is done again over
logarithms, exactly but slower; nothing of this is visible from outside.

Ties: every mention costs a fee of TIE times the weight of the best analysis, so that of analyses of equal weight the
one with fewest mentions is the best, and a mention that weighs no more than the fee is not worth having. Almost
no segment has any such choice, so it is decoded without a fee first. If no choice on the way down is as close as all
fees together, the fee would change nothing; otherwise the chart is filled again with it. Mentions have a positive
weight, so that where no span with such a weight crosses, the analysis falls apart into independent ones: all fees
together are those of the longest such part. Without that, long segments would always be filled twice.
"""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from . cimport covariance, cubic, entropy, flat, quadratic, traceback
from .arena cimport FLAT, NO_LIMIT, Arena
from .batch cimport Run, Segment, count_runs, set_run, weight_at
from .chart cimport Chart, Semiring, row_length, row_offset
from .labels cimport (
    careful_row, careful_spread_row, highest_run, linear_run, ranked_row, spread_run, undecided_row, uses_avx2,
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
    cdef Py_ssize_t k
    cdef Run run
    _start(arena, segment, MAXIMUM)
    for k in range(count_runs(segment)):
        set_run(&run, segment, k)
        if highest_run(segment, &run, arena.multi_label, fee, arena.room.labels, arena.chart.weight + run.place):
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


cdef Py_ssize_t _longest_part(const Chart* chart) noexcept nogil:
    """The most tokens between two places that no span of positive weight crosses, of a chart of highest weights."""
    cdef Py_ssize_t i, d, here, first = 0, last = 0, longest = 1
    for i in range(chart.n):
        if i > last:
            first = i
        here = row_offset(chart.n, chart.width, i)
        d = row_length(chart.n, chart.width, i) - 1
        while d > 0 and not chart.weight[here + d] > 0:
            d -= 1
        last = max(last, i + d)
        longest = max(longest, last - first + 1)
    return longest


cdef Status _write_best(Arena arena, const Segment* segment, Output output) noexcept nogil:
    """Write the best analysis to the output, from a chart of highest weights without a fee."""
    cdef Py_ssize_t n_found
    cdef double fee = 0.0, margin, closest
    n_found = traceback.highest(&arena.chart, &closest, arena.room.found, arena.room.stack)
    # Mentions do not cross: there are fewer than two per token.
    margin = TIE * arena.chart.total * 2.0 * (segment.labels if arena.multi_label else 1)
    if closest <= margin * segment.n or arena.multi_label:
        margin *= _longest_part(&arena.chart)
        if closest <= margin or arena.multi_label and _has_faint_label(arena, segment, n_found, margin):
            fee = TIE * arena.chart.total
            _find_highest(arena, segment, fee)
            n_found = traceback.highest(&arena.chart, &closest, arena.room.found, arena.room.stack)
    return NO_MEMORY if output.write_best(&arena.room, segment, arena.multi_label, fee, n_found) else DONE


cdef Status decode(Arena arena, const Segment* segment, Output output) noexcept nogil:
    """Write the best analysis to the output."""
    if _find_highest(arena, segment, 0.0) != DONE:
        return BAD_WEIGHT
    return _write_best(arena, segment, output)


cdef bint _read_plain(Arena arena, const Segment* segment, double* highest) noexcept nogil:
    """Fill the weights of the chart with plain numbers. `highest` may be NULL (`linear_run`). False if some number does
    not fit."""
    cdef Py_ssize_t k
    cdef Run run
    for k in range(count_runs(segment)):
        set_run(&run, segment, k)
        if linear_run(segment, &run, arena.multi_label, arena.room.labels, arena.chart.weight + run.place,
                      arena.expected + run.place if arena.expected != NULL else NULL,
                      highest + run.place if highest != NULL else NULL):
            return False
    return True


cdef Status _sum_carefully(Arena arena, const Segment* segment) noexcept nogil:
    cdef Py_ssize_t i
    _start(arena, segment, LOGARITHM)
    for i in range(segment.n):
        if careful_row(segment, i, arena.multi_label, arena.room.labels, _row(arena, i)):
            return BAD_WEIGHT
    _inside(arena)
    return DONE


cdef Status sum_over_analyses(Arena arena, const Segment* segment) noexcept nogil:
    """Fill the chart over the linear semiring, or over logarithms where that fails."""
    _start(arena, segment, LINEAR)
    if _read_plain(arena, segment, NULL) and _inside(arena):
        return DONE
    return _sum_carefully(arena, segment)


cdef Status decode_and_sum(Arena arena, const Segment* segment, Output output) noexcept nogil:
    """Both, with the weights read once if that is possible. The chart is left as `sum_over_analyses` does."""
    cdef Status status
    cdef Py_ssize_t cells = row_offset(segment.n, segment.width, segment.n)
    _start(arena, segment, MAXIMUM)
    if arena.highest == NULL or not _read_plain(arena, segment, arena.highest):
        status = decode(arena, segment, output)
        return sum_over_analyses(arena, segment) if status == DONE else status
    _swap(arena.chart.weight, arena.highest, cells)
    _inside(arena)
    status = _write_best(arena, segment, output)
    if status != DONE:
        return status
    _start(arena, segment, LINEAR)
    memcpy(arena.chart.weight, arena.highest, cells * sizeof(double))
    return DONE if _inside(arena) else _sum_carefully(arena, segment)


cdef void _swap(double* x, double* y, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(count):
        x[k], y[k] = y[k], x[k]


cdef void find_marginals(Arena arena, const Segment* segment) noexcept nogil:
    """Write marginals to the output of the segment, after `sum_over_analyses`. Without an output, only `inside`
    becomes marginal / weight of the spans."""
    cdef Py_ssize_t i, k
    cdef Run run
    _outside(arena)
    if segment.out == NULL:
        return
    if arena.chart.ring == LINEAR:
        for k in range(count_runs(segment)):
            set_run(&run, segment, k)
            spread_run(segment, &run, arena.multi_label, arena.chart.weight + run.place, arena.chart.inside + run.place)
        return
    for i in range(segment.n):
        careful_spread_row(segment, i, _row(arena, i), arena.chart.inside + row_offset(segment.n, segment.width, i))


cdef bint is_linear(Arena arena) noexcept nogil:
    """Whether the chart that was filled last is one of plain numbers."""
    return arena.chart.ring == LINEAR


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


cdef Status find_covariances(Arena arena, const Segment* segment, const Segment* values) noexcept nogil:
    """Write the covariance of every mention with the sum of `values` over an analysis to the output of the segment."""
    cdef Segment silent = segment[0]
    silent.out = NULL  # where sums would leave exp(weight)
    if sum_over_analyses(arena, &silent) != DONE:
        return BAD_WEIGHT
    covariance.covariances(&arena.chart, &arena.flows, arena.listed, segment, values, arena.multi_label,
                           <double*>arena.room.labels)
    return DONE


cdef double _smallest_weight(const Segment* segment) noexcept nogil:
    """The smallest absolute weight that is not 0; 1 if there is none."""
    cdef Py_ssize_t i, d, t
    cdef double w, smallest = INFINITY
    for i in range(segment.n):
        for d in range(row_length(segment.n, segment.width, i)):
            for t in range(segment.labels):
                w = fabs(weight_at(segment, i, d, t))
                if 0 < w < smallest:
                    smallest = w
    return smallest if smallest < INFINITY else 1.0


cdef Status rank_analyses(Arena arena, const Segment* segment, double* fee) noexcept nogil:
    """Fill the chart of highest weights less fees, with mentions of any weight. The fee is that of `decode`. Where
    nothing is worth being a mention there is none, and it is measured by the smallest weight."""
    cdef Py_ssize_t i
    if _find_highest(arena, segment, 0.0) != DONE:
        return BAD_WEIGHT
    fee[0] = TIE * (arena.chart.total if arena.chart.total > 0 else _smallest_weight(segment))
    for i in range(segment.n):
        ranked_row(segment, i, arena.multi_label, fee[0], _row(arena, i))
    _inside(arena)
    return DONE
