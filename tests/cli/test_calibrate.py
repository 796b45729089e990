"""`spacy nested-ner calibrate`, as users call it."""

import shutil
import subprocess
import sys

import pytest
import spacy
from commands import fails, run
from nested_examples import SENTENCES, found, make_doc, save_reluctant, save_timid
from spacy.tokens import DocBin
from spacy.training import Corpus
from spacy.util import load_config

from spacy_nested_ner.corpus import read_docs, read_records
from spacy_nested_ner.evaluation import calibration, measure, predict
from spacy_nested_ner.evaluation.predictions import THRESHOLDS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_timid(tmp_path_factory.mktemp("calibrate"))


@pytest.fixture(scope="module")
def made(folder):
    result = run("calibrate", folder / "model", folder / "dev.spacy", "-o", folder / "new" / "out")
    assert result.exit_code == 0, result.output
    return result.output, folder / "new" / "out"


def ece(nlp, path, **settings):
    return measure(predict(nlp, read_records(path), thresholds=(), **settings))["calibration"]["ece"]


def test_the_saved_pipeline_is_better_calibrated_and_finds_the_same(folder, made):
    before, after = spacy.load(folder / "model"), spacy.load(made[1])
    assert after.get_pipe("nested_ner").cfg["temperature"] < 1
    assert ece(after, folder / "dev.spacy") < ece(before, folder / "dev.spacy") - 0.05
    for group in SENTENCES:
        docs = [nlp(make_doc(nlp.vocab, [group], key=None)) for nlp in (before, after)]
        assert found(docs[0]) == found(docs[1])


def test_what_is_printed_is_what_the_report_says(folder, made):
    lines = [line.rsplit(maxsplit=2) for line in made[0].splitlines()]
    rows = {name: (float(before), float(after)) for name, before, after in lines[2:6]}
    assert rows["temperature"][0] == 6
    for number, path in enumerate((folder / "model", made[1])):
        nlp = spacy.load(path)
        assert rows["temperature"][number] == pytest.approx(nlp.get_pipe("nested_ner").cfg["temperature"], abs=5e-4)
        assert rows["expected calibration error"][number] == pytest.approx(ece(nlp, folder / "dev.spacy"), abs=6e-5)
    assert rows["log loss, nats per mention"][1] < rows["log loss, nats per mention"][0]
    assert made[0].endswith(f"\nSaved {made[1]}\n")


# ---- the threshold ----


@pytest.fixture(scope="module")
def reluctant(tmp_path_factory):
    return save_reluctant(tmp_path_factory.mktemp("reluctant"))


def test_the_saved_pipeline_has_the_threshold(reluctant, tmp_path):
    data, out = reluctant / "dev.spacy", tmp_path / "out"
    result = run("calibrate", reluctant / "model", data, "-o", out, "--tune-threshold")
    assert result.exit_code == 0, result.output
    nlp = spacy.load(out)
    pipe, examples, f = nlp.get_pipe("nested_ner"), list(Corpus(data)(nlp)), {}
    threshold = load_config(out / "config.cfg")["components"]["nested_ner"]["threshold"]
    assert pipe.threshold == pytest.approx(threshold)
    for pipe.cfg["threshold"] in (None, *THRESHOLDS):
        f[pipe.threshold] = 100 * nlp.evaluate(examples)["spans_sc_f"]
    assert threshold == max(f, key=f.get)
    best, none = f[threshold], f[None]
    assert best > none + 1
    lines = [line.split() for line in result.output.splitlines()]
    assert ["threshold", "none", f"{threshold:g}"] in lines
    assert ["F", f"{none:.1f}", f"{best:.1f}"] in lines
    assert [line[-1] for line in lines if line[:1] == ["none"]] == [f"{none:.1f}"]
    assert [line[-1] for line in lines if line[:1] == [f"{threshold:g}"]] == [f"{best:.1f}"]
    assert f"\nThe threshold is set to {threshold:g}: +{best - none:.1f} points of F (95 %: +" in result.output
    # Again, in place: the threshold is tuned anew, and a gain over the old one is not needed.
    message = fails("calibrate", out, data, "-o", out, "--tune-threshold")
    assert "--force to replace it" in message
    again = run("calibrate", out, data, "-o", out, "--tune-threshold", "--force")
    assert ["threshold", f"{threshold:g}", f"{threshold:g}"] in map(str.split, again.output.splitlines())
    assert spacy.load(out).get_pipe("nested_ner").threshold == pytest.approx(threshold)


