"""Every search space with its options, on the kernels and on the enumeration."""

import pytest
from helpers import SPACES

from spacy_nested_ner.decoders import decoder as kernels
from spacy_nested_ner.decoders import reference


@pytest.fixture(params=list(SPACES))
def space(request):
    """The name of a class and the settings that make it this search space."""
    return SPACES[request.param]


@pytest.fixture(params=[kernels, reference], ids=["kernels", "reference"])
def implementation(request):
    return request.param


@pytest.fixture
def make_decoder(space, implementation):
    """A decoder of every space, from both implementations; takes further settings."""
    name, settings = space
    return lambda **more: getattr(implementation, name)(**settings, **more)


@pytest.fixture
def make_pair(space):
    """The kernel's decoder and its slow twin, with the same settings."""
    name, settings = space
    return lambda **more: (getattr(kernels, name)(**settings, **more), getattr(reference, name)(**settings, **more))
