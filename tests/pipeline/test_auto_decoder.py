"""A decoder chosen by the training data: how, and whether the choice goes where the pipeline goes."""

import json
import logging
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from nested_examples import SENTENCES, TINY, found, make_doc, make_examples, save_corpus, train
from spacy.training import Example
from spacy.util import load_config, load_model_from_config

from spacy_nested_ner.decoders import AutoDecoder, CubicDecoder, FlatDecoder, QuadraticDecoder
from spacy_nested_ner.evaluation.findings import settings_of

AUTO = {"@misc": "spacy-nested-ner.AutoDecoder.v1"}
CONFIG = Path(__file__).parents[2] / "configs" / "tok2vec.cfg"


def blank(decoder=AUTO):
    nlp = spacy.blank("en")
    return nlp, nlp.add_pipe("nested_ner", config={**TINY, "decoder": decoder})


def example(nlp, sentence):
    return Example(make_doc(nlp.vocab, [sentence], key=None), make_doc(nlp.vocab, [sentence]))


@pytest.fixture(scope="module")
def nlp():
    nlp, _ = blank()
    return train(nlp, make_examples(nlp))


def test_chosen_and_logged_when_training_starts(caplog):
    nlp, pipe = blank()
    assert pipe.auto_decoder == AutoDecoder()
    assert pipe.decoder_choice is None
    with caplog.at_level("INFO", "spacy.nested_ner"):
        caplog.clear()
        logging.getLogger("spacy.nested_ner").addHandler(caplog.handler)
        try:
            nlp.initialize(lambda: make_examples(nlp))
        finally:
            logging.getLogger("spacy.nested_ner").removeHandler(caplog.handler)
    assert pipe.decoder == QuadraticDecoder()
    assert "nested_ner: QuadraticDecoder keeps 100.00 % of 18 gold mentions\n" in caplog.text
    assert pipe.decoder_choice == (QuadraticDecoder(), 18, 18, 18, 18)
    assert pipe.decoder_choice.coverage == 1
    assert nlp.config["components"]["nested_ner"]["decoder"] == {**AUTO, "min_coverage": 0.999}


def test_chosen_anew_when_initialized_again():
    nlp, pipe = blank()
    nlp.initialize(lambda: make_examples(nlp))
    flat = ("He left .", [(0, 1, "PER")])
    nlp.initialize(lambda: [example(nlp, flat)])
    assert pipe.decoder == FlatDecoder()
    assert pipe.cfg["chosen_decoder"]["decoder"] == "FlatDecoder"


@pytest.mark.slow
def test_several_labels_on_a_span_are_learned():
    nlp, pipe = blank()
    sentence = ("Brussels agreed .", [(0, 1, "GPE"), (0, 1, "ORG")])
    train(nlp, [example(nlp, sentence), *make_examples(nlp)])
    assert pipe.decoder == QuadraticDecoder(multi_label=True)
    assert found(pipe(make_doc(nlp.vocab, [sentence], key=None))) == [(0, 1, "GPE"), (0, 1, "ORG")]


def test_what_no_decoder_can_keep_does_not_count():
    """A mention across a sentence boundary and one that is too long, but no word about crossing ones."""
    nlp, pipe = blank()
    pipe.cfg["max_span_length"] = 5
    doc = make_doc(nlp.vocab, SENTENCES)
    doc.spans["sc"] += [spacy.tokens.Span(doc, 7, 9, label="PER")]
    with pytest.warns(UserWarning, match="cannot learn") as caught:
        nlp.initialize(lambda: [Example(make_doc(nlp.vocab, SENTENCES, key=None), doc)])
    assert not [w for w in caught if "cross other mentions" in str(w.message)]
    assert pipe.decoder == QuadraticDecoder()
    assert pipe.decoder_choice.coverage == 1


