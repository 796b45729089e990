from .batch cimport Run, Segment


# A sum over choices: its logarithm, less the weight of the best choice, and how undecided it is (entropy.pyx).
ctypedef struct Spread:
    double log_sum
    double entropy


# Whether the machine has AVX2 and may use it.
cdef bint uses_avx2() noexcept nogil

cdef int highest_run(const Segment* segment, const Run* run, bint multi_label, double fee, char* room,
                     double* weight) noexcept nogil
cdef int linear_run(const Segment* segment, const Run* run, bint multi_label, char* room, double* weight,
                    double* expected, double* highest) noexcept nogil
cdef void spread_run(const Segment* segment, const Run* run, bint multi_label, const double* weight,
                     const double* factor) noexcept nogil
cdef void rescale_run(const Segment* segment, const Run* run, double divisor, double less, const Segment* target,
                      char* to) noexcept nogil
cdef double label_marginal(const Segment* segment, Py_ssize_t i, Py_ssize_t d, Py_ssize_t t, bint multi_label,
                           double weight, double factor) noexcept nogil
cdef double careful_label_marginal(const Segment* segment, Py_ssize_t i, Py_ssize_t d, Py_ssize_t t, bint multi_label,
                                   char* room, double weight, double factor) noexcept nogil
cdef int careful_row(const Segment* segment, Py_ssize_t i, bint multi_label, char* room,
                     double* weight) noexcept nogil
cdef void careful_spread_row(const Segment* segment, Py_ssize_t i, const double* weight,
                             const double* factor) noexcept nogil
cdef int undecided_row(const Segment* segment, Py_ssize_t i, bint multi_label, double* weight,
                       Spread* spread) noexcept nogil
cdef int ranked_row(const Segment* segment, Py_ssize_t i, bint multi_label, double fee,
                    double* weight) noexcept nogil
cdef double label_shares(const Segment* segment, Py_ssize_t i, Py_ssize_t d, bint multi_label,
                         double* shares) noexcept nogil
cdef double softplus(double x) noexcept nogil
cdef double sigmoid(double x) noexcept nogil
