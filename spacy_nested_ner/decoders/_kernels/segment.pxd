from libc.stdint cimport uint64_t

from .arena cimport Arena
from .batch cimport Segment
from .output cimport Output


cdef enum Status:
    DONE
    BAD_WEIGHT
    NO_MEMORY


cdef Status decode(Arena arena, const Segment* segment, Output output) noexcept nogil
cdef Status sum_over_analyses(Arena arena, const Segment* segment) noexcept nogil
cdef Status decode_and_sum(Arena arena, const Segment* segment, Output output) noexcept nogil
cdef void find_marginals(Arena arena, const Segment* segment) noexcept nogil
cdef bint is_linear(Arena arena) noexcept nogil
cdef Status sample(Arena arena, const Segment* segment, Py_ssize_t n_samples, uint64_t seed,
                   Output output) noexcept nogil
cdef Status find_covariances(Arena arena, const Segment* segment, const Segment* values) noexcept nogil
cdef Status rank_analyses(Arena arena, const Segment* segment, double* fee) noexcept nogil
cdef Status find_entropy(Arena arena, const Segment* segment, double* result) noexcept nogil
