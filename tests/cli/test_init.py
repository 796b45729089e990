"""`spacy nested-ner init`"""

import os
import subprocess
import sys

import pytest
import spacy
from commands import fails, run, run_spacy
from small_corpora import CROSSING, DOUBLE, FLAT, NESTED, save_docs
from spacy.util import load_config

from spacy_nested_ner import init_config


@pytest.fixture
def folder(tmp_path, monkeypatch):
    save_docs(tmp_path / "train.spacy", [NESTED, DOUBLE], [FLAT])
    save_docs(tmp_path / "dev.spacy", [NESTED], key="sc")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_config_and_why(folder):
    result = run("init", "new/my.cfg", "--train", "train.spacy", "--dev", "dev.spacy")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("                            train    dev\n")
    assert "\n\nSaved new/my.cfg\n\nNext:\n  spacy train new/my.cfg -o training\n" in result.stdout
    text = (folder / "new" / "my.cfg").read_text(encoding="utf-8")
    assert text == init_config("train.spacy", "dev.spacy", name="new/my.cfg").text
    assert [path.name for path in (folder / "new").iterdir()] == ["my.cfg"]


def test_options_change_the_config(folder):
    save_docs(folder / "train.spacy", [NESTED], key="x")
    options = ["--transformer", "my/bert", "--lang", "de", "--spans-key", "x"]
    result = run("init", "my.cfg", "--train", "train.spacy", *options)
    assert result.exit_code == 0, result.output
    config = load_config("my.cfg", interpolate=True)
    assert config["components"]["transformer"]["model"]["name"] == "my/bert"
    assert config["nlp"]["lang"] == "de"
    assert config["components"]["nested_ner"]["spans_key"] == "x"
    assert "Next, set some documents aside" in result.stdout


def test_an_existing_config_is_kept(folder):
    (folder / "my.cfg").write_text("mine")
    assert "Error: my.cfg exists; give another name, or --force to replace it\n" in fails(
        "init", "my.cfg", "--train", "train.spacy"
    )
    assert (folder / "my.cfg").read_text() == "mine"
    assert run("init", "my.cfg", "--train", "train.spacy", "--force").exit_code == 0
    assert load_config("my.cfg")["paths"]["train"] == "train.spacy"
    assert "is a folder; name the file to write, such as " in fails("init", folder, "--train", "train.spacy")


def test_nothing_is_written_after_an_error(folder):
    assert "Error: none.spacy: no such file or folder\n" in fails("init", "new/my.cfg", "--train", "none.spacy")
    save_docs(folder / "train.spacy", [NESTED], key="x")
    output = fails("init", "new/my.cfg", "--train", "train.spacy", "--dev", "dev.spacy")
    assert (
        "Error: dev.spacy: no labeled span in doc.spans['x']; found 'sc' (3 spans); choose one of them with" in output
    )
    assert not (folder / "new").exists()


def test_standard_output(folder):
    result = run("init", "-", "--train", "train.spacy", "--dev", "dev.spacy")
    assert result.exit_code == 0, result.output
    assert result.stdout == init_config("train.spacy", "dev.spacy").text
    assert "Spans key " in result.stderr
    assert "\nNext:\n  spacy train config.cfg -o training\n" in result.stderr
    assert "Saved" not in result.stderr
    assert sorted(os.listdir(folder)) == ["dev.spacy", "train.spacy"]


def test_training_data_must_be_named(folder):
    result = run("init", "my.cfg")
    assert (result.exit_code, "--train" in result.stderr) == (2, True)


def test_options(options_of):
    assert options_of("init") == set("CONFIG --train --dev --transformer --vectors --lang --spans-key --force".split())


def no_sentences(doc):
    for token in doc:
        token.is_sent_start = None


CORPORA = {
    "sentences": ([[NESTED, DOUBLE], [FLAT]], {}, []),
    "another key": ([[NESTED], [FLAT]], {"key": "my entities"}, []),
    "no sentences": ([[NESTED, CROSSING]], {"change": no_sentences, "spaced": True}, []),
    "German": ([[NESTED], [FLAT]], {"spaced": True}, ["--lang", "de"]),
    "Chinese": ([[FLAT]], {}, ["--lang", "zh"]),
    "long documents": ([[NESTED] * 120, [FLAT]], {}, []),
    "long documents of running text": ([[FLAT] * 200], {"spaced": True, "key": "x.y"}, []),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # mentions that cross cannot be learned
@pytest.mark.parametrize("name", CORPORA)
def test_the_config_is_complete_and_trains(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents, save_options, options = CORPORA[name]
    for part in ("train", "dev"):
        save_docs(tmp_path / f"{part}.spacy", *documents, **save_options)
    quick = ["--training.max_steps", "2", "--training.eval_frequency", "1"]
    for command in [
        ["nested-ner", "init", "c.cfg", "--train", "train.spacy", "--dev", "dev.spacy", *options],
        ["init", "fill-config", "c.cfg", "filled.cfg"],
        ["train", "c.cfg", "-o", "training", *quick],
    ]:
        result = run_spacy(*command)
        assert result.exit_code == 0, (result.output, result.exception)
    config = load_config("c.cfg", interpolate=False)
    assert load_config("filled.cfg", interpolate=False) == config
    scores = spacy.load("training/model-best").meta["performance"]
    assert f"spans_{config['components']['nested_ner']['spans_key']}_f" in scores


@pytest.mark.slow
def test_real_processes(folder):
    for command in [
        ["nested-ner", "init", "c.cfg", "--train", "train.spacy", "--dev", "dev.spacy"],
        ["debug", "config", "c.cfg"],
    ]:
        result = subprocess.run([sys.executable, "-m", "spacy", *command], cwd=folder, capture_output=True, text=True)
        assert (result.returncode, result.stderr) == (0, ""), result.stdout
