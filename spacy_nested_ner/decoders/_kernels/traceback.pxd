from libc.stdint cimport int32_t, uint64_t

from .chart cimport Chart


ctypedef struct Counts:
    int32_t* mention   # labels that a span would carry as a mention; NULL: always one
    int32_t* inside    # fewest mentions among the best insides of a span
    int32_t* long      # the same for a long child and what stands left of it
    int32_t* rest      # the same for the tokens from i on


ctypedef struct Found:
    Py_ssize_t start
    Py_ssize_t length  # tokens less one


cdef Py_ssize_t highest(Chart* chart, const Counts* counts, Found* found, Found* stack) noexcept nogil
cdef void fewest(Chart* chart, Counts* counts) noexcept nogil
cdef Py_ssize_t sample(Chart* chart, uint64_t* state, Found* found, Found* stack) noexcept nogil
cdef double uniform(uint64_t* state) noexcept nogil
