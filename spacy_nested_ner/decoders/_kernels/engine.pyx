# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Runs the kernels over a batch: labels to span weights, dynamic program, and back.

Every function takes a Batch and a search space, releases the GIL for the whole
batch and keeps nothing between calls.

decode          best.pyx for the flat and the quadratic space; the chart where there is a tie
                or any other space
log_partition   chart over the linear semiring, or over logarithms
sample          the same chart, read from the top down by chance (traceback.pyx)

Weights become plain numbers first and the dynamic program runs over the linear
semiring. A segment whose numbers do not fit (some weight above 80, or spans so
unequal that scaling does not help) is done again over logarithms, exactly but
slower; nothing of this is visible from outside.
"""
from libc.math cimport INFINITY, expm1, fmax
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc

from . cimport cubic, flat, quadratic, traceback
from .batch cimport Batch, Segment, read_weight, row_of, weight_at
from .best cimport BAD_ROW, BEST_ROWS, BestTables, best
from .chart cimport SCRATCH_ROWS, Chart, Semiring, row_length, row_offset
from .traceback cimport Counts, Found
from .weights cimport (
    careful_row, careful_spread_row, highest_row, label_shares, linear_row, sigmoid, softplus, spread_row, uses_avx2,
)

from ..mention import Mention
from .._memory import check_memory

cdef extern from "rings.h" nogil:
    const Semiring* semiring_linear(int avx2)
    const Semiring* semiring_maximum(int avx2)
    const Semiring* semiring_logarithm()

cdef extern from *:
    """
    /* type(a, b, c) for a subclass of tuple that adds nothing to it. Like plain tuples
     * of numbers the result is not tracked by the garbage collector, which has nothing to
     * find in it. Versions of Python whose tuples are not known here take the long way. */
    static PyObject *snn_new_triple(PyObject *type, PyObject *a, PyObject *b, PyObject *c) {
    #if PY_VERSION_HEX < 0x030F0000 && !defined(Py_LIMITED_API) && !defined(PYPY_VERSION)
        PyTupleObject *triple = PyObject_GC_NewVar(PyTupleObject, (PyTypeObject *)type, 3);
        if (triple == NULL) return NULL;
    #if PY_VERSION_HEX >= 0x030E0000
        triple->ob_hash = -1;
    #endif
        triple->ob_item[0] = Py_NewRef(a);
        triple->ob_item[1] = Py_NewRef(b);
        triple->ob_item[2] = Py_NewRef(c);
        return (PyObject *)triple;
    #else
        return PyObject_CallFunctionObjArgs(type, a, b, c, NULL);
    #endif
    }
    """
    object snn_new_triple(object type, object a, object b, object c)

cdef extern from "Python.h":
    int PyGC_Disable()
    int PyGC_Enable()

cdef const Semiring* LINEAR = semiring_linear(uses_avx2())
cdef const Semiring* MAXIMUM = semiring_maximum(uses_avx2())
cdef const Semiring* LOGARITHM = semiring_logarithm()

# Results of the functions that run without the GIL.
cdef enum:
    DONE = 0
    BAD_WEIGHT = 1
    NO_MEMORY = 2
    TIE = 3

cdef enum:
    FLAT = 0
    NO_LIMIT = -1


cdef class Space:
    """A search space as the kernels know it.

    short_child: 0, mentions have no children; c > 0, at most one child longer than c
    tokens; -1, any children.
    """
    cdef readonly Py_ssize_t short_child
    cdef readonly bint multi_label

    def __init__(self, Py_ssize_t short_child, bint multi_label):
        self.short_child = short_child
        self.multi_label = multi_label


# Memory for the mentions of one segment, and for the labels of one row.
ctypedef struct Room:
    Found* found            # 2n mentions
    Found* sorted
    Found* stack
    Py_ssize_t* places      # n
    char* labels


# The general method: a chart, and what the kernels need to know.
ctypedef struct Run:
    Chart chart
    Room* room
    Py_ssize_t short_child
    bint multi_label
    bint marginals


# ---- memory: one arena a call, for the largest segment of the batch ----

cdef class _Arena:
    cdef char* memory
    cdef char* next
    cdef Py_ssize_t n, width, cells, labels, longest
    cdef Room room

    def __cinit__(self, Batch batch, *_):
        cdef Py_ssize_t k, cells
        cdef Segment* segment
        for k in range(batch.size):
            segment = &batch.segments[k]
            self.n = max(self.n, segment.n)
            self.width = max(self.width, segment.width)
            self.labels = max(self.labels, segment.width * segment.labels)
            cells = row_offset(segment.n, segment.width, segment.n)
            if cells > self.cells:
                self.cells, self.longest = cells, segment.n

    def __dealloc__(self):
        free(self.memory)

    cdef int _allocate(self, object size, bint marginals) except -1:
        """`size` bytes and what a Room takes. Python numbers: they do not overflow."""
        size = size + (self.n + 1) * (5 * sizeof(Found) + sizeof(Py_ssize_t)) + 8 * self.labels + 64
        check_memory(size, self.longest, self.width, marginals)
        self.memory = self.next = <char*>malloc(size)
        if self.memory == NULL:
            raise MemoryError(f"cannot allocate {size / 2**30:.1f} GiB for a segment of {self.longest} tokens")
        self.room.found = <Found*>self._take(2 * (self.n + 1) * sizeof(Found))
        self.room.sorted = <Found*>self._take(2 * (self.n + 1) * sizeof(Found))
        self.room.stack = <Found*>self._take((self.n + 1) * sizeof(Found))
        self.room.places = <Py_ssize_t*>self._take((self.n + 1) * sizeof(Py_ssize_t))
        self.room.labels = self._take(8 * self.labels)
        return 0

    cdef char* _take(self, Py_ssize_t size) noexcept:
        cdef char* result = self.next
        self.next += size
        return result

    cdef double* _take_doubles(self, Py_ssize_t count) noexcept:
        return <double*>self._take(8 * count)


cdef class _ChartArena(_Arena):
    """For the general method."""
    cdef Run run

    def __cinit__(self, Batch batch, Space space, bint marginals):
        cdef Chart* chart = &self.run.chart
        cdef bint cubic_tables = space.short_child != FLAT and space.short_child != 1
        cdef bint long_tables = space.short_child == 1 or (
            cubic_tables and space.short_child != NO_LIMIT and space.short_child < self.width)
        cdef Py_ssize_t n_tables = 2 + cubic_tables * (1 + marginals) + long_tables * (
            1 + (marginals and cubic_tables))
        cdef Py_ssize_t table = self.cells + 1
        self._allocate(
            8 * (n_tables * table + 4 * (self.n + 1) + SCRATCH_ROWS * (self.width + 1)), marginals)
        self.run.room = &self.room
        self.run.short_child = space.short_child
        self.run.multi_label = space.multi_label
        self.run.marginals = marginals
        chart.skip = self._take_doubles(self.n + 1)
        chart.token = self._take_doubles(self.n + 1)
        chart.reach = self._take_doubles(self.n + 1)
        chart.token_bar = self._take_doubles(self.n + 1)
        chart.rows = self._take_doubles(SCRATCH_ROWS * (self.width + 1))
        chart.weight = self._take_doubles(table)
        chart.inside = self._take_doubles(table)
        chart.child = self._take_doubles(table) if cubic_tables else NULL
        chart.child_bar = self._take_doubles(table) if cubic_tables and marginals else NULL
        chart.long = self._take_doubles(table) if long_tables else NULL
        chart.long_bar = self._take_doubles(table) if long_tables and cubic_tables and marginals else NULL


cdef class _BestArena(_Arena):
    """For best.pyx."""
    cdef BestTables tables

    def __cinit__(self, Batch batch):
        self._allocate(
            8 * (2 * (self.n + 1) + BEST_ROWS * (self.width + 1)) + 4 * (self.n + 1) + self.cells + 1, False)
        self.tables.labels = self.room.labels
        self.tables.rest = self._take_doubles(self.n + 1)
        self.tables.token = self._take_doubles(self.n + 1)
        self.tables.weight = self._take_doubles(self.width + 1)
        self.tables.long_one = self._take_doubles(self.width + 1)
        self.tables.long_other = self._take_doubles(self.width + 1)
        self.tables.mention = self._take_doubles(self.width + 1)
        self.tables.peaks = self._take_doubles(self.width + 1)
        self.tables.choices = <int32_t*>self._take(4 * (self.n + 1))
        self.tables.flags = <uint8_t*>self._take(self.cells + 1)


# ---- one segment ----

cdef inline void _start(Run* run, const Segment* segment, const Semiring* ring) noexcept nogil:
    run.chart.ring = ring
    run.chart.n, run.chart.width = segment.n, segment.width
    run.chart.short = run.short_child
    if run.short_child == NO_LIMIT or run.short_child > segment.width:
        run.chart.short = segment.width
    if run.short_child == 1:
        run.chart.short = 1


cdef inline double* _row(Run* run, Py_ssize_t i) noexcept nogil:
    return run.chart.weight + row_offset(run.chart.n, run.chart.width, i)


cdef int _inside(Run* run) noexcept nogil:
    if run.short_child == FLAT:
        return flat.inside(&run.chart)
    if run.short_child == 1:
        return quadratic.inside(&run.chart)
    return cubic.inside(&run.chart)


cdef void _outside(Run* run) noexcept nogil:
    if run.short_child == FLAT:
        flat.outside(&run.chart)
    elif run.short_child == 1:
        quadratic.outside(&run.chart)
    else:
        cubic.outside(&run.chart)


cdef int _sum_over_analyses(Run* run, const Segment* segment) noexcept nogil:
    """Fill the chart over the linear semiring, or over logarithms where that fails."""
    cdef Py_ssize_t i
    cdef bint fits = True
    _start(run, segment, LINEAR)
    for i in range(segment.n):
        if linear_row(segment, i, run.multi_label, run.room.labels, _row(run, i)):
            fits = False
            break
    if fits and _inside(run):
        return DONE
    _start(run, segment, LOGARITHM)
    for i in range(segment.n):
        if careful_row(segment, i, run.multi_label, run.room.labels, _row(run, i)):
            return BAD_WEIGHT
    _inside(run)
    return DONE


cdef int _marginals(Run* run, const Segment* segment) noexcept nogil:
    cdef Py_ssize_t i
    cdef double* factor
    if _sum_over_analyses(run, segment) != DONE:
        return BAD_WEIGHT
    if not run.marginals:
        return DONE
    _outside(run)
    for i in range(segment.n):
        factor = run.chart.inside + row_offset(segment.n, segment.width, i)
        if run.chart.ring == LINEAR:
            spread_row(segment, i, run.multi_label, _row(run, i), factor)
        else:
            careful_spread_row(segment, i, _row(run, i), factor)
    return DONE


cdef int _best_with_fewest(Run* run, const Segment* segment, Py_ssize_t* n_found) noexcept nogil:
    """The second way down the chart, when there was a tie on the first."""
    cdef Counts counts
    cdef Py_ssize_t i, d, t, place, n = segment.n, cells = row_offset(n, segment.width, n)
    cdef int32_t* memory = <int32_t*>malloc((3 * (cells + 1) + n + 1) * sizeof(int32_t))
    if memory == NULL:
        return NO_MEMORY
    counts.inside, counts.long, counts.rest, counts.mention = (
        memory, memory + (cells + 1), memory + 3 * (cells + 1), NULL)
    if run.multi_label:
        counts.mention = memory + 2 * (cells + 1)
        for i in range(n):
            for d in range(row_length(n, segment.width, i)):
                place = row_offset(n, segment.width, i) + d
                counts.mention[place] = 0
                for t in range(segment.labels):
                    counts.mention[place] += weight_at(segment, i, d, t) > 0
    traceback.fewest(&run.chart, &counts)
    n_found[0] = traceback.highest(&run.chart, &counts, run.room.found, run.room.stack)
    free(memory)
    return DONE


cdef int _best(Run* run, const Segment* segment, Py_ssize_t* n_found) noexcept nogil:
    """The mentions of the best analysis, in run.room.found, by the general method."""
    cdef Py_ssize_t i
    _start(run, segment, MAXIMUM)
    for i in range(segment.n - 1, -1, -1):
        if highest_row(segment, i, 0, row_length(segment.n, segment.width, i), run.multi_label, run.room.labels,
                       _row(run, i)):
            return BAD_WEIGHT
    _inside(run)
    n_found[0] = traceback.highest(&run.chart, NULL, run.room.found, run.room.stack)
    if n_found[0] < 0:
        return _best_with_fewest(run, segment, n_found)
    return DONE


# ---- mentions for Python ----

ctypedef struct Output:
    Py_ssize_t* numbers     # start, end, label; a mention after the other
    Py_ssize_t size
    Py_ssize_t room


cdef void _sort(Room* room, Py_ssize_t n_found, Py_ssize_t n) noexcept nogil:
    """By start, then longest first: two counting passes, as numbers are small."""
    _sort_once(room.found, room.sorted, n_found, room.places, n, False)
    _sort_once(room.sorted, room.found, n_found, room.places, n, True)


cdef void _sort_once(const Found* source, Found* target, Py_ssize_t n_found, Py_ssize_t* places,
                     Py_ssize_t n, bint by_start) noexcept nogil:
    cdef Py_ssize_t k, key, count, before = 0
    for key in range(n):
        places[key] = 0
    for k in range(n_found):
        places[source[k].start if by_start else n - 1 - source[k].length] += 1
    for key in range(n):
        count = places[key]
        places[key] = before
        before += count
    for k in range(n_found):
        key = source[k].start if by_start else n - 1 - source[k].length
        target[places[key]] = source[k]
        places[key] += 1


cdef int _write(Output* output, Py_ssize_t start, Py_ssize_t end, Py_ssize_t label) noexcept nogil:
    cdef Py_ssize_t* larger
    if output.size + 3 > output.room:
        output.room = 2 * output.room + 192
        larger = <Py_ssize_t*>realloc(output.numbers, output.room * sizeof(Py_ssize_t))
        if larger == NULL:
            return NO_MEMORY
        output.numbers = larger
    output.numbers[output.size] = start
    output.numbers[output.size + 1] = end
    output.numbers[output.size + 2] = label
    output.size += 3
    return DONE


cdef int _write_best_labels(Room* room, const Segment* segment, bint multi_label, Py_ssize_t n_found,
                            Output* output) noexcept nogil:
    cdef Py_ssize_t k, t, label
    cdef double w, high
    cdef const char* place
    cdef Found span
    _sort(room, n_found, segment.n)
    for k in range(n_found):
        span = room.found[k]
        label, high = 0, -INFINITY
        place = row_of(segment, span.start) + span.length * segment.span_step
        for t in range(segment.labels):
            w = read_weight(segment, place + t * segment.label_step)
            if multi_label:
                if w > 0 and _write(output, span.start, span.start + span.length + 1, t) != DONE:
                    return NO_MEMORY
            elif w > high:
                label, high = t, w
        if not multi_label and _write(output, span.start, span.start + span.length + 1, label) != DONE:
            return NO_MEMORY
    return DONE


cdef int _write_drawn_labels(Room* room, const Segment* segment, bint multi_label, Py_ssize_t n_found,
                             uint64_t* state, Output* output) noexcept nogil:
    cdef Py_ssize_t k, t, drawn
    cdef double* shares = <double*>room.labels
    cdef double total, rest
    cdef bint any_yet
    cdef Found span
    _sort(room, n_found, segment.n)
    for k in range(n_found):
        span = room.found[k]
        if not multi_label:
            label_shares(segment, span.start, span.length, False, shares)
            drawn, total = -1, 0.0
            for t in range(segment.labels):
                total += shares[t]
                if traceback.uniform(state) * total < shares[t]:
                    drawn = t
            if _write(output, span.start, span.start + span.length + 1, drawn) != DONE:
                return NO_MEMORY
            continue
        # A set of labels, given that it is not empty: `rest` is -log of the
        # probability that none of the labels from t on is drawn.
        rest = 0.0
        for t in range(segment.labels):
            shares[t] = weight_at(segment, span.start, span.length, t)
            rest += softplus(shares[t])
        any_yet = False
        for t in range(segment.labels):
            total = 1.0 if any_yet else -expm1(-rest)
            rest = fmax(rest - softplus(shares[t]), 0.0)
            if traceback.uniform(state) * total < sigmoid(shares[t]) or (
                    t + 1 == segment.labels and not any_yet):
                any_yet = True
                if _write(output, span.start, span.start + span.length + 1, t) != DONE:
                    return NO_MEMORY
    return DONE


cdef list _mentions(const Output* output, Py_ssize_t first, Py_ssize_t last):
    cdef const Py_ssize_t* numbers = output.numbers
    cdef Py_ssize_t k, begins = -1, ends = -1
    cdef object start = None, end = None
    cdef list result = []
    for k in range(first, last, 3):
        # Nested mentions share borders, and then also the numbers.
        if numbers[k] != begins:
            begins = numbers[k]
            start = begins
        if numbers[k + 1] != ends:
            ends = numbers[k + 1]
            end = ends
        result.append(snn_new_triple(Mention, start, end, numbers[k + 2]))
    return result


cdef list _analyses(const Output* output, const Py_ssize_t* ends, Py_ssize_t size):
    """Lists of mentions, cut at `ends`. The garbage collector would look at the growing list again
    and again, which for short sentences is a good part of the time; no code but this runs meanwhile."""
    cdef bint collecting = PyGC_Disable()
    cdef Py_ssize_t k
    try:
        return [_mentions(output, ends[k], ends[k + 1]) for k in range(size)]
    finally:
        if collecting:
            PyGC_Enable()


# ---- what Python calls ----

class BadWeightError(Exception):
    """A NaN or +inf in the scores of segment `number`: the caller knows how to say so."""

    def __init__(self, number):
        self.number = number


cdef object _fail(int status, Py_ssize_t number):
    if status == BAD_WEIGHT:
        raise BadWeightError(number)
    raise MemoryError(f"out of memory in segment {number} of the batch")


def decode(Batch batch not None, Space space not None):
    """The best analysis of every segment: a list of lists of mentions."""
    cdef bint quick = space.short_child == FLAT or space.short_child == 1
    cdef bint nested = space.short_child != FLAT, multi_label = space.multi_label
    cdef _BestArena best_arena = _BestArena(batch) if quick else None
    cdef _ChartArena arena = None if quick else _ChartArena(batch, space, False)
    cdef Output output = Output(NULL, 0, 0)
    cdef Py_ssize_t k = 0, n_found = 0
    cdef Py_ssize_t* ends = <Py_ssize_t*>malloc((batch.size + 1) * sizeof(Py_ssize_t))
    cdef int status = DONE
    if ends == NULL:
        raise MemoryError(f"out of memory for a batch of {batch.size} segments")
    ends[0] = 0
    try:
        while k < batch.size:
            with nogil:
                while k < batch.size and status == DONE:
                    if quick:
                        n_found = best(&batch.segments[k], nested, multi_label, &best_arena.tables,
                                       best_arena.room.found)
                        if n_found < 0:
                            status = BAD_WEIGHT if n_found == BAD_ROW else TIE
                        else:
                            status = _write_best_labels(&best_arena.room, &batch.segments[k], multi_label, n_found,
                                                        &output)
                    if status == TIE or not quick:
                        if arena is None:
                            break
                        status = _best(&arena.run, &batch.segments[k], &n_found)
                        if status == DONE:
                            status = _write_best_labels(&arena.room, &batch.segments[k], multi_label, n_found,
                                                        &output)
                    if status == DONE:
                        k += 1
                        ends[k] = output.size
            if status == TIE:
                # The first tie of the batch: from here on there is a chart for such segments.
                arena = _ChartArena(batch, space, False)
                status = DONE
            elif status != DONE:
                _fail(status, k)
        return _analyses(&output, ends, batch.size)
    finally:
        free(ends)
        free(output.numbers)


def log_partition(Batch batch not None, Space space not None, bint marginals):
    """log Z of every segment; with `marginals`, also those, to the batch's outputs."""
    cdef _ChartArena arena = _ChartArena(batch, space, marginals)
    cdef Py_ssize_t k
    cdef int status = DONE
    cdef double* totals = <double*>malloc((batch.size + 1) * sizeof(double))
    if totals == NULL:
        raise MemoryError(f"out of memory for a batch of {batch.size} segments")
    try:
        with nogil:
            for k in range(batch.size):
                status = _marginals(&arena.run, &batch.segments[k])
                if status != DONE:
                    break
                totals[k] = arena.run.chart.total
        if status != DONE:
            _fail(status, k)
        return [totals[k] for k in range(batch.size)]
    finally:
        free(totals)


