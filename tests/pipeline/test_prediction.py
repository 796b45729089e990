"""From scores to mentions with probabilities: thresholds, temperatures, segments."""

import numpy as np
import pytest
import spacy
from nested_examples import SENTENCES, TINY, found, make_examples, plain, trained
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, QuadraticDecoder
from spacy_nested_ner.pipeline.prediction import ScoredDocs


def test_every_mention_has_its_probability(nlp):
    doc = nlp.get_pipe("nested_ner")(plain(nlp, SENTENCES[:2]))
    group = doc.spans["sc"]
    assert len(group.attrs["scores"]) == len(group)
    assert ((group.attrs["scores"] > 0.5) & (group.attrs["scores"] <= 1)).all()
    assert -5 < group.attrs["log_probability"] <= 0
    assert group.attrs["entropy"] >= 0
    # An analysis is no more probable than any of its mentions.
    assert np.exp(group.attrs["log_probability"]) <= group.attrs["scores"].min() + 1e-6
    again = next(DocBin(docs=[doc]).get_docs(nlp.vocab))
    np.testing.assert_allclose(again.spans["sc"].attrs["scores"], group.attrs["scores"])


def test_probabilities_are_the_decoders_own(nlp):
    pipe = nlp.get_pipe("nested_ner")
    doc = plain(nlp, SENTENCES[:1])
    pipe(doc)
    scores = pipe.scores([doc]).packed()
    assert doc.spans["sc"].attrs["entropy"] == pytest.approx(pipe.decoder.entropy(scores)[0], abs=1e-4)
    marginals = pipe.decoder.marginals(scores)
    for span, probability in zip(doc.spans["sc"], doc.spans["sc"].attrs["scores"]):
        cell = scores.layout.cell(0, span.start, span.end)
        assert probability == pytest.approx(marginals.values[pipe.labels.index(span.label_), cell])


def test_scores_are_those_the_prediction_is_made_of(nlp):
    """What `scores` gives, decoded by hand, is what `predict` gives."""
    pipe = nlp.get_pipe("nested_ner")
    docs = [plain(nlp, SENTENCES[:2]), plain(nlp, SENTENCES[3:4])]
    scored = pipe.scores(docs)
    assert scored.segments == [[(0, 8), (8, 16)], [(0, 11)]]
    by_hand = pipe.decoder.decode(scored.packed())
    starts = [(k, start) for k, segments in enumerate(scored.segments) for start, _ in segments]
    shifted = [
        {(k, m.start + start, m.end + start, m.label) for m in mentions}
        for (k, start), mentions in zip(starts, by_hand)
    ]
    predicted = {(k, *mention) for k, prediction in enumerate(pipe.predict(docs)) for mention in prediction.mentions}
    assert predicted == set().union(*shifted)
    assert len(predicted) > 8


def test_a_threshold_trades_precision_for_recall_inside_the_search_space(nlp):
    pipe = nlp.get_pipe("nested_ner")
    sizes = []
    try:
        for threshold in (0.0, 0.02, 0.5, 0.9, 1.0):
            pipe.cfg["threshold"] = threshold
            doc = pipe(plain(nlp, SENTENCES))
            sizes.append(len(doc.spans["sc"]))
            for sentence in doc.sents:
                inside = [
                    (s.start - sentence.start, s.end - sentence.start, s.label_)
                    for s in doc.spans["sc"]
                    if sentence.start <= s.start < sentence.end
                ]
                assert pipe.decoder.contains(inside, len(sentence))
    finally:
        pipe.cfg["threshold"] = None
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[2] > sizes[4] == 0


def test_temperature_changes_probabilities_and_not_the_best_analysis(nlp):
    pipe = nlp.get_pipe("nested_ner")
    docs = []
    try:
        for temperature in (0.5, 1.0, 2.0):
            pipe.cfg["temperature"] = temperature
            docs.append(pipe(plain(nlp, SENTENCES)))
        assert found(docs[0]) == found(docs[1]) == found(docs[2]) != []
        cold, middle, hot = (doc.spans["sc"].attrs for doc in docs)
        assert cold["entropy"] < middle["entropy"] < hot["entropy"]
        assert cold["log_probability"] > middle["log_probability"] > hot["log_probability"]
        assert (cold["scores"] > hot["scores"]).all()
        # A mention of low probability passes a low threshold when the component is made less certain.
        pipe.cfg["threshold"] = 0.02
        sizes = []
        for temperature in (0.5, 4.0):
            pipe.cfg["temperature"] = temperature
            sizes.append(len(pipe(plain(nlp, SENTENCES)).spans["sc"]))
        assert sizes[0] < sizes[1]
    finally:
        pipe.cfg["threshold"], pipe.cfg["temperature"] = None, 1.0


