"""Training data of spaCy 2."""

import json

import pytest
import spacy
from nested_documents import read, save, shown
from spacy.training.gold_io import docs_to_json

from spacy_nested_ner.annotation import INCOMPLETE
from spacy_nested_ner.corpus import FormatError

PAIR = ["The mayor of Bonn met Ada.", {"entities": [[0, 17, "PER"], [13, 17, "GPE"], [22, 25, "PER"]]}]
FOUND = [("PER", "The mayor of Bonn"), ("GPE", "Bonn"), ("PER", "Ada")]


@pytest.mark.parametrize(
    "name, text",
    [
        ("train.json", json.dumps([PAIR, PAIR])),
        ("train.json", json.dumps([PAIR, PAIR], indent=1)),
        ("train.jsonl", f"{json.dumps(PAIR)}\n" * 2),
        ("train.json", f"{json.dumps(PAIR)}\n" * 2),
        ("train.json", json.dumps({"classes": ["PER", "GPE"], "annotations": [PAIR, None, PAIR]})),
    ],
)
def test_pairs(tmp_path, name, text):
    docs, report = read(save(tmp_path / name, text), "spacy-v2")
    assert [doc.text for doc in docs] == [PAIR[0]] * 2
    assert [shown(doc) for doc in docs] == [FOUND] * 2
    assert not report.lost


def test_spans_of_spacy_3(tmp_path):
    spans = {"sc": [[0, 17, "PER"], [13, 17, "GPE", "Q586"]], "other": [[0, 3, "X"]]}
    pairs = [[PAIR[0], {"entities": [[22, 25, "PER"], [0, 17, "PER"]], "spans": spans}], [PAIR[0], {"cats": {}}]]
    path = save(tmp_path / "train.json", json.dumps(pairs))
    docs, report = read(path, "spacy-v2")
    assert [shown(doc) for doc in docs] == [FOUND, []]
    assert report.lost["mentions of examples that have neither entities nor spans"].places == [
        f"{path}, item 2: it has cats"
    ]


@pytest.mark.parametrize(
    "pair, reason",
    [
        (
            ["Ada"],
            "['Ada'] is not an example; "
            'expected ["text", {"entities": [[0, 4, "LABEL"]]}], or an object with paragraphs',
        ),
        (["Ada", {"entities": 1}], "entities is 1; expected a list of list"),
        (
            ["Ada", {"entities": [[0, 3]]}],
            '[0, 3] in entities: expected [start, end, "LABEL"], counted in characters',
        ),
        (
            ["Ada", {"entities": [[0, 4, "PER"]]}],
            "mention PER 0:4 is not in a text of 3 characters; expected 0 <= start < end <= 3",
        ),
        (
            ["Ada", {"entities": [[0, 2, "PER"]]}],
            "mention PER 'Ad' in 'Ada' begins or ends inside a token; "
            "set misaligned to split, to split the token, or to drop, to leave out the mention",
        ),
        ({"text": "Ada"}, "expected an object with 'paragraphs', not {'text': 'Ada'}"),
        ({"paragraphs": 1}, "paragraphs is 1; expected a list of dict"),
    ],
)
def test_bad_items(tmp_path, pair, reason):
    path = save(tmp_path / "train.json", json.dumps([PAIR, pair, PAIR]))
    with pytest.raises(FormatError) as caught:
        read(path, "spacy-v2")
    assert str(caught.value) == f"{path}, item 2: {reason}"
    docs, report = read(path, "spacy-v2", skip_bad=True)
    assert len(docs) == 2
    assert report.bad.count == 1


def token(orth, ner="O", **fields):
    return {"id": 0, "orth": orth, "tag": "NN", "head": 0, "dep": "ROOT", "ner": ner, **fields}


SENTENCES = [
    {"tokens": [token("Ada", "U-PER"), token("sings"), token(".")], "brackets": []},
    {"tokens": [token("New", "B-GPE"), token("York", "L-GPE"), token("listens"), token(".")], "brackets": []},
]


