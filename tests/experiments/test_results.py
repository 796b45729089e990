"""Results are kept, whatever happens, and were made with what the plan says."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import srsly
from commands import ROOT

FOLDER = ROOT / "experiments"


def test_saved_results_are_merged_without_loss(store):
    points = {"1000": {"f": 0.75, "threshold": None}}
    store.save("one", "genia/a, L2 = 1/0", {"seconds": 7, "points": points, "rate": 0.00005, "f": 0.123456789})
    saved = store.load("one")
    assert saved == {"genia/a, L2 = 1/0": {"seconds": 7, "points": points, "rate": 0.00005, "f": 0.12346}}
    store.collect("one")
    store.save("one", "genia/b/0", {"f": 0.5})
    store.save("other", "genia/a, L2 = 1/0", {"f": 0.6})
    assert store.load("one") == {**saved, "genia/b/0": {"f": 0.5}}
    store.collect("one")
    for path in (store.RUNS / "one").iterdir():
        path.unlink()
    assert store.load("one") == {**saved, "genia/b/0": {"f": 0.5}}
    lines = (store.RESULTS / "one.json").read_text().splitlines()
    assert [line[:12] for line in lines] == ["{", '"genia/a, L2', '"genia/b/0":', "}"]
    # A run that was repeated replaces the old one.
    store.save("one", "genia/b/0", {"f": 0.7})
    store.collect("one")
    assert store.load("one") == {**saved, "genia/b/0": {"f": 0.7}}


def test_nothing_is_written_if_nothing_is_new(store):
    store.collect("one")
    assert not store.RESULTS.exists()
    assert store.load("one") == {}


def test_results_can_be_saved_and_merged_at_the_same_time(store):
    def save_and_merge(seed):
        store.save("one", f"genia/a/{seed}", {"f": seed})
        store.collect("one")
        return len(store.load("one"))

    with ThreadPoolExecutor(1) as merging, ThreadPoolExecutor(1) as reading:
        seen = [reading.submit(store.load, "one") for _ in range(50)]
        counts = list(merging.map(save_and_merge, range(50)))
    assert counts == list(range(1, 51))
    # Whoever reads in between sees whole results.
    assert all(set(found.result()) <= {f"genia/a/{seed}" for seed in range(50)} for found in seen)
    assert sorted(store.load("one")) == sorted(f"genia/a/{seed}" for seed in range(50))
    assert not list(store.RESULTS.glob("*.tmp")) + list(store.RUNS.rglob("*.tmp"))


def test_a_process_that_merges_too_late_loses_nothing(store):
    store.save("one", "genia/a/0", {"f": 0.5})
    store.collect("one")
    late = (store.RESULTS / "one.json").read_text()
    store.save("one", "genia/b/0", {"f": 0.6})
    store.collect("one")
    (store.RESULTS / "one.json").write_text(late)
    store.collect("one")
    assert set(json.loads((store.RESULTS / "one.json").read_text())) == {"genia/a/0", "genia/b/0"}


def test_an_interrupted_write_leaves_the_old_results(store, monkeypatch):
    store.save("one", "genia/a/0", {"f": 0.5})
    store.collect("one")
    store.save("one", "genia/b/0", {"f": 0.6})

    def stop(*paths):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        store.collect("one")
    assert json.loads((store.RESULTS / "one.json").read_text()) == {"genia/a/0": {"f": 0.5}}
    assert store.load("one") == {"genia/a/0": {"f": 0.5}, "genia/b/0": {"f": 0.6}}


def test_results_were_made_with_what_the_plan_says(scripts):
    runs = {(run.group, run.key): run for run in scripts.plan.read_plan()}
    defaults = srsly.read_yaml(scripts.plan.PLAN)["defaults"]
    for group in scripts.plan.titles():
        for key, result in scripts.results.load(group).items():
            run = runs[group, key]
            assert result["config"] == run.config.name, run.title
            assert (result["train"], result["max_length"]) == (run.train, run.max_length), run.title
            for name in scripts.trial.SETTINGS:
                assert result.get(name, False) == getattr(run, name), run.title
            assert result.get("head_rate", 1) == run.head_rate, run.title
            # What was added to the defaults later holds for older runs. The oldest had spaCy's weight decay in their
            # config.
            assert result["set"].items() <= run.set.items(), run.title
            added = {key: value for key, value in run.set.items() if key not in result["set"]}
            added.pop("training.optimizer.L2", None)
            config = run.config.relative_to(ROOT).as_posix()
            assert added.items() <= defaults.get(config, {}).items(), run.title
            assert list(scripts.accuracy.weights(result)["points"]) == [str(n) for n in run.updates], run.title


def test_results_are_small_and_one_file_per_group():
    files = {path for path in (FOLDER / "results").iterdir() if path.suffix != ".png"}
    assert {path.suffix for path in files} == {".json"}
    for path in files:
        assert path.stat().st_size < 300_000, path.name
        assert len(path.read_text().splitlines()) == len(json.loads(path.read_text())) + 2


def test_the_sdist_has_no_experiments():
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    assert {"prune experiments", "prune tests/experiments"} <= set(lines)
    assert not [line for line in lines if "include" in line and "experiments" in line]
