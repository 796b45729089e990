# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What Python calls. Every function takes a Batch and a search space (`short_child`: see arena.pyx), releases the
GIL while it works and keeps nothing between calls.

decode          the chart of highest weights, read from the top down (traceback.pyx)
log_partition   the chart of sums, over plain numbers or over logarithms; marginals by going back through it
sample          the same chart, read from the top down by chance
analyze         all of these but samples, segment by segment (analysis.pyx)
entropy         the chart of highest weights, with sums relative to them (entropy.pyx)
covariances     the chart of sums, with the derivatives of all probabilities (covariance.pyx)
k_best          the chart of highest weights, read from the top down several times (k_best.pyx)
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport isnan
from libc.stdint cimport uint64_t

from . cimport analysis, segment
from .analysis cimport Question
from .arena cimport Arena
from .batch cimport Batch, Segment
from .k_best cimport Ranking
from .output cimport Output
from .segment cimport BAD_WEIGHT, DONE, NO_MEMORY, Status


class BadWeightError(Exception):
    """A NaN, +inf or too large a weight in segment `number`: the caller knows how to say so."""

    def __init__(self, number):
        self.number = number


cdef int _check(Status status, Py_ssize_t number) except -1:
    if status == BAD_WEIGHT:
        raise BadWeightError(number)
    if status == NO_MEMORY:
        raise MemoryError(f"out of memory for the mentions of segment {number} of the batch")
    return 0


def decode(Batch batch not None, Py_ssize_t short_child, bint multi_label):
    """The best analysis of every segment: arrays of starts, ends, labels and offsets."""
    cdef Arena arena = Arena(batch, short_child, multi_label)
    cdef Output output = Output()
    cdef Status status = DONE
    cdef Py_ssize_t k = 0
    with nogil:
        while k < batch.size and status == DONE:
            status = segment.decode(arena, &batch.segments[k], output)
            k += 1
    _check(status, k - 1)
    return output.arrays()


def log_partition(Batch batch not None, Py_ssize_t short_child, bint multi_label):
    """log Z of every segment; marginals to the outputs of the batch, if it has any."""
    cdef bint marginals = batch.outputs is not None
    cdef Arena arena = Arena(batch, short_child, multi_label, marginals)
    cdef Status status
    cdef Py_ssize_t k
    cdef list totals = []
    for k in range(batch.size):
        with nogil:
            status = segment.sum_over_analyses(arena, &batch.segments[k])
            if marginals and status == DONE:
                segment.find_marginals(arena, &batch.segments[k])
        _check(status, k)
        totals.append(arena.chart.total)
    return totals


def sample(Batch batch not None, Py_ssize_t short_child, bint multi_label, Py_ssize_t n_samples, uint64_t seed):
    """Independent samples of every segment, as the arrays of `decode`: first all of segment 0, and so on. They depend
    on the seed and on the number of the segment in the batch."""
    cdef Arena arena = Arena(batch, short_child, multi_label)
    cdef Output output = Output()
    cdef Status status = DONE
    cdef Py_ssize_t k = 0
    with nogil:
        while k < batch.size and status == DONE:
            status = segment.sample(arena, &batch.segments[k], n_samples,
                                    seed + <uint64_t>k * <uint64_t>0xD1342543DE82EF95, output)
            k += 1
    _check(status, k - 1)
    return output.arrays()


def analyze(Batch batch not None, Py_ssize_t short_child, bint multi_label, threshold, double temperature):
    """An analysis of every segment of packed scores, with all its numbers: the arrays of `decode`; the probability of
    every mention; log Z, log-probability and entropy of every segment. `threshold` is None for the best analysis."""
    cdef Question question = Question(temperature, threshold is not None, threshold if threshold is not None else 0.0)
    cdef Py_ssize_t copies = analysis.copies_for(&question)
    cdef Output output = Output()
    cdef Status status = DONE
    cdef Py_ssize_t k = 0
    cdef Arena arena
    for k in range(batch.size):
        if batch.segments[k].n and not batch.segments[k].stored:
            raise ValueError("dense scores cannot be analyzed; expected packed ones")
    arena = Arena(batch, short_child, multi_label, True, False, True, copies)
    k = 0
    with nogil:
        while k < batch.size and status == DONE:
            status = analysis.analyze(arena, &batch.segments[k], &question, output)
            k += 1
    _check(status, k - 1)
    _find_extreme_entropies(batch, short_child, multi_label, &question, output)
    return output.arrays() + output.numbers()


