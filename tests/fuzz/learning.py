"""Losses and their gradients against finite differences and enumeration, with complete and incomplete annotation."""

from typing import NamedTuple

import numpy as np

from spacy_nested_ner.decoders import Mention, PackedScores, reference
from spacy_nested_ner.decoders.decoder import decoder_from_settings
from spacy_nested_ner.pipeline.incomplete import Incomplete
from spacy_nested_ner.pipeline.loss import crf_loss

STEP = 1e-5


class Case(NamedTuple):
    """What a loss is computed of.

    settings (dict): Of the decoder.
    segments (list): Dense weights.
    limit (int | None): The longest span that is stored.
    gold (list): Of every segment: None, or known mentions, incorrect ones and the missing rate, which is None for
        complete annotation.
    smoothing (float): Of labels.
    """

    settings: dict
    segments: list
    limit: int | None
    gold: list
    smoothing: float


def make(random):
    kind = str(random.choice(["FlatDecoder", "QuadraticDecoder", "CubicDecoder"]))
    settings = {"decoder": kind, "multi_label": bool(random.integers(2)), "max_span_length": None}
    if kind == "QuadraticDecoder":
        settings["max_short_child"] = int(random.choice([1, 2, 5]))
    decoder = decoder_from_settings(settings)
    labels = int(random.integers(1, 3))
    limit = [None, None, 2, 3][random.integers(4)]
    segments, gold = [], []
    for _ in range(random.integers(1, 4)):
        n = int(random.integers(1, 5))
        weights = random.normal(scale=float(random.choice([0.1, 2.0, 30.0])), size=(n, n, labels))
        segments.append(weights.tolist())
        gold.append(_gold(random, decoder, n, labels, limit))
    return Case(settings, segments, limit, gold, float(random.choice([0.0, 0.0, 0.1, 0.5])))


def _gold(random, decoder, n, labels, limit):
    if random.integers(6) == 0:
        return None
    spans = [(i, j, t) for i in range(n) for j in range(i + 1, n + 1) for t in range(labels)]
    spans = [span for span in spans if limit is None or span[1] - span[0] <= limit]
    order = [spans[k] for k in random.permutation(len(spans))]
    count = random.integers(0, min(5, len(spans)) + 1)
    known = decoder.project([Mention(*span) for span in order[:count]], n)
    wrong = order[count : count + random.integers(0, 3)]
    rate = None if random.integers(2) else float(random.choice([1.0, 0.5, 1e-3, 1e-9]))
    return [[list(mention) for mention in known], wrong if rate else [], rate]


def check(case):
    decoder = decoder_from_settings(case.settings)
    arrays = [np.array(segment, dtype="float64") for segment in case.segments]
    gold = [_annotation(entry) for entry in case.gold]
    scores = PackedScores.pack(arrays, case.limit)
    loss, gradient = crf_loss(decoder, scores, gold, label_smoothing=case.smoothing)
    assert np.isfinite(loss)
    if not case.smoothing:
        expected = _enumerated(case, scores, gold)
        assert np.isclose(loss, expected, rtol=1e-9, atol=1e-9), f"loss {loss}, enumerated {expected}"
    for place in np.ndindex(scores.values.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = scores.like(scores.values.copy())
            moved.values[place] += step
            ends.append(crf_loss(decoder, moved, gold, label_smoothing=case.smoothing)[0])
        difference = (ends[0] - ends[1]) / (2 * STEP)
        assert np.isclose(difference, gradient[place], atol=1e-6), f"gradient {gradient[place]}, {difference}"


def _annotation(entry):
    if entry is None:
        return None
    known, incorrect, rate = entry
    mentions = [Mention(*mention) for mention in known]
    return mentions if rate is None else Incomplete(mentions, [Mention(*mention) for mention in incorrect], rate)


def _enumerated(case, scores, gold):
    """The loss by its definition, from all analyses of every segment."""
    others = {name: value for name, value in case.settings.items() if name != "decoder"}
    slow = getattr(reference, case.settings["decoder"])(**others)
    losses = []
    for array, annotation in zip(scores.unpack(), gold, strict=True):
        if annotation is None:
            continue
        known, wrong, rate = annotation if isinstance(annotation, Incomplete) else (annotation, (), 0.0)
        every, agreeing = [], []
        for analysis, weight in slow.k_best(array, 10**9):
            every.append(weight)
            mentions = set(analysis)
            others = len(mentions) - len(known)
            if mentions.issuperset(known) and mentions.isdisjoint(wrong) and (rate or not others):
                agreeing.append(weight + (others * np.log(rate) if others else 0.0))
        losses.append(np.logaddexp.reduce(every) - np.logaddexp.reduce(agreeing))
    return float(np.mean(losses)) if losses else 0.0
