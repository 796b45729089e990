from .arena cimport Arena
from .batch cimport Segment
from .output cimport Output
from .segment cimport Status


# What is asked of the scores.
ctypedef struct Question:
    double temperature      # weights are divided by it
    bint by_threshold       # False: the most probable analysis
    double threshold        # True: that with the highest sum of (marginal - threshold) over its mentions


cdef Py_ssize_t copies_for(const Question* question) noexcept nogil
cdef Status analyze(Arena arena, const Segment* segment, const Question* question, Output output) noexcept nogil
cdef Status analyze_entropy(Arena arena, const Segment* segment, const Question* question,
                            double* result) noexcept nogil
