"""The endpoints: what they answer, what they refuse, and that nothing that is sent makes them fail."""

import json
import re
import threading
import time
import warnings
from itertools import pairwise

import pytest

pytest.importorskip("fastapi")
schemathesis = pytest.importorskip("schemathesis")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from spacy_nested_ner.corpus import read_docs  # noqa: E402
from spacy_nested_ner.display.explorer.limits import Limits, allowed_hosts, host_name, is_allowed  # noqa: E402
from spacy_nested_ner.display.explorer.server import create_app  # noqa: E402

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the library it uses
    from fastapi.testclient import TestClient

pytestmark = pytest.mark.filterwarnings("ignore:Using .httpx. with", "ignore::DeprecationWarning")

TEXT = "The owner of the ferry and the harbor called the police."
SETTINGS = {"decoder": "cubic", "multi_label": True, "temperature": 2.0}
BASE = "http://localhost"


def body(text=TEXT, **more):
    source = {"text": text} if isinstance(text, str) else {"sentence": text}
    return {"source": source, "settings": SETTINGS, **more}


@pytest.fixture(scope="module")
def client(scorer, make_corpus):
    corpus = make_corpus()
    app = create_app(scorer, model="sample", corpus=corpus)
    with TestClient(app, base_url=BASE, raise_server_exceptions=False) as client:
        corpus.wait()
        yield client


# ---- answers ----


def test_the_facts_about_the_model(client):
    facts = client.get("/api/model").json()
    assert (facts["model"], facts["component"], facts["lang"], facts["span_limit"]) == (
        "sample",
        "nested_ner",
        "en",
        19,
    )
    assert facts["settings"]["decoder"] == "cubic"
    assert len({label["color"] for label in facts["labels"]}) == len(facts["labels"]) == 7
    state = {"name": "dev.txt", "documents": 16, "scored": 16, "sentences": 73, "has_gold": True, "failure": None}
    fingerprint = facts["corpus"].pop("fingerprint")
    assert re.fullmatch("[0-9a-f]{16}", fingerprint)
    assert facts["corpus"] == state


def test_an_analysis_has_mentions_and_their_drawing(client):
    answer = client.post("/api/analysis", json=body()).json()
    assert {m["label"] for m in answer["mentions"]} >= {"PER", "ORG"}
    (part,) = answer["parts"]
    assert part["drawing"].count("data-start=") == len(answer["mentions"])
    assert 'role="button"' in part["drawing"]
    assert answer["tokens"][1] == [4, 9]
    assert answer["stretches"] == [[0, 12]]
    assert answer["gold"] is None
    assert answer["where"] is None


def test_long_texts_are_drawn_in_parts(client):
    text = " ".join([TEXT] * 40)
    answer = client.post("/api/analysis", json=body(text)).json()
    parts = answer["parts"]
    assert len(parts) > 3
    assert [part["start"] for part in parts] == [0, *(part["end"] for part in parts[:-1])]
    assert sum(part["drawing"].count("data-start=") for part in parts) == len(answer["mentions"])


def test_a_sentence_has_gold_errors_and_a_place(client):
    found = client.get("/api/sentences", params={"error": "any", "limit": 1}).json()
    (row,) = found["rows"]
    answer = client.post("/api/analysis", json=body(row["number"])).json()
    assert answer["where"] == row["where"]
    assert 'data-status="right"' in answer["parts"][0]["drawing"]
    assert answer["gold"]
    assert answer["errors"]
    assert {error["kind"] for error in answer["errors"]} <= {"missed", "spurious", "label", "boundary"}


def test_sentences_have_neighbors(client):
    numbers = [row["number"] for row in client.get("/api/sentences?error=any&limit=50").json()["rows"]]

    def neighbors(around):
        found = client.get("/api/sentences", params={"error": "any", "limit": 0, "around": around}).json()
        assert found["rows"] == []
        return found["previous"], found["next"]

    first, second, third = numbers[:3]
    assert neighbors(second) == (first, third)
    assert neighbors(first) == (None, second)
    assert client.get("/api/sentences?error=any&limit=0").json()["next"] == first
    # A sentence without errors, between two that have some.
    before, after = next(pair for pair in pairwise(numbers) if pair[0] + 1 < pair[1])
    assert neighbors(before + 1) == (before, after)
    assert client.get("/api/sentences?entropy=1000").json()["total"] == 0


def test_decoders_are_compared(client):
    answer = client.post("/api/comparison", json=body()).json()
    assert [row["decoder"] for row in answer["decoders"]] == ["flat", "quadratic", "cubic"]
    assert answer["differing"] > 0
    (stretch,) = answer["stretches"]
    assert len(stretch["drawings"]) == 3
    assert len(stretch["differing"]) == answer["differing"]


