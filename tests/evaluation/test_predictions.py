"""What a pipeline finds in documents with gold mentions."""

import pytest
import spacy
from nested_examples import SENTENCES, found, make_doc, make_examples, train
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from spacy_nested_ner.corpus import Record
from spacy_nested_ner.decoders import Mention
from spacy_nested_ner.evaluation import measure, predict

SPANCAT = {"suggester": {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": 5}, "threshold": 0.6}


@pytest.fixture
def nlp(folder):
    return spacy.load(folder / "model")


def records(nlp, n=1):
    return [Record(make_doc(nlp.vocab, SENTENCES), f"document {number}") for number in range(n)]


def test_the_network_runs_once_per_batch(nlp, count_calls):
    nlp.batch_size = 2
    calls = count_calls(nlp.get_pipe("nested_ner"))
    judged = predict(nlp, records(nlp, 5))
    assert calls == [2, 2, 1]
    assert [each.where for each in judged] == [f"document {number}" for number in range(5)]
    assert all(len(each.at) == 19 and each.probabilities and each.segments for each in judged)


@pytest.mark.slow
def test_the_network_of_spancat_runs_once_per_batch(count_calls):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("spancat", config=SPANCAT)
    train(nlp, make_examples(nlp), steps=12)
    nlp.batch_size = 2
    calls = count_calls(pipe)
    judged = predict(nlp, records(nlp, 3))
    assert calls == [2, 1]
    assert pipe.cfg["threshold"] == 0.6
    for threshold in (0.3, 0.6, 0.7):
        pipe.cfg["threshold"] = threshold
        assert sorted(judged[0].at[threshold]) == found(nlp(make_doc(nlp.vocab, SENTENCES, key=None)))
    assert judged[0].found == judged[0].at[0.6]


def test_what_is_found_at_a_threshold_is_what_the_component_finds(nlp):
    [each] = predict(nlp, records(nlp), gold_tokens=True, thresholds=[0.2, 0.7])
    pipe = nlp.get_pipe("nested_ner")
    for threshold in (0.2, 0.7):
        pipe.cfg["threshold"] = threshold
        doc = nlp(make_doc(nlp.vocab, SENTENCES, key=None))
        assert sorted(each.at[threshold]) == found(doc)
        assert list(each.at[threshold].values()) == pytest.approx(list(doc.spans["sc"].attrs["scores"]), rel=1e-6)
    assert each.at[0.2] != each.at[0.7]


@pytest.mark.parametrize("threshold", [None, 0.3])
def test_the_settings_of_the_pipeline_are_used_and_kept(nlp, threshold):
    pipe = nlp.get_pipe("nested_ner")
    pipe.cfg["threshold"], pipe.cfg["temperature"] = threshold, 2.0
    [each] = predict(nlp, records(nlp), gold_tokens=True)
    assert (pipe.cfg["threshold"], pipe.cfg["temperature"]) == (threshold, 2.0)
    doc = nlp(make_doc(nlp.vocab, SENTENCES, key=None))
    assert sorted(each.found) == found(doc)
    assert sorted(each.found.values()) == pytest.approx(sorted(doc.spans["sc"].attrs["scores"].tolist()), rel=1e-6)


@Language.component("test_predictions_merge")
def merge(doc):
    """Every two tokens become one."""
    with doc.retokenize() as retokenizer:
        for start in range(0, len(doc) - 1, 2):
            retokenizer.merge(doc[start : start + 2])
    return doc


@Language.component("test_predictions_drop")
def drop(doc):
    """Only the first mention stays."""
    group = doc.spans["sc"]
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=list(group)[:1], attrs={"scores": group.attrs["scores"][:1]})
    return doc


def test_later_components_change_what_is_found_but_not_what_the_component_knows(nlp):
    [before] = predict(nlp, records(nlp), gold_tokens=True)
    nlp.add_pipe("test_predictions_drop")
    nlp.add_pipe("test_predictions_merge")
    [after] = predict(nlp, records(nlp), gold_tokens=True)
    assert len(after.found) + after.unaligned == 1 < len(before.found)
    assert (after.at, after.probabilities, after.segments) == (before.at, before.probabilities, before.segments)


def test_a_component_that_cleans_up_does_not_run(nlp):
    nlp.add_pipe("doc_cleaner", config={"attrs": {"tensor": None}})
    assert predict(nlp, records(nlp)) == predict(nlp, records(nlp))
    assert nlp.pipe_names == ["nested_ner", "doc_cleaner"]


def test_documents_without_gold_or_tokens_are_left_out(nlp):
    empty = Doc(nlp.vocab)
    empty.spans["sc"] = []
    others = [Record(empty, "empty"), Record(make_doc(nlp.vocab, SENTENCES, key=None), "no gold")]
    assert [each.where for each in predict(nlp, [*others, *records(nlp)])] == ["document 0"]
    assert predict(nlp, others) == []


def test_probabilities_of_gold_are_those_of_the_component(folder):
    nlp = spacy.load(folder / "model")
    [each] = predict(nlp, [Record(make_doc(nlp.vocab, SENTENCES), "here")])
    assert set(each.probabilities) == each.gold
    both = each.gold & set(each.found)
    assert both
    for mention in both:
        assert each.probabilities[mention] == pytest.approx(each.found[mention], abs=1e-6)


def test_segments_are_counted_in_tokens_of_the_gold():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("nested_ner", config={})
    reference = Doc(nlp.vocab, words=["Bonn.", "Ghent", "-based", "."], spaces=[True, False, False, False])
    reference.spans["sc"] = [Span(reference, 1, 2, label="GPE")]
    nlp.initialize(lambda: [Example(nlp.make_doc(reference.text), reference)])
    [each] = predict(nlp, [Record(reference, "here")], thresholds=())
    assert [segment[:2] for segment in each.segments] == [(0, 1), (1, 4)]


def test_other_tokens_than_those_of_the_gold(folder):
    """The pipeline's own tokenizer is used, and what it found is brought back to the tokens of the gold."""
    nlp = spacy.load(folder / "model")
    words = ["The", "army", "of", "Ger", "many", "left", "Ghent."]
    doc = Doc(nlp.vocab, words=words, spaces=[word not in ("Ger", "Ghent.") for word in words])
    doc.spans["sc"] = [Span(doc, 0, 5, label="ORG"), Span(doc, 3, 5, label="GPE")]
    [each] = predict(nlp, [Record(doc, "here")], thresholds=[0.5])
    scores = nlp.evaluate([Example(nlp.make_doc(doc.text), doc)])
    numbers = measure([each])["scores"]["all"]
    assert (numbers["p"], numbers["r"]) == (scores["spans_sc_p"], scores["spans_sc_r"])
    assert Mention(3, 5, "GPE") in each.probabilities
    assert each.unaligned + len(each.found) == len(nlp(doc.text).spans["sc"])


@Language.component("test_report_capitals")
def capitals(doc):
    """Every capitalised word is a mention, with a score by its length."""
    spans = [Span(doc, token.i, token.i + 1, label="GPE") for token in doc if token.is_title]
    scores = [min(1.0, len(span.text) / 10) for span in spans]
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=spans, attrs={"scores": scores})
    return doc


