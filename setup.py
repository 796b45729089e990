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

# SPACY_NESTED_NER_BUILD names a slow build for the tests, which the Makefile installs next to the usual one: "traced"
# kernels can be followed line by line by `coverage` (its plugin, Cython.Coverage, looks for the C files next to the
# sources), and "address" and "thread" are compiled with sanitizers.
BUILD = os.environ.get("SPACY_NESTED_NER_BUILD", "")
TRACED = BUILD == "traced"
SANITIZERS = {"address": "address,undefined,float-cast-overflow", "thread": "thread"}

# No -march: the instruction set is chosen at run time (isa.h). No -ffast-math: the
# mathematics relies on infinities; errno and floating-point traps it does not need.
if sys.platform == "win32":
    FLAGS = ["/O2"]
else:
    FLAGS = ["-O1" if BUILD else "-O3", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros"]
LINKED = []
MACROS: list[Any] = []
if TRACED:
    MACROS = [("CYTHON_TRACE", "1"), ("CYTHON_TRACE_NOGIL", "1")]
elif BUILD:
    LINKED = [f"-fsanitize={SANITIZERS[BUILD]}", "-fno-sanitize-recover=all"]
    FLAGS += ["-g", "-fno-omit-frame-pointer", *LINKED]
    MACROS = [("SNN_GARBAGE", "1")]  # pages.h


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
                extra_link_args=LINKED,
            )
            for folder in (DECODERS, MODEL)
            for path in sorted(folder.glob("*.pyx"))
        ],
        language_level=3,
        compiler_directives={"linetrace": TRACED},
        build_dir=None if TRACED else "build/cython",
    ),
    options={"build": {"build_base": f"build/of_{BUILD}"}} if BUILD else {},
)
