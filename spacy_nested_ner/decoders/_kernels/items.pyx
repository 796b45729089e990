# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The items of a chart as a graph: what can give an item, and which smaller items that is made of.

Candidates come from the `offer_…` functions of traceback.pyx, which code a choice in one number; `parts_of` reads that
code. An item that is a mention, or may be one, is a part of its own, so that a candidate has two parts at most.
covariance.pyx and k_best.pyx go through all rules in this way, and so need no recurrences of their own.
"""
from .items cimport EITHER, INSIDE, LONG, MENTION, REST, Item
from .traceback cimport Candidate, Picker, offer_first_level, offer_inside, offer_long, open_item


cdef void list_candidates(Picker* picker, const Item* item) noexcept nogil:
    """All candidates of a REST, INSIDE or LONG that is possible, to `picker.listed`. Where nothing is left, there is
    one candidate without parts."""
    open_item(picker)
    if item.kind == REST and item.start < picker.chart.n:
        offer_first_level(picker, item.start)
    elif item.kind == INSIDE and item.length > 0:
        offer_inside(picker, item.start, item.length)
    elif item.kind == LONG:
        offer_long(picker, item.start, item.length)
    else:
        picker.listed[0] = Candidate(0, picker.chart.ring.one)
        picker.n_listed = 1


cdef int parts_of(const Item* item, Py_ssize_t choice, Item* parts) noexcept nogil:
    """The parts of a candidate of a REST, INSIDE or LONG, and how many there are."""
    cdef Py_ssize_t i = item.start, d = item.length
    if item.kind == REST:
        if choice == 0:
            parts[0] = Item(REST, i + 1, 0, 0)
            return 1
        parts[0], parts[1] = Item(MENTION, i, choice - 1, 0), Item(REST, i + choice, 0, 0)
        return 2
    if choice <= -2:  # to the left of a long child is a token, or a short mention
        choice = -2 - choice
        if choice == 0:
            parts[0] = Item(LONG, i + 1, d - 1, 0)
            return 1
        parts[0], parts[1] = Item(MENTION, i, choice - 1, 0), Item(LONG, i + choice, d - choice, 0)
        return 2
    if item.kind == LONG:
        parts[0] = Item(MENTION, i, d, 0)
        return 1
    parts[0] = Item(EITHER, i, choice - 1, 0)
    parts[1] = Item(EITHER if choice == d else MENTION, i + choice, d - choice, 0)
    return 2
