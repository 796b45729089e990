"""The C of the kernels under the sanitizers for undefined behavior and for addresses."""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "spacy_nested_ner" / "decoders" / "_kernels"
SANITIZERS = ["-fsanitize=undefined,address,float-cast-overflow", "-fno-sanitize-recover=all"]


@pytest.mark.slow
def test_no_number_leads_to_undefined_behavior(tmp_path):
    """NaN, infinities and everything else goes through all row operations, in arrays with no room to spare."""
    program = tmp_path / "sanitized"
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    compiler = ["gcc", "-std=c11", "-O1", "-g", *warnings, *SANITIZERS, f"-I{KERNELS}"]
    subprocess.run([*compiler, str(HERE / "sanitized.c"), "-o", str(program), "-lm"], check=True)
    for plain in ("0", "1"):
        environment = {**os.environ, "SPACY_NESTED_NER_PLAIN": plain, "ASAN_OPTIONS": "detect_leaks=0"}
        run = subprocess.run([str(program)], env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout == "0\n"
