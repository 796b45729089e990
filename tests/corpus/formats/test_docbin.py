"""spaCy's own format."""

import pytest
from nested_documents import make_doc, read, save, settings
from spacy.tokens import Span

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
