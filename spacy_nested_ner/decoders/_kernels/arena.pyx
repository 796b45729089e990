# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Memory: one piece per call, for the largest segment of the batch. Segments take turns in it."""
from libc.stdlib cimport free, malloc

from .batch cimport Batch, Segment
from .chart cimport SCRATCH_ROWS, Chart, row_offset
from .traceback cimport Found, Spread

from .._memory import check_memory, out_of_memory


cdef class Arena:
    """Tables for a batch in a search space.

    short_child: 0, mentions have no children; c > 0, at most one child longer than c tokens; -1, any children.
    marginals: with the tables of the way back.
    entropy: with those of entropy.pyx.
    """

    def __cinit__(self, Batch batch not None, Py_ssize_t short_child, bint multi_label, bint marginals=False,
                  bint entropy=False):
        cdef Py_ssize_t k, of_segment, n = 0, width = 0, cells = 0, labels = 0, longest = 0
        cdef Segment* segment
        if short_child < NO_LIMIT:
            raise ValueError(f"max_short_child is {short_child}; expected 0 or more, or -1 for no limit")
        self.short_child, self.multi_label = short_child, multi_label
        for k in range(batch.size):
            segment = &batch.segments[k]
            n, width = max(n, segment.n), max(width, segment.width)
            labels = max(labels, segment.width * segment.labels)
            of_segment = row_offset(segment.n, segment.width, segment.n)
            if of_segment > cells:
                cells, longest = of_segment, segment.n
        # Once to add up, once to hand out.
        self._lay_out(n, width, cells, labels, marginals, entropy)
        check_memory(self.bytes, longest, width, marginals)
        self.memory = self.next = <char*>malloc(<size_t>self.bytes)
        if self.memory == NULL:
            raise out_of_memory(self.bytes, longest, width, marginals)
        self._lay_out(n, width, cells, labels, marginals, entropy)

    def __dealloc__(self):
        free(self.memory)

    cdef void* _take(self, Py_ssize_t count, Py_ssize_t size) noexcept:
        """Room for `count` things of `size` bytes, a multiple of eight. The sum is a double: it cannot overflow."""
        cdef void* result = self.next
        if self.memory == NULL:
            self.bytes += <double>count * size
        else:
            self.next += count * size
        return result

    cdef double* _take_doubles(self, Py_ssize_t count) noexcept:
        return <double*>self._take(count, sizeof(double))

    cdef void _lay_out(self, Py_ssize_t n, Py_ssize_t width, Py_ssize_t cells, Py_ssize_t labels, bint marginals,
                       bint entropy) noexcept:
        cdef Chart* chart = &self.chart
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
        chart.child_bar = self._take_doubles(cells + 1) if cubic and marginals else NULL
        chart.long = self._take_doubles(cells + 1) if has_long else NULL
        chart.long_bar = self._take_doubles(cells + 1) if has_long and cubic and marginals else NULL
        if entropy:
            self.spreads.rest = <Spread*>self._take(n + 1, size)
            self.spreads.labels = <Spread*>self._take(cells + 1, size)
            self.spreads.inside = <Spread*>self._take(cells + 1, size) if nested else NULL
            self.spreads.long = <Spread*>self._take(cells + 1, size) if has_long else NULL
        self.room.found = <Found*>self._take(2 * (n + 1), sizeof(Found))
        self.room.sorted = <Found*>self._take(2 * (n + 1), sizeof(Found))
        self.room.stack = <Found*>self._take(n + 1, sizeof(Found))
        self.room.places = <Py_ssize_t*>self._take(n + 1, sizeof(Py_ssize_t))
        self.room.labels = <char*>self._take(labels + 1, sizeof(double))
