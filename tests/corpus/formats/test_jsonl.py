"""JSON lines, as spaCy, Prodigy, doccano and published corpora have them."""

import json

import pytest
import spacy
from nested_documents import make_doc, mentions, read, save, shown
from spacy.tokens import Span

from spacy_nested_ner.corpus import FormatError, write_docs

TEXT = "Fabian from Bonn, Germany"


def write(tmp_path, *records):
    """Records, or lines that are none, and a blank line."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    return save(tmp_path / "corpus.jsonl", "\n".join(lines) + "\n\n")


@pytest.mark.parametrize("name", ["mentions", "entities", "spans"])
@pytest.mark.parametrize("label", ["label", "type"])
def test_by_words(tmp_path, name, label):
    words = ["Fabian", "from", "Bonn", "Ada"]
    items = [{"start": 2, "end": 3, label: "GPE"}, {"start": 0, "end": 3, label: "PER"}]
    docs, _ = read(write(tmp_path, {"tokens": words, name: items, "sent_starts": [0, 3]}, {"tokens": ["Ada"]}))
    assert [token.text for token in docs[0]] == words
    assert shown(docs[0]) == [("PER", "Fabian from Bonn"), ("GPE", "Bonn")]
    assert [sent.start for sent in docs[0].sents] == [0, 3]
    assert docs[0].has_unknown_spaces
    assert mentions(docs[1]) == []


@pytest.mark.parametrize(
    "record",
    [
        {
            "spans": [{"start": 0, "end": 25, "label": "PER"}, {"start": 12, "end": 16, "label": "GPE"}],
            "answer": "accept",
        },
        {"label": [[0, 25, "PER"], [12, 16, "GPE"]], "id": 7},
        {"labels": [[0, 25, "PER"], [12, 16, "GPE"]]},
        {"entities": [[0, 25, "PER"], [12, 16, "GPE"]]},
        {
            "entities": [
                {"id": 1, "label": "PER", "start_offset": 0, "end_offset": 25},
                {"id": 2, "label": "GPE", "start_offset": 12, "end_offset": 16},
            ],
            "relations": [],
        },
    ],
)
def test_by_characters(tmp_path, record):
    docs, report = read(write(tmp_path, {"text": TEXT, **record}))
    assert docs[0].text == TEXT
    assert shown(docs[0]) == [("PER", TEXT), ("GPE", "Bonn")]
    assert not report.lost


def test_doc_to_json(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("Ada sings.  Bo\ntoo.")
    doc.spans["sc"] = [Span(doc, 0, 1, label="PER"), Span(doc, 0, 2, label="ACT")]
    doc.spans["other"] = [Span(doc, 0, 3, label="X")]
    docs, _ = read(write(tmp_path, doc.to_json()))
    assert [token.text for token in docs[0]] == [token.text for token in doc]
    assert docs[0].text == doc.text
    assert [sent.text for sent in docs[0].sents] == [sent.text for sent in doc.sents]
    assert shown(docs[0]) == [("ACT", "Ada sings"), ("PER", "Ada")]


def test_tokens_of_other_tokenizers(tmp_path):
    record = {
        "text": " Ada-Bo  sings\n",
        "tokens": [{"start": 1, "end": 4}, {"start": 4, "end": 7}, {"start": 9, "end": 14}],
        "spans": [{"start": 1, "end": 4, "label": "PER"}],
    }
    docs, _ = read(write(tmp_path, record))
    assert [token.text for token in docs[0]] == [" ", "Ada", "-Bo", " ", "sings", "\n"]
    assert docs[0].text == record["text"]
    assert shown(docs[0]) == [("PER", "Ada")]


@pytest.mark.parametrize(
    "fields, found, lost",
    [
        ({"spans": [], "entities": [[0, 6, "PER"]]}, [("PER", "Fabian")], {}),
        (
            {"ents": [{"start": 0, "end": 6, "label": "PER"}], "spans": {}},
            [("PER", "Fabian")],
            {"documents without spans['sc']": "it has no spans"},
        ),
        ({"ents": [], "spans": {"foo": []}}, [], {"documents without spans['sc']": "it has 'foo'"}),
        (
            {"annotations": [[0, 6, "PER"]]},
            [],
            {
                "mentions of records that have none of spans, entities, labels, label, ents": (
                    "it has 'text', 'annotations'"
                )
            },
        ),
    ],
)
def test_mentions_under_other_names_are_found_or_reported(tmp_path, fields, found, lost):
    path = write(tmp_path, {"text": TEXT, **fields})
    docs, report = read(path)
    assert shown(docs[0]) == found
    assert {what: loss.places for what, loss in report.lost.items()} == {
        what: [f"{path}, line 1: {reason}"] for what, reason in lost.items()
    }


def test_relations_are_counted(tmp_path):
    path = write(tmp_path, {"text": TEXT, "spans": [], "relations": [{}, {}]})
    _, report = read(path)
    assert {what: (loss.count, loss.places) for what, loss in report.lost.items()} == {
        "relations": (2, [f"{path}, line 1"])
    }


def test_text_may_be_longer_than_a_pipeline_takes(tmp_path):
    docs, _ = read(write(tmp_path, {"text": "abcdefghi " * 100_001, "spans": []}))
    assert len(docs[0].text) > spacy.blank("en").max_length


def test_rejected_records_are_counted(tmp_path):
    answers = {"a": "reject", "b": "ignore", "c": None}
    path = write(tmp_path, *({"text": text, "spans": [], "answer": answer} for text, answer in answers.items()))
    docs, report = read(path)
    assert [doc.text for doc in docs] == ["c"]
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "records answered 'reject'": [f"{path}, line 1"],
        "records answered 'ignore'": [f"{path}, line 2"],
    }


@pytest.mark.parametrize(
    "record, reason",
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes, at character 2"),
        ("[1]", 'expected an object with "text" or "tokens", not \'[1]\''),
        ({"text": 1}, '"text" is 1; expected a string'),
        ({"text": "a", "spans": 1}, "mentions are 1; expected a list"),
        (
            {"text": "a", "spans": [1]},
            '1 is not a mention; expected [0, 2, "PER"], or an object with start, end and label',
        ),
        (
            {"text": "a", "spans": [[0, True, "X"]]},
            "mention [0, True, 'X']: expected integers for start and end, and a string for label",
        ),
        (
            {"text": "a", "spans": [{"start": 0, "end": 1}]},
            "mention {'start': 0, 'end': 1}: expected integers for start and end, and a string for label",
        ),
        ({"text": "a", "spans": [[0, 1, ""]]}, "label '': expected a string of at least one character"),
        (
            {"text": "a", "spans": [[0, 2, "X"]]},
            "mention X 0:2 is not in a text of 1 characters; expected 0 <= start < end <= 1",
        ),
        ({"text": "a b", "spans": [[1, 2, "X"]]}, "mention X 1:2 is only whitespace; expected at least one word"),
        (
            {"text": "a", "tokens": ["a"]},
            '"tokens" is [\'a\']; expected a list of objects with start and end, in a record with "text"',
        ),
        ({"text": "a b", "tokens": [{"start": 0, "end": 1}]}, "no token for ' b'; expected tokens for the whole text"),
        (
            {"text": "a", "tokens": [{"start": 0, "end": 2}]},
            "token 0:2 is empty, out of order, or not in a text of 1 characters; expected tokens one after the other",
        ),
        ({"text": "\ud800", "spans": []}, "'\\ud800' is half of a surrogate pair; correct the text"),
        ({"tokens": "a"}, "\"tokens\" is 'a'; expected a list of str"),
        ({"tokens": [1]}, '"tokens" is [1]; expected a list of str'),
        ({"tokens": ["a", ""]}, "word 1 is empty; expected at least one character"),
        ({"tokens": ["a"], "spaces": [True, True]}, '"spaces" has 2 values for 1 tokens; expected one each'),
        ({"tokens": ["a"], "spaces": [1]}, '"spaces" is [1]; expected a list of bool'),
        ({"tokens": ["a"], "sent_starts": [True]}, '"sent_starts" is [True]; expected a list of int'),
        ({"tokens": ["a"], "sent_starts": [1]}, '"sent_starts" is [1]; expected numbers from 0 to 0'),
        (
            {"tokens": ["a"], "mentions": [[0, 2, "X"]]},
            "mention (0, 2, 'X') is not a span of 1 tokens; expected 0 <= start < end <= 1",
        ),
    ],
)
def test_bad_records(tmp_path, record, reason):
    path = write(tmp_path, {"text": "good"}, record, {"tokens": ["good", "too"]})
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == f"{path}, line 2: {reason}"
    docs, report = read(path, skip_bad=True)
    assert [len(doc) for doc in docs] == [1, 2]
    assert report.bad.places == [f"{path}, line 2: {reason}"]


def test_what_is_written(tmp_path):
    doc = make_doc([(["Ada", "."], [(0, 1, "PER")])], spaces=[False, False])
    write_docs([doc], tmp_path / "words.jsonl")
    assert json.loads((tmp_path / "words.jsonl").read_text()) == {
        "tokens": ["Ada", "."],
        "mentions": [{"start": 0, "end": 1, "label": "PER"}],
        "sent_starts": [0],
        "spaces": [False, False],
    }
    write_docs([doc], tmp_path / "text.jsonl", "jsonl-text")
    assert json.loads((tmp_path / "text.jsonl").read_text()) == {
        "text": "Ada.",
        "spans": [{"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"}],
        "tokens": [
            {"text": "Ada", "start": 0, "end": 3, "id": 0, "ws": False},
            {"text": ".", "start": 3, "end": 4, "id": 1, "ws": False},
        ],
        "sents": [{"start": 0, "end": 4}],
    }


@pytest.mark.parametrize("format", ["jsonl-tokens", "jsonl-text"])
def test_incomplete_annotation_is_kept(tmp_path, format):
    nlp = spacy.blank("en")
    docs = [nlp.make_doc("Fabian from Bonn sings") for _ in range(3)]
    for doc, rate in zip(docs, (True, 0.25)):
        doc.spans["sc"] = [Span(doc, 0, 3, "PER")]
        doc.spans["sc"].attrs["incomplete"] = rate
        doc.spans["sc_incorrect"] = [Span(doc, 2, 3, "PER"), Span(doc, 3, 4)]
    docs[2].spans["sc_incorrect"] = [Span(docs[2], 3, 4)]  # nothing else is known of this one
    write_docs(docs, tmp_path / "part.jsonl", format)
    again, report = read(tmp_path / "part.jsonl")
    assert not report.lost
    assert [doc.spans["sc"].attrs["incomplete"] for doc in again] == [True, 0.25, True]
    assert [mentions(doc) for doc in again] == [[(0, 3, "PER")], [(0, 3, "PER")], []]
    wrong = [[(span.start, span.end, span.label_) for span in doc.spans["sc_incorrect"]] for doc in again]
    assert wrong == [[(2, 3, "PER"), (3, 4, "")], [(2, 3, "PER"), (3, 4, "")], [(3, 4, "")]]


def test_complete_documents_have_no_marks(tmp_path):
    write_docs([make_doc([(["Ada"], [(0, 1, "PER")])])], tmp_path / "whole.jsonl")
    assert json.loads((tmp_path / "whole.jsonl").read_text()).keys().isdisjoint({"incomplete", "incorrect"})


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"incomplete": 2}, '"incomplete" is 2; expected true, false, or the share'),
        ({"incomplete": "yes"}, "\"incomplete\" is 'yes'"),
        ({"incorrect": "all"}, "\"incorrect\" is 'all'; expected a list of dict"),
        ({"incorrect": [{"start": 0, "end": 9}]}, 'in "incorrect" is not a span of the document'),
        ({"incorrect": [{"start": "0", "end": 1}]}, "expected integers for start and end"),
    ],
)
def test_wrong_marks_of_incomplete_annotation(tmp_path, fields, message):
    with pytest.raises(FormatError, match=message):
        read(write(tmp_path, {"tokens": ["Ada", "sings"], "mentions": [], **fields}))


def test_incorrect_spans_inside_a_token_are_reported(tmp_path):
    docs, report = read(write(tmp_path, {"text": TEXT, "spans": [], "incorrect": [{"start": 0, "end": 3}]}))
    assert len(docs[0].spans["sc_incorrect"]) == 0
    assert report.lost["incorrect spans that begin or end inside a token"].count == 1
