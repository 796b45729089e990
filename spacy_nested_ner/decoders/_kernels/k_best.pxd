from .arena cimport Arena
from .batch cimport Segment
from .items cimport Item
from .output cimport Labeled, Output
from .segment cimport Status


# One way to make an item: a candidate, and which derivation of each of its parts.
ctypedef struct Derived:
    double loss             # by how much it is worse than the best one
    double base             # the same if its parts are the best ones
    Py_ssize_t choice
    Py_ssize_t ranks[2]


# An item that was looked at.
ctypedef struct Node:
    Item item
    Derived* found          # the best derivations so far, in order
    Py_ssize_t n_found
    Py_ssize_t found_room
    Derived* heap           # those that may come next, the best one first
    Py_ssize_t n_heap
    Py_ssize_t heap_room
    int followed            # parts of the last derivation found whose next derivation was offered
    bint finished           # there are no more


# A node, and the number of one of its derivations.
ctypedef struct Wanted:
    Py_ssize_t node
    Py_ssize_t rank


cdef class Ranking:
    cdef Arena arena
    cdef const Segment* segment
    cdef double fee
    cdef Py_ssize_t k
    cdef double bytes           # of everything below
    cdef double limit
    cdef double written     # bytes of what was handed over
    cdef bint is_full
    cdef Node* nodes
    cdef Py_ssize_t n_nodes
    cdef Py_ssize_t nodes_room
    cdef Py_ssize_t* table      # numbers of nodes by their items; -1 where there is none
    cdef Py_ssize_t table_room  # a power of two
    cdef Wanted* wanted         # stacks
    cdef Py_ssize_t n_wanted
    cdef Py_ssize_t wanted_room
    cdef Wanted* open
    cdef Py_ssize_t n_open
    cdef Py_ssize_t open_room
    cdef Labeled* mentions
    cdef Py_ssize_t n_mentions
    cdef Py_ssize_t mentions_room
    cdef Py_ssize_t n_written

    cdef void start(self, Arena arena, const Segment* segment, double fee, Py_ssize_t k, double limit)
    cdef Status write(self, Py_ssize_t count, Output output) noexcept nogil
    cdef bint done(self) noexcept nogil
    cdef double taken(self) noexcept nogil

    cdef bint _take(self, double bytes) noexcept nogil
    cdef void* _grow(self, void* memory, Py_ssize_t* room, Py_ssize_t size) noexcept nogil
    cdef Py_ssize_t* _slot(self, const Item* item) noexcept nogil
    cdef int _widen_table(self) noexcept nogil
    cdef Py_ssize_t _node_of(self, const Item* item) noexcept nogil
    cdef Py_ssize_t _list(self, const Item* item) noexcept nogil
    cdef Py_ssize_t _list_labels(self, const Item* item) noexcept nogil
    cdef double _best_labels(self, const Item* item, Py_ssize_t first) noexcept nogil
    cdef int _parts(self, const Item* item, Py_ssize_t choice, Item* parts) noexcept nogil
    cdef int _fill_heap(self, Node* node, Py_ssize_t n_listed) noexcept nogil
    cdef int _push(self, Node* node, Derived derived) noexcept nogil
    cdef int _want(self, Py_ssize_t node, Py_ssize_t rank) noexcept nogil
    cdef int _find(self, Py_ssize_t node, Py_ssize_t rank) noexcept nogil
    cdef int _follow(self, Py_ssize_t number) noexcept nogil
    cdef int _settle(self, Node* node) noexcept nogil
    cdef int _trace(self, Py_ssize_t rank) noexcept nogil
