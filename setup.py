"""The compiled extensions. Everything else about the package is in setup.cfg."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

PACKAGE = Path("spacy_nested_ner")
DECODERS, MODEL = (PACKAGE / room / "_kernels" for room in ("decoders", "model"))

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


class BuildKernels(build_ext):
    """Says what to do if there is no compiler. MSVC has a message of its own."""

    def build_extensions(self) -> None:
        command = getattr(self.compiler, "compiler", None)
        if command and not shutil.which(command[0]):
            raise PlatformError(
                f"spacy-nested-ner is built with a C compiler, and there is no {command[0]}. Install a compiler "
                f"(Debian and Ubuntu: apt install gcc; macOS: xcode-select --install), or set CC to yours. A wheel "
                f"needs none: pip install --only-binary spacy-nested-ner spacy-nested-ner"
            )
        super().build_extensions()


setup(
    cmdclass={"build_ext": BuildKernels},
    ext_modules=cythonize(
        [
            Extension(
                ".".join(path.with_suffix("").parts),
                [str(path)],
                include_dirs=[str(DECODERS), str(folder)],  # isa.h is for all of them
                depends=[str(header) for header in sorted([*DECODERS.glob("*.h"), *folder.glob("*.h")])],
                define_macros=MACROS,
                extra_compile_args=FLAGS,
            )
            for folder in (DECODERS, MODEL)
            for path in sorted(folder.glob("*.pyx"))
        ],
        language_level=3,
        compiler_directives={"linetrace": TRACE},
        build_dir=None if TRACE else "build/cython",
    ),
    options={"build": {"build_base": "build/trace"}} if TRACE else {},
)
