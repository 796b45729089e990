"""`spacy nested-ner show`, as users call it."""

import json
import re

import pytest
import spacy
from commands import fails, run
from nested_examples import save_corpus, trained
from spacy.tokenizer import Tokenizer

from spacy_nested_ner import mentions
from spacy_nested_ner.cli.options import errors_shown


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("show") / "model"
    trained().to_disk(path)
    return path


TEXT = "I am Fabian from Bonn , Germany ."


def test_it_draws_mentions_with_probabilities(model, tmp_path):
    save_corpus(tmp_path / "data.spacy")
    result = run("show", model, tmp_path / "data.spacy", "--number", "2")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "[PER I] am [PER Fabian from [GPE Bonn , [GPE Germany]]] ."
    found = [re.fullmatch(r"    (PER|GPE)  +>?\d+%  ( *)(.*)", line).groups() for line in lines[1:5]]
    assert found == [
        ("PER", "", "I"),
        ("PER", "", "Fabian from Bonn , Germany"),
        ("GPE", "  ", "Bonn , Germany"),
        ("GPE", "    ", "Germany"),
    ]
    assert lines[5] == "", "between sentences"
    assert lines[6].startswith("[PER He] retired")


def test_what_does_not_fit_into_memory_is_one_line(model, monkeypatch):
    monkeypatch.setattr("spacy_nested_ner.decoders._memory._SMALL", 0.0)
    monkeypatch.setattr("spacy_nested_ner.decoders._memory.physical_memory", lambda: 1.0)
    assert re.fullmatch(
        r"Error: the scores of 8 tokens [^\n]* more than [^\n]*: set max_span_length[^\n]*\n",
        fails("show", model, TEXT),
    )


@pytest.mark.slow
def test_all_ways_to_give_a_text(model, tmp_path):
    expected = run("show", model, TEXT).output
    assert expected.startswith("[PER I] am [PER Fabian")
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8-sig")
    (tmp_path / "no_suffix").write_text(f"\n\n{TEXT}\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "one.txt").write_text(TEXT)
    (tmp_path / "folder" / "README.md").write_text("Not to read")
    for name in ("text.txt", "no_suffix", "folder"):
        result = run("show", model, tmp_path / name)
        assert (result.exit_code, result.output) == (0, expected), name
    for arguments in ([], ["-"]):
        assert run("show", model, *arguments, input=TEXT).output == expected
    both = run("show", model, TEXT, tmp_path / "text.txt", "-", input=TEXT)
    assert both.output == "\n".join([expected] * 3)


@pytest.mark.slow
def test_paragraphs_are_texts_and_all_are_shown(model, tmp_path):
    (tmp_path / "text.txt").write_text("\n\n".join([TEXT, "Nobody spoke .", TEXT, TEXT, TEXT]))
    shown = run("show", model, tmp_path / "text.txt").output.split("\n\n")
    assert ["%" in drawing for drawing in shown] == [True, False, True, True, True]
    assert run("show", model, tmp_path / "text.txt", "-n", 2).output.split("\n\n") == [shown[0], shown[1] + "\n"]
    save_corpus(tmp_path / "data.spacy")
    assert len(run("show", model, tmp_path / "data.spacy").output.split("\n\n")) == 3, "of 6 in a corpus"


def test_bracket_notation_must_be_asked_for(model, tmp_path):
    (tmp_path / "text.txt").write_text("# A comment\n[PER Fabian] left .\n")
    result = run("show", model, tmp_path / "text.txt")
    assert "text.txt is read as plain text; if it is in bracket notation, add --from bracket" in result.stderr
    assert "comment" in result.stdout
    assert run("show", model, tmp_path / "text.txt", "-n", 1).stderr == result.stderr
    result = run("show", model, tmp_path / "text.txt", "--from", "bracket")
    assert re.sub(r"\[\w+ |\]", "", result.output.splitlines()[0]) == "Fabian left ."
    assert result.stderr == ""


def test_lines_are_no_wider_than_the_terminal(model, monkeypatch):
    monkeypatch.setenv("COLUMNS", "36")
    lines = run("show", model, TEXT).output.splitlines()
    assert max(map(len, lines)) <= 36
    assert lines[:2] == ["[PER I] am [PER Fabian from", "[GPE Bonn , [GPE Germany]]] ."]
    assert [line.split("%  ")[-1] for line in lines[3:5]] == ["Fabian from Bonn ,", " " * 15 + "Germany"]


@pytest.mark.parametrize("terminal, setting, colored", [(True, None, True), (False, None, False), (True, "1", False)])
def test_colors_are_for_terminals(model, monkeypatch, terminal, setting, colored):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if setting is not None:
        monkeypatch.setenv("NO_COLOR", setting)
    monkeypatch.setattr("typer.testing._NamedTextIOWrapper.isatty", lambda self: terminal, raising=False)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: terminal, raising=False)
    assert ("\x1b[" in run("show", model, TEXT).output) == colored


