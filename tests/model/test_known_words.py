"""Words that training has seen have vectors of their own, others have none."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Adam, fix_random_seed

from spacy_nested_ner.model.architectures import build_known_words_embed
from spacy_nested_ner.model.known_words import WordTable, known_words

# The second column is no word.
SEEN = np.array([[11, 1], [22, 1], [11, 2]], dtype="uint64")
NEW = np.array([[33, 1], [22, 1], [2**64 - 1, 2]], dtype="uint64")


def layer(rows=10, unknown_rate=0.0):
    model = known_words(4, rows, column=0, unknown_rate=unknown_rate)
    model.initialize()
    return model


def learn(model, X):
    output, backprop = model.begin_update(X)
    assert backprop(np.ones_like(output)).shape == X.shape
    model.finish_update(Adam(0.1))
    return output


def test_training_gives_words_vectors_and_others_stay_at_zero():
    model = layer()
    assert not learn(model, SEEN).any()
    output = model.predict(NEW)
    assert output[1].all()
    assert not output[[0, 2]].any()
    # Prediction adds no word.
    assert not model.predict(NEW)[0].any()
    assert len(model.shims[0]) == 2
    # The first gradient of a word that is there twice is twice as large, and of the rows without a word, it is zero.
    model = layer()
    output, backprop = model.begin_update(SEEN)
    backprop(np.ones_like(output))
    assert model.shims[1].gradient(model, "E")[:3, 0].tolist() == [2, 1, 0]


def test_gradients_are_those_of_finite_differences():
    fix_random_seed(0)
    model = layer()
    learn(model, SEEN)
    weights = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    _, backprop = model.begin_update(NEW)
    backprop(weights)
    gradient, E = model.shims[1].gradient(model, "E"), model.get_param("E")
    for place in np.ndindex(4, 4):
        E[place] += 0.5
        above = (model.predict(NEW) * weights).sum()
        E[place] -= 1.0
        below = (model.predict(NEW) * weights).sum()
        E[place] += 0.5
        assert gradient[place] == pytest.approx(above - below, abs=1e-4)


def test_a_share_of_words_is_unknown_in_training_only():
    fix_random_seed(0)
    model = layer(rows=2000, unknown_rate=0.2)
    words = np.arange(2000, dtype="uint64")
    X = np.stack([words, words], axis=1).repeat(2, axis=0)
    model.begin_update(X)
    model.set_param("E", model.get_param("E") + 1)
    output, backprop = model.begin_update(X)
    unknown = ~output.any(axis=1)
    assert 0.15 < unknown.mean() < 0.25
    # All occurrences of a word are unknown, and it learns nothing.
    assert (unknown[::2] == unknown[1::2]).all()
    backprop(np.ones_like(output))
    assert (model.shims[1].gradient(model, "E").any(axis=1) == ~unknown[::2]).all()
    assert model.predict(X).all()


def test_words_that_do_not_fit_stay_unknown():
    model = layer(rows=2)
    learn(model, SEEN)
    learn(model, NEW)
    assert model.predict(NEW).any(axis=1).tolist() == [False, True, False]


def test_the_table_is_saved_and_copied():
    model = layer()
    learn(model, SEEN)
    learn(model, NEW)
    loaded = layer().from_bytes(model.to_bytes())
    copied = model.copy()
    for other in (loaded, copied):
        assert len(other.shims[0]) == 4
        assert np.array_equal(other.predict(NEW), model.predict(NEW))
    learn(copied, np.array([[44, 0]], dtype="uint64"))
    assert len(model.shims[0]) == 4


def test_damaged_tables_are_refused():
    table = WordTable(2)
    table.look_up([11, 22], add=True)
    assert WordTable(2).from_bytes(table.to_bytes()).look_up([22, 33, 11], add=False).tolist() == [1, -1, 0]
    with pytest.raises(ValueError, match="has 16 bytes; expected eight for each of at most 1 words"):
        WordTable(1).from_bytes(table.to_bytes())
    with pytest.raises(ValueError, match="has 5 bytes; expected eight"):
        table.from_bytes(b"12345")


def test_the_embedding_of_the_config():
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=["one", "two", "One"]), Doc(vocab, words=["two"])]
    embed = build_known_words_embed(8, ["LOWER", "SHAPE"], [10, 20], unknown_rate=0.0)
    embed.initialize(X=docs)
    (output, _), backprop = embed.begin_update(docs)
    assert output.shape == (3, 8)
    gradient = np.random.default_rng(0).normal(size=(4, 8)).astype("float32")
    backprop([gradient[:3], gradient[3:]])
    embed.finish_update(Adam(0.1))
    (after, *_), _ = embed.begin_update(docs)
    # "one" and "One" are one word with two shapes; a new word has nothing but its shape.
    assert not np.allclose(after[0], after[2])
    first, second = embed.predict([Doc(vocab, words=["six", "ten"])])[0]
    assert np.array_equal(first, second)
    assert not np.allclose(first, after[0])


def test_static_vectors():
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("one", np.ones(5, dtype="float32"))
    docs = [Doc(nlp.vocab, words=["one", "two"])]
    embed = build_known_words_embed(8, ["NORM"], [10], include_static_vectors=True)
    embed.initialize(X=docs)
    first, second = embed.predict(docs)[0]
    assert not np.allclose(first, second)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attrs": ["NORM"], "rows": [1, 2]}, "attrs has 1 names and rows has 2 numbers; expected as many"),
        ({"attrs": [], "rows": []}, "attrs has 0 names"),
        ({"attrs": ["NORM"], "rows": [5], "unknown_rate": 1.0}, "unknown_rate is 1.0; expected a share from 0"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        build_known_words_embed(8, **settings)


def test_batches_without_a_known_word():
    model = layer(unknown_rate=0.999999)
    nothing = np.zeros((0, 2), dtype="uint64")
    for X in (nothing, SEEN):
        assert not learn(model, X).any()
    assert model.predict(nothing).shape == (0, 4)


def test_averages_are_those_of_the_whole_table():
    model, optimizer = layer(), Adam(0.1)
    expected = np.zeros((10, 4), dtype="float32")
    for step, X in enumerate((SEEN, NEW, SEEN), start=1):
        output, backprop = model.begin_update(X)
        backprop(np.ones_like(output))
        model.finish_update(optimizer)
        model.ops.update_averages(expected, model.get_param("E"), step)
    with model.use_params(optimizer.averages):
        np.testing.assert_allclose(model.get_param("E"), expected, rtol=1e-5)
