"""`spacy nested-ner evaluate`, as users call it."""

import json

import pytest
import spacy
from commands import fails, run, run_spacy
from nested_examples import SENTENCES, make_doc, make_examples, save_beginner, save_corpus, train, trained
from spacy.tokens import DocBin


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = save_beginner(tmp_path_factory.mktemp("evaluate"))
    nlp = spacy.blank("en")
    config = {"suggester": {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": 5}}
    nlp.add_pipe("spancat", config={**config, "threshold": 0.6, "spans_key": "other"})
    train(nlp, make_examples(nlp, "other"), steps=12).to_disk(folder / "spancat")
    trained().to_disk(folder / "learned")
    return folder


def evaluate(folder, *options):
    result = run("evaluate", folder / "model", folder / "dev.spacy", *options)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_table(folder):
    lines = evaluate(folder).splitlines()
    assert lines[0].split() == ["gold", "found", "P", "R", "F"]
    names = [line[:11].strip() for line in lines[2:]]
    assert names[:6] == ["all", "first level", "nested", "", "depth 2", "depth 3"]
    assert names.index("PER") < names.index("1 word") < names.index("5 words") < names.index("6-10 words")
    assert lines[-1] == "In %, with 95 % intervals from 1,000 bootstrap resamples of 3 documents"
    assert max(map(len, lines)) <= 80
    assert "By level and depth: P of the mentions found there, R of the gold mentions there" in lines
    assert "In %, without intervals" in evaluate(folder, "--resamples", 0).splitlines()


def test_scores_are_those_of_spacy_evaluate(folder, tmp_path):
    evaluate(folder, "--json", tmp_path / "new" / "ours.json")
    run_spacy("evaluate", folder / "model", folder / "dev.spacy", "-o", tmp_path / "theirs.json")
    ours, theirs = (json.loads((tmp_path / name).read_text()) for name in ("new/ours.json", "theirs.json"))
    assert ours["model"]["component"] == "nested_ner"
    row = ours["model"]["rows"][0]
    for letter in "prf":
        assert round(row[letter]["value"], 10) == theirs[f"spans_sc_{letter}"], "saved with ten digits"
        assert row[letter]["low"] <= row[letter]["value"] <= row[letter]["high"]


@pytest.mark.slow
def test_the_seed_decides(folder):
    assert evaluate(folder, "--resamples", 50) == evaluate(folder, "--resamples", 50)
    assert evaluate(folder, "--resamples", 50, "--seed", 1) != evaluate(folder, "--resamples", 50)
    assert "without intervals\n" in evaluate(folder, "--resamples", 0)


def test_two_pipelines(folder, tmp_path):
    output = evaluate(folder, "--against", folder / "learned", "-o", tmp_path / "scores.json")
    assert f"A  {folder / 'model'}\n" in output
    assert f"B  {folder / 'learned'}\n" in output
    assert "p: two-sided, approximate randomization by document, for each row alone" in output
    numbers = json.loads((tmp_path / "scores.json").read_text())
    row = numbers["difference"]["rows"][0]
    assert row["f"] == numbers["model"]["rows"][0]["f"]["value"]
    assert row["other_f"] == numbers["against"]["rows"][0]["f"]["value"] > row["f"]
    assert row["difference"]["value"] == row["f"] - row["other_f"]
    assert row["difference"]["high"] <= 0
    assert 0 < row["p_value"] <= 1


@pytest.mark.slow
def test_keys_may_differ(folder, tmp_path):
    """The data, nested_ner and spancat each have their own."""
    save_corpus(tmp_path / "dev.spacy", key="gold")
    keys = ("--spans-key", "gold", "--model-key", "sc", "--against-key", "other")
    result = run("evaluate", folder / "model", tmp_path / "dev.spacy", "-a", folder / "spancat", *keys)
    assert result.exit_code == 0, result.output
    assert result.output.split("\nB  ")[0].count("\n") > 10
    expected = evaluate(folder)
    assert expected.splitlines()[:20] == result.output.splitlines()[2:22]


def test_one_document(folder, tmp_path):
    DocBin(docs=[make_doc(spacy.blank("en").vocab, SENTENCES)]).to_disk(tmp_path / "one.spacy")
    result = run("evaluate", folder / "model", tmp_path / "one.spacy", "--against", folder / "learned")
    assert result.exit_code == 0, result.output
    assert "without intervals: these need two or more documents" in result.output
    assert "Interval:" not in result.output


def test_what_is_undefined_is_a_dash(folder, tmp_path):
    doc = make_doc(spacy.blank("en").vocab, [("I am Fabian from Bonn , Germany .", [(0, 1, "PER")])])
    DocBin(docs=[doc]).to_disk(tmp_path / "one.spacy")
    result = run("evaluate", folder / "learned", tmp_path / "one.spacy")
    [row] = [line.split() for line in result.output.splitlines() if line.startswith("GPE")]
    assert row == ["GPE", "0", "2", "0.0", "–", "–"]


@pytest.mark.slow
def test_errors(folder, tmp_path):
    text = fails("evaluate", folder / "model", folder / "dev.spacy", "--against", folder / "spancat")
    assert "no component of the pipeline writes to doc.spans['sc']: spancat to doc.spans['other']" in text
    assert "is a folder; name the file" in fails("evaluate", folder / "model", folder / "dev.spacy", "-o", tmp_path)
    save_corpus(tmp_path / "dev.spacy", key="gold")
    text = fails("evaluate", folder / "model", tmp_path / "dev.spacy")
    assert "no mention found in" in text
    assert "none.spacy: no such file" in fails("evaluate", folder / "model", tmp_path / "none.spacy")


def test_options(options_of):
    assert options_of("evaluate") == set(
        "MODEL DATA --against --json --resamples --seed --gold-tokens --gpu-id --from --spans-key --model-key "
        "--against-key --misaligned --line-sentences --skip-bad".split()
    )