@pytest.mark.slow
def test_json_lines(model, tmp_path):
    (tmp_path / "text.txt").write_text(f"{TEXT}\n\nÅsa left .", encoding="utf-8")
    result = run("show", model, tmp_path / "text.txt", "--json")
    assert result.exit_code == 0, result.output
    first, second = map(json.loads, result.output.splitlines())
    nlp = spacy.load(model)
    doc = nlp(TEXT)
    assert first == {"text": TEXT, "mentions": mentions(doc)}
    assert len(first["mentions"]) == 4
    assert second["text"] == "Åsa left ."
    save_corpus(tmp_path / "data.spacy", times=2)
    assert len(run("show", model, tmp_path / "data.spacy", "--json").output.splitlines()) == 6
    assert len(run("show", model, tmp_path / "data.spacy", "--json", "-n", 1).output.splitlines()) == 1


@pytest.mark.slow
def test_threshold_and_temperature(model):
    def found(*options):
        return json.loads(run("show", model, TEXT, "--json", *options).output)["mentions"]

    assert len(found("--threshold", 0.001)) >= len(found()) > len(found("--threshold", 1)) == 0
    assert found("--temperature", 9)[0]["probability"] < found()[0]["probability"]
    assert "threshold is 2.0; expected a number between 0 and 1" in fails("show", model, TEXT, "--threshold", 2)
    assert "temperature is 0.0; expected a number above 0" in fails("show", model, TEXT, "--temperature", 0)


@pytest.mark.slow
def test_errors_in_the_input(model, tmp_path):
    assert "tset.spacy: no such file or folder" in fails("show", model, "tset.spacy")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "line 1: byte 0xff is not UTF-8" in fails("show", model, tmp_path / "binary")
    assert "standard input, line 1: byte 0xff is not UTF-8" in fails("show", model, "-", input=b"\xff")
    assert "no sentence found in standard input" in fails("show", model)
    assert "no sentence found in ''\n" in fails("show", model, ""), "which is not the current folder"
    (tmp_path / "empty").mkdir()
    assert "empty: no .txt file in this folder" in fails("show", model, tmp_path / "empty")


def test_what_is_no_pipeline(tmp_path):
    expected = "expected the folder of a trained pipeline, such as training/model-best, the name of an installed one"
    for given, found in [
        (TEXT, "there is no such folder or package"),
        ("Fabian " * 100, "there is no such folder or package"),
        (tmp_path, "that is no pipeline"),
    ]:
        text = fails("show", given, TEXT)
        assert text.startswith("Error: MODEL is '")
        assert f"but {found}; {expected}" in text


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
    assert words == "Ada isn't here", "as it was written"
    (tmp_path / "data").write_text("")
    result = run("show", model, tmp_path / "data", "--from", "jsonl")
    assert (result.exit_code, result.output) == (1, f"Error: no sentence found in {tmp_path / 'data'}\n")


def test_options(options_of):
    assert options_of("show") == set(
        "MODEL [TEXT|FILE|-]... --number --json --threshold --temperature --from --spans-key --line-sentences".split()
    )


def test_a_reader_that_has_seen_enough_is_no_error():
    """`show … | head`: typer ends the command in silence, if it gets to see this."""
    with pytest.raises(BrokenPipeError), errors_shown():
        raise BrokenPipeError
