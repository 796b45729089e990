# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The additive span scorer in one pass over blocks of starts, forward and back; additive.py says what it computes.

No array covers all spans but the scores and their gradients. This is the border between Python and C: shapes and
indices are checked here, and nothing is checked behind it.
"""
from libc.stdlib cimport free, malloc

from numpy import empty, zeros


cdef extern from "pages.h" nogil:
    void* snn_soil(void* memory, size_t bytes)

cdef extern from "additive.h" nogil:
    ctypedef struct Additive:
        Py_ssize_t tokens, hidden, labels, cells
        const Py_ssize_t* room
        const Py_ssize_t* cell
        Py_ssize_t width
        const float* own
        const float* shared
        const float* gates
        const int* number
        const float* biases
        Py_ssize_t n_rows
        const Py_ssize_t* rows
        const float* W
        const float* b
        float* scores
        const float* d_scores
        float* d_own
        float* d_W
        float* d_biases
        float* memory
    ctypedef Py_ssize_t (*Count)(const Additive*) noexcept nogil
    ctypedef void (*Pass)(const Additive*) noexcept nogil
    ctypedef struct AdditiveKernel:
        Count forward_memory, backward_memory
        Pass forward, backward
    AdditiveKernel* additive_kernel()


cdef class FusedSpans:
    """The hidden layer of all spans of a batch, which is never in memory as a whole.

    own (float32, (tokens, 4 * hidden)): What every token adds to spans that start with it | that end with it | to the
        content of those that contain it | to its own gates before the sigmoid.
    shared (float32, (words, 4 * hidden)): What its word adds to each of these.
    numbers (int32, (tokens,)): The word of every token.
    gates (float32, (tokens, hidden)): The gates of every token.
    biases (float32, (rows, hidden)): The bias of spans, by row.
    rows (int, (longest,)): The row of every length from 1 on.
    W (float32, (labels, hidden)), b (float32, (labels,)): The output layer.
    lengths (int, (segments,)): Tokens of every segment.
    limit (int): The length of the longest span; 0 for no limit.
    """
    cdef const float[:, ::1] own, shared, gates, biases, W
    cdef const float[::1] b
    cdef const int[::1] numbers
    cdef const Py_ssize_t[::1] rows
    cdef Py_ssize_t[::1] room, cell
    cdef Py_ssize_t width, cells

    def __init__(self, const float[:, ::1] own not None, const float[:, ::1] shared not None,
                 const int[::1] numbers not None, const float[:, ::1] gates not None,
                 const float[:, ::1] biases not None, const Py_ssize_t[::1] rows not None,
                 const float[:, ::1] W not None, const float[::1] b not None,
                 const Py_ssize_t[::1] lengths not None, Py_ssize_t limit):
        cdef Py_ssize_t k, start, n, hidden = W.shape[1], token = 0, longest = 0, cells = 0
        cdef Py_ssize_t tokens = own.shape[0]
        cdef Py_ssize_t[::1] room = empty(tokens, dtype="intp"), cell = empty(tokens, dtype="intp")
        for k in range(lengths.shape[0]):
            n = lengths[k]
            if not 0 <= n <= tokens - token:
                raise ValueError(f"segment {k} has {n} tokens; {tokens - token} are left of {tokens}")
            for start in range(n):
                room[token] = min(n - start, limit) if limit > 0 else n - start
                cell[token] = cells
                longest = max(longest, room[token])
                cells += room[token]
                token += 1
        if token != tokens or gates.shape[0] != tokens or numbers.shape[0] != tokens:
            raise ValueError(f"the segments have {token} tokens; got {tokens} vectors, {gates.shape[0]} gates and "
                             f"{numbers.shape[0]} words")
        if hidden < 1 or own.shape[1] != 4 * hidden or shared.shape[1] != 4 * hidden or gates.shape[1] != hidden \
                or biases.shape[1] != hidden or b.shape[0] != W.shape[0]:
            raise ValueError(f"the arrays do not have {hidden} hidden units, as the output layer does")
        if rows.shape[0] < longest:
            raise ValueError(f"spans have up to {longest} tokens; got rows for {rows.shape[0]}")
        for k in range(longest):
            if not 0 <= rows[k] < biases.shape[0]:
                raise ValueError(f"length {k + 1} has row {rows[k]}; expected 0 to {biases.shape[0] - 1}")
        for k in range(tokens):
            if not 0 <= numbers[k] < shared.shape[0]:
                raise ValueError(f"token {k} is word {numbers[k]}; expected 0 to {shared.shape[0] - 1}")
        self.own, self.shared, self.numbers, self.gates = own, shared, numbers, gates
        self.biases, self.rows, self.W, self.b = biases, rows, W, b
        self.room, self.cell, self.width, self.cells = room, cell, longest, cells

    cdef Additive _described(self) noexcept:
        cdef Additive a
        a.tokens, a.hidden, a.labels, a.cells = self.own.shape[0], self.W.shape[1], self.W.shape[0], self.cells
        a.room, a.cell, a.width = &self.room[0], &self.cell[0], self.width
        a.own, a.shared, a.gates, a.number = &self.own[0, 0], &self.shared[0, 0], &self.gates[0, 0], &self.numbers[0]
        a.biases, a.n_rows, a.rows = &self.biases[0, 0], self.biases.shape[0], &self.rows[0]
        a.W, a.b = &self.W[0, 0], &self.b[0]
        a.scores = a.d_own = a.d_W = a.d_biases = a.memory = NULL
        a.d_scores = NULL
        return a

    def scores(self):
        """One row per label, one column per span in the order of the layout."""
        cdef float[:, ::1] result = empty((self.W.shape[0], self.cells), dtype="float32")
        cdef AdditiveKernel* kernel = additive_kernel()
        cdef Additive a
        if self.cells and self.W.shape[0]:
            a = self._described()
            a.scores = &result[0, 0]
            a.memory = _memory(kernel.forward_memory(&a))
            with nogil:
                kernel.forward(&a)
            free(a.memory)
        return result.base

    def gradients(self, const float[:, ::1] d_scores not None):
        """Of `own` (the gates after the sigmoid), W and the biases, from those of the scores."""
        cdef Py_ssize_t hidden = self.W.shape[1]
        cdef float[:, ::1] d_own = zeros((self.own.shape[0], 4 * hidden), dtype="float32")
        cdef float[:, ::1] d_W = zeros((self.W.shape[0], hidden), dtype="float32")
        cdef float[:, ::1] d_biases = zeros((self.biases.shape[0], hidden), dtype="float32")
        cdef AdditiveKernel* kernel = additive_kernel()
        cdef Additive a
        if d_scores.shape[0] != self.W.shape[0] or d_scores.shape[1] != self.cells:
            raise ValueError(f"the gradient of the scores has shape {(d_scores.shape[0], d_scores.shape[1])}; expected "
                             f"{(self.W.shape[0], self.cells)}")
        if self.cells and self.W.shape[0]:
            a = self._described()
            a.d_scores, a.d_own, a.d_W, a.d_biases = &d_scores[0, 0], &d_own[0, 0], &d_W[0, 0], &d_biases[0, 0]
            a.memory = _memory(kernel.backward_memory(&a))
            with nogil:
                kernel.backward(&a)
            free(a.memory)
        return d_own.base, d_W.base, d_biases.base


cdef float* _memory(Py_ssize_t floats) except NULL:
    cdef size_t size = <size_t>floats * sizeof(float)
    cdef float* memory = <float*>snn_soil(malloc(size), size)
    if memory == NULL:
        raise MemoryError(f"cannot allocate {floats * sizeof(float) / 2**20:,.0f} MiB to score spans")
    return memory
