# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""From spans found to columns of starts, ends and labels: sorting, and the choice of labels.

Functions return 0, or 1 if there is no memory left.
"""
from libc.math cimport INFINITY, expm1, fmax
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from .arena cimport Room
from .batch cimport Segment, weight_at
from .labels cimport label_shares, sigmoid, softplus
from .output cimport Column, Labeled
from .traceback cimport Found, uniform

from numpy import float64, frombuffer, int64


cdef int _append(Column* column, int64_t number) noexcept nogil:
    cdef int64_t* larger
    if column.size == column.room:
        larger = <int64_t*>realloc(column.numbers, (2 * column.room + 64) * sizeof(int64_t))
        if larger == NULL:
            return 1
        column.numbers, column.room = larger, 2 * column.room + 64
    column.numbers[column.size] = number
    column.size += 1
    return 0


cdef int _append_real(Column* column, double number) noexcept nogil:
    """The same in a column of real numbers, which are as large."""
    cdef int64_t bits
    memcpy(&bits, &number, sizeof(double))
    return _append(column, bits)


cdef object _as_array(const Column* column, object kind=int64):
    """A copy that nobody can write to."""
    return frombuffer((<char*>column.numbers)[:column.size * <Py_ssize_t>sizeof(int64_t)], kind)


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


cdef class Output:
    """Analyses, one after the other."""

    def __cinit__(self):
        if _append(&self.offsets, 0):
            raise MemoryError("out of memory")

    def __dealloc__(self):
        free(self.starts.numbers)
        free(self.ends.numbers)
        free(self.labels.numbers)
        free(self.offsets.numbers)
        free(self.probabilities.numbers)
        free(self.log_partitions.numbers)
        free(self.log_probabilities.numbers)
        free(self.entropies.numbers)
        free(self.weights.numbers)

    def arrays(self):
        """Starts, ends, labels and offsets: mentions of analysis k are offsets[k] to offsets[k + 1]."""
        return _as_array(&self.starts), _as_array(&self.ends), _as_array(&self.labels), _as_array(&self.offsets)

    def numbers(self):
        """Probabilities of mentions; log-partitions, log-probabilities and entropies of analyses."""
        return (_as_array(&self.probabilities, float64), _as_array(&self.log_partitions, float64),
                _as_array(&self.log_probabilities, float64), _as_array(&self.entropies, float64))

    def analysis_weights(self):
        """Of the analyses that `write_ranked` has written."""
        return _as_array(&self.weights, float64)

    cdef Py_ssize_t length_of(self, Py_ssize_t row) noexcept nogil:
        """Tokens of a mention less one."""
        return self.ends.numbers[row] - self.starts.numbers[row] - 1

    cdef int write_probability(self, double probability) noexcept nogil:
        return _append_real(&self.probabilities, probability)

    cdef int write_summary(self, double log_partition, double log_probability, double entropy) noexcept nogil:
        return (_append_real(&self.log_partitions, log_partition)
                or _append_real(&self.log_probabilities, log_probability)
                or _append_real(&self.entropies, entropy))

    cdef double entropy_of(self, Py_ssize_t number) noexcept nogil:
        return (<double*>self.entropies.numbers)[number]

    cdef void set_entropy(self, Py_ssize_t number, double entropy) noexcept nogil:
        (<double*>self.entropies.numbers)[number] = entropy

    cdef int close(self) noexcept nogil:
        """An analysis ends here."""
        return _append(&self.offsets, self.starts.size)

    cdef int _write(self, Py_ssize_t start, Py_ssize_t length, Py_ssize_t label) noexcept nogil:
        return _append(&self.starts, start) or _append(&self.ends, start + length + 1) or _append(&self.labels, label)

    cdef int write_best(self, Room* room, const Segment* segment, bint multi_label, double fee,
                        Py_ssize_t n_found) noexcept nogil:
        """The spans in `room.found` with the best label of each, or with all that weigh more than the fee."""
        cdef Py_ssize_t k, t, label
        cdef double w, high
        cdef Found span
        _sort(room, n_found, segment.n)
        for k in range(n_found):
            span = room.found[k]
            label, high = 0, -INFINITY
            for t in range(segment.labels):
                w = weight_at(segment, span.start, span.length, t)
                if multi_label and w > fee and self._write(span.start, span.length, t):
                    return 1
                if w > high:
                    label, high = t, w
            if not multi_label and self._write(span.start, span.length, label):
                return 1
        return self.close()

    cdef int write_ranked(self, const Labeled* mentions, Py_ssize_t n_mentions, double weight) noexcept nogil:
        """Mentions that are sorted already, and the weight of their analysis."""
        cdef Py_ssize_t k
        for k in range(n_mentions):
            if self._write(mentions[k].start, mentions[k].length, mentions[k].label):
                return 1
        return _append_real(&self.weights, weight) or self.close()

    cdef int write_drawn(self, Room* room, const Segment* segment, bint multi_label, Py_ssize_t n_found,
                         uint64_t* state) noexcept nogil:
        """The spans in `room.found`, each with a label or a set of labels drawn with its probability."""
        cdef double* memory = <double*>room.labels
        cdef Py_ssize_t k
        cdef Found span
        _sort(room, n_found, segment.n)
        for k in range(n_found):
            span = room.found[k]
            if multi_label:
                if self._draw_labels(memory, segment, span.start, span.length, state):
                    return 1
            elif self._draw_label(memory, segment, span.start, span.length, state):
                return 1
        return self.close()

    cdef int _draw_label(self, double* shares, const Segment* segment, Py_ssize_t start, Py_ssize_t length,
                         uint64_t* state) noexcept nogil:
        cdef Py_ssize_t t, drawn = 0
        cdef double total = 0.0
        label_shares(segment, start, length, False, shares)
        for t in range(segment.labels):
            total += shares[t]
            if uniform(state) * total < shares[t]:
                drawn = t
        return self._write(start, length, drawn)

    cdef int _draw_labels(self, double* weights, const Segment* segment, Py_ssize_t start, Py_ssize_t length,
                          uint64_t* state) noexcept nogil:
        """A set of labels, given that it is not empty: `rest` is -log of the probability that none of the labels
        from t on is drawn."""
        cdef Py_ssize_t t, heaviest = 0
        cdef double total, rest = 0.0
        cdef bint any_yet = False
        for t in range(segment.labels):
            weights[t] = weight_at(segment, start, length, t)
            rest += softplus(weights[t])
            if weights[t] > weights[heaviest]:
                heaviest = t
        for t in range(segment.labels):
            total = 1.0 if any_yet else -expm1(-rest)
            rest = fmax(rest - softplus(weights[t]), 0.0)
            if uniform(state) * total < sigmoid(weights[t]):
                any_yet = True
                if self._write(start, length, t):
                    return 1
        # Rounding may have left out all of them, and the last one may be forbidden.
        return 0 if any_yet else self._write(start, length, heaviest)
