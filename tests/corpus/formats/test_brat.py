"""brat standoff, as its own editor writes it."""

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, write_docs

TEXT = "Fabian from Bonn, Germany\nsings with Ada.\n"
ANNOTATION = """\
T1\tPER 0 25\tFabian from Bonn, Germany
T2\tGPE 12 25\tBonn, Germany
T3\tPER 0 6;37 40\tFabian Ada
R1\tLives Arg1:T1 Arg2:T2
E1\tSing:T4 Agent:T1
A1\tFamous T1
M1\tGuess T1
N1\tReference T2 Wikipedia:3295\tBonn
#1\tAnnotatorNotes T1\tmy note
*\tAlias T1 T3
T4\tGPE 18 25;26 31\tGermany sings
T5\tPER 37 40\tAda
"""


def save_pair(folder, text=TEXT, annotation=ANNOTATION, name="doc"):
    save(folder / f"{name}.txt", text)
    return save(folder / f"{name}.ann", annotation)


@pytest.mark.parametrize("suffix", [".ann", ".txt"])
def test_a_pair(tmp_path, suffix):
    path = save_pair(tmp_path)
    docs, report = read(path.with_suffix(suffix))
    assert len(docs) == 1
    assert docs[0].text == "Fabian from Bonn, Germany sings with Ada."
    assert [sent.text for sent in docs[0].sents] == ["Fabian from Bonn, Germany", "sings with Ada."]
    assert shown(docs[0]) == [
        ("PER", "Fabian from Bonn, Germany"),
        ("GPE", "Bonn, Germany"),
        ("GPE", "Germany sings"),
        ("PER", "Ada"),
    ]
    assert {what: loss.count for what, loss in report.lost.items()} == {
        "mentions in several fragments": 1,
        "relations": 1,
        "events": 1,
        "attributes": 2,
        "normalizations": 1,
        "notes": 1,
        "equivalences": 1,
    }
    assert report.lost["mentions in several fragments"].places == [f"{path}, line 3: T3\tPER 0 6;37 40\tFabian Ada"]


def test_a_folder_and_the_folders_in_it(tmp_path):
    save_pair(tmp_path, "Ada\n", "T1\tPER 0 3\n")
    save_pair(tmp_path / "more", "Bo\n", "")
    (tmp_path / "README.txt").write_text("not annotated")
    docs, report = read(tmp_path)
    assert [(doc.text, shown(doc)) for doc in docs] == [("Ada", [("PER", "Ada")]), ("Bo", [])]
    assert report.lost["texts without an .ann file"].places == [str(tmp_path / "README.txt")]


def test_lines_need_not_be_sentences(tmp_path):
    docs, _ = read(save_pair(tmp_path), line_sentences=False)
    assert not docs[0].has_annotation("SENT_START")


def test_blank_lines_and_windows_line_ends_keep_the_characters(tmp_path):
    text = "Ada sings.\r\n\r\n  Bo too.\r\n"
    docs, _ = read(save_pair(tmp_path, text, "T1\tPER 16 18\tBo\n"))
    assert docs[0].text == text.removesuffix("\r\n")
    assert shown(docs[0]) == [("PER", "Bo")]
    assert [sent.text.strip() for sent in docs[0].sents] == ["Ada sings.", "Bo too."]


@pytest.mark.parametrize(
    "line, reason",
    [
        ("T1\tPER 0 6\tFabiann", "T1 says 'Fabiann', but the text there is 'Fabian'; correct the numbers"),
        ("T1\tPER 0 99\tFabian", "T1 is at 0 99; expected start < end <= 41, the length of the text"),
        ("T1\tPER 6 6\t", "T1 is at 6 6; expected start < end <= 41, the length of the text"),
        ("T1 PER 0 6", "'T1 PER 0 6' is not a mention; expected 'T1<tab>LABEL start end<tab>text'"),
        ("X1\tPER 0 6", "'X1\\tPER 0 6' is not a mention; expected 'T1<tab>LABEL start end<tab>text'"),
        ("T1\tPER 6 7\t ", "mention PER 6:7 is only whitespace; expected at least one word"),
    ],
)
def test_bad_lines(tmp_path, line, reason):
    path = save_pair(tmp_path, annotation=f"{line}\nT2\tPER 37 40\tAda\n")
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == f"{path}, line 1: {reason}"
    docs, report = read(path, skip_bad=True)
    assert shown(docs[0]) == [("PER", "Ada")]
    assert report.bad.count == 1


def test_the_text_must_exist_and_be_utf8(tmp_path):
    path = save_pair(tmp_path)
    path.with_suffix(".txt").write_bytes("Köln".encode("latin-1"))
    with pytest.raises(FormatError, match=r"doc.txt: byte 1 is not UTF-8; save the file as UTF-8"):
        read(path)
    path.with_suffix(".txt").unlink()
    with pytest.raises(FormatError, match=r"doc.ann: there is no doc.txt next to it, for the text"):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (docs, report.bad.count) == ([], 1)


def test_one_sentence_per_line_is_written_and_a_mention_across_lines_in_fragments(tmp_path):
    doc = make_doc([(["Ada", "sings"], [(0, 1, "PER"), (1, 3, "ACT")]), (["well"], [])])
    report = write_docs([doc], tmp_path / "out", "brat")
    assert (tmp_path / "out" / "00001.txt").read_text() == "Ada sings\nwell \n"
    assert (tmp_path / "out" / "00001.ann").read_text() == "T1\tPER 0 3\tAda\nT2\tACT 4 9;10 14\tsings well\n"
    assert not report.lost
    docs, _ = read(tmp_path / "out")
    assert shown(docs[0]) == [("PER", "Ada"), ("ACT", "sings well")]


def test_one_document_fits_in_a_pair(tmp_path):
    doc = make_doc([(["Ada"], [(0, 1, "PER")])])
    write_docs([doc], tmp_path / "one.ann")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one.ann", "one.txt"]
    with pytest.raises(
        FormatError, match=r"document 2: a second document does not fit in two.ann; write to a folder instead"
    ):
        write_docs([doc, doc], tmp_path / "two.ann")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one.ann", "one.txt"]


def test_what_changes_when_written_is_reported(tmp_path):
    glued = make_doc([(["Ada."], []), (["Bo"], [])], spaces=[False, False])
    broken = make_doc([(["Ada", "\n", "Bo", "\n"], [(1, 2, "X")]), (["Cy"], [])], spaces=[False] * 5)
    report = write_docs([glued, broken], tmp_path / "out", "brat")
    assert (tmp_path / "out" / "00001.txt").read_text() == "Ada.\nBo\n"
    assert (tmp_path / "out" / "00002.txt").read_text() == "Ada\nBo\nCy\n"
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "sentences with no space between them (now a line break)": ["document 1"],
        "line breaks inside a sentence (now the end of a sentence)": ["document 2"],
        "mentions of only whitespace": ["document 2: X 1:2"],
    }


def test_labels_with_whitespace_cannot_be_written(tmp_path):
    doc = make_doc([(["Ada"], [(0, 1, "a person")])])
    with pytest.raises(
        FormatError, match="document 1: label 'a person' contains whitespace; write bracket, jsonl or spacy instead"
    ):
        write_docs([doc], tmp_path / "out", "brat")
    assert not list(tmp_path.iterdir())
