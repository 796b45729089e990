"""`spacy nested-ner show`, as users call it."""

import re

import pytest
import spacy
from commands import run
from nested_examples import save_corpus, trained
from spacy.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("show") / "model"
    trained().to_disk(path)
    return path


def test_it_draws_mentions_with_probabilities(model, tmp_path):
    save_corpus(tmp_path / "data.spacy")
    result = run("show", model, tmp_path / "data.spacy", "--number", "2")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "[PER I] am [PER Fabian from [GPE Bonn , [GPE Germany]]] ."
    names = re.fullmatch(r"    I \d+%, (.*) \d+%, (.*) \d+%, (.*) \d+%", lines[1]).groups()
    assert names == ("Fabian from Bonn , Germany", "Bonn , Germany", "Germany")
    assert len(lines) == 4


@pytest.mark.parametrize(
    "pipe, key, message",
    [
        (
            "nested_ner",
            "other",
            r"no component of the pipeline writes to doc.spans['other']: nested_ner to doc.spans['sc']",
        ),
        ("tagger", "sc", "looked for a component that writes mentions to doc.spans['sc']"),
        ("sentencizer", "sc", "looked for a component that writes mentions to doc.spans['sc']"),
    ],
)
def test_it_needs_a_pipeline_that_finds_mentions(pipe, key, message, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe(pipe)
    nlp.to_disk(tmp_path / "model")
    save_corpus(tmp_path / "data.spacy")
    result = run("show", tmp_path / "model", tmp_path / "data.spacy", "--spans-key", key)
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert message in result.output


def test_it_uses_the_tokenizer_of_the_pipeline(tmp_path):
    nlp = trained()
    nlp.tokenizer = Tokenizer(nlp.vocab)
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "data.jsonl").write_text('{"text": "He isn\'t Fabian", "spans": []}')
    result = run("show", tmp_path / "model", tmp_path / "data.jsonl")
    assert result.exit_code == 0, result.output
    assert "isn't" in re.split(r"[][ ]+", result.output), "one token"


def test_mentions_of_the_data_do_not_matter(model, tmp_path):
    (tmp_path / "data").write_text('{"text": "Ada isn\'t here", "spans": [{"start": 0, "end": 5, "label": "PER"}]}')
    result = run("show", model, tmp_path / "data", "--from", "jsonl")
    assert result.exit_code == 0, result.output
    words = re.sub(r"\[\w+ |\]", "", result.output.splitlines()[0])
    assert words == "Ada is n't here"
    (tmp_path / "data").write_text("")
    result = run("show", model, tmp_path / "data", "--from", "jsonl")
    assert (result.exit_code, result.output) == (1, f"Error: no sentence found in {tmp_path / 'data'}\n")


def test_options(options_of):
    assert options_of("show") == {"MODEL", "DATA", "--number", "--from", "--spans-key", "--line-sentences"}
