"""The experiments: the plan can be built, a run ends with its scores, results are kept, and the pages show them."""

import dataclasses
import json
import math
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import srsly
from commands import ROOT
from spacy.util import load_config

from spacy_nested_ner.corpus import convert, read_docs

FOLDER = ROOT / "experiments"


@pytest.fixture(scope="module")
def scripts():
    """The scripts, imported as they import each other."""
    sys.path.insert(0, str(FOLDER))
    try:
        import accuracy
        import bfloat16
        import confidence
        import confidence_tables
        import folds
        import leads
        import markup
        import plan
        import results
        import sizes
        import subset
        import tables
        import trial

        yield SimpleNamespace(
            accuracy=accuracy,
            bfloat16=bfloat16,
            confidence=confidence,
            confidence_tables=confidence_tables,
            folds=folds,
            leads=leads,
            markup=markup,
            plan=plan,
            results=results,
            sizes=sizes,
            subset=subset,
            tables=tables,
            trial=trial,
        )
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture
def store(scripts, tmp_path, monkeypatch):
    """An empty place for results."""
    monkeypatch.setattr(scripts.results, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(scripts.results, "RUNS", tmp_path / "runs")
    return scripts.results


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    for part in ("train", "dev", "test"):
        convert(ROOT / "assets" / "sample" / f"{part}.txt", folder / f"{part}.spacy")
    return folder


def test_every_run_of_the_plan_changes_what_its_config_has(scripts):
    runs = scripts.plan.read_plan()
    assert len({(run.group, run.key) for run in runs}) == len({run.model for run in runs}) == len(runs)
    for run in {(run.group, run.name): run for run in runs}.values():
        # spaCy refuses to override what is not there.
        config = load_config(run.config, overrides=run.set)
        assert all(update % run.eval_frequency == 0 for update in run.updates), run.title
        assert config["training"]["eval_frequency"]


def test_groups_are_checked(scripts, tmp_path):
    path = tmp_path / "plan.yml"
    path.write_text("corpora: {a: b}\ngroups: {one: {seeds: [0], corpora: [a], updates: [1], runs: {}, tpyo: 1}}\n")
    with pytest.raises(ValueError, match=r"the group 'one' of the plan has \['tpyo'\]; expected only"):
        scripts.plan.read_plan(path)


def test_a_run_for_every_number_of_sentences(scripts, tmp_path):
    path = tmp_path / "plan.yml"
    group = "seeds: [0, 1], corpora: [a, b], sentences: [20, 2000], updates: [9], patience: 4, runs: {x: {config: c}}"
    path.write_text(f"corpora: {{a: f, b: f}}\ngroups: {{one: {{{group}}}}}\n")
    runs = scripts.plan.read_plan(path)
    assert [run.key for run in runs[:3]] == ["a/x, 20 sentences/0", "b/x, 20 sentences/0", "a/x, 2,000 sentences/0"]
    assert [run.sentences for run in runs] == [20, 20, 2000, 2000] * 2
    assert {run.patience for run in runs} == {4}


def test_every_document_is_tested_in_one_fold(scripts, sample, tmp_path):
    for part in scripts.folds.PARTS:
        shutil.copy(sample / f"{part}.spacy", tmp_path)
    every = sorted(doc.text for part in scripts.folds.PARTS for doc in read_docs(sample / f"{part}.spacy"))
    folders = scripts.folds.write_folds(tmp_path, 5)
    parts = [{name: list(read_docs(folder / f"{name}.spacy")) for name in scripts.folds.PARTS} for folder in folders]
    assert sorted(doc.text for fold in parts for doc in fold["test"]) == every
    for fold in parts:
        assert sorted(doc.text for docs in fold.values() for doc in docs) == every
        assert len(fold["train"]) > len(fold["test"]) >= len(fold["dev"]) > 0
        assert any(doc.spans["sc"] for doc in fold["train"])
    again = scripts.folds.write_folds(tmp_path, 5)
    assert [doc.text for doc in read_docs(again[2] / "test.spacy")] == [doc.text for doc in parts[2]["test"]]
    with pytest.raises(ValueError, match="2 folds of 3 documents; expected at least 3"):
        scripts.folds.divide(parts[0]["test"][:3], 2, seed=0)


def test_a_subset_has_whole_documents_and_begins_a_larger_one(scripts, sample, tmp_path):
    def documents(sentences, seed):
        path = tmp_path / "part.spacy"
        n_sentences = scripts.subset.write_subset(sample / "train.spacy", path, sentences, seed)
        docs = list(read_docs(path))
        assert n_sentences == sum(len(list(doc.sents)) for doc in docs)
        assert all(doc.spans["sc"] for doc in docs if doc.text in mentioned)
        return n_sentences, [doc.text for doc in docs]

    every = list(read_docs(sample / "train.spacy"))
    mentioned = {doc.text for doc in every if doc.spans["sc"]}
    n_small, small = documents(20, 0)
    n_large, large = documents(60, 0)
    assert 20 <= n_small < 60 <= n_large
    assert large[: len(small)] == small
    assert documents(20, 0) == (n_small, small)
    assert documents(20, 1)[1] != small
    assert sorted(documents(10**6, 0)[1]) == sorted(doc.text for doc in every)


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
            for name in ("sentences", "patience", "bfloat16"):
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


def test_the_tables_have_the_numbers_of_the_results(scripts):
    text = scripts.tables.TABLES.read_text(encoding="utf-8")
    every = scripts.tables.summarize_all()
    for group, corpora in every.items():
        for corpus, summaries in corpora.items():
            assert scripts.accuracy.accuracy_table(summaries) in text, f"run experiments/tables.py: {group} {corpus}"
    assert scripts.tables.all_tables(every) == text, "run experiments/tables.py"


def test_the_page_has_the_numbers_of_the_results(scripts):
    page = scripts.tables.PAGE.read_text(encoding="utf-8")
    assert scripts.tables.fill_page(page, scripts.tables.summarize_all()) == page, "run experiments/tables.py"
    assert page.count("<!-- end -->") == len(scripts.tables.EXCERPTS) + 5


def test_tables_can_be_made_before_everything_is_run(scripts, store):
    every = scripts.tables.summarize_all()
    page = scripts.tables.fill_page(scripts.tables.PAGE.read_text(encoding="utf-8"), every)
    assert "| GENIA: spancat |" not in page
    assert "at 0 of 0 points" in scripts.tables.all_tables(every)


def test_the_page_is_short_and_shows_every_plot(scripts):
    page = scripts.tables.PAGE.read_text(encoding="utf-8")
    assert len(page.split()) <= 1500
    shown = {path.name for path in (FOLDER / "results").glob("*.png")}
    assert shown == set(re.findall(r"\(\.\./experiments/results/(\S+\.png)\)", page))


def test_plots_are_drawn(scripts, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(scripts.tables, "RESULTS", tmp_path)
    scripts.tables.plot_all()
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in (FOLDER / "results").glob("*.png")}


def test_the_sdist_has_no_experiments():
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    assert "prune experiments" in lines
    assert not [line for line in lines if "include" in line and "experiments" in line]


def test_the_tuned_pair_is_the_best_of_each_system_on_dev(scripts):
    group, corpus = scripts.tables.TUNED
    settings = scripts.accuracy.results_of(scripts.plan.runs_by_group()[group])[corpus]
    tuned = scripts.accuracy.best_on_dev({name: scripts.accuracy.summarize(found) for name, found in settings.items()})
    assert scripts.confidence.PAIRS["litbank-tuned"] == ((corpus,), tuple(f"{group}/{name}" for name in tuned))
    rows = [path for title, path in scripts.tables.EXCERPTS["overview"].items() if title.endswith("tuned")]
    assert rows == [f"{group}/{corpus}/{name}" for name in tuned]


def test_means_and_deviations(scripts):
    def result(seed, f):
        scores = {"p": f, "r": f, "f": f, "nested_r": f, "labels": {"A": f, "B": 0.0}}
        point = {"best": 5, "test": scores, "tuned": {"threshold": None, "dev_f": f, "test": scores}}
        return {
            "seed": seed,
            "updates": [10],
            "last": {"points": {}},
            "averaged": {"curve": [], "points": {"10": point}},
        }

    points = scripts.accuracy.summarize([result(0, 0.5), result(1, 0.7)])
    assert points["10"]["f"]["mean"] == pytest.approx(0.6)
    assert points["10"]["f"]["sd"] == pytest.approx(0.1)
    row = scripts.accuracy.accuracy_table({"one": points}).splitlines()[-1]
    assert row == "| one | 10 | 2 | 60.0 | 60.0 | 60.0 | 60.0 | 10.0 | 60.0 | B 0.0 |"
    short = scripts.accuracy.short_table({"one": {"10": points["10"], "20": points["10"]}}).splitlines()[-1]
    assert short == "| one | 60.0 / 60.0 | 60.0 / 60.0 | 60.0 / 60.0 |"
    dev = scripts.accuracy.dev_table({"A": {"one": points}, "B": {"one": points}})
    assert dev.splitlines() == ["| dev F | A | B |", "| --- | ---: | ---: |", "| one | 60.0 | 60.0 |"]


def test_a_table_without_test_scores_shows_those_of_dev(scripts):
    def result(seed, f):
        scores = {"p": 0.5, "r": 0.4, "f": f, "nested_r": 0.3, "labels": {"A": f, "B": 0.2}}
        point = {"best": 5, "dev": scores, "tuned": {"threshold": 0.4, "dev_f": f, "dev": scores}}
        return {"seed": seed, "updates": [10], "last": {"points": {"10": point}}}

    points = scripts.accuracy.summarize([result(0, 0.5), result(1, 0.7)])
    header, _, row = scripts.accuracy.accuracy_table({"one": points}).splitlines()
    assert header == "|  | updates | seeds | dev P | dev R | dev F | ± | nested R | lowest label |"
    assert row == "| one | 10 | 2 | 50.0 | 40.0 | 60.0 | 10.0 | 30.0 | B 20.0 |"


def test_sizes_are_compared_on_the_seeds_that_both_systems_have(scripts):
    def run(sentences, seed, f):
        points = {"100": {"tuned": {"test": {"f": f, "documents": [(100, 100, int(100 * f))] * 2}}}}
        return {"sentences": sentences, "seed": seed, "updates": [100], "averaged": {"points": points}}

    results = {
        "spancat, 1,000 sentences": [run(1000, 0, 0.5), run(1000, 1, 0.6), run(1000, 2, 0.1)],
        "spancat, 200 sentences": [run(200, 0, 0.3)],
        "nested_ner, 1,000 sentences": [run(1000, 1, 0.59), run(1000, 0, 0.55)],
        "nested_ner, 200 sentences": [run(200, 0, 0.35)],
        "nested_ner, dropout 0.1, 200 sentences": [run(200, 0, 0.9)],
        "spancat, 500 sentences": [run(500, 0, 0.4)],
    }
    pairs = scripts.sizes.pairs_of(results)
    assert {size: scripts.sizes.test_f(pair) for size, pair in pairs.items()} == {
        200: ([0.3], [0.35]),
        1000: ([0.5, 0.6], [0.55, 0.59]),
    }
    assert scripts.sizes.size_table({"GENIA": pairs}).splitlines()[2:] == [
        "| GENIA | 200 | 1 | 30.0 | 35.0 | +5.0 (+5.0 to +5.0) | +5.0 |",
        "| GENIA | 1,000 | 2 | 55.0 | 57.0 | +2.0 (+2.0 to +2.0) | -1.0 |",
    ]
    other = {1000: pairs[1000]}
    assert scripts.sizes.short_size_table({"GENIA": pairs, "LitBank": other}).splitlines() == [
        "| sentences | GENIA | LitBank |",
        "| --- | ---: | ---: |",
        "| 200 | +5.0 (+5.0 to +5.0) |  |",
        "| 1,000 | +2.0 (+2.0 to +2.0) | +2.0 (+2.0 to +2.0) |",
    ]


def result_with(documents, p=0.7, nested_r=0.4, curve=((0.6, 0.8), (0.5, 0.3))):
    """A run with these documents: gold mentions, mentions found, and those of them that are right; with its precision
    and the recall of nested mentions, and both over thresholds."""
    point = {
        "tuned": {"test": {"documents": documents, "p": p, "nested_r": nested_r}},
        "curve": dict(zip(("p", "nested_r"), curve)),
    }
    return {"updates": [9], "seed": 0, "last": {"points": {"9": point}}}


HALF, BETTER = [(10, 10, 5)] * 40, [(10, 10, 6)] * 20 + [(10, 10, 7)] * 20


def test_leads_have_intervals_over_documents(scripts):
    def lead(*corpora):
        pairs = [[([result_with(runs) for runs in system]) for system in corpus] for corpus in corpora]
        return scripts.leads.lead([[scripts.leads.Pair(*pair)] for pair in pairs])

    one = lead(([HALF, HALF], [BETTER, BETTER]))
    assert one.mean == pytest.approx(0.15)
    assert 0.13 < one.low < 0.15 < one.high < 0.17
    # Documents are drawn for both systems together: what is the same in all of them has no interval.
    assert lead(([HALF], [[(10, 10, 7)] * 40])) == pytest.approx((0.2, 0.2, 0.2))
    # Seeds differ, documents do not.
    assert lead(([HALF, BETTER], [BETTER, HALF])) == pytest.approx((0, 0, 0))
    both = lead(([HALF], [BETTER]), ([HALF], [HALF]))
    assert both.mean == pytest.approx(0.075)
    assert scripts.leads.show_lead(both).startswith("+7.5 (+")


def test_the_documents_of_all_folds_count_as_one_corpus(scripts):
    def pair(before, after):
        return scripts.leads.Pair([result_with(before)], [result_with(after)])

    folds = [pair(HALF[:10], BETTER[:10]), pair(HALF[10:], BETTER[10:])]
    whole = [pair(HALF, BETTER)]
    assert scripts.leads.lead([folds]) == scripts.leads.lead([whole])
    *_, of_folds, of_whole, mean = scripts.leads.lead_table({"A": folds, "B": whole}, "old", "new").splitlines()
    assert of_folds.startswith("| A | 2 | 1 | 50.0 | 65.0 | +15.0 (+1")
    assert of_whole.startswith("| B | 1 | 1 | 50.0 | 65.0 | +15.0 (+1")
    assert of_whole.endswith(" | 40.0 | 40.0 |")
    assert mean.startswith("| mean |  |  | 50.0 | 65.0 | +15.0 (+1")


def test_nested_recall_is_compared_at_equal_precision(scripts):
    def nested(*curve):
        before, after = result_with(HALF, p=0.7, nested_r=0.4), result_with(HALF, curve=curve)
        return scripts.leads.nested_recalls(scripts.leads.Pair([before], [after]))

    # Precision need not rise with the threshold.
    assert nested((0.6, 0.9, 0.8), (0.7, 0.1, 0.3)) == pytest.approx((0.4, 0.5))
    assert math.isnan(nested((0.8, 0.9), (0.3, 0.1))[1])


def test_systems_are_compared_on_the_seeds_that_both_have(scripts):
    def runs(*seeds):
        return [{"seed": seed, "f": seed} for seed in seeds]

    before, after = scripts.leads.pair_of(runs(2, 0, 1), runs(1, 2, 3))
    assert [run["seed"] for run in before] == [run["seed"] for run in after] == [1, 2]


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


def test_a_table_is_filled_in_between_its_markers(scripts):
    page = "a\n<!-- one two -->\nold\n<!-- end -->\nb\n"
    assert scripts.markup.fill(page, "one two", "| new |") == "a\n<!-- one two -->\n| new |\n<!-- end -->\nb\n"
    with pytest.raises(ValueError, match=r"0 places for the table 'other'; expected one, between '<!-- other -->' and"):
        scripts.markup.fill(page, "other", "| new |")


def test_tuned_is_what_is_best_on_dev_in_the_end(scripts):
    def points(*dev, seeds=3):
        return {str(n): {"seeds": list(range(seeds)), "dev_f": {"mean": f}} for n, f in enumerate(dev)}

    summaries = {
        "ours": points(0.5, 0.6),
        "theirs": points(0.3, 0.4),
        "ours, otherwise": points(0.4, 0.7),
        "theirs, otherwise": points(0.4, 0.3),
        "ours, of one seed": points(0.8, 0.8, seeds=1),
    }
    chosen = scripts.accuracy.best_on_dev(summaries)
    assert chosen == {name: summaries[name] for name in ("ours, otherwise", "theirs")}


def test_confidence_is_the_mean_over_seeds(scripts):
    def system(ece, **more):
        numbers = {"by_segments": {"half": ece, "area": 0.7}, "by_words": {"half": 0.3, "area": 0.6}}
        ranking = {unit: dict.fromkeys(("entropy", "length", "best"), values) for unit, values in numbers.items()}
        bins = [{"mentions": 0}, {"mentions": 100, "probability": 0.5}]
        return {"calibration": {"ece": ece, "bins": bins}, "error_ranking": ranking, **more}

    def seed(ece, temperature):
        fitted = {"as trained": system(ece), "calibrated": system(ece / 2, temperature=temperature)}
        return {"spancat": {"as trained": system(2 * ece)}, "nested_ner": fitted}

    results = {"genia": {"0": seed(0.1, 1.2), "1": seed(0.2, 1.4)}}
    assert scripts.confidence_tables.calibration_table(results).splitlines()[2:] == [
        "| genia | spancat | as trained | 2 | 0.300 | 0.400 | 0.040 |",
        "| genia | nested_ner | as trained | 2 | 0.150 | 0.200 | 0.040 |",
        "| genia | nested_ner | calibrated, temperature 1.20–1.40 | 2 | 0.075 | 0.100 | 0.040 |",
    ]
    short = scripts.confidence_tables.short_calibration_table(results).splitlines()[2]
    assert short == "| genia | 0.300 | 0.150 | 0.075 |"
    ranking = scripts.confidence_tables.ranking_table(results).splitlines()[2]
    assert ranking == "| genia | entropy | 2 | 0.15 | 0.70 | 0.30 | 0.60 |"


def test_thresholds_are_shown_where_nested_recall_was_measured(scripts):
    def system(**numbers):
        return {"as trained": {"thresholds": [{"threshold": 0.5, "p": 0.8, "r": 0.6, "f": 0.7, **numbers}]}}

    results = {
        "genia": {
            "0": {"spancat": system(nested_r=0.4), "nested_ner": system(nested_r=0.5)},
            "1": {"spancat": system(), "nested_ner": system(nested_r=0.9)},
            "2": {"nested_ner": system(nested_r=0.9)},
        },
        "litbank": {"0": {"spancat": system()}},
    }
    kept = scripts.confidence.both(results)
    assert {corpus: list(seeds) for corpus, seeds in kept.items()} == {"genia": ["0", "1"]}
    assert scripts.confidence_tables.thresholds_table(results).splitlines()[2:] == [
        "| genia | spancat | 0.5 | 1 | 80.0 | 60.0 | 70.0 | 40.0 |",
        "| genia | nested_ner | 0.5 | 3 | 80.0 | 60.0 | 70.0 | 76.7 |",
    ]


def test_a_curve_dominates_only_from_above(scripts):
    dominates = scripts.confidence_tables.dominates
    low, high = ([{"r": r, "p": p - r} for r in (0.2, 0.5, 0.9)] for p in (1.0, 1.1))
    assert dominates(high, low)
    assert not dominates(low, high)
    assert not dominates([*high[:1], {"r": 0.5, "p": 0.4}, *high[2:]], low)
