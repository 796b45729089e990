"""The package as others get it: sdist, wheel, installed away from the source tree."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command, cwd):
    result = subprocess.run([sys.executable, *map(str, command)], cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The sdist, and the wheel that is built from the sdist."""
    out = tmp_path_factory.mktemp("dist")
    run("-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    return out


@pytest.mark.slow
def test_sdist_has_the_kernels_and_nothing_generated(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = archive.getnames()
    for ending in (
        "quadratic.pyx",
        "chart.pxd",
        "semiring_impl.h",
        "engine.pyi",
        "configs/tok2vec.cfg",
        "py.typed",
        "LICENSE",
    ):
        assert any(name.endswith(ending) for name in names), ending
    generated = [name for name in names if name.endswith((".c", ".so", ".pyc"))]
    assert [Path(name).name for name in generated] == ["sanitized.c"] * 2, "but for the programs of two tests"


@pytest.mark.slow
def test_wheel_installs_and_runs_away_from_the_source_tree(dist, tmp_path):
    wheel = next(dist.glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("py.typed") for name in names)
    assert {"spacy_nested_ner/configs/tok2vec.cfg", "spacy_nested_ner/configs/transformer.cfg"} <= set(names)
    page = ROOT / "spacy_nested_ner" / "display" / "explorer" / "static"
    assert {str(path.relative_to(ROOT)) for path in page.iterdir()} <= set(names)
    assert not [name for name in names if name.endswith((".c", ".h", ".pyx"))]
    site = tmp_path / "site"
    run("-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel, cwd=tmp_path)
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "import json, numpy as np, spacy_nested_ner\n"
        "from spacy_nested_ner.decoders import QuadraticDecoder\n"
        "from spacy_nested_ner.decoders._kernels import engine\n"
        "found = QuadraticDecoder().decode(np.ones((2, 2, 1), dtype='float32'))\n"
        "print(json.dumps([spacy_nested_ner.__file__, engine.__file__, found]))\n"
    )
    package, engine, found = json.loads(run("-I", "-c", program, cwd=tmp_path))
    assert Path(package).is_relative_to(site)
    assert Path(engine).is_relative_to(site)
    assert found == [[0, 2, 0], [0, 1, 0], [1, 2, 0]]


def test_decoders_import_neither_spacy_nor_torch(tmp_path):
    """Nothing below the component needs spaCy, and no other pipeline starts more slowly because of us."""
    program = (
        "import sys, spacy_nested_ner.decoders, spacy_nested_ner.decoders.reference\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & {'spacy', 'thinc', 'torch', 'matplotlib'}))"
    )
    assert run("-c", program, cwd=tmp_path).strip() == ""


@pytest.mark.slow
def test_sources_without_kernels_say_what_to_do(tmp_path):
    """As in a clone after `pip install .`, where Python finds the sources before the installed package."""
    shutil.copytree(ROOT / "spacy_nested_ner", tmp_path / "spacy_nested_ner", ignore=shutil.ignore_patterns("*.so"))
    for command in (["-c", "from spacy_nested_ner import Decoder"], ["-m", "spacy", "info"]):
        result = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode
        message = result.stderr.strip().splitlines()[-1]
        assert message == (
            f"ImportError: spacy_nested_ner is imported from {tmp_path}, where its kernels are not compiled for this "
            f"Python: run `pip install --editable .` in that folder, or start Python in another one."
        )


def test_a_build_without_a_compiler_says_what_to_do(tmp_path):
    for name in ("setup.py", "setup.cfg", "README.md", "spacy_nested_ner/__init__.py", "spacy_nested_ner/_lazy.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    kernels = tmp_path / "spacy_nested_ner" / "model" / "_kernels"
    kernels.mkdir(parents=True)
    (kernels / "one.pyx").write_text("x = 1\n")
    environment = {name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS")}
    result = subprocess.run(
        [sys.executable, "setup.py", "build_ext"],
        cwd=tmp_path,
        env={**environment, "PATH": str(kernels)},
        capture_output=True,
        text=True,
    )
    assert result.returncode
    message = result.stderr.strip().splitlines()[-1]
    assert message.startswith("error: spacy-nested-ner is built with a C compiler, and there is no ")
    assert message.endswith("A wheel needs none: pip install --only-binary spacy-nested-ner spacy-nested-ner")
    assert "Errno" not in result.stderr
