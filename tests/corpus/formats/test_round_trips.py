"""What is written in a format and read again is what it was."""

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from nested_documents import (
    ANY_WORD,
    LABEL,
    PLAIN_WORD,
    SIMPLE_WORD,
    TRICKY_WORD,
    content,
    documents,
    in_order,
    mentions,
    read,
    settings,
)

from spacy_nested_ner.corpus import convert, write_docs
from spacy_nested_ner.decoders.mention import Mention

pytestmark = pytest.mark.slow

# Labels that XML can contain, but mostly not as the name of an element.
ANY_LABEL = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), min_size=1)
EMOJI = st.sampled_from(["🎉", "👩🏽‍🚀", "a🌕b"])

# Writing files takes long on a busy machine.
patient = hypothesis_settings(deadline=None, max_examples=60)


def round_trip(docs, name, format=None, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        written = write_docs(docs, path, format)
        again, report = read(path, format, **options)
        assert [file.name for file in Path(folder).iterdir()] == [name]
    assert written.documents == len(docs)
    assert not report.lost
    return again, written


@patient
@given(documents(ANY_WORD | TRICKY_WORD, labels=LABEL | ANY_WORD))
def test_bracket_keeps_any_words_and_labels(docs):
    # Named, because words that look like tags ("Lima B-GPE") make a text that could be in another format, too.
    again, report = round_trip(docs, "corpus.txt", "bracket")
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
    assert not report.lost


@patient
@given(documents(PLAIN_WORD | TRICKY_WORD, crossing=True))
def test_bio_keeps_words_and_mentions_that_cross(docs):
    again, report = round_trip(docs, "corpus.tsv", "bio")
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
    assert not report.lost


@patient
@given(documents(PLAIN_WORD | TRICKY_WORD, labels=LABEL | PLAIN_WORD, crossing=True, spaced=True))
def test_conllu_keeps_words_spaces_and_mentions_that_cross(docs):
    again, report = round_trip(docs, "corpus.conllu")
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
    assert [doc.text for doc in again] == [doc.text for doc in docs]
    assert not report.lost


@patient
@given(documents(PLAIN_WORD | TRICKY_WORD, labels=LABEL | PLAIN_WORD, crossing=True, spaced=True))
def test_webanno_keeps_words_spaces_and_mentions_of_one_document(docs):
    again, report = round_trip(docs[:1], "corpus.tsv", "webanno")
    assert [content(doc) for doc in again] == [content(doc) for doc in docs[:1]]
    assert again[0].text.rstrip() == docs[0].text.rstrip()
    assert not report.lost


@patient
@given(documents(SIMPLE_WORD, labels=LABEL | ANY_LABEL))
def test_xml_keeps_everything(docs):
    again, report = round_trip(docs, "corpus.xml", "xml")
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
    assert not report.lost


@pytest.mark.parametrize("name", ["corpus.pubtator", "corpus.csv"])
@patient
@given(docs=documents(SIMPLE_WORD, crossing=True))
def test_formats_without_sentences_keep_mentions(name, docs):
    again, report = round_trip(docs, name)
    assert [mentions(doc) for doc in again] == [mentions(doc) for doc in docs]
    assert [doc.text.strip() for doc in again] == [doc.text.strip() for doc in docs]
    assert set(report.lost) <= {"sentences, in documents"}


@patient
@given(documents(PLAIN_WORD | TRICKY_WORD, crossing=True))
def test_index_keeps_sentences(docs):
    again, report = round_trip(docs, "corpus.index")
    sentences = []
    for doc in docs:
        for sent in doc.sents:
            inside = [m for m in mentions(doc) if sent.start <= m.start < sent.end]
            shifted = [Mention(m.start - sent.start, m.end - sent.start, m.label) for m in inside]
            sentences.append(([token.text for token in sent], [0], shifted))
    assert [content(doc) for doc in again] == sentences
    assert set(report.lost) <= {"which sentences form a document"}


@patient
@given(documents(ANY_WORD | TRICKY_WORD, labels=LABEL | ANY_WORD, crossing=True))
def test_jsonl_by_words_keeps_everything(docs):
    again, _ = round_trip(docs, "corpus.jsonl", "jsonl-tokens")
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
    assert all(doc.has_unknown_spaces for doc in again)


@pytest.mark.parametrize("format", ["jsonl-tokens", "jsonl-text", "json"])
@patient
@given(docs=documents(ANY_WORD | TRICKY_WORD, labels=LABEL | ANY_WORD, crossing=True, spaced=True))
def test_jsonl_keeps_everything_and_the_spaces(format, docs):
    again, _ = round_trip(docs, "corpus.jsonl", format)
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
    assert [doc.text for doc in again] == [doc.text for doc in docs]


@pytest.mark.parametrize("format", ["dygie", "biaffine-ner"])
@patient
@given(docs=documents(ANY_WORD | TRICKY_WORD, labels=LABEL | ANY_WORD, crossing=True))
def test_dygie_keeps_sentences_and_mentions(format, docs):
    again, report = round_trip(docs, "corpus.jsonl", format)
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
    assert not report.lost


@patient
@given(documents(ANY_WORD | TRICKY_WORD, labels=LABEL | ANY_WORD, crossing=True))
def test_gliner_keeps_words_and_mentions(docs):
    again, report = round_trip(docs, "corpus.json", "gliner")
    for doc, other in zip(again, docs, strict=True):
        assert [token.text for token in doc] == [token.text for token in other]
        assert mentions(doc) == sorted(mentions(other), key=in_order)
    assert set(report.lost) <= {"sentence boundaries"}


@patient
@given(documents(SIMPLE_WORD | EMOJI, labels=LABEL | ANY_WORD, crossing=True, spaced=True))
def test_label_studio_keeps_text_and_characters_whatever_the_tokens(docs):
    again, report = round_trip(docs, "corpus.json", "label-studio", misaligned="split")
    for doc, other in zip(again, docs, strict=True):
        assert doc.text == other.text
        assert {(s.start_char, s.end_char, s.label_) for s in doc.spans["sc"]} == {
            (s.start_char, s.end_char, s.label_) for s in other.spans["sc"]
        }
    assert set(report.lost) <= {"sentence boundaries"}


@patient
@given(documents(ANY_WORD, labels=LABEL | ANY_WORD, crossing=True, spaced=True))
def test_spacy_keeps_everything(docs):
    again, _ = round_trip(docs, "corpus.spacy")
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
    assert [doc.text for doc in again] == [doc.text for doc in docs]


@patient
@given(documents(SIMPLE_WORD, crossing=True))
def test_brat_keeps_everything(docs):
    again, report = round_trip(docs, "corpus", "brat")
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
    assert not report.lost


def solid(doc):
    """The text and the mentions of a Doc, without spaces and line breaks."""

    def squeeze(text):
        return "".join(text.split())

    spans = doc.spans["sc"]
    return squeeze(doc.text), {(len(squeeze(doc.text[: s.start_char])), squeeze(s.text), s.label_) for s in spans}


@patient
@given(documents(SIMPLE_WORD, crossing=True, spaced=True))
def test_brat_keeps_text_and_characters_whatever_the_tokens(docs):
    """The tokenizer takes words without a space between them as one token, which has to be split."""
    again, report = round_trip(docs, "corpus", "brat", misaligned="split")
    assert [solid(doc) for doc in again] == [solid(doc) for doc in docs]
    if report.lost:  # then there are line breaks that move the characters after them
        assert set(report.lost) == {"sentences with no space between them (now a line break)"}
        return
    assert [doc.text.strip() for doc in again] == [doc.text.strip() for doc in docs]
    for doc, other in zip(again, docs):
        assert {(s.start_char, s.end_char, s.label_) for s in doc.spans["sc"]} == {
            (s.start_char, s.end_char, s.label_) for s in other.spans["sc"]
        }
        assert [s.start_char for s in doc.sents] == [s.start_char for s in other.sents]


@patient
@given(documents(SIMPLE_WORD))
def test_a_chain_through_all_formats_keeps_sentences_and_mentions(docs):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_docs(docs, folder / "a.spacy")
        steps = ["a.spacy", "b.txt", "c.tsv", "d.jsonl", "e", "f.spacy", "g.jsonl"]
        for source, target in pairwise(steps):
            report = convert(
                folder / source,
                folder / target,
                target_format="brat" if target == "e" else None,
                settings=settings(),
                allow_empty=True,
            )
            assert not report.lost
        again, _ = read(folder / "g.jsonl")
    assert [content(doc) for doc in again] == [content(doc) for doc in docs]
