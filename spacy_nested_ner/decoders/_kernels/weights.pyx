# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Labels leave the dynamic programs at once: a row of label weights becomes a row with one
weight a span, and marginals of spans are spread over their labels again at the end.

Functions of a row take a segment and its token i; `room` is memory for the labels of one
row, eight bytes each. They return 0, or 1 if a weight is NaN or +inf (`highest_row`,
`careful_row`) or does not fit a plain number (`linear_row`).
"""
from libc.math cimport INFINITY, exp, expm1, fmax, fmin, isnan, log, log1p
from libc.string cimport memcpy

from .batch cimport Segment, out_row_of, row_of, weight_at
from .chart cimport row_length

cdef extern from "labels.h" nogil:
    ctypedef struct Labels:
        int (*highest)(double*, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t,
                       int) noexcept nogil
        int (*exponentials)(double*, void*, Py_ssize_t, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t,
                            Py_ssize_t, int) noexcept nogil
        void (*spread)(void*, const double*, const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t,
                       int) noexcept nogil
    const Labels* labels_for(int is_double, int avx2)
    int snn_use_avx2()

cdef bint AVX2 = snn_use_avx2()


cdef bint uses_avx2() noexcept nogil:
    return AVX2


cdef const void* _contiguous_row(const Segment* segment, Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end, char* room,
                                 Py_ssize_t* span_stride, Py_ssize_t* label_stride) noexcept nogil:
    """Label weights that vector code can read, copied together if need be."""
    cdef Py_ssize_t d, t, item = 8 if segment.is_double else 4
    cdef const char* row = row_of(segment, i) + begin * segment.span_step
    cdef char* copy = room
    if segment.stored:
        # With one label (or none) the two layouts are the same; call it "together".
        span_stride[0] = 1
        label_stride[0] = segment.label_step // item if segment.labels > 1 else 1
        return row
    span_stride[0], label_stride[0] = segment.labels, 1
    if segment.labels_together:
        return row
    for d in range(end - begin):
        for t in range(segment.labels):
            memcpy(copy, row + d * segment.span_step + t * segment.label_step, item)
            copy += item
    return room


cdef int highest_row(const Segment* segment, Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end, bint multi_label,
                     char* room, double* weight) noexcept nogil:
    """The highest weight of the spans from place `begin` to `end` of a row, to those places of
    `weight`; -inf where it is not positive. Best called from the last row to the first: the row
    before is fetched on the way."""
    cdef Py_ssize_t span_stride, label_stride
    cdef const void* row = _contiguous_row(segment, i, begin, end, room, &span_stride, &label_stride)
    # The row before, or for packed scores what comes a few rows before.
    cdef Py_ssize_t ahead = -2048 if segment.stored else -segment.row_step
    return labels_for(segment.is_double, AVX2).highest(
        weight + begin, row, end - begin, segment.labels, span_stride, label_stride, ahead, multi_label)


cdef int linear_row(const Segment* segment, Py_ssize_t i, bint multi_label, char* room,
                    double* weight) noexcept nogil:
    """The weight of every span over its labels, as a plain number. What becomes the marginals
    goes to the segment's output, if it has one."""
    cdef Py_ssize_t span_stride, label_stride, out_stride, length = row_length(segment.n, segment.width, i)
    cdef const void* row = _contiguous_row(segment, i, 0, length, room, &span_stride, &label_stride)
    cdef char* out = room
    out_stride = label_stride
    if segment.out != NULL:
        out = out_row_of(segment, i)
    elif label_stride != 1:
        out_stride = length
    return labels_for(segment.is_double, AVX2).exponentials(
        weight, out, out_stride, row, length, segment.labels, span_stride, label_stride, multi_label)


