"""The C of the kernels under the sanitizers for undefined behavior and for addresses. `make sanitize` runs all tests of
the kernels under them."""

import os
from pathlib import Path

import pytest
from sanitized import run_sanitized

from spacy_nested_ner.decoders._kernels import arena


@pytest.mark.slow
def test_no_number_leads_to_undefined_behavior(tmp_path):
    """NaN, infinities and everything else goes through all row operations, in arrays with no room to spare."""
    settings = [{"SPACY_NESTED_NER_PLAIN": plain} for plain in ("0", "1")]
    assert run_sanitized(Path(__file__).parent / "sanitized.c", tmp_path, settings) == "0\n"


def test_the_kernels_are_those_of_the_build_that_is_named():
    """`make sanitize` must not test the usual ones, and nobody else may get the slow ones."""
    assert arena.separate == (os.environ.get("SPACY_NESTED_NER_BUILD") in ("address", "thread"))
