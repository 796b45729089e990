"""A vector for every word: its pieces, what spaCy does with the table, and saving. No transformer."""

import copy
import pickle

import numpy as np
import pytest
import spacy
from spacy.attrs import ORTH
from spacy.ml import StaticVectors
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.vectors import Vectors

from spacy_nested_ner.word_vectors import PieceVectors, piece_vectors

PIECES = ["mill", "mi", "a", "-", "2", "##ll", "##er", "##e", "##a", "##2", "##lord", "é"]
ROWS = {piece: row for row, piece in enumerate(PIECES)}
DATA = np.random.RandomState(0).rand(len(PIECES), 3).astype("float32")


def table(*, strings=None, **options):
    return PieceVectors(strings=StringStore() if strings is None else strings, data=DATA, keys=PIECES, **options)


CONFIG = {"nlp": {"vectors": {"@vectors": "spacy-nested-ner.PieceVectors.v1"}}}


def pipeline(**options):
    nlp = spacy.blank("en", config=CONFIG)
    for piece in PIECES:
        nlp.vocab.strings.add(piece)
    nlp.vocab.vectors = table(strings=nlp.vocab.strings, **options)
    return nlp


def mean_of(*pieces):
    return DATA[[ROWS[piece] for piece in pieces]].mean(axis=0)


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("mill", ["mill"]),
        ("miller", ["mill", "##er"]),  # the longest piece, not "mi", "##ll"
        ("mille", ["mill", "##e"]),
        ("mi", ["mi"]),
        ("milord", ["mi", "##lord"]),
        ("mill-a", ["mill", "-", "a"]),  # a part begins anew
        ("2-a2", ["2", "-", "a", "##2"]),
        ("a+a", ["a", "a"]),  # "+" is punctuation, too, and no piece
        ("mi€ll", ["mi", "##ll"]),  # a character without a piece
        ("mi\u00adll", ["mill"]),  # a soft hyphen
        ("xma", ["##a"]),  # "xm" has no piece
        ("xmi", []),  # "mi" begins a word, and "##mi" is no piece
        ("##er", ["##er"]),  # a key of the table
        ("x", []),
        (" \n", []),
        ("", []),
        ("Mill", ["##ll"]),
        ("é", ["é"]),
    ],
)
def test_the_pieces_of_a_word(word, pieces):
    vectors = table()
    assert vectors.pieces(word) == pieces
    vectors.strings.add(word)
    expected = mean_of(*pieces) if pieces else np.zeros(3)
    np.testing.assert_allclose(vectors.get_batch([word])[0], expected, rtol=1e-6)
    assert (word in vectors) == bool(pieces)


def test_case_and_accents_are_ignored_if_the_table_has_none():
    assert table(ignore_case=True).pieces("MILLER") == ["mill", "##er"]
    assert table(ignore_case=True).pieces("MILLÉ") == ["mill"]
    assert table(ignore_case=True, ignore_accents=True).pieces("MILLÉ") == ["mill", "##e"]
    assert table(ignore_accents=True).pieces("é") == ["é"]  # a key of the table, as it is spelled
    assert table(ignore_accents=True).pieces("mille\u0301r") == ["mill", "##er"]


def test_ideographs_are_words_if_the_transformer_says_so():
    keys = ["日", "本", "##本", "##a"]
    for cut, pieces in ((False, ["日", "##本", "##a"]), (True, ["日", "本"])):
        vectors = PieceVectors(strings=StringStore(), data=DATA[:4], keys=keys, cut_ideographs=cut)
        assert vectors.pieces("日本a") == pieces


def test_long_words_are_cut():
    assert table().pieces("a" * 10_000) == ["a"] + ["##a"] * 99


def test_words_are_looked_up_by_hash_and_by_string_any_number_of_times():
    vectors = table()
    words = ["miller", "x", "a", "miller", "milord", "a"]
    hashes = np.array([vectors.strings.add(word) for word in words], dtype="uint64")
    found = vectors.get_batch(hashes)
    np.testing.assert_array_equal(found, vectors.get_batch(words))
    np.testing.assert_array_equal(found, [vectors.get_batch([word])[0] for word in words])
    assert vectors.get_batch([]).shape == (0, 3)
    np.testing.assert_array_equal(vectors.get_batch(["x"]), np.zeros((1, 3)))


def test_a_word_without_a_piece_has_no_vector():
    vectors = table()
    np.testing.assert_allclose(vectors["miller"], mean_of("mill", "##er"), rtol=1e-6)
    with pytest.raises(KeyError, match="no piece of the word 'x' has a vector"):
        vectors["x"]


def test_a_word_that_is_added_is_its_own_piece():
    vectors = table()
    before = vectors.get_batch(["miller"])
    vectors.add("miller", row=ROWS["a"])
    np.testing.assert_array_equal(vectors.get_batch(["miller"])[0], DATA[ROWS["a"]])
    assert (before != vectors.get_batch(["miller"])).any()


