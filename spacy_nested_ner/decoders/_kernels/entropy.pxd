from .chart cimport Chart
from .traceback cimport Spreads

cdef double entropy(Chart* chart, Spreads* spreads) noexcept nogil
