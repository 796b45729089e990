"""Exports of Label Studio, in the shapes that its versions write."""

import json

import pytest
from nested_documents import make_doc, read, save, shown
from spacy.tokens import Span

from spacy_nested_ner.corpus import FormatError, convert, write_docs

TEXT = "The mayor of Bonn met Ada Lovelace."


def region(start, end, *labels, text=None, **fields):
    """A result as the labeling interface of a text writes it."""
    value = {"start": start, "end": end, "labels": list(labels)}
    return {
        "value": value if text is None else {**value, "text": text},
        "id": f"r{start}-{end}",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "origin": "manual",
        **fields,
    }


def annotation(*result, **fields):
    return {
        "id": 11,
        "completed_by": 1,
        "result": list(result),
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2024-05-02T09:00:00.000000Z",
        "updated_at": "2024-05-02T09:00:00.000000Z",
        "draft_created_at": None,
        "lead_time": 12.5,
        "prediction": {},
        "result_count": len(result),
        "task": 1,
        **fields,
    }


def task(*annotations, data=None, **fields):
    return {
        "id": 1,
        "annotations": list(annotations),
        "file_upload": "1a2b3c4d-texts.json",
        "drafts": [],
        "predictions": [],
        "data": {"text": TEXT} if data is None else data,
        "meta": {},
        "created_at": "2024-05-02T08:00:00.000000Z",
        "inner_id": 1,
        "total_annotations": len(annotations),
        "project": 5,
        **fields,
    }


NESTED = [
    region(0, 17, "PER", text="The mayor of Bonn"),
    region(13, 17, "GPE", "CITY", text="Bonn"),
    region(22, 34, "PER", text="Ada Lovelace"),
]
FOUND = [("PER", "The mayor of Bonn"), ("CITY", "Bonn"), ("GPE", "Bonn"), ("PER", "Ada Lovelace")]


def export(tmp_path, *tasks):
    return save(tmp_path / "export.json", json.dumps(tasks))


def losses(report):
    return {what: loss.count for what, loss in report.lost.items()}


def test_nested_regions_and_several_labels(tmp_path):
    docs, report = read(export(tmp_path, task(annotation(*NESTED))), "label-studio")
    assert [doc.text for doc in docs] == [TEXT]
    assert shown(docs[0]) == FOUND
    assert not report.lost


def test_everything_else_is_counted(tmp_path):
    relation = {"from_id": "r0-17", "to_id": "r22-34", "type": "relation", "direction": "right", "labels": ["met"]}
    choice = {"value": {"choices": ["news"]}, "id": "c", "from_name": "topic", "to_name": "text", "type": "choices"}
    path = export(
        tmp_path,
        task(annotation(*NESTED, relation, choice, region(4, 9)), drafts=[{"result": []}], predictions=[7, 8]),
        task(id=2),
        task(annotation(*NESTED, was_cancelled=True), id=3),
        task(annotation(), id=4),
    )
    docs, report = read(path, "label-studio")
    assert [shown(doc) for doc in docs] == [FOUND, []]
    assert losses(report) == {
        "drafts": 1,
        "predictions": 2,
        "relations": 1,
        "results of type 'choices'": 1,
        "regions without a label": 1,
        "tasks without a finished annotation": 2,
        "annotations that were skipped": 1,
    }
    assert report.lost["tasks without a finished annotation"].places == [f"{path}, task 2", f"{path}, task 3"]
    assert report.lost["regions without a label"].places == [f"{path}, task 1, region r4-9"]


ADA = region(22, 34, "ADA", text="Ada Lovelace")
BONN = region(13, 17, "BONN", text="Bonn")


@pytest.mark.parametrize(
    "annotations, label",
    [
        ([annotation(ADA, updated_at="2024-05-03T00:00:00Z"), annotation(BONN)], "ADA"),
        ([annotation(ADA), annotation(BONN, updated_at="2024-05-03T00:00:00Z")], "BONN"),
        ([annotation(ADA, ground_truth=True), annotation(BONN, updated_at="2024-05-03T00:00:00Z")], "ADA"),
        ([annotation(ADA), annotation(BONN, updated_at="2024-05-03T00:00:00Z", was_cancelled=True)], "ADA"),
    ],
)
def test_of_several_annotations_ground_truth_or_the_latest_is_read(tmp_path, annotations, label):
    docs, report = read(export(tmp_path, task(*annotations)), "label-studio")
    assert [span.label_ for span in docs[0].spans["sc"]] == [label]
    assert sum(losses(report).values()) == 1


