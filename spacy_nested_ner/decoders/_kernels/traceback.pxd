from libc.stdint cimport uint64_t

from .chart cimport Chart
from .labels cimport Spread


ctypedef struct Found:
    Py_ssize_t start
    Py_ssize_t length  # tokens less one


# What entropy.pyx knows of every item (NULL tables where the search space has no such item).
ctypedef struct Spreads:
    Spread* labels     # of a span that is a mention
    Spread* inside
    Spread* long
    Spread* rest       # of the tokens from i on


cdef enum Purpose:
    HIGHEST
    DRAWN
    SUMMED
    LISTED


# One of the rules that give an item, and the value of what it gives.
ctypedef struct Candidate:
    Py_ssize_t choice
    double value


# Goes through the candidates of one item.
ctypedef struct Picker:
    Purpose purpose
    Chart* chart
    double gap             # HIGHEST: from the best to the second best candidate
    double closest         # the smallest gap of all items so far
    uint64_t* state        # DRAWN: of the random numbers
    const Spreads* spreads  # SUMMED
    double value           # highest so far; DRAWN: the sum so far, relative to `peak` for logarithms
    Py_ssize_t choice
    double peak            # DRAWN: highest so far; SUMMED: the same less `value`, and sums are relative to both
    double total
    double surprise
    Candidate* listed      # LISTED: room for all candidates of an item (arena.pyx)
    Py_ssize_t n_listed


cdef Py_ssize_t highest(Chart* chart, double* closest, Found* found, Found* stack) noexcept nogil
cdef Py_ssize_t sample(Chart* chart, uint64_t* state, Found* found, Found* stack) noexcept nogil
cdef double uniform(uint64_t* state) noexcept nogil

cdef void open_item(Picker* picker) noexcept nogil
cdef Spread closed_item(const Picker* picker) noexcept nogil
cdef void offer_first_level(Picker* picker, Py_ssize_t i) noexcept nogil
cdef void offer_inside(Picker* picker, Py_ssize_t i, Py_ssize_t d) noexcept nogil
cdef void offer_long(Picker* picker, Py_ssize_t i, Py_ssize_t d) noexcept nogil
