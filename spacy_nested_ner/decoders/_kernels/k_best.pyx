# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The k analyses of highest weight, from the top down and no further than needed (Huang and Chiang 2005, algorithm 3).

A chart of highest weights knows the best derivation of every item. The next best ones are found on demand: an item
keeps a heap of derivations, each a candidate (items.pyx) with a rank for each of its parts. When the best one is
taken, those that differ from it by one rank of one part are put in, and only then are these parts asked for their
next derivation. Every analysis has one derivation, so none comes twice.

Derivations are compared by their loss, the difference to the best derivation of the same item, so that the scaling
of the chart cancels. Among equal losses the order is that of the choices, which depends on nothing else: the first
analyses do not depend on k. Of an item's candidates the k best are enough.

Weights may add up to less than a number can hold. An analysis of weight -inf is impossible, and so are all that come
after it: the list ends there.

Labels are items, too: a mention has one label of many, or a set of labels that is put together one by one.

Items are asked for in a loop with a stack of its own, because they may be nested as deeply as a segment is long.
Memory grows with what was looked at, up to a limit. Functions return 0, or 1 if there is no more.
"""
from libc.math cimport INFINITY, fmax
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc

from .arena cimport Arena
from .batch cimport Segment, weight_at
from .chart cimport row_offset
from .items cimport ANY, EITHER, INSIDE, MENTION, REST, SOME, Item, list_candidates, parts_of
from .k_best cimport Derived, Node, Wanted
from .output cimport Labeled, Output
from .segment cimport DONE, NO_MEMORY, Status
from .traceback cimport LISTED, Candidate, Picker

# Mentions become Python objects, which take more memory than three numbers.
cdef double BYTES_PER_MENTION = 200.0
cdef double BYTES_PER_ANALYSIS = 300.0


cdef inline bint _before(const Derived* one, const Derived* other) noexcept nogil:
    if one.loss != other.loss:
        return one.loss < other.loss
    if one.choice != other.choice:
        return one.choice < other.choice
    if one.ranks[0] != other.ranks[0]:
        return one.ranks[0] < other.ranks[0]
    return one.ranks[1] < other.ranks[1]


cdef inline bint _is_above(const Derived* one, const Derived* other, bint worst_first) noexcept nogil:
    return _before(other, one) if worst_first else _before(one, other)


cdef void _sink(Derived* heap, Py_ssize_t size, Py_ssize_t k, bint worst_first) noexcept nogil:
    """Put the entry at place k where it belongs, below its place."""
    cdef Derived moved = heap[k]
    cdef Py_ssize_t child
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and _is_above(&heap[child + 1], &heap[child], worst_first):
            child += 1
        if not _is_above(&heap[child], &moved, worst_first):
            break
        heap[k] = heap[child]
        k = child
    heap[k] = moved


cdef void _heapify(Derived* heap, Py_ssize_t size, bint worst_first) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(size // 2 - 1, -1, -1):
        _sink(heap, size, k, worst_first)


cdef int _compare(const void* one, const void* other) noexcept nogil:
    """By start, then longest first, then label."""
    cdef const Labeled* a = <const Labeled*>one
    cdef const Labeled* b = <const Labeled*>other
    if a.start != b.start:
        return -1 if a.start < b.start else 1
    if a.length != b.length:
        return -1 if a.length > b.length else 1
    return (a.label > b.label) - (a.label < b.label)


cdef class Ranking:
    """The analyses of one segment, best first. Its chart, filled by `rank_analyses`, must stay as it is."""

    cdef void start(self, Arena arena, const Segment* segment, double fee, Py_ssize_t k, double limit):
        self.arena, self.segment, self.fee, self.k, self.limit = arena, segment, fee, k, limit

    def __dealloc__(self):
        cdef Py_ssize_t number
        for number in range(self.n_nodes):
            free(self.nodes[number].found)
            free(self.nodes[number].heap)
        free(self.nodes)
        free(self.table)
        free(self.wanted)
        free(self.open)
        free(self.mentions)

    cdef bint done(self) noexcept nogil:
        return self.is_full

    cdef double taken(self) noexcept nogil:
        """Bytes that remain when the ranking is gone."""
        return self.written

    cdef Status write(self, Py_ssize_t count, Output output) noexcept nogil:
        """The next `count` analyses to the output, or as many as there are."""
        cdef Item root = Item(REST, 0, 0, 0)
        cdef Py_ssize_t _c, m, number = self._node_of(&root)
        cdef double weight
        if number < 0:
            return NO_MEMORY
        for _c in range(count):
            if self._find(number, self.n_written):
                return NO_MEMORY
            if self.nodes[number].n_found <= self.n_written:
                self.is_full = True
                return DONE
            if self._trace(self.n_written):
                return NO_MEMORY
            weight = 0.0
            for m in range(self.n_mentions):
                weight += weight_at(self.segment, self.mentions[m].start, self.mentions[m].length,
                                    self.mentions[m].label)
            if weight == -INFINITY:
                self.is_full = True
                return DONE
            self.written += BYTES_PER_ANALYSIS + BYTES_PER_MENTION * self.n_mentions
            if not self._take(0.0) or output.write_ranked(self.mentions, self.n_mentions, weight):
                return NO_MEMORY
            self.n_written += 1
            if self.n_written == self.k:
                self.is_full = True
                return DONE
        return DONE

    # ---- memory ----

    cdef bint _take(self, double bytes) noexcept nogil:
        """Whether there is room for so many bytes more, which are counted then."""
        if self.bytes + self.written + bytes > self.limit:
            return False
        self.bytes += bytes
        return True

    cdef void* _grow(self, void* memory, Py_ssize_t* room, Py_ssize_t size) noexcept nogil:
        """More room for things of `size` bytes. NULL if there is none, and what is there remains."""
        cdef Py_ssize_t larger = 2 * room[0] + 4
        cdef void* result
        if not self._take(<double>(larger - room[0]) * size):
            return NULL
        result = realloc(memory, larger * size)
        if result != NULL:
            room[0] = larger
        return result

    cdef Py_ssize_t* _slot(self, const Item* item) noexcept nogil:
        """Where the number of an item's node is, or belongs."""
        cdef uint64_t mixed = <uint64_t>item.kind
        cdef Py_ssize_t place
        cdef const Item* other
        mixed = (mixed ^ <uint64_t>item.start) * <uint64_t>0x9E3779B97F4A7C15
        mixed = (mixed ^ (mixed >> 29) ^ <uint64_t>item.length) * <uint64_t>0xBF58476D1CE4E5B9
        mixed = (mixed ^ (mixed >> 31) ^ <uint64_t>item.label) * <uint64_t>0x94D049BB133111EB
        place = <Py_ssize_t>((mixed ^ (mixed >> 30)) & <uint64_t>(self.table_room - 1))
        while self.table[place] >= 0:
            other = &self.nodes[self.table[place]].item
            if (other.kind == item.kind and other.start == item.start and other.length == item.length
                    and other.label == item.label):
                break
            place = (place + 1) & (self.table_room - 1)
        return &self.table[place]

    cdef int _widen_table(self) noexcept nogil:
        """Twice as many places, and everything at its new one."""
        cdef Py_ssize_t k, larger = 2 * self.table_room if self.table_room else 64
        cdef void* result
        if not self._take(<double>(larger - self.table_room) * sizeof(Py_ssize_t)):
            return 1
        result = realloc(self.table, larger * sizeof(Py_ssize_t))
        if result == NULL:
            return 1
        self.table, self.table_room = <Py_ssize_t*>result, larger
        for k in range(larger):
            self.table[k] = -1
        for k in range(self.n_nodes):
            self._slot(&self.nodes[k].item)[0] = k
        return 0

    # ---- items, candidates and parts ----

    cdef Py_ssize_t _node_of(self, const Item* item) noexcept nogil:
        """The number of the node of an item, which is made if need be; -1 if there is no memory."""
        cdef Py_ssize_t* slot
        cdef Node* node
        cdef void* larger
        if 2 * (self.n_nodes + 1) > self.table_room and self._widen_table():
            return -1
        slot = self._slot(item)
        if slot[0] >= 0:
            return slot[0]
        if self.n_nodes == self.nodes_room:
            larger = self._grow(self.nodes, &self.nodes_room, sizeof(Node))
            if larger == NULL:
                return -1
            self.nodes = <Node*>larger
        node = &self.nodes[self.n_nodes]
        node[0] = Node(item[0], NULL, 0, 0, NULL, 0, 0, 0, False)
        slot[0] = self.n_nodes
        self.n_nodes += 1
        return -1 if self._fill_heap(node, self._list(&node.item)) else self.n_nodes - 1

    cdef Py_ssize_t _list(self, const Item* item) noexcept nogil:
        """The candidates of an item to `arena.listed`, and how many there are."""
        cdef Picker picker
        cdef Candidate* listed = self.arena.listed
        if item.kind == SOME or item.kind == ANY:
            return self._list_labels(item)
        listed[0] = Candidate(0, 0.0)
        if item.kind == MENTION:
            return 1
        if item.kind == EITHER:
            listed[1] = Candidate(1, self.arena.chart.weight[
                row_offset(self.arena.chart.n, self.arena.chart.width, item.start) + item.length])
            return 2 if listed[1].value > -INFINITY else 1
        picker.purpose, picker.chart, picker.listed = LISTED, &self.arena.chart, listed
        list_candidates(&picker, item)
        return picker.n_listed

    cdef Py_ssize_t _list_labels(self, const Item* item) noexcept nogil:
        """One label: its number. Sets of labels: 0 without the first one of the item, 1 with it."""
        cdef Candidate* listed = self.arena.listed
        cdef Py_ssize_t t, size = 0
        cdef Item rest = item[0]
        cdef double w
        if not self.arena.multi_label:
            for t in range(self.segment.labels):
                w = weight_at(self.segment, item.start, item.length, t) - self.fee
                if w > -INFINITY:
                    listed[size] = Candidate(t, w)
                    size += 1
            return size
        w = self._best_labels(&rest, item.label + 1)
        if w > -INFINITY:
            listed[0] = Candidate(0, w)
            size = 1
        rest.kind = ANY
        w = weight_at(self.segment, item.start, item.length, item.label) - self.fee
        if w > -INFINITY:
            listed[size] = Candidate(1, w + self._best_labels(&rest, item.label + 1))
            size += 1
        return size

    cdef double _best_labels(self, const Item* item, Py_ssize_t first) noexcept nogil:
        """The weight of the best set of labels from `first` on."""
        cdef Py_ssize_t t
        cdef double w, total = 0.0, high = -INFINITY
        for t in range(first, self.segment.labels):
            w = weight_at(self.segment, item.start, item.length, t) - self.fee
            high = fmax(high, w)
            total += fmax(w, 0.0)
        return total if item.kind == ANY or total > 0 else high

    cdef int _parts(self, const Item* item, Py_ssize_t choice, Item* parts) noexcept nogil:
        """The parts of a candidate, and how many there are."""
        cdef Py_ssize_t i = item.start, d = item.length
        if item.kind == SOME or item.kind == ANY:
            if not self.arena.multi_label or item.label + 1 == self.segment.labels:
                return 0
            parts[0] = Item(ANY if choice else item.kind, i, d, item.label + 1)
            return 1
        if item.kind == MENTION:
            parts[0], parts[1] = Item(SOME, i, d, 0), Item(INSIDE, i, d, 0)
            return 2 if self.arena.chart.short and d > 0 else 1
        if item.kind == EITHER:
            parts[0] = Item(MENTION if choice else INSIDE, i, d, 0)
            return 1
        if item.kind == REST and i == self.arena.chart.n or item.kind == INSIDE and d == 0:
            return 0
        return parts_of(item, choice, parts)

    # ---- derivations ----

    cdef int _fill_heap(self, Node* node, Py_ssize_t n_listed) noexcept nogil:
        """The best k candidates, each with the best derivations of its parts."""
        cdef const Candidate* listed = self.arena.listed
        cdef Py_ssize_t c, size = min(n_listed, self.k)
        cdef double highest = -INFINITY
        cdef Derived derived
        cdef void* room
        for c in range(n_listed):
            highest = fmax(highest, listed[c].value)
        if not self._take(<double>(size + 1) * sizeof(Derived)):
            return 1
        room = malloc((size + 1) * sizeof(Derived))
        if room == NULL:
            return 1
        node.heap, node.heap_room, node.n_heap = <Derived*>room, size + 1, size
        for c in range(n_listed):
            derived.loss = derived.base = highest - listed[c].value
            derived.choice = listed[c].choice
            derived.ranks[0] = derived.ranks[1] = 0
            if c < size:
                node.heap[c] = derived
                if c == size - 1:
                    _heapify(node.heap, size, True)
            elif _before(&derived, &node.heap[0]):
                node.heap[0] = derived
                _sink(node.heap, size, 0, True)
        _heapify(node.heap, size, False)
        return 0

    cdef int _push(self, Node* node, Derived derived) noexcept nogil:
        cdef Py_ssize_t k = node.n_heap
        cdef void* larger
        if k == node.heap_room:
            larger = self._grow(node.heap, &node.heap_room, sizeof(Derived))
            if larger == NULL:
                return 1
            node.heap = <Derived*>larger
        while k > 0 and _before(&derived, &node.heap[(k - 1) // 2]):
            node.heap[k] = node.heap[(k - 1) // 2]
            k = (k - 1) // 2
        node.heap[k] = derived
        node.n_heap += 1
        return 0

    cdef int _want(self, Py_ssize_t node, Py_ssize_t rank) noexcept nogil:
        cdef void* larger
        if self.n_wanted == self.wanted_room:
            larger = self._grow(self.wanted, &self.wanted_room, sizeof(Wanted))
            if larger == NULL:
                return 1
            self.wanted = <Wanted*>larger
        self.wanted[self.n_wanted] = Wanted(node, rank)
        self.n_wanted += 1
        return 0

    cdef int _find(self, Py_ssize_t node, Py_ssize_t rank) noexcept nogil:
        """Find derivations of a node up to this rank, or all if there are fewer."""
        cdef Wanted top
        cdef Node* at
        self.n_wanted = 0
        if self._want(node, rank):
            return 1
        while self.n_wanted:
            top = self.wanted[self.n_wanted - 1]
            at = &self.nodes[top.node]
            if at.n_found > top.rank or at.finished:
                self.n_wanted -= 1
            elif at.n_found and at.followed < 2:
                if self._follow(top.node):
                    return 1
            elif self._settle(at):
                return 1
        return 0

    cdef int _follow(self, Py_ssize_t number) noexcept nogil:
        """Offer what follows the last derivation found by the next derivation of one part, or want that first.

        Ranks (a, b) are followed by (a, b + 1), and by (a + 1, b) if b is 0: each pair comes once."""
        cdef Node* node = &self.nodes[number]
        cdef Derived derived = node.found[node.n_found - 1]
        cdef Item parts[2]
        cdef int q, p = node.followed, n_parts = self._parts(&node.item, derived.choice, parts)
        cdef Py_ssize_t part
        if p >= n_parts or (p == 0 and n_parts == 2 and derived.ranks[1] > 0):
            node.followed += 1
            return 0
        derived.ranks[p] += 1
        part = self._node_of(&parts[p])
        if part < 0:
            return 1
        if self.nodes[part].n_found <= derived.ranks[p] and not self.nodes[part].finished:
            return self._want(part, derived.ranks[p])
        node = &self.nodes[number]  # nodes may have moved
        node.followed += 1
        if self.nodes[part].n_found <= derived.ranks[p]:
            return 0
        derived.loss = derived.base
        for q in range(n_parts):
            if derived.ranks[q] > 0:  # the part was asked for this derivation before
                part = self._slot(&parts[q])[0]
                derived.loss += self.nodes[part].found[derived.ranks[q]].loss
        return self._push(node, derived)

    cdef int _settle(self, Node* node) noexcept nogil:
        """The best entry of the heap is the next derivation."""
        cdef void* larger
        if node.n_heap == 0:
            node.finished = True
            return 0
        if node.n_found == node.found_room:
            larger = self._grow(node.found, &node.found_room, sizeof(Derived))
            if larger == NULL:
                return 1
            node.found = <Derived*>larger
        node.found[node.n_found] = node.heap[0]
        node.n_found += 1
        node.followed = 0
        node.n_heap -= 1
        if node.n_heap:
            node.heap[0] = node.heap[node.n_heap]
            _sink(node.heap, node.n_heap, 0, False)
        return 0

    cdef int _trace(self, Py_ssize_t rank) noexcept nogil:
        """The mentions of a derivation of the whole segment, sorted, to `mentions`. Node 0 is the segment."""
        cdef Wanted top
        cdef Derived derived
        cdef Item item
        cdef Item parts[2]
        cdef int p
        cdef Py_ssize_t part
        cdef void* larger
        self.n_mentions, self.n_open = 0, 0
        top = Wanted(0, rank)
        while True:
            derived, item = self.nodes[top.node].found[top.rank], self.nodes[top.node].item
            if item.kind >= SOME and (derived.choice or not self.arena.multi_label):
                if self.n_mentions == self.mentions_room:
                    larger = self._grow(self.mentions, &self.mentions_room, sizeof(Labeled))
                    if larger == NULL:
                        return 1
                    self.mentions = <Labeled*>larger
                self.mentions[self.n_mentions] = Labeled(
                    item.start, item.length, item.label if self.arena.multi_label else derived.choice)
                self.n_mentions += 1
            for p in range(self._parts(&item, derived.choice, parts)):
                part = self._node_of(&parts[p])
                if part < 0 or self._find(part, derived.ranks[p]):
                    return 1
                if self.n_open == self.open_room:
                    larger = self._grow(self.open, &self.open_room, sizeof(Wanted))
                    if larger == NULL:
                        return 1
                    self.open = <Wanted*>larger
                self.open[self.n_open] = Wanted(part, derived.ranks[p])
                self.n_open += 1
            if self.n_open == 0:
                break
            self.n_open -= 1
            top = self.open[self.n_open]
        if self.n_mentions > 1:
            qsort(self.mentions, self.n_mentions, sizeof(Labeled), _compare)
        return 0
