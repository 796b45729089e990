"""Warnings about gold that differs from what a component was initialized with."""

import pytest
import spacy
from nested_examples import TINY, make_doc, make_examples, plain, trained
from spacy.training import Example

from spacy_nested_ner.decoders import CubicDecoder

FLAT = ("He left the town .", [(0, 1, "PER"), (2, 4, "LOC")])
NESTED = ("The mayor of the town spoke .", [(0, 5, "PER"), (3, 5, "LOC")])


def example(nlp, sentence):
    return Example(plain(nlp, [sentence]), make_doc(nlp.vocab, [sentence]))


def initialized(*sentences, **settings):
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config={**TINY, **settings})
    nlp.initialize(lambda: [example(nlp, sentence) for sentence in sentences])
    return nlp


def test_labels_first_seen_in_training_are_reported_once():
    nlp = trained(steps=1)
    pipe = nlp.get_pipe("nested_ner")
    sentence = ("They found a sword and a {x} .", [(2, 4, "WEA"), (0, 1, "WEA"), (6, 7, "{0}"), (0, 1, "PER")])
    example = Example(plain(nlp, [sentence]), make_doc(nlp.vocab, [sentence]))
    with pytest.warns(UserWarning, match="does not know the labels") as caught:
        nlp.update([example])
    nlp.update([example])  # warnings are errors
    assert [str(each.message) for each in caught] == [
        "nested_ner does not know the labels of some mentions (WEA 2, {0} 1 in this batch), and does not learn them: "
        "call add_label before training goes on, or initialize with examples of all labels"
    ]
    new = ("A ship sank .", [(0, 2, "VEH")])
    with pytest.warns(UserWarning, match=r"\(VEH 1 in this batch\)"):
        nlp.update([Example(plain(nlp, [new]), make_doc(nlp.vocab, [new]))])
    pipe.add_label("MISC")
    known = ("A thing broke .", [(0, 2, "MISC")])
    nlp.update([Example(plain(nlp, [known]), make_doc(nlp.vocab, [known]))])  # warnings are errors


def test_labels_that_were_left_out_on_purpose_are_reported_at_the_start_only():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    examples = make_examples(nlp)
    with pytest.warns(UserWarning, match="have a label that the component does not know"):
        pipe.initialize(lambda: examples, labels=["PER"])
    nlp.update(examples)  # warnings are errors


def test_mentions_unlike_those_of_initialization_are_reported_once():
    """AutoDecoder chose a flat decoder, and mentions of up to two tokens."""
    nlp = initialized(FLAT)
    with pytest.warns(UserWarning, match="longer than") as caught:
        nlp.update([example(nlp, NESTED)])
    assert [str(each.message) for each in caught] == [
        "some mentions are longer than max_span_length = 2 (PER 1 in this batch), and nested_ner does not learn them: "
        "initialize with examples that have such mentions, or set max_span_length"
    ]
    nlp = initialized(FLAT, max_span_length=None)
    with pytest.warns(UserWarning, match="outside the search space") as caught:
        nlp.update([example(nlp, NESTED)])
    assert [str(each.message) for each in caught] == [
        "some mentions are outside the search space of FlatDecoder (PER 1 in this batch), and nested_ner does not "
        "learn them: initialize with examples that have such mentions, or set a wider decoder"
    ]
    nlp.update([example(nlp, NESTED)])  # warnings are errors
    loaded = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    with pytest.warns(UserWarning, match="outside the search space of FlatDecoder"):
        loaded.update([example(loaded, NESTED)])


def test_labels_with_braces_are_reported_as_they_are():
    label, text = "{decoder:>100000000}", "New York City Council met ."
    nlp = initialized((text, [(0, 3, label), (4, 5, "{"), (5, 6, "}")]))
    with pytest.warns(UserWarning, match="outside the search space") as caught:
        nlp.update([example(nlp, (text, [(0, 3, label), (2, 4, label), (4, 5, "{"), (5, 6, "}")]))])
    assert [str(each.message) for each in caught] == [
        "some mentions are outside the search space of FlatDecoder ({decoder:>100000000} 1 in this batch), and "
        "nested_ner does not learn them: initialize with examples that have such mentions, or set a wider decoder"
    ]


def test_a_wider_decoder_learns_them():
    nlp = initialized(FLAT, max_span_length=None)
    nlp.get_pipe("nested_ner").decoder = CubicDecoder()
    nlp.update([example(nlp, NESTED)])  # warnings are errors


def test_what_initialization_has_reported_is_not_reported_again():
    with pytest.warns(UserWarning, match="are outside the search space of FlatDecoder"):
        nlp = initialized(FLAT, NESTED, decoder="FlatDecoder")
    nlp.update([example(nlp, NESTED)])  # warnings are errors
