"""Pipelines trained on a small corpus, and the scores of some segments."""

import pytest
from helpers import random_scores
from nested_examples import trained

from spacy_nested_ner.decoders import PackedScores


@pytest.fixture(scope="module")
def nlp():
    return trained()


@pytest.fixture(scope="module")
def beginner():
    """It has hardly begun to learn: no probability is so near to 0 or 1 that a gradient is lost in rounding."""
    return trained(steps=2)


@pytest.fixture
def scores():
    """Four segments and three labels."""
    return PackedScores.pack([random_scores(n, 3, seed=n) for n in (5, 4, 6, 1)], 4)