def test_older_names_and_single_annotations_from_a_storage(tmp_path):
    old = {"id": 1, "completions": [{"id": 1, "result": NESTED}], "data": {"text": TEXT}}
    docs, _ = read(export(tmp_path, old), "label-studio")
    assert shown(docs[0]) == FOUND
    stored = annotation(*NESTED, task={"id": 1, "data": {"text": TEXT}})
    docs, _ = read(save(tmp_path / "stored.json", json.dumps(stored)), "label-studio")
    assert shown(docs[0]) == FOUND


# The field of the text


@pytest.mark.parametrize(
    "data, fields",
    [
        ({"body": TEXT}, {}),
        ({"title": "Ada in Bonn", "body": TEXT}, {"to_name": "body"}),
        ({"title": "Ada in Bonn", "body": TEXT}, {"source": "$body"}),
        ({"title": "Ada in Bonn", "body": TEXT, "id": 7}, {}),  # the regions decide
        ({"text": "a note", "body": TEXT}, {}),
        ({"body": TEXT, "text": TEXT}, {}),
    ],
)
def test_the_text_may_be_in_any_field(tmp_path, data, fields):
    regions = [{**one, **fields} for one in NESTED]
    docs, _ = read(export(tmp_path, task(annotation(*regions), data=data)), "label-studio")
    assert docs[0].text == TEXT
    assert shown(docs[0]) == FOUND


def test_a_task_with_several_texts_is_several_documents(tmp_path):
    data = {"title": "Ada in Bonn", "body": TEXT}
    regions = [region(0, 3, "PER", text="Ada", to_name="title"), region(13, 17, "GPE", text="Bonn", to_name="body")]
    docs, _ = read(export(tmp_path, task(annotation(*regions), data=data)), "label-studio")
    assert [(doc.text, shown(doc)) for doc in docs] == [("Ada in Bonn", [("PER", "Ada")]), (TEXT, [("GPE", "Bonn")])]


@pytest.mark.parametrize(
    "data, regions, reason",
    [
        (None, NESTED, "data is None; expected a text in it"),
        ({"image": 1}, NESTED, "data is {'image': 1}; expected a text in it"),
        ({"a": "Ada", "b": "Bo"}, [], 'a, b may all be the text; call the right one "text"'),
        (
            {"text": "s3://bucket/a.txt"},
            NESTED,
            "the text is at 's3://bucket/a.txt'; put the texts themselves into the data",
        ),
    ],
)
def test_texts_that_cannot_be_found(tmp_path, data, regions, reason):
    path = export(tmp_path, {**task(annotation(*regions)), "data": data})
    with pytest.raises(FormatError) as caught:
        read(path, "label-studio")
    assert str(caught.value) == f"{path}, task 1: {reason}"


# Offsets


def utf16(text):
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("count", [len, utf16])
def test_offsets_after_emoji_are_corrected_by_the_text_of_the_region(tmp_path, count):
    """Versions before 1.8 or so count as JavaScript does, newer ones as Python does."""
    text = "👩🏽‍🚀 Ada flew to 🌕 from Bonn 🎉 ."
    regions = [
        region(count(text[:a]), count(text[:b]), label, text=text[a:b])
        for a, b, label in [(5, 8, "PER"), (17, 28, "TRIP"), (24, 28, "GPE"), (17, 30, "PARTY")]
    ]
    docs, report = read(export(tmp_path, task(annotation(*regions), data={"text": text})), "label-studio")
    assert docs[0].text == text
    assert {(span.label_, span.text) for span in docs[0].spans["sc"]} == {
        ("PER", "Ada"),
        ("TRIP", "🌕 from Bonn"),
        ("PARTY", "🌕 from Bonn 🎉"),
        ("GPE", "Bonn"),
    }
    corrected = "offsets that count some characters as two or none (corrected)"
    assert losses(report) == ({} if count is len else {corrected: 4})


def test_regions_without_text_count_as_the_others_do(tmp_path):
    text = "🎉 🎉 Ada , Bo"
    regions = [region(6, 9, "PER", text="Ada"), region(12, 14, "PER")]
    docs, _ = read(export(tmp_path, task(annotation(*regions), data={"text": text})), "label-studio")
    assert shown(docs[0]) == [("PER", "Ada"), ("PER", "Bo")]


