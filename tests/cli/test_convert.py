"""`spacy nested-ner convert`, as users call it."""

import os
import subprocess
import sys

import pytest
from commands import run
from nested_documents import read, shown

TEXT = "[PER Fabian from [GPE Bonn , [GPE Germany]]] sings .\n\n[PER Ada] too .\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_convert_reports_what_it_read(source, tmp_path):
    result = run("convert", source, tmp_path / "out.spacy")
    assert result.exit_code == 0
    assert (
        "Documents  2\nSentences  2 (longest 7 words)\nWords      10\nMentions   4 (50.0 % nested, depth 3)"
        in result.output
    )
    assert f"Saved      {tmp_path / 'out.spacy'}\n" in result.output
    docs, _ = read(tmp_path / "out.spacy")
    assert shown(docs[1]) == [("PER", "Ada")]


def test_formats_spans_key_and_language(source, tmp_path):
    out = tmp_path / "out"
    assert run("convert", source, out, "--from", "bracket", "--to", "brat", "--spans-key", "x").exit_code == 0
    assert (out / "00002.ann").read_text() == "T1\tPER 0 3\tAda\n"
    assert run("convert", out, tmp_path / "x.spacy", "--spans-key", "x", "--lang", "de").exit_code == 0
    docs, _ = read(tmp_path / "x.spacy", spans_key="x")
    assert [span.text for span in docs[1].spans["x"]] == ["Ada"]


def test_errors_name_file_and_line_and_exit_with_1(source, tmp_path):
    source.write_text(TEXT + "[PER Bo\n")
    result = run("convert", source, tmp_path / "out.spacy")
    assert result.exit_code == 1
    assert f"Error: {source}, line 4: the mention PER that begins before word 1 is not closed" in result.output
    assert not (tmp_path / "out.spacy").exists()
    result = run("convert", source, tmp_path / "out.spacy", "--skip-bad")
    assert result.exit_code == 0
    assert f"Skipped as bad: 1\n    {source}, line 4: the mention PER" in result.output


@pytest.mark.parametrize("misaligned, words", [("split", 3), ("drop", 2)])
def test_misaligned(tmp_path, misaligned, words):
    source = tmp_path / "corpus.jsonl"
    spans = '[{"start": 0, "end": 4, "label": "GPE"}, {"start": 8, "end": 11, "label": "PER"}]'
    source.write_text('{"text": "Bonnish Ada", "spans": ' + spans + "}\n")
    result = run("convert", source, tmp_path / "out.txt", "--misaligned", misaligned)
    assert result.exit_code == 0, result.output
    assert f"Words      {words}" in result.output
    result = run("convert", source, tmp_path / "out.txt", "--misaligned", "bend")
    assert (result.exit_code, "misaligned is 'bend'; expected one of error, split, drop" in result.output) == (1, True)


def test_lines_need_not_be_sentences(tmp_path):
    (tmp_path / "a.txt").write_text("One\nand two .\n")
    (tmp_path / "a.ann").write_text("T1\tNUM 0 3\tOne\n")
    assert "Sentences  2" in run("convert", tmp_path / "a.ann", tmp_path / "b.jsonl").output
    assert "Sentences  1" in run("convert", tmp_path / "a.ann", tmp_path / "b.jsonl", "--no-line-sentences").output


def test_ids_choose_files(source, tmp_path):
    (tmp_path / "ids").write_text("corpus.txt\n\n")
    (tmp_path / "other.txt").write_text("other\n")
    result = run("convert", tmp_path, tmp_path / "out" / "out.jsonl", "--from", "bracket", "--ids", tmp_path / "ids")
    assert (result.exit_code, "Documents  2" in result.output) == (0, True)
    result = run("convert", tmp_path, tmp_path / "out.jsonl", "--from", "bracket", "--ids", tmp_path / "none")
    assert (result.exit_code, "No such file or directory" in result.output) == (1, True)


def test_split_is_for_genia(source, tmp_path):
    result = run("convert", source, tmp_path / "out", "--split")
    assert (result.exit_code, "split is for genia, which has a standard split" in result.output) == (1, True)


def test_options(options_of):
    assert options_of("convert") == set(
        "INPUT OUTPUT --from --to --spans-key --lang --misaligned --line-sentences --skip-bad --ids --split".split()
    )


@pytest.mark.slow
def test_a_real_process(source, tmp_path):
    command = [sys.executable, "-m", "spacy", "nested-ner", "convert"]
    result = subprocess.run([*command, "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, "Convert a corpus with nested mentions" in result.stdout) == (0, True), result.stderr
    target = tmp_path / "out.tsv"
    result = subprocess.run([*command, str(source), str(target)], cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "Mentions   4" in result.stdout
    assert target.read_text().startswith("# document 1\nFabian\tB-PER\tO\tO\n")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["convert", "coverage", "analyze"])
def test_terminals_of_another_encoding(command, tmp_path):
    (tmp_path / "corpus.txt").write_text("[protα NF-κB] .\n", encoding="utf-8")
    arguments = ["-m", "spacy", "nested-ner", command, "corpus.txt", *(["out.spacy"] if command == "convert" else [])]
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    result = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, env=environment)
    assert (result.returncode, result.stderr) == (0, b"")
    assert rb"prot\u03b1" in result.stdout


def test_a_list_of_files_may_begin_with_a_mark(source, tmp_path):
    (tmp_path / "files.ids").write_text("corpus\n", encoding="utf-8-sig")
    result = run(
        "convert", tmp_path, tmp_path / "out" / "out.spacy", "--from", "bracket", "--ids", tmp_path / "files.ids"
    )
    assert result.exit_code == 0, result.output