cdef int _find_extreme_entropies(Batch batch, Py_ssize_t short_child, bint multi_label, const Question* question,
                                 Output output) except -1:
    """Of the segments that `analyze` left them out of. They are few, and need more memory."""
    cdef list numbers = [k for k in range(batch.size) if isnan(output.entropy_of(k))]
    cdef Arena arena
    cdef Status status
    cdef Py_ssize_t k
    cdef double result = 0.0
    if not numbers:
        return 0
    arena = Arena(batch, short_child, multi_label, False, True, False, analysis.copies_for(question), numbers)
    for k in numbers:
        with nogil:
            status = analysis.analyze_entropy(arena, &batch.segments[k], question, &result)
        _check(status, k)
        output.set_entropy(k, result)
    return 0


def entropy(Batch batch not None, Py_ssize_t short_child, bint multi_label):
    """The entropy of every segment, whatever the size of its weights."""
    cdef Arena arena = Arena(batch, short_child, multi_label, False, True)
    cdef Status status
    cdef Py_ssize_t k
    cdef double result = 0.0
    cdef list results = []
    for k in range(batch.size):
        with nogil:
            status = segment.find_entropy(arena, &batch.segments[k], &result)
        _check(status, k)
        results.append(result)
    return results


def covariances(Batch batch not None, Py_ssize_t short_child, bint multi_label, Batch values not None):
    """The covariance of every mention with the sum of `values` over the mentions of an analysis, to the outputs of the
    batch. Both batches are packed, with the same spans and labels."""
    cdef Arena arena = Arena(batch, short_child, multi_label, flows=True, listed=True)
    cdef Status status = DONE
    cdef Py_ssize_t k = 0
    if batch.outputs is None or batch.size != values.size:
        raise ValueError(f"{batch.size} segments and values of {values.size}; expected as many, and outputs")
    for k in range(batch.size):
        if not _same_spans(&batch.segments[k], &values.segments[k]):
            raise ValueError(f"values of segment {k} have other spans or labels than its scores; expected the same")
    k = 0
    with nogil:
        while k < batch.size and status == DONE:
            status = segment.find_covariances(arena, &batch.segments[k], &values.segments[k])
            k += 1
    _check(status, k - 1)


cdef bint _same_spans(const Segment* one, const Segment* other) noexcept:
    return (one.n == other.n and one.labels == other.labels and one.stored == other.stored
            and one.width == other.width and (one.stored > 0 or one.n == 0))


# Ctrl-C is listened to after this many analyses.
cdef Py_ssize_t AT_ONCE = 1000


def k_best(Batch batch not None, Py_ssize_t short_child, bint multi_label, Py_ssize_t k, double limit):
    """The k best analyses of every segment, as the arrays of `decode`: first all of segment 0, and so on. Then the
    weight of each, and how many every segment has. `limit`: bytes that the analyses may take."""
    cdef Arena arena = Arena(batch, short_child, multi_label, listed=True)
    cdef Output output = Output()
    cdef Ranking ranking
    cdef Status status
    cdef Py_ssize_t number
    cdef double fee = 0.0
    cdef list counts = []
    if k < 1:
        raise ValueError(f"k is {k}; expected 1 or more")
    for number in range(batch.size):
        with nogil:
            status = segment.rank_analyses(arena, &batch.segments[number], &fee)
        _check(status, number)
        ranking = Ranking()
        ranking.start(arena, &batch.segments[number], fee, k, limit)
        while not ranking.done():
            with nogil:
                status = ranking.write(AT_ONCE, output)
            if status == NO_MEMORY:
                raise MemoryError(
                    f"out of memory for the {k} best analyses of segment {number} of the batch, after "
                    f"{ranking.n_written}: ask for fewer")
            PyErr_CheckSignals()
        limit -= ranking.taken()
        counts.append(ranking.n_written)
    return output.arrays() + (output.analysis_weights(), counts)
