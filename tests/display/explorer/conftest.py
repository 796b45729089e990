"""One explorer for all tests of this folder: the sample pipeline and a corpus with gold."""

import pytest

from spacy_nested_ner import load_sample
from spacy_nested_ner.corpus import read_records
from spacy_nested_ner.display.explorer.scoring import Scorer
from spacy_nested_ner.display.explorer.sentences import Corpus


@pytest.fixture(scope="session")
def scorer():
    return Scorer(load_sample())


@pytest.fixture(scope="session")
def make_corpus(scorer):
    """Corpora that are not scored yet, for an application to start."""
    return lambda: Corpus(scorer, read_records("assets/sample/dev.txt"), "dev.txt")


@pytest.fixture(scope="session")
def corpus(make_corpus):
    corpus = make_corpus()
    corpus.start()
    corpus.wait()
    assert corpus.failure is None
    return corpus
