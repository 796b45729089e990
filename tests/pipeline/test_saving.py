"""Training saves pipelines as a whole, and parts of a pipeline cannot be loaded."""

import shutil

import pytest
import spacy
from nested_examples import SENTENCES, found, plain, trained
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


@pytest.mark.slow
def test_what_is_half_there_is_refused_or_does_not_matter(saved, tmp_path):
    """As when `spacy train` is killed while it copies model-last to model-best."""
    files = sorted(path.relative_to(saved) for path in saved.rglob("*") if path.is_file())
    nlp = spacy.load(saved)
    expected = found(nlp(plain(nlp, SENTENCES)))
    refused = 0
    for name in files:
        copy = tmp_path / "copy"
        shutil.copytree(saved, copy)
        content = (copy / name).read_bytes()
        (copy / name).write_bytes(content[: len(content) // 2])
        try:
            nlp = spacy.load(copy)
        except (OSError, ValueError):
            refused += 1
        else:
            assert found(nlp(plain(nlp, SENTENCES))) == expected, name
        shutil.rmtree(copy)
    assert refused >= 8
