"""Words and tags as in datasets of Hugging Face."""

import json

import pytest
from nested_documents import read, save, shown

from spacy_nested_ner.corpus import FormatError

TOKENS = ["Ada", "Lovelace", "met", "Bo", "in", "New", "York"]
NAMES = ("O", "B-PER", "I-PER", "B-GPE", "I-GPE")
NUMBERS = [1, 2, 0, 1, 0, 3, 4]
TAGS = [NAMES[number] for number in NUMBERS]
FOUND = [("PER", "Ada Lovelace"), ("PER", "Bo"), ("GPE", "New York")]
CLASSES = {"names": list(NAMES), "_type": "ClassLabel"}
OTHER_CLASSES = {"names": ["NN", "VB"], "_type": "ClassLabel"}


def write(tmp_path, *records, name="train.jsonl"):
    return save(tmp_path / name, "".join(json.dumps(record) + "\n" for record in records))


@pytest.mark.parametrize("field", ["ner_tags", "tags", "labels"])
def test_names_of_tags(tmp_path, field):
    record = {"id": "0", "tokens": TOKENS, field: TAGS, "pos_tags": [1] * 7}
    docs, report = read(write(tmp_path, record, record), "huggingface")
    assert [shown(doc) for doc in docs] == [FOUND, FOUND]
    assert not report.lost
    as_list = save(tmp_path / "train.json", json.dumps([record], indent=2))
    docs, _ = read(as_list, "huggingface")
    assert [shown(doc) for doc in docs] == [FOUND]


def test_a_text_next_to_the_words(tmp_path):
    docs, _ = read(write(tmp_path, {"text": " ".join(TOKENS), "tokens": TOKENS, "ner_tags": TAGS}))
    assert shown(docs[0]) == FOUND


def test_numbers_of_names_in_any_order(tmp_path):
    (tmp_path / "label2id.json").write_text(json.dumps({NAMES[n]: n for n in (3, 1, 0, 4, 2)}))
    docs, _ = read(write(tmp_path, {"tokens": TOKENS, "ner_tags": NUMBERS}))
    assert shown(docs[0]) == FOUND


def test_a_second_layer(tmp_path):
    record = {"tokens": ["mayor", "of", "Bonn"], "ner_tags": [1, 2, 2], "nested_ner_tags": [0, 0, 3]}
    docs, _ = read(write(tmp_path, record), "huggingface", tag_names=NAMES)
    assert shown(docs[0]) == [("PER", "mayor of Bonn"), ("GPE", "Bonn")]


def test_numbers_with_names_from_the_settings(tmp_path):
    docs, _ = read(write(tmp_path, {"tokens": TOKENS, "ner_tags": NUMBERS}), "huggingface", tag_names=NAMES)
    assert shown(docs[0]) == FOUND


@pytest.mark.parametrize(
    "name, content",
    [
        (
            "dataset_info.json",
            {
                "splits": {"train": {"num_bytes": 0, "num_examples": 1}},
                "features": {
                    "pos_tags": {"feature": OTHER_CLASSES, "_type": "Sequence"},
                    "ner_tags": {"feature": CLASSES, "_type": "Sequence"},
                },
            },
        ),
        ("dataset_info.json", {"features": {"ner_tags": {"_type": "List", "feature": CLASSES}}}),
        ("dataset_infos.json", {"default": {"features": {"ner_tags": {"feature": CLASSES}}}}),
        ("dataset_info.json", {"features": [{"name": "ner_tags", "sequence": {"class_label": CLASSES}}]}),
        ("dataset_info.json", {"ner_tags": {"class_label": {"names": dict(zip("01234", NAMES))}}}),
        ("label.json", {name: number for number, name in enumerate(NAMES)}),
        ("label2id.json", {name: number for number, name in enumerate(NAMES)}),
    ],
)
def test_numbers_with_names_from_a_file_in_the_same_folder(tmp_path, name, content):
    save(tmp_path / name, json.dumps(content, indent=2))
    path = write(tmp_path, {"tokens": TOKENS, "ner_tags": NUMBERS})
    docs, _ = read(path, "huggingface")
    assert shown(docs[0]) == FOUND
    docs, _ = read(tmp_path, "huggingface")
    assert [shown(doc) for doc in docs] == [FOUND]


