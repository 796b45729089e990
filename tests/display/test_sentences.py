"""Sentences with their mentions."""

import pytest

from spacy_nested_ner.display.sentences import draw_sentence, lanes, probability


def test_outer_mentions_are_further_from_the_words():
    spans = [(0, 5), (0, 2), (3, 5), (4, 6)]
    found = lanes([{"start": start, "end": end, "label": "A"} for start, end in spans])
    assert [[(m["start"], m["end"]) for m in lane] for lane in found] == [[(0, 2), (3, 5)], [(4, 6)], [(0, 5)]]


def mention(start, end, label, correct=True):
    return {"start": start, "end": end, "label": label, "probability": 0.25, "correct": correct}


def test_gold_is_above_the_words_and_prediction_below():
    example = {
        "words": ["Ada", "&", "Bo"],
        "gold": [mention(0, 1, "PER"), mention(0, 3, "ORG", correct=False)],
        "predicted": [mention(2, 3, "PER", correct=False)],
    }
    text = draw_sentence(example, {"PER": "l0", "ORG": "l1"})
    first, second, third = text.split('<span class="w">')[1:]
    # Outer mentions come first above the words.
    assert first.index('class="m l1 missed start"') < first.index('class="m l0 start end"') < first.index("<b>Ada</b>")
    assert 'title="ORG, missed, probability 0.25"' in first
    assert "ORG <u>.25</u>" in first
    assert "<b>&amp;</b><i></i>" in second
    assert third.index("<b>Bo</b>") < third.index('class="m l0 spurious start end"')


@pytest.mark.parametrize("number, text", [(0.001, "0"), (0.25, ".25"), (0.996, "1.0")])
def test_probabilities_are_short(number, text):
    assert probability(number) == text
