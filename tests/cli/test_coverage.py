"""`spacy nested-ner coverage`, as users call it."""

import json
import subprocess
import sys

import pytest
import spacy
from commands import run
from nested_documents import make_doc
from spacy import registry
from spacy.tokens import DocBin, Span
from thinc.api import Config

from spacy_nested_ner.corpus import write_docs
from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder

TEXT = (
    "[PER [PER Ada Bell] and [PER Bo Bell] of [GPE Bonn]] sing .\n"
    "[ORG [GPE Bonn]] cheers .\n\n"
    "[PER Everybody] listens .\n"
)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_the_table(source):
    result = run("coverage", source)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[:2] == ["Documents  2", "Sentences  3 (longest 9 words)"]
    start = lines.index("Maximum recall in %, one label per span")
    assert [line.split() for line in lines[start + 1 : start + 8]] == [
        "mentions flat c = 1 c = 2 c = 3 cubic".split(),
        ["------", "--------", *["------"] * 5],
        "all 7 71.43 71.43 85.71 85.71 85.71".split(),
        "lost 2 2 1 1 1".split(),
        "PER 4 75.00 75.00 100.00 100.00 100.00".split(),
        "GPE 2 50.00 50.00 50.00 50.00 50.00".split(),
        "ORG 1 100.00 100.00 100.00 100.00 100.00".split(),
    ]


def test_the_recommendation_and_what_is_lost(source):
    output = run("coverage", source).output
    assert (
        "Recommended: 100.00 %, the cheapest with at least 99.9 %; AutoDecoder chooses it by itself\n"
        "[components.nested_ner.decoder]\n"
        '@misc = "spacy-nested-ner.CubicDecoder.v1"\n'
        "multi_label = true\n\n"
        "Also lost by QuadraticDecoder(multi_label=True)\n"
        f"  {source}, line 1, sentence 1\n"
    ) in output
    assert "Lost by the recommended decoder" not in output
    output = run("coverage", source, "--min-coverage", 0.85).output
    assert "Recommended: 85.71 %, the cheapest with at least 85 %" in output
    assert (
        f"Lost by the recommended decoder\n  {source}, line 1, sentence 2\n    {{GPE [ORG Bonn]}} cheers .\n"
    ) in output
    assert "lost by" not in run("coverage", source, "--examples", 0).output.lower()


def test_the_recommendation_can_be_put_into_a_config(source):
    for share, decoder in [
        (0, FlatDecoder()),
        (0.8, CubicDecoder()),
        (1, CubicDecoder(multi_label=True)),
    ]:
        lines = run("coverage", source, "--min-coverage", share).output.splitlines()
        start = lines.index("[components.nested_ner.decoder]")
        block = "\n".join(["[decoder]", *lines[start + 1 : lines.index("", start)]])
        assert registry.resolve(Config().from_str(block)) == {"decoder": decoder}


def test_a_limit_on_length(source):
    output = run("coverage", source, "--max-span-length", 2).output
    assert "Longer than 2 tokens, lost everywhere: 1\n" in output
    assert "Recommended: 85.71 %, the cheapest with at least 99.9 % of the 85.71 % that are possible; " in output


def test_mentions_across_sentences(tmp_path):
    path = tmp_path / "a.spacy"
    write_docs([make_doc([(["Ada"], [(0, 2, "PER")]), (["Bell"], [])])], path)
    output = run("coverage", path, "--use-sentences").output
    assert f"Across a sentence boundary, lost everywhere: 1\n    {path}, document 1: PER 'Ada Bell'\n" in output
    assert "to see what it needs, leave --use-sentences out\n" in output
    assert "Recommended: 0.00 %, the cheapest with at least 99.9 % of the 0.00 % that are possible; " in output
    for arguments in ([], ["--no-use-sentences"]):
        output = run("coverage", path, *arguments).output
        assert "Across" not in output
        assert '@misc = "spacy-nested-ner.FlatDecoder.v1"\nmulti_label = false\n' in output


def test_several_files_and_the_numbers_as_json(source, tmp_path):
    other = tmp_path / "other.index"
    other.write_text("Ada sings\n0,1 PER\n\n")
    target = tmp_path / "new" / "numbers.json"
    result = run("coverage", source, other, "--json", target)
    assert result.exit_code == 0, result.output
    assert result.output.endswith(f"\nSaved {target}\n")
    numbers = json.loads(target.read_text(encoding="utf-8"))
    assert numbers["labels"] == {"PER": 5, "GPE": 2, "ORG": 1}
    assert [space["kept"] for space in numbers["spaces"]] == [6, 6, 7, 7, 7, 7, 7, 8, 8, 8]


def test_errors(source, tmp_path):
    for arguments, message in [
        ([tmp_path / "none.txt"], "none.txt: no such file or folder"),
        ([source, "--from", "bart"], "format is 'bart'; expected one of spacy, bracket"),
        ([source, "--min-coverage", 99.9], "min_coverage is 99.9; expected a share from 0 to 1, such as 0.999"),
        ([source, "--max-span-length", 0], "max_span_length is 0; expected 1 or more"),
    ]:
        result = run("coverage", *arguments)
        assert (result.exit_code, f"Error: {message}" in result.output.replace(f"{tmp_path}/", "")) == (1, True)


def test_nothing_to_count_is_an_error(source, tmp_path):
    run("convert", source, tmp_path / "a.spacy")
    result = run("coverage", tmp_path / "a.spacy", "--spans-key", "x")
    assert result.exit_code == 1
    assert (
        f"Error: no mention found in {tmp_path / 'a.spacy'}; looked for doc.spans['x'], found 'sc' (7 spans); "
        f"choose one of them with --spans-key" in result.output
    )
    doc = spacy.blank("en")("Ada left .")
    doc.ents = [Span(doc, 0, 1, label="PER")]
    DocBin(docs=[doc]).to_disk(tmp_path / "b.spacy")
    assert "found 1 entities in doc.ents, which cannot nest; copy" in run("coverage", tmp_path / "b.spacy").output


def test_bad_lines(source):
    source.write_text(TEXT + "[PER Bo\n")
    assert "line 5: the mention PER that begins before word 1 is not closed" in run("coverage", source).output
    result = run("coverage", source, "--skip-bad")
    assert (result.exit_code, "Skipped as bad: 1" in result.output) == (0, True)


def test_options(options_of):
    assert options_of("coverage") == set(
        "DATA --from --min-coverage --examples --max-span-length --use-sentences --json --spans-key --lang "
        "--misaligned --line-sentences --skip-bad".split()
    )


@pytest.mark.slow
def test_a_real_process(source, tmp_path):
    command = [sys.executable, "-m", "spacy", "nested-ner", "coverage", str(source)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "Recommended: 100.00 %" in result.stdout
