from .traceback cimport Picker


# REST: all tokens from one on. MENTION: a span as a complete mention. EITHER: a span that is a mention or is not.
# INSIDE: what is inside a span. LONG: a long child that ends with a span, and what is left of it in the span.
# SOME, ANY: a set of labels for a span, from one label on; SOME is not empty.
cdef enum Kind:
    REST
    MENTION
    EITHER
    INSIDE
    LONG
    SOME
    ANY


ctypedef struct Item:
    Kind kind
    Py_ssize_t start
    Py_ssize_t length   # tokens less one
    Py_ssize_t label    # SOME, ANY


cdef void list_candidates(Picker* picker, const Item* item) noexcept nogil
cdef int parts_of(const Item* item, Py_ssize_t choice, Item* parts) noexcept nogil
