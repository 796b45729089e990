# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Everything about one packed segment while its scores are in the cache: an analysis, the marginals of its mentions,
its log-probability, log Z and the entropy.

    no threshold    the chart of highest weights gives the analysis; the chart of sums, forward and back, gives
                    marginal / weight of all spans, from which the marginals of the labels found are computed
    a threshold     the chart of sums comes first; the marginals of all labels of this one segment, less the
                    threshold, are the weights of a second chart, which gives the analysis

A temperature divides the weights on the way into a copy of the segment. A threshold needs a second copy, for the
marginals. Both are in the arena: memory grows with the largest segment, not with the batch.
"""
from libc.math cimport NAN, fmin

from . cimport entropy, segment as one_segment
from .arena cimport Arena
from .batch cimport Run, Segment, count_runs, row_of, set_run, weight_at
from .chart cimport row_offset
from .labels cimport careful_label_marginal, label_marginal, rescale_run
from .output cimport Output
from .segment cimport DONE, NO_MEMORY, Status


cdef Py_ssize_t copies_for(const Question* question) noexcept nogil:
    """How many copies of a segment the arena must have room for."""
    return 2 if question.by_threshold else 1 if question.temperature != 1.0 else 0


cdef void _prepare(Segment* own, Arena arena, const Segment* segment, const Question* question) noexcept nogil:
    """The segment with its weights divided by the temperature; with an output for marginals if they are needed."""
    own[0] = segment[0]
    own.out = NULL
    if not copies_for(question):
        return
    own.data, own.offset = arena.weights_copy, 0
    own.label_step = row_offset(segment.n, segment.stored, segment.n) * segment.span_step
    if question.by_threshold:
        own.out = arena.marginals_copy
    _rescale(segment, own, question.temperature, 0.0)


cdef void _rescale(const Segment* source, const Segment* target, double divisor, double less) noexcept nogil:
    """Fill the data of `target`, which are a copy in the arena."""
    cdef Py_ssize_t k
    cdef Run run
    for k in range(count_runs(source)):
        set_run(&run, source, k)
        rescale_run(source, &run, divisor, less, target, <char*>row_of(target, k))


cdef Status analyze(Arena arena, const Segment* segment, const Question* question, Output output) noexcept nogil:
    """Write the analysis and its numbers to the output. The entropy is NaN where `analyze_entropy` is needed."""
    cdef Segment own, marginals
    cdef Py_ssize_t first = output.starts.size
    cdef double log_partition, undecided = NAN, weight
    cdef Status status
    _prepare(&own, arena, segment, question)
    if question.by_threshold:
        status = one_segment.sum_over_analyses(arena, &own)
    else:
        status = one_segment.decode_and_sum(arena, &own, output)
    if status != DONE:
        return status
    one_segment.find_marginals(arena, &own)
    marginals = own
    log_partition = arena.chart.total
    if one_segment.is_linear(arena):
        undecided = entropy.difference(&arena.chart, arena.expected, own.is_double)
    if question.by_threshold:
        # The weights are not needed any more: what the threshold leaves of the marginals takes their place.
        marginals.data, marginals.out, own.out = own.out, NULL, NULL
        _rescale(&marginals, &own, 1.0, question.threshold)
        status = one_segment.decode(arena, &own, output)
        if status != DONE:
            return status
    weight = _weight_of(segment, question.temperature, output, first)
    if _write_probabilities(arena, &marginals, question.by_threshold, output, first):
        return NO_MEMORY
    return NO_MEMORY if output.write_summary(log_partition, fmin(0.0, weight - log_partition), undecided) else DONE


cdef double _weight_of(const Segment* segment, double temperature, Output output, Py_ssize_t first) noexcept nogil:
    """The weight of the mentions in the output from `first` on, divided in the precision of the scores."""
    cdef Py_ssize_t k
    cdef double w, total = 0.0
    for k in range(first, output.starts.size):
        w = weight_at(segment, output.starts.numbers[k], output.length_of(k), output.labels.numbers[k])
        total += w / temperature if segment.is_double else <double>(<float>w / <float>temperature)
    return total


cdef int _write_probabilities(Arena arena, const Segment* segment, bint is_marginal, Output output,
                              Py_ssize_t first) noexcept nogil:
    """Of the mentions in the output from `first` on. The segment has either marginals or weights; for the latter, the
    chart is that of `find_marginals`. Returns 1 if there is no memory left."""
    cdef Py_ssize_t k, i, d, t, place
    cdef double probability
    for k in range(first, output.starts.size):
        i, d, t = output.starts.numbers[k], output.length_of(k), output.labels.numbers[k]
        place = row_offset(segment.n, segment.width, i) + d
        if is_marginal:
            probability = weight_at(segment, i, d, t)
        elif one_segment.is_linear(arena):
            probability = label_marginal(segment, i, d, t, arena.multi_label, arena.chart.weight[place],
                                         arena.chart.inside[place])
        else:
            probability = careful_label_marginal(segment, i, d, t, arena.multi_label, arena.room.labels,
                                                 arena.chart.weight[place], arena.chart.inside[place])
        if output.write_probability(probability):
            return 1
    return 0


cdef Status analyze_entropy(Arena arena, const Segment* segment, const Question* question,
                            double* result) noexcept nogil:
    """The entropy, whatever the size of the weights."""
    cdef Segment own
    _prepare(&own, arena, segment, question)
    return one_segment.find_entropy(arena, &own, result)
