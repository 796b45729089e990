"""What is learned from an annotation, complete or not."""

import pytest
import spacy
from nested_examples import SENTENCES, TINY, make_doc, make_examples, plain, train, trained
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.training import Example


def loss_and_gradient(nlp, reference):
    pipe = nlp.get_pipe("nested_ner")
    predicted = Doc(nlp.vocab, words=[token.text for token in reference])
    scored = pipe.scores([predicted])
    loss, gradient = pipe.get_loss([Example(predicted, reference)], scored)
    return loss, scored.scores.like(gradient)


def bonn(nlp, known=(), incorrect=None, incomplete=None, key="sc"):
    """A doc with given spans; no group at all for None."""
    doc = Doc(nlp.vocab, words="Fabian from Bonn slept .".split())
    if known is not None:
        spans = [Span(doc, *span) for span in known]
        doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs={"incomplete": incomplete})
    if incorrect is not None:
        doc.spans[f"{key}_incorrect"] = [Span(doc, *span) for span in incorrect]
    return doc


def test_gold_without_a_label_is_an_error():
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=TINY)
    doc = nlp.make_doc("Ada met Bo")
    doc.spans["sc"] = [Span(doc, 0, 1, label="PER"), Span(doc, 2, 3)]
    with pytest.raises(
        ValueError, match=r"'Ada met Bo' has 'Bo' \(tokens 2 to 3\) without a label in doc.spans\['sc'\]"
    ):
        nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc)])


def test_gold_may_have_a_vocab_of_its_own():
    nlp, other = spacy.blank("en"), spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    examples = make_examples(nlp)
    gold = make_doc(other.vocab, SENTENCES[:1])
    gold.spans["sc"] += [Span(gold, 3, 4, label="WEA")]
    gold.spans["sc_incorrect"] = [Span(gold, 1, 2, label="VEH")]
    gold.spans["sc"].attrs["incomplete"] = True
    example = Example(make_doc(nlp.vocab, SENTENCES[:1], key=None), gold)
    with pytest.warns(UserWarning, match=r"1 have a label that the component does not know \(WEA 1\): add it to"):
        pipe.initialize(lambda: [*examples, example], labels=["PER", "GPE", "ORG", "FAC"])
    losses = nlp.update([example])
    assert losses["nested_ner"] > 0


def test_gold_is_aligned_and_what_does_not_align_is_counted():
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=TINY)
    reference = Doc(nlp.vocab, words=["New", "York-based", "firm"], spaces=[True, True, False])
    reference.spans["sc"] = [Span(reference, 0, 3, label="ORG"), Span(reference, 1, 2, label="GPE")]
    predicted = Doc(nlp.vocab, words=["New York-", "based", "firm"], spaces=[False, True, False])
    with pytest.warns(UserWarning, match=r"1 do not begin and end with a token \(GPE 1\)"):
        nlp.initialize(lambda: [Example(predicted, reference)])


def test_missing_annotation_gives_no_gradient_and_empty_annotation_does(nlp):
    pipe = nlp.get_pipe("nested_ner")
    for key, has_gradient in ((None, False), ("sc", True)):
        reference = make_doc(nlp.vocab, [("Nobody spoke .", [])], key)
        example = Example(plain(nlp, [("Nobody spoke .", [])]), reference)
        _, gradient = pipe.get_loss([example], pipe.scores([example.x]))
        assert gradient.any() == has_gradient


def test_in_incomplete_docs_a_span_that_is_not_listed_may_be_a_mention(beginner, monkeypatch):
    """The higher the missing rate, the less is learned against it."""
    pipe = beginner.get_pipe("nested_ner")
    place = pipe.labels.index("GPE")

    def learned(incomplete):
        _, gradient = loss_and_gradient(beginner, bonn(beginner, [(0, 3, "PER")], incomplete=incomplete))
        return gradient.values[place, gradient.layout.cell(0, 2, 3)]

    assert learned(None) == learned(False) > learned(0.01) > learned(True) == learned(0.5) > learned(0.9)
    assert learned(0.9) > learned(1)
    monkeypatch.setitem(pipe.cfg, "missing_rate", 0.01)
    assert learned(True) == learned(0.01)


def test_incorrect_spans_without_any_known_mention(beginner, monkeypatch):
    """Not this label here, or none at all; with a missing rate of 1, that is all that is learned."""
    pipe = beginner.get_pipe("nested_ner")
    monkeypatch.setitem(pipe.cfg, "missing_rate", 1.0)
    for label, wrong in (("GPE", [pipe.labels.index("GPE")]), ("", range(len(pipe.labels)))):
        loss, gradient = loss_and_gradient(beginner, bonn(beginner, None, incorrect=[(2, 3, label)]))
        assert loss > 0
        column = gradient.values[:, gradient.layout.cell(0, 2, 3)]
        assert all((column[t] > 0) == (t in wrong) for t in range(len(pipe.labels)))


