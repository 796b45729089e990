from libc.stdint cimport int64_t, uint64_t

from .arena cimport Room
from .batch cimport Segment


# A mention, as it is written.
ctypedef struct Labeled:
    Py_ssize_t start
    Py_ssize_t length  # tokens less one
    Py_ssize_t label


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
    # Of mentions and analyses, if they are wanted.
    cdef Column probabilities
    cdef Column log_partitions
    cdef Column log_probabilities
    cdef Column entropies
    cdef Column weights
    cdef Py_ssize_t length_of(self, Py_ssize_t row) noexcept nogil
    cdef int write_probability(self, double probability) noexcept nogil
    cdef int write_summary(self, double log_partition, double log_probability, double entropy) noexcept nogil
    cdef double entropy_of(self, Py_ssize_t number) noexcept nogil
    cdef void set_entropy(self, Py_ssize_t number, double entropy) noexcept nogil
    cdef int write_ranked(self, const Labeled* mentions, Py_ssize_t n_mentions, double weight) noexcept nogil
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
