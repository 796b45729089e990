"""Too much is refused before the system ends the process."""

import os

import numpy as np
import pytest

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, Mention, QuadraticDecoder
from spacy_nested_ner.decoders import _memory as memory


def test_too_much_for_memory_is_an_error_and_not_the_end():
    scores = np.broadcast_to(np.float32(0.0), (400_000, 400_000, 1))
    for decoder in (FlatDecoder(), QuadraticDecoder(), CubicDecoder()):
        for method in (decoder.decode, decoder.log_partition):
            with pytest.raises(MemoryError, match=r"a segment of 400000 tokens .* GiB.*set max_span_length"):
                method(scores)


def test_memory_is_checked_against_what_the_machine_has(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 2.0**31)
    memory.check_memory(2.0**31, 10, 10, False)
    memory.check_memory(100.0, 10, 10, False)
    with pytest.raises(
        MemoryError,
        match=r"^marginals of a segment of 10 tokens with spans of up to 9 tokens needs 3\.0 GiB, more than "
        r"the 2\.0 GiB there are: set max_span_length, or split the text into sentences$",
    ):
        memory.check_memory(3 * 2.0**30, 10, 9, True)


def test_memory_of_a_machine_that_does_not_say_how_much_it_has(monkeypatch):
    monkeypatch.delattr(os, "sysconf", raising=False)
    memory.check_memory(2.0**50, 10, 10, False)
    with pytest.raises(MemoryError, match="more than"):
        memory.check_memory(2.0**70, 10, 10, False)


def test_projection_asks_before_it_takes_memory():
    crossing = [Mention(0, 600_000, "A"), Mention(1, 600_001, "B")]
    with pytest.raises(MemoryError, match=r"a segment of 600001 tokens .* GiB.*set max_span_length"):
        QuadraticDecoder().project(crossing, 600_001)
