"""`spacy nested-ner analyze`, as users call it."""

import json
import subprocess
import sys

import pytest
from commands import run
from nested_documents import make_doc

from spacy_nested_ner.corpus import write_docs

TRAIN = "[PER [PER Ada] and [PER Bo Bell] of [GPE Bonn]] sing .\n[ORG [GPE Bonn]] cheers .\n"
DEV = "[PER Ada] and [PER Cy] .\n"


@pytest.fixture
def parts(tmp_path):
    paths = [tmp_path / "train.txt", tmp_path / "dev.txt"]
    for path, text in zip(paths, (TRAIN, DEV)):
        path.write_text(text, encoding="utf-8")
    return paths


def rows(output, title):
    """The table under a header that begins with the title."""
    lines = output.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(title))
    end = next(i for i, line in enumerate([*lines, ""]) if i > start and not line)
    return [line.split() for line in lines[start:end]]


def test_parts_side_by_side(parts):
    result = run("analyze", *parts)
    assert result.exit_code == 0, result.output
    output = result.output
    assert output.splitlines()[0].split() == ["train", "dev", "all"]
    assert ["Mentions", "6", "2", "8"] in [line.split() for line in output.splitlines()]
    assert "  nested, %            50.0   0.0   37.5\n" in output
    assert rows(output, "Labels ")[2:] == [["PER", "3", "2", "5"], ["GPE", "2", "-", "2"], ["ORG", "1", "-", "1"]]
    assert rows(output, "Depth of nesting")[2:] == [["1", "3", "2", "5"], ["2", "3", "-", "3"]]
    assert rows(output, "Words in a sentence")[2:] == [["1-5", "1", "1", "2"], ["6-10", "1", "-", "1"]]
    assert rows(output, "Words in the second longest child")[2:] == [["1", "1", "-", "1"]]
    assert rows(output, "Labels on one span")[2:] == [["GPE", "+", "ORG", "1", "-", "1"]]
    assert "Labels of mentions that cross" not in output


def test_which_label_is_in_which(parts):
    found = rows(run("analyze", parts[0]).output, "Directly inside: outer labels left, inner labels above")
    assert found[1:] == [["PER", "GPE"], ["---", "---", "---"], ["PER", "2", "1"]]


def test_mentions_seen_in_other_parts(parts):
    found = rows(run("analyze", *parts).output, "Mentions seen with the same text and label, %")
    assert found[3:] == [["of", "train", "-", "16.7"], ["of", "dev", "50.0", "-"]]
    assert "Mentions seen" not in run("analyze", parts[0]).output


def test_the_longest_mention(parts):
    assert f"Longest mention: {parts[0]}, line 1\n  PER 'Ada and Bo Bell of Bonn'\n" in run("analyze", *parts).output


def test_mentions_that_cross_and_losses(tmp_path):
    path = tmp_path / "a.spacy"
    other = make_doc([(["x"], [])])
    del other.spans["sc"]
    write_docs([make_doc([(["Ada", "Bo", "Cy"], [(0, 2, "PER"), (1, 3, "ORG")])]), other], path)
    output = run("analyze", path).output
    assert rows(output, "Labels of mentions that cross")[2:] == [["PER", "+", "ORG", "1"]]
    assert "Directly inside" not in output
    assert "Not kept\n  documents without spans['sc']: 1\n" in output


def test_files(parts, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "new" / "out"
    result = run("analyze", *parts, "-o", out)
    assert result.exit_code == 0, result.output
    names = ["statistics.json", "lengths.png", "depth.png", "labels.png", "nesting.png"]
    assert result.output.endswith("".join(f"Saved {out / name}\n" for name in names))
    assert sorted(path.name for path in out.iterdir()) == sorted(names)
    numbers = json.loads((out / "statistics.json").read_text(encoding="utf-8"))
    assert numbers["parts"]["train"]["inside"] == {"PER": {"PER": 2, "GPE": 1}}
    assert numbers["all"]["mentions"] == 8
    assert numbers["seen"]["dev"]["train"] == 0.5


def test_without_matplotlib_there_are_no_plots(parts, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "spacy_nested_ner.display.statistics_plots", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    result = run("analyze", *parts, "--output", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.output.endswith("No plots: they need matplotlib; install spacy-nested-ner[plots]\n")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["statistics.json"]


def test_files_of_one_name_are_shown_with_their_folders(parts, tmp_path):
    (tmp_path / "b").mkdir()
    other = tmp_path / "b" / "dev.txt"
    other.write_text(DEV)
    assert run("analyze", parts[1], other).output.splitlines()[0].split() == [str(parts[1]), str(other), "all"]
    result = run("analyze", other, other)
    assert (result.exit_code, "is named 2 times; name every file or folder once" in result.output) == (1, True)


def test_errors(parts, tmp_path):
    result = run("analyze", tmp_path / "none.txt")
    assert (result.exit_code, "none.txt: no such file or folder" in result.output) == (1, True)
    parts[0].write_text("no mention\n")
    result = run("analyze", parts[0])
    assert (result.exit_code, "Error: no mention found in" in result.output) == (1, True)


def test_options(options_of):
    assert options_of("analyze") == set(
        "DATA --output --from --spans-key --lang --misaligned --line-sentences --skip-bad".split()
    )


@pytest.mark.slow
def test_the_command_line_starts_without_matplotlib(tmp_path):
    program = "import sys, spacy_nested_ner.cli; print('matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("False\n", "")
