"""Spans between two tokenizations of one text."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nested_ner.evaluation.alignment import Alignment

VOCAB = spacy.blank("en").vocab


@pytest.fixture
def alignment():
    """The prediction splits what the gold has as one token, and the other way around."""
    predicted = Doc(VOCAB, words=["New", "York", "'s", "mayor"], spaces=[True, False, True, False])
    gold = Doc(VOCAB, words=["New", "York's", "may", "or"], spaces=[True, True, False, False])
    return Alignment(Example(predicted, gold))


def test_spans_that_begin_and_end_with_a_token_of_both(alignment):
    assert alignment.to_gold(0, 1) == (0, 1)
    assert alignment.to_gold(1, 3) == alignment.to_gold(1, 3) == (1, 2)
    assert alignment.to_gold(3, 4) == (2, 4)
    assert alignment.to_predicted(1, 2) == (1, 3)
    assert alignment.to_predicted(0, 4) == (0, 4)


def test_spans_that_begin_or_end_inside_a_token(alignment):
    assert alignment.to_gold(0, 2) is None
    assert alignment.to_predicted(3, 4) is None


def test_stretches_have_no_gaps(alignment):
    """A token of the gold belongs to the stretch in which it begins."""
    stretches = [alignment.stretch_to_gold(start, end) for start, end in [(0, 2), (2, 3), (3, 4)]]
    assert stretches == [(0, 2), (2, 2), (2, 4)]
