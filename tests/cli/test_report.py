"""`spacy nested-ner report`, as users call it."""

import json
import re

import pytest
import spacy
from commands import fails, run
from nested_examples import SENTENCES, make_doc, make_examples, save_beginner, save_corpus, train
from spacy.tokens import DocBin
from spacy.training import Corpus


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_beginner(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def made(folder):
    result = run("report", folder / "model", folder / "dev.spacy", "-o", folder / "new" / "out")
    assert result.exit_code == 0, result.output
    return result.output, folder / "new" / "out"


def test_files_and_output(made):
    output, out = made
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "report.json"]
    assert output.endswith(f"Saved {out / 'report.html'}\nSaved {out / 'report.json'}\n")
    assert output.splitlines()[0].split() == ["mentions", "P", "R", "F"]


def test_settings_and_calibration_are_printed(folder, made, tmp_path):
    assert re.search(r"^Decoder:            \w+Decoder\S* keeps 100.00 % of \d+ gold mentions", made[0], re.MULTILINE)
    assert re.search(r"^Calibration error:  \d+\.\d % \(\d+\.\d % by chance", made[0], re.MULTILINE)
    # Far too uncertain.
    nlp = spacy.load(folder / "model")
    nlp.get_pipe("nested_ner").temperature = 10.0
    nlp.to_disk(tmp_path / "model")
    output = run("report", tmp_path / "model", folder / "dev.spacy", "-o", tmp_path / "out").output
    assert "The probabilities cannot be trusted" in output
    model = tmp_path / "model"
    assert f"\nspacy nested-ner calibrate {model} DEV --output {model}-calibrated\n" in output


def test_the_same_again(folder, made):
    again = folder / "again"
    run("report", folder / "model", folder / "dev.spacy", "-o", again)
    for name in ("report.html", "report.json"):
        assert (again / name).read_bytes() == (made[1] / name).read_bytes()


def test_number_of_examples(folder, tmp_path):
    assert run("report", folder / "model", folder / "dev.spacy", "-o", tmp_path, "-n", 1).exit_code == 0
    numbers = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert len(numbers["examples"]) == 1


@pytest.mark.slow
def test_spancat(tmp_path):
    nlp = spacy.blank("en")
    config = {"suggester": {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": 5}, "threshold": 0.6}
    nlp.add_pipe("spancat", config=config)
    train(nlp, make_examples(nlp), steps=12).to_disk(tmp_path / "model")
    save_corpus(tmp_path / "dev.spacy")
    result = run("report", tmp_path / "model", tmp_path / "dev.spacy", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    numbers = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    scores = nlp.evaluate(list(Corpus(tmp_path / "dev.spacy")(nlp)))
    assert numbers["component"] == "spancat"
    assert numbers["scores"]["all"]["f"] == scores["spans_sc_f"] > 0
    assert numbers["thresholds"][0]["predicted"] > numbers["scores"]["all"]["predicted"]


# ---- errors ----


def test_no_component_that_writes_mentions(folder, tmp_path):
    nlp = spacy.blank("en")
    nlp.to_disk(tmp_path / "blank")
    text = fails("report", tmp_path / "blank", folder / "dev.spacy", "-o", tmp_path / "out")
    assert "looked for a component that writes mentions to doc.spans['sc']" in text
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "sentencizer")
    text = fails("report", tmp_path / "sentencizer", folder / "dev.spacy", "-o", tmp_path / "out")
    assert "such as nested_ner or spancat; the pipeline has sentencizer" in text


def test_another_key(folder, tmp_path):
    text = fails("report", folder / "model", folder / "dev.spacy", "-o", tmp_path / "out", "-k", "other")
    assert "writes to doc.spans['other']: nested_ner to doc.spans['sc']; see --spans-key" in text


def test_no_gold_under_the_key(folder, tmp_path):
    save_corpus(tmp_path / "dev.spacy", key="other")
    text = fails("report", folder / "model", tmp_path / "dev.spacy", "-o", tmp_path / "out")
    assert "Error: no mention found in" in text
    assert "doc.spans['sc']" in text


def test_documents_without_gold_are_left_out_and_reported(folder, tmp_path):
    vocab = spacy.blank("en").vocab
    docs = [make_doc(vocab, SENTENCES), make_doc(vocab, SENTENCES, key=None)]
    DocBin(docs=docs).to_disk(tmp_path / "dev.spacy")
    result = run("report", folder / "model", tmp_path / "dev.spacy", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "documents without spans['sc']: 1" in result.output
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["documents"] == 1


def test_no_such_model_or_data(folder, tmp_path):
    assert "Error: " in fails("report", tmp_path / "none", folder / "dev.spacy", "-o", tmp_path / "out")
    text = fails("report", folder / "model", tmp_path / "none.spacy", "-o", tmp_path / "out")
    assert "none.spacy: no such file or folder" in text


def test_folder_that_cannot_be_written(folder, tmp_path):
    (tmp_path / "file").write_text("here")
    text = fails("report", folder / "model", folder / "dev.spacy", "-o", tmp_path / "file")
    assert f"cannot write to the folder {tmp_path / 'file'}" in text


def test_options(options_of):
    assert options_of("report") == set(
        "MODEL DATA --output --examples --gold-tokens --gpu-id --from --spans-key --misaligned --line-sentences "
        "--skip-bad".split()
    )


@pytest.mark.slow
def test_the_title_is_a_name_or_a_path(folder, tmp_path):
    nlp = spacy.load(folder / "model")
    nlp.meta["name"] = "news"
    nlp.to_disk(tmp_path / "named")
    for model, title in ((tmp_path / "named", "en_news 0.0.0"), (folder / "model", str(folder / "model"))):
        run("report", model, folder / "dev.spacy", "-o", tmp_path / "out")
        assert json.loads((tmp_path / "out" / "report.json").read_text())["model"] == title
