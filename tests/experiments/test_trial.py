"""A run ends with its scores."""

import copy
import dataclasses
import json
from types import SimpleNamespace

import pytest
from tiny_transformer import save_transformer


@pytest.fixture(scope="module", params=[("nested_ner", [30, 60]), ("spancat", [4])], ids=["nested_ner", "spancat"])
def trained(scripts, sample, request):
    """A short run on the sample corpus, the lines it printed, its result and its pipeline."""
    name, updates = request.param
    (first, *_) = (run for run in scripts.plan.read_plan() if run.group == "main" and run.name == name)
    run = dataclasses.replace(first, folder=sample, updates=updates, eval_frequency=updates[0], corpus="sample")
    lines = []
    result, nlp = scripts.trial.train(run, progress=lines.append)
    return run, lines, result, nlp


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
def test_a_run_ends_with_its_scores(scripts, sample, trained):
    trial = scripts.trial
    run, lines, result, nlp = trained
    updates = run.updates
    assert len(lines) == len(updates)
    assert f" {updates[-1]} updates" in lines[-1]
    assert set(result) == {"last", "averaged"}
    for weights, numbers in result.items():
        assert [at["updates"] for at in numbers["curve"]] == updates
        assert list(numbers["points"]) == [str(number) for number in updates]
        point = numbers["points"][str(updates[-1])]
        assert point["best"] == max(numbers["curve"], key=lambda at: at["f"])["updates"]
        assert ("tuned" in point) == (weights == "averaged")
    point = result["averaged"]["points"][str(updates[-1])]
    assert point["tuned"]["dev_f"] >= point["dev"]["f"]
    of_dev = point["curve"].pop("dev_f")
    assert {name: len(values) for name, values in point["curve"].items()} == dict.fromkeys(("p", "r", "nested_r"), 8)
    if (threshold := point["tuned"]["threshold"]) is not None:
        chosen = trial.CURVE.index(threshold)
        assert of_dev[chosen] == max(of_dev[2:6]) == point["tuned"]["dev_f"]
        at_choice = {name: values[chosen] for name, values in point["curve"].items()}
        assert at_choice.items() <= point["tuned"]["test"].items()
    assert set(point["test"]["labels"]) == {"PER", "ORG", "GPE", "LOC", "FAC", "VEH", "WEA"}
    # The pipeline that is returned is the one that was scored.
    read = trial.registry.resolve({"test": trial._reader(sample / "test.spacy")})["test"]
    found = trial.evaluate(nlp, list(read(nlp)))[None]
    documents = found.pop("documents")
    assert found == point["test"]
    tuned = point["tuned"]["test"]["documents"]
    assert [gold for gold, _, _ in documents] == [gold for gold, _, _ in tuned]
    assert json.loads(json.dumps(result)) == result


@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
def test_test_data_can_be_left_alone(scripts, sample, tmp_path):
    for part in ("train", "dev"):
        (tmp_path / f"{part}.spacy").symlink_to(sample / f"{part}.spacy")
    (first, *_) = (run for run in scripts.plan.read_plan() if run.group == "words")
    run = dataclasses.replace(first, folder=tmp_path, updates=[2], eval_frequency=2, only_dev=True)
    result, _ = scripts.trial.train(run, progress=lambda line: None)
    point = result["averaged"]["points"]["2"]
    assert set(point) == {"best", "dev", "tuned"}
    assert set(point["tuned"]) == {"threshold", "dev_f", "dev"}


@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
def test_patience_ends_a_run(scripts, sample, tmp_path, monkeypatch):
    trial = scripts.trial
    scores = iter([0.1, 0.3, 0.2, 0.3])
    monkeypatch.setattr(
        trial,
        "evaluate",
        lambda nlp, examples, thresholds=(None,): {
            each: {"f": next(scores, 0.0), "p": 0, "r": 0, "nested_r": 0} for each in thresholds
        },
    )
    (first, *_) = (run for run in scripts.plan.read_plan() if run.group == "default")
    monkeypatch.setattr(scripts.plan, "ROOT", tmp_path)
    run = dataclasses.replace(first, folder=sample, updates=[90], eval_frequency=1, sentences=20, patience=2)
    result, _ = trial.train(run, progress=lambda line: None)
    assert list(result) == ["averaged"]
    assert [at["updates"] for at in result["averaged"]["curve"]] == [1, 2, 3, 4]
    assert result["averaged"]["points"]["90"]["best"] == 2


