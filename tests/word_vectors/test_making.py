"""Word vectors from a transformer: what they are, which pieces have one, and a pipeline that uses them alone."""

import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
from commands import fails, run
from small_corpora import FLAT, NESTED, save_docs
from spacy.util import load_config
from tiny_transformer import LETTERS, WORDS, save_transformer

from spacy_nested_ner import init_config
from spacy_nested_ner.word_vectors import make_word_vectors, making

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return str(save_transformer(tmp_path_factory.mktemp("tiny") / "lower"))


@pytest.fixture(scope="module")
def cased(tmp_path_factory):
    return str(save_transformer(tmp_path_factory.mktemp("tiny") / "cased", lower=False))


def test_a_vector_is_what_the_transformer_says_of_a_piece_turned_and_scaled(tiny):
    made = make_word_vectors(tiny, width=16)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    model = transformers.AutoModel.from_pretrained(tiny).eval()
    pieces = ["mill", "harbor", "b", "?", "##b", "##?"]
    numbers = [[2, number, 3] for number in tokenizer.convert_tokens_to_ids(pieces)]  # between [CLS] and [SEP]
    with torch.inference_mode():
        expected = model(torch.tensor(numbers)).last_hidden_state[:, 1].numpy()
    same_but_scale(made.nlp.vocab.vectors.get_batch(pieces), expected)  # all directions are kept
    assert made.kept == pytest.approx(1)
    assert np.mean(made.nlp.vocab.vectors.data**2) == pytest.approx(1, rel=1e-4)


def same_but_scale(vectors, others):
    """All distances differ by one factor."""
    pairs = np.triu_indices(len(vectors), 1)
    ratios = np.divide(*(np.linalg.norm(each[pairs[0]] - each[pairs[1]], axis=-1) for each in (vectors, others)))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-3)


def test_fewer_numbers_keep_the_directions_in_which_pieces_differ_most(tiny):
    whole, part = (make_word_vectors(tiny, width=width) for width in (16, 4))
    assert part.nlp.vocab.vectors.shape == (len(whole.nlp.vocab.vectors.data), 4)
    ratio = part.nlp.vocab.vectors.data / whole.nlp.vocab.vectors.data[:, :4]
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-3)
    variances = whole.nlp.vocab.vectors.data.var(axis=0)
    assert list(variances) == sorted(variances, reverse=True)
    assert part.kept == pytest.approx(variances[:4].sum() / variances.sum(), rel=1e-3)
    assert part.kept < 1


def test_pieces_that_the_tokenizer_uses_have_a_vector(tiny, cased):
    made = make_word_vectors(tiny, width=4)
    known = {letter.lower() for letter in LETTERS} | set(WORDS)
    in_table = {made.nlp.vocab.strings[key] for key in made.nlp.vocab.vectors.key2row}
    assert {piece for piece in in_table if not piece.startswith("##")} == known
    assert {piece for piece in in_table if piece.startswith("##")} == {f"##{letter}" for letter in LETTERS}
    assert made.pieces == len(in_table)
    cased_table = make_word_vectors(cased, width=4).nlp.vocab.vectors
    assert "M" in {piece for piece in LETTERS if cased_table.find(key=piece) >= 0}


WORDS_TO_READ = ["mill", "Miller", "HARBOR2", "mill-owner", "née", "Ada's", "2,3", "don't", "x" * 90, "$5", "a_b", "€"]


def test_words_have_the_pieces_that_the_tokenizer_finds(tiny, cased):
    for folder in (tiny, cased):
        vectors = make_word_vectors(folder, width=4).nlp.vocab.vectors
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        for word in WORDS_TO_READ:
            expected = [piece for piece in tokenizer.tokenize(word) if piece != "[UNK]"]
            assert not expected or vectors.pieces(word) == expected


def test_case_and_accents_are_those_of_the_transformer(tiny, cased):
    made = make_word_vectors(tiny, width=4)
    assert made.nlp.config["nlp"]["vectors"] == {"@vectors": "spacy-nested-ner.PieceVectors.v1"}
    vectors = made.nlp.vocab.vectors
    assert (vectors.ignore_case, vectors.ignore_accents, vectors.cut_ideographs) == (True, True, True)
    one, other, accented = vectors.get_batch(["née", "NEE", "Ne\u0301e"])
    assert (one == other).all()
    assert (one == accented).all()
    vectors = make_word_vectors(cased, width=4).nlp.vocab.vectors
    assert (vectors.ignore_case, vectors.ignore_accents, vectors.cut_ideographs) == (False, False, True)
    one, other = vectors.get_batch(["Mill", "mill"])
    assert (one != other).any()


