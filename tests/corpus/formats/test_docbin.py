"""spaCy's own format."""

import gzip
import zlib

import pytest
import srsly
from nested_documents import make_doc, read, save, settings
from spacy.tokens import DocBin, Span

from spacy_nested_ner.corpus import ConversionReport, FormatError, convert, read_docs, write_docs
from spacy_nested_ner.corpus.formats import docbin


def test_documents_without_the_spans_key_are_reported(tmp_path):
    convert(
        save(tmp_path / "in.txt", "[PER Ada] sings .\n"), tmp_path / "out.spacy", settings=settings(spans_key="ents")
    )
    docs, report = read(tmp_path / "out.spacy")
    assert [span.text for span in docs[0].spans["ents"]] == ["Ada"]
    assert report.lost["documents without spans['sc']"].places == [
        f"{tmp_path / 'out.spacy'}, document 1: it has 'ents'"
    ]
    assert report.mentions == 0


def test_all_other_annotation_is_kept(tmp_path):
    doc = make_doc([(["Ada", "sings"], [(0, 1, "PER")])])
    doc.spans["other"] = [Span(doc, 1, 2, label="X")]
    doc.spans["sc"].attrs["scores"] = [0.5]
    doc.ents = [Span(doc, 0, 1, label="PERSON")]
    doc.user_data["note"] = "kept"
    write_docs([doc], tmp_path / "a.spacy")
    convert(tmp_path / "a.spacy", tmp_path / "b.spacy", settings=settings())
    again = next(read_docs(tmp_path / "b.spacy", settings=settings()))
    assert [span.label_ for span in again.spans["other"]] == ["X"]
    assert again.spans["sc"].attrs["scores"] == [0.5]
    assert [ent.label_ for ent in again.ents] == ["PERSON"]
    assert again.user_data["note"] == "kept"


def test_other_files_are_not_spacy_files(tmp_path):
    with pytest.raises(FormatError, match=r"a.spacy: not a .spacy file; expected what spaCy's DocBin writes"):
        read(save(tmp_path / "a.spacy", "[PER Ada] sings .\n"))


def test_errors_of_the_file_system_are_not_errors_of_the_format(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(docbin.read(tmp_path / "none.spacy", settings(), ConversionReport()))


def whole_file():
    docs = [make_doc([(["Ada", "sings"], [(0, 1, "PER")])]) for _ in range(3)]
    return DocBin(docs=docs).to_bytes()


def damaged(change):
    """A file in which some of the content is changed."""
    content = srsly.msgpack_loads(zlib.decompress(whole_file()))
    change(content)
    return zlib.compress(srsly.msgpack_dumps(content))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"random bytes \xff\x00\x80",
        whole_file()[:-20],
        gzip.compress(b"something else"),
        zlib.compress(b"something else"),
        zlib.compress(srsly.msgpack_dumps(["a", "list"])),
        zlib.compress(srsly.msgpack_dumps({"attrs": 5})),
    ],
)
def test_damaged_files(tmp_path, data):
    path = tmp_path / "a.spacy"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"^[^\n]*a.spacy: not a .spacy file; expected what spaCy's DocBin writes$"):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (docs, report.bad.count) == ([], 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(tokens=b"\x07" * len(content["tokens"])),
        lambda content: content.update(span_groups=[*content["span_groups"][:2], b"\x81\xa1x"]),
        lambda content: content.update(span_groups=[*content["span_groups"][:2], b"\xff"]),
        lambda content: content.update(flags=[{}, {}, 7]),
    ],
)
def test_damaged_documents(tmp_path, change):
    path = tmp_path / "a.spacy"
    path.write_bytes(damaged(change))
    with pytest.raises(FormatError, match=r"^[^\n]*a.spacy, document [123]: the file is damaged \(\w+: [^\n]*"):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (len(docs) < 3, report.bad.count) == (True, 1)
