"""Decisions that depend on the size of a corpus only."""

from pathlib import Path

import pytest
from thinc.api import Config

from spacy_nested_ner.configs import TEMPLATES, read_template
from spacy_nested_ner.configs.contents import Contents
from spacy_nested_ner.configs.decisions import (
    BATCH,
    PIECES,
    decide_dropout,
    decide_evaluation,
    decide_reader,
    decide_weight_decay,
)


@pytest.mark.parametrize(
    "words, frequency, steps",
    [(1, 50, "1 step"), (50_001, 51, "51 steps"), (200_000, 200, "200 steps"), (9_000_000, 200, "9,000 steps")],
)
def test_evaluation(words, frequency, steps):
    decision = decide_evaluation(Contents(Path(), words=words))
    assert decision.value == f"every {frequency} steps"
    assert decision.why == f"one pass over the data is about {steps}"
    assert decision.values == {"training.eval_frequency": frequency}


@pytest.mark.parametrize("name", TEMPLATES)
def test_batches_and_evaluation_are_those_of_the_templates(name):
    training = Config().from_str(read_template(name))["training"]
    assert training["batcher"]["size"] == BATCH
    assert training["eval_frequency"] == 200


@pytest.mark.parametrize("name", TEMPLATES)
def test_only_documents_longer_than_a_piece_are_cut(name):
    for more, value in enumerate(["whole", "in pieces"]):
        contents = Contents(Path(), longest=PIECES[name] + more, with_sentences=1)
        assert decide_reader(contents, name, "sc").value == value
    assert decide_reader(Contents(Path(), longest=9999), name, "sc").value == "whole", "there is no place to cut"


def test_weight_decay():
    small = decide_weight_decay(Contents(Path(), words=199_999))
    assert (small.value, small.values) == ("1.0", {"training.optimizer.L2": 1.0})
    large = decide_weight_decay(Contents(Path(), words=200_000))
    assert (large.value, large.values) == ("0.3", {})
    assert Config().from_str(read_template("tok2vec"))["training"]["optimizer"]["L2"] == 0.3


def test_dropout():
    small = decide_dropout(Contents(Path(), words=59_999))
    assert (small.value, small.values) == ("0.3", {"training.dropout": 0.3})
    large = decide_dropout(Contents(Path(), words=60_000))
    assert (large.value, large.values) == ("0.1", {})
    assert Config().from_str(read_template("tok2vec"))["training"]["dropout"] == 0.1
