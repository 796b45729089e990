"""Training saves pipelines as a whole, and parts of a pipeline cannot be loaded."""

import json
import shutil

import numpy as np
import pytest
import spacy
from nested_examples import SENTENCES, TINY, make_examples, train, trained
from spacy.language import Language

from spacy_nested_ner.pipeline.saving import save_whole


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saving") / "model"
    trained().to_disk(folder)
    return folder


def test_a_pipeline_is_replaced_as_a_whole(saved, tmp_path):
    nlp = spacy.load(saved)
    (tmp_path / "model-last").mkdir()
    (tmp_path / "model-last" / "old").touch()
    whole = save_whole(nlp)
    assert isinstance(whole, Language)
    assert "to_disk" not in vars(nlp)
    whole.to_disk(tmp_path / "model-last", exclude=["vocab"])
    names = {path.name for path in (tmp_path / "model-last").iterdir()}
    assert names == {path.name for path in saved.iterdir()} - {"vocab"}
    assert [path.name for path in tmp_path.iterdir()] == ["model-last"]


def test_the_configs_use_it():
    resolved = spacy.registry.resolve({"callback": {"@callbacks": "spacy-nested-ner.save_whole.v1"}})
    assert resolved == {"callback": save_whole}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """What training saves, with word vectors."""
    nlp = spacy.blank("en")
    words = sorted({word for text, _ in SENTENCES for word in text.split()})
    for word, vector in zip(words, np.random.default_rng(0).normal(size=(len(words), 8)).astype("float32")):
        nlp.vocab.set_vector(word, vector)
    tok2vec = TINY["model"]["tok2vec"]
    with_vectors = {**tok2vec, "embed": {**tok2vec["embed"], "include_static_vectors": True}}
    nlp.add_pipe("nested_ner", config={"model": {**TINY["model"], "tok2vec": with_vectors}})
    folder = tmp_path_factory.mktemp("saving") / "model-last"
    save_whole(train(nlp, make_examples(nlp), steps=5)).to_disk(folder)
    return folder


def parts(pipeline):
    return sorted(str(path.relative_to(pipeline)) for path in pipeline.rglob("*"))


def test_a_component_knows_the_files_of_its_pipeline(checkpoint, tmp_path):
    files = [path for path in parts(checkpoint) if (checkpoint / path).is_file()]
    assert json.loads((checkpoint / "nested_ner" / "cfg").read_text())["files"] == files
    nlp = spacy.load(checkpoint)
    assert "files" not in nlp.get_pipe("nested_ner").cfg
    # What is saved in another way does not say it, and a component that lies elsewhere is not checked.
    nlp.to_disk(tmp_path / "saved", exclude=["vocab"])
    assert "files" not in json.loads((tmp_path / "saved" / "nested_ner" / "cfg").read_text())
    shutil.copytree(checkpoint / "nested_ner", tmp_path / "alone" / "nested_ner")
    nlp.get_pipe("nested_ner").from_disk(tmp_path / "alone" / "nested_ner", exclude=["vocab"])


@pytest.mark.parametrize("part", ["vocab", "vocab/key2row", "vocab/vectors", "vocab/lookups.bin", "vocab/vectors.cfg"])
def test_a_pipeline_without_one_of_its_files_is_refused(checkpoint, tmp_path, part):
    """spaCy loads all of these. Without key2row, no word has a vector; without vectors, prediction fails."""
    copy = tmp_path / "model-best"
    shutil.copytree(checkpoint, copy)
    shutil.rmtree(copy / part) if (copy / part).is_dir() else (copy / part).unlink()
    message = rf"the pipeline in .*model-best is not complete: there is no {part}.*model-last is that pipeline: copy it"
    with pytest.raises(FileNotFoundError, match=message):
        spacy.load(copy)


@pytest.mark.parametrize("files", ["config.cfg", 3, [None]])
def test_files_that_are_no_names_are_refused(checkpoint, tmp_path, files):
    copy = tmp_path / "model"
    shutil.copytree(checkpoint, copy)
    cfg = json.loads((copy / "nested_ner" / "cfg").read_text())
    (copy / "nested_ner" / "cfg").write_text(json.dumps({**cfg, "files": files}))
    with pytest.raises(ValueError, match=r"files is .*; expected a list of file names"):
        spacy.load(copy)


@pytest.mark.slow
def test_what_is_half_there_is_refused(checkpoint, tmp_path):
    """As when `spacy train` is killed while it copies model-last to model-best: files and folders are missing, or
    have no end."""
    copy = tmp_path / "model-best"
    for name in parts(checkpoint):
        if (checkpoint / name).is_dir():
            shutil.copytree(checkpoint, copy)
            shutil.rmtree(copy / name)
            refused(copy)
            continue
        content = (checkpoint / name).read_bytes()
        for written in (None, b"", content[: len(content) // 2]):
            shutil.copytree(checkpoint, copy)
            (copy / name).unlink() if written is None else (copy / name).write_bytes(written)
            refused(copy)


def refused(pipeline):
    with pytest.raises((OSError, ValueError, EOFError)):
        spacy.load(pipeline)
    shutil.rmtree(pipeline)