def test_heat_map_alternatives_and_competitors(client):
    heat = client.post("/api/heat-map", json=body(start=0, end=12)).json()
    assert heat["words"][:2] == ["The", "owner"]
    assert {(cell["start"], cell["end"]) for cell in heat["cells"]} > {(9, 11), (3, 5)}
    others = client.post("/api/alternatives", json=body(start=9, end=11)).json()
    assert others["text"] == "the police"
    assert others["probabilities"][0][0] == "ORG"
    assert len(others["probabilities"]) == 7
    found = client.post("/api/competitors", json=body(start=0, end=12)).json()
    assert not found["on_its_own"]
    assert found["analyses"][0]["differing"] == found["analyses"][0]["added"] == []
    assert found["analyses"][1]["differing"]
    assert client.post("/api/competitors", json=body(start=0, end=6)).json()["on_its_own"]


def test_exports(client):
    texts = {
        name: client.post("/api/export", json=body(format=name)).json()["text"]
        for name in ("json", "brackets", "python")
    }
    assert json.loads(texts["json"])["settings"]["temperature"] == 2.0
    assert "[ORG the police]" in texts["brackets"]
    assert "pipe.temperature = 2.0" in texts["python"]
    sentence = client.post("/api/export", json=body(3, format="python")).json()["text"]
    assert "sent_starts=" in sentence
    compile(sentence, "sentence", "exec")


@pytest.mark.parametrize("format", ["spacy", "jsonl"])
def test_corrections_are_files(client, tmp_path, format):
    marks = [{"start": 9, "end": 11, "label": "ORG", "verdict": "wrong"}]
    texts = [{"source": {"text": TEXT}, "marks": marks}, {"source": {"sentence": 0}, "marks": [], "complete": True}]
    response = client.post("/api/corrections", json={"texts": texts, "format": format})
    assert response.status_code == 200
    assert response.headers["content-disposition"] == f'attachment; filename="corrections.{format}"'
    (tmp_path / f"c.{format}").write_bytes(response.content)
    first, second = read_docs(tmp_path / f"c.{format}")
    assert [span.text for span in first.spans["sc_incorrect"]] == ["the police"]
    assert second.spans["sc"].attrs["incomplete"] is True, "only one of its sentences is complete"


# ---- refusals ----


def refused(response, status, message):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert "content-security-policy" in response.headers
    assert message in response.json()["error"]
    return True


def test_every_failure_is_a_sentence(client):
    post = client.post
    assert refused(client.get("/nothing"), 404, "Not Found.")
    assert refused(client.delete("/api/model"), 405, "Method Not Allowed.")
    typed = {"Content-Type": "application/json"}
    assert refused(post("/api/analysis", content=b"{", headers=typed), 422, "JSON decode error")
    assert refused(post("/api/analysis", content=b"{}"), 422, "The request is not JSON; expected a JSON object")
    assert refused(post("/api/analysis", json={}), 422, "source: Field required")
    long = post("/api/analysis", json=body("x" * 100_001))
    assert refused(long, 422, "The text has 100,001 characters; expected at most 100,000.")
    half = json.dumps(body("\ud800")).encode()
    assert refused(post("/api/analysis", content=half, headers=typed), 422, "source.text is '\\ud800'")
    assert refused(post("/api/analysis", json=body(9999)), 422, "There is no sentence 9999 yet; expected 0 to 72.")
    both = {"source": {"text": "a", "sentence": 1}, "settings": SETTINGS}
    assert refused(post("/api/analysis", json=both), 422, "either a text or the number of a sentence")
    cold = {**body(), "settings": {**SETTINGS, "temperature": 0}}
    assert refused(
        post("/api/analysis", json=cold),
        422,
        "settings.temperature is 0: Input should be greater than or equal to 0.01",
    )
    assert refused(post("/api/heat-map", json=body("word " * 200, start=0, end=190)), 422, "expected at most 120")
    assert refused(post("/api/alternatives", json=body(start=4, end=99)), 422, "The span is 4:99")
    assert refused(client.get("/api/sentences?error=x"), 422, "error is 'x'")
    mark = {"start": 0, "end": 1, "label": "PER", "verdict": "right"}
    texts = [{"source": {"text": TEXT}, "marks": [mark, {**mark, "verdict": "wrong"}]}]
    wrong = post("/api/corrections", json={"texts": texts, "format": "spacy"})
    assert refused(wrong, 422, "PER 'The' is marked as right and as wrong")


def test_without_a_corpus_sentences_are_refused(scorer):
    with TestClient(create_app(scorer, model="sample"), base_url=BASE) as client:
        assert client.get("/api/model").json()["corpus"] is None
        assert refused(client.get("/api/sentences"), 422, "started without --data")
        assert refused(client.post("/api/analysis", json=body(0)), 422, "started without --data")


def test_an_error_of_our_own_is_a_sentence_too(scorer, monkeypatch):
    monkeypatch.setattr(scorer, "text", lambda text: 1 / 0)
    app = create_app(scorer, model="sample")
    with TestClient(app, base_url=BASE, raise_server_exceptions=False) as client:
        response = client.post("/api/analysis", json=body())
    assert response.status_code == 500
    assert response.json() == {"error": "The explorer has failed. The terminal in which it was started shows why."}


