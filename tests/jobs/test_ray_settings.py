"""What the Ray engine refuses before it starts anything."""

import socket
import sys

import pytest
from ray_jobs import FakeJob, fake_pieces

from spacy_nested_ner.jobs import ray_engine


def start(**settings):
    return list(ray_engine.run(FakeJob("unused"), fake_pieces(1), **settings))


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"workers": 0}, "workers is 0; expected 1 or more"),
        ({"gpus_per_worker": -1}, "gpus_per_worker is -1; expected a whole number or"),
        ({"gpus_per_worker": 1.5}, r"gpus_per_worker is 1\.5; expected a whole number or"),
    ],
)
def test_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        start(**settings)


def test_ray_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "ray.data", raising=False)
    with pytest.raises(ValueError, match=r"the engine ray needs Ray Data .*pip install 'spacy-nested-ner\[ray\]'"):
        start()


@pytest.mark.parametrize("address", ["ray://10.0.0.1:10001", "10.0.0.1", "head:port"])
def test_not_an_address(address):
    pytest.importorskip("ray.data", reason="Ray Data is not installed")
    with pytest.raises(ValueError, match=f"the address is '{address}'; expected HOST:PORT or auto"):
        start(address=address)


def test_nothing_at_an_address(monkeypatch):
    pytest.importorskip("ray.data", reason="Ray Data is not installed")
    with socket.socket() as taken:  # but not listening
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(
            ValueError, match=r"no Ray cluster can be reached at '127.*Start one with `ray start --head`"
        ):
            start()
