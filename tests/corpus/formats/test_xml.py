"""Inline XML: elements as mentions."""

import pytest
from nested_documents import make_doc, read, save, shown

from spacy_nested_ner.corpus import FormatError, write_docs

PAGES = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand -->
<corpus>
  <doc id="1">
    <title>The <ORG>bank of <LOC>Bonn</LOC></ORG></title>
    <p>
      <s><PER>Ada &amp; Bo</PER> met
         <entity type="person">Cy</entity>.</s> <s>It <b/>rained.</s>
    </p>
  </doc>
  <DOC><TEXT>In <ENAMEX TYPE="LOCATION">Köln</ENAMEX>, twice</TEXT></DOC>
  <doc> </doc>
</corpus>
"""


def test_elements_are_mentions(tmp_path):
    path = save(tmp_path / "pages.xml", PAGES)
    docs, report = read(path)
    assert [doc.text for doc in docs] == ["The bank of Bonn Ada & Bo met Cy. It rained.", "In Köln, twice"]
    assert shown(docs[0]) == [("ORG", "bank of Bonn"), ("LOC", "Bonn"), ("PER", "Ada & Bo"), ("person", "Cy")]
    assert [sent.text for sent in docs[0].sents] == ["The bank of Bonn", "Ada & Bo met Cy.", "It rained."]
    assert shown(docs[1]) == [("LOCATION", "Köln")]
    assert not docs[1].has_annotation("SENT_START")
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "elements without text": [f"{path}, line 8: b"]
    }


def test_a_file_may_be_one_document(tmp_path):
    docs, _ = read(save(tmp_path / "a.xml", "<page>The <ORG>bank of <LOC>X</LOC></ORG></page>"))
    assert [shown(doc) for doc in docs] == [[("ORG", "bank of X"), ("LOC", "X")]]


def test_more_structure(tmp_path):
    path = save(tmp_path / "a.xml", "<doc><note><PER>Ada</PER> sings</note></doc>")
    assert shown(read(path)[0][0]) == [("note", "Ada sings"), ("PER", "Ada")]
    assert shown(read(path, structure=("Note",))[0][0]) == [("PER", "Ada")]


def test_mentions_inside_words(tmp_path):
    path = save(tmp_path / "a.xml", "<doc><LOC>Bonn</LOC>ish choir</doc>")
    with pytest.raises(FormatError, match=r"a.xml, line 1: mention LOC 'Bonn' .* begins or ends inside a token"):
        read(path)
    assert [token.text for token in read(path, misaligned="split")[0][0]] == ["Bonn", "ish", "choir"]


@pytest.mark.parametrize(
    "text, reason",
    [
        ("<doc>Ada\n</dog>", r"line 2: not well-formed XML: mismatched tag"),
        ("<doc>Ada", r"line 1: not well-formed XML: no element found"),
        ("Ada", r"line 1: not well-formed XML: syntax error"),
        ("<doc>\x01</doc>", r"line 1: not well-formed XML: not well-formed \(invalid token\)"),
        ("<!DOCTYPE d [\n<!ENTITY a 'b'>]><d>&a;</d>", "line 2: the file declares the entity 'a'; replace entities by"),
    ],
)
def test_bad_files(tmp_path, text, reason):
    path = save(tmp_path / "a.xml", text)
    with pytest.raises(FormatError, match=f"a.xml, {reason}"):
        read(path, "xml")
    assert read(path, "xml", skip_bad=True)[1].bad.count == 1


def test_deep_files_and_bombs(tmp_path):
    deep = 20_000
    path = save(tmp_path / "a.xml", "<doc>" + "<A>" * deep + "x" + "</A>" * deep + "</doc>")
    docs, report = read(path)
    assert shown(docs[0]) == [("A", "x")]
    assert report.lost["repeated mentions (same span and label)"].count == deep - 1
    levels = "".join(f"<!ENTITY b{n + 1} '{f'&b{n};' * 10}'>" for n in range(10))
    path = save(tmp_path / "b.xml", f"<!DOCTYPE d [<!ENTITY b0 'bomb'>{levels}]><d>&b10;</d>")
    with pytest.raises(FormatError, match="the file declares the entity 'b0'"):
        read(path)


def test_documents_are_written_as_elements(tmp_path):
    doc = make_doc([(["A<B", "in", "Bonn"], [(0, 3, "PER"), (2, 3, "p"), (1, 3, 'a "b"')]), (["Bo"], [(0, 1, "X.y")])])
    report = write_docs([doc], tmp_path / "out.xml")
    assert (tmp_path / "out.xml").read_text() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n<corpus>\n<doc>\n'
        '<s><PER>A&lt;B <entity label=\'a "b"\'>in <entity label="p">Bonn</entity></entity></PER></s>\n'
        "<s><X.y>Bo</X.y></s>\n</doc>\n</corpus>\n"
    )
    assert not report.lost


def test_what_cannot_be_written(tmp_path):
    doc = make_doc([(["a", "b", "\n", "c"], [(0, 2, "X"), (1, 4, "Y"), (3, 5, "Z")]), (["d"], [])])
    report = write_docs([doc], tmp_path / "out.xml")
    assert {what: loss.places for what, loss in report.lost.items()} == {
        "words of only whitespace": ["document 1"],
        "mentions across a sentence boundary": ["document 1: Z 'c d'"],
        "mentions that cross another": ["document 1: Y 'b \\n c'"],
    }
    for words, label in ((["\x01"], "X"), (["a"], "\x01")):
        with pytest.raises(FormatError, match=r"'\\x01' cannot be in XML; write jsonl or spacy instead"):
            write_docs([make_doc([(words, [(0, 1, label)])])], tmp_path / "out.xml")