def test_thresholds_and_temperatures_of_one_call():
    nlp = trained(steps=30)
    pipe = nlp.get_pipe("nested_ner")
    docs = [plain(nlp, SENTENCES[:3]), plain(nlp, SENTENCES[3:])]
    expect = {}
    for threshold, temperature in ((None, 1.0), (0.02, 1.0), (0.02, 4.0), (None, 0.5)):
        pipe.cfg["threshold"], pipe.cfg["temperature"] = threshold, temperature
        expect[threshold, temperature] = pipe.predict(docs)
    pipe.cfg["threshold"], pipe.cfg["temperature"] = 1.0, 3.0
    scored = pipe.scores(docs)
    for (threshold, temperature), predictions in expect.items():
        assert pipe.predict(docs, threshold=threshold, temperature=temperature) == predictions
        assert scored.predict(threshold=threshold, temperature=temperature) == predictions
    assert len({len(predictions[0].mentions) for predictions in expect.values()}) > 1
    assert pipe.predict(docs, threshold=None)[0].mentions != pipe.predict(docs)[0].mentions


def test_no_prediction_is_ill_formed_whatever_the_weights():
    for decoder in (FlatDecoder(), QuadraticDecoder(), CubicDecoder()):
        nlp = spacy.blank("en")
        pipe = nlp.add_pipe("nested_ner", config=TINY)
        nlp.initialize(lambda nlp=nlp: make_examples(nlp))
        pipe.decoder = decoder
        random = np.random.default_rng(0)
        scorer = pipe.model.get_ref("scorer")
        for _ in range(15):
            scorer.set_param("W", random.normal(scale=3, size=scorer.get_param("W").shape).astype("float32"))
            doc = pipe(plain(nlp, SENTENCES))
            for sentence in doc.sents:
                spans = [s for s in doc.spans["sc"] if sentence.start <= s.start < sentence.end]
                assert all(s.end <= sentence.end for s in spans)
                mentions = [(s.start - sentence.start, s.end - sentence.start, s.label_) for s in spans]
                assert decoder.contains(mentions, len(sentence))


def test_docs_without_sentences_are_one_segment(nlp):
    pipe = nlp.get_pipe("nested_ner")
    words = [word for text, _ in SENTENCES[:2] for word in text.split()]
    doc = pipe(Doc(nlp.vocab, words=words))
    assert pipe.decoder.contains(found(doc), len(doc))
    assert pipe.segments(Doc(nlp.vocab, words=words)) == [(0, len(words))]
    assert pipe.segments(plain(nlp, SENTENCES[:2])) == [(0, 8), (8, 16)]
    pipe.cfg["use_sentences"] = False
    try:
        assert pipe.segments(plain(nlp, SENTENCES[:2])) == [(0, 16)]
    finally:
        pipe.cfg["use_sentences"] = True


def test_a_long_doc_equals_its_sentences_where_no_mention_crosses(nlp):
    """The encoder reads whole docs, and the score of a span does not depend on the segments: without sentences there
    are only more spans."""
    pipe = nlp.get_pipe("nested_ner")
    doc = plain(nlp, SENTENCES * 20)
    bounds = pipe.segments(doc)
    sentence = np.repeat(np.arange(len(bounds)), [end - start for start, end in bounds])
    pipe.cfg["use_sentences"] = False
    try:
        scored = pipe.scores([doc])
    finally:
        pipe.cfg["use_sentences"] = True
    assert scored.segments == [[(0, len(doc))]]
    starts, ends = scored.scores.layout.starts_and_ends
    values = np.where(sentence[starts] == sentence[ends], scored.scores.values, np.float32(-np.inf))
    assert (values == -np.inf).any()
    whole = ScoredDocs(scored.decoder, scored.scores.like(values), scored.segments)
    for threshold in (None, 0.3):
        by_sentence = pipe.predict([doc], threshold=threshold)[0]
        at_once = whole.predict(threshold=threshold, temperature=1.0)[0]
        assert at_once.mentions == by_sentence.mentions
        assert len(at_once.mentions) > 100
        np.testing.assert_allclose(at_once.probabilities, by_sentence.probabilities, atol=1e-5)
        assert at_once.log_probability == pytest.approx(by_sentence.log_probability, rel=1e-4)
        assert at_once.entropy == pytest.approx(by_sentence.entropy, rel=1e-4)


