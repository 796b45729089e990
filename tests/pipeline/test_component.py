"""The pipe in a pipeline: everything a component of spaCy's own does."""

import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import spacy
from nested_examples import SENTENCES, TINY, found, make_doc, make_examples, train, trained
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.training import Example
from spacy.util import fix_random_seed, load_config_from_str, load_model_from_config
from thinc.api import SGD, Adam, Model, RAdam

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, QuadraticDecoder
from spacy_nested_ner.pipeline.component import NestedNER
from spacy_nested_ner.pipeline.factory import DEFAULT_CONFIG


@pytest.fixture(scope="module")
def nlp():
    return trained()


@pytest.fixture(scope="module")
def beginner():
    """It has hardly begun to learn: no probability is so near to 0 or 1 that a gradient is lost in rounding."""
    return trained(steps=2)


def expected(group):
    return found(make_doc(spacy.blank("en").vocab, group))


def plain(nlp, group):
    return make_doc(nlp.vocab, group, key=None)


def test_found_through_entry_points_in_a_fresh_process(tmp_path):
    program = (
        "import spacy; nlp = spacy.blank('en'); nlp.add_pipe('nested_ner'); "
        "from spacy import registry; "
        "[registry.architectures.get(f'spacy-nested-ner.{n}.v1') for n in "
        "('SpanScorer', 'BiaffineSpanScorer', 'BiLSTMEncoder')]; "
        "[registry.misc.get(f'spacy-nested-ner.{n}Decoder.v1') for n in ('Flat', 'Quadratic', 'Cubic', 'Auto')]; "
        "registry.readers.get('spacy-nested-ner.Corpus.v1'); "
        "registry.scorers.get('spacy-nested-ner.nested_ner_scorer.v1'); print('found')"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "found"


def test_works_where_there_is_no_torch(tmp_path):
    """Everything of ours but the BiLSTM, in a process that cannot import torch."""
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from spacy.vocab import Vocab\n"
        "from spacy.tokens import Doc\n"
        "from spacy.ml.models.tok2vec import build_hash_embed_cnn_tok2vec\n"
        "from spacy_nested_ner.pipeline.component import NestedNER\n"
        "from spacy_nested_ner.model.architectures import build_bilstm_encoder, build_span_scorer\n"
        "from spacy_nested_ner.pipeline.registry import make_quadratic_decoder\n"
        "tok2vec = build_hash_embed_cnn_tok2vec(width=8, depth=1, embed_size=50, window_size=1, maxout_pieces=2,\n"
        "                                       subword_features=False, pretrained_vectors=False)\n"
        "pipe = NestedNER(Vocab(), build_span_scorer(tok2vec, 8), make_quadratic_decoder())\n"
        "pipe.add_label('PER')\n"
        "pipe.model.set_dim('nO', 1)\n"
        "pipe.model.get_ref('scorer').set_dim('nO', 1)\n"
        "pipe.model.initialize()\n"
        "print(len(pipe(Doc(pipe.vocab, words=['a', 'b'])).spans['sc']))\n"
        "try:\n"
        "    build_bilstm_encoder(tok2vec)\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0] == "0"
    assert "BiLSTMEncoder.v1 needs PyTorch: pip install" in run.stdout


def test_importing_adds_little_to_spacy_and_no_torch(tmp_path):
    program = (
        "import sys, spacy; before = set(sys.modules); import spacy_nested_ner.pipeline.component; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [name for name in run.stdout.split() if not name.startswith("_cython")] == ["spacy_nested_ner"]


def test_defaults():
    pipe = spacy.blank("en").add_pipe("nested_ner")
    assert pipe.decoder == QuadraticDecoder()
    settings = {
        "spans_key": "sc",
        "incorrect_spans_key": None,
        "threshold": None,
        "label_smoothing": 0.0,
        "missing_rate": 0.5,
        "max_span_length": "auto",
        "use_sentences": True,
    }
    assert {name: pipe.cfg[name] for name in settings} == settings
    assert "SpanScorer.v1" in DEFAULT_CONFIG


def test_learns_nested_mentions(nlp):
    for k in range(0, len(SENTENCES), 2):
        group = SENTENCES[k : k + 2]
        assert found(nlp.get_pipe("nested_ner")(plain(nlp, group))) == expected(group)
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["spans_sc_f"] == 1
    assert scores["spans_sc_nested_f"] == 1


def test_probabilities_are_beside_the_mentions(nlp):
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


def test_training_knows_no_temperature(nlp):
    pipe = nlp.get_pipe("nested_ner")
    examples = make_examples(nlp)
    docs = [example.predicted for example in examples]
    losses = []
    try:
        for temperature in (1.0, 3.0):
            pipe.cfg["temperature"] = temperature
            losses.append(pipe.get_loss(examples, pipe.scores(docs))[0])
    finally:
        pipe.cfg["temperature"] = 1.0
    assert losses[0] == losses[1]


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


def test_long_documents_take_linear_memory(nlp):
    """100,000 tokens without a sentence boundary: nothing n × n fits anywhere."""
    pipe = nlp.get_pipe("nested_ner")
    words = [word for text, _ in SENTENCES for word in text.split()]
    words = (words * (100_000 // len(words) + 1))[:100_000]
    doc = pipe(Doc(nlp.vocab, words=words))
    assert len(doc.spans["sc"]) > 30_000


# ---- training ----


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


@pytest.mark.parametrize("optimizer", [Adam(0.01), RAdam(0.01), SGD(0.01)])
def test_a_learning_rate_of_its_own(optimizer):
    pipe = spacy.blank("en").add_pipe("nested_ner", config=TINY)
    moved = []
    for scale in (20.0, 1.0):
        pipe.cfg["learn_rate_scale"] = scale
        pipe.model = Model("weights", lambda *_: None, params={"W": np.zeros((1, 3), "f")})
        pipe.model.set_grad("W", np.ones((1, 3), "f"))
        pipe.finish_update(optimizer)
        moved.append(pipe.model.get_param("W"))
        assert optimizer.learn_rate == 0.01
    assert moved[1].all()
    np.testing.assert_allclose(moved[0], 20 * moved[1], rtol=1e-5)


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


def test_what_cannot_be_learned_is_said_once_with_numbers():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={**TINY, "max_span_length": 5, "decoder": {"max_short_child": 1}})
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
    assert "max_short_child = 2 or take CubicDecoder" in message
    assert pipe.labels


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


def test_labels_from_a_list_and_what_init_labels_saves(nlp):
    fresh = spacy.blank("en")
    pipe = fresh.add_pipe("nested_ner", config=TINY)
    assert nlp.get_pipe("nested_ner").label_data == ["PER", "GPE", "ORG", "FAC"]
    examples = make_examples(fresh)
    pipe.initialize(lambda: examples, labels=["ORG", "GPE", "PER", "FAC", "WEA"])
    assert pipe.labels == ("ORG", "GPE", "PER", "FAC", "WEA")
    assert pipe.model.get_dim("nO") == 5


def test_no_labels_is_an_error():
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config={**TINY, "spans_key": "mentions"})
    with pytest.raises(ValueError, match=r"no mention in doc.spans\['mentions'\].*set `spans_key`"):
        nlp.initialize(lambda: make_examples(nlp))


def test_labels_can_be_added_to_a_trained_model():
    nlp = trained()
    pipe = nlp.get_pipe("nested_ner")
    before = found(pipe(plain(nlp, SENTENCES)))
    assert pipe.add_label("PER") == 0
    assert pipe.add_label("WEA") == 1
    assert pipe.model.get_dim("nO") == 5
    assert found(pipe(plain(nlp, SENTENCES))) == before
    sentence = ("They found a sword .", [(2, 4, "WEA")])
    example = Example(plain(nlp, [sentence]), make_doc(nlp.vocab, [sentence]))
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.01
    for _ in range(60):
        nlp.update([example, *make_examples(nlp)], sgd=optimizer)
    assert found(pipe(plain(nlp, [sentence]))) == [(2, 4, "WEA")]
    with pytest.raises(ValueError, match="E187"):
        pipe.add_label(3)


def test_dropout_changes_the_loss_of_a_batch_and_nothing_that_is_predicted():
    nlp = trained(steps=2)
    pipe = nlp.get_pipe("nested_ner")
    examples = make_examples(nlp)
    before = pipe.scores([plain(nlp, SENTENCES)]).packed().values

    def loss(drop):
        fix_random_seed(0)
        return pipe.update(examples, drop=drop)["nested_ner"]

    assert loss(0.0) == loss(0.0) != loss(0.5) == loss(0.5)
    np.testing.assert_array_equal(pipe.scores([plain(nlp, SENTENCES)]).packed().values, before)


def test_rehearsing_leaves_a_component_that_cannot_rehearse_alone():
    nlp = trained(steps=2)
    weights = nlp.get_pipe("nested_ner").model.to_bytes()
    optimizer = nlp.resume_training()
    assert nlp.rehearse(make_examples(nlp), sgd=optimizer) == {}
    assert nlp.get_pipe("nested_ner").model.to_bytes() == weights


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


def test_an_update_segments_every_doc_once(monkeypatch):
    nlp = trained(steps=2)
    pipe = nlp.get_pipe("nested_ner")
    segmented = []
    segments = NestedNER.segments
    monkeypatch.setattr(NestedNER, "segments", lambda self, doc: segmented.append(doc) or segments(self, doc))
    examples = make_examples(nlp)
    pipe.update(examples)
    assert len(segmented) == len(examples)


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


def test_labels_with_braces_are_reported_as_they_are():
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=TINY)
    sentence = ("New York City Council met .", [(0, 3, "{limit}"), (2, 4, "{x:>99999999}")])
    example = Example(plain(nlp, [sentence]), make_doc(nlp.vocab, [sentence]))
    with pytest.warns(UserWarning, match=r"outside the search space .* \(\{limit\} 1\)|\(\{x:>99999999\} 1\)"):
        nlp.initialize(lambda: [example])


def test_another_spans_key_must_be_in_the_score_weights():
    config = {**TINY, "spans_key": "mentions"}
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=config)
    with pytest.warns(UserWarning, match=r"does not name spans_mentions_f: its column would stay at 0\.00"):
        nlp.initialize(lambda: make_examples(nlp, "mentions"))
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=config)
    nlp.config["training"]["score_weights"] = {"spans_mentions_f": 1.0}
    train(nlp, make_examples(nlp, "mentions"), steps=60)
    scores = nlp.evaluate(make_examples(nlp, "mentions"))
    assert scores["spans_mentions_f"] > 0.9


