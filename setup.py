"""The compiled extensions. Everything else about the package is in setup.cfg."""

import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

FOLDER = Path("spacy_nested_ner") / "decoders" / "_kernels"
KERNELS = ["batch", "best", "cubic", "engine", "flat", "quadratic", "traceback", "weights"]

# No -march: the instruction set is chosen at run time (isa.h). No -ffast-math: the
# mathematics relies on infinities; errno and floating-point traps it does not need.
if sys.platform == "win32":
    FLAGS = ["/O2"]
else:
    FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros"]

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"spacy_nested_ner.decoders._kernels.{name}",
                [str(FOLDER / f"{name}.pyx")],
                include_dirs=[str(FOLDER)],
                depends=[str(path) for path in sorted(FOLDER.glob("*.h"))],
                extra_compile_args=FLAGS,
            )
            for name in KERNELS
        ],
        language_level=3,
        build_dir="build/cython",
    )
)
