"""Bracket notation, right and wrong."""

import pytest
from nested_documents import make_doc, mentions, read, save, shown

from spacy_nested_ner.corpus import FormatError, write_docs

EXAMPLE = """\
# written by hand
[PER Fabian from [GPE Bonn , [GPE Germany]]] sings .
No mention here .

[ORG [PER Ada]]\ttalks to [PER Bo] .
"""


def test_sentences_documents_and_comments(tmp_path):
    docs, report = read(save(tmp_path / "corpus.txt", EXAMPLE))
    assert [doc.text.strip() for doc in docs] == [
        "Fabian from Bonn , Germany sings . No mention here .",
        "Ada talks to Bo .",
    ]
    assert shown(docs[0]) == [("PER", "Fabian from Bonn , Germany"), ("GPE", "Bonn , Germany"), ("GPE", "Germany")]
    assert [sent.start for sent in docs[0].sents] == [0, 7]
    assert shown(docs[1]) == [("ORG", "Ada"), ("PER", "Ada"), ("PER", "Bo")]
    assert (report.documents, report.sentences, report.mentions, report.nested, report.depth) == (2, 3, 6, 2, 3)


def test_a_space_may_precede_a_closing_bracket(tmp_path):
    docs, _ = read(save(tmp_path / "corpus.txt", "[PER Ada [GPE Bonn ] ] ."))
    assert shown(docs[0]) == [("PER", "Ada Bonn"), ("GPE", "Bonn")]


def test_escapes(tmp_path):
    docs, _ = read(save(tmp_path / "corpus.txt", r"\# \[PER [A\[B x\]] \\ a\u0020b"))
    assert [token.text for token in docs[0]] == ["#", "[PER", "x]", "\\", "a b"]
    assert shown(docs[0]) == [("A[B", "x]")]


def test_windows_files_and_byte_order_marks(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"\xef\xbb\xbf[PER Ada] .\r\n\r\nBo .\r\n")
    docs, _ = read(path)
    assert [[token.text for token in doc] for doc in docs] == [["Ada", "."], ["Bo", "."]]


@pytest.mark.parametrize(
    "line, reason",
    [
        ("[PER Ada", "the mention PER that begins before word 1 is not closed; add ']'"),
        ("Ada] .", r"']' after 'Ada]' closes nothing; write \] for a bracket that is text"),
        ("[ Ada]", r"'[' has no label; write [LABEL, or \[ for a bracket that is a word"),
        ("[PER ] x", "the mention PER has no words; write [PER word]"),
        ("a[b c", r"'[' is inside 'a[b'; write \[ for a bracket that is text"),
        ("[PER a]b]", r"']' is inside 'a]b'; write \] for a bracket that is text"),
        ("[[PER a]", r"'[' is inside '[PER'; write \[ for a bracket that is text"),
        (r"a\b", r"'\b' in 'a\\b' is not an escape; write \\ for a backslash"),
        ("a\\", r"'\' in 'a\\' is not an escape; write \\ for a backslash"),
        (r"\ud800", r"'\ud800' in '\\ud800' is not an escape; write \\ for a backslash"),
        (r"\u12", r"'\u' in '\\u12' is not an escape; write \\ for a backslash"),
    ],
)
def test_bad_lines(tmp_path, line, reason):
    path = save(tmp_path / "corpus.txt", f"Good .\n{line}\nGood too .\n")
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == f"{path}, line 2: {reason}"
    docs, report = read(path, skip_bad=True)
    assert [token.text for token in docs[0]] == ["Good", ".", "Good", "too", "."]
    assert (report.bad.count, report.bad.places) == (1, [f"{path}, line 2: {reason}"])


def test_files_in_other_encodings(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes("Good .\nKöln .\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"corpus.txt, line 2: byte 0xf6 is not UTF-8; save the file as UTF-8"):
        read(path, skip_bad=True)


def test_mentions_that_cross_another_or_a_sentence_boundary_are_reported(tmp_path):
    doc = make_doc([(["a", "b", "c"], [(0, 2, "PER"), (1, 3, "ORG"), (2, 4, "LOC")]), (["d"], [])])
    report = write_docs([doc], tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "[PER a b] c\nd\n"
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "mentions that cross another": ["document 1: ORG 'b c'"],
        "mentions across a sentence boundary": ["document 1: LOC 'c d'"],
    }
    assert report.mentions == 3


def test_spacing_and_empty_documents_are_reported(tmp_path):
    docs = [make_doc([(["a", "b"], [])], spaces=[False, False]), make_doc([]), make_doc([(["c"], [])], spaces=[False])]
    report = write_docs(docs, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "a b\n\nc\n"
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "spacing between words, in documents": ["document 1"],
        "documents without words": ["document 2"],
    }


def test_a_document_with_unknown_sentences_is_written_as_one(tmp_path):
    doc = make_doc([(["a", "b"], [(0, 1, "PER")])]).copy()
    for token in doc:
        token.is_sent_start = None
    write_docs([doc], tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "[PER a] b\n"
    assert mentions(doc) == [(0, 1, "PER")]