def test_crossing_mentions_are_warned_about_with_numbers():
    """No setting can keep them, and none is advised."""
    nlp, pipe = blank()
    sentence = ("New York City Council met .", [(0, 3, "GPE"), (2, 4, "ORG")])
    with pytest.warns(UserWarning, match="cannot learn") as caught:
        nlp.initialize(lambda: [example(nlp, sentence), *make_examples(nlp)])
    assert [str(each.message) for each in caught] == [
        "nested_ner cannot learn 1 of 20 gold mentions (5.00 %); they are left out of training:\n"
        "  1 are outside the search space of QuadraticDecoder (GPE 1): "
        "1 cross other mentions, which no setting can keep: correct them, or use spancat if mentions must cross"
    ]
    assert pipe.decoder_choice == (QuadraticDecoder(), 20, 19, 19, 19)


def test_what_a_lower_share_leaves_out_is_reported():
    nlp, pipe = blank({**AUTO, "min_coverage": 0.9})
    sentence = ("Brussels agreed .", [(0, 1, "GPE"), (0, 1, "ORG")])
    with pytest.warns(UserWarning, match=r"\): min_coverage = 1 instead of 0.9 in AutoDecoder keeps 1 more$"):
        nlp.initialize(lambda: [example(nlp, sentence), *make_examples(nlp)])
    assert pipe.decoder == QuadraticDecoder()


def test_labels_without_mentions_take_the_default():
    nlp, pipe = blank()
    pipe.initialize(lambda: [example(nlp, ("Nobody spoke .", []))], labels=["PER"])
    assert pipe.decoder == QuadraticDecoder()


def test_not_chosen_yet():
    _, pipe = blank()
    with pytest.raises(
        ValueError, match=r"AutoDecoder\(min_coverage=0.999\) has not chosen a decoder yet.*nlp.initialize"
    ):
        _ = pipe.decoder


def test_the_decoder_of_a_component_is_a_decoder(nlp):
    with pytest.raises(TypeError, match=r"decoder is AutoDecoder\(.*\); expected a FlatDecoder"):
        nlp.get_pipe("nested_ner").decoder = AutoDecoder()


def test_a_decoder_set_in_a_script_is_saved_and_reported():
    nlp, pipe = blank()
    nlp.initialize(lambda: make_examples(nlp))
    pipe.decoder = CubicDecoder()
    other = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    for each in (pipe, other.get_pipe("nested_ner")):
        assert (each.decoder, each.decoder_choice) == (CubicDecoder(), None)
        assert settings_of(each)["decoder"] == "CubicDecoder"


def test_a_choice_saved_without_its_reason(nlp, tmp_path):
    """By an earlier version."""
    nlp.to_disk(tmp_path)
    cfg = json.loads((tmp_path / "nested_ner" / "cfg").read_text())
    del cfg["decoder_choice"]
    (tmp_path / "nested_ner" / "cfg").write_text(json.dumps(cfg))
    pipe = spacy.load(tmp_path).get_pipe("nested_ner")
    assert (pipe.decoder, pipe.decoder_choice) == (QuadraticDecoder(), None)


def same(nlp, other):
    assert other.get_pipe("nested_ner").decoder == nlp.get_pipe("nested_ner").decoder == QuadraticDecoder()
    assert other.get_pipe("nested_ner").decoder_choice == nlp.get_pipe("nested_ner").decoder_choice
    docs = [each.get_pipe("nested_ner")(make_doc(each.vocab, SENTENCES, key=None)) for each in (nlp, other)]
    return found(docs[0]) == found(docs[1]) != []


