from .chart cimport Chart

cdef int inside(Chart* chart) noexcept nogil
cdef void outside(Chart* chart) noexcept nogil