def test_incorrect_spans_change_nothing_in_complete_docs(nlp):
    plain_loss, _ = loss_and_gradient(nlp, bonn(nlp, [(0, 3, "PER")]))
    with_incorrect, _ = loss_and_gradient(nlp, bonn(nlp, [(0, 3, "PER")], incorrect=[(2, 3, "GPE"), (0, 1, "")]))
    assert plain_loss == with_incorrect


def test_incorrect_spans_that_cannot_be_predicted_are_ignored():
    nlp = trained({"max_span_length": 6}, steps=2)
    pipe = nlp.get_pipe("nested_ner")
    words = "He left . He saw the mayor of the old city of Ghent .".split()
    reference = Doc(nlp.vocab, words=words, spaces=[True] * 14)
    spans = [(3, 4, "PER"), (5, 13, "PER"), (2, 4, "PER"), (12, 13, "GPE"), (3, 4, "WEA")]
    reference.spans["sc_incorrect"] = [Span(reference, *span) for span in spans]
    # "of Ghent" is one token: "Ghent" cannot be a mention.
    predicted = Doc(
        nlp.vocab,
        words=[*words[:11], "of Ghent", "."],
        spaces=[True] * 13,
        sent_starts=[True, False, False, True, *[False] * 9],
    )
    first, second = pipe.gold_reader().read(Example(predicted, reference), pipe.segments(predicted), pipe.decoder)
    assert first == ([], [], 0.5)
    assert second == ([], [(0, 1, pipe.labels.index("PER"))], 0.5)


@pytest.mark.parametrize("label, where", [("PER", "too"), ("", "without a label, which means all labels")])
@pytest.mark.parametrize("incomplete", [True, None])
def test_a_mention_cannot_be_both_right_and_wrong(nlp, label, where, incomplete):
    doc = bonn(nlp, [(0, 3, "PER")], incorrect=[(0, 3, label)], incomplete=incomplete)
    message = (
        r"the doc 'Fabian from Bonn slept \. ' has 'Fabian from Bonn' \(tokens 0 to 3\) with label 'PER' in "
        rf"doc\.spans\['sc'\].* and in doc\.spans\['sc_incorrect'\] {where}, .*remove it from one of them"
    )
    with pytest.raises(ValueError, match=message):
        loss_and_gradient(nlp, doc)


@pytest.mark.parametrize("value", [0, -0.5, 1.5, "yes", float("nan")])
def test_what_a_doc_says_of_its_annotation_is_checked(nlp, value):
    with pytest.raises(ValueError, match=r"attrs\['incomplete'\] of the doc 'Fabian.* is .*; expected True, False, or"):
        loss_and_gradient(nlp, bonn(nlp, [], incomplete=value))


def test_another_key_for_incorrect_spans():
    pipe = spacy.blank("en").add_pipe("nested_ner", config={"spans_key": "mentions"})
    assert pipe.incorrect_key == "mentions_incorrect"
    nlp = trained({"incorrect_spans_key": "wrong"}, steps=2)
    doc = bonn(nlp, None)
    doc.spans["wrong"] = [Span(doc, 2, 3, "GPE")]
    assert loss_and_gradient(nlp, doc)[0] > 0
    assert loss_and_gradient(nlp, bonn(nlp, None, incorrect=[(2, 3, "GPE")]))[0] == 0


@pytest.mark.parametrize("incomplete, expect", [(False, 0.5), (0.5, 1.0)])
def test_the_missing_rate_explains_mentions_that_were_left_out(incomplete, expect, tmp_path):
    """Half of the docs lack a mention. If that is what the missing rate says, it is one in all of them. Through a
    file, as in training."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    docs = [bonn(nlp, [(0, 3, "PER"), (2, 3, "GPE")][:n], incomplete=incomplete) for n in (1, 2)]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    read = list(DocBin().from_disk(tmp_path / "train.spacy").get_docs(nlp.vocab))
    assert [doc.spans["sc"].attrs["incomplete"] for doc in read] == [incomplete] * 2
    train(nlp, [Example(bonn(nlp, None), doc) for doc in read], steps=150)
    marginals = pipe.scores([bonn(nlp, None)]).at(1.0).marginals
    assert marginals.values[pipe.labels.index("GPE"), marginals.layout.cell(0, 2, 3)] == pytest.approx(expect, abs=0.05)
