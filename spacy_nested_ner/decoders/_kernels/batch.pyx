# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Score arrays as the kernels see them: pointers and strides, any number of segments.

This is the border between Python and C. Nothing that Python says about an array is believed: dimensions, strides and
element type come from its buffer, which the Batch holds on to, and the cells of packed segments are counted here from
their lengths. Behind this border no index is checked again. What NumPy itself cannot survive, such as an array that is
resized with refcheck=False while somebody reads it, it cannot survive here either.

Two layouts go through the same kernels:

dense    one array (n, n, T) per segment; scores[i, j, t], cells below the diagonal are never read. A row of spans
         with one start is contiguous, labels innermost.
packed   one array (T, cells) for all segments (packed.py): only the spans that exist, by segment, start and length;
         one plane per label, so that a sum over labels runs along contiguous memory whatever their number.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdlib cimport calloc, free

from .batch cimport Segment
from .chart cimport row_offset

from numpy import float32, float64, ndarray, zeros

from .._scores import check_array

# Names of a module can be replaced from Python; these cannot.
cdef object FLOAT32 = float32
cdef object FLOAT64 = float64
cdef object ZEROS = zeros

# With fewer tokens than this, no number of cells overflows.
cdef Py_ssize_t MOST_TOKENS = 1 << 30
cdef Py_ssize_t MOST_LABELS = 1 << 28


cdef inline bint _is_plain(object array):
    """Whether an array needs no closer look."""
    cdef object kind = array.dtype
    cdef tuple shape = array.shape
    return len(shape) == 3 and shape[0] == shape[1] and kind.isnative and (
        kind.type is FLOAT32 or kind.type is FLOAT64)


cdef tuple _checked(list arrays, bint numbered):
    """The arrays, converted if need be. All code that objects may run while they are converted runs here, before
    anything is known of their memory; it may even change the list."""
    cdef list checked = []
    for array in tuple(arrays):
        if type(array) is not ndarray or not _is_plain(array):
            array = check_array(array, f"scores[{len(checked)}]" if numbered else "scores")
        checked.append(array)
    return tuple(checked)


cdef int _set_size(Segment* segment, Py_ssize_t n, Py_ssize_t labels, Py_ssize_t longest) except -1:
    if n < 0 or n >= MOST_TOKENS:
        raise ValueError(f"a segment has {n} tokens; expected 0 or more, fewer than {MOST_TOKENS}")
    if labels >= MOST_LABELS:
        raise ValueError(f"there are {labels} labels; expected fewer than {MOST_LABELS}")
    segment.n, segment.labels = n, labels
    segment.width = min(n, longest) if longest else n
    return 0


cdef int _check_limit(Py_ssize_t longest) except -1:
    if longest < 0:
        raise ValueError(f"max_span_length is {longest}; expected 1 or more, or 0 for no limit")
    return 0


