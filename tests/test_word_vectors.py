"""Word vectors from a transformer: what they are, which words have one, and a pipeline that uses them alone."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import spacy
from commands import fails, run
from small_corpora import FLAT, NESTED, save_docs
from spacy.tokens import Doc
from spacy.util import load_config
from tiny_transformer import LETTERS, WORDS, save_transformer

from spacy_nested_ner import init_config
from spacy_nested_ner.word_vectors import make_word_vectors

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

NLP = spacy.blank("en")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return str(save_transformer(tmp_path_factory.mktemp("tiny") / "lower"))


@pytest.fixture(scope="module")
def cased(tmp_path_factory):
    return str(save_transformer(tmp_path_factory.mktemp("tiny") / "cased", lower=False))


def docs_of(*texts):
    return [NLP.make_doc(text) for text in texts]


def vector(made, word):
    assert made.nlp.vocab.has_vector(word), word
    return made.nlp.vocab.get_vector(word)


def test_a_vector_is_the_mean_of_the_pieces_turned_and_scaled(tiny):
    words = ["The", "owner", "of", "a", "mill", "sang", ",", "twice"]
    made = make_word_vectors(docs_of(" ".join(words)), tiny, width=16)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    model = transformers.AutoModel.from_pretrained(tiny).eval()
    with torch.inference_mode():
        # Without [CLS] and [SEP].
        hidden = [model(**tokenizer(word, return_tensors="pt")).last_hidden_state[0, 1:-1].mean(0) for word in words]
    expected = np.array([each.numpy() for each in hidden])
    found = np.array([vector(made, word) for word in words])
    same_but_scale(found, expected)  # all directions are kept
    assert made.kept == pytest.approx(1)
    assert np.mean(made.nlp.vocab.vectors.data**2) == pytest.approx(1, rel=1e-4)


def same_but_scale(vectors, others):
    """All distances differ by one factor."""
    pairs = np.triu_indices(len(vectors), 1)
    ratios = np.divide(*(np.linalg.norm(each[pairs[0]] - each[pairs[1]], axis=-1) for each in (vectors, others)))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-3)


def test_fewer_numbers_keep_the_directions_in_which_words_differ_most(tiny):
    docs = docs_of("The mayor of the harbor sang of a mill twice , said Ada .")
    whole, part = (make_word_vectors(docs, tiny, width=width) for width in (16, 4))
    assert part.nlp.vocab.vectors.shape == (len(whole.nlp.vocab.vectors.data), 4)
    ratio = part.nlp.vocab.vectors.data / whole.nlp.vocab.vectors.data[:, :4]
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-3)
    variances = whole.nlp.vocab.vectors.data.var(axis=0)
    assert list(variances) == sorted(variances, reverse=True)
    assert part.kept == pytest.approx(variances[:4].sum() / variances.sum(), rel=1e-3)
    assert part.kept < 1


def test_all_spellings_have_the_vector_that_a_transformer_without_case_gives(tiny, cased):
    docs = docs_of("Mayor McAda", "mayor")
    made = make_word_vectors(docs, tiny, width=4)
    for spellings in (("mayor", "Mayor", "MAYOR"), ("McAda", "mcada", "MCADA")):
        rows = {made.nlp.vocab.vectors.key2row[made.nlp.vocab.strings[word]] for word in spellings}
        assert len(rows) == 1
    assert made.words == 2
    made = make_word_vectors(docs, cased, width=4)
    assert made.words == 3
    assert (vector(made, "Mayor") != vector(made, "mayor")).any()
    assert not made.nlp.vocab.has_vector("MAYOR")


def test_words_that_are_single_pieces_have_a_vector(tiny):
    made = make_word_vectors(docs_of("a mayor"), tiny, width=4)
    known = {letter.lower() for letter in LETTERS} | set(WORDS)
    assert made.added == len(known - {"a", "mayor"})
    for word in ("mill", "Harbor", "b", "?"):
        vector(made, word)
    for word in ("[CLS]", "[UNK]", "##b", "miller"):
        assert not made.nlp.vocab.has_vector(word)


def test_the_most_frequent_words_are_kept(tiny):
    made = make_word_vectors(docs_of("beta gamma beta alpha Gamma beta"), tiny, width=4, max_words=2)
    assert (made.words, made.left_out) == (2, 1)
    assert [made.nlp.vocab.has_vector(word) for word in ("beta", "gamma", "alpha")] == [True, True, False]
    # The transformer knows this one.
    made = make_word_vectors(docs_of("beta beta mill"), tiny, width=4, max_words=1)
    assert (made.words, made.left_out) == (2, 0)
    vector(made, "mill")


def test_tokens_of_the_data_and_of_the_tokenizer_have_a_vector(tiny):
    words = ["mill-owner", "sang"]
    spaced, unknown = Doc(NLP.vocab, words, [True, False]), Doc(NLP.vocab, words)
    assert [token.text for token in NLP.make_doc(spaced.text)] == ["mill", "-", "owner", "sang"]
    made = make_word_vectors([spaced], tiny, width=4)
    for word in (*words, "owner"):
        vector(made, word)
    made = make_word_vectors([unknown], tiny, width=4)
    vector(made, "mill-owner")
    assert not made.nlp.vocab.has_vector("owner")


def test_words_of_no_piece_and_long_words_are_read(tiny):
    made = make_word_vectors([Doc(NLP.vocab, ["\u200b", "x" * 3000])], tiny, width=4)
    assert np.isfinite(made.nlp.vocab.vectors.data).all()


def test_a_model_that_writes_texts_gives_vectors(tiny, tmp_path):
    """Without a token for padding."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend_tokenizer, unk_token="[UNK]", eos_token="[SEP]"
    )
    fast.save_pretrained(tmp_path)
    sizes = {"n_layer": 1, "n_head": 2, "n_embd": 16, "n_positions": 40}
    transformers.GPT2Model(transformers.GPT2Config(vocab_size=len(tokenizer), **sizes)).save_pretrained(tmp_path)
    docs = docs_of("the mayor", "of a mill twice")
    found = make_word_vectors(docs, str(tmp_path), width=16)
    # A word has the same vector next to longer ones, which it is padded to.
    alone = make_word_vectors(docs_of("mayor", "mill"), str(tmp_path), width=16)
    words = ["mayor", "mill", "harbor"]
    same_but_scale(*(np.array([vector(made, word) for word in words]) for made in (found, alone)))