cdef void spread_row(const Segment* segment, Py_ssize_t i, bint multi_label, const double* weight,
                     const double* factor) noexcept nogil:
    """From marginal / weight of the spans to marginals of their labels."""
    cdef Py_ssize_t item = 8 if segment.is_double else 4
    cdef Py_ssize_t span_stride = 1 if segment.stored else segment.labels
    cdef Py_ssize_t label_stride = segment.label_step // item if segment.stored and segment.labels > 1 else 1
    labels_for(segment.is_double, AVX2).spread(
        out_row_of(segment, i), weight, factor, row_length(segment.n, segment.width, i), segment.labels,
        span_stride, label_stride, multi_label)


# ---- the same over logarithms, for weights of any size ----

cdef double softplus(double x) noexcept nogil:
    return x + log1p(exp(-x)) if x > 0 else log1p(exp(x))


cdef double sigmoid(double x) noexcept nogil:
    return 1.0 / (1.0 + exp(-x)) if x > 0 else exp(x) / (1.0 + exp(x))


cdef double label_shares(const Segment* segment, Py_ssize_t i, Py_ssize_t d, bint multi_label,
                         double* shares) noexcept nogil:
    """The logarithm of a span's weight; the probability of each label if the span is a mention.
    NaN if a weight is NaN or +inf."""
    cdef Py_ssize_t t
    cdef double w, high = -INFINITY, total = 0.0, present
    for t in range(segment.labels):
        w = weight_at(segment, i, d, t)
        if not w < INFINITY:
            return INFINITY - INFINITY
        high = fmax(high, w)
        shares[t] = w
    if high == -INFINITY:
        for t in range(segment.labels):
            shares[t] = 0.0
        return high
    # Two labels on a span of negligible weight are beyond double precision.
    if multi_label and high > -40:
        for t in range(segment.labels):
            total += softplus(shares[t])
        present = -expm1(-total)
        for t in range(segment.labels):
            shares[t] = sigmoid(shares[t]) / present
        return total + log(present)
    for t in range(segment.labels):
        shares[t] = exp(shares[t] - high)
        total += shares[t]
    for t in range(segment.labels):
        shares[t] /= total
    return high + log(total)


cdef int careful_row(const Segment* segment, Py_ssize_t i, bint multi_label, char* room,
                     double* weight) noexcept nogil:
    """The logarithm of the weight of every span; labels' shares to the output, if there is one."""
    cdef Py_ssize_t d, t, item = 8 if segment.is_double else 4
    cdef Py_ssize_t span_step = item if segment.stored else segment.labels * item
    cdef Py_ssize_t label_step = segment.label_step if segment.stored else item
    cdef double* shares = <double*>room
    cdef float single
    cdef char* out
    for d in range(row_length(segment.n, segment.width, i)):
        weight[d] = label_shares(segment, i, d, multi_label, shares)
        if isnan(weight[d]):
            return 1
        if segment.out == NULL:
            continue
        out = out_row_of(segment, i) + d * span_step
        for t in range(segment.labels):
            single = <float>shares[t]
            if segment.is_double:
                memcpy(out + t * label_step, &shares[t], 8)
            else:
                memcpy(out + t * label_step, &single, 4)
    return 0


cdef void careful_spread_row(const Segment* segment, Py_ssize_t i, const double* weight,
                             const double* factor) noexcept nogil:
    """From log(marginal / weight) of the spans to marginals of their labels."""
    cdef Py_ssize_t d, t, item = 8 if segment.is_double else 4
    cdef Py_ssize_t span_step = item if segment.stored else segment.labels * item
    cdef Py_ssize_t label_step = segment.label_step if segment.stored else item
    cdef double marginal
    cdef char* out
    for d in range(row_length(segment.n, segment.width, i)):
        marginal = fmin(1.0, exp(weight[d] + factor[d]))
        out = out_row_of(segment, i) + d * span_step
        for t in range(segment.labels):
            if segment.is_double:
                (<double*>(out + t * label_step))[0] *= marginal
            else:
                (<float*>(out + t * label_step))[0] *= <float>marginal
