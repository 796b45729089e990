# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Score arrays as the kernels see them: pointers and strides, any number of segments.

Two layouts go through the same kernels:

dense    one array (n, n, T) a segment; scores[i, j, t], cells below the diagonal are
         never read. A row of spans with one start is contiguous, labels innermost.
packed   one array (T, cells) for all segments (packed.py): only the spans that exist,
         by segment, start and length; one plane a label, so that a sum over labels
         runs along contiguous memory whatever their number.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdlib cimport calloc, free

from .batch cimport Segment

from numpy import float32, float64, ndarray, zeros

from .._scores import check_array

cdef object FLOAT32 = float32
cdef object FLOAT64 = float64


cdef inline bint _is_plain(object array):
    """Whether an array needs no closer look."""
    cdef object kind = array.dtype
    cdef tuple shape = array.shape
    return len(shape) == 3 and shape[0] == shape[1] and kind.isnative and (
        kind.type is FLOAT32 or kind.type is FLOAT64)


cdef class Batch:
    """Holds on to the arrays of one call, and describes every segment of them."""

    def __cinit__(self, Py_ssize_t size):
        self.size = size
        self.n_views = 0
        self.segments = <Segment*>calloc(max(size, 1), sizeof(Segment))
        self.views = <Py_buffer*>calloc(max(2 * size, 2), sizeof(Py_buffer))
        if self.segments == NULL or self.views == NULL:
            raise MemoryError(f"cannot allocate a batch of {size} segments")

    def __dealloc__(self):
        cdef Py_ssize_t k
        if self.views != NULL:
            for k in range(self.n_views):
                PyBuffer_Release(&self.views[k])
        free(self.segments)
        free(self.views)

    cdef Py_ssize_t _acquire(self, object array, int flags) except -1:
        PyObject_GetBuffer(array, &self.views[self.n_views], PyBUF_STRIDES | PyBUF_FORMAT | flags)
        self.n_views += 1
        return self.n_views - 1

    @staticmethod
    def of_arrays(list arrays, bint numbered, list outs, Py_ssize_t max_span_length):
        """Dense arrays. `numbered`: an error names the number of the array. To `outs`, if it is
        a list, a new array is added for each of them."""
        cdef Batch batch = Batch(len(arrays))
        cdef Segment* segment
        cdef Py_buffer* view
        cdef Py_ssize_t k, item
        cdef object array
        for k in range(batch.size):
            array = arrays[k]
            if type(array) is not ndarray or not _is_plain(array):
                array = check_array(array, f"scores[{k}]" if numbered else "scores")
            view = &batch.views[batch._acquire(array, 0)]
            segment = &batch.segments[k]
            item = view.itemsize
            segment.data = <const char*>view.buf
            segment.n, segment.labels = view.shape[0], view.shape[2]
            segment.width = min(segment.n, max_span_length) if max_span_length else segment.n
            segment.row_step, segment.span_step, segment.label_step = (
                view.strides[0], view.strides[1], view.strides[2])
            segment.is_double = item == 8
            segment.labels_together = (
                segment.label_step == item and segment.span_step == item * segment.labels
                and segment.row_step % item == 0 and <size_t>segment.data % <size_t>item == 0)
            if outs is not None:
                outs.append(zeros(array.shape, array.dtype))
                segment.out = <char*>batch.views[batch._acquire(outs[k], PyBUF_WRITABLE)].buf
        return batch

    @staticmethod
    def of_packed(object values, list lengths, list offsets, object out, Py_ssize_t stored,
                  Py_ssize_t max_span_length):
        """One (T, cells) array in C order; `stored` is its longest span, 0 if there is no limit."""
        cdef Batch batch = Batch(len(lengths))
        cdef Segment* segment
        cdef Py_buffer* view = &batch.views[batch._acquire(values, 0)]
        cdef char* out_data = NULL
        cdef Py_ssize_t k
        if out is not None:
            out_data = <char*>batch.views[batch._acquire(out, PyBUF_WRITABLE)].buf
        for k in range(batch.size):
            segment = &batch.segments[k]
            segment.data = <const char*>view.buf
            segment.out = out_data
            segment.n, segment.labels = lengths[k], view.shape[0]
            segment.stored = min(segment.n, stored) if stored else segment.n
            segment.width = min(segment.stored, max_span_length) if max_span_length else segment.stored
            segment.offset = offsets[k]
            segment.span_step = view.itemsize
            segment.label_step = view.itemsize * view.shape[1]
            segment.is_double = view.itemsize == 8
        return batch