def test_the_page_may_load_nothing_from_elsewhere(client):
    response = client.get("/")
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    for header in ("x-content-type-options", "x-frame-options", "referrer-policy"):
        assert header in response.headers
    for text in (response.text, client.get("/drawing.css").text, client.get("/static/explorer.css").text):
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text
    assert "style=" not in response.text
    assert "<script>" not in response.text


@pytest.mark.parametrize("path", ["/static/../view.py", "/static/%2e%2e/view.py", "/static/..%2fview.py", "/docs"])
def test_no_other_file_can_be_read(client, path):
    assert refused(client.get(path), 404, "Not Found")


def test_other_names_and_other_sites_are_refused(client):
    assert refused(client.get("/", headers={"Host": "evil.example"}), 403, "was called 'evil.example'")
    assert refused(client.get("/", headers={"Host": "192.168.0.7:8080"}), 403, "expected 127.0.0.1, ::1, localhost")
    assert client.get("/", headers={"Host": "[::1]:8080"}).status_code == 200
    evil = client.post("/api/analysis", json=body(), headers={"Origin": "http://evil.example"})
    assert refused(evil, 403, "comes from a page of 'http://evil.example'")
    own = client.post("/api/analysis", json=body(), headers={"Origin": "http://localhost"})
    assert own.status_code == 200
    plain = client.post("/api/analysis", content=json.dumps(body()), headers={"Content-Type": "text/plain"})
    assert plain.status_code == 422, "what a form of another site could send is not taken for JSON"


def test_which_names_are_allowed():
    local = allowed_hosts("127.0.0.1", ["Explorer.example"])
    assert is_allowed("explorer.example", local)
    assert not is_allowed("10.0.0.1", local)
    everywhere = allowed_hosts("0.0.0.0")
    assert is_allowed("10.0.0.1", everywhere)
    assert is_allowed("fe80::1", everywhere)
    assert not is_allowed("evil.example", everywhere)
    assert is_allowed("10.0.0.1", allowed_hosts("10.0.0.1"))
    assert [host_name(h) for h in ("A:80", "[::1]:80", "::1", "a", "")] == ["a", "::1", "::1", "a", ""]


def test_large_requests_are_refused(scorer):
    app = create_app(scorer, model="sample", limits=Limits(request_bytes=1000))
    with TestClient(app, base_url=BASE) as client:
        assert client.post("/api/analysis", json=body()).status_code == 200
        message = "The request is too large; expected at most 1,000 bytes"
        assert refused(client.post("/api/analysis", json=body("x" * 2000)), 413, message)
        pieces = (b" " * 400 for _ in range(4))  # without a length
        assert refused(client.post("/api/analysis", content=pieces), 413, message)


def test_slow_and_many_requests_are_refused(scorer, monkeypatch):
    """What is too slow still counts until it is done."""
    go_on = threading.Event()
    real = scorer.text

    def slow(text):
        if text == "slow":
            go_on.wait(60)
        return real(text)

    monkeypatch.setattr(scorer, "text", slow)
    app = create_app(scorer, model="sample", limits=Limits(requests=1, seconds=0.3))
    with TestClient(app, base_url=BASE) as client:
        client.post("/api/analysis", json=body())  # once, so that it is fast
        assert refused(client.post("/api/analysis", json=body("slow")), 504, "This took longer than 0.3 seconds")
        assert refused(client.post("/api/analysis", json=body()), 503, "busy with 1 requests, the limit")
        go_on.set()
        for _ in range(50):
            if (answer := client.post("/api/analysis", json=body())).status_code == 200:
                break
            time.sleep(0.05)
        assert answer.status_code == 200


# ---- anything else ----


@pytest.fixture(scope="module")
def schema(scorer, corpus):
    """Without the thread that scores the corpus: it is scored already."""
    corpus.start = lambda: None
    app = create_app(scorer, model="sample", corpus=corpus, allow_hosts=["testserver"])
    return schemathesis.openapi.from_asgi("/openapi.json", app)


def test_the_description_names_every_endpoint_and_limit(client):
    description = client.get("/openapi.json").json()
    for limit in ("2,000,000 bytes", "20 seconds", "100,000 characters", "8 requests"):
        assert limit in description["info"]["description"]
    paths = description["paths"]
    names = (
        "model",
        "analysis",
        "comparison",
        "heat-map",
        "alternatives",
        "competitors",
        "export",
        "sentences",
        "corrections",
    )
    assert set(paths) == {f"/api/{name}" for name in names}
    assert all(operation["summary"] for path in paths.values() for operation in path.values())


@pytest.mark.slow
@pytest.mark.parametrize("mode", GenerationMode)
def test_nothing_that_is_sent_makes_it_fail(schema, mode):
    """Requests that fit the description, and requests that do not."""
    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    statuses = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        if mode is GenerationMode.NEGATIVE and operation.path == "/api/model":
            continue  # nothing can be wrong with it

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(max_examples=6, deadline=None, database=None, derandomize=True, suppress_health_check=[*HealthCheck])
        def send(case):
            statuses.add(case.call_and_validate(checks=checks).status_code)

        send()
    assert 422 in statuses
    assert 200 in statuses or mode is GenerationMode.NEGATIVE
