# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The covariance of every mention with a sum over the mentions of an analysis: the second derivatives of log Z.

Let every mention m have a value v[m], and let V be their sum over an analysis. The derivative of the marginals when
the weights move along v, the Hessian of log Z times v, is cov(m, V). It is exact, and takes two passes over the items
of a filled chart. From the bottom up, an item with candidates c of probability q[c] has the expected sum

    mean = sum over c of q[c] * mean[c]                     mean[c]: the means of its parts added up

From the top down, an item that an analysis has with probability `share` hands on

    share * q[c]   and its derivative   change * q[c] + share * q[c] * (mean[c] - mean)

to the parts of c. Everything is a probability or a mean of values, so that it holds for charts of plain numbers and of
logarithms alike, and neither overflows nor underflows. The candidates are those of items.pyx.
"""
from libc.math cimport exp, fmax
from libc.string cimport memcpy

from .batch cimport Segment, out_row_of, weight_at
from .chart cimport Chart, Semiring, row_length, row_offset
from .covariance cimport Flow, Flows
from .items cimport EITHER, INSIDE, LONG, MENTION, REST, Item, list_candidates, parts_of
from .labels cimport label_shares, sigmoid
from .traceback cimport LISTED, Candidate, Picker


cdef void _list_probabilities(Picker* picker, const Item* item) noexcept nogil:
    """The candidates of an item with their probabilities instead of values."""
    cdef const Semiring* ring = picker.chart.ring
    cdef Candidate* listed = picker.listed
    cdef Py_ssize_t k
    cdef double highest = ring.zero, total = 0.0
    list_candidates(picker, item)
    for k in range(picker.n_listed):
        highest = fmax(highest, listed[k].value)
    for k in range(picker.n_listed):
        # Divided first: an item next to nothing may be too small to be inverted.
        listed[k].value = listed[k].value / highest if ring.one == 1.0 else exp(listed[k].value - highest)
        total += listed[k].value
    for k in range(picker.n_listed):
        listed[k].value /= total


cdef inline Py_ssize_t _place(const Chart* chart, const Item* item) noexcept nogil:
    return row_offset(chart.n, chart.width, item.start) + item.length


cdef inline double _is_mention(const Chart* chart, Py_ssize_t place) noexcept nogil:
    """The probability of that for a span that may be one or not."""
    cdef double weight = chart.weight[place]
    return weight / (1.0 + weight) if chart.ring.one == 1.0 else sigmoid(weight)


cdef inline double _is_none(const Chart* chart, Py_ssize_t place) noexcept nogil:
    """One less that, with all its digits."""
    return 1.0 / (1.0 + chart.weight[place]) if chart.ring.one == 1.0 else sigmoid(-chart.weight[place])


cdef double _mean(const Chart* chart, const Flows* flows, const Item* item) noexcept nogil:
    cdef Py_ssize_t place
    cdef double mean
    if item.kind == REST:
        return flows.rest[item.start].mean
    place = _place(chart, item)
    if item.kind == LONG:
        return flows.long[place].mean
    mean = flows.mention[place].mean
    if item.kind == EITHER:
        mean *= _is_mention(chart, place)
    return mean + flows.inside[place].mean if chart.short else mean


cdef inline void _add(Flow* flow, double share, double change) noexcept nogil:
    flow.share += share
    flow.change += change


cdef void _hand_on(const Chart* chart, const Flows* flows, const Item* item, double share,
                   double change) noexcept nogil:
    """To a part of a candidate. Mentions hand on to what is inside them later."""
    cdef Py_ssize_t place
    cdef double is_mention, is_none, moved
    if item.kind == REST:
        _add(&flows.rest[item.start], share, change)
        return
    place = _place(chart, item)
    if item.kind == LONG:
        _add(&flows.long[place], share, change)
    elif item.kind == MENTION:
        _add(&flows.mention[place], share, change)
    else:
        is_mention, is_none = _is_mention(chart, place), _is_none(chart, place)
        moved = share * is_mention * is_none * flows.mention[place].mean
        _add(&flows.mention[place], share * is_mention, change * is_mention + moved)
        _add(&flows.inside[place], share * is_none, change * is_none - moved)


cdef Flow* _flow(const Chart* chart, const Flows* flows, const Item* item) noexcept nogil:
    if item.kind == REST:
        return &flows.rest[item.start]
    return &(flows.inside if item.kind == INSIDE else flows.long)[_place(chart, item)]


cdef void _up(Picker* picker, const Flows* flows, Item item) noexcept nogil:
    """The mean of an item, from those of its parts."""
    cdef Item parts[2]
    cdef Py_ssize_t k
    cdef int p
    cdef Flow* flow = _flow(picker.chart, flows, &item)
    flow[0] = Flow(0.0, 0.0, 0.0)
    if item.kind == INSIDE and item.length == 0 or item.kind == REST and item.start == picker.chart.n:
        return
    _list_probabilities(picker, &item)
    for k in range(picker.n_listed):
        for p in range(parts_of(&item, picker.listed[k].choice, parts)):
            flow.mean += picker.listed[k].value * _mean(picker.chart, flows, &parts[p])


cdef void _down(Picker* picker, const Flows* flows, Item item) noexcept nogil:
    """From an item to its parts."""
    cdef Item parts[2]
    cdef Py_ssize_t k
    cdef int p, n_parts
    cdef double mean, share, change
    cdef const Flow* flow = _flow(picker.chart, flows, &item)
    if flow.share == 0 and flow.change == 0 or item.kind == INSIDE and item.length == 0:
        return
    _list_probabilities(picker, &item)
    for k in range(picker.n_listed):
        n_parts = parts_of(&item, picker.listed[k].choice, parts)
        mean = -flow.mean
        for p in range(n_parts):
            mean += _mean(picker.chart, flows, &parts[p])
        share = flow.share * picker.listed[k].value
        change = flow.change * picker.listed[k].value + share * mean
        for p in range(n_parts):
            _hand_on(picker.chart, flows, &parts[p], share, change)


cdef void _read_labels(const Flows* flows, const Segment* segment, const Segment* values, Py_ssize_t i,
                       bint multi_label, double* shares) noexcept nogil:
    """The expected value of the labels of every span that begins with token i, if it is a mention."""
    cdef Py_ssize_t d, t, here = row_offset(segment.n, segment.width, i)
    for d in range(row_length(segment.n, segment.width, i)):
        label_shares(segment, i, d, multi_label, shares)
        flows.mention[here + d] = Flow(0.0, 0.0, 0.0)
        for t in range(segment.labels):
            if shares[t] > 0:
                flows.mention[here + d].mean += shares[t] * weight_at(values, i, d, t)


cdef void _write_labels(const Flows* flows, const Segment* segment, const Segment* values, Py_ssize_t i,
                        bint multi_label, double* shares) noexcept nogil:
    """The derivative of share * (share of the label) to the output of the segment, which holds zeros."""
    cdef Py_ssize_t d, t
    cdef char* out
    cdef double odds, one_less, derivative
    cdef float single
    cdef Flow flow
    for d in range(row_length(segment.n, segment.width, i)):
        flow = flows.mention[row_offset(segment.n, segment.width, i) + d]
        if flow.share == 0 and flow.change == 0:
            continue
        odds = label_shares(segment, i, d, multi_label, shares)
        out = out_row_of(segment, i) + d * segment.span_step
        for t in range(segment.labels):
            if shares[t] <= 0:
                continue
            # Labels of a set are independent, given that the set is not empty: it is with probability sigmoid(-odds).
            one_less = 1.0 - shares[t] * sigmoid(odds) if multi_label else 1.0
            derivative = one_less * weight_at(values, i, d, t)
            derivative -= flow.mean * (sigmoid(-odds) if multi_label else 1.0)
            derivative = shares[t] * (flow.change + flow.share * derivative)
            if segment.is_double:
                memcpy(out + t * segment.label_step, &derivative, 8)
            else:
                single = <float>derivative
                memcpy(out + t * segment.label_step, &single, 4)


cdef void covariances(Chart* chart, const Flows* flows, Candidate* listed, const Segment* segment,
                      const Segment* values, bint multi_label, double* shares) noexcept nogil:
    """To the output of a packed segment, for a chart of sums; `values` is laid out as the segment is, and `shares` has
    room for the labels of a span."""
    cdef Picker picker
    cdef Py_ssize_t i, d, n = chart.n, width = chart.width
    picker.purpose, picker.chart, picker.listed = LISTED, chart, listed
    _up(&picker, flows, Item(REST, n, 0, 0))
    for i in range(n - 1, -1, -1):
        _read_labels(flows, segment, values, i, multi_label, shares)
        if chart.short:
            for d in range(row_length(n, width, i)):
                _up(&picker, flows, Item(INSIDE, i, d, 0))
                if flows.long != NULL:
                    _up(&picker, flows, Item(LONG, i, d, 0))
        _up(&picker, flows, Item(REST, i, 0, 0))
    if n:
        flows.rest[0].share = 1.0
    for i in range(n):
        _down(&picker, flows, Item(REST, i, 0, 0))
        if chart.short:
            for d in range(row_length(n, width, i) - 1, -1, -1):
                if flows.long != NULL:
                    _down(&picker, flows, Item(LONG, i, d, 0))
                _add_mention(chart, flows, i, d)
                _down(&picker, flows, Item(INSIDE, i, d, 0))
        _write_labels(flows, segment, values, i, multi_label, shares)


cdef void _add_mention(const Chart* chart, const Flows* flows, Py_ssize_t i, Py_ssize_t d) noexcept nogil:
    """What is inside a mention is as probable as the mention."""
    cdef Py_ssize_t place = row_offset(chart.n, chart.width, i) + d
    _add(&flows.inside[place], flows.mention[place].share, flows.mention[place].change)
