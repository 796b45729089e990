# cython: language_level=3
"""The tables of one segment, shared by all kernels.

Spans are kept by rows: row i holds the spans that start with token i, from one
token up to `width` tokens, as far as the segment reaches, so that d = end - start
of a span (end inclusive) is its place in the row. Rows follow each other with no
gaps. This is also the order of packed scores (packed.py).

All numbers are those of a semiring (semiring.h). Names, with the items of the paper:

    weight[i,d]   M     the span as a mention, over all its labels  [t, i, j]
    inside[i,d]   I     what can be inside such a mention        [right-open, i, j]
    child[i,d]    D     the span as a short child, or for d = 0 just a token
    long[i,d]     X     a long child that ends here, and what is left of it
    skip[i]       r     a token that begins no mention
    token[i]      u     a token that is a mention or is not: P[i,i] times r[i]

Scaling. Let G[i] be the sum over all analyses of the tokens from i on (G[n] = one).
Every entry of the tables for the tokens i..j is kept times G[j+1] / G[i]. Because
items are put together end to end, these factors cancel in every rule, and what is
left of them is one factor skip[i] = G[i+1] / G[i] for a row: the row is first
computed without it, its complete mentions then sum up to G[i] / G[i+1] - one.
Because analyses of i..j and of j+1..n together are analyses of i..n, every scaled
number lies between 0 and 1, log G[0] is the sum of n small logarithms, and no
logarithm or exponential is left inside the loops.
"""

cdef extern from "semiring.h" nogil:
    ctypedef struct Semiring:
        double zero
        double one
        double (*plus)(double, double) noexcept nogil
        double (*times)(double, double) noexcept nogil
        double (*inverse)(double) noexcept nogil
        double (*log_one_plus)(double) noexcept nogil
        double (*linear)(double) noexcept nogil
        void (*one_plus)(double*, const double*, Py_ssize_t) noexcept nogil
        void (*shift)(double*, double, const double*, Py_ssize_t) noexcept nogil
        void (*scale)(double*, double, const double*, Py_ssize_t) noexcept nogil
        void (*multiply)(double*, const double*, const double*, Py_ssize_t) noexcept nogil
        void (*add)(double*, const double*, const double*, Py_ssize_t) noexcept nogil
        void (*add_scaled)(double*, double, const double*, Py_ssize_t) noexcept nogil
        void (*add_product)(double*, const double*, const double*, Py_ssize_t) noexcept nogil
        double (*dot)(const double*, const double*, Py_ssize_t) noexcept nogil
        double (*multiply_sum)(double*, const double*, const double*, Py_ssize_t) noexcept nogil
        double (*add_scaled_dot)(double*, double, const double*, const double*, Py_ssize_t) noexcept nogil
        void (*scale_sum)(double*, double, const double*, double, const double*, Py_ssize_t) noexcept nogil
        void (*scan)(double*, const double*, const double*, double, const double*, Py_ssize_t) noexcept nogil
        void (*scan_back)(double*, const double*, const double*, const double*, Py_ssize_t) noexcept nogil
        void (*solve4)(double*, const double*, const double* const*, Py_ssize_t) noexcept nogil
        int (*is_safe)(double, const double*, Py_ssize_t) noexcept nogil


ctypedef struct Chart:
    const Semiring* ring
    Py_ssize_t n          # tokens
    Py_ssize_t width      # longest span, at most n
    Py_ssize_t short      # c: children up to this many tokens are short; 0: no children at all
    double* weight
    double* inside        # after `outside`: marginal of the span / weight
    double* child         # cubic only
    double* long          # only where short < width
    double* child_bar     # cubic only, adjoint of child
    double* long_bar      # cubic only, adjoint of long
    double* skip          # n + 1
    double* token         # n + 1
    double* reach         # n + 1, for `outside`: boundary i is crossed by no mention
    double* token_bar     # n + 1, quadratic only, adjoint of token
    double* rows          # room for SCRATCH_ROWS rows of width + 1
    double total          # log of the sum over all analyses, or the highest weight


cdef enum:
    SCRATCH_ROWS = 6


cdef inline Py_ssize_t row_offset(Py_ssize_t n, Py_ssize_t width, Py_ssize_t i) noexcept nogil:
    """Where row i begins: all rows are `width` long but the last ones."""
    cdef Py_ssize_t cut = i - (n - width)
    if cut <= 0:
        return i * width
    return i * width - cut * (cut - 1) // 2


cdef inline Py_ssize_t row_length(Py_ssize_t n, Py_ssize_t width, Py_ssize_t i) noexcept nogil:
    return width if width < n - i else n - i


cdef inline double* scratch_row(Chart* chart, int number) noexcept nogil:
    return chart.rows + number * (chart.width + 1)
