"""JSON as lines, as a list or as one object, and everything that can be wrong with it."""

import json
from itertools import product

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, write_docs
from spacy_nested_ner.corpus.conversion_report import ConversionReport
from spacy_nested_ner.corpus.conversion_report import shown as shown_value
from spacy_nested_ner.corpus.formats import FORMATS, dygie, gliner, huggingface, jsonl, label_studio, spacy_v2
from spacy_nested_ner.corpus.formats._json import keys_of, read_items
from spacy_nested_ner.corpus.formats._sample import Sample

IN_JSON = ["label-studio", "jsonl", "json", "dygie", "biaffine-ner", "gliner", "huggingface", "spacy-v2"]
RECORDS = [{"text": "Ada"}, {"text": "Bo", "spans": []}]


def items(path, **options):
    report = ConversionReport(**options)
    return [(item.value, item.where.removeprefix(f"{path}")) for item in read_items(path, report)], report


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a"])
@pytest.mark.parametrize(
    "text, place",
    [
        ("\n".join(map(json.dumps, RECORDS)), "line"),
        ("\ufeff\r\n" + "\r\n\r\n".join(map(json.dumps, RECORDS)) + "\r\n", "line"),
        (json.dumps(RECORDS), "item"),
        (json.dumps(RECORDS, indent=2), "item"),
        ("[\n" + ",\n".join(map(json.dumps, RECORDS)) + "\n]", "item"),
        ("[" + "\n,".join(map(json.dumps, RECORDS)) + "\n]", "item"),
    ],
)
def test_lines_and_lists(tmp_path, name, text, place):
    found, _ = items(save(tmp_path / name, text))
    assert [value for value, _ in found] == RECORDS
    assert all(where.startswith(f", {place} ") for _, where in found)


@pytest.mark.parametrize(
    "name, text, values",
    [
        ("a.json", "[]", []),
        ("a.json", " [ ] \n", []),
        ("a.json", "", []),
        ("a.json", '{\n"text": "Ada"\n}', [{"text": "Ada"}]),
        ("a.jsonl", '["Ada", {}]', [["Ada", {}]]),
        ("a.json", '["Ada", {}]\n["Bo", {}]', [["Ada", {}], ["Bo", {}]]),
        ("a.json", '[["Ada", {}]]', [["Ada", {}]]),
        ("a.json", '[["Ada", {}]\n, ["Bo", {}]]', [["Ada", {}], ["Bo", {}]]),
    ],
)
def test_other_layouts(tmp_path, name, text, values):
    found, _ = items(save(tmp_path / name, text))
    assert [value for value, _ in found] == values


DEEP = "[" * 100_000
DIGITS = "9" * 5_000
HOSTILE = [
    ('{"text": ' + DEEP + "}", "brackets are nested too deeply to be read; correct the file"),
    ('{"text": "a", "n": ' + DIGITS + "}", "a number has too many digits to be read; correct it"),
    ('{"text": "a", "text": "b"}', "an object has the key 'text' twice; remove one"),
    ('{"text": "a", "meta": {"x": 1, "x": 1}}', "an object has the key 'x' twice; remove one"),
    ('{"text": "\\ud83d"}', "'\\ud83d' is half of a surrogate pair; correct the text"),
    ('{"text": "a", "meta": ["\\udead"]}', "'\\udead' is half of a surrogate pair; correct the text"),
    ('{"text": "a"', "not JSON: Expecting ',' delimiter, at character 13"),
    ('{"text": "a"} {}', "not JSON: Extra data, at character 15"),
    ("text", "not JSON: Expecting value, at character 1"),
]


@pytest.mark.parametrize("line, reason", HOSTILE)
def test_hostile_lines_are_errors_with_their_place_or_skipped(tmp_path, line, reason):
    path = save(tmp_path / "a.jsonl", f'{{"text": "Ada"}}\n{line}\n{{"text": "Bo"}}\n')
    with pytest.raises(FormatError) as caught:
        items(path)
    assert str(caught.value) == f"{path}, line 2: {reason}"
    found, report = items(path, skip_bad=True)
    assert [value["text"] for value, _ in found] == ["Ada", "Bo"]
    assert report.bad.places == [f"{path}, line 2: {reason}"]


