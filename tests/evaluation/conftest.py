"""A pipeline to evaluate, and how often its network runs."""

import pytest
from nested_examples import save_beginner
from thinc.api import with_debug


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return save_beginner(tmp_path_factory.mktemp("evaluation"))


@pytest.fixture
def count_calls():
    """A function that makes a component remember the number of docs in every call of its network."""

    def count(pipe):
        calls = []
        pipe.model = with_debug(pipe.model, on_forward=lambda model, inputs, is_train: calls.append(len(inputs[0])))
        return calls

    return count
