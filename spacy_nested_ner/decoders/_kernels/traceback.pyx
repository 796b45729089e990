# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""From a filled chart to analyses: the best one, or random ones, from the top down.

An item of the chart is the sum of candidates (the rules that give it). The functions
`_offer_…` enumerate the candidates of an item, once for all uses: the choice of the
highest, a draw in proportion to the values, and the count of mentions.

Ties. Analyses whose weights agree to rounding are tied, and the one with fewest
mentions is taken. Almost no segment has any, so they are looked for on the way down
only: `highest` gives up at the first one it meets, `fewest` then finds the fewest
mentions among the best derivations of every item, and `highest` starts again.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t

from .chart cimport Chart, Semiring, row_length, row_offset
from .traceback cimport Counts, Found

cdef enum:
    NOTHING = -1

# Weights that differ by less than this, relative to the whole analysis, are equal.
cdef double TIE = 1e-15


ctypedef struct Picker:
    const Semiring* ring
    uint64_t* state        # of the random numbers; NULL: pick the highest
    double tolerance
    double enough          # no candidate below this can be picked
    double item            # value of the item whose candidates are offered
    double value           # highest so far, or the sum of the probabilities so far
    int32_t count
    Py_ssize_t choice
    bint tied


cdef double uniform(uint64_t* state) noexcept nogil:
    """A number in [0, 1) with 53 random bits (SplitMix64)."""
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    z = z ^ (z >> 31)
    return <double>(z >> 11) * (1.0 / 9007199254740992.0)


cdef inline void _open(Picker* picker, double item) noexcept nogil:
    picker.item = item
    picker.choice = NOTHING
    picker.count = 0
    picker.tied = False
    picker.value = -INFINITY if picker.state == NULL else 0.0
    picker.enough = -INFINITY


cdef inline void _offer(Picker* picker, Py_ssize_t choice, double value, int32_t count) noexcept nogil:
    if picker.state == NULL:
        if value < picker.enough or value == -INFINITY:
            return
        if value > picker.value + picker.tolerance:
            picker.tied = False
        else:
            picker.tied = True
            if count >= picker.count:
                return
        picker.value = max(value, picker.value)
        picker.enough = picker.value - picker.tolerance
    else:
        value = picker.ring.linear(_times(picker.ring, value, picker.ring.inverse(picker.item)))
        picker.value += value
        if uniform(picker.state) * picker.value >= value:
            return
    picker.choice = choice
    picker.count = count


cdef inline double _times(const Semiring* ring, double x, double y) noexcept nogil:
    """As ring.times, without a call: candidates are many."""
    return x * y if ring.one == 1.0 else x + y


# ---- the candidates of every kind of item ----
# A choice is coded in one number: see the comments.

cdef inline int32_t _labels(const Counts* counts, Py_ssize_t place) noexcept nogil:
    return 1 if counts.mention == NULL else counts.mention[place]


cdef inline int32_t _count_mention(Chart* chart, const Counts* counts, Py_ssize_t place) noexcept nogil:
    """Mentions in a complete mention and inside it."""
    cdef int32_t count
    if counts == NULL:
        return 0
    count = _labels(counts, place)
    return count if chart.short == 0 else count + counts.inside[place]


cdef inline int32_t _count_either(Chart* chart, const Counts* counts, Py_ssize_t place) noexcept nogil:
    """Mentions in a span that is a mention if that pays, and inside it."""
    if counts == NULL:
        return 0
    return counts.inside[place] + (_labels(counts, place) if chart.weight[place] > 0 else 0)


cdef void _offer_first_level(Chart* chart, const Counts* counts, Py_ssize_t i, Picker* picker) noexcept nogil:
    """0: token i begins no mention; d + 1: the first-level mention [i, d]."""
    cdef Py_ssize_t d, place, here = row_offset(chart.n, chart.width, i)
    cdef Py_ssize_t length = row_length(chart.n, chart.width, i)
    cdef double value
    _offer(picker, 0, chart.skip[i], 0 if counts == NULL else counts.rest[i + 1])
    for d in range(length):
        place = here + d
        value = _times(chart.ring, chart.inside[place], chart.weight[place])
        if value < picker.enough:
            continue
        _offer(picker, d + 1, value,
               0 if counts == NULL else _count_mention(chart, counts, place) + counts.rest[i + d + 1])


cdef void _offer_left(Chart* chart, const Counts* counts, Py_ssize_t i, Py_ssize_t d,
                      Picker* picker) noexcept nogil:
    """-2 - m: left of a long child that ends with token i + d stands token i (m = 0), or a
    short mention of m tokens."""
    cdef Py_ssize_t m, there, place, c = chart.short
    if d < c + 1:
        return
    there = row_offset(chart.n, chart.width, i + 1) + d - 1
    _offer(picker, -2, _times(chart.ring, chart.skip[i], chart.long[there]),
           0 if counts == NULL else counts.long[there])
    for m in range(1, min(c, d - c) + 1):
        place = row_offset(chart.n, chart.width, i) + m - 1
        there = row_offset(chart.n, chart.width, i + m) + d - m
        _offer(picker, -2 - m,
               _times(chart.ring, _times(chart.ring, chart.inside[place], chart.weight[place]), chart.long[there]),
               0 if counts == NULL else _count_mention(chart, counts, place) + counts.long[there])


