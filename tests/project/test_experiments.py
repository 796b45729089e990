"""The experiments: the plan can be built, a run ends with its scores, and the page says what the results say."""

import dataclasses
import json
import sys

import pytest
from commands import ROOT
from spacy.util import load_config

from spacy_nested_ner.corpus import convert

FOLDER = ROOT / "experiments"


@pytest.fixture(scope="module")
def modules():
    """The scripts, imported as they import each other."""
    sys.path.insert(0, str(FOLDER))
    try:
        import plan
        import tables
        import trial

        yield plan, trial, tables
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    for part in ("train", "dev", "test"):
        convert(ROOT / "assets" / "sample" / f"{part}.txt", folder / f"{part}.spacy")
    return folder


def test_every_run_of_the_plan_changes_what_its_config_has(modules):
    runs = modules[0].read_plan()
    assert len({run.result for run in runs}) == len({run.model for run in runs}) == len(runs)
    for run in {(run.group, run.name): run for run in runs}.values():
        # An override of what is not there is an error of spaCy's.
        config = load_config(run.config, overrides=run.set)
        assert all(update % run.eval_frequency == 0 for update in run.updates), run.title
        assert config["training"]["eval_frequency"]


def test_groups_are_checked(modules, tmp_path):
    plan = modules[0]
    path = tmp_path / "plan.yml"
    path.write_text("corpora: {a: b}\ngroups: {one: {seeds: [0], corpora: [a], updates: [1], runs: {}, tpyo: 1}}\n")
    with pytest.raises(ValueError, match=r"the group 'one' of the plan has \['tpyo'\]; expected only"):
        plan.read_plan(path)


@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
@pytest.mark.parametrize("name, updates", [("nested_ner", [4, 8]), ("spancat", [4])])
def test_a_run_ends_with_its_scores(modules, sample, name, updates):
    plan, trial, _ = modules
    (first, *_) = (run for run in plan.read_plan() if run.group == "main" and run.name == name)
    run = dataclasses.replace(first, folder=sample, updates=updates, eval_frequency=4, corpus="sample")
    lines = []
    result, nlp = trial.train(run, progress=lines.append)
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
    assert set(point["test"]["labels"]) == {"PER", "ORG", "GPE", "LOC", "FAC", "VEH", "WEA"}
    # What is returned is what was scored.
    read = trial.registry.resolve({"test": trial._reader(sample / "test.spacy")})["test"]
    assert trial.evaluate(nlp, list(read(nlp))) == point["test"]
    assert json.loads(json.dumps(result)) == result


def test_the_page_has_the_numbers_of_the_results(modules):
    plan, _, tables = modules
    page = tables.DOCUMENT.read_text(encoding="utf-8")
    for group, runs in plan.runs_by_group().items():
        for corpus, names in tables.results_of(runs).items():
            assert f"<!-- {group} {corpus} -->" in page
            summary = {name: tables.summarise(found) for name, found in names.items()}
            assert tables.table(summary) in page, f"run experiments/tables.py: {group} {corpus}"
            if f"<!-- {group} {corpus} tuned -->" in page:
                assert tables.table(tables.tuned(summary)) in page, f"run experiments/tables.py: {group} {corpus}"


def test_the_tuned_pair_is_what_the_tables_call_tuned(modules):
    import confidence

    plan, _, tables = modules
    settings = tables.results_of(plan.runs_by_group()["settings"])["litbank"]
    tuned = tables.tuned({name: tables.summarise(found) for name, found in settings.items()})
    assert confidence.PAIRS["litbank-tuned"] == ("litbank", tuple(f"settings/{name}" for name in tuned))


