"""What is appended to token vectors: against its definition, and its gradient, and through saving and loading."""

import layers
import numpy as np
import pytest
import spacy
from nested_examples import make_examples, trained
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nested_ner.model import words
from spacy_nested_ner.model.architectures import build_span_scorer

WIDTH = 4
VOCAB = spacy.blank("en").vocab
TEXTS = ["The cat saw the other cat .", "", "Cat", "a " + "x" * 500]


def make_docs():
    return [Doc(VOCAB, words=text.split()) for text in TEXTS]


def tok2vec():
    return layers.vectors_as_params(layers.random_vectors(sum(len(doc) for doc in make_docs()), width=WIDTH))


def make(width=3, same_words=True):
    model = words.with_words(tok2vec(), subword_width=width, subword_rows=50, same_words=same_words)
    model.initialize(X=make_docs())
    return model


def whole(vectors):
    """One row per token."""
    return np.hstack((vectors.own, vectors.shared[vectors.numbers]))


SETTINGS = [(3, True), (3, False), (0, True)]


@pytest.mark.parametrize("width, same_words", SETTINGS)
def test_output_is_as_defined(width, same_words):
    model, docs = make(width, same_words), make_docs()
    given, E = model.layers[0].predict(docs), model.get_param("E")
    outputs = model.ops.unflatten(whole(model.predict(docs)), [len(doc) for doc in docs])
    for doc, vectors, output in zip(docs, given, outputs, strict=True):
        assert output.shape == (len(doc), model.get_dim("nO"))
        for token in doc:
            same = [vectors[other.i] for other in doc if other.lower_ == token.lower_]
            grams = E[words.rows_of_word(token.lower_, len(E))]
            expected = [vectors[token.i], *([np.mean(same, axis=0)] if same_words else []), grams.mean(axis=0)]
            np.testing.assert_allclose(output[token.i], np.concatenate(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("width, same_words", SETTINGS)
@pytest.mark.parametrize("param", ["X", "E"])
def test_gradient(width, same_words, param):
    # The output is linear in the vectors and in the embedding, so finite differences are exact for any step.
    model, docs = make(width, same_words), make_docs()
    owner = model.layers[0] if param == "X" else model
    random = np.random.default_rng(1)
    before, backprop = model.begin_update(docs)
    weights = random.normal(size=whole(before).shape).astype("float32")
    d_shared = np.zeros_like(before.shared)
    np.add.at(d_shared, before.numbers, weights[:, WIDTH:])
    backprop(words.TokenVectors(weights[:, :WIDTH], d_shared, before.numbers))
    value = owner.get_param(param)
    gradient = owner.get_grad("X") if param == "X" else model.shims[0].gradient(model, "E")
    step = random.normal(size=value.shape).astype("float32")
    owner.set_param(param, value + step)
    change = (weights * (whole(model.predict(docs)) - whole(before))).sum()
    assert (gradient * step).sum() == pytest.approx(change, rel=1e-3, abs=1e-3)
    assert gradient.any() == bool(value.size)


def test_no_docs_and_only_empty_ones():
    model = make()
    empty = Doc(VOCAB)
    model.layers[0].set_param("X", np.zeros((0, WIDTH), dtype="float32"))
    for docs in ([empty, empty], []):
        assert whole(model.predict(docs)).shape == (0, model.get_dim("nO"))


def test_a_word_of_several_docs_is_looked_up_once(monkeypatch):
    model, looked_up = make(), []
    rows_of_word = words.rows_of_word
    monkeypatch.setattr(words, "rows_of_word", lambda *args: looked_up.append(args[0]) or rows_of_word(*args))
    vectors = model.predict(make_docs())
    assert sorted(looked_up) == sorted({word.lower() for text in TEXTS for word in text.split()})
    assert len(vectors.shared) == sum(len(set(text.lower().split())) for text in TEXTS)


def test_docs_of_two_vocabs():
    one, other = (spacy.blank("en") for _ in range(2))
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner")
    docs = [Doc(one.vocab, words=["usual"]), Doc(other.vocab, words=["qwertz", "a"])]
    pipe.add_label("PER")
    pipe.initialize(lambda: [Example(doc, doc) for doc in docs])
    together, alone = pipe.scores(docs).packed(), pipe.scores(docs[1:]).packed()
    np.testing.assert_allclose(together.of_segment(1), alone.values, atol=1e-5)


def test_rows_of_a_word():
    # "<a>" is all there is of it, as an n-gram and as the whole word.
    assert len(words.rows_of_word("a", 1000)) == 2
    assert len(words.rows_of_word("cats", 1000)) == (4 + 3 + 2) + 1
    assert len(words.rows_of_word("x" * 10_000, 1000)) == (40 + 39 + 38) + 1
    assert words.rows_of_word("cats", 7).max() < 7


@pytest.mark.parametrize("settings", [{"subword_width": -1}, {"subword_rows": 0}])
def test_bad_settings(settings):
    with pytest.raises(ValueError, match=r"subword_width = .* subword_rows = .* expected .* set subword_width = 0"):
        build_span_scorer(tok2vec(), **settings)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"subword_width": 0}, {"same_words": False}, {"neighbor_width": 8}])
def test_pipelines_are_saved_and_loaded(settings):
    nlp = trained({"model": {"hidden_width": 16, **settings}}, steps=2)
    again = spacy.blank("en")
    again.add_pipe("nested_ner", config={"model": {"hidden_width": 16, **settings}})
    again.from_bytes(nlp.to_bytes())
    docs = [example.predicted for example in make_examples(nlp)]
    one, other = (pipeline.get_pipe("nested_ner").scores(docs).packed().values for pipeline in (nlp, again))
    np.testing.assert_array_equal(one, other)
