# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Runs the kernels over a batch: labels to span weights, dynamic program, and back.

Every function takes a Batch and a search space, releases the GIL for the whole
batch and keeps nothing between calls. Memory is one arena a call, as large as the
longest segment needs.

Weights become plain numbers first and the dynamic program runs over the linear
semiring. A segment whose numbers do not fit (some weight above 80, or spans so
unequal that scaling does not help) is done again over logarithms, exactly but
slower; nothing of this is visible from outside.
"""
from libc.math cimport INFINITY, exp, expm1, fmax, fmin, isnan, log, log1p
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from . cimport cubic, flat, quadratic, traceback
from .batch cimport Batch, Segment, out_row_of, read_weight, row_of, weight_at
from .chart cimport SCRATCH_ROWS, Chart, Semiring, row_length, row_offset
from .traceback cimport Counts, Found

from .mention import Mention
from .memory import check_memory

cdef extern from "labels.h" nogil:
    ctypedef struct Labels:
        int (*highest)(double*, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t, int) noexcept nogil
        int (*exponentials)(double*, void*, Py_ssize_t, const void*, Py_ssize_t, Py_ssize_t, Py_ssize_t,
                            Py_ssize_t, int) noexcept nogil
        void (*spread)(void*, const double*, const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t,
                       int) noexcept nogil
    const Labels* labels_for(int is_double, int avx2)
    int snn_use_avx2()

cdef extern from "rings.h" nogil:
    const Semiring* semiring_linear(int avx2)
    const Semiring* semiring_maximum(int avx2)
    const Semiring* semiring_logarithm()

cdef extern from *:
    """
    /* type(a, b, c) for a subclass of tuple that adds nothing to it. Like plain tuples
     * of numbers the result is not tracked by the garbage collector, which has nothing to
     * find in it. Versions of Python whose tuples are not known here take the long way. */
    static PyObject *snn_new_triple(PyObject *type, Py_ssize_t a, Py_ssize_t b, Py_ssize_t c) {
        PyObject *items[3] = {PyLong_FromSsize_t(a), PyLong_FromSsize_t(b), PyLong_FromSsize_t(c)};
        PyObject *result = NULL;
        if (items[0] && items[1] && items[2]) {
    #if PY_VERSION_HEX < 0x030F0000 && !defined(Py_LIMITED_API) && !defined(PYPY_VERSION)
            PyTupleObject *triple = PyObject_GC_NewVar(PyTupleObject, (PyTypeObject *)type, 3);
            if (triple) {
    #if PY_VERSION_HEX >= 0x030E0000
                triple->ob_hash = -1;
    #endif
                for (int k = 0; k < 3; k++) triple->ob_item[k] = Py_NewRef(items[k]);
            }
            result = (PyObject *)triple;
    #else
            result = PyObject_CallFunctionObjArgs(type, items[0], items[1], items[2], NULL);
    #endif
        }
        for (int k = 0; k < 3; k++) Py_XDECREF(items[k]);
        return result;
    }
    """
    object snn_new_triple(object type, Py_ssize_t a, Py_ssize_t b, Py_ssize_t c)

cdef extern from "Python.h":
    int PyGC_Disable()
    int PyGC_Enable()

cdef bint AVX2 = snn_use_avx2()
cdef const Semiring* LINEAR = semiring_linear(AVX2)
cdef const Semiring* MAXIMUM = semiring_maximum(AVX2)
cdef const Semiring* LOGARITHM = semiring_logarithm()

# Results of the functions that run without the GIL.
cdef enum:
    DONE = 0
    BAD_WEIGHT = 1
    NO_MEMORY = 2

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


# What the kernels need to know, and the memory they work in.
ctypedef struct Run:
    Chart chart
    Py_ssize_t short_child
    bint multi_label
    bint marginals
    char* labels            # room for the labels of one row
    Found* found            # 2n mentions
    Found* sorted
    Found* stack
    char* arena


# ---- memory ----

cdef class _Arena:
    """The memory of one call: tables for the largest segment of the batch."""
    cdef Run run

    def __cinit__(self, Batch batch, Space space, bint marginals):
        cdef Py_ssize_t k, n = 0, width = 0, cells = 0, labels = 0, longest = 0
        cdef Segment* segment
        for k in range(batch.size):
            segment = &batch.segments[k]
            n = max(n, segment.n)
            width = max(width, segment.width)
            labels = max(labels, segment.width * segment.labels)
            # The number of cells, by whole numbers that cannot overflow: n * width fits.
            if row_offset(segment.n, segment.width, segment.n) > cells:
                cells = row_offset(segment.n, segment.width, segment.n)
                longest = segment.n
        cdef Run* run = &self.run
        cdef bint cubic_tables = space.short_child != FLAT and space.short_child != 1
        cdef bint long_tables = space.short_child == 1 or (
            cubic_tables and space.short_child != NO_LIMIT and space.short_child < width)
        cdef Py_ssize_t n_tables = 2 + cubic_tables * (1 + marginals) + long_tables * (
            1 + (marginals and cubic_tables))
        cdef object size = (
            8 * (n_tables * (cells + 1) + 4 * (n + 1) + SCRATCH_ROWS * (width + 1) + labels)
            + 5 * (n + 1) * sizeof(Found))
        check_memory(size, longest, width, marginals)
        run.arena = <char*>malloc(size)
        if run.arena == NULL:
            raise MemoryError(f"cannot allocate {size / 2**30:.1f} GiB for a segment of {longest} tokens")
        run.short_child = space.short_child
        run.multi_label = space.multi_label
        run.marginals = marginals

        cdef double* next = <double*>run.arena
        cdef Chart* chart = &run.chart
        chart.skip, chart.token, chart.reach, chart.token_bar = (
            next, next + (n + 1), next + 2 * (n + 1), next + 3 * (n + 1))
        next += 4 * (n + 1)
        chart.rows = next
        next += SCRATCH_ROWS * (width + 1)
        run.labels = <char*>next
        next += labels
        chart.weight, chart.inside = next, next + (cells + 1)
        next += 2 * (cells + 1)
        chart.child = chart.child_bar = chart.long = chart.long_bar = NULL
        if cubic_tables:
            chart.child = next
            next += cells + 1
            if marginals:
                chart.child_bar = next
                next += cells + 1
        if long_tables:
            chart.long = next
            next += cells + 1
            if marginals and cubic_tables:
                chart.long_bar = next
                next += cells + 1
        run.found = <Found*>next
        run.sorted = run.found + 2 * (n + 1)
        run.stack = run.sorted + 2 * (n + 1)

    def __dealloc__(self):
        free(self.run.arena)


# ---- labels in and out ----

cdef const void* _labels_of_row(Run* run, const Segment* segment, Py_ssize_t i, Py_ssize_t length,
                                Py_ssize_t* span_stride, Py_ssize_t* label_stride) noexcept nogil:
    """A row of label weights that vector code can read, copied together if need be."""
    cdef Py_ssize_t d, t, item = 8 if segment.is_double else 4
    cdef const char* row = row_of(segment, i)
    cdef char* copy = run.labels
    if segment.stored:
        # With one label (or none) the two layouts are the same; call it "together".
        span_stride[0] = 1
        label_stride[0] = segment.label_step // item if segment.labels > 1 else 1
        return row
    span_stride[0], label_stride[0] = segment.labels, 1
    if segment.labels_together:
        return row
    for d in range(length):
        for t in range(segment.labels):
            memcpy(copy, row + d * segment.span_step + t * segment.label_step, item)
            copy += item
    return run.labels


cdef inline void _start(Run* run, const Segment* segment, const Semiring* ring) noexcept nogil:
    run.chart.ring = ring
    run.chart.n, run.chart.width = segment.n, segment.width
    run.chart.short = run.short_child
    if run.short_child == NO_LIMIT or run.short_child > segment.width:
        run.chart.short = segment.width
    if run.short_child == 1:
        run.chart.short = 1


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


cdef int _highest_weights(Run* run, const Segment* segment) noexcept nogil:
    cdef const Labels* labels = labels_for(segment.is_double, AVX2)
    cdef Py_ssize_t i, length, span_stride, label_stride
    cdef const void* row
    for i in range(segment.n):
        length = row_length(segment.n, segment.width, i)
        row = _labels_of_row(run, segment, i, length, &span_stride, &label_stride)
        if labels.highest(run.chart.weight + row_offset(segment.n, segment.width, i), row, length,
                          segment.labels, span_stride, label_stride, run.multi_label):
            return BAD_WEIGHT
    return DONE


cdef int _linear_weights(Run* run, const Segment* segment) noexcept nogil:
    """Span weights as plain numbers; what becomes the marginals to the output, if there is one."""
    cdef const Labels* labels = labels_for(segment.is_double, AVX2)
    cdef Py_ssize_t i, length, span_stride, label_stride, out_stride
    cdef const void* row
    cdef char* out
    for i in range(segment.n):
        length = row_length(segment.n, segment.width, i)
        row = _labels_of_row(run, segment, i, length, &span_stride, &label_stride)
        out, out_stride = run.labels, label_stride
        if segment.out != NULL:
            out = out_row_of(segment, i)
        elif label_stride != 1:
            out_stride = length
        if labels.exponentials(run.chart.weight + row_offset(segment.n, segment.width, i), out, out_stride,
                               row, length, segment.labels, span_stride, label_stride, run.multi_label):
            return BAD_WEIGHT
    return DONE


cdef void _spread(Run* run, const Segment* segment) noexcept nogil:
    """From marginal / weight of the spans to marginals of their labels."""
    cdef const Labels* labels = labels_for(segment.is_double, AVX2)
    cdef Py_ssize_t i, place, item = 8 if segment.is_double else 4
    cdef Py_ssize_t span_stride = 1 if segment.stored else segment.labels
    cdef Py_ssize_t label_stride = segment.label_step // item if segment.stored and segment.labels > 1 else 1
    for i in range(segment.n):
        place = row_offset(segment.n, segment.width, i)
        labels.spread(out_row_of(segment, i), run.chart.weight + place, run.chart.inside + place,
                      row_length(segment.n, segment.width, i), segment.labels, span_stride, label_stride,
                      run.multi_label)


cdef inline double _softplus(double x) noexcept nogil:
    return x + log1p(exp(-x)) if x > 0 else log1p(exp(x))


cdef inline double _sigmoid(double x) noexcept nogil:
    return 1.0 / (1.0 + exp(-x)) if x > 0 else exp(x) / (1.0 + exp(x))


cdef double _careful_weight(const Segment* segment, Py_ssize_t i, Py_ssize_t d, bint multi_label,
                            double* shares) noexcept nogil:
    """The logarithm of a span's weight; its labels' shares of it. NaN if a weight is NaN or +inf."""
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
            total += _softplus(shares[t])
        present = -expm1(-total)
        for t in range(segment.labels):
            shares[t] = _sigmoid(shares[t]) / present
        return total + log(present)
    for t in range(segment.labels):
        shares[t] = exp(shares[t] - high)
        total += shares[t]
    for t in range(segment.labels):
        shares[t] /= total
    return high + log(total)


cdef int _careful_weights(Run* run, const Segment* segment) noexcept nogil:
    cdef Py_ssize_t i, d, t, item = 8 if segment.is_double else 4
    cdef Py_ssize_t span_step = item if segment.stored else segment.labels * item
    cdef Py_ssize_t label_step = segment.label_step if segment.stored else item
    cdef double* shares = <double*>run.labels
    cdef double weight
    cdef float single
    cdef char* out
    for i in range(segment.n):
        for d in range(row_length(segment.n, segment.width, i)):
            weight = _careful_weight(segment, i, d, run.multi_label, shares)
            if isnan(weight):
                return BAD_WEIGHT
            run.chart.weight[row_offset(segment.n, segment.width, i) + d] = weight
            if segment.out == NULL:
                continue
            out = out_row_of(segment, i) + d * span_step
            for t in range(segment.labels):
                single = <float>shares[t]
                if segment.is_double:
                    memcpy(out + t * label_step, &shares[t], 8)
                else:
                    memcpy(out + t * label_step, &single, 4)
    return DONE


cdef void _careful_spread(Run* run, const Segment* segment) noexcept nogil:
    cdef Py_ssize_t i, d, t, place, item = 8 if segment.is_double else 4
    cdef Py_ssize_t span_step = item if segment.stored else segment.labels * item
    cdef Py_ssize_t label_step = segment.label_step if segment.stored else item
    cdef double marginal
    cdef char* out
    for i in range(segment.n):
        for d in range(row_length(segment.n, segment.width, i)):
            place = row_offset(segment.n, segment.width, i) + d
            marginal = fmin(1.0, exp(run.chart.weight[place] + run.chart.inside[place]))
            out = out_row_of(segment, i) + d * span_step
            for t in range(segment.labels):
                if segment.is_double:
                    (<double*>(out + t * label_step))[0] *= marginal
                else:
                    (<float*>(out + t * label_step))[0] *= <float>marginal


# ---- one segment ----

cdef int _sum_over_analyses(Run* run, const Segment* segment) noexcept nogil:
    """Fill the chart over the linear semiring, or over logarithms where that fails."""
    _start(run, segment, LINEAR)
    if _linear_weights(run, segment) == DONE and _inside(run):
        return DONE
    _start(run, segment, LOGARITHM)
    if _careful_weights(run, segment) != DONE:
        return BAD_WEIGHT
    _inside(run)
    return DONE


cdef int _marginals(Run* run, const Segment* segment) noexcept nogil:
    if _sum_over_analyses(run, segment) != DONE:
        return BAD_WEIGHT
    if not run.marginals:
        return DONE
    _outside(run)
    if run.chart.ring == LINEAR:
        _spread(run, segment)
    else:
        _careful_spread(run, segment)
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
    n_found[0] = traceback.highest(&run.chart, &counts, run.found, run.stack)
    free(memory)
    return DONE


cdef int _best(Run* run, const Segment* segment, Py_ssize_t* n_found) noexcept nogil:
    """The mentions of the best analysis, in run.found."""
    _start(run, segment, MAXIMUM)
    if _highest_weights(run, segment) != DONE:
        return BAD_WEIGHT
    _inside(run)
    n_found[0] = traceback.highest(&run.chart, NULL, run.found, run.stack)
    if n_found[0] < 0:
        return _best_with_fewest(run, segment, n_found)
    return DONE


# ---- mentions for Python ----

ctypedef struct Output:
    Py_ssize_t* numbers     # start, end, label; a mention after the other
    Py_ssize_t size
    Py_ssize_t room


cdef void _sort(Run* run, Py_ssize_t n_found) noexcept nogil:
    """By start, then longest first: two counting passes, as numbers are small. Counts in
    chart.reach, which no analysis is read from."""
    cdef Py_ssize_t n = run.chart.n
    cdef Py_ssize_t* places = <Py_ssize_t*>run.chart.reach
    _sort_once(run.found, run.sorted, n_found, places, n, False)
    _sort_once(run.sorted, run.found, n_found, places, n, True)


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


cdef int _write_best_labels(Run* run, const Segment* segment, Py_ssize_t n_found, Output* output) noexcept nogil:
    cdef Py_ssize_t k, t, best
    cdef double w, high
    cdef const char* place
    cdef Found span
    _sort(run, n_found)
    for k in range(n_found):
        span = run.found[k]
        best, high = 0, -INFINITY
        place = row_of(segment, span.start) + span.length * segment.span_step
        for t in range(segment.labels):
            w = read_weight(segment, place + t * segment.label_step)
            if run.multi_label:
                if w > 0 and _write(output, span.start, span.start + span.length + 1, t) != DONE:
                    return NO_MEMORY
            elif w > high:
                best, high = t, w
        if not run.multi_label and _write(output, span.start, span.start + span.length + 1, best) != DONE:
            return NO_MEMORY
    return DONE


cdef int _write_drawn_labels(Run* run, const Segment* segment, Py_ssize_t n_found, uint64_t* state,
                             Output* output) noexcept nogil:
    cdef Py_ssize_t k, t, drawn
    cdef double* shares = <double*>run.labels
    cdef double total, rest
    cdef bint any_yet
    cdef Found span
    _sort(run, n_found)
    for k in range(n_found):
        span = run.found[k]
        if not run.multi_label:
            _careful_weight(segment, span.start, span.length, False, shares)
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
            rest += _softplus(shares[t])
        any_yet = False
        for t in range(segment.labels):
            total = 1.0 if any_yet else -expm1(-rest)
            rest = fmax(rest - _softplus(shares[t]), 0.0)
            if traceback.uniform(state) * total < _sigmoid(shares[t]) or (
                    t + 1 == segment.labels and not any_yet):
                any_yet = True
                if _write(output, span.start, span.start + span.length + 1, t) != DONE:
                    return NO_MEMORY
    return DONE


cdef list _mentions(const Output* output, Py_ssize_t first, Py_ssize_t last):
    cdef const Py_ssize_t* numbers = output.numbers
    cdef Py_ssize_t k
    return [snn_new_triple(Mention, numbers[k], numbers[k + 1], numbers[k + 2]) for k in range(first, last, 3)]


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
    cdef _Arena arena = _Arena(batch, space, False)
    cdef Output output = Output(NULL, 0, 0)
    cdef Py_ssize_t k, n_found = 0
    cdef Py_ssize_t* ends = <Py_ssize_t*>malloc((batch.size + 1) * sizeof(Py_ssize_t))
    cdef int status = DONE
    if ends == NULL:
        raise MemoryError(f"out of memory for a batch of {batch.size} segments")
    ends[0] = 0
    try:
        with nogil:
            for k in range(batch.size):
                status = _best(&arena.run, &batch.segments[k], &n_found)
                if status == DONE:
                    status = _write_best_labels(&arena.run, &batch.segments[k], n_found, &output)
                if status != DONE:
                    break
                ends[k + 1] = output.size
        if status != DONE:
            _fail(status, k)
        return _analyses(&output, ends, batch.size)
    finally:
        free(ends)
        free(output.numbers)


def log_partition(Batch batch not None, Space space not None, bint marginals):
    """log Z of every segment; with `marginals`, also those, to the batch's outputs."""
    cdef _Arena arena = _Arena(batch, space, marginals)
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
    cdef _Arena arena = _Arena(batch, space, False)
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
                        n_found = traceback.sample(&arena.run.chart, &state, arena.run.found, arena.run.stack)
                        status = _write_drawn_labels(&arena.run, &batch.segments[k], n_found, &state, &output)
                        ends[s + 1] = output.size
                if status != DONE:
                    _fail(status, k)
                results.append(_analyses(&output, ends, n_samples))
            finally:
                free(output.numbers)
        return results
    finally:
        free(ends)