def test_line_breaks_of_windows_may_count_once(tmp_path):
    text = "One .\r\nTwo 🎉 .\r\nAda ."
    regions = [region(15, 18, "PER", text="Ada")]
    docs, _ = read(export(tmp_path, task(annotation(*regions), data={"text": text})), "label-studio")
    assert shown(docs[0]) == [("PER", "Ada")]


def test_whitespace_in_the_text_of_a_region_does_not_matter(tmp_path):
    """Label Studio notes a region as the browser shows it, and line breaks as escapes."""
    text = "Bonn,  Germany\nAda"
    regions = [region(0, 14, "GPE", text="Bonn, Germany"), region(7, 18, "X", text="Germany\\nAda")]
    docs, report = read(export(tmp_path, task(annotation(*regions), data={"text": text})), "label-studio")
    assert shown(docs[0]) == [("GPE", "Bonn,  Germany"), ("X", "Germany\nAda")]
    assert not report.lost


@pytest.mark.parametrize(
    "result, reason",
    [
        (
            region(13, 18, "GPE", text="Bonn m"),
            "the region 13:18 says 'Bonn m', but the text there is 'Bonn '; correct one of them",
        ),
        (
            region(13, 17, "GPE", text="Rome"),
            "the region 13:17 says 'Rome', but the text there is 'Bonn'; correct one of them",
        ),
        (
            region(30, 36, "X"),
            "the region 30:36 is not in a text of 35 characters; expected 0 <= start < end <= 35",
        ),
        (region(5, 5, "X"), "the region 5:5 is not in a text of 35 characters; expected 0 <= start < end <= 35"),
        (
            region(0.5, 2.5, "X"),
            "value is {'start': 0.5, 'end': 2.5, 'labels': ['X']}; expected whole numbers for start and end, or for "
            "those in globalOffsets if the text is HTML",
        ),
        (region(0, 3, 7), "labels is [7]; expected a list of str"),
        ({**region(0, 3, "X"), "value": 1}, "value is 1; expected an object with start, end and labels"),
        (
            region(1, 3, "X", text="he"),
            "mention X 'he' in 'The mayor of ' begins or ends inside a token; "
            "set misaligned to split, to split the token, or to drop, to leave out the mention",
        ),
    ],
)
def test_bad_regions_are_errors_with_their_place_or_skipped(tmp_path, result, reason):
    path = export(tmp_path, task(annotation(*NESTED, {**result, "id": "bad"})))
    with pytest.raises(FormatError) as caught:
        read(path, "label-studio")
    assert str(caught.value) == f"{path}, task 1, region bad: {reason}"
    docs, report = read(path, "label-studio", skip_bad=True)
    assert shown(docs[0]) == FOUND
    assert report.bad.count == 1


# HTML

PAGE = (
    "<html><head><title>not shown</title><style>p { color: red }</style></head><body>"
    "<h1>Bonn &amp; Ada</h1><p>The mayor<br/> of <b>Bo</b>nn</p><p>met <i>Ada</i></p></body></html>"
)


def html_region(start, end, label, text, kind="hypertextlabels"):
    value = {"start": "/h1[1]/text()[1]", "end": "/p[1]/text()[1]", "startOffset": 0, "endOffset": 4, "text": text}
    value |= {"globalOffsets": {"start": start, "end": end}, kind: [label]}
    return {"value": value, "id": "h", "from_name": "ner", "to_name": "text", "type": kind}


@pytest.mark.parametrize("kind", ["labels", "hypertextlabels"])
def test_the_text_of_a_page(tmp_path, kind):
    """Global offsets count the characters of text nodes, and <br> as one; blocks are not separated."""
    regions = [
        html_region(0, 4, "GPE", "Bonn", kind),
        html_region(10, 28, "PER", "The mayor\\n of Bonn", kind),
        html_region(24, 28, "GPE", "Bonn", kind),
        html_region(32, 35, "PER", "Ada", kind),
    ]
    path = export(tmp_path, task(annotation(*regions), data={"html": PAGE}), task(annotation(), data={"html": PAGE}))
    docs, report = read(path, "label-studio")
    assert [doc.text for doc in docs] == ["Bonn & Ada\nThe mayor\n of Bonn\nmet Ada"] * 2
    assert shown(docs[0]) == [("GPE", "Bonn"), ("PER", "The mayor\n of Bonn"), ("GPE", "Bonn"), ("PER", "Ada")]
    assert not report.lost