TEXTS = [
    "the mayor of the harbor sang of the mill twice",
    "the mayors sang, the mills too: harbor-mayor ##of## ####",
] * 5


@pytest.fixture(params=["byte-level", "sentence pieces", "sentence pieces or bytes"])
def other_kind(request, tmp_path):
    """A transformer with a tokenizer that marks where a word begins, not where it goes on."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    with_bytes = request.param == "sentence pieces or bytes"
    tokenizer = Tokenizer(models.BPE(byte_fallback=with_bytes))
    byte_tokens = [f"<0x{number:02X}>" for number in range(256)] if with_bytes else []
    options = {"vocab_size": 600, "special_tokens": ["<s>", "</s>", *byte_tokens], "show_progress": False}
    if request.param == "byte-level":
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(), decoders.ByteLevel()
        options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    else:
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(**options))
    if with_bytes:
        tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), tokenizer.decoder])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(tmp_path)
    sizes = {"n_layer": 1, "n_head": 2, "n_embd": 16, "n_positions": 40}
    transformers.GPT2Model(transformers.GPT2Config(vocab_size=len(fast), **sizes)).save_pretrained(tmp_path)
    return str(tmp_path)


def test_other_kinds_of_tokenizers(other_kind):
    vectors = make_word_vectors(other_kind, width=8).nlp.vocab.vectors
    assert not vectors.cut_ideographs
    tokenizer = transformers.AutoTokenizer.from_pretrained(other_kind)
    for word in ("mayor", "harbor", "mill", "twice", "mom"):
        begun, *others = tokenizer.tokenize(f" {word}")
        assert begun[0] in "Ġ▁"
        assert vectors.pieces(word) == [begun[1:], *(f"##{piece}" for piece in others)]
    assert vectors.get_batch(["mayor"]).any()
    assert vectors.pieces("mayor-mill") == [*vectors.pieces("mayor"), *vectors.pieces("-"), *vectors.pieces("mill")]
    assert all("\N{REPLACEMENT CHARACTER}" not in vectors.strings[key] for key in vectors.key2row)
    reader = making._Reader(other_kind, -1)
    of_letter = reader.pieces()["##m"]
    assert tokenizer.convert_ids_to_tokens(of_letter) == "m"


def test_tokens_that_the_model_does_not_know_are_left_out(tiny, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    tokenizer.add_tokens(["ferry"])
    tokenizer.save_pretrained(tmp_path)
    transformers.AutoModel.from_pretrained(tiny).save_pretrained(tmp_path)
    assert make_word_vectors(str(tmp_path), width=4).pieces == make_word_vectors(tiny, width=4).pieces


def test_ideographs(tmp_path):
    folder = save_transformer(tmp_path / "own", more=["日", "本", "##日", "##本"])
    vectors = make_word_vectors(str(folder), width=4).nlp.vocab.vectors
    assert vectors.pieces("日本") == transformers.AutoTokenizer.from_pretrained(folder).tokenize("日本") == ["日", "本"]
    assert vectors.find(key="##本") == -1


def test_a_tokenizer_without_pieces_of_words(tiny, tmp_path):
    """Such as one of bytes."""
    from tokenizers import Tokenizer, models

    numbers = {"<s>": 0, "a": 1, "b": 2}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="<s>"))
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<s>").save_pretrained(tmp_path)
    transformers.AutoModel.from_pretrained(tiny).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="does not mark the pieces that begin a word; expected one of the kind WordPi"):
        make_word_vectors(str(tmp_path), width=4)


def test_a_model_with_encoder_and_decoder_gives_vectors(tiny, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    tokenizer.save_pretrained(tmp_path)
    sizes = {f"{part}_{size}": 2 for part in ("encoder", "decoder") for size in ("layers", "attention_heads")}
    more = {"encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "d_model": 16, "max_position_embeddings": 40}
    config = transformers.BartConfig(vocab_size=len(tokenizer), **sizes, **more)
    transformers.BartModel(config).save_pretrained(tmp_path)
    vectors = make_word_vectors(str(tmp_path), width=8).nlp.vocab.vectors
    assert vectors.shape[1] == 8
    one, other = vectors.get_batch(["mayor", "mill"])
    assert (one != other).any()


def test_a_transformer_always_gives_the_same_vectors(tiny):
    first, second = (make_word_vectors(tiny, width=4).nlp.vocab.vectors.data for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_errors_say_what_to_do(tiny, tmp_path, monkeypatch):
    for width in (0, 17):
        with pytest.raises(ValueError, match=f"width is {width}; expected a number from 1 to 16, which "):
            make_word_vectors(tiny, width=width)
    with pytest.raises(ValueError, match=r"gpu_id is 99, and PyTorch finds .* or -1 for the CPU"):
        make_word_vectors(tiny, gpu_id=99)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty' cannot be loaded; expected its name on the Hugging Face hub, or a "):
        make_word_vectors(str(tmp_path / "empty"))
    config = transformers.BertConfig.from_pretrained(tiny)
    (tmp_path / "other").mkdir()
    transformers.AutoTokenizer.from_pretrained(tiny).save_pretrained(tmp_path / "other")
    (tmp_path / "other" / "config.json").write_text(config.to_json_string())
    (tmp_path / "other" / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(ValueError, match=r"other' cannot be loaded; expected its name on the Hugging Face hub, or a "):
        make_word_vectors(str(tmp_path / "other"))
    monkeypatch.setattr(
        transformers.AutoModel, "from_pretrained", lambda name: SimpleNamespace(config=SimpleNamespace())
    )
    with pytest.raises(ValueError, match="is a SimpleNamespace; expected one that reads texts and nothing else"):
        make_word_vectors(tiny)
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ValueError, match=r"though not to use them .* pip install 'spacy-nested-ner\[transformers\]'"):
        make_word_vectors(tiny)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    save_docs(tmp_path / "train.spacy", *[[NESTED, FLAT]] * 20)
    save_docs(tmp_path / "dev.spacy", [FLAT], [NESTED])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_saves_vectors_for_init(folder, tiny):
    result = run("vectors", tiny, "vectors", "-w", "8")
    assert result.exit_code == 0, result.output
    assert (
        "\nSaved vectors\n\nNext:\n  spacy nested-ner init config.cfg --train … --dev … --vectors vectors\n"
        in result.stdout
    )
    assert result.stdout.startswith("165 pieces of words\n8 numbers per word, ")
    saved = spacy.load("vectors").vocab
    assert saved.vectors.shape[1] == 8
    assert saved.vectors.get_batch(["Ghent"]).any()
    message = fails("vectors", tiny, "vectors")
    assert "vectors has a pipeline; give another folder, or --force to replace it" in message
    assert run("vectors", tiny, "vectors", "--force", "-w", "4").exit_code == 0
    assert spacy.load("vectors").vocab.vectors.shape[1] == 4
    assert "width is 99; expected a number from 1 to 16" in fails("vectors", tiny, "other", "-w", "99")
    assert "lang is 'klingon'; expected a language code of spaCy" in fails("vectors", tiny, "other", "-l", "klingon")
    assert "train.spacy exists and is not a pipeline; give a new or" in fails("vectors", tiny, "train.spacy")
    assert not (folder / "other").exists()


def test_vectors_of_a_language(folder, tiny):
    result = run("vectors", tiny, "vectors", "-w", "8", "-l", "de")
    assert result.stdout.endswith("--vectors vectors --lang de\n")
    message = fails("init", "config.cfg", "-t", "train.spacy", "--vectors", "vectors")
    assert "the vectors 'vectors' are of a pipeline with lang = 'de', and lang is 'en'; expected the same" in message
    assert run("init", "config.cfg", "-t", "train.spacy", "--vectors", "vectors", "--lang", "de").exit_code == 0
    assert load_config("config.cfg")["nlp"]["lang"] == "de"


@pytest.mark.slow
def test_a_pipeline_uses_the_vectors_without_the_transformer(folder):
    own = save_transformer(folder / "own")
    run("vectors", own, "vectors", "-w", "8")
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
    assert nlp("Xyzzy")[0].vector.any()
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
