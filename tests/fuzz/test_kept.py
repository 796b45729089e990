"""Cases that were odd once, and a few new ones. `make fuzz` makes up many more."""

import json

import numpy as np
import pytest
from fuzz.cases import KEPT, TARGETS, load
from helpers import random_scores

from spacy_nested_ner.decoders import CubicDecoder, Decoder, PackedScores

SEEDS = {"decoding": range(25), "learning": range(8), "reading": range(60)}


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_an_odd_case_is_right(path):
    target, case = load(path)
    target.check(case)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_some_cases_are_right(name):
    for seed in SEEDS[name]:
        TARGETS[name].check(TARGETS[name].make(np.random.default_rng(seed)))


@pytest.mark.parametrize("name", TARGETS)
def test_a_case_is_the_same_after_it_was_saved(name):
    """NaN and infinities, too; NaN is not equal to itself, but its name is."""
    case = TARGETS[name].make(np.random.default_rng(3))
    text = json.dumps(case._asdict())
    assert json.dumps(TARGETS[name].Case(**json.loads(text))._asdict()) == text


def test_what_is_wrong_is_noticed(monkeypatch):
    """A decoder that leaves a mention out is not the best one."""
    decoding = TARGETS["decoding"]
    settings = {"decoder": "FlatDecoder", "multi_label": False, "max_span_length": None}
    case = decoding.Case(settings, "float64", "plain", 1, [[[[1.0]]]])
    decoding.check(case)
    decode = decoding.decoder_from_settings

    def wrong(settings):
        decoder = decode(settings)
        monkeypatch.setattr(type(decoder), "decode", lambda self, scores: [[] for _ in scores])
        return decoder

    monkeypatch.setattr(decoding, "decoder_from_settings", wrong)
    with pytest.raises(AssertionError, match="not the best"):
        decoding.check(case)


def misread(scores):
    """With one weight that is not as it was."""
    if isinstance(scores, PackedScores):
        return PackedScores.pack(misread(scores.unpack()))
    if isinstance(scores, list):
        return [misread(array) for array in scores]
    scores = scores.copy()
    scores[2, 8, 0] = 50.0
    return scores


@pytest.mark.parametrize(
    "method",
    ["decode", "log_partition", "log_partition_and_marginals", "entropy", "k_best", "covariances", "analyze"],
)
def test_a_method_that_misreads_a_long_segment_is_noticed(monkeypatch, method):
    """It contradicts the others, and itself if it reads from the right."""
    decoding = TARGETS["decoding"]
    scores = random_scores(12, 2, seed=1)
    case = decoding.Case(CubicDecoder().settings(), "float64", "plain", 2, [scores.tolist()])
    decoding.check(case)
    right = getattr(Decoder, method)
    monkeypatch.setattr(
        Decoder, method, lambda self, scores, *others, **options: right(self, misread(scores), *others, **options)
    )
    with pytest.raises(AssertionError):
        decoding.check(case)
