"""Training from any format, without converting it first."""

import pytest
import spacy
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.util import registry

from spacy_nested_ner.corpus import convert

BRACKETS = "[PER Fabian from [GPE Bonn]] slept .\nNobody spoke .\n\n[PER I] left .\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data.txt").write_text(BRACKETS)
    return tmp_path / "data.txt"


def make(**settings):
    return registry.readers.get("spacy-nested-ner.Corpus.v1")(**settings)


def test_examples_have_the_tokens_and_sentences_of_the_data(path):
    nlp = spacy.blank("en")
    first, second = make(path=path)(nlp)
    assert [token.text for token in first.x] == "Fabian from Bonn slept . Nobody spoke .".split()
    assert [len(sentence) for sentence in first.x.sents] == [5, 3]
    assert not first.x.spans
    assert [(s.start, s.end, s.label_) for s in first.y.spans["sc"]] == [(0, 3, "PER"), (2, 3, "GPE")]
    assert len(second.y.spans["sc"]) == 1


def test_or_the_tokens_of_the_pipeline(path):
    nlp = spacy.blank("en")
    (first,) = make(path=path, gold_tokens=False, limit=1)(nlp)
    assert not first.x.has_annotation("SENT_START")


def test_a_path_is_needed():
    with pytest.raises(ValueError, match=r"the corpus has no path; set paths\.train"):
        make(path=None)


@pytest.mark.slow
def test_a_pipeline_trains_from_it(path):
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner")
    corpus = make(path=path)
    optimizer = nlp.initialize(lambda: corpus(nlp))
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update(list(corpus(nlp)), sgd=optimizer)
    assert nlp.evaluate(list(corpus(nlp)))["spans_sc_f"] == 1


def test_long_documents_are_divided_between_sentences(path):
    whole = list(make(path=path)(spacy.blank("en")))
    parts = list(make(path=path, max_length=1)(spacy.blank("en")))
    sentences = [sentence.text for example in whole for sentence in example.reference.sents]
    assert len(sentences) > len(whole)
    assert [example.reference.text.strip() for example in parts] == [text.strip() for text in sentences]
    assert [len(example.predicted) for example in parts] == [len(example.reference) for example in parts]
    assert _mentions(parts) == _mentions(whole)
    assert all("sc" in example.reference.spans for example in parts)


def test_pieces_hold_as_many_sentences_as_fit(path):
    whole = list(make(path=path)(spacy.blank("en")))
    limit = max(len(example.reference) for example in whole)
    assert len(list(make(path=path, max_length=limit)(spacy.blank("en")))) == len(whole)
    parts = list(make(path=path, max_length=limit - 1)(spacy.blank("en")))
    assert len(whole) < len(parts) <= 2 * len(whole)
    assert _mentions(parts) == _mentions(whole)


def test_pieces_keep_the_attrs_of_span_groups(tmp_path):
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words="I left . You left .".split(), sent_starts=[True, False, False] * 2)
    spans = [Span(doc, 0, 1, "PER"), Span(doc, 3, 4, "PER")]
    attrs = {"incomplete": 0.5, "scores": [0.25, 0.75]}
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=spans, attrs=attrs)
    doc.spans["sc_incorrect"] = [Span(doc, 4, 5)]
    DocBin(docs=[doc]).to_disk(tmp_path / "whole.spacy")
    convert(tmp_path / "whole.spacy", tmp_path / "again.spacy")
    parts = [example.reference for example in make(path=tmp_path / "again.spacy", max_length=3)(spacy.blank("en"))]
    assert [part.spans["sc"].attrs for part in parts] == [
        {"incomplete": 0.5, "scores": [0.25]},
        {"incomplete": 0.5, "scores": [0.75]},
    ]
    assert [[(s.start, s.end, s.label_) for s in part.spans["sc_incorrect"]] for part in parts] == [[], [(1, 2, "")]]


def test_scores_that_no_longer_match_the_spans_are_dropped(tmp_path):
    doc = Doc(spacy.blank("en").vocab, words="I left . You left .".split(), sent_starts=[True, False, False] * 2)
    spans = [Span(doc, 0, 1, "PER"), Span(doc, 3, 4, "PER")]
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=spans, attrs={"scores": [0.25]})
    DocBin(docs=[doc]).to_disk(tmp_path / "data.spacy")
    parts = list(make(path=tmp_path / "data.spacy", max_length=3)(spacy.blank("en")))
    assert _mentions(parts) == [("I", "PER"), ("You", "PER")]
    assert [example.reference.spans["sc"].attrs for example in parts] == [{}, {}]


def test_mentions_across_pieces_are_lost_with_a_warning(tmp_path):
    doc = Doc(spacy.blank("en").vocab, words="I left . You left .".split(), sent_starts=[True, False, False] * 2)
    doc.spans["sc"] = [Span(doc, 0, 1, "PER"), Span(doc, 1, 5, "ORG")]
    DocBin(docs=[doc]).to_disk(tmp_path / "data.spacy")
    with pytest.warns(UserWarning, match=r"1 mentions in .*data.spacy are lost: .* at most max_length = 3 tokens"):
        assert len(list(make(path=tmp_path / "data.spacy", max_length=3)(spacy.blank("en")))) == 2


def test_the_tokenizer_of_the_pipeline_is_used_for_running_text(tmp_path):
    (tmp_path / "data.jsonl").write_text(
        '{"text": "Ada isn\'t in Bonn", "spans": [{"start": 0, "end": 3, "label": "PER"}]}'
    )
    nlp = spacy.blank("en")
    nlp.tokenizer = Tokenizer(nlp.vocab)
    (example,) = make(path=tmp_path / "data.jsonl")(nlp)
    assert [token.text for token in example.x] == ["Ada", "isn't", "in", "Bonn"]
    assert example.x.vocab is example.y.vocab is nlp.vocab


@pytest.mark.parametrize(
    "name, content, settings",
    [
        ("a.jsonl", '{"tokens": ["Ada", "sings"], "ner_tags": [1, 0]}', {"tag_names": ["O", "B-PER"]}),
        ("a.xml", "<r><q>Ada</q> <PER>Ada</PER></r>", {"structure": ["q"]}),
        (
            "a.tsv",
            "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.B|c\n#T_SP=a.D|e\n\n1-1\t0-3\tAda\tX\tPER\t\n",
            {"layer": "D"},
        ),
    ],
)
def test_settings_of_single_formats(tmp_path, name, content, settings):
    (tmp_path / name).write_text(content)
    assert _mentions(make(path=tmp_path / name, **settings)(spacy.blank("en"))) == [("Ada", "PER")]


def _mentions(examples):
    return [(span.text, span.label_) for example in examples for span in example.reference.spans["sc"]]
