"""Training data of GLiNER."""

import json

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, write_docs

RECORD = {
    "tokenized_text": ["The", "mayor", "of", "Bonn", "met", "Ada", "Lovelace"],
    "ner": [[0, 3, "person"], [3, 3, "city or town"], [5, 6, "person"]],
}
FOUND = [("person", "The mayor of Bonn"), ("city or town", "Bonn"), ("person", "Ada Lovelace")]


@pytest.mark.parametrize(
    "text", [json.dumps([RECORD, RECORD]), json.dumps([RECORD, RECORD], indent=1), f"{json.dumps(RECORD)}\n" * 2]
)
def test_lists_and_lines(tmp_path, text):
    docs, report = read(save(tmp_path / "train.json", text), "gliner")
    assert [shown(doc) for doc in docs] == [FOUND, FOUND]
    assert not docs[0].has_annotation("SENT_START")
    assert not report.lost


def test_negative_labels_are_ignored_and_relations_counted(tmp_path):
    record = {**RECORD, "ner_negatives": ["date"], "ner_labels": ["person"], "relations": [[0, 2, "met"]]}
    docs, report = read(save(tmp_path / "train.jsonl", json.dumps(record)), "gliner")
    assert shown(docs[0]) == FOUND
    assert {what: loss.count for what, loss in report.lost.items()} == {"relations": 1}


@pytest.mark.parametrize(
    "fields, reason",
    [
        ({"tokenized_text": "Ada"}, "tokenized_text is 'Ada'; expected a list of str"),
        ({"tokenized_text": ["Ada", ""], "ner": []}, "word 1 is empty; expected at least one character"),
        ({"ner": {}}, "ner is {}; expected a list of list"),
        (
            {"ner": [[5, 7, "person"]]},  # as if the end were not included
            "mention [5, 7, 'person'] is not among the words 0 to 6; "
            "expected 0 <= start <= end <= 6, the end included, counted from the beginning of the text",
        ),
        (
            {"ner": [["Ada Lovelace", "person"]]},
            "['Ada Lovelace', 'person'] is not a mention; "
            'expected [start, end, "LABEL"], as in [0, 1, "PER"] for the first two words',
        ),
    ],
)
def test_bad_records(tmp_path, fields, reason):
    path = save(tmp_path / "train.json", json.dumps([RECORD, {**RECORD, **fields}, RECORD]))
    with pytest.raises(FormatError) as caught:
        read(path, "gliner")
    assert str(caught.value) == f"{path}, item 2: {reason}"
    docs, report = read(path, "gliner", skip_bad=True)
    assert len(docs) == 2
    assert report.bad.count == 1


def test_records_without_mentions_are_errors(tmp_path):
    path = save(tmp_path / "train.json", json.dumps([{"tokenized_text": ["Ada"], "entities": []}]))
    with pytest.raises(FormatError, match=r"item 1: expected an object with 'tokenized_text' and 'ner', not \{"):
        read(path, "gliner")


def test_what_is_written(tmp_path):
    path = save(tmp_path / "train.json", json.dumps([RECORD]))
    docs, _ = read(path, "gliner")
    report = write_docs(docs, tmp_path / "again.json", "gliner")
    assert json.loads((tmp_path / "again.json").read_text()) == [RECORD]
    assert not report.lost


def test_sentences_and_spacing_cannot_be_written(tmp_path):
    doc = make_doc([(["Ada", "."], [(0, 1, "PER")]), (["Bo"], [])], spaces=[False, True, False])
    report = write_docs([doc], tmp_path / "a.json", "gliner")
    assert {what: loss.count for what, loss in report.lost.items()} == {
        "sentence boundaries": 1,
        "spacing between words, in documents": 1,
    }