def test_a_threshold_that_gains_nothing_is_not_saved(folder, tmp_path):
    result = run("calibrate", folder / "model", folder / "dev.spacy", "-o", tmp_path / "out", "--tune-threshold")
    assert result.exit_code == 0, result.output
    assert "\nNo threshold is set: none of those from 0.05 to 0.95 has a higher F\n" in result.output
    assert spacy.load(tmp_path / "out").get_pipe("nested_ner").threshold is None
    assert load_config(tmp_path / "out" / "config.cfg")["components"]["nested_ner"]["threshold"] is None


def test_the_threshold_stays_unless_asked_for(reluctant, tmp_path):
    nlp = spacy.load(reluctant / "model")
    nlp.get_pipe("nested_ner").configure(nlp, threshold=0.7)
    nlp.to_disk(tmp_path / "model")
    result = run("calibrate", tmp_path / "model", reluctant / "dev.spacy", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "\nthreshold" not in result.output
    assert spacy.load(tmp_path / "out").get_pipe("nested_ner").threshold == pytest.approx(0.7)


# ---- where it is saved ----


def test_a_pipeline_is_replaced_only_by_force(folder, made):
    out = made[1]
    message = fails("calibrate", folder / "model", folder / "dev.spacy", "-o", out)
    assert f"{out} has a pipeline; give another folder, or --force to replace it" in message
    (out / "stray").write_text("old")
    result = run("calibrate", folder / "model", folder / "dev.spacy", "-o", out, "--force")
    assert result.exit_code == 0, result.output
    assert not (out / "stray").exists()
    assert spacy.load(out).get_pipe("nested_ner").cfg["temperature"] < 1
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_pipeline_that_was_being_replaced_comes_back(folder, tmp_path):
    """What a file system without an exchange leaves, if the command is killed between two steps."""
    shutil.copytree(folder / "model", tmp_path / ".writing-x" / "old" / "out")
    message = fails("calibrate", tmp_path / "out", folder / "dev.spacy", "-o", tmp_path / "out")
    assert f"{tmp_path / 'out'} has a pipeline; give another folder, or --force to replace it" in message
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert spacy.load(tmp_path / "out").pipe_names == spacy.load(folder / "model").pipe_names


def test_nothing_but_a_pipeline_is_replaced(folder, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    message = fails("calibrate", folder / "model", folder / "dev.spacy", "-o", tmp_path, "--force")
    assert "exists and is not a pipeline; give a new or empty folder" in message
    assert (tmp_path / "thesis.txt").exists()


# ---- errors ----


def test_a_component_without_temperature(folder, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("spancat")
    nlp.to_disk(tmp_path / "spancat")
    message = fails("calibrate", tmp_path / "spancat", folder / "dev.spacy", "-o", tmp_path / "out")
    assert "only nested_ner has a temperature; what writes to doc.spans['sc'] is spancat, a SpanCategorizer" in message


def test_nothing_to_fit(folder, tmp_path):
    vocab = spacy.blank("en").vocab
    message = fails("calibrate", folder / "model", folder / "dev.spacy", "-o", tmp_path / "out", "-k", "other")
    assert "nested_ner to doc.spans['sc']; see --spans-key" in message
    DocBin(docs=[make_doc(vocab, [("Nobody spoke .", [(0, 1, "PER")])])]).to_disk(tmp_path / "one.spacy")
    message = fails("calibrate", folder / "model", tmp_path / "one.spacy", "-o", tmp_path / "out")
    assert "the component finds no mention in 1 documents, so there is nothing to calibrate; train it" in message
    assert not (tmp_path / "out").exists()


def test_documents_left_out_are_reported(folder, tmp_path):
    nlp = spacy.blank("en")
    docs = list(read_docs(folder / "dev.spacy"))
    docs[0].spans["sc"].attrs["incomplete"] = True
    DocBin(docs=[*docs, nlp.make_doc("Nobody has read this.")]).to_disk(tmp_path / "mixed.spacy")
    result = run("calibrate", folder / "model", tmp_path / "mixed.spacy", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "\n2 documents left out: incomplete, without tokens, or not annotated\n" in result.output


def test_the_end_of_the_range_is_reported(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "LOWEST", 2.0)
    result = run("calibrate", folder / "model", folder / "dev.spacy", "-o", tmp_path / "out")
    assert "The temperature is at the end of its range, 2.0 to 10.0, so these data are too few" in result.output


def test_options(options_of):
    assert options_of("calibrate") == set(
        "MODEL DATA --output --force --tune-threshold --gold-tokens --gpu-id --from --spans-key --misaligned "
        "--line-sentences --skip-bad".split()
    )


@pytest.mark.slow
def test_a_real_process(folder, tmp_path):
    command = ["-m", "spacy", "nested-ner", "calibrate", folder / "model", folder / "dev.spacy", "-o", "out"]
    result = subprocess.run([sys.executable, *map(str, command)], cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "out" / "meta.json").exists()