def test_regions_of_a_page_without_global_offsets(tmp_path):
    broken = html_region(0, 4, "GPE", "Bonn")
    del broken["value"]["globalOffsets"]
    with pytest.raises(FormatError, match="expected whole numbers for start and end, or for those in globalOffsets"):
        read(export(tmp_path, task(annotation(broken), data={"html": PAGE})), "label-studio")


# JSON-MIN


def minimal(**fields):
    return {
        "text": TEXT,
        "id": 1,
        "annotator": 1,
        "annotation_id": 11,
        "created_at": "2024-05-02T09:00:00Z",
        "updated_at": "2024-05-02T09:00:00Z",
        "lead_time": 12.5,
        **fields,
    }


@pytest.mark.parametrize(
    "fields", [{"label": [one["value"] for one in NESTED]}, {"ner": [one["value"] for one in NESTED], "topic": "news"}]
)
def test_json_min(tmp_path, fields):
    path = export(tmp_path, minimal(**fields), minimal(id=2))
    docs, report = read(path, "label-studio")
    assert [shown(doc) for doc in docs] == [FOUND, []]
    assert not report.lost


def test_json_min_has_tasks_that_nobody_annotated(tmp_path):
    path = export(tmp_path, minimal(), minimal(id=2, annotation_id=None, lead_time=None))
    docs, report = read(path, "label-studio")
    assert len(docs) == 1
    assert report.lost["tasks without a finished annotation"].places == [f"{path}, task 2"]


def test_json_min_needs_neither_id_nor_annotator(tmp_path):
    record = {"body": TEXT, "label": [one["value"] for one in NESTED]}
    docs, _ = read(export(tmp_path, record, record), "label-studio")
    assert [shown(doc) for doc in docs] == [FOUND, FOUND]


def test_json_min_has_a_record_per_annotation(tmp_path):
    records = [
        minimal(label=[ADA["value"]], updated_at="2024-05-03T00:00:00Z"),
        minimal(label=[BONN["value"]]),
        minimal(label=[BONN["value"]], id=2),
    ]
    path = export(tmp_path, *records)
    docs, report = read(path, "label-studio")
    assert [shown(doc) for doc in docs] == [[("ADA", "Ada Lovelace")], [("BONN", "Bonn")]]
    assert report.lost["further annotations of the same task"].places == [f"{path}, task 1"]


# Writing


def test_what_is_written_can_be_imported(tmp_path):
    doc = make_doc([(["🎉", "Ada", "sings"], [(1, 2, "PER"), (1, 3, "ACT")])], spaces=[True, True, False])
    write_docs([doc], tmp_path / "tasks.json")
    assert json.loads((tmp_path / "tasks.json").read_text()) == [
        {
            "id": 1,
            "data": {"text": "🎉 Ada sings"},
            "annotations": [
                {
                    "result": [
                        {
                            "id": "m1",
                            "from_name": "label",
                            "to_name": "text",
                            "type": "labels",
                            "value": {"start": 2, "end": 11, "text": "Ada sings", "labels": ["ACT"]},
                        },
                        {
                            "id": "m2",
                            "from_name": "label",
                            "to_name": "text",
                            "type": "labels",
                            "value": {"start": 2, "end": 5, "text": "Ada", "labels": ["PER"]},
                        },
                    ],
                    "was_cancelled": False,
                    "ground_truth": False,
                }
            ],
        }
    ]


def test_sentences_cannot_be_written(tmp_path):
    doc = make_doc([(["Ada"], []), (["Bo"], [])])
    doc.spans["sc"] = [Span(doc, 0, 2, label="X")]
    report = write_docs([doc], tmp_path / "tasks.json")
    assert losses(report) == {"sentence boundaries": 1}
    docs, _ = read(tmp_path / "tasks.json", "label-studio")
    assert shown(docs[0]) == [("X", "Ada Bo")]


def test_an_export_without_annotations_is_no_corpus(tmp_path):
    with pytest.raises(
        FormatError, match=r"no document found; read as label-studio\n.*\n  tasks without a finished annotation: 2"
    ):
        convert(export(tmp_path, task(), task(id=2)), tmp_path / "a.spacy", source_format="label-studio")


def test_the_text_of_a_task_without_regions_is_where_others_have_theirs(tmp_path):
    tasks = [task(annotation(*regions), data={"source": "web", "review": TEXT}) for regions in (NESTED, [])]
    docs, _ = read(export(tmp_path, *tasks), "label-studio")
    assert [(doc.text, bool(shown(doc))) for doc in docs] == [(TEXT, True), (TEXT, False)]