def sample(Batch batch not None, Space space not None, Py_ssize_t n_samples, uint64_t seed):
    """Independent samples of every segment: lists of analyses. A segment's samples depend on
    the seed and on its number in the batch."""
    cdef _ChartArena arena = _ChartArena(batch, space, False)
    cdef Output output
    cdef Py_ssize_t k, s, n_found
    cdef Py_ssize_t* ends = <Py_ssize_t*>malloc((n_samples + 1) * sizeof(Py_ssize_t))
    cdef int status = DONE
    cdef uint64_t state
    cdef list results = []
    if ends == NULL:
        raise MemoryError(f"out of memory for {n_samples} samples")
    try:
        for k in range(batch.size):
            output = Output(NULL, 0, 0)
            try:
                with nogil:
                    state = seed + <uint64_t>k * <uint64_t>0xD1342543DE82EF95
                    ends[0] = 0
                    status = _sum_over_analyses(&arena.run, &batch.segments[k])
                    for s in range(n_samples):
                        if status != DONE:
                            break
                        n_found = traceback.sample(&arena.run.chart, &state, arena.room.found, arena.room.stack)
                        status = _write_drawn_labels(&arena.room, &batch.segments[k], space.multi_label, n_found,
                                                     &state, &output)
                        ends[s + 1] = output.size
                if status != DONE:
                    _fail(status, k)
                results.append(_analyses(&output, ends, n_samples))
            finally:
                free(output.numbers)
        return results
    finally:
        free(ends)