def test_a_model_with_encoder_and_decoder_gives_vectors(tiny, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    tokenizer.save_pretrained(tmp_path)
    sizes = {f"{part}_{size}": 2 for part in ("encoder", "decoder") for size in ("layers", "attention_heads")}
    more = {"encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "d_model": 16, "max_position_embeddings": 40}
    config = transformers.BartConfig(vocab_size=len(tokenizer), **sizes, **more)
    transformers.BartModel(config).save_pretrained(tmp_path)
    made = make_word_vectors(docs_of("the mayor of a mill"), str(tmp_path), width=8)
    assert made.nlp.vocab.vectors.shape[1] == 8
    assert (vector(made, "mayor") != vector(made, "mill")).any()


def test_the_same_data_give_the_same_vectors(tiny):
    docs = docs_of("The mayor sang", "of a mill")
    first, second = (make_word_vectors(docs, tiny, width=4).nlp.vocab.vectors.data for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_errors_say_what_to_do(tiny, tmp_path, monkeypatch):
    for width in (0, 17):
        with pytest.raises(ValueError, match=f"width is {width}; expected a number from 1 to 16, which "):
            make_word_vectors([], tiny, width=width)
    with pytest.raises(ValueError, match="max_words is -1; expected 0 or more"):
        make_word_vectors([], tiny, max_words=-1)
    with pytest.raises(ValueError, match=r"gpu_id is 99, and PyTorch finds .* or -1 for the CPU"):
        make_word_vectors([], tiny, gpu_id=99)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty' cannot be loaded; expected its name on the Hugging Face hub, or a "):
        make_word_vectors([], str(tmp_path / "empty"))
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ValueError, match=r"though not to use them .* pip install 'spacy-nested-ner\[transformers\]'"):
        make_word_vectors([], tiny)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    save_docs(tmp_path / "train.spacy", *[[NESTED, FLAT]] * 20)
    save_docs(tmp_path / "dev.spacy", [FLAT], [NESTED])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_saves_vectors_for_init(folder, tiny):
    result = run("vectors", "train.spacy", "dev.spacy", "-T", tiny, "-o", "vectors", "-w", "8")
    assert result.exit_code == 0, result.output
    assert (
        "\nSaved vectors\n\nNext:\n  spacy nested-ner init config.cfg --train … --dev … --vectors vectors\n"
        in result.stdout
    )
    assert result.stdout.startswith(
        "11 words of the data, and 68 others that the transformer knows\n8 numbers per word, "
    )
    saved = spacy.load("vectors").vocab
    assert saved.vectors.shape[1] == 8
    assert saved.has_vector("Ghent")
    message = fails("vectors", "train.spacy", "-T", tiny, "-o", "vectors")
    assert "vectors has a pipeline; give another folder, or --force to replace it" in message
    assert run("vectors", "train.spacy", "-T", tiny, "-o", "vectors", "--force", "-w", "4", "--max-words", "3").stdout
    assert spacy.load("vectors").vocab.vectors.shape[1] == 4
    assert "no such file" in fails("vectors", "none.spacy", "-T", tiny, "-o", "other", "-w", "4").lower()
    assert not (folder / "other").exists()


@pytest.mark.slow
def test_a_pipeline_uses_the_vectors_without_the_transformer(folder):
    own = save_transformer(folder / "own")
    run("vectors", "train.spacy", "-T", own, "-o", "vectors", "-w", "8")
    plan = init_config("train.spacy", "dev.spacy", vectors="vectors")
    (folder / "config.cfg").write_text(plan.text)
    config = load_config("config.cfg")
    assert config["paths"]["vectors"] == "vectors"
    assert config["components"]["tok2vec"]["model"]["embed"]["include_static_vectors"] is True
    assert [each.value for each in plan.decisions if each.subject == "Word vectors"] == ["vectors"]
    options = {"components.tok2vec.model.encode.width": 16, "training.max_steps": 10, "training.eval_frequency": 10}
    small = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    train = [sys.executable, "-m", "spacy", "train", "config.cfg", "-o", "out", *small]
    subprocess.run(train, check=True, capture_output=True)
    shutil.rmtree(own)
    shutil.rmtree("vectors")
    nlp = spacy.load("out/model-last")
    assert nlp.vocab.get_vector("Ghent").any()
    texts = ["Ada met Grace .", "Ada met Xyzzy ."]
    with_vectors = [nlp.get_pipe("tok2vec").predict([nlp.make_doc(text)])[0] for text in texts]
    nlp.vocab.vectors.data[:] = 0
    without = [nlp.get_pipe("tok2vec").predict([nlp.make_doc(text)])[0] for text in texts]
    assert all((before != after).any() for before, after in zip(with_vectors, without))


def test_vectors_that_are_none(folder, tiny):
    spacy.blank("en").to_disk("blank")
    message = fails("init", "config.cfg", "-t", "train.spacy", "--vectors", "blank")
    assert "the pipeline 'blank' has no word vectors; make some with `spacy nested-ner vectors`" in message
    message = fails("init", "config.cfg", "-t", "train.spacy", "--vectors", "nonsense")
    assert (
        "no pipeline 'nonsense'; expected a folder with a pipeline that has word vectors, or the name of an " in message
    )
    message = fails("init", "config.cfg", "-t", "train.spacy", "--vectors", "blank", "--transformer", "x")
    assert "vectors = 'blank' together with transformer = 'x'; expected one of them" in message
    assert not (folder / "config.cfg").exists()
