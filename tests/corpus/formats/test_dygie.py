"""The format of DyGIE++ and PURE, and that of biaffine-ner."""

import json

import pytest
from nested_documents import make_doc, mentions, read, save, shown
from spacy.tokens import Span

from spacy_nested_ner.corpus import FormatError, write_docs

SENTENCES = [["Ada", "from", "Bonn", "sings", "."], ["The", "mayor", "of", "Bonn", "listens", "."]]
BY_DOCUMENT = {
    "doc_key": "concert-1",
    "sentences": SENTENCES,
    "ner": [[[0, 2, "PER"], [2, 2, "GPE"]], [[5, 8, "PER"], [8, 8, "GPE"]]],
}
BY_SENTENCE = {
    "doc_key": "concert-1",
    "ners": [[[0, 2, "PER"], [2, 2, "GPE"]], [[0, 3, "PER"], [3, 3, "GPE"]]],
    "sentences": SENTENCES,
}
FOUND = [("PER", "Ada from Bonn"), ("GPE", "Bonn"), ("PER", "The mayor of Bonn"), ("GPE", "Bonn")]


def write(tmp_path, *records, name="train.json"):
    return save(tmp_path / name, "".join(json.dumps(record) + "\n" for record in records))


@pytest.mark.parametrize("record", [BY_DOCUMENT, BY_SENTENCE])
def test_the_end_is_included(tmp_path, record):
    docs, report = read(write(tmp_path, record, record), "dygie")
    for doc in docs:
        assert shown(doc) == FOUND
        assert [sent.start for sent in doc.sents] == [0, 5]
    assert len(docs) == 2
    assert not report.lost


def test_other_annotation_and_predictions_are_counted(tmp_path):
    others = {
        "dataset": "concerts",
        "_sentence_start": [0, 5],
        "relations": [[[0, 0, 2, 2, "FROM"]], []],
        "clusters": [[[2, 2], [8, 8]]],
        "events": [[], [[[9, "Listen"], [5, 8, "Agent"]]]],
        "predicted_ner": [[[0, 2, "PER", 3.5, 0.98]], []],
        "predicted_relations": [[], []],
    }
    docs, report = read(write(tmp_path, {**BY_DOCUMENT, **others}), "dygie")
    assert shown(docs[0]) == FOUND
    assert {what: loss.count for what, loss in report.lost.items()} == {
        "relations": 1,
        "events": 1,
        "coreference clusters": 2,
        "predictions": 1,
    }


def test_documents_without_mentions_are_reported(tmp_path):
    path = write(tmp_path, {"doc_key": "a", "sentences": SENTENCES}, {"doc_key": "b", "sentences": [], "ner": []})
    docs, report = read(path, "dygie")
    assert [len(doc) for doc in docs] == [11, 0]
    assert report.lost["mentions of documents that have neither ner nor ners"].places == [
        f"{path}, line 1: it has doc_key, sentences"
    ]


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"sentences": 1}, ": sentences is 1; expected a list of list"),
        ({"sentences": [["Ada"], [1]]}, ": a sentence is [1]; expected a list of str"),
        ({"ner": 1}, ": ner is 1; expected a list of list"),
        ({"ner": [[]]}, ": ner has 1 lists for 2 sentences; expected one per sentence"),
        (
            {"ner": [[[0, 5, "PER"]], []]},
            ", ner of sentence 1: mention [0, 5, 'PER'] is not among the words 0 to 4; "
            "expected 0 <= start <= end <= 4, the end included, counted from the beginning of the document",
        ),
        (
            {"ner": [[], [[0, 3, "PER"]]]},  # counted from the beginning of the sentence
            ", ner of sentence 2: mention [0, 3, 'PER'] is not among the words 5 to 10; "
            "expected 5 <= start <= end <= 10, the end included, counted from the beginning of the document",
        ),
        (
            {"ner": [[[2, 1, "PER"]], []]},
            ", ner of sentence 1: mention [2, 1, 'PER'] is not among the words 0 to 4; "
            "expected 0 <= start <= end <= 4, the end included, counted from the beginning of the document",
        ),
        (
            {"ner": [[[0, 1]], []]},
            ", ner of sentence 1: [0, 1] is not a mention; "
            'expected [start, end, "LABEL"], as in [0, 1, "PER"] for the first two words',
        ),
        ({"ner": [[[0, 1, ""]], []]}, ": label '': expected a string of at least one character"),
    ],
)
def test_bad_documents(tmp_path, fields, message):
    path = write(tmp_path, BY_DOCUMENT, {**BY_DOCUMENT, **fields}, BY_SENTENCE)
    with pytest.raises(FormatError) as caught:
        read(path, "dygie")
    assert str(caught.value) == f"{path}, line 2{message}"
    docs, report = read(path, "dygie", skip_bad=True)
    assert [shown(doc) for doc in docs] == [FOUND, FOUND]
    assert report.bad.count == 1


def test_words_of_yu_et_al_are_counted_by_sentence(tmp_path):
    path = write(tmp_path, {**BY_SENTENCE, "ners": [[], [[5, 8, "PER"]]]})
    with pytest.raises(
        FormatError, match=r"is not among the words 0 to 5; .* counted from the beginning of the sentence$"
    ):
        read(path, "biaffine-ner")


@pytest.mark.parametrize("format, record", [("dygie", BY_DOCUMENT), ("biaffine-ner", BY_SENTENCE)])
def test_what_is_written(tmp_path, format, record):
    docs, _ = read(write(tmp_path, record), format)
    report = write_docs(docs, tmp_path / "again.jsonl", format)
    assert json.loads((tmp_path / "again.jsonl").read_text()) == {**record, "doc_key": "document-1"}
    assert not report.lost


def test_mentions_across_sentences_cannot_be_written(tmp_path):
    doc = make_doc([(["Ada"], []), (["Bo"], [])])
    doc.spans["sc"] = [Span(doc, 0, 2, label="X"), Span(doc, 1, 2, label="PER")]
    report = write_docs([doc], tmp_path / "a.jsonl", "dygie")
    assert list(report.lost) == ["mentions across a sentence boundary"]
    docs, _ = read(tmp_path / "a.jsonl", "dygie")
    assert mentions(docs[0]) == [(1, 2, "PER")]