def test_a_component_without_threshold_is_filtered_by_its_scores():
    nlp = spacy.blank("en")
    nlp.add_pipe("test_report_capitals")
    [each] = predict(nlp, [Record(make_doc(nlp.vocab, SENTENCES), "here")], thresholds=[0.5, 0.7])
    assert {each.words[mention.start] for mention in each.at[0.7]} == {"Germany"}
    assert set(each.at[0.7]) < set(each.at[0.5]) < set(each.found)


def test_spancat_that_finds_nothing_writes_no_scores():
    """A suggester may have nothing to suggest."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("spancat", config=SPANCAT)
    train(nlp, make_examples(nlp), steps=1)
    pipe.suggester = spacy.registry.misc.get("spacy.ngram_suggester.v1")([1000])
    [each] = predict(nlp, records(nlp), thresholds=[0.5])
    assert (each.found, each.at) == ({}, {0.5: {}})


def test_one_label_per_span():
    """spancat_singlelabel has no threshold, and writes arrays of one number."""
    nlp = spacy.blank("en")
    nlp.add_pipe("spancat_singlelabel", config={"suggester": SPANCAT["suggester"]})
    train(nlp, make_examples(nlp), steps=30)
    [each] = predict(nlp, records(nlp), thresholds=[0.5, 0.9])
    assert each.found
    assert all(0 <= probability <= 1 for probability in each.found.values())
    assert each.at[0.9] == {mention: p for mention, p in each.found.items() if p >= 0.9}
