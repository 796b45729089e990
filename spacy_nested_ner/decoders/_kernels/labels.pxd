from .batch cimport Segment


# A sum over choices: its logarithm, less the weight of the best choice, and how undecided it is (entropy.pyx).
ctypedef struct Spread:
    double log_sum
    double entropy


# Whether the machine has AVX2 and may use it.
cdef bint uses_avx2() noexcept nogil

cdef int highest_row(const Segment* segment, Py_ssize_t i, bint multi_label, double fee, char* room,
                     double* weight) noexcept nogil
cdef int linear_row(const Segment* segment, Py_ssize_t i, bint multi_label, char* room,
                    double* weight) noexcept nogil
cdef void spread_row(const Segment* segment, Py_ssize_t i, bint multi_label, const double* weight,
                     const double* factor) noexcept nogil
cdef int careful_row(const Segment* segment, Py_ssize_t i, bint multi_label, char* room,
                     double* weight) noexcept nogil
cdef void careful_spread_row(const Segment* segment, Py_ssize_t i, const double* weight,
                             const double* factor) noexcept nogil
cdef int undecided_row(const Segment* segment, Py_ssize_t i, bint multi_label, double* weight,
                       Spread* spread) noexcept nogil
cdef double label_shares(const Segment* segment, Py_ssize_t i, Py_ssize_t d, bint multi_label,
                         double* shares) noexcept nogil
cdef double softplus(double x) noexcept nogil
cdef double sigmoid(double x) noexcept nogil
