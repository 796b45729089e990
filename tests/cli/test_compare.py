"""`spacy nested-ner compare`, as users call it."""

import json

import pytest
from commands import run


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
    rows = [line.split() for line in result.output.splitlines()]
    assert rows[2:] == [["ours", "80.00", "70.00", "74.67", "50.00"], ["theirs", "75.00", "60.00", "66.67"]]
    assert (scores / "new" / "table.md").read_text().splitlines() == [
        "|  | P | R | F | first level F | nested F |",
        "| --- | --- | --- | --- | --- | --- |",
        "| ours | 80.00 | 70.00 | 74.67 |  | 50.00 |",
        "| theirs | 75.00 | 60.00 | 66.67 |  |  |",
    ]


def test_what_is_no_file_of_scores(scores):
    (scores / "bad.json").write_text("{")
    result = run("compare", scores / "bad.json")
    assert result.exit_code == 1
    assert "bad.json is not a file of scores" in result.output
    (scores / "bad.json").write_bytes(b"\xff")
    assert "bad.json is not a file of scores: 'utf-8' codec" in run("compare", scores / "bad.json").output
    (scores / "bad.json").write_text("null")
    assert "bad.json is not a file of scores; expected" in run("compare", scores / "bad.json").output
    result = run("compare", scores / "ours.json", "--spans-key", "mentions")
    assert result.exit_code == 1
    assert "has no spans_mentions_f" in result.output


def test_files_of_the_same_name_are_shown_with_their_folders(scores):
    for folder in ("a", "b"):
        (scores / folder).mkdir()
        (scores / folder / "scores.json").write_text((scores / "ours.json").read_text())
    result = run("compare", scores / "a" / "scores.json", scores / "b" / "scores.json")
    assert result.exit_code == 0, result.output
    assert str(scores / "a" / "scores.json") in result.output


def test_options(options_of):
    assert options_of("compare") == {"SCORES", "--output", "--spans-key"}
