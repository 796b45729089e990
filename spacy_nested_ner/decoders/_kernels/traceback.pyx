# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""From a filled chart to analyses: the best one, or random ones, from the top down.

An item of the chart is the sum of candidates (the rules that give it). The functions
`offer_…` enumerate the candidates of an item, once for all purposes: the choice of the
highest, a draw in proportion to the values, the entropy (entropy.pyx), and a list of them
(items.pyx).
"""
from libc.math cimport INFINITY, exp, fmin, log
from libc.stdint cimport uint64_t

from .chart cimport Chart, Semiring, row_length, row_offset
from .labels cimport Spread
from .traceback cimport DRAWN, HIGHEST, LISTED, SUMMED, Candidate, Found, Picker

cdef enum:
    NOTHING = -1


cdef double uniform(uint64_t* state) noexcept nogil:
    """A number in [0, 1) with 53 random bits (SplitMix64)."""
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    z = z ^ (z >> 31)
    return <double>(z >> 11) * (1.0 / 9007199254740992.0)


cdef inline double _times(const Semiring* ring, double x, double y) noexcept nogil:
    """As ring.times, without a call: candidates are many."""
    return x * y if ring.one == 1.0 else x + y


# ---- one candidate ----

cdef void open_item(Picker* picker) noexcept nogil:
    picker.choice = NOTHING
    picker.gap = INFINITY
    picker.value = 0.0 if picker.purpose == DRAWN else -INFINITY
    picker.peak, picker.total, picker.surprise = -INFINITY, 0.0, 0.0
    picker.n_listed = 0


cdef inline double _share(Picker* picker, double value) noexcept nogil:
    """What a candidate adds to the sum that is drawn from. Logarithms are taken relative to the highest one so far, not
    to the item: that was rounded, and if weights are heavy, by more than exp can hold."""
    if picker.chart.ring.one == 1.0:
        return value
    if value > picker.peak:
        picker.value *= exp(picker.peak - value)
        picker.peak = value
    return exp(value - picker.peak) if value > -INFINITY else 0.0


cdef inline void _offer(Picker* picker, Py_ssize_t choice, double value, Spread parts) noexcept nogil:
    cdef const Semiring* ring = picker.chart.ring
    if picker.purpose == DRAWN:
        value = _share(picker, value)
        picker.value += value
        if uniform(picker.state) * picker.value < value:
            picker.choice = choice
        return
    if picker.purpose == SUMMED:
        if value > picker.value:
            picker.peak -= value - picker.value
            picker.value = value
        if value > -INFINITY:
            _add(picker, value - picker.value + parts.log_sum, parts.entropy)
        return
    if picker.purpose == LISTED:
        if value > ring.zero:
            picker.listed[picker.n_listed] = Candidate(choice, value)
            picker.n_listed += 1
        return
    if value > picker.value:
        picker.gap = value - picker.value
        picker.value = value
        picker.choice = choice
    elif picker.value - value < picker.gap:
        picker.gap = picker.value - value


cdef void _add(Picker* picker, double logarithm, double entropy) noexcept nogil:
    """Add a candidate to the sum, by its logarithm less the highest value, and how surprising it and its parts are."""
    cdef double share, rise
    if logarithm == -INFINITY:
        return
    if logarithm > picker.peak:
        if picker.total > 0:
            rise = logarithm - picker.peak
            share = exp(-rise)
            picker.surprise = (picker.surprise + picker.total * rise) * share if share > 0 else 0.0
            picker.total *= share
        picker.peak = logarithm
    share = exp(logarithm - picker.peak)
    if share > 0:
        picker.total += share
        picker.surprise += share * (entropy + picker.peak - logarithm)


cdef Spread closed_item(const Picker* picker) noexcept nogil:
    """The sum of what was offered."""
    if picker.total == 0:
        return Spread(0.0, 0.0)
    return Spread(picker.peak + log(picker.total), log(picker.total) + picker.surprise / picker.total)


# ---- the candidates of every kind of item ----
# A choice is coded in one number: see the comments.

cdef inline Spread _nothing() noexcept nogil:
    return Spread(0.0, 0.0)


cdef inline Spread _both(Spread one, Spread other) noexcept nogil:
    return Spread(one.log_sum + other.log_sum, one.entropy + other.entropy)


cdef inline Spread _in_mention(Picker* picker, Py_ssize_t place) noexcept nogil:
    """Of the labels of a complete mention, and of all inside it."""
    if picker.purpose != SUMMED:
        return _nothing()
    if picker.chart.short == 0:
        return picker.spreads.labels[place]
    return _both(picker.spreads.labels[place], picker.spreads.inside[place])


cdef Spread _in_either(Picker* picker, Py_ssize_t place) noexcept nogil:
    """The same of a span that is a mention or is not."""
    cdef Picker two
    cdef double weight = picker.chart.weight[place]
    cdef Spread labels
    if picker.purpose != SUMMED:
        return _nothing()
    labels = picker.spreads.labels[place]
    open_item(&two)
    _add(&two, 0.0 if weight <= 0 else -weight, 0.0)
    _add(&two, labels.log_sum + (weight if weight <= 0 else 0.0), labels.entropy)
    return _both(picker.spreads.inside[place], closed_item(&two))


cdef void offer_first_level(Picker* picker, Py_ssize_t i) noexcept nogil:
    """0: token i begins no mention; d + 1: the first-level mention [i, d]."""
    cdef Chart* chart = picker.chart
    cdef Py_ssize_t d, here = row_offset(chart.n, chart.width, i)
    cdef bint summed = picker.purpose == SUMMED
    _offer(picker, 0, chart.skip[i], picker.spreads.rest[i + 1] if summed else _nothing())
    for d in range(row_length(chart.n, chart.width, i)):
        _offer(picker, d + 1, _times(chart.ring, chart.inside[here + d], chart.weight[here + d]),
               _both(_in_mention(picker, here + d), picker.spreads.rest[i + d + 1]) if summed else _nothing())


cdef void _offer_left(Picker* picker, Py_ssize_t i, Py_ssize_t d) noexcept nogil:
    """-2 - m: to the left of a long child that ends with token i + d is token i (m = 0), or a
    short mention of m tokens."""
    cdef Chart* chart = picker.chart
    cdef Py_ssize_t m, there, place, c = chart.short
    cdef bint summed = picker.purpose == SUMMED
    if d < c + 1:
        return
    there = row_offset(chart.n, chart.width, i + 1) + d - 1
    _offer(picker, -2, _times(chart.ring, chart.skip[i], chart.long[there]),
           picker.spreads.long[there] if summed else _nothing())
    for m in range(1, min(c, d - c) + 1):
        place = row_offset(chart.n, chart.width, i) + m - 1
        there = row_offset(chart.n, chart.width, i + m) + d - m
        _offer(picker, -2 - m,
               _times(chart.ring, _times(chart.ring, chart.inside[place], chart.weight[place]), chart.long[there]),
               _both(_in_mention(picker, place), picker.spreads.long[there]) if summed else _nothing())


cdef void offer_inside(Picker* picker, Py_ssize_t i, Py_ssize_t d) noexcept nogil:
    """k: tokens i + k to i + d are a short child, or for k = d one token that may be a mention;
    negative: see `_offer_left`."""
    cdef Chart* chart = picker.chart
    cdef const Semiring* ring = chart.ring
    cdef Py_ssize_t k, place, there, here = row_offset(chart.n, chart.width, i)
    cdef double before, child
    cdef bint summed = picker.purpose == SUMMED
    for k in range(max(1, d - chart.short + 1), d + 1):
        place = here + k - 1
        there = row_offset(chart.n, chart.width, i + k) + d - k
        before = _times(ring, chart.inside[place], ring.plus(ring.one, chart.weight[place]))
        if k == d:
            child = chart.token[i + k]
        else:
            child = _times(ring, chart.inside[there], chart.weight[there])
        _offer(picker, k, _times(ring, before, child),
               _both(_in_either(picker, place), _in_either(picker, there) if k == d else _in_mention(picker, there))
               if summed else _nothing())
    _offer_left(picker, i, d)


cdef void offer_long(Picker* picker, Py_ssize_t i, Py_ssize_t d) noexcept nogil:
    """0: the span itself is the long child; negative: see `_offer_left`."""
    cdef Chart* chart = picker.chart
    cdef Py_ssize_t place = row_offset(chart.n, chart.width, i) + d
    if d >= chart.short:
        _offer(picker, 0, _times(chart.ring, chart.inside[place], chart.weight[place]), _in_mention(picker, place))
    _offer_left(picker, i, d)


# ---- from the top down ----

cdef inline bint _is_mention(Picker* picker, Py_ssize_t place) noexcept nogil:
    """Whether a span that may be a mention or not is one."""
    cdef double weight = picker.chart.weight[place]
    cdef const Semiring* ring = picker.chart.ring
    if picker.purpose == HIGHEST:
        if 0 < weight < picker.gap:
            picker.gap = weight
        return weight > 0
    if weight == ring.zero:
        return False
    return uniform(picker.state) < ring.linear(_times(ring, weight, ring.inverse(ring.plus(ring.one, weight))))


cdef Py_ssize_t _trace(Picker* picker, Found* found, Found* stack) noexcept nogil:
    """Write the mentions of one analysis to `found` and return how many.

    `stack` holds spans whose inside is still to be read; they do not overlap.
    """
    cdef Chart* chart = picker.chart
    cdef Py_ssize_t i, d, k, n_found = 0, n_stack = 0, first = 0
    cdef Py_ssize_t n = chart.n, width = chart.width
    cdef bint in_long
    while first < n:
        open_item(picker)
        offer_first_level(picker, first)
        picker.closest = fmin(picker.closest, picker.gap)
        if picker.choice <= 0:
            first += 1
            continue
        found[n_found] = Found(first, picker.choice - 1)
        stack[0] = found[n_found]
        n_found += 1
        n_stack = 1 if chart.short else 0
        first += picker.choice
        while n_stack:
            n_stack -= 1
            i, d = stack[n_stack].start, stack[n_stack].length
            in_long = False
            # Read the span from its right end until nothing is left of it.
            while d > 0:
                open_item(picker)
                if in_long:
                    offer_long(picker, i, d)
                else:
                    offer_inside(picker, i, d)
                k = picker.choice
                if k == 0:                 # a long child: goes on with its own inside
                    found[n_found] = Found(i, d)
                    n_found += 1
                    in_long = False
                elif k <= -2:              # left of a long child
                    k = -2 - k
                    in_long = True
                    if k > 0:
                        found[n_found] = Found(i, k - 1)
                        n_found += 1
                        stack[n_stack] = Found(i, k - 1)
                        n_stack += 1
                    i += max(k, 1)
                    d -= max(k, 1)
                elif k > 0:                # a short child, and what is before it
                    if k < d or _is_mention(picker, row_offset(n, width, i + k)):
                        found[n_found] = Found(i + k, d - k)
                        n_found += 1
                        stack[n_stack] = Found(i + k, d - k)
                        n_stack += 1
                    d = k - 1
                    if _is_mention(picker, row_offset(n, width, i) + d):
                        found[n_found] = Found(i, d)
                        n_found += 1
                else:
                    break
                picker.closest = fmin(picker.closest, picker.gap)
    return n_found


cdef Py_ssize_t highest(Chart* chart, double* closest, Found* found, Found* stack) noexcept nogil:
    """The analysis of highest weight. `closest` becomes the least that another choice on the way down would cost."""
    cdef Picker picker
    cdef Py_ssize_t n_found
    picker.purpose, picker.chart, picker.closest = HIGHEST, chart, INFINITY
    n_found = _trace(&picker, found, stack)
    closest[0] = picker.closest
    return n_found


cdef Py_ssize_t sample(Chart* chart, uint64_t* state, Found* found, Found* stack) noexcept nogil:
    """One analysis, drawn with its probability."""
    cdef Picker picker
    picker.purpose, picker.chart, picker.state, picker.closest = DRAWN, chart, state, INFINITY
    return _trace(&picker, found, stack)
