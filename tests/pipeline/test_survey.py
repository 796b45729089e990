"""What is read from training data before training starts, and what of it cannot be learned."""

import re
import warnings

import pytest
import spacy
from nested_examples import SENTENCES, TINY, make_doc, make_examples, plain
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_nested_ner.decoders import QuadraticDecoder


def test_max_span_length():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    assert pipe.span_limit == 10
    nlp.initialize(lambda: make_examples(nlp))
    assert pipe.span_limit == 6
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={**TINY, "max_span_length": None})
    nlp.initialize(lambda: make_examples(nlp))
    assert pipe.span_limit is None


def test_the_longest_mention_is_counted_in_tokens_that_are_predicted_on():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    reference = Doc(nlp.vocab, words=["Bonn-based-choir", "sang"])
    reference.spans["sc"] = [Span(reference, 0, 1, label="ORG")]
    example = Example(nlp.make_doc(reference.text), reference)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.initialize(lambda: [example])
    assert len(example.predicted) == 6
    assert pipe.span_limit == 5


def test_what_cannot_be_learned_is_reported_once_with_numbers():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={**TINY, "max_span_length": 5, "decoder": "QuadraticDecoder"})
    two_long = (
        "The mayor of New Haven and the owner of the old mill met .",
        [(0, 12, "PER"), (0, 5, "PER"), (6, 12, "PER")],
    )
    examples = make_examples(nlp)
    doc = make_doc(nlp.vocab, [SENTENCES[0], two_long])
    doc.spans["sc"] += [Span(doc, 6, 10, label="ORG")]
    doc.spans["sc"] += [Span(doc, 10, 12, label="PER"), Span(doc, 11, 13, label="PER")]
    examples.append(Example(make_doc(nlp.vocab, [SENTENCES[0], two_long], key=None), doc))
    with pytest.warns(UserWarning, match="nested_ner cannot learn") as caught:
        nlp.initialize(lambda: examples)
    (message,) = [str(w.message) for w in caught if "cannot learn" in str(w.message)]
    assert "5 of 28 gold mentions" in message
    assert "1 cross a sentence boundary (ORG 1): set use_sentences = false" in message
    assert "3 are longer than max_span_length = 5 (PER 3)" in message
    assert "1 are outside the search space of QuadraticDecoder" in message
    assert "(PER 1): 1 cross other mentions, which no setting can keep" in message
    assert pipe.labels


def test_labels_with_braces_are_reported_as_they_are():
    """A label once went through `str.format`: a KeyError, or a message of 100 MB."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    labels = ("{decoder:>100000000}", "{", "}")
    group = [("New York City Council met .", [(0, 3, label), (2, 4, label)]) for label in labels]  # they cross
    example = Example(plain(nlp, group), make_doc(nlp.vocab, group))
    with pytest.warns(UserWarning, match="nested_ner cannot learn 3 of 6 gold mentions") as caught:
        nlp.initialize(lambda: [example])
    (message,) = [str(each.message) for each in caught]
    assert " of FlatDecoder ({decoder:>100000000} 1, { 1, } 1): 3 cross other mentions, which no setting" in message
    assert len(message) < 500
    nlp.update([example])  # warnings are errors
    assert set(pipe.labels) == set(labels)


def test_the_corpus_is_read_once_before_training():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={**TINY, "decoder": {"@misc": "spacy-nested-ner.AutoDecoder.v1"}})
    examples = make_examples(nlp)
    passes = []

    def get_examples():
        passes.append(1)
        return iter(examples)

    pipe.initialize(get_examples, nlp=nlp)
    assert len(passes) == 1
    for wrong in (examples, None, lambda: [], lambda: [1]):
        with pytest.raises(TypeError, match=r"E930|E978"):
            pipe.initialize(wrong)


def test_labels_from_a_list_and_what_init_labels_saves(nlp):
    fresh = spacy.blank("en")
    pipe = fresh.add_pipe("nested_ner", config=TINY)
    assert nlp.get_pipe("nested_ner").label_data == ["PER", "GPE", "ORG", "FAC"]
    examples = make_examples(fresh)
    pipe.initialize(lambda: examples, labels=["ORG", "GPE", "PER", "FAC", "WEA"])
    assert pipe.labels == ("ORG", "GPE", "PER", "FAC", "WEA")
    assert pipe.model.get_dim("nO") == 5


def elsewhere(nlp, *, entities):
    """Examples with their mentions under another key, and perhaps some in doc.ents."""
    examples = make_examples(nlp, "entities")
    for example in examples if entities else ():
        example.reference.set_ents([Span(example.reference, 0, 1, "PER")])
    return examples


@pytest.mark.parametrize(
    "entities, found",
    [
        (False, "found 18 spans in doc.spans['entities']: set spans_key = \"entities\" in the config of nested_ner"),
        (
            True,
            "found 18 spans in doc.spans['entities'] and 3 entities in doc.ents: set spans_key = \"entities\" in the "
            "config of nested_ner, or move the entities to spans with "
            "`spacy nested-ner convert in.spacy out.spacy --ents --spans-key mentions`",
        ),
    ],
)
def test_annotation_elsewhere_is_named(entities, found):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={**TINY, "spans_key": "mentions"})
    message = "nested_ner found no mention in doc.spans['mentions'] of the 3 training docs, and "
    with pytest.raises(ValueError, match="^" + re.escape(message + "was given no labels; " + found) + "$"):
        nlp.initialize(lambda: elsewhere(nlp, entities=entities))
    with pytest.warns(UserWarning, match="^" + re.escape(message + "will learn to find none; " + found) + "$"):
        pipe.initialize(lambda: elsewhere(nlp, entities=entities), labels=["PER"])


def test_entities_only():
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=TINY)
    doc = nlp.make_doc("Ada met Bo")
    doc.spans["sc_incorrect"] = [Span(doc, 1, 2, "PER")]
    doc.set_ents([Span(doc, 0, 1, "PER"), Span(doc, 2, 3, "PER")])
    with pytest.raises(ValueError, match=r"; found 2 entities in doc.ents: move .* out.spacy --ents`$"):
        nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc)])


def test_no_annotation_at_all_is_an_error():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    doc = nlp.make_doc("Ada met Bo")
    message = r"of the 1 training docs, .*they have no other spans or entities either: check .*is given examples"
    with pytest.raises(ValueError, match=message):
        nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc)])
    # Labels and no data, as in a quick test: nothing to complain about.
    pipe.add_label("PER")
    nlp.initialize()
    assert pipe.decoder == QuadraticDecoder()