def test_what_the_dataset_viewer_returns(tmp_path):
    answer = {
        "features": [
            {"feature_idx": 0, "name": "tokens", "type": {"feature": {"dtype": "string"}, "_type": "Sequence"}},
            {"feature_idx": 1, "name": "pos_tags", "type": {"feature": OTHER_CLASSES, "_type": "Sequence"}},
            {"feature_idx": 2, "name": "ner_tags", "type": {"feature": CLASSES, "_type": "Sequence"}},
        ],
        "rows": [
            {"row_idx": 0, "row": {"tokens": TOKENS, "ner_tags": NUMBERS}, "truncated_cells": []},
            {"row_idx": 1, "row": {"tokens": ["Ada"], "ner_tags": [9]}, "truncated_cells": []},
        ],
    }
    path = save(tmp_path / "rows.json", json.dumps(answer))
    docs, report = read(path, "huggingface", skip_bad=True)
    assert [shown(doc) for doc in docs] == [FOUND]
    assert report.bad.places == [
        f"{path}, line 1, row 2: ner_tags has 9, but there are names for 0 to 4 only: O, B-PER, I-PER, B-GPE, I-GPE"
    ]


@pytest.mark.parametrize(
    "tags, found",
    [
        ("I-PER I-PER O I-PER O I-GPE I-GPE", FOUND),  # IOB1
        ("B-PER E-PER O S-PER O B-GPE E-GPE", FOUND),  # BIOES
        ("B-PER L-PER O U-PER - B-GPE L-GPE", FOUND),  # BILUO
        ("PER PER O PER O GPE GPE", FOUND),  # no prefixes, as in Few-NERD
        ("B-PER B-PER O O O O B-GPE", [("PER", "Ada"), ("PER", "Lovelace"), ("GPE", "York")]),
        ("B-PER I-GPE O O O O O", [("PER", "Ada"), ("GPE", "Lovelace")]),
        ("O O O O O O O", []),
        ("art-film art-film O art-book O O O", [("art-film", "Ada Lovelace"), ("art-book", "Bo")]),
        ("B-art-film I-art-film O O O O O", [("art-film", "Ada Lovelace")]),
    ],
)
def test_schemes(tmp_path, tags, found):
    docs, _ = read(write(tmp_path, {"tokens": TOKENS, "ner_tags": tags.split()}), "huggingface")
    assert shown(docs[0]) == found


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"tokens": [1]}, ": tokens is [1]; expected a list of str"),
        ({"ner_tags": [1]}, ": ner_tags is 1 values for 7 tokens; expected a list of one tag per token"),
        ({"ner_tags": None}, ": ner_tags is None for 7 tokens; expected a list of one tag per token"),
        ({"ner_tags": [0] * 6 + [[]]}, ": ner_tags has []; expected names of tags, or numbers"),
        (
            {"ner_tags": [0] * 6 + [5]},
            ": ner_tags has 5, but there are names for 0 to 4 only: O, B-PER, I-PER, B-GPE, I-GPE",
        ),
        (
            {"ner_tags": ["B-PER", "PER", "O", "O", "O", "O", "O"]},
            ", ner_tags: tag 1 is 'PER'; expected O, or B- or I- and a label, as in the other tags",
        ),
        (
            {"ner_tags": ["B-PER", "O", "O", "L-PER", "O", "O", "O"]},
            ", ner_tags: tag 3 is 'L-PER', with no PER to end there; expected B-PER or I-PER before it",
        ),
    ],
)
def test_bad_records(tmp_path, fields, message):
    record = {"tokens": TOKENS, "ner_tags": NUMBERS}
    path = write(tmp_path, record, {**record, **fields})
    with pytest.raises(FormatError) as caught:
        read(path, "huggingface", tag_names=NAMES)
    assert str(caught.value) == f"{path}, line 2{message}"
    docs, report = read(path, "huggingface", skip_bad=True, tag_names=NAMES)
    assert [shown(doc) for doc in docs] == [FOUND]
    assert report.bad.count == 1


@pytest.mark.parametrize("content", [None, {}, {"features": {"tokens": {}}}, {"ner_tags": {"names": []}}, []])
def test_numbers_without_names(tmp_path, content):
    if content is not None:
        save(tmp_path / "dataset_info.json", json.dumps(content))
    path = write(tmp_path, {"tokens": TOKENS, "ner_tags": NUMBERS})
    with pytest.raises(FormatError) as caught:
        read(path, "huggingface")
    assert str(caught.value) == (
        f"{path}, line 1: ner_tags has numbers, and their names are unknown; "
        "list them with --tags O,B-PER,I-PER (tag_names in Python), or put dataset_info.json into the same folder"
    )