def test_means_and_deviations(modules):
    tables = modules[2]

    def result(seed, f):
        scores = {"p": f, "r": f, "f": f, "nested_r": f, "labels": {"A": f, "B": 0.0}}
        point = {"best": 5, "test": scores, "tuned": {"threshold": None, "dev_f": f, "test": scores}}
        return {
            "seed": seed,
            "updates": [10],
            "last": {"points": {}},
            "averaged": {"curve": [], "points": {"10": point}},
        }

    points = tables.summarise([result(0, 0.5), result(1, 0.7)])
    assert points["10"]["f"]["mean"] == pytest.approx(0.6)
    assert points["10"]["f"]["sd"] == pytest.approx(0.1)
    row = tables.table({"one": points}).splitlines()[-1]
    assert row == "| one | 10 | 2 | 60.0 | 60.0 | 60.0 | 60.0 | 10.0 | 60.0 | B 0.0 |"
    page = "a\n<!-- one two -->\nold\n<!-- end -->\nb\n"
    assert tables.fill(page, "one two", row) == f"a\n<!-- one two -->\n{row}\n<!-- end -->\nb\n"
    assert tables.fill(page, "other", row) == page


def test_tuned_is_what_is_best_on_dev_in_the_end(modules):
    tables = modules[2]

    def points(*dev, seeds=3):
        return {str(n): {"seeds": list(range(seeds)), "dev_f": {"mean": f}} for n, f in enumerate(dev)}

    summaries = {
        "ours": points(0.5, 0.6),
        "theirs": points(0.3, 0.4),
        "ours, otherwise": points(0.4, 0.7),
        "theirs, otherwise": points(0.4, 0.3),
        "ours, of one seed": points(0.8, 0.8, seeds=1),
    }
    chosen = tables.tuned(summaries)
    assert chosen == {name: summaries[name] for name in ("ours, otherwise", "theirs")}


def test_confidence_is_the_mean_over_seeds(modules):
    import confidence

    def system(ece, **more):
        numbers = {"by_segments": {"half": ece, "area": 0.7}, "by_words": {"half": 0.3, "area": 0.6}}
        ranking = {unit: dict.fromkeys(("entropy", "length", "best"), values) for unit, values in numbers.items()}
        bins = [{"mentions": 0}, {"mentions": 100, "probability": 0.5}]
        return {"calibration": {"ece": ece, "bins": bins}, "error_ranking": ranking, **more}

    def seed(ece, temperature):
        fitted = {"as trained": system(ece), "calibrated": system(ece / 2, temperature=temperature)}
        return {"spancat": {"as trained": system(2 * ece)}, "nested_ner": fitted}

    results = {"genia": {"0": seed(0.1, 1.2), "1": seed(0.2, 1.4)}}
    assert confidence.calibration_table(results).splitlines()[2:] == [
        "| genia | spancat | as trained | 2 | 0.300 | 0.400 | 0.040 |",
        "| genia | nested_ner | as trained | 2 | 0.150 | 0.200 | 0.040 |",
        "| genia | nested_ner | calibrated, temperature 1.20–1.40 | 2 | 0.075 | 0.100 | 0.040 |",
    ]
    assert confidence.ranking_table(results).splitlines()[2] == "| genia | entropy | 2 | 0.15 | 0.70 | 0.30 | 0.60 |"


def test_thresholds_are_told_where_nested_recall_was_measured(modules):
    import confidence

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
    kept = confidence.both(results)
    assert {corpus: list(seeds) for corpus, seeds in kept.items()} == {"genia": ["0", "1"]}
    assert confidence.thresholds_table(results).splitlines()[2:] == [
        "| genia | spancat | 0.5 | 1 | 80.0 | 60.0 | 70.0 | 40.0 |",
        "| genia | nested_ner | 0.5 | 3 | 80.0 | 60.0 | 70.0 | 76.7 |",
    ]


def test_a_curve_dominates_only_from_above(modules):
    import confidence

    low, high = ([{"r": r, "p": p - r} for r in (0.2, 0.5, 0.9)] for p in (1.0, 1.1))
    assert confidence.dominates(high, low)
    assert not confidence.dominates(low, high)
    assert not confidence.dominates([*high[:1], {"r": 0.5, "p": 0.4}, *high[2:]], low)
