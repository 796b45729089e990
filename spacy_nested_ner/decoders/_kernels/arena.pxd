from .batch cimport Batch
from .chart cimport Chart
from .traceback cimport Found, Spreads

cdef enum:
    FLAT = 0
    NO_LIMIT = -1


# What is needed besides a chart: the mentions of one segment, the labels of one row.
ctypedef struct Room:
    Found* found            # 2n mentions
    Found* sorted
    Found* stack
    Py_ssize_t* places      # n
    char* labels


cdef class Arena:
    cdef Chart chart
    cdef Room room
    cdef Spreads spreads
    cdef readonly Py_ssize_t short_child
    cdef readonly bint multi_label
    cdef char* memory
    cdef char* next
    cdef double bytes
    cdef void* _take(self, Py_ssize_t count, Py_ssize_t size) noexcept
    cdef double* _take_doubles(self, Py_ssize_t count) noexcept
    cdef void _lay_out(self, Py_ssize_t n, Py_ssize_t width, Py_ssize_t cells, Py_ssize_t labels, bint marginals,
                       bint entropy) noexcept
