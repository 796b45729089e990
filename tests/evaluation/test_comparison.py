"""Scores that `spacy evaluate` has saved."""

import json

import pytest

from spacy_nested_ner.evaluation.comparison import read_scores


def test_scores_of_a_key(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"spans_sc_f": 0.5, "spans_other_f": 0.25, "spans_other_nested_f": 0.125}))
    assert read_scores(path, ["f", "nested_f"]) == {"f": 0.5, "nested_f": None}
    assert read_scores(path, ["f", "nested_f"], spans_key="other") == {"f": 0.25, "nested_f": 0.125}
    with pytest.raises(ValueError, match=r"scores.json has no spans_x_f; .* See --spans-key"):
        read_scores(path, ["f"], spans_key="x")
