# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Labels leave the dynamic programs at once: a row of label weights becomes a row with one
weight per span, and marginals of spans are spread over their labels again at the end.

Fast functions take a run of spans (batch.pxd), a packed segment in one go; the careful ones
a segment and its token i. `room` is memory for the labels of one row, eight bytes each. They
return 0, or 1 if a weight is NaN or not below the limit of labels.h (`highest_run`,
`careful_row`, `undecided_row`) or does not fit a plain number (`linear_run`).
"""
from libc.math cimport INFINITY, exp, expm1, fabs, fmax, fmin, isnan, log, log1p
from libc.string cimport memcpy

from .batch cimport Run, Segment, out_row_of, read_weight, weight_at
from .chart cimport row_length
from .labels cimport Spread

cdef extern from "labels.h" nogil:
    ctypedef struct Labels:
        int (*highest)(double*, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t, int) noexcept nogil
        int (*exponentials)(double*, double*, double*, void*, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t,
                            int) noexcept nogil
        void (*spread)(void*, const double*, const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, int) noexcept nogil
        void (*rescale)(void*, Py_ssize_t, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t, double,
                        double) noexcept nogil
    const Labels* labels_for(int is_double, int instructions)
    int snn_use_avx2()
    int snn_use_avx512()
    double SNN_WEIGHT_LIMIT

cdef bint AVX2 = snn_use_avx2()
cdef int INSTRUCTIONS = 2 if snn_use_avx512() else 1 if AVX2 else 0


cdef bint uses_avx2() noexcept nogil:
    return AVX2


cdef inline Py_ssize_t _plane(const Segment* segment) noexcept nogil:
    """Elements from one label to the next; 0 if the labels of a span lie together (labels_impl.h)."""
    return segment.label_step // (8 if segment.is_double else 4) if segment.stored else 0


cdef const void* _readable(const Segment* segment, const Run* run, char* room) noexcept nogil:
    """Label weights that vector code can read, copied together if need be."""
    cdef Py_ssize_t d, t, item = 8 if segment.is_double else 4
    cdef char* copy = room
    if segment.stored or segment.labels_together:
        return run.data
    for d in range(run.length):
        for t in range(segment.labels):
            memcpy(copy, run.data + d * segment.span_step + t * segment.label_step, item)
            copy += item
    return room


cdef int highest_run(const Segment* segment, const Run* run, bint multi_label, double fee, char* room,
                     double* weight) noexcept nogil:
    """The highest weight of every span when each label costs `fee`; -inf where that is not positive."""
    cdef Py_ssize_t d, t
    cdef double w
    if labels_for(segment.is_double, INSTRUCTIONS).highest(
            weight, _readable(segment, run, room), run.length, segment.labels, _plane(segment), multi_label):
        return 1
    if fee > 0:
        for d in range(run.length):
            if multi_label:
                weight[d] = 0.0
                for t in range(segment.labels):
                    w = read_weight(segment, run.data + d * segment.span_step + t * segment.label_step)
                    weight[d] += fmax(w - fee, 0.0)
            else:
                weight[d] -= fee
            if not weight[d] > 0:
                weight[d] = -INFINITY
    return 0


cdef int linear_run(const Segment* segment, const Run* run, bint multi_label, char* room, double* weight,
                    double* expected, double* highest) noexcept nogil:
    """The weight of every span over its labels, as a plain number. What becomes the marginals goes to the segment's
    output, if it has one. For packed scores `expected` may be given (`exponentials` in labels_impl.h), and if spans
    have one label, `highest`, which becomes what `highest_run` gives without a fee."""
    cdef const void* weights = _readable(segment, run, room)
    cdef char* out = run.out
    if out == NULL and not segment.stored:
        out = room
    return labels_for(segment.is_double, INSTRUCTIONS).exponentials(
        weight, expected, highest, out, weights, run.length, segment.labels, _plane(segment), multi_label)


cdef void spread_run(const Segment* segment, const Run* run, bint multi_label, const double* weight,
                     const double* factor) noexcept nogil:
    """From marginal / weight of the spans to marginals of their labels."""
    labels_for(segment.is_double, INSTRUCTIONS).spread(
        run.out, weight, factor, run.length, segment.labels, _plane(segment), multi_label)


cdef void rescale_run(const Segment* segment, const Run* run, double divisor, double less, const Segment* target,
                      char* to) noexcept nogil:
    """Label weights of packed scores, divided by one number and less another, to memory that is laid out as `target`
    is. Calculated in the precision of the scores."""
    labels_for(segment.is_double, INSTRUCTIONS).rescale(
        to, _plane(target), run.data, _plane(segment), run.length, segment.labels, divisor, less)


cdef double label_marginal(const Segment* segment, Py_ssize_t i, Py_ssize_t d, Py_ssize_t t, bint multi_label,
                           double weight, double factor) noexcept nogil:
    """What `spread_run` does, for one label."""
    cdef double y = exp(weight_at(segment, i, d, t))
    return fmin(1.0, y / (1.0 + y) * (1.0 + weight) * factor if multi_label else y * factor)


# ---- the same over logarithms, for weights of any size ----

cdef double softplus(double x) noexcept nogil:
    return x + log1p(exp(-x)) if x > 0 else log1p(exp(x))


cdef double sigmoid(double x) noexcept nogil:
    return 1.0 / (1.0 + exp(-x)) if x > 0 else exp(x) / (1.0 + exp(x))


cdef double label_shares(const Segment* segment, Py_ssize_t i, Py_ssize_t d, bint multi_label,
                         double* shares) noexcept nogil:
    """The logarithm of a span's weight; the probability of each label if the span is a mention.
    NaN if a weight is NaN or too large."""
    cdef Py_ssize_t t
    cdef double w, high = -INFINITY, total = 0.0, present
    for t in range(segment.labels):
        w = weight_at(segment, i, d, t)
        if not w < SNN_WEIGHT_LIMIT:
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


cdef double careful_label_marginal(const Segment* segment, Py_ssize_t i, Py_ssize_t d, Py_ssize_t t, bint multi_label,
                                   char* room, double weight, double factor) noexcept nogil:
    """What `careful_row` and `careful_spread_row` do, for one label."""
    cdef double* shares = <double*>room
    label_shares(segment, i, d, multi_label, shares)
    return fmin(1.0, exp(weight + factor)) * shares[t]


# ---- and how undecided the choice of labels is (entropy.pyx) ----

cdef double _binary_entropy(double x) noexcept nogil:
    """Of a choice with log-odds x."""
    x = fabs(x)
    return 0.0 if x > 1e3 else log1p(exp(-x)) + x * sigmoid(-x)


cdef double _undecided_labels(const Segment* segment, Py_ssize_t i, Py_ssize_t d, bint multi_label,
                              Spread* spread) noexcept nogil:
    """The weight of the best choice of labels for a span. Nothing here cancels, whatever the weights."""
    cdef Py_ssize_t t
    cdef double w, share, high = -INFINITY, total = 0.0, positive = 0.0, beyond = 0.0, none = 0.0, present
    spread[0] = Spread(0.0, 0.0)
    for t in range(segment.labels):
        w = weight_at(segment, i, d, t)
        if not w < SNN_WEIGHT_LIMIT:
            return INFINITY
        high = fmax(high, w)
    if high == -INFINITY:
        return high
    if multi_label and high > -40:
        for t in range(segment.labels):
            w = weight_at(segment, i, d, t)
            positive += fmax(w, 0.0)
            beyond += log1p(exp(-fabs(w)))  # softplus(w) less its positive part
            spread.entropy += _binary_entropy(w)
        # Every label is there or not, given that not all are missing, which has probability exp(-none).
        none = positive + beyond
        present = -expm1(-none)
        spread.entropy += present * log(present) - (none * exp(-none) if none < 1e3 else 0.0)
        spread.entropy = fmax(spread.entropy / present, 0.0)
        spread.log_sum = beyond + log(present) + (0.0 if high > 0 else -high)
        return positive if high > 0 else high
    for t in range(segment.labels):
        w = weight_at(segment, i, d, t) - high
        share = exp(w)
        total += share
        if share > 0:
            spread.entropy -= share * w
    spread.log_sum = log(total)
    spread.entropy = spread.entropy / total + spread.log_sum
    return high


cdef int undecided_row(const Segment* segment, Py_ssize_t i, bint multi_label, double* weight,
                       Spread* spread) noexcept nogil:
    """The highest weight of every span, and what its other labels add to it."""
    cdef Py_ssize_t d
    for d in range(row_length(segment.n, segment.width, i)):
        weight[d] = _undecided_labels(segment, i, d, multi_label, &spread[d])
        if weight[d] == INFINITY:
            return 1
    return 0


# ---- and analyses of lower weight (k_best.pyx) ----

cdef int ranked_row(const Segment* segment, Py_ssize_t i, bint multi_label, double fee,
                    double* weight) noexcept nogil:
    """The highest weight of every span when each label costs `fee`, positive or not; -inf where none is allowed."""
    cdef Py_ssize_t d, t
    cdef double w, high, positive
    for d in range(row_length(segment.n, segment.width, i)):
        high, positive = -INFINITY, 0.0
        for t in range(segment.labels):
            w = weight_at(segment, i, d, t)
            if not w < SNN_WEIGHT_LIMIT:
                return 1
            high = fmax(high, w - fee)
            positive += fmax(w - fee, 0.0)
        weight[d] = positive if multi_label and positive > 0 else high
    return 0
