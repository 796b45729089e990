"""PubTator."""

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, write_docs

ABSTRACTS = """\
700101|t|Lithium and renal failure.
700101|a|We saw acute renal failure | twice.
700101\t0\t7\tLithium\tChemical\tD008094
700101\t12\t25\trenal failure\tDisease\tD051437
700101\t34\t53\tacute renal failure\tDisease\tD058186
700101\t40\t53\trenal failure\tDisease\tD051437
700101\tCID\tD008094\tD058186

700102|t|No abstract
700102|a|
"""


def test_titles_abstracts_and_relations(tmp_path):
    path = save(tmp_path / "a.pubtator", ABSTRACTS)
    docs, report = read(path)
    assert [doc.text.strip() for doc in docs] == [
        "Lithium and renal failure. We saw acute renal failure | twice.",
        "No abstract",
    ]
    assert shown(docs[0]) == [
        ("Chemical", "Lithium"),
        ("Disease", "renal failure"),
        ("Disease", "acute renal failure"),
        ("Disease", "renal failure"),
    ]
    assert {what: loss.places for what, loss in report.lost.items()} == {"relations": [f"{path}, line 7"]}
    assert not docs[0].has_annotation("SENT_START")


def test_blank_lines_between_documents_may_be_missing(tmp_path):
    docs, _ = read(save(tmp_path / "a.txt", ABSTRACTS.replace("\n\n", "\n")))
    assert [len(doc.spans["sc"]) for doc in docs] == [4, 0]


@pytest.mark.parametrize(
    "line, reason",
    [
        ("1\t0\t3\tBo\tPER", "line 3: the mention is 'Bo', but the text there is 'Ada'; correct the numbers"),
        ("1\t0\t99\tAda\tPER", "line 3: mention 0 99; expected start < end <= 13, the length of the text"),
        ("1\t0\t3\tAda", "line 3: '1 0 3 Ada' is not a mention; expected document, start, end, text and label"),
        ("nonsense", "line 3: 'nonsense' is not a mention; expected document, start, end, text and label"),
    ],
)
def test_bad_mentions(tmp_path, line, reason):
    path = save(tmp_path / "a.pubtator", f"1|t|Ada sings.\n1|a|Ho\n{line}\n1\t0\t3\tAda\tPER\tid\n")
    with pytest.raises(FormatError, match=f"a.pubtator, {reason}"):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (shown(docs[0]), report.bad.count) == ([("PER", "Ada")], 1)


def test_a_document_without_text(tmp_path):
    with pytest.raises(
        FormatError, match=r"line 1: '1\\t0\\t3\\tAda\\tPER': expected a title, as in 1234\|t\|The title"
    ):
        read(save(tmp_path / "a.pubtator", "1\t0\t3\tAda\tPER\n"))


def test_the_first_sentence_is_the_title(tmp_path):
    doc = make_doc([(["Ada", "."], [(0, 1, "PER")]), (["In\tBonn", "."], [(0, 1, "GPE")])], spaces=[0, 1, 0, 0])
    report = write_docs([doc, make_doc([(["Bo"], [])])], tmp_path / "out.pubtator")
    assert (tmp_path / "out.pubtator").read_text() == (
        "1|t|Ada.\n1|a|In Bonn.\n1\t0\t3\tAda\tPER\n1\t5\t12\tIn Bonn\tGPE\n\n2|t|Bo\n2|a|\n\n"
    )
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "sentences, in documents": ["document 1"],
        "tabs and line breaks (now spaces), in documents": ["document 1"],
    }
    with pytest.raises(FormatError, match="label ' X' contains whitespace"):
        write_docs([make_doc([(["a"], [(0, 1, " X")])])], tmp_path / "bad.pubtator")
