# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Memory: one piece per call, for the largest segment of the batch. Segments take turns in it."""
from libc.stdlib cimport free

from .arena cimport Needs
from .batch cimport Batch, Segment
from .chart cimport SCRATCH_ROWS, Chart, row_offset
from .covariance cimport Flow
from .traceback cimport Candidate, Found, Spread

from .._memory import check_memory, out_of_memory

cdef extern from "pages.h" nogil:
    bint SNN_SEPARATE
    void* snn_take_memory(size_t bytes)

# Whether these kernels were compiled for `make sanitize`.
separate = bool(SNN_SEPARATE)


cdef class Arena:
    """Tables for a batch in a search space.

    short_child: 0, mentions have no children; c > 0, at most one child longer than c tokens; -1, any children.
    marginals: with the tables of the way back.
    entropy: with those of entropy.pyx.
    expected: with a table of expected weights, and with one of highest weights if spans have one label.
    copies: how many copies of the label weights of a packed segment (analysis.pyx).
    numbers: the segments of the batch that take turns; None for all.
    flows: with the tables of covariance.pyx.
    listed: with room for the candidates of an item (items.pyx).
    """

    def __cinit__(self, Batch batch not None, Py_ssize_t short_child, bint multi_label, bint marginals=False,
                  bint entropy=False, bint expected=False, Py_ssize_t copies=0, numbers=None, bint flows=False,
                  bint listed=False):
        cdef Needs needs = Needs(0, 0, 0, 0, 0, 0, copies, marginals, entropy, expected, flows, listed)
        cdef Py_ssize_t k, longest = 0
        if short_child < NO_LIMIT:
            raise ValueError(f"max_short_child is {short_child}; expected 0 or more, or -1 for no limit")
        self.short_child, self.multi_label = short_child, multi_label
        for k in range(batch.size) if numbers is None else numbers:
            longest = max(longest, _include(&needs, &batch.segments[k]))
        # Once to add up, once to hand out.
        self._lay_out(&needs)
        check_memory(self.bytes, longest, needs.width, marginals)
        self.memory = self.next = <char*>snn_take_memory(<size_t>self.bytes)
        if self.memory == NULL:
            raise out_of_memory(self.bytes, longest, needs.width, marginals)
        self._lay_out(&needs)

    def __dealloc__(self):
        cdef int k
        free(self.memory)
        for k in range(self.n_pieces):
            free(self.pieces[k])

    cdef void* _take(self, Py_ssize_t count, Py_ssize_t size) noexcept:
        """Room for `count` things of `size` bytes, a multiple of eight. The sum is a double: it cannot overflow."""
        cdef void* result = self.next
        if self.memory == NULL:
            self.bytes += <double>count * size
        elif SNN_SEPARATE:
            result = self.pieces[self.n_pieces] = snn_take_memory(count * size)
            self.n_pieces += 1
        else:
            self.next += count * size
        return result

    cdef double* _take_doubles(self, Py_ssize_t count) noexcept:
        return <double*>self._take(count, sizeof(double))

    cdef void _lay_out(self, const Needs* needs) noexcept:
        cdef Chart* chart = &self.chart
        cdef Py_ssize_t n = needs.n, width = needs.width, cells = needs.cells
        cdef bint nested = self.short_child != FLAT, cubic = nested and self.short_child != 1
        cdef bint has_long = nested and self.short_child != NO_LIMIT and (not cubic or self.short_child < width)
        cdef Py_ssize_t size = sizeof(Spread)
        chart.skip = self._take_doubles(n + 1)
        chart.token = self._take_doubles(n + 1)
        chart.reach = self._take_doubles(n + 1)
        chart.token_bar = self._take_doubles(n + 1)
        chart.rows = self._take_doubles(SCRATCH_ROWS * (width + 1))
        chart.weight = self._take_doubles(cells + 1)
        chart.inside = self._take_doubles(cells + 1)
        chart.child = self._take_doubles(cells + 1) if cubic else NULL
        chart.child_bar = self._take_doubles(cells + 1) if cubic and needs.marginals else NULL
        chart.long = self._take_doubles(cells + 1) if has_long else NULL
        chart.long_bar = self._take_doubles(cells + 1) if has_long and cubic and needs.marginals else NULL
        if needs.entropy:
            self.spreads.rest = <Spread*>self._take(n + 1, size)
            self.spreads.labels = <Spread*>self._take(cells + 1, size)
            self.spreads.inside = <Spread*>self._take(cells + 1, size) if nested else NULL
            self.spreads.long = <Spread*>self._take(cells + 1, size) if has_long else NULL
        if needs.flows:
            size = sizeof(Flow)
            self.flows.rest = <Flow*>self._take(n + 1, size)
            self.flows.mention = <Flow*>self._take(cells + 1, size)
            self.flows.inside = <Flow*>self._take(cells + 1, size) if nested else NULL
            self.flows.long = <Flow*>self._take(cells + 1, size) if has_long else NULL
        self.listed = NULL
        if needs.listed:  # at most 2 * width + 3 candidates, or as many as a span has labels
            self.listed = <Candidate*>self._take(2 * width + 3 + needs.most_labels, sizeof(Candidate))
        self.expected = self._take_doubles(cells + 1) if needs.expected else NULL
        self.highest = self._take_doubles(cells + 1) if needs.expected and not self.multi_label else NULL
        self.weights_copy = <char*>self._take_doubles(needs.copy + 1) if needs.copies > 0 else NULL
        self.marginals_copy = <char*>self._take_doubles(needs.copy + 1) if needs.copies > 1 else NULL
        self.room.found = <Found*>self._take(2 * (n + 1), sizeof(Found))
        self.room.sorted = <Found*>self._take(2 * (n + 1), sizeof(Found))
        self.room.stack = <Found*>self._take(n + 1, sizeof(Found))
        self.room.places = <Py_ssize_t*>self._take(n + 1, sizeof(Py_ssize_t))
        self.room.labels = <char*>self._take(needs.labels + 1, sizeof(double))


cdef Py_ssize_t _include(Needs* needs, const Segment* segment) noexcept:
    """Make room for a segment too. Returns its tokens if it has more cells than those before it, or 0."""
    cdef Py_ssize_t cells = row_offset(segment.n, segment.width, segment.n)
    cdef Py_ssize_t stored = row_offset(segment.n, segment.stored, segment.n) if segment.stored else 0
    needs.n, needs.width = max(needs.n, segment.n), max(needs.width, segment.width)
    needs.labels = max(needs.labels, segment.width * segment.labels)
    needs.most_labels = max(needs.most_labels, segment.labels)
    # Packed scores of this size exist, so that this number does.
    needs.copy = max(needs.copy, stored * segment.labels)
    if cells <= needs.cells:
        return 0
    needs.cells = cells
    return segment.n
