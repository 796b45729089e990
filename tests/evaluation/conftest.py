"""A pipeline to evaluate, and how often its network runs."""

import pytest
from nested_examples import save_corpus, trained
from thinc.api import with_debug


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A pipeline that has not learned enough, and a corpus."""
    path = tmp_path_factory.mktemp("evaluation")
    trained(steps=6).to_disk(path / "model")
    save_corpus(path / "dev.spacy")
    return path


@pytest.fixture
def count_calls():
    """A function that makes a component remember the number of docs in every call of its network."""

    def count(pipe):
        calls = []
        pipe.model = with_debug(pipe.model, on_forward=lambda model, inputs, is_train: calls.append(len(inputs[0])))
        return calls

    return count
