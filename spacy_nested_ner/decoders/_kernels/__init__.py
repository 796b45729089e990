"""The dynamic programs, in Cython and C. README.md is the map."""
