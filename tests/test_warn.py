"""Warnings as users see them."""

import subprocess
import sys
import warnings

import pytest

from spacy_nested_ner._warn import warn


def test_a_warning_names_its_module_and_shows_no_source(tmp_path):
    """Neither ours nor the user's, in a real process."""
    program = "from spacy_nested_ner._warn import warn\nfor n in (1, 1, 2):\n    warn(f'Lost {n}')\n"
    (tmp_path / "program.py").write_text(program)
    result = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True)
    assert result.stderr == "__main__:3: UserWarning: Lost 1\n__main__:3: UserWarning: Lost 2\n"


def test_filters_work():
    with pytest.warns(DeprecationWarning, match="old"):
        warn("old", DeprecationWarning)
    for filtered in ({"category": UserWarning}, {"message": "Lost"}, {"module": __name__}):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", **filtered)
            warn("Lost 1")
        with warnings.catch_warnings():
            warnings.filterwarnings("error", **filtered)
            with pytest.raises(UserWarning, match="Lost 1"):
                warn("Lost 1")