@pytest.mark.parametrize("line, reason", HOSTILE[:6])
def test_hostile_items_of_a_list(tmp_path, line, reason):
    """The parser cannot know where a bad item ends: what follows is lost, what comes before is kept."""
    path = save(tmp_path / "a.json", f'[{{"text": "Ada"}},\n{line}]')
    with pytest.raises(FormatError) as caught:
        items(path)
    assert str(caught.value) == f"{path}, item 2: {reason}"
    found, report = items(path, skip_bad=True)
    assert [value for value, _ in found] == [{"text": "Ada"}]
    assert report.bad.count == 1


@pytest.mark.parametrize(
    "text, message",
    [
        (DEEP, ", item 1: brackets are nested too deeply to be read; correct the file"),
        ('{"a":' * 100_000, ": brackets are nested too deeply to be read; correct the file"),
        ('[{"a": 1},\n {"b": }]', ", line 2: not JSON: Expecting value, at character 8"),
        ('[{"a": 1},\n {"b": "c', ", line 2: not JSON: Unterminated string starting at, at character 8"),
        ('[{"a": 1}', ", item 1: not JSON: the file ends inside the list after this item; is the file complete?"),
        ('[{"a": 1},', ", line 1: not JSON: Expecting value, at character 11"),
        ('[{"a": 1},]', ", line 1: not JSON: Expecting value, at character 11"),
        (
            '[{"a": 1} {"b": 2}]',
            ", item 1: not JSON: '{' instead of a comma or a bracket after this item; is the file complete?",
        ),
        ('[{"a": 1}\n]\n{"b": 2}', ", line 2: not JSON: the file goes on after the list"),
        ("[", ", line 1: not JSON: Expecting value, at character 2"),
        ('{\n"a": 1,\n}', ", line 3: not JSON: Expecting property name enclosed in double quotes, at character 1"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = save(tmp_path / "a.json", text)
    with pytest.raises(FormatError) as caught:
        items(path)
    assert str(caught.value) == f"{path}{message}"


def test_pairs_of_surrogates_are_one_character(tmp_path):
    found, _ = items(save(tmp_path / "a.jsonl", '{"text": "\\ud83d\\ude00"}'))
    assert found[0][0] == {"text": "😀"}


def test_numbers_that_nobody_reads_may_be_anything(tmp_path):
    docs, _ = read(save(tmp_path / "a.jsonl", '{"text": "Ada", "spans": [], "meta": [1e400, NaN, -Infinity]}'))
    assert [doc.text for doc in docs] == ["Ada"]


HOSTILE_NUMBERS = ["1e400", "-1e400", "NaN", "Infinity", "1.5", "-1", "null", "true", '"1"', "1" * 400, "[]", "{}"]
WITH_NUMBER = {
    "label-studio": '[{"data": {"text": "Ada"}, "annotations": [{"result": [{"type": "labels", "value": {"start": 0, '
    '"end": %s, "labels": ["X"]}}]}]}]',
    "jsonl": '{"text": "Ada", "spans": [[0, %s, "X"]]}',
    "json": '[{"text": "Ada", "spans": [], "tokens": [{"start": 0, "end": %s}]}]',
    "dygie": '{"sentences": [["Ada"]], "ner": [[[0, %s, "X"]]]}',
    "biaffine-ner": '{"sentences": [["Ada"]], "ners": [[[0, %s, "X"]]]}',
    "gliner": '{"tokenized_text": ["Ada"], "ner": [[0, %s, "X"]]}',
    "huggingface": '{"tokens": ["Ada"], "ner_tags": [%s]}',
    "spacy-v2": '[["Ada", {"entities": [[0, %s, "X"]]}]]',
}


@pytest.mark.parametrize(
    "format, number",
    # A tag may have any name, even 1.
    [pair for pair in product(IN_JSON, HOSTILE_NUMBERS) if pair != ("huggingface", '"1"')],
)
def test_hostile_numbers_are_errors_with_their_place(tmp_path, format, number):
    path = save(tmp_path / "a.json", WITH_NUMBER[format] % number)
    with pytest.raises(FormatError) as caught:
        read(path, format, tag_names=("O",))
    assert str(caught.value).startswith(f"{path}, ")
    assert len(caught.value.reason) < 700
    _, report = read(path, format, skip_bad=True, tag_names=("O",))
    assert report.bad.count == 1


@pytest.mark.parametrize(
    "value", ["null", "1", '"a"', "[]", "[[]]", "{}", "[" * 500 + "]" * 500, '{"a":' * 400 + "1" + "}" * 400]
)
@pytest.mark.parametrize("format", IN_JSON)
def test_values_of_no_format_are_errors(tmp_path, format, value):
    path = save(tmp_path / "a.jsonl", f"{value}\n{value}\n{value}")
    with pytest.raises(FormatError):
        read(path, format)
    _, report = read(path, format, skip_bad=True)
    assert report.bad.count >= 1


def mutants(value):
    """Copies of a value in which one part is something else."""
    yield from (None, 0, "", [], {}, [None], {"a": 1})
    if isinstance(value, dict):
        for key in value:
            yield {name: value[name] for name in value if name != key}
            yield from ({**value, key: mutant} for mutant in mutants(value[key]))
    elif isinstance(value, list):
        for i in range(len(value)):
            yield from ([*value[:i], mutant, *value[i + 1 :]] for mutant in mutants(value[i]))


# Beginnings of real files, made up. The first of each format is whole and in one line.
SAMPLES = {
    "label-studio": [
        '[{"id": 1, "annotations": [{"id": 1, "result": [{"value": {"start": 0, "end": 3, "text": "Ada", "labels": '
        '["PER"]}, "id": "a", "from_name": "label", "to_name": "text", "type": "labels"}], "was_cancelled": false}], '
        '"predictions": [], "data": {"text": "Ada sings"}}]',
        '[{"id": 1, "annotations": [{"id": 1, "result": [{"value": {"start": 0, "end": 3}, "from_name": "lab',
        '[{"id": 1, "completions": [], "data": {"text": "Ada"}}]',
        '[{"id": 1, "text": "Ada", "label": [{"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}]}]',
        '[{"id": 1, "note": "Ada", "annotator": 1, "annotation_id": 3, "lead_time": 1.5}]',
        '{"id": 3, "result": [], "task": {"id": 1, "data": {"text": "Ada"}}}',
    ],
    "json": [
        '[{"text": "Ada sings", "entities": [[0, 3, "PER"]]}]',
        '[{"tokens": ["Ada", "sings"], "entities": [{"start": 0, "end": 1, "type": "PER"}]}]',
    ],
    "jsonl": [
        '{"text": "Ada sings", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept"}\n',
        '{"id": 7, "text": "Ada sings", "label": [[0, 3, "PER"]], "Comments": []}\n',
        '{"text": "Ada", "tokens": [{"text": "Ada", "start": 0, "end": 3}], "spans": [], "meta": {"tags": ["x"]}}',
        '{"tokens": ["Ada", "sings"], "mentions": [{"start": 0, "end": 1, "label": "PER"}]}',
        '{"text": "Ada says \\"ner_tags\\": nothing", "spans": [',
    ],
    "dygie": [
        '{"doc_key": "a", "sentences": [["Ada", "sings"]], "ner": [[[0, 0, "PER"]]], "relations": [[]]}',
        '{"doc_key": "a", "clusters": [], "sentences": [["Ada", "sin',
    ],
    "biaffine-ner": ['{"doc_key": "a", "ners": [[[0, 0, "PER"]]], "sentences": [["Ada", "sings"]]}'],
    "gliner": [
        '{"tokenized_text": ["Ada", "sings"], "ner": [[0, 0, "person"]]}',
        '[\n  {\n    "tokenized_text": ["Ada", "si',
    ],
    "huggingface": [
        '{"id": "0", "tokens": ["Ada", "sings"], "ner_tags": [1, 0]}',
        '{"tokens": ["Ada", "sings"], "tags": [1, 0]}',
        '{"tokens": ["Ada", "sings"], "labels": ["B-PER", "O"]}',
        '{"features": [{"name": "ner_tags"}], "rows": [{"row": {"tokens": ["Ada"], "ner_tags": [1]}}]}',
    ],
    "spacy-v2": [
        '[["Ada sings", {"entities": [[0, 3, "PER"]]}]]',
        '["Ada sings", {"entities": [[0, 3, "PER"]]}]\n["Bo", {"entities": []}]',
        '{"classes": ["PER"], "annotations": [["Ada", {"entities": [[0, 3, "PER"]]}]]}',
        '[{"id": 0, "paragraphs": [{"raw": "Ada", "sentences": [{"tokens": [{"orth": "Ada", "ner": "U-PER"}]}]}]}]',
        '[{"id": 0, "paragraphs": [{"raw": "Ada", "sentences": [{"tokens": [{"orth": "Ada", "ner": "U-',
    ],
}
MODULES = {
    "label-studio": label_studio,
    "json": jsonl,
    "jsonl": jsonl,
    "dygie": dygie,
    "biaffine-ner": dygie,
    "gliner": gliner,
    "huggingface": huggingface,
    "spacy-v2": spacy_v2,
}


def complete(text):
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return []


@pytest.mark.parametrize(
    "format, text", [(format, text) for format in SAMPLES for text in filter(complete, SAMPLES[format])]
)
def test_whatever_is_damaged_is_read_or_an_error_with_its_place(tmp_path, format, text):
    """All damaged records are in one file: those that cannot be read are counted, and nothing else happens."""
    records = complete(text)[0]
    damaged = list(mutants(records[0] if isinstance(records, list) and len(records) == 1 else records))
    path = save(tmp_path / "a.jsonl", "".join(json.dumps(one) + "\n" for one in damaged))
    _, report = read(path, format, skip_bad=True, tag_names=("O", "B-PER"), misaligned="drop")
    assert report.documents + report.bad.count + sum(loss.count for loss in report.lost.values()) >= len(damaged) / 2
    assert report.bad.count
    assert all(place.startswith(f"{path}, ") for place in report.bad.places)


@pytest.mark.parametrize("format, text", [(format, text) for format, texts in SAMPLES.items() for text in texts])
def test_every_file_is_recognized_by_one_format(format, text):
    for before in ("", "\ufeff", "\n "):
        sample = Sample("a.json", before + text, True)
        assert [name for name, module in MODULES.items() if module.recognizes(sample)] == [
            name for name, module in MODULES.items() if module is MODULES[format]
        ]


@pytest.mark.parametrize(
    "text", ["", "Ada sings.", "[PER Ada] sings .", "[", "{", "Ada\tB-PER\n", '"text": "tokens"', DEEP]
)
def test_other_files_are_not_recognized(text):
    sample = Sample("a.json", text, True)
    assert keys_of(sample) == set()
    assert not any(module.recognizes(sample) for module in MODULES.values())


def test_the_table_has_what_is_tested_here():
    assert set(MODULES) == set(IN_JSON) == set(SAMPLES)
    assert all(FORMATS[name].read is module.read for name, module in MODULES.items())


def test_values_in_messages_are_short():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert shown_value(deep) == "a value of type list"
    assert shown_value(10**5000) == "a value of type int"
    assert shown_value("a" * 1000) == "'" + "a" * 79 + "…"
    while deep:  # freeing nested lists is recursive, too
        deep = deep.pop()


@pytest.mark.parametrize("format", ["json", "label-studio", "gliner"])
@pytest.mark.parametrize("n_docs", [0, 1, 2])
def test_lists_are_written_as_lists(tmp_path, format, n_docs):
    doc = make_doc([(["Ada", "sings"], [(0, 1, "PER"), (0, 2, "ACT")])], spaces=[True, False])
    write_docs([doc] * n_docs, tmp_path / "a.json", format)
    assert len(json.loads((tmp_path / "a.json").read_text())) == n_docs
    docs, report = read(tmp_path / "a.json", format)
    assert [shown(doc) for doc in docs] == [[("ACT", "Ada sings"), ("PER", "Ada")]] * n_docs
    assert not report.lost
