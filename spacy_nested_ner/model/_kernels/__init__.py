"""The span scorer in Cython and C."""
