"""C programs that are compiled with sanitizers, and run."""

import os
import subprocess
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "spacy_nested_ner"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-psabi"]
SANITIZERS = ["-fsanitize=undefined,address,float-cast-overflow", "-fno-sanitize-recover=all"]


def run_sanitized(source, folder, settings):
    """Compile a program with the headers of all kernels, run it once for each of some environment variables, and
    return what it printed the last time.

    source (Path): The program.
    folder (Path): Where to put what is compiled.
    settings (Iterable[dict[str, str]]): The variables.
    """
    program = folder / source.stem
    headers = [f"-I{PACKAGE / room / '_kernels'}" for room in ("decoders", "model")]
    compiler = ["gcc", "-std=c11", "-O1", "-g", *WARNINGS, *SANITIZERS, *headers]
    subprocess.run([*compiler, str(source), "-o", str(program), "-lm"], check=True)
    for setting in settings:
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **setting}
        run = subprocess.run([str(program)], env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout
