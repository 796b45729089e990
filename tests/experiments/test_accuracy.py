"""Means over seeds, and their tables."""

import pytest


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
