"""Measures of confidence, against numbers made by hand."""

import numpy as np
import pytest

from spacy_nested_ner.evaluation import log_loss, ranking, reliability
from spacy_nested_ner.evaluation.confidence import NEGLIGIBLE_ERROR, is_miscalibrated


def test_reliability():
    result = reliability([0.95, 0.95, 0.65, 0.6, 1.0], [True, False, True, True, True])
    rows = {round(row["from"], 1): row for row in result["bins"] if row["mentions"]}
    assert set(rows) == {0.6, 0.9}
    assert (rows[0.9]["mentions"], rows[0.6]["mentions"]) == (3, 2)
    assert rows[0.9]["correct"] == pytest.approx(2 / 3)
    assert result["ece"] == pytest.approx((abs(2.9 - 2) + abs(1.25 - 2)) / 5)
    assert len(reliability([0.5], [True], n_bins=15)["bins"]) == 15
    nothing = reliability([], [])
    assert nothing["ece"] is None
    assert nothing["by_chance"] is None


def test_probabilities_just_above_one():
    """As the softmax of another component rounds them."""
    assert reliability([1 + 1e-7] * 3, [True] * 3) == reliability([1.0] * 3, [True] * 3)


def test_a_calibrated_model_has_no_error():
    random = np.random.default_rng(0)
    p = random.random(200_000)
    assert reliability(p, random.random(len(p)) < p)["ece"] < 0.005
    assert reliability(p, random.random(len(p)) < p**2)["ece"] > 0.1


def test_the_error_that_exact_probabilities_have_by_chance():
    random = np.random.default_rng(0)
    p = 1 - random.random(1000) ** 2
    drawn = [reliability(p, random.random(len(p)) < p) for _ in range(200)]
    assert drawn[0]["by_chance"] == pytest.approx(np.mean([each["ece"] for each in drawn]), rel=0.05)
    assert reliability(np.tile(p, 4), np.ones(4000))["by_chance"] == pytest.approx(drawn[0]["by_chance"] / 2)


def test_log_loss():
    assert log_loss([0.5, 0.25], [True, False]) == pytest.approx(-(np.log(0.5) + np.log(0.75)) / 2)
    assert log_loss([0.0], [True]) < 14
    assert log_loss([], []) == 0


def test_ranking():
    # Read in the order 3, 1, 0, 2: errors 3, 1, 0, 0.
    result = ranking([1.0, 2.0, 0.5, 3.0], [0, 1, 0, 3])
    assert result["half"] == 0.25
    assert result["area"] == pytest.approx(0.25 * (0.75 / 2 + (0.75 + 1) / 2 + 1 + 1))
    assert result["curve"][25] == pytest.approx(0.75)
    assert (result["curve"][0], result["curve"][50], result["curve"][100]) == (0, 1, 1)
    # The one with most errors has 7 of 10 words.
    by_words = ranking([1.0, 2.0, 0.5, 3.0], [0, 1, 0, 3], [1, 1, 1, 7])
    assert by_words["half"] == 0.7
    assert by_words["area"] == pytest.approx(0.7 * 0.375 + 0.1 * 0.875 + 0.2)


def test_a_random_order_has_half_the_area():
    random = np.random.default_rng(0)
    errors = random.poisson(1.0, size=20_000)
    assert ranking(random.random(len(errors)), errors)["area"] == pytest.approx(0.5, abs=0.01)
    assert ranking(errors, errors)["area"] > 0.7
    assert ranking(-errors, errors)["area"] < 0.3


def test_nothing_to_rank():
    assert ranking([], []) == ranking([1.0], [0]) == {"curve": None, "area": None, "half": None}


@pytest.mark.slow
def test_exact_probabilities_exceed_the_limit_once_in_a_hundred_times():
    random = np.random.default_rng(0)
    p = random.random(300)
    drawn = [reliability(p, random.random(len(p)) < p) for _ in range(1000)]
    limit = drawn[0]["chance_limit"]
    assert all(each["chance_limit"] == limit for each in drawn), "the same whenever it is computed again"
    assert 0.003 < np.mean([each["ece"] > limit for each in drawn]) < 0.02
    assert not is_miscalibrated(reliability([], []))
    assert np.mean([is_miscalibrated(each) for each in drawn]) < 0.02
    assert is_miscalibrated(reliability(p, random.random(len(p)) < p**2))


def test_a_small_error_is_no_reason_to_calibrate():
    """However certain it is."""
    p = np.full(1_000_000, 0.9)
    result = reliability(p, np.arange(len(p)) < 0.889 * len(p))
    assert result["chance_limit"] < result["ece"] < NEGLIGIBLE_ERROR
    assert not is_miscalibrated(result)
