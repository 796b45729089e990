"""The Ray engine on a cluster of two nodes, both on this machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from helpers import listen_to_interrupts
from ray_jobs import FakeJob, SlowJob, fake_pieces, processes

from spacy_nested_ner.jobs import ray_engine
from spacy_nested_ner.jobs.collection import annotate
from spacy_nested_ner.jobs.job import Done, Job

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("ray.data", reason="Ray Data is not installed")
from ray.cluster_utils import Cluster  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(r"ignore::DeprecationWarning:ray\..*"),
    pytest.mark.skipif(sys.platform == "win32", reason="Ray has no clusters on Windows"),
]


@pytest.fixture(autouse=True)
def time_limit() -> Iterator[None]:
    """What goes wrong on a cluster often does not end."""

    def stop(*_: Any) -> None:
        raise TimeoutError("the test takes longer than five minutes")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """The first node, with one CPU, to which this process is connected."""
    with pytest.MonkeyPatch.context() as patch:
        # Workers import this package and the jobs of these tests.
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_MODE", "disabled")
        # Otherwise, lost nodes are missed after half a minute only.
        settings = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
        cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 1, "include_dashboard": False, "_system_config": settings},
        )
        try:
            ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


@pytest.fixture
def second_node(cluster) -> Iterator[Any]:
    node = cluster.add_node(num_cpus=1)
    yield node
    if node in cluster.worker_nodes:
        cluster.remove_node(node)


@pytest.fixture
def run_elsewhere(cluster, tmp_path) -> Iterator[Any]:
    """Start a process that runs 100 pieces, and wait until the first is finished."""
    started = []

    def start(address: str | None) -> subprocess.Popen[str]:
        code = (
            "from ray_jobs import FakeJob, fake_pieces\n"
            "from spacy_nested_ner.jobs import ray_engine\n"
            f"job = FakeJob({str(tmp_path)!r}, seconds=0.2)\n"
            f"list(ray_engine.run(job, fake_pieces(100), address={address!r}, workers=1))\n"
        )
        listen_to_interrupts()
        started.append(subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True))
        wait_for(lambda: finished(tmp_path))
        return started[0]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def read_until(process: subprocess.Popen[str], last: str, seconds: float = 120) -> list[str]:
    """The lines of the error output up to this one."""
    lines: list[str] = []
    limit = Timer(seconds, process.kill)
    limit.start()
    try:
        assert process.stderr is not None
        while last not in lines:
            lines.append(process.stderr.readline())
            assert lines[-1], f"the process ended without {last!r}: {''.join(lines)}"
    finally:
        limit.cancel()
    return lines


def finished(output: Path) -> list[str]:
    return sorted(path.name for path in output.glob("part-*"))


def wait_for(condition, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"nothing happened for {seconds} seconds"
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    """Zombies do not count: in a container, there may be nobody who waits for them."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # not Linux, or gone just now
        return not Path("/proc/self").exists()


def wait_for_end_of_workers(output: Path) -> None:
    wait_for(lambda: not any(map(is_alive, processes(output))))
    assert len(finished(output)) < 50, "workers went on alone"


