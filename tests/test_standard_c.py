"""The C of the kernels is standard C, but for extensions of GCC and Clang that MSVC does not see."""

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
KERNELS = [TESTS.parent / "spacy_nested_ner" / room / "_kernels" for room in ("decoders", "model")]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
# Clang says so if it cannot vectorize a loop.
STRICT = [*"-std=c11 -Wall -Wextra -pedantic-errors -Werror -Wno-unused-function -Wno-psabi -Wno-pass-failed".split()]


@pytest.mark.slow
@pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")
@pytest.mark.parametrize("room, ending", [("decoders", "0\n"), ("model", "done\n")])
def test_the_kernels_are_standard_c(tmp_path, room, ending):
    """Everything is compiled, and what other compilers see is run: on rows of all kinds of numbers, and all sizes."""
    source = str(TESTS / room / "sanitized.c")
    included = [*(f"-I{folder}" for folder in KERNELS), "-include", "pages.h"]
    for compiler in COMPILERS:
        subprocess.run([compiler, *STRICT, *included, "-fsyntax-only", source], check=True)
        program = str(tmp_path / compiler)
        command = [compiler, *STRICT, *included, "-O1", "-DSNN_PORTABLE", source, "-o", program, "-lm"]
        subprocess.run(command, check=True)
        assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == ending
