# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The best analysis in the flat and in the quadratic search space, with hardly any memory.

The recurrences are those of flat.pyx and quadratic.pyx over the maximum semiring. What the
way back down needs to know fits one byte a span (best.h), so that nothing but the current
rows and these bytes is kept. When the way down meets two choices of equal weight it gives
up, and the segment is decoded by the general method, which counts mentions (traceback.pyx).
"""
from libc.stdint cimport int32_t, uint8_t

from .batch cimport Segment
from .best cimport BestTables
from .chart cimport row_length, row_offset
from .traceback cimport Found
from .weights cimport highest_row, uses_avx2

cdef extern from "best.h" nogil:
    enum:
        BEST_PIECE
        BEST_IS_POSITIVE
        BEST_IS_LEFTWARD
        BEST_IS_CHILD
        BEST_IS_TIED
    ctypedef struct BestRows:
        double (*peak)(const double*, const double*, Py_ssize_t) noexcept nogil
        double (*first_level)(const double*, const double*, const double*, double, Py_ssize_t,
                              int32_t*) noexcept nogil
        double (*row)(const double*, const double*, double, const double*, double*, uint8_t*, double*, double,
                      double, Py_ssize_t, Py_ssize_t) noexcept nogil
    const BestRows* best_rows(int avx2)

cdef const BestRows* ROWS = best_rows(uses_avx2())
cdef Py_ssize_t PIECE = BEST_PIECE


cdef Py_ssize_t best(const Segment* segment, bint nested, bint multi_label, BestTables* tables,
                     Found* found) noexcept nogil:
    """Write the mentions of the best analysis to `found` and return how many; TIED or BAD_ROW."""
    cdef Py_ssize_t i, begin, end, length, n = segment.n
    cdef double* long_next = tables.long_one
    cdef double* long_own = tables.long_other
    cdef double* mention = tables.mention if nested else tables.weight
    cdef double* rest
    cdef double inside
    tables.rest[n] = 0.0
    for i in range(n - 1, -1, -1):
        length = row_length(n, segment.width, i)
        rest = tables.rest + i + 1
        # In pieces that stay in the fastest memory from the first step to the last.
        begin = 0
        while begin < length:
            end = min(begin + PIECE, length)
            if highest_row(segment, i, begin, end, multi_label, tables.labels, tables.weight):
                return BAD_ROW
            if nested:
                if begin == 0:
                    tables.token[i] = max(tables.weight[0], 0.0)
                    inside = 0.0
                inside = ROWS.row(
                    tables.weight, tables.token + i + 1, tables.token[i], long_next, long_own,
                    tables.flags + row_offset(n, segment.width, i), mention, rest[0], inside, begin, end)
            tables.peaks[begin // PIECE] = ROWS.peak(mention + begin, rest + begin, end - begin)
            begin = end
        if nested:
            long_next, long_own = long_own, long_next
        tables.rest[i] = ROWS.first_level(mention, rest, tables.peaks, rest[0], length, &tables.choices[i])
    return _trace(segment, nested, tables, found)


cdef Py_ssize_t _trace(const Segment* segment, bint nested, const BestTables* tables,
                       Found* found) noexcept nogil:
    cdef Py_ssize_t first = 0, n_found = 0
    cdef int32_t choice
    while first < segment.n:
        choice = tables.choices[first]
        if choice < 0:
            return TIED
        if choice > 0:
            found[n_found] = Found(first, choice - 1)
            n_found += 1
            if nested:
                n_found = _trace_inside(segment, tables, first, choice - 1, found, n_found)
                if n_found < 0:
                    return TIED
        first += max(choice, 1)
    return n_found


cdef Py_ssize_t _trace_inside(const Segment* segment, const BestTables* tables, Py_ssize_t i, Py_ssize_t d,
                              Found* found, Py_ssize_t n_found) noexcept nogil:
    """Add what stands inside the span [i, d]. Short children have no inside, and there is one
    long child at most, so that one loop does for all levels."""
    cdef Py_ssize_t n = segment.n, width = segment.width
    cdef bint in_long = False
    cdef uint8_t flags
    while d > 0:
        flags = tables.flags[row_offset(n, width, i) + d]
        if flags & BEST_IS_TIED:
            return TIED
        if in_long and flags & BEST_IS_CHILD:
            found[n_found] = Found(i, d)
            n_found += 1
            in_long = False
        elif in_long or flags & BEST_IS_LEFTWARD:
            in_long = True
            if tables.token[i] > 0:
                found[n_found] = Found(i, 0)
                n_found += 1
            i += 1
            d -= 1
        else:
            if tables.token[i + d] > 0:
                found[n_found] = Found(i + d, 0)
                n_found += 1
            d -= 1
            if tables.flags[row_offset(n, width, i) + d] & BEST_IS_POSITIVE:
                found[n_found] = Found(i, d)
                n_found += 1
    return n_found
