from libc.stdint cimport int32_t, uint8_t

from .batch cimport Segment
from .traceback cimport Found


ctypedef struct BestTables:
    uint8_t* flags          # one a span
    int32_t* choices        # one a token: 0, or tokens of the first-level mention that begins with it
    double* rest            # n + 1: weight of the best analysis of the tokens from i on
    double* token           # n + 1: 0, or the weight of token i as a mention
    double* weight          # a row of width + 1, as all that follow
    double* long_one
    double* long_other
    double* mention
    double* peaks           # one for BEST_PIECE spans of a row; less than a row
    char* labels            # the labels of one row


cdef enum:
    BEST_ROWS = 5
    TIED = -1
    BAD_ROW = -2


cdef Py_ssize_t best(const Segment* segment, bint nested, bint multi_label, BestTables* tables,
                     Found* found) noexcept nogil
