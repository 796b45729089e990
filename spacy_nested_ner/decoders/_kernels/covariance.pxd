from .batch cimport Segment
from .chart cimport Chart
from .traceback cimport Candidate


# What is known of an item.
ctypedef struct Flow:
    double mean      # the expected sum of the values of its mentions; of a mention, without what is inside
    double share     # the probability that an analysis has it
    double change    # the derivative of that


# NULL tables where the search space has no such item.
ctypedef struct Flows:
    Flow* mention
    Flow* inside
    Flow* long
    Flow* rest       # of the tokens from i on


cdef void covariances(Chart* chart, const Flows* flows, Candidate* listed, const Segment* segment,
                      const Segment* values, bint multi_label, double* shares) noexcept nogil
