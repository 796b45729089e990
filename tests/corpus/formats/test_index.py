"""Index format, with and without its line of part-of-speech tags."""

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, write_docs

FOUR_LINES = """\
IL-2 gene expression
NN NN NN
0,2 G#DNA|0,1 G#protein

No mention .
DT NN .


Last one
JJ NN
1,2 G#RNA
"""


def test_four_lines(tmp_path):
    docs, report = read(save(tmp_path / "corpus.index", FOUR_LINES))
    assert [doc.text.strip() for doc in docs] == ["IL-2 gene expression", "No mention .", "Last one"]
    assert [shown(doc) for doc in docs] == [[("G#DNA", "IL-2 gene"), ("G#protein", "IL-2")], [], [("G#RNA", "one")]]
    assert report.lost["lines of part-of-speech tags"].count == 3


def test_three_lines_and_mentions_that_are_missing(tmp_path):
    docs, report = read(save(tmp_path / "corpus.index", "a b\n0,2 X|1,2 Y\n\nc d\n\n\ne 0,1\n0,1 Z\n"))
    assert [shown(doc) for doc in docs] == [[("X", "a b"), ("Y", "b")], [], [("Z", "e")]]
    assert not report.lost


@pytest.mark.parametrize(
    "lines, line, reason",
    [
        ("a b\n0,3 X", 2, "mention '0,3 X' is not a span of 2 words; expected start < end <= 2, the end not included"),
        ("a b\n1,1 X", 2, "mention '1,1 X' is not a span of 2 words; expected start < end <= 2, the end not included"),
        ("a b\n0,1 X|1,2", 2, "'1,2' is not a mention; expected start,end label, as in '0,2 PER'"),
        ("a b\n0,1 X|", 2, "'' is not a mention; expected start,end label, as in '0,2 PER'"),
        ("a b\nN\n0,1 X", 2, "'N': expected mentions, as in '0,2 PER|1,2 GPE', or a tag for each of 2 words"),
        ("a b\nN N\nN N", 3, "'N N' is not a mention; expected start,end label, as in '0,2 PER'"),
        (
            "a b\nN N\n0,1 X\n0,1 Y",
            4,
            "the line after the mentions is not blank; expected words, tags, mentions and a blank line",
        ),
        (
            "a b\n0,1 X\n0,1 Y",
            3,
            "the line after the mentions is not blank; expected words, tags, mentions and a blank line",
        ),
    ],
)
def test_bad_lines(tmp_path, lines, line, reason):
    path = save(tmp_path / "corpus.index", f"{lines}\n\nGood .\n\n\n")
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == f"{path}, line {line}: {reason}"
    docs, report = read(path, skip_bad=True)
    assert [doc.text.strip() for doc in docs] == ["Good ."]
    assert report.bad.count == 1


def test_what_cannot_be_written(tmp_path):
    spaced = make_doc([(["New York"], [])])
    with pytest.raises(
        FormatError, match=r"document 1: 'New York' contains whitespace; write bracket, jsonl or spacy instead"
    ):
        write_docs([spaced], tmp_path / "out.index")
    barred = make_doc([(["a"], [(0, 1, "A|B")])])
    with pytest.raises(
        FormatError, match=r"document 1: label 'A\|B' contains '\|'; write bracket, jsonl or spacy instead"
    ):
        write_docs([barred], tmp_path / "out.index")


def test_documents_of_several_sentences_are_reported(tmp_path):
    doc = make_doc([(["a"], [(0, 1, "X")]), (["b"], [])])
    report = write_docs([doc], tmp_path / "out.index")
    assert (tmp_path / "out.index").read_text() == "a\n0,1 X\n\nb\n\n\n"
    assert report.lost["which sentences form a document"].places == ["document 1"]
