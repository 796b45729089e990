from libc.stdint cimport int64_t, uint64_t

from .arena cimport Room
from .batch cimport Segment


# A growing column of numbers.
ctypedef struct Column:
    int64_t* numbers
    Py_ssize_t size
    Py_ssize_t room


cdef class Output:
    cdef Column starts
    cdef Column ends
    cdef Column labels
    cdef Column offsets
    cdef int close(self) noexcept nogil
    cdef int write_best(self, Room* room, const Segment* segment, bint multi_label, double fee,
                        Py_ssize_t n_found) noexcept nogil
    cdef int write_drawn(self, Room* room, const Segment* segment, bint multi_label, Py_ssize_t n_found,
                         uint64_t* state) noexcept nogil
    cdef int _write(self, Py_ssize_t start, Py_ssize_t length, Py_ssize_t label) noexcept nogil
    cdef int _draw_label(self, double* shares, const Segment* segment, Py_ssize_t start, Py_ssize_t length,
                         uint64_t* state) noexcept nogil
    cdef int _draw_labels(self, double* weights, const Segment* segment, Py_ssize_t start, Py_ssize_t length,
                          uint64_t* state) noexcept nogil
