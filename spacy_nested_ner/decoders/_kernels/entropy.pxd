from .chart cimport Chart
from .traceback cimport Spreads

cdef double difference(Chart* chart, const double* expected, bint is_double) noexcept nogil
cdef double entropy(Chart* chart, Spreads* spreads) noexcept nogil