def document(**paragraph):
    return [{"id": 0, "paragraphs": [{"sentences": SENTENCES, "cats": [], **paragraph}]}]


def test_paragraphs(tmp_path):
    path = save(
        tmp_path / "train.json", json.dumps(document(raw="Ada  sings. New York\nlistens.") + document(), indent=1)
    )
    docs, report = read(path, "spacy-v2")
    assert [doc.text for doc in docs] == ["Ada  sings. New York\nlistens.", "Ada sings . New York listens . "]
    assert [token.text for token in docs[0]] == ["Ada", " ", "sings", ".", "New", "York", "\n", "listens", "."]
    for doc in docs:
        assert shown(doc) == [("PER", "Ada"), ("GPE", "New York")]
        assert [sent[0].text for sent in doc.sents] == ["Ada", "New"]
        assert INCOMPLETE not in doc.spans["sc"].attrs
    assert not report.lost


def test_what_spacy_itself_writes(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp("Ada Lovelace sings.\nNew York listens.")
    doc.set_ents([doc.char_span(0, 12, "PER"), doc.char_span(20, 28, "GPE")])
    path = save(tmp_path / "train.json", json.dumps([docs_to_json([doc, doc])]))
    docs, _ = read(path, "spacy-v2")
    for other in docs:
        assert other.text == doc.text
        assert [token.text for token in other] == [token.text for token in doc]
        assert [sent.text for sent in other.sents] == [sent.text for sent in doc.sents]
        assert shown(other) == [("PER", "Ada Lovelace"), ("GPE", "New York")]
    assert len(docs) == 2


def test_spaces_of_tokens(tmp_path):
    sentences = [{"tokens": [token("Ada", "U-PER", space=""), token(".", space=" ")]}]
    docs, _ = read(save(tmp_path / "train.json", json.dumps(document(sentences=sentences, raw=None))), "spacy-v2")
    assert docs[0].text == "Ada. "


@pytest.mark.parametrize("ner", ["-", None, ""])
def test_words_without_a_tag_make_the_annotation_incomplete(tmp_path, ner):
    sentences = [{"tokens": [token("Ada", "U-PER"), token("sings", ner)]}]
    docs, _ = read(save(tmp_path / "train.json", json.dumps(document(sentences=sentences))), "spacy-v2")
    assert shown(docs[0]) == [("PER", "Ada")]
    assert docs[0].spans["sc"].attrs[INCOMPLETE] is True


@pytest.mark.parametrize(
    "paragraph, reason",
    [
        ({"sentences": 1}, "sentences is 1; expected a list of dict"),
        ({"sentences": [{}]}, "tokens is None; expected a list of dict"),
        (
            {"sentences": [{"tokens": [{"orth": 1, "ner": "O"}]}]},
            """token {'orth': 1, 'ner': 'O'}: expected strings for "orth" and "ner\"""",
        ),
        (
            {"sentences": [{"tokens": [token("Ada", "L-PER")]}]},
            "tag 0 is 'L-PER', with no PER to end there; expected B-PER or I-PER before it",
        ),
        ({"raw": "Ada sings. York"}, """the word 'New' is not in "raw" from ' York' on; correct one of them"""),
        ({"raw": "Ada sings. In New York listens."}, "no token for ' In '; expected tokens for the whole text"),
    ],
)
def test_bad_paragraphs(tmp_path, paragraph, reason):
    path = save(tmp_path / "train.json", json.dumps(document() + document(**paragraph)))
    with pytest.raises(FormatError) as caught:
        read(path, "spacy-v2")
    assert str(caught.value) == f"{path}, item 2, paragraph 1: {reason}"
    docs, report = read(path, "spacy-v2", skip_bad=True)
    assert len(docs) == 1
    assert report.bad.count == 1
