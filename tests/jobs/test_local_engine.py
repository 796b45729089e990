"""Processes on this machine that take pieces, die, and are replaced. Real processes, without a pipeline."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ray_jobs import FakeJob, fake_pieces, processes

from spacy_nested_ner.jobs.local_engine import run


def wait_for(condition, seconds=60):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it takes too long"
        time.sleep(0.02)


def finished(folder):
    return sorted(path.name for path in Path(folder).glob("part-*"))


def test_one_process_is_this_process(tmp_path):
    done = list(run(FakeJob(str(tmp_path), seconds=0), fake_pieces(3)))
    assert [each.piece for each in done] == [0, 1, 2]
    assert processes(tmp_path) == [os.getpid()]
    assert list(run(FakeJob(str(tmp_path)), [])) == []
    with pytest.raises(ValueError, match="n_process is 0; expected 1 or more"):
        list(run(FakeJob(str(tmp_path)), fake_pieces(3), n_process=0))


@pytest.mark.slow
def test_processes_share_the_pieces(tmp_path):
    before = dict(os.environ)
    done = list(run(FakeJob(str(tmp_path), seconds=0.3), fake_pieces(8), n_process=2))
    assert sorted(each.piece for each in done) == list(range(8))
    assert len(processes(tmp_path)) == 2
    assert {Path(tmp_path, name).read_text() for name in finished(tmp_path)} == set(map(str, processes(tmp_path)))
    for pid in processes(tmp_path):
        assert "OPENBLAS_NUM_THREADS=1" in Path(tmp_path, f"worker-{pid}").read_text()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert dict(os.environ) == before


@pytest.mark.slow
def test_the_piece_of_a_killed_process_is_taken_again(tmp_path):
    results = run(FakeJob(str(tmp_path), seconds=0.5), fake_pieces(4), n_process=2)
    done = [next(results)]
    victim = processes(tmp_path)[0]
    os.kill(victim, signal.SIGKILL)
    done += results
    assert sorted(each.piece for each in done) == [0, 1, 2, 3]
    assert len(processes(tmp_path)) == 3
    assert len(finished(tmp_path)) == 4


@pytest.mark.slow
def test_a_piece_that_ends_every_process_is_reported_after_the_rest(tmp_path):
    results = run(FakeJob(str(tmp_path), seconds=0, fails="dying in piece 1"), fake_pieces(3), n_process=2)
    assert {next(results).piece, next(results).piece} == {0, 2}
    with pytest.raises(ValueError, match=r"1 pieces are not finished \(part-00001 from 1.txt\), .* died 3 times"):
        next(results)


@pytest.mark.slow
@pytest.mark.parametrize("fails, message", [("loading", "no such pipeline"), ("piece 1", "no space left on device")])
def test_errors_end_the_run(tmp_path, fails, message):
    with pytest.raises(ValueError, match=message):
        list(run(FakeJob(str(tmp_path), seconds=0, fails=fails), fake_pieces(3), n_process=2))


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them(tmp_path):
    program = (
        "from ray_jobs import *; from spacy_nested_ner.jobs.local_engine import run\n"
        f"if __name__ == '__main__': list(run(FakeJob({str(tmp_path)!r}, seconds=100), fake_pieces(3), n_process=2))"
    )
    script = tmp_path / "script.py"
    script.write_text(program)
    path = os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen([sys.executable, script], env={**os.environ, "PYTHONPATH": path})
    wait_for(lambda: len(processes(tmp_path)) == 2)
    parent.kill()
    parent.wait()

    def gone(pid):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        # Nobody may be there to collect what is left of it.
        status = Path(f"/proc/{pid}/status")
        return status.exists() and "State:\tZ" in status.read_text()

    wait_for(lambda: all(map(gone, processes(tmp_path))))


@pytest.mark.slow
def test_processes_that_die_while_loading_end_the_run(tmp_path):
    """Not three of them for every piece."""
    with pytest.raises(ValueError, match="processes died 3 times while they loaded 'fake'"):
        list(run(FakeJob(str(tmp_path), fails="dying while loading"), fake_pieces(50), n_process=2))
