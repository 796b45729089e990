"""The compiled extensions. Everything else about the package is in setup.cfg."""

import os
import sys
from pathlib import Path
from typing import Any

from Cython.Build import cythonize
from setuptools import Extension, setup

FOLDER = Path("spacy_nested_ner") / "decoders" / "_kernels"

# SPACY_NESTED_NER_TRACE=1 makes slow kernels that `coverage` can follow line by line. Its plugin, Cython.Coverage,
# looks for the C files next to the sources.
TRACE = os.environ.get("SPACY_NESTED_NER_TRACE") == "1"

# No -march: the instruction set is chosen at run time (isa.h). No -ffast-math: the
# mathematics relies on infinities; errno and floating-point traps it does not need.
if sys.platform == "win32":
    FLAGS = ["/O2"]
else:
    FLAGS = ["-O1" if TRACE else "-O3", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros"]

MACROS: list[Any] = [("CYTHON_TRACE", "1"), ("CYTHON_TRACE_NOGIL", "1")] if TRACE else []

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"spacy_nested_ner.decoders._kernels.{path.stem}",
                [str(path)],
                include_dirs=[str(FOLDER)],
                depends=[str(header) for header in sorted(FOLDER.glob("*.h"))],
                define_macros=MACROS,
                extra_compile_args=FLAGS,
            )
            for path in sorted(FOLDER.glob("*.pyx"))
        ],
        language_level=3,
        compiler_directives={"linetrace": TRACE},
        build_dir=None if TRACE else "build/cython",
    ),
    options={"build": {"build_base": "build/trace"}} if TRACE else {},
)
