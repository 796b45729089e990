"""What training keeps in memory."""

import json
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from nested_examples import make_examples, trained

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "long_document.py"


def test_the_scores_are_gone_before_the_backward_pass(monkeypatch):
    """They are as large as the gradient: one number per span and label."""
    nlp = trained(steps=1)
    model = nlp.get_pipe("nested_ner").model
    forward, kept = model._func, []

    def watched(model, X, is_train):
        scores, backprop = forward(model, X, is_train)
        seen = weakref.ref(scores)

        def checked(d_scores):
            kept.append(seen())
            return backprop(d_scores)

        return scores, checked

    monkeypatch.setattr(model, "_func", watched)
    nlp.update(make_examples(nlp))
    assert kept == [None]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no resource module")
def test_training_on_a_document_of_50_000_tokens_takes_less_than_2_gb():
    result = subprocess.run(
        [sys.executable, str(SCRIPT), "--tokens", "50000", "--update-only", "--json"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    peaks = json.loads(result.stdout)
    assert peaks["ready"] < peaks["update"] < 2000