def test_a_component_learns_at_a_rate_of_its_own(scripts):
    rates = []
    pipe = SimpleNamespace(finish_update=lambda sgd: rates.append(sgd.learn_rate))
    scripts.trial.scale_rate(pipe, 5.0)
    optimizer = SimpleNamespace(learn_rate=0.001)
    pipe.finish_update(optimizer)
    assert (rates, optimizer.learn_rate) == ([0.005], 0.001)


def test_transformers_multiply_in_bfloat16(scripts, monkeypatch):
    torch = pytest.importorskip("torch")
    from transformers import BertConfig, BertModel

    monkeypatch.setattr(BertModel, "forward", BertModel.forward)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    model = BertModel(BertConfig(vocab_size=50, **sizes)).eval()
    words = torch.arange(10)[None]
    with torch.no_grad():
        before = model(words).last_hidden_state
        scripts.bfloat16.use_bfloat16_in_transformers()
        after = model(words).last_hidden_state
    assert after.dtype == torch.float32
    assert 0 < (after - before).abs().max() < 0.1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
def test_confidence_keeps_what_the_tables_read(scripts, trained, monkeypatch):
    run, _, _, nlp = trained
    monkeypatch.setattr(scripts.confidence.spacy, "load", lambda path: nlp)
    states = scripts.confidence.measure_pipeline(run, run.name)
    for numbers in states.values():
        assert numbers["calibration"]["ece"] >= 0
        assert all(set(row) == {"mentions", "probability", "correct"} for row in numbers["calibration"]["bins"])
    first = states["as trained"]
    assert first["calibration"]["bins"] or run.name == "spancat"
    assert all(set(row) == {"threshold", "p", "r", "f", "nested_r"} for row in first["thresholds"])
    assert set(scripts.confidence_tables.THRESHOLDS) <= {row["threshold"] for row in first["thresholds"]}
    if run.name == "spancat":
        assert list(states) == ["as trained"]
        assert first["error_ranking"] is None
    else:
        assert states["calibrated"]["temperature"] > 0
        assert set(first["error_ranking"]) == {"by_segments", "by_words"}
        assert all(set(order) == {"half", "area"} for order in first["error_ranking"]["by_words"].values())


@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
@pytest.mark.parametrize("name", ["nested_ner", "spancat"])
def test_a_run_with_word_vectors(scripts, sample, tmp_path, monkeypatch, name):
    pytest.importorskip("transformers")
    trial = scripts.trial
    tiny = save_transformer(tmp_path / "tiny", width=128)
    monkeypatch.setattr(trial, "ROOT", tmp_path)
    monkeypatch.setattr(trial.encoder, "folder", lambda: tiny)
    (first, *_) = (run for run in scripts.plan.read_plan() if run.vectors and run.name.startswith(name))
    run = dataclasses.replace(
        first, folder=sample, updates=[1], eval_frequency=1, only_dev=True, corpus="sample", sentences=0
    )
    asked = copy.deepcopy(run.set)
    _, nlp = trial.train(run, progress=lambda line: None)
    made = tmp_path / "training" / "experiments" / "vectors"
    assert nlp.config["nlp"]["vectors"]["@vectors"] == "spacy-nested-ner.PieceVectors.v1"
    assert nlp.vocab.vectors.shape[1] == 128
    static = nlp.get_pipe("tok2vec").model.walk()
    assert [layer.get_dim("nM") for layer in static if layer.name == "static_vectors"] == [128]
    assert run.set == asked
    # They are made once.
    monkeypatch.setattr(trial, "make_word_vectors", None)
    assert trial.save_vectors() == made
