from .batch cimport Batch
from .chart cimport Chart
from .covariance cimport Flows
from .traceback cimport Candidate, Found, Spreads

cdef enum:
    FLAT = 0
    NO_LIMIT = -1
    MOST_PIECES = 32


# What is needed besides a chart: the mentions of one segment, the labels of one row.
ctypedef struct Room:
    Found* found            # 2n mentions
    Found* sorted
    Found* stack
    Py_ssize_t* places      # n
    char* labels


# What the segments of a call need.
ctypedef struct Needs:
    Py_ssize_t n            # tokens
    Py_ssize_t width        # longest span
    Py_ssize_t cells        # spans
    Py_ssize_t labels       # label weights of one row
    Py_ssize_t most_labels  # of one span
    Py_ssize_t copy         # label weights of a packed segment
    Py_ssize_t copies
    bint marginals
    bint entropy
    bint expected
    bint flows
    bint listed


cdef class Arena:
    cdef Chart chart
    cdef Room room
    cdef Spreads spreads
    cdef Flows flows
    cdef Candidate* listed      # all candidates of one item; may be NULL
    cdef double* expected       # for every span, what becomes its part of the expected weight; may be NULL
    cdef double* highest        # for every span, its weight in an analysis of highest weight; may be NULL
    cdef char* weights_copy     # label weights of a packed segment; may be NULL
    cdef char* marginals_copy
    cdef readonly Py_ssize_t short_child
    cdef readonly bint multi_label
    cdef char* memory
    cdef char* next
    cdef void* pieces[MOST_PIECES]  # of a build for tests (pages.h); otherwise one piece of memory has everything
    cdef int n_pieces
    cdef double bytes
    cdef void* _take(self, Py_ssize_t count, Py_ssize_t size) noexcept
    cdef double* _take_doubles(self, Py_ssize_t count) noexcept
    cdef void _lay_out(self, const Needs* needs) noexcept
