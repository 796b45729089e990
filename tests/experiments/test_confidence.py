"""Tables of confidence."""


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
