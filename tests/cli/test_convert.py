"""`spacy nested-ner convert`, as users call it."""

import os
import subprocess
import sys

import pytest
from commands import fails, run
from nested_documents import make_doc, read, shown
from spacy.tokens import DocBin, Span

from spacy_nested_ner.corpus import FORMATS

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


@pytest.mark.parametrize("value", [[], ["standard"]])
def test_a_split_without_shares_is_for_genia(source, tmp_path, value):
    result = run("convert", source, tmp_path / "out", "--split", *value)
    assert (result.exit_code, "split is for genia, which has a standard split" in result.output) == (1, True)
    assert "give the shares of a random split, as in 80/10/10" in result.output
    result = run("convert", "--split", *value, source, tmp_path / "out", "--from", "bracket")
    assert (result.exit_code, "split is for genia" in result.output) == (1, True)


def test_a_split_with_shares(tmp_path):
    source = tmp_path / "corpus.txt"
    source.write_text("\n\n".join(f"[PER Ada{n}] sings ." for n in range(10)))
    result = run("convert", source, tmp_path / "out", "--split", "80/20", "--seed", "3", "--by", "sentence")
    assert result.exit_code == 0, result.output
    assert "  train    8 documents, 8 mentions, 1 label\n  dev      2 documents" in result.output
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["dev.spacy", "train.spacy"]
    result = run("convert", source, tmp_path / "bio", "--split=80/10/10", "--to", "bio")
    assert sorted(file.name for file in (tmp_path / "bio").iterdir()) == ["dev.tsv", "test.tsv", "train.tsv"]
    for shares in ("80", "80/30"):
        result = run("convert", source, tmp_path / "out", "--split", shares)
        assert (result.exit_code, f"Error: split is '{shares}'; expected two or three" in result.output) == (1, True)


def test_entities_and_keys(tmp_path):
    doc = make_doc([(["Ada", "of", "Bonn"], [])])
    doc.spans["entities"] = [Span(doc, 0, 3, label="PER")]
    doc.ents = [Span(doc, 2, 3, label="GPE")]
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    result = run("convert", tmp_path / "in.spacy", tmp_path / "out.spacy")
    assert result.exit_code == 1
    assert (
        "; choose one of the keys 'entities' (1 span) with --spans-key, or take what is in doc.ents (1 span)"
        in result.output
    )
    options = ("--spans-key", "entities", "--to-key", "sc", "--ents")
    assert run("convert", tmp_path / "in.spacy", tmp_path / "out.spacy", *options).exit_code == 0
    docs, _ = read(tmp_path / "out.spacy")
    assert shown(docs[0]) == [("PER", "Ada of Bonn"), ("GPE", "Bonn")]


def test_options_of_formats(tmp_path):
    (tmp_path / "a.xml").write_text("<doc><h1><PER>Ada</PER> sings</h1></doc>")
    assert (
        "Labels     PER 1\n" in run("convert", tmp_path / "a.xml", tmp_path / "o.txt", "--structure", "h0, h1").output
    )
    header = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.A|value\n#T_SP=webanno.custom.B|value\n\n"
    (tmp_path / "a.tsv").write_text(f"{header}\n#Text=Ada\n1-1\t0-3\tAda\tX\tY\t\n")
    assert "Labels     X 1\nLayer      A, value\n" in run("convert", tmp_path / "a.tsv", tmp_path / "o.txt").output
    assert "Labels     Y 1\n" in run("convert", tmp_path / "a.tsv", tmp_path / "o.txt", "--layer", "B").output


def test_no_mention_is_an_error(tmp_path):
    (tmp_path / "a.txt").write_text("Just a text .\n")
    result = run("convert", tmp_path / "a.txt", tmp_path / "out.spacy")
    assert result.exit_code == 1
    assert f"Error: {tmp_path / 'a.txt'}: no mention found in 1 document; read as bracket" in result.output
    assert run("convert", tmp_path / "a.txt", tmp_path / "out.spacy", "--allow-empty").exit_code == 0


def test_help_lists_the_formats_on_lines_that_fit():
    lines = run("convert", "--help").output.splitlines()
    for name, format in FORMATS.items():
        (line,) = [line for line in lines if line.split()[:1] == [name]]
        assert line.endswith(" ".join(format.suffixes[:3]))
        assert ("read-only" in line) == (format.write is None)
    assert max(map(len, lines)) <= 80


def test_options(options_of):
    assert options_of("convert") == set(
        "INPUT OUTPUT --from --to --spans-key --to-key --ents --lang --misaligned --line-sentences --tags --layer "
        "--structure --max-bytes --skip-bad --allow-empty --ids --split --seed --by".split()
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


@pytest.mark.parametrize("shares", ["80,10,10", "80:10:10", "80%", "-80/90/90"])
def test_shares_that_are_written_differently(tmp_path, shares):
    (tmp_path / "a.txt").write_text("[PER Ada] sings .\n")
    assert f"Error: split is '{shares}'; expected two or three shares" in fails(
        "convert", tmp_path / "a.txt", tmp_path / "out", "--split", shares
    )