cdef void _offer_inside(Chart* chart, const Counts* counts, Py_ssize_t i, Py_ssize_t d,
                        Picker* picker) noexcept nogil:
    """k: tokens i + k to i + d are a short child, or for k = d one token that may be a mention;
    negative: see `_offer_left`."""
    cdef Py_ssize_t k, place, there
    cdef Py_ssize_t here = row_offset(chart.n, chart.width, i)
    cdef const Semiring* ring = chart.ring
    cdef double before, child
    for k in range(max(1, d - chart.short + 1), d + 1):
        place = here + k - 1
        there = row_offset(chart.n, chart.width, i + k) + d - k
        before = _times(ring, chart.inside[place], ring.plus(ring.one, chart.weight[place]))
        if k == d:
            child = chart.token[i + k]
        else:
            child = _times(ring, chart.inside[there], chart.weight[there])
        _offer(picker, k, _times(ring, before, child),
               0 if counts == NULL else
               _count_either(chart, counts, place) + (
                   _count_either(chart, counts, there) if k == d else _count_mention(chart, counts, there)))
    _offer_left(chart, counts, i, d, picker)


cdef void _offer_long(Chart* chart, const Counts* counts, Py_ssize_t i, Py_ssize_t d,
                      Picker* picker) noexcept nogil:
    """0: the span itself is the long child; negative: see `_offer_left`."""
    cdef Py_ssize_t place = row_offset(chart.n, chart.width, i) + d
    if d >= chart.short:
        _offer(picker, 0, _times(chart.ring, chart.inside[place], chart.weight[place]),
               0 if counts == NULL else _count_mention(chart, counts, place))
    _offer_left(chart, counts, i, d, picker)


# ---- from the top down ----

cdef inline bint _is_mention(Chart* chart, Picker* picker, Py_ssize_t place) noexcept nogil:
    """Whether a span that may be a mention or not is one."""
    cdef double weight = chart.weight[place]
    cdef const Semiring* ring = chart.ring
    if picker.state == NULL:
        return weight > 0
    if weight == ring.zero:
        return False
    return uniform(picker.state) < ring.linear(_times(ring, weight, ring.inverse(ring.plus(ring.one, weight))))


cdef Py_ssize_t _trace(Chart* chart, const Counts* counts, Picker* picker, Found* found,
                       Found* stack) noexcept nogil:
    """Write the mentions of one analysis to `found` and return how many, or -1 at a tie.

    `stack` holds spans whose inside is still to be read; they do not overlap.
    """
    cdef Py_ssize_t i, d, k, n_found = 0, n_stack = 0, first = 0
    cdef Py_ssize_t n = chart.n, width = chart.width
    cdef bint in_long
    while first < n:
        _open(picker, chart.ring.one)
        _offer_first_level(chart, counts, first, picker)
        if picker.tied and counts == NULL:
            return -1
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
                if in_long:
                    _open(picker, chart.long[row_offset(n, width, i) + d])
                    _offer_long(chart, counts, i, d, picker)
                else:
                    _open(picker, chart.inside[row_offset(n, width, i) + d])
                    _offer_inside(chart, counts, i, d, picker)
                if picker.tied and counts == NULL:
                    return -1
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
                elif k > 0:                # a short child, and what stands before it
                    if k < d or _is_mention(chart, picker, row_offset(n, width, i + k)):
                        found[n_found] = Found(i + k, d - k)
                        n_found += 1
                        stack[n_stack] = Found(i + k, d - k)
                        n_stack += 1
                    d = k - 1
                    if _is_mention(chart, picker, row_offset(n, width, i) + d):
                        found[n_found] = Found(i, d)
                        n_found += 1
                else:
                    break
    return n_found


cdef Py_ssize_t highest(Chart* chart, const Counts* counts, Found* found, Found* stack) noexcept nogil:
    """The analysis of highest weight. Without counts: -1 if another one is as high."""
    cdef Picker picker
    picker.ring = chart.ring
    picker.state = NULL
    picker.tolerance = TIE * chart.total
    return _trace(chart, counts, &picker, found, stack)


cdef Py_ssize_t sample(Chart* chart, uint64_t* state, Found* found, Found* stack) noexcept nogil:
    """One analysis, drawn with its probability."""
    cdef Picker picker
    picker.ring = chart.ring
    picker.state = state
    picker.tolerance = 0.0
    return _trace(chart, NULL, &picker, found, stack)


cdef void fewest(Chart* chart, Counts* counts) noexcept nogil:
    """Fill `counts` for a chart of highest weights."""
    cdef Picker picker
    cdef Py_ssize_t i, d, place, n = chart.n, width = chart.width
    picker.ring = chart.ring
    picker.state = NULL
    picker.tolerance = TIE * chart.total
    counts.rest[n] = 0
    for i in range(n - 1, -1, -1):
        if chart.short:
            for d in range(row_length(n, width, i)):
                place = row_offset(n, width, i) + d
                _open(&picker, chart.ring.one)
                if d > 0:
                    _offer_inside(chart, counts, i, d, &picker)
                counts.inside[place] = picker.count
                if chart.short < width:
                    _open(&picker, chart.ring.one)
                    _offer_long(chart, counts, i, d, &picker)
                    counts.long[place] = picker.count
        _open(&picker, chart.ring.one)
        _offer_first_level(chart, counts, i, &picker)
        counts.rest[i] = picker.count
