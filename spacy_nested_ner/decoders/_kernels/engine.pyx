# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What Python calls. Every function takes a Batch and a search space (`short_child`: see arena.pyx), releases the
GIL while it works and keeps nothing between calls.

decode          the chart of highest weights, read from the top down (traceback.pyx)
log_partition   the chart of sums, over plain numbers or over logarithms; marginals by going back through it
sample          the same chart, read from the top down by chance
entropy         the chart of highest weights, with sums relative to them (entropy.pyx)
"""
from libc.stdint cimport uint64_t

from . cimport segment
from .arena cimport Arena
from .batch cimport Batch
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
