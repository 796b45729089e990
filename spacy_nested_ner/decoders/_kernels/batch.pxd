from cpython.buffer cimport Py_buffer
from libc.string cimport memcpy

from .chart cimport row_length, row_offset


ctypedef struct Segment:
    const char* data
    char* out               # marginals, in the same order; NULL if not wanted
    Py_ssize_t n
    Py_ssize_t labels
    Py_ssize_t width        # longest span that the decoder looks at
    Py_ssize_t stored       # longest span in a packed row; 0: a dense (n, n, labels) array
    Py_ssize_t offset       # first cell of a packed segment
    Py_ssize_t row_step     # bytes between the rows, spans and labels of a dense array
    Py_ssize_t span_step
    Py_ssize_t label_step   # for packed scores: bytes between the planes of two labels
    Py_ssize_t out_step     # bytes from the marginals of one token to those of the next in a dense output
    bint is_double
    bint labels_together    # the labels of a span are neighbors in memory


cdef class Batch:
    cdef Segment* segments
    cdef Py_ssize_t size
    cdef readonly list outputs  # the arrays of marginals; None if not wanted
    cdef Py_buffer* views
    cdef Py_ssize_t n_views
    cdef int _set_output(self, Segment* segment, object output) except -1
    cdef Py_buffer* _acquire(self, object array, int axes, bint writable) except NULL


cdef inline const char* row_of(const Segment* segment, Py_ssize_t i) noexcept nogil:
    """The first label of the span of token i alone."""
    if segment.stored:
        return segment.data + (segment.offset + row_offset(segment.n, segment.stored, i)) * segment.span_step
    return segment.data + i * (segment.row_step + segment.span_step)


cdef inline char* out_row_of(const Segment* segment, Py_ssize_t i) noexcept nogil:
    """The same place in the marginals. The spans of a row lie together, and so do the labels of a span."""
    if segment.stored:
        return segment.out + (segment.offset + row_offset(segment.n, segment.stored, i)) * segment.span_step
    return segment.out + i * segment.out_step


# Spans whose label weights follow each other in memory as their places in the chart do.
ctypedef struct Run:
    Py_ssize_t place        # of the first span in the chart
    Py_ssize_t length
    const char* data
    char* out


cdef inline Py_ssize_t count_runs(const Segment* segment) noexcept nogil:
    """A packed segment is a single run if the decoder looks at all of its spans; otherwise every row is one."""
    return 1 if segment.stored and segment.stored == segment.width else segment.n


cdef inline void set_run(Run* run, const Segment* segment, Py_ssize_t k) noexcept nogil:
    run.place = row_offset(segment.n, segment.width, k)
    run.length = row_length(segment.n, segment.width, k)
    if count_runs(segment) == 1:
        run.length = row_offset(segment.n, segment.width, segment.n)
    run.data = row_of(segment, k)
    run.out = out_row_of(segment, k) if segment.out != NULL else NULL


cdef inline double read_weight(const Segment* segment, const char* place) noexcept nogil:
    """One weight, aligned or not."""
    cdef double value
    cdef float single
    if segment.is_double:
        memcpy(&value, place, 8)
        return value
    memcpy(&single, place, 4)
    return single


cdef inline double weight_at(const Segment* segment, Py_ssize_t i, Py_ssize_t d, Py_ssize_t t) noexcept nogil:
    return read_weight(segment, row_of(segment, i) + d * segment.span_step + t * segment.label_step)
