"""Pipelines trained on a small corpus, for all tests of the component."""

import pytest
from nested_examples import trained


@pytest.fixture(scope="module")
def nlp():
    return trained()


@pytest.fixture(scope="module")
def beginner():
    """It has hardly begun to learn: no probability is so near to 0 or 1 that a gradient is lost in rounding."""
    return trained(steps=2)