@pytest.mark.parametrize(
    "setting, value, message",
    [
        ("threshold", 1.5, r"threshold is 1\.5; expected a number between 0 and 1"),
        ("temperature", 0.0, r"temperature is 0\.0; expected a number above 0"),
        ("label_smoothing", -0.1, r"label_smoothing is -0\.1"),
        ("incorrect_spans_key", "sc", "spans_key and incorrect_spans_key are both 'sc'; .* null for 'sc_incorrect'"),
        ("missing_rate", 0.0, r"missing_rate is 0\.0; expected a number above 0 and up to 1"),
        ("missing_rate", 1.5, r"missing_rate is 1\.5"),
        ("max_span_length", 0, "max_span_length is 0; expected 1 or more"),
    ],
)
def test_settings_are_checked(setting, value, message):
    with pytest.raises(ValueError, match=message):
        spacy.blank("en").add_pipe("nested_ner", config={setting: value})


@pytest.mark.parametrize("name", ["Flat", "Quadratic", "Cubic"])
def test_every_decoder_trains(name):
    decoder = {"@misc": f"spacy-nested-ner.{name}Decoder.v1"}
    if name == "Flat":
        with pytest.warns(UserWarning, match="take QuadraticDecoder"):
            nlp = trained({"decoder": decoder})
    else:
        nlp = trained({"decoder": decoder})
    assert nlp.evaluate(make_examples(nlp))["spans_sc_p"] == 1


