# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The entropy of the distribution over analyses, in two ways.

log Z less the expected weight costs next to nothing, but both grow with the weights while their difference does not:
for weights of 1e4 seven digits are gone, for weights of 1e20 all of them. `difference` says so, and `entropy` holds
for weights of any size. There the chart is one of highest weights, and every item knows two small numbers: the
logarithm of the sum over its derivations less the weight of the best one, and the entropy of that sum. For an item
with candidates c that have the values v, the logarithms s and the entropies h (those of their parts added up), v'
being the highest value,

    s = log(sum over c of exp(v[c] - v' + s[c]))
    h = sum over c of q[c] * (h[c] - log q[c])        with q[c] = exp(v[c] - v' + s[c] - s)

Equal weights remain equal at any size. What a double cannot hold is lost here as everywhere: next to a weight of 1e16,
one of 1 does not count, even if the heavy mention is not part of the best analysis. The candidates are those of
traceback.pyx. It costs an exponential per candidate.
"""
from libc.math cimport NAN, fmax

from .chart cimport Chart, row_length, row_offset
from .traceback cimport (
    SUMMED, Picker, Spread, Spreads, closed_item, offer_first_level, offer_inside, offer_long, open_item,
)

# The error of `difference` is about 1e-16 times the expected sum of the squared weights of an analysis. This is the
# largest such sum, of a segment of up to 100 tokens: the entropy of longer ones may have a larger error.
cdef double LARGEST_EXPECTED_SQUARE = 1e6


cdef double difference(Chart* chart, const double* expected, bint is_double) noexcept nogil:
    """log Z less the expected weight, of a linear chart after `outside`; NaN if that has too few digits left.
    `expected` is what `exponentials` (labels_impl.h) makes of it. Plain numbers are no weights of single precision
    above 80, and those have fewer digits than the difference."""
    cdef Py_ssize_t k, cells = row_offset(chart.n, chart.width, chart.n)
    cdef double mean = chart.ring.dot(chart.inside, expected, cells), square = 0.0
    if is_double:
        for k in range(cells):
            if chart.weight[k] > 0:
                square += chart.inside[k] * expected[k] * (expected[k] / chart.weight[k])
        if not square <= LARGEST_EXPECTED_SQUARE * fmax(1.0, chart.n / 100.0):
            return NAN
    return fmax(chart.total - mean, 0.0)


cdef double entropy(Chart* chart, Spreads* spreads) noexcept nogil:
    """Of a filled chart over the maximum semiring, and `spreads.labels`; fills the other tables of `spreads`."""
    cdef Picker picker
    cdef Py_ssize_t i, d, place, n = chart.n, width = chart.width
    picker.purpose, picker.chart, picker.spreads = SUMMED, chart, spreads
    spreads.rest[n] = Spread(0.0, 0.0)
    for i in range(n - 1, -1, -1):
        if chart.short:
            for d in range(row_length(n, width, i)):
                place = row_offset(n, width, i) + d
                open_item(&picker)
                offer_inside(&picker, i, d)
                spreads.inside[place] = closed_item(&picker)
                if spreads.long != NULL:
                    open_item(&picker)
                    offer_long(&picker, i, d)
                    spreads.long[place] = closed_item(&picker)
        open_item(&picker)
        offer_first_level(&picker, i)
        spreads.rest[i] = closed_item(&picker)
    return spreads.rest[0].entropy
