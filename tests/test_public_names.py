"""The public names of the package: all there, and loaded only when they are asked for."""

import subprocess
import sys

import pytest

import spacy_nested_ner
import spacy_nested_ner.evaluation
import spacy_nested_ner.jobs


@pytest.mark.parametrize("package", [spacy_nested_ner, spacy_nested_ner.evaluation, spacy_nested_ner.jobs])
def test_every_name_is_there(package):
    assert dir(package) == sorted(package.__all__)
    for name in package.__all__:
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = package.nonsense


def test_importing_the_package_loads_nothing_else(tmp_path):
    program = (
        "import sys, typing, importlib; before = set(sys.modules); import spacy_nested_ner\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["spacy_nested_ner", "spacy_nested_ner._lazy"]


@pytest.mark.slow
def test_the_scorer_loads_no_other_room(tmp_path):
    """spaCy imports it with every pipeline, through its entry point."""
    program = (
        "import sys, spacy_nested_ner.evaluation.scorer\n"
        "print(*(name for name in sys.modules if name.startswith('spacy_nested_ner')))"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in run.stdout.split() if "." in name}
    assert rooms <= {"_lazy", "annotation", "decoders", "evaluation"}