def test_several_labels_on_a_span():
    sentence = ("Brussels agreed .", [(0, 1, "GPE"), (0, 1, "ORG")])
    decoder = {"@misc": "spacy-nested-ner.QuadraticDecoder.v1", "multi_label": True}
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={**TINY, "decoder": decoder})
    examples = [Example(plain(nlp, [sentence]), make_doc(nlp.vocab, [sentence])), *make_examples(nlp)]
    train(nlp, examples)
    assert found(pipe(plain(nlp, [sentence]))) == [(0, 1, "GPE"), (0, 1, "ORG")]


# ---- saving and sharing ----


def same(nlp, other):
    docs = [plain(nlp, SENTENCES[:4]), plain(nlp, SENTENCES)]
    others = [plain(other, SENTENCES[:4]), plain(other, SENTENCES)]
    return [found(nlp.get_pipe("nested_ner")(d)) for d in docs] == [
        found(other.get_pipe("nested_ner")(d)) for d in others
    ]


def test_to_and_from_disk_bytes_and_pickle(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    pipe = loaded.get_pipe("nested_ner")
    assert isinstance(pipe, NestedNER)
    assert pipe.span_limit == nlp.get_pipe("nested_ner").span_limit == 6
    assert same(nlp, loaded)
    fresh = load_model_from_config(nlp.config, auto_fill=True)
    assert same(nlp, fresh.from_bytes(nlp.to_bytes()))
    assert same(nlp, pickle.loads(pickle.dumps(nlp)))


def test_damaged_or_mismatching_files(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    model = tmp_path / "pipeline" / "nested_ner" / "model"
    whole = model.read_bytes()
    model.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cannot load the component 'nested_ner' from .*damaged"):
        spacy.load(tmp_path / "pipeline")
    model.write_bytes(whole)
    cfg = tmp_path / "pipeline" / "nested_ner" / "cfg"
    cfg.write_text(cfg.read_text().replace('"FAC"', '"FAC","WEA"', 1))
    with pytest.raises(ValueError, match="has 5 labels in its cfg, but a model for 4"):
        spacy.load(tmp_path / "pipeline")


def test_processes_and_threads(nlp):
    docs = [plain(nlp, SENTENCES[k % 5 : k % 5 + 2]) for k in range(24)]
    expect = [found(nlp.get_pipe("nested_ner")(plain(nlp, SENTENCES[k % 5 : k % 5 + 2]))) for k in range(24)]
    assert [found(doc) for doc in nlp.pipe(docs, n_process=2, batch_size=4)] == expect
    results: list = [None] * 4

    def work(k):
        fresh = [plain(nlp, SENTENCES[j % 5 : j % 5 + 2]) for j in range(24)]
        results[k] = [found(doc) for doc in nlp.pipe(fresh)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expect] * 4


SHARED = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "sentencizer", "nested_ner"]

[components]

[components.sentencizer]
factory = "sentencizer"

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 32
depth = 1
embed_size = 200
window_size = 1
maxout_pieces = 2
subword_features = true

[components.nested_ner]
factory = "nested_ner"

[components.nested_ner.model]
@architectures = "spacy-nested-ner.SpanScorer.v1"

[components.nested_ner.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 32
"""


def test_shared_tok2vec_frozen_annotating_and_replaced_listeners():
    nlp = load_model_from_config(load_config_from_str(SHARED), auto_fill=True)
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(80):
        nlp.update(examples, sgd=optimizer, annotates=["sentencizer"])
    assert nlp.evaluate(examples)["spans_sc_f"] > 0.9
    before = [found(nlp(plain(nlp, SENTENCES)))]
    nlp.replace_listeners("tok2vec", "nested_ner", ["model.tok2vec"])
    assert [found(nlp(plain(nlp, SENTENCES)))] == before
    weights = nlp.get_pipe("nested_ner").model.get_ref("scorer").get_param("W").copy()
    nlp.update(examples, sgd=optimizer, exclude=["nested_ner"])
    np.testing.assert_array_equal(weights, nlp.get_pipe("nested_ner").model.get_ref("scorer").get_param("W"))


def test_a_tok2vec_that_nothing_listens_to_is_told():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("nested_ner", config=TINY)
    with pytest.warns(
        UserWarning, match=r"the pipeline has tok2vec, but no component listens to it: .* or leave tok2vec"
    ):
        nlp.initialize(lambda: make_examples(nlp))
