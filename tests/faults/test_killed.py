"""Three kills of every command that writes; `make faults` kills more often."""

import pytest
from faults.killing import COMMANDS, kill_often, worker

pytestmark = pytest.mark.slow


def test_a_killed_command_leaves_the_old_or_the_new(tmp_path):
    """One test for all of them: they share a process that has imported everything."""
    with worker(tmp_path) as running:
        for name in COMMANDS:
            kill_often(name, 3, tmp_path, running)