cdef class Batch:
    """Holds on to the arrays of one call, and describes every segment of them."""

    def __cinit__(self, Py_ssize_t size):
        if size < 0:
            raise ValueError(f"a batch of {size} segments")
        self.segments = <Segment*>calloc(size + 1, sizeof(Segment))
        self.views = <Py_buffer*>calloc(2 * size + 2, sizeof(Py_buffer))
        if self.segments == NULL or self.views == NULL:
            raise MemoryError(f"cannot allocate a batch of {size} segments")
        self.size = size

    def __dealloc__(self):
        cdef Py_ssize_t k
        if self.views != NULL:
            for k in range(self.n_views):
                PyBuffer_Release(&self.views[k])
        free(self.segments)
        free(self.views)

    cdef Py_buffer* _acquire(self, object array, int axes, bint writable) except NULL:
        """The memory of an array of native float32 or float64 with this many axes."""
        cdef Py_buffer* view = &self.views[self.n_views]
        cdef const char* kind
        PyObject_GetBuffer(array, view, PyBUF_STRIDES | PyBUF_FORMAT | (PyBUF_WRITABLE if writable else 0))
        self.n_views += 1
        if view.ndim != axes:
            raise ValueError(f"an array of scores has {view.ndim} axes; expected {axes}")
        kind = view.format
        if kind[0] == c"=":  # native, but not aligned
            kind += 1
        if not (kind[0] == c"f" and view.itemsize == 4 or kind[0] == c"d" and view.itemsize == 8) or kind[1]:
            raise TypeError(f"scores have type {view.format.decode()!r}; expected native float32 or float64")
        return view

    cdef int _set_output(self, Segment* segment, object output) except -1:
        """An array for the marginals of a dense segment: its rows may lie anywhere."""
        cdef Py_buffer* view = self._acquire(output, 3, True)
        cdef Py_ssize_t item = 8 if segment.is_double else 4
        if (view.itemsize != item or view.shape[0] != segment.n or view.shape[1] != segment.n
                or view.shape[2] != segment.labels):
            raise ValueError("an output has another shape or type than its scores; expected the same")
        if segment.n and segment.labels and (
                segment.labels > 1 and view.strides[2] != item
                or segment.n > 1 and view.strides[1] != item * segment.labels
                or view.strides[0] % item or <size_t>view.buf % <size_t>item):
            raise ValueError("a row of an output is not aligned and in C order; expected a new array, or a part of one")
        segment.out = <char*>view.buf
        segment.out_step = view.strides[0] + item * segment.labels
        return 0

    @staticmethod
    def of_arrays(list arrays not None, bint numbered, bint marginals, Py_ssize_t max_span_length, outputs=None):
        """Dense arrays. `numbered`: an error names the number of the array. With `marginals`, `outputs` has an
        array for each of them: those that were given, or new ones."""
        cdef tuple checked = _checked(arrays, numbered), given = None if outputs is None else tuple(outputs)
        cdef Batch batch = Batch(len(checked))
        cdef Segment* segment
        cdef Py_buffer* view
        cdef Py_ssize_t k, item
        cdef list made = []
        _check_limit(max_span_length)
        if given is not None and len(given) != batch.size:
            raise ValueError(f"there are {len(given)} outputs for {batch.size} arrays; expected as many")
        for k in range(batch.size):
            view = batch._acquire(checked[k], 3, False)
            if view.shape[0] != view.shape[1]:
                raise ValueError(f"scores have {view.shape[0]} rows and {view.shape[1]} columns; expected as many")
            segment = &batch.segments[k]
            _set_size(segment, view.shape[0], view.shape[2], max_span_length)
            item = view.itemsize
            segment.data = <const char*>view.buf
            segment.row_step, segment.span_step, segment.label_step = (
                view.strides[0], view.strides[1], view.strides[2])
            segment.is_double = item == 8
            segment.labels_together = (
                segment.label_step == item and segment.span_step == item * segment.labels
                and segment.row_step % item == 0 and <size_t>segment.data % <size_t>item == 0)
            if marginals:
                made.append(ZEROS((segment.n, segment.n, segment.labels), FLOAT64 if item == 8 else FLOAT32)
                            if given is None else given[k])
                batch._set_output(segment, made[k])
        batch.outputs = made if marginals else None
        return batch

    @staticmethod
    def of_packed(object values, object lengths, Py_ssize_t stored, bint marginals, Py_ssize_t max_span_length):
        """One (T, cells) array in C order; `stored` is its longest span, 0 if there is no limit. With `marginals`,
        `outputs` has one new array for all segments."""
        cdef tuple sizes = tuple(lengths)
        cdef Batch batch = Batch(len(sizes))
        cdef Segment* segment
        cdef Py_buffer* view = batch._acquire(values, 2, False)
        cdef Py_ssize_t k, cells = 0
        cdef object output
        cdef char* out = NULL
        _check_limit(max_span_length)
        _check_limit(stored)
        if view.shape[0] and view.shape[1] and (
                view.shape[1] > 1 and view.strides[1] != view.itemsize
                or view.shape[0] > 1 and view.strides[0] != view.itemsize * view.shape[1]
                or <size_t>view.buf % <size_t>view.itemsize):
            raise ValueError("packed scores are not aligned and in C order; make them with PackedScores")
        if marginals:
            output = ZEROS((view.shape[0], view.shape[1]), FLOAT64 if view.itemsize == 8 else FLOAT32)
            out = <char*>batch._acquire(output, 2, True).buf
            batch.outputs = [output]
        for k in range(batch.size):
            segment = &batch.segments[k]
            _set_size(segment, sizes[k], view.shape[0], stored)
            segment.stored = segment.width
            segment.width = min(segment.stored, max_span_length) if max_span_length else segment.stored
            segment.data, segment.out = <const char*>view.buf, out
            segment.offset = cells
            segment.span_step = view.itemsize
            segment.label_step = view.itemsize * view.shape[1]
            segment.is_double = view.itemsize == 8
            cells += row_offset(segment.n, segment.stored, segment.n)
            if cells > view.shape[1]:
                break
        if cells != view.shape[1]:
            raise ValueError(f"packed scores have {view.shape[1]} columns; their segments do not have as many spans")
        return batch
