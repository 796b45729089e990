"""`spacy nested-ner compare` and `show`."""

import json

import pytest
import spacy
from commands import run
from nested_examples import save_corpus, trained
from spacy.tokenizer import Tokenizer


@pytest.fixture
def scores(tmp_path):
    ours = {"spans_sc_p": 0.8, "spans_sc_r": 0.7, "spans_sc_f": 0.7467, "spans_sc_nested_f": 0.5}
    theirs = {"spans_sc_p": 0.75, "spans_sc_r": 0.6, "spans_sc_f": 0.6667}
    for name, content in (("ours", ours), ("theirs", theirs)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def test_a_row_for_each_evaluation(scores):
    result = run("compare", scores / "ours.json", scores / "theirs.json", "-o", scores / "new" / "table.md")
    assert result.exit_code == 0, result.output
    assert "74.67" in result.output
    lines = (scores / "new" / "table.md").read_text().splitlines()
    assert lines[2] == "| ours | 80.00 | 70.00 | 74.67 |  | 50.00 |"
    assert len(lines) == 4


def test_what_is_no_file_of_scores(scores):
    (scores / "bad.json").write_text("{")
    result = run("compare", scores / "bad.json")
    assert result.exit_code == 1
    assert "bad.json is not a file of scores" in result.output
    (scores / "bad.json").write_text("null")
    assert "bad.json is not a file of scores; expected" in run("compare", scores / "bad.json").output
    result = run("compare", scores / "ours.json", "--spans-key", "mentions")
    assert result.exit_code == 1
    assert "has no spans_mentions_f" in result.output


def test_show_draws_mentions_with_probabilities(tmp_path):
    trained().to_disk(tmp_path / "model")
    save_corpus(tmp_path / "data.spacy")
    result = run("show", tmp_path / "model", tmp_path / "data.spacy", "--number", "2")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "[PER I] am [PER Fabian from [GPE Bonn , [GPE Germany]]] ."
    assert "Germany" in lines[1]
    assert lines[1].count("%") == 4
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
def test_show_wants_a_pipeline_that_finds_mentions(pipe, key, message, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe(pipe)
    nlp.to_disk(tmp_path / "model")
    save_corpus(tmp_path / "data.spacy")
    result = run("show", tmp_path / "model", tmp_path / "data.spacy", "--spans-key", key)
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert message in result.output


def test_show_takes_the_tokenizer_of_the_pipeline(tmp_path):
    nlp = trained()
    nlp.tokenizer = Tokenizer(nlp.vocab)
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "data.jsonl").write_text('{"text": "He isn\'t Fabian", "spans": []}')
    result = run("show", tmp_path / "model", tmp_path / "data.jsonl")
    assert result.exit_code == 0, result.output
    assert "isn't" in result.output


def test_files_of_the_same_name_are_told_apart(scores):
    for folder in ("a", "b"):
        (scores / folder).mkdir()
        (scores / folder / "scores.json").write_text((scores / "ours.json").read_text())
    result = run("compare", scores / "a" / "scores.json", scores / "b" / "scores.json")
    assert result.exit_code == 0, result.output
    assert str(scores / "a" / "scores.json") in result.output


def test_show_does_not_mind_what_the_data_says_of_mentions(tmp_path):
    trained().to_disk(tmp_path / "model")
    (tmp_path / "data").write_text('{"text": "Ada isn\'t here", "spans": [{"start": 0, "end": 5, "label": "PER"}]}')
    result = run("show", tmp_path / "model", tmp_path / "data", "--from", "jsonl")
    assert result.exit_code == 0, result.output
    assert "here" in result.output
    (tmp_path / "data").write_text("")
    result = run("show", tmp_path / "model", tmp_path / "data", "--from", "jsonl")
    assert (result.exit_code, result.output) == (1, f"Error: no sentence found in {tmp_path / 'data'}\n")