def test_words_can_be_given_vectors():
    nlp = pipeline()
    before = nlp.vocab.vectors.get_batch(["milord"])
    for value, word in enumerate(["miller", "x", "mill"]):
        nlp.vocab.set_vector(word, np.full(3, value, dtype="float32"))
        np.testing.assert_array_equal(nlp.vocab.get_vector(word), [value] * 3)
        np.testing.assert_array_equal(nlp.vocab.vectors.get_batch([word]), [[value] * 3])
    np.testing.assert_array_equal(nlp.vocab.vectors.get_batch(["milord"]), before)
    empty = spacy.blank("en", config=CONFIG)
    empty.vocab.set_vector("x", np.ones(3, dtype="float32"))
    np.testing.assert_array_equal(empty("x")[0].vector, np.ones(3))


def test_a_table_that_shrinks():
    vectors = table()
    assert vectors.get_batch(["miller"]).any()
    vectors.resize((ROWS["mill"] + 1, 3))
    np.testing.assert_allclose(vectors.get_batch(["miller"])[0], DATA[ROWS["mill"]])
    vectors.clear()
    assert not vectors.get_batch(["miller"]).any()


def test_only_so_many_words_are_remembered(monkeypatch):
    monkeypatch.setattr(piece_vectors, "_REMEMBERED", 2)
    vectors = table()
    words = ["miller", "a", "mill", "mille", "2", "mi"]
    found = vectors.get_batch(words)
    assert len(vectors._found) <= 2
    np.testing.assert_array_equal(found, table().get_batch(words))


def test_spacy_finds_the_vectors_of_all_words():
    nlp = pipeline(ignore_case=True)
    doc = Doc(nlp.vocab, ["Miller", "xyz", "mill-a"])
    np.testing.assert_allclose(doc[0].vector, mean_of("mill", "##er"), rtol=1e-6)
    assert [token.has_vector for token in doc] == [True, False, True]
    assert [token.is_oov for token in doc] == [False, True, False]
    assert not doc[1].vector.any()
    layer = StaticVectors(nO=3)
    layer.initialize(X=[doc])
    layer.set_param("W", np.eye(3, dtype="float32"))
    np.testing.assert_allclose(layer.predict([doc]).data, nlp.vocab.vectors.get_batch(doc.to_array(ORTH)))
    np.testing.assert_allclose(layer.predict([doc]).data[2], mean_of("mill", "-", "a"), rtol=1e-6)


def test_saved_and_loaded(tmp_path):
    nlp = pipeline(ignore_case=True, ignore_accents=True)
    nlp.to_disk(tmp_path)
    others = [
        spacy.load(tmp_path),
        spacy.blank("en", config=CONFIG).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
        pickle.loads(pickle.dumps(copy.deepcopy(pickle.loads(pickle.dumps(copy.deepcopy(nlp)))))),
    ]
    expected = nlp("Miller")[0].vector
    assert expected.any()
    for other in others:
        assert isinstance(other.vocab.vectors, PieceVectors)
        np.testing.assert_array_equal(other("Millér")[0].vector, expected)
        about = other.meta["vectors"]
        assert (about["width"], about["vectors"], about["mode"]) == (3, 12, "spacy-nested-ner.PieceVectors.v1")


def test_other_vectors_take_the_place_of_those_that_were_looked_up():
    vectors = table()
    before = vectors.get_batch(["miller"])
    other = PieceVectors(strings=StringStore(), data=DATA, keys=reversed(PIECES))
    vectors.from_bytes(other.to_bytes())
    assert (before != vectors.get_batch(["miller"])).any()
    np.testing.assert_array_equal(vectors.get_batch(["miller"]), other.get_batch(["miller"]))


def test_a_config_for_vectors_of_another_kind(tmp_path):
    pipeline().to_disk(tmp_path / "pieces")
    with pytest.raises(ValueError, match=r"'spacy-nested-ner\.PieceVectors\.v1' is not a valid Mode"):
        spacy.blank("en").vocab.from_disk(tmp_path / "pieces" / "vocab")
    floret = {"mode": "floret", "minn": 3, "maxn": 4, "hash_count": 2}
    for options in ({"keys": ["mill"], "data": DATA[:1]}, {**floret, "data": DATA}):
        nlp = spacy.blank("en")
        nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, **options)
        nlp.to_disk(tmp_path / "other")
        message = rf"the kind '{options.get('mode', 'default')}', and \[nlp.vectors\] of the config says 'spacy-nested"
        with pytest.raises(ValueError, match=message):
            spacy.blank("en", config=CONFIG).vocab.from_disk(tmp_path / "other" / "vocab")


@pytest.mark.slow
def test_other_processes_have_the_vectors():
    nlp = pipeline(ignore_case=True)
    nlp.add_pipe("tok2vec", config={"model": {"pretrained_vectors": True}})
    nlp.initialize()
    texts = ["Miller a mill", "milord"] * 4
    alone = [doc.tensor for doc in nlp.pipe(texts)]
    together = [doc.tensor for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
