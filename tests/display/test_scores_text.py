"""Scores as text."""

import pytest

from spacy_nested_ner.display.scores_text import describe_calibration
from spacy_nested_ner.evaluation import Calibration, Confidence, ThresholdChoice, ThresholdScore
from spacy_nested_ner.evaluation.scores import Estimate

NONE = ThresholdScore(None, 0.8, 0.6, 0.686)
TRIED = [ThresholdScore(n / 20, 0.7, 0.6, 0.646) for n in range(1, 20)]


def describe(place, gain, *, is_chosen=False):
    """What is printed if the threshold at this place is the best."""
    scores = [NONE, *TRIED]
    choice = ThresholdChoice(NONE, scores[place] if is_chosen else NONE, scores[place], Estimate(*gain), scores)
    confidence = Confidence(1.5, 20.0, 0.4, 0.05, 0.04)
    return describe_calibration(Calibration(190, 0, confidence, confidence, choice))


@pytest.mark.parametrize(
    ("gain", "is_chosen", "reason"),
    [
        ((0.021, 0.004, 0.035), True, "The threshold is set to 0.3: +2.1 points of F (95 %: +0.4 to +3.5)"),
        (
            (0.021, -0.01, 0.045),
            False,
            "No threshold is set: the best one, 0.3, gives +2.1 points of F (95 %: −1.0 to +4.5), which may be chance",
        ),
        (
            (0.021, None, None),
            False,
            "No threshold is set: the best one, 0.3, gives +2.1 points of F, but fewer than two documents with "
            "mentions cannot tell a gain from chance. Tune it on more documents",
        ),
        ((0.0, -0.01, 0.01), False, "No threshold is set: none of those from 0.05 to 0.95 has a higher F"),
        ((-0.04, -0.06, -0.01), False, "No threshold is set: none of those from 0.05 to 0.95 has a higher F"),
    ],
)
def test_the_reason_for_a_threshold(gain, is_chosen, reason):
    text = describe(6, gain, is_chosen=is_chosen)
    assert text.endswith(f"\n\n{reason}")
    rows = [line.split() for line in text.splitlines()]
    assert ["threshold", "none", "0.3" if is_chosen else "none"] in rows
    assert ["R", "60.0", "60.0"] in rows


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (6, ["none", "0.2", "0.25", "0.3", "0.35", "0.4"]),
        (1, ["none", "0.05", "0.1", "0.15"]),
        (19, ["none", "0.85", "0.9", "0.95"]),
    ],
)
def test_thresholds_near_the_best_are_shown(place, shown):
    table = describe(place, (0.02, 0.01, 0.03)).split("\n\n")[1]
    assert [line.split()[0] for line in table.splitlines()[2:]] == shown
