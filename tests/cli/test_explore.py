"""`spacy nested-ner explore`, as users call it."""

import json
import re
import signal
import socket
import subprocess
import sys
import webbrowser
from urllib.request import urlopen

import pytest
import spacy
from commands import ROOT, fails, run

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from spacy_nested_ner.display.explorer import serving


@pytest.mark.slow
def test_a_process_serves_the_page_until_it_is_interrupted():
    command = [sys.executable, "-m", "spacy", "nested-ner", "explore", "sample", "--data", "assets/sample/dev.txt"]
    process = subprocess.Popen(
        [*command, "--port", "0", "--no-browser"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        address = re.fullmatch(r"The explorer is at (http://127\.0\.0\.1:\d+); press Ctrl-C to stop it\n", line)[1]
        facts = json.load(urlopen(f"{address}/api/model"))
        assert (facts["model"], facts["corpus"]["name"]) == ("sample", "dev.txt")
        assert b"<title>" in urlopen(address).read()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, output, errors) == (0, "", "")


@pytest.mark.slow
def test_the_browser_is_opened_at_the_address(monkeypatch):
    opened = []

    def serve(app, listener, *, browse):
        opened.append(browse)

    monkeypatch.setattr(serving, "serve", serve)
    result = run("explore", "sample", "--port", "0")
    assert result.exit_code == 0, result.output
    assert opened[0] in result.output
    assert run("explore", "sample", "--port", "0", "--no-browser").exit_code == 0
    assert opened[1] is None


def test_a_server_that_is_ready_opens_the_browser(monkeypatch):
    """In this process, so that it is the browser of the test."""
    from fastapi import FastAPI

    listener = serving.listen("127.0.0.1", 0)
    server = serving.Server(FastAPI(), "http://somewhere")
    opened = []

    def open_browser(address):
        opened.append((address, server.started))
        server.should_exit = True

    monkeypatch.setattr(webbrowser, "open", open_browser)
    server.run(sockets=[listener])
    assert opened == [("http://somewhere", True)]


def test_addresses_for_browsers_on_this_machine():
    for host, name in (("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("localhost", "localhost")):
        with serving.listen(host, 0) as listener:
            assert serving.address_of(listener, host) == f"http://{name}:{listener.getsockname()[1]}"


def test_errors_say_what_to_do(tmp_path, monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        message = f"port {port} at 127.0.0.1 is in use; choose another one with --port, or any free one: --port 0"
        assert message in fails("explore", "sample", "--port", port)
    assert "host is 'no such host', which is no address" in fails("explore", "sample", "--host", "no such host")
    assert "cannot listen at 192.0.2.1" in fails("explore", "sample", "--host", "192.0.2.1", "--port", "0")
    assert "MODEL is 'nowhere', but there is no such folder or package" in fails("explore", "nowhere", "--port", "0")
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert "has no component nested_ner, but no components" in fails("explore", tmp_path / "blank", "--port", "0")
    assert "see --spans-key" in fails("explore", "sample", "--spans-key", "other", "--port", "0")
    missing = tmp_path / "missing.spacy"
    assert str(missing) in fails("explore", "sample", "--data", missing, "--port", "0")
    monkeypatch.setattr("spacy_nested_ner.cli.explore.find_spec", lambda name: None)
    expected = "explore needs fastapi and uvicorn, which are not installed; run pip install 'spacy-nested-ner[explore]'"
    assert expected in fails("explore", "sample")


@pytest.mark.slow
def test_the_command_line_starts_without_a_web_framework():
    """spaCy imports all commands when it starts."""
    program = "import sys, spacy_nested_ner.cli; print(*sorted({'fastapi', 'uvicorn', 'starlette'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.returncode, result.stdout.strip()) == (0, "")
