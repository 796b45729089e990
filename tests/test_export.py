"""Mentions as plain dictionaries."""

import json
from time import process_time

import numpy as np
import pytest
import spacy
from hypothesis import given
from nested_documents import documents
from nested_examples import SENTENCES, make_doc, make_examples, train, trained
from spacy.tokens import Doc, DocBin, Span, SpanGroup

from spacy_nested_ner import mention_tree, mentions

NLP = spacy.blank("en")
WORDS = "a b c d e f".split()
FIELDS = "text label start end start_char end_char probability depth parent children".split()


def doc_with(spans, scores=None, words=WORDS, key="sc"):
    doc = Doc(NLP.vocab, words=words)
    attrs = {} if scores is None else {"scores": np.asarray(scores, dtype="float32")}
    spans = [Span(doc, start, end, label=label) for start, end, label in spans]
    doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attrs)
    return doc


@pytest.fixture(scope="module")
def nlp():
    return trained()


def test_gold_in_reading_order():
    doc = make_doc(NLP.vocab, SENTENCES[:1])
    rows = mentions(doc)
    assert [list(row) for row in rows] == [FIELDS] * 4
    assert [row["text"] for row in rows] == ["I", "Fabian from Bonn , Germany", "Bonn , Germany", "Germany"]
    assert [row["label"] for row in rows] == ["PER", "PER", "GPE", "GPE"]
    assert [row["depth"] for row in rows] == [1, 1, 2, 3]
    assert [row["parent"] for row in rows] == [None, None, 1, 2]
    assert [row["children"] for row in rows] == [[], [2], [3], []]
    assert {row["probability"] for row in rows} == {None}
    for row in rows:
        assert doc.text[row["start_char"] : row["end_char"]] == doc[row["start"] : row["end"]].text == row["text"]


def test_what_a_pipeline_finds(nlp):
    """Probabilities are Python floats, and stay with their mentions when a Doc is saved."""
    doc = nlp(make_doc(nlp.vocab, SENTENCES, key=None))
    [loaded] = DocBin(docs=[doc], store_user_data=True).get_docs(spacy.blank("en").vocab)
    rows = mentions(doc)
    assert mentions(loaded) == json.loads(json.dumps(rows)) == rows
    scores = {(s.start, s.end, s.label_): p for s, p in zip(doc.spans["sc"], doc.spans["sc"].attrs["scores"])}
    assert len(rows) == len(scores) > 10
    for row in rows:
        assert type(row["probability"]) is float
        assert row["probability"] == scores[row["start"], row["end"], row["label"]]


@pytest.mark.parametrize("factory", ["spancat", "spancat_singlelabel"])
def test_spancat(factory):
    """It writes spans in an order of its own, and they cross."""
    pipeline = spacy.blank("en")
    pipeline.add_pipe(factory)
    doc = train(pipeline, make_examples(pipeline), steps=2)(make_doc(pipeline.vocab, SENTENCES, key=None))
    rows = mentions(doc)
    assert json.loads(json.dumps(rows)) == rows
    assert {(row["start"], row["end"], row["label"]) for row in rows} == {
        (span.start, span.end, span.label_) for span in doc.spans["sc"]
    }
    assert all(type(row["probability"]) is float for row in rows)


def test_labels_on_one_span_are_siblings():
    rows = mentions(doc_with([(1, 2, "C"), (0, 3, "B"), (0, 3, "A")]))
    assert [(row["label"], row["depth"], row["parent"], row["children"]) for row in rows] == [
        ("A", 1, None, [2]),
        ("B", 1, None, []),
        ("C", 2, 0, []),
    ]


def test_mentions_that_cross():
    rows = mentions(doc_with([(0, 4, "A"), (2, 5, "B"), (2, 4, "C")]))
    assert [(row["label"], row["depth"], row["parent"]) for row in rows] == [
        ("A", 1, None),
        ("B", 1, None),
        ("C", 3, 1),
    ]


def test_repeated_mentions_keep_their_highest_probability():
    [row] = mentions(doc_with([(0, 1, "A")] * 3, [0.25, 0.75, 0.5]))
    assert row["probability"] == 0.75


def test_probabilities_that_do_not_belong_to_the_mentions_are_left_out():
    doc = doc_with([(0, 1, "A"), (1, 2, "A")], [0.25])
    assert [row["probability"] for row in mentions(doc)] == [None, None]


def test_no_mentions():
    assert mentions(doc_with([])) == mention_tree(doc_with([])) == []
    assert mentions(doc_with([], words=[])) == []


@given(documents(crossing=True, spaced=True))
def test_the_tree_has_all_mentions_in_the_same_order(docs):
    def flatten(nodes):
        for node in nodes:
            yield {key: value for key, value in node.items() if key != "children"}
            yield from flatten(node["children"])

    for doc in docs:
        rows = mentions(doc)
        by_place = {(row["start"], -row["end"], row["label"]): row for row in rows}
        assert list(by_place) == sorted(by_place)
        for number, row in enumerate(rows):
            assert row["children"] == [k for k, other in enumerate(rows) if other["parent"] == number]
        flat = sorted(flatten(mention_tree(doc)), key=lambda row: (row["start"], -row["end"], row["label"]))
        assert flat == [{key: row[key] for key in FIELDS[:-2]} for row in rows]


def test_many_mentions_take_no_quadratic_time():
    n = 5_000
    doc = Doc(NLP.vocab, words=["a"] * 2 * n)
    chain = [(i, 2 * n - i) for i in range(n // 2)]
    row = [(i, i + 1) for i in range(2 * n)]
    doc.spans["sc"] = SpanGroup(doc, spans=[Span(doc, start, end, "A") for start, end in chain + row])
    before = process_time()
    assert len(mentions(doc)) == len(chain) + len(row)
    assert process_time() - before < 2


@pytest.mark.filterwarnings("ignore:Using `httpx`")
def test_a_web_service_returns_them(nlp):
    fastapi = pytest.importorskip("fastapi")
    pytest.importorskip("httpx")
    from fastapi.testclient import TestClient

    app = fastapi.FastAPI()

    @app.get("/")
    def find(text: str) -> list[dict]:
        return mentions(nlp(text))

    text = "I am Fabian from Bonn , Germany ."
    found = TestClient(app).get("/", params={"text": text}).json()
    doc = nlp(text)
    assert found == mentions(doc)
    assert len(found) > 1


def test_errors_say_what_there_is():
    with pytest.raises(ValueError, match=r"no spans\['sc'\]: the keys are 'other' with 1 spans; set spans_key"):
        mentions(doc_with([(0, 1, "A")], key="other"))
    with pytest.raises(ValueError, match=r"no spans\['sc'\]: it has no spans at all"):
        mention_tree(Doc(NLP.vocab, words=["a"]))
    with pytest.raises(TypeError, match=r"expected a Doc, such as nlp\(text\) returns, not str 'I am Fabian'"):
        mentions("I am Fabian")