@pytest.mark.slow
def test_the_choice_is_saved(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert same(nlp, loaded)
    assert loaded.config["components"]["nested_ner"]["decoder"]["@misc"] == AUTO["@misc"]
    fresh = load_model_from_config(nlp.config, auto_fill=True)
    assert same(nlp, fresh.from_bytes(nlp.to_bytes()))
    assert same(nlp, pickle.loads(pickle.dumps(nlp)))
    other = spacy.blank("en")
    other.add_pipe("nested_ner", source=loaded)
    assert same(nlp, other)
    other.to_disk(tmp_path / "other")
    assert same(nlp, spacy.load(tmp_path / "other"))
    # A decoder that the config names is taken, whatever was chosen before.
    config = nlp.config.copy()
    config["components"]["nested_ner"]["decoder"] = {"@misc": "spacy-nested-ner.CubicDecoder.v1"}
    named = load_model_from_config(config, auto_fill=True).from_bytes(nlp.to_bytes())
    assert named.get_pipe("nested_ner").decoder == CubicDecoder()
    assert named.get_pipe("nested_ner").decoder_choice is None


def test_a_pipeline_saved_before_the_choice(tmp_path):
    nlp, _ = blank()
    nlp.to_disk(tmp_path)
    pipe = spacy.load(tmp_path).get_pipe("nested_ner")
    assert pipe.auto_decoder == AutoDecoder()
    with pytest.raises(ValueError, match="has not chosen a decoder yet"):
        _ = pipe.decoder


def test_a_damaged_choice(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    cfg = tmp_path / "nested_ner" / "cfg"
    cfg.write_text(cfg.read_text().replace("QuadraticDecoder", "QuarticDecoder"))
    with pytest.raises(ValueError, match="decoder is 'QuarticDecoder'; expected one of"):
        spacy.load(tmp_path)


def test_processes(nlp):
    docs = [make_doc(nlp.vocab, SENTENCES[k % 5 : k % 5 + 2], key=None) for k in range(8)]
    expect = [found(nlp.get_pipe("nested_ner")(doc.copy())) for doc in docs]
    assert [found(doc) for doc in nlp.pipe(docs, n_process=2, batch_size=2)] == expect


# ---- spaCy's commands ----


def spacy_command(*command, cwd):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "COLUMNS": "200"}
    arguments = [sys.executable, "-m", "spacy", *map(str, command)]
    result = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout + result.stderr


@pytest.mark.slow
def test_a_script_is_not_told(tmp_path):
    """Only spaCy's command line shows the choice."""
    save_corpus(tmp_path / "train.spacy")
    program = (
        "import spacy; from spacy.training import Corpus; nlp = spacy.blank('en'); pipe = nlp.add_pipe('nested_ner')\n"
        "nlp.initialize(lambda: Corpus('train.spacy')(nlp)); print(pipe.decoder_choice)"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert result.stderr == ""
    assert result.stdout == "QuadraticDecoder keeps 100.00 % of 18 gold mentions\n"


@pytest.mark.slow
def test_train_resume_and_package(tmp_path):
    save_corpus(tmp_path / "train.spacy", times=10)
    save_corpus(tmp_path / "dev.spacy")
    (tmp_path / "auto.cfg").write_text(CONFIG.read_text(encoding="utf-8"), encoding="utf-8")
    paths = ["--paths.train", "train.spacy", "--paths.dev", "dev.spacy"]
    quick = ["--training.max_steps", "20", "--training.eval_frequency", "10"]
    spacy_command("debug", "config", "auto.cfg", *paths, cwd=tmp_path)
    spacy_command("init", "fill-config", "auto.cfg", "filled.cfg", cwd=tmp_path)
    output = spacy_command("train", "filled.cfg", "-o", "out", *paths, *quick, cwd=tmp_path)
    assert "[INFO] nested_ner: QuadraticDecoder keeps 100.00 % of 180 gold mentions\n" in output
    assert output.count("Decoder keeps 100.00 %") == 1
    assert output.count("[INFO] nested_ner: max_span_length = 6 keeps 100.00 % of 180 gold mentions\n") == 1
    assert spacy.load(tmp_path / "out" / "model-last").get_pipe("nested_ner").decoder == QuadraticDecoder()
    # A trained component that another training begins with keeps its choice.
    sourced = load_config(tmp_path / "filled.cfg", interpolate=False)
    sourced["components"] = {name: {"source": "out/model-last"} for name in ("tok2vec", "nested_ner")}
    sourced.to_disk(tmp_path / "sourced.cfg")
    spacy_command("train", "sourced.cfg", "-o", "again", *paths, *quick, cwd=tmp_path)
    assert spacy.load(tmp_path / "again" / "model-last").get_pipe("nested_ner").decoder == QuadraticDecoder()
    spacy_command("package", "out/model-last", ".", "--name", "auto", "--build", "none", cwd=tmp_path)
    (packaged,) = tmp_path.glob("en_auto-*/en_auto/en_auto-*/config.cfg")
    assert spacy.load(packaged.parent).get_pipe("nested_ner").decoder == QuadraticDecoder()