def test_empty_docs_and_batches(nlp):
    pipe = nlp.get_pipe("nested_ner")
    empty = Doc(nlp.vocab)
    assert list(pipe.predict([])) == []
    for docs in ([empty], [empty, plain(nlp, SENTENCES[:1]), Doc(nlp.vocab)]):
        pipe.set_annotations(docs, pipe.predict(docs))
        assert all("sc" in doc.spans for doc in docs)
        assert len(docs[0].spans["sc"]) == 0
    example = Example(Doc(nlp.vocab), Doc(nlp.vocab))
    assert nlp.update([example])["nested_ner"] == 0
    nlp.evaluate([example])


def test_predict_does_not_touch_the_docs(nlp):
    doc = plain(nlp, SENTENCES[:2])
    nlp.get_pipe("nested_ner").predict([doc])
    assert "sc" not in doc.spans


@pytest.mark.slow
def test_long_documents_take_linear_memory(nlp):
    """100,000 tokens without a sentence boundary: nothing n × n fits anywhere."""
    pipe = nlp.get_pipe("nested_ner")
    words = [word for text, _ in SENTENCES for word in text.split()]
    words = (words * (100_000 // len(words) + 1))[:100_000]
    doc = pipe(Doc(nlp.vocab, words=words))
    assert len(doc.spans["sc"]) > 30_000


@pytest.mark.slow
def test_100_000_tokens_equal_their_sentences_unless_a_mention_crosses(nlp):
    pipe = nlp.get_pipe("nested_ner")
    n_copies = 100_000 // sum(len(text.split()) for text, _ in SENTENCES) + 1
    doc = plain(nlp, SENTENCES * n_copies)
    assert len(doc) >= 100_000
    by_sentence = pipe.predict([doc])[0].mentions
    bounds = pipe.segments(doc)
    pipe.cfg["use_sentences"] = False
    try:
        at_once = pipe.predict([doc])[0].mentions
    finally:
        pipe.cfg["use_sentences"] = True
    sentence = np.repeat(np.arange(len(bounds)), [end - start for start, end in bounds])
    crossed = {int(k) for m in at_once if sentence[m.start] < sentence[m.end - 1] for k in sentence[m.start : m.end]}
    assert len(crossed) < len(bounds) / 2
    # Sentences without a crossing mention are analyzed as if they were alone.
    kept = [m for m in at_once if sentence[m.start] not in crossed]
    assert kept == [m for m in by_sentence if sentence[m.start] not in crossed]
    assert len(kept) > 10_000


def test_every_doc_has_a_prediction_of_its_own(nlp):
    pipe = nlp.get_pipe("nested_ner")
    one, other = pipe.predict([Doc(nlp.vocab), Doc(nlp.vocab)])
    one.mentions.append("changed")
    assert other.mentions == pipe.predict([Doc(nlp.vocab)])[0].mentions == []


def test_docs_without_tokens_have_numbers_like_all_others(nlp):
    pipe = nlp.get_pipe("nested_ner")
    empty, full = pipe.predict([Doc(nlp.vocab), plain(nlp, SENTENCES[:1])])
    assert empty == ([], [], 0.0, 0.0)
    assert [type(number) for number in empty[2:]] == [type(number) for number in full[2:]] == [float, float]
    assert pipe.scores([]).predict(threshold=None, temperature=1.0) == []
    assert pipe.scores([Doc(nlp.vocab)]).predict(threshold=0.5, temperature=2.0) == [empty]


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf")])
def test_temperatures_of_a_call_are_checked(nlp, temperature):
    pipe = nlp.get_pipe("nested_ner")
    docs = [plain(nlp, SENTENCES[:1])]
    with pytest.raises(ValueError, match=r"temperature is .*; expected a number above 0"):
        pipe.predict(docs, temperature=temperature)
    with pytest.raises(ValueError, match=r"temperature is .*; expected a number above 0"):
        pipe.temperature = temperature
    assert pipe.temperature == 1.0


@pytest.mark.parametrize("threshold", [-0.1, 7, float("nan")])
def test_thresholds_of_a_call_are_checked(nlp, threshold):
    with pytest.raises(ValueError, match=r"threshold is .*; expected a number between 0 and 1"):
        nlp.get_pipe("nested_ner").predict([plain(nlp, SENTENCES[:1])], threshold=threshold)