def test_the_output_is_that_of_one_process_although_a_worker_and_a_node_die(
    cluster, second_node, tmp_path, monkeypatch
):
    places, names = ["Dorvin", "Ostrel", "Kestria", "Halden"], ["Milo Brandt", "Åsa Lindqvist", "Ines Varga"]
    texts = [
        f"{name}, the {k}th mayor of {place}, met the president of the Bank of {places[k % 4]}."
        for k, (name, place) in enumerate((name, place) for name in names * 5 for place in places)
    ]
    lines = [json.dumps({"id": f"doc{k}", "text": text}) for k, text in enumerate(texts)]
    source = tmp_path / "texts.jsonl"
    source.write_text("\n".join([*lines, "no JSON"]))
    settings = {"shard_size": source.stat().st_size // 20}
    alone = annotate(Job("sample", str(tmp_path / "alone")), [str(source)], **settings)

    monkeypatch.setattr(ray_engine, "_MAX_BLOCKS", 6)  # several pieces per block

    def disturbed(job: Job, pieces: Any) -> Iterator[Done]:
        for number, done in enumerate(ray_engine.run(job, pieces)):
            yield done
            if number == 2:
                os.kill(processes(tmp_path / "ray")[0], signal.SIGKILL)
            if number == 8:
                cluster.remove_node(second_node, allow_graceful=False)

    together = annotate(SlowJob("sample", str(tmp_path / "ray")), [str(source)], engine=disturbed, **settings)
    assert len(finished(tmp_path / "alone")) >= 18
    assert len(processes(tmp_path / "ray")) >= 2, "nothing was started again"
    assert together._replace(seconds=0, words_per_second=0) == alone._replace(seconds=0, words_per_second=0)
    for folder in ("", "errors"):
        expected = {path.name: path.read_bytes() for path in (tmp_path / "alone" / folder).glob("part-*")}
        assert {path.name: path.read_bytes() for path in (tmp_path / "ray" / folder).glob("part-*")} == expected


def test_results_come_as_they_finish_from_workers_with_one_thread(cluster, second_node, tmp_path, monkeypatch):
    monkeypatch.setattr(ray_engine, "_MAX_BLOCKS", 2)
    run = ray_engine.run(FakeJob(str(tmp_path), seconds=0.3), fake_pieces(8))
    done = [(each, len(finished(tmp_path))) for each in run]
    assert sorted(each for each, _ in done) == [Done(n, 1, 10, -1, 0, 0.3) for n in range(8)]
    assert done[0][1] < 4, "results waited for the others of their block"
    for process in processes(tmp_path):
        environment = set((tmp_path / f"worker-{process}").read_text().splitlines())
        assert environment >= {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"}


@pytest.mark.parametrize("pieces, workers", [(1, 1), (36, 2), (500, 4), (30, 100), (100_000, 2)])
def test_blocks_become_smaller_and_are_not_too_many(pieces, workers):
    blocks = list(ray_engine._blocks(range(pieces), workers))
    assert [piece for block in blocks for piece in block] == list(range(pieces))
    sizes = [len(block) for block in blocks[:-1]]  # the last one has what is left
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes, default=1) <= max(8, pieces / 10_000)
    assert len(blocks) <= 10_000
    if pieces < 10_000:
        assert len(blocks[-1]) == 1


def test_all_but_a_piece_that_kills_its_workers_is_finished(cluster, tmp_path, capfd):
    job = FakeJob(str(tmp_path), fails="dying in piece 1")
    with pytest.raises(ValueError, match=r"part-00001 from 1\.txt.* died 3 times.*the same command"):
        list(ray_engine.run(job, fake_pieces(3)))
    assert finished(tmp_path) == ["part-00000", "part-00002"]
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "fails, message",
    [
        ("loading", r"^no such pipeline \(on "),
        ("piece 0", r"^no space left on device \(on "),
        ("dying while loading", r"^workers died 3 times on .* while they loaded 'fake'; if memory"),
    ],
)
def test_what_fails_every_time_is_an_error(cluster, tmp_path, fails, message):
    with pytest.raises(ValueError, match=message):
        list(ray_engine.run(FakeJob(str(tmp_path), fails=fails), fake_pieces(2)))


def test_workers_with_gpus_use_the_first_one_that_they_see(cluster, tmp_path):
    node = cluster.add_node(num_cpus=2, num_gpus=1)
    try:
        run = ray_engine.run(FakeJob(str(tmp_path)), fake_pieces(4), gpus_per_worker=0.5)
        assert [done.mentions for done in run] == [0, 0, 0, 0]  # gpu_id
    finally:
        cluster.remove_node(node)
    for process in processes(tmp_path):
        assert "CUDA_VISIBLE_DEVICES=0" in (tmp_path / f"worker-{process}").read_text().splitlines()


def test_workers_end_with_the_results(cluster, tmp_path):
    results = ray_engine.run(FakeJob(str(tmp_path), seconds=0.2), fake_pieces(100))
    next(results)
    results.close()
    assert ray.is_initialized(), "a connection that was there before is kept"
    wait_for_end_of_workers(tmp_path)


def test_workers_on_a_cluster_end_when_the_driver_is_interrupted(cluster, run_elsewhere, tmp_path):
    driver = run_elsewhere(cluster.address)
    driver.send_signal(signal.SIGINT)
    # Up to its last line, not to its end: on a busy machine, Python sometimes waits for Ray's threads after that.
    errors = read_until(driver, "KeyboardInterrupt\n")
    assert errors.count("Traceback (most recent call last):\n") == 1
    wait_for_end_of_workers(tmp_path)


def test_workers_on_this_machine_end_when_the_driver_is_killed(run_elsewhere, tmp_path):
    driver = run_elsewhere(None)
    driver.kill()
    wait_for_end_of_workers(tmp_path)


def test_gpus_that_are_not_there(cluster):
    with pytest.raises(ValueError, match=r"has no node with 1 CPU and 1 GPU for a worker; add one or"):
        list(ray_engine.run(FakeJob("unused"), fake_pieces(1), gpus_per_worker=1))
