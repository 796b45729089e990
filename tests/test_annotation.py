"""What a Doc is annotated with."""

import numpy as np
from nested_examples import SENTENCES, make_doc
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_nested_ner.annotation import by_segment, mentions_by_segment, mentions_of, scores_of, sentence_bounds
from spacy_nested_ner.decoders import Mention


def test_sentences_or_the_whole_doc():
    doc = make_doc(Vocab(), SENTENCES[:2])
    assert sentence_bounds(doc) == [(0, 8), (8, 16)]
    assert sentence_bounds(doc, use_sentences=False) == [(0, 16)]
    assert sentence_bounds(Doc(Vocab(), words=["a", "b"])) == [(0, 2)]
    assert sentence_bounds(Doc(Vocab())) == []


def test_mentions_are_sorted_and_named_once():
    doc = Doc(Vocab(), words=["a", "b", "c"])
    doc.spans["sc"] = [Span(doc, *span) for span in [(1, 2, "B"), (0, 3, "A"), (1, 2, "B"), (1, 2, "A")]]
    assert mentions_of(doc, "sc") == [Mention(0, 3, "A"), Mention(1, 2, "A"), Mention(1, 2, "B")]
    assert mentions_of(doc, "other") == []


def test_mentions_are_counted_from_their_segment():
    mentions = [Mention(0, 2, "A"), Mention(1, 4, "A"), Mention(3, 5, "B")]
    assert by_segment(mentions, [(0, 3), (3, 5)]) == ([[Mention(0, 2, "A")], [Mention(0, 2, "B")]], [mentions[1]])
    doc = make_doc(Vocab(), SENTENCES[:2])
    segments, across = mentions_by_segment(doc, "sc")
    assert [(start, end) for start, end, _ in segments] == sentence_bounds(doc)
    assert [mentions[0] for _, _, mentions in segments] == [Mention(0, 1, "PER"), Mention(0, 1, "PER")]
    assert across == []


def test_a_doc_without_tokens_may_have_spans():
    doc = Doc(Vocab())
    doc.spans["sc"] = [Span(doc, 0, 0, "A")]
    assert mentions_by_segment(doc, "sc") == ([], [Mention(0, 0, "A")])


def test_scores_belong_to_spans_or_are_not_there():
    doc = Doc(Vocab(), words=["a", "b"])
    doc.spans["sc"] = [Span(doc, 0, 1, "A"), Span(doc, 1, 2, "A")]
    assert scores_of(doc.spans["sc"]) is None
    doc.spans["sc"].attrs["scores"] = np.asarray([[0.5], [0.25]], dtype="float32")
    assert scores_of(doc.spans["sc"]) == [0.5, 0.25]
    doc.spans["sc"].attrs["scores"] = [0.5]
    assert scores_of(doc.spans["sc"]) is None
    doc.spans["none"] = []
    assert scores_of(doc.spans["none"]) == []
