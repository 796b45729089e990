"""experiments/hide.py: a corpus without some of its mentions."""

import runpy
from pathlib import Path

import pytest
from nested_examples import found, save_corpus

from spacy_nested_ner.corpus import read_docs

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "experiments" / "hide.py"))


def hide(*arguments):
    SCRIPT["main"]([str(argument) for argument in arguments])


@pytest.fixture
def source(tmp_path):
    save_corpus(tmp_path / "train.spacy", times=20)
    return tmp_path / "train.spacy"


@pytest.mark.slow
@pytest.mark.parametrize("text, incomplete", [("0.25", 0.25), ("true", True), ("none", None)])
def test_mentions_are_hidden_and_docs_say_so(source, tmp_path, capsys, text, incomplete):
    target = tmp_path / "hidden.spacy"
    hide(source, target, "--share", 0.25, "--seed", 3, "--incomplete", text)
    printed = capsys.readouterr().out
    before, after = list(read_docs(source)), list(read_docs(target))
    n_before, n_after = (sum(len(doc.spans["sc"]) for doc in docs) for docs in (before, after))
    assert f"60 documents, hid {n_before - n_after} of {n_before} mentions" in printed
    assert f"incomplete = {incomplete}" in printed
    assert 0.15 < 1 - n_after / n_before < 0.35
    assert all(set(found(b)) >= set(found(a)) for b, a in zip(before, after))
    assert {doc.spans["sc"].attrs.get("incomplete") for doc in after} == {incomplete}
    hide(source, tmp_path / "again.spacy", "--share", 0.25, "--seed", 3)
    hide(source, tmp_path / "other.spacy", "--share", 0.25, "--seed", 4)
    again, other = (list(map(found, read_docs(tmp_path / f"{name}.spacy"))) for name in ("again", "other"))
    assert again == list(map(found, after)) != other


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--share", "1.5"), "Error: share is 1.5; expected a number from 0 to 1"),
        (("--incomplete", "maybe"), "'maybe'; expected none, true, or a number above 0 and up to 1"),
    ],
)
def test_bad_options(source, tmp_path, capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        hide(source, tmp_path / "hidden.spacy", *arguments)
    assert message in f"{stopped.value} {capsys.readouterr().err}"
    assert not (tmp_path / "hidden.spacy").exists()


def test_a_missing_source(tmp_path):
    with pytest.raises(SystemExit, match=r"Error: .*train\.spacy: no such file or folder"):
        hide(tmp_path / "train.spacy", tmp_path / "hidden.spacy")
