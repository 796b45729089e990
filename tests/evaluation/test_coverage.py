"""Maximum recall of search spaces."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from nested_documents import SIMPLE_WORD, VOCAB, documents, make_doc, mentions
from nested_examples import SENTENCES, TINY
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_nested_ner.annotation import sentence_bounds
from spacy_nested_ner.corpus import Record
from spacy_nested_ner.decoders import AutoDecoder, CubicDecoder, Mention, QuadraticDecoder
from spacy_nested_ner.decoders.auto import all_spaces
from spacy_nested_ner.decoders.span_limit import choose_limit, lengths_of
from spacy_nested_ner.evaluation import measure_coverage
from spacy_nested_ner.evaluation.coverage import Coverage, show
from spacy_nested_ner.pipeline.gold import GoldReader
from spacy_nested_ner.pipeline.lost import Lost
from spacy_nested_ner.pipeline.survey import survey_examples

WORDS = "Ada and Bo Bell of Bonn sing".split()
# Two children of two words: outside c = 1.
TWO_LONG = [(0, 6, "PER"), (0, 2, "PER"), (2, 4, "PER"), (5, 6, "GPE")]
TWO_LABELS = [(5, 6, "GPE"), (5, 6, "ORG")]


def measure(*sentences, **options):
    return measure_coverage([Record(make_doc(list(sentences)), "a.txt, line 1")], **options)


def recalls(coverage):
    return [round(coverage.recall(space), 3) for space in coverage.spaces]


def test_spaces_are_in_order_of_cost():
    assert [space.name for space in all_spaces()] == ["flat", "c = 1", "c = 2", "c = 3", "cubic"] * 2
    assert [space.decoder.multi_label for space in all_spaces()] == [False] * 5 + [True] * 5
    assert {space.decoder.max_span_length for space in all_spaces(7)} == {7}


def test_every_space_keeps_what_it_can():
    assert recalls(measure((WORDS, TWO_LONG))) == [0.75, 0.75, 1, 1, 1] * 2
    assert recalls(measure((WORDS, TWO_LABELS))) == [0.5] * 5 + [1] * 5


def test_recall_by_label():
    coverage = measure((WORDS, TWO_LONG), (WORDS, TWO_LABELS))
    flat = coverage.spaces[0]
    assert coverage.mentions == {"PER": 3, "GPE": 2, "ORG": 1}
    assert coverage.kept(flat).total() == 4
    assert coverage.recall(flat, "PER") == pytest.approx(2 / 3)
    assert coverage.recall(flat, "nobody") == 1


def test_the_cheapest_space_that_is_enough_is_recommended():
    assert measure((WORDS, TWO_LONG)).recommend().decoder == CubicDecoder()
    assert measure((WORDS, TWO_LONG), max_span_length=None).recommend().decoder == QuadraticDecoder(max_short_child=2)
    assert measure((WORDS, TWO_LONG), min_coverage=0.7).recommend().name == "flat"
    assert measure((WORDS, TWO_LONG + TWO_LABELS)).recommend().decoder.multi_label
    with pytest.raises(ValueError, match=r"min_coverage is 99.9; expected a share from 0 to 1, such as 0.999"):
        Coverage(min_coverage=99.9)


def test_enough_is_a_share_of_what_the_widest_space_keeps():
    crossing = (WORDS, [(0, 3, "PER"), (2, 4, "PER"), (2, 3, "PER")])
    coverage = measure(crossing)
    assert recalls(coverage) == [0.333, 0.667, 0.667, 0.667, 0.667] * 2
    assert coverage.recommend().name == "c = 1"
    coverage = measure(*[crossing] * 20, (WORDS, TWO_LABELS), min_coverage=0.95)
    assert (coverage.recommend().name, coverage.recommend().decoder.multi_label) == ("c = 1", False)


def test_the_next_cheaper_space():
    coverage = measure((WORDS, TWO_LONG))
    cubic = coverage.recommend()
    assert coverage.next_cheaper(cubic).name == "c = 1"
    assert coverage.next_cheaper(coverage.spaces[0]) is None


def test_mentions_across_sentences_are_lost_unless_documents_are_whole():
    doc = make_doc([(WORDS, [(6, 8, "PER"), (0, 1, "PER")]), (WORDS, [])])
    records = [Record(doc, "a.txt, line 1")]
    coverage = measure_coverage(records, use_sentences=True)
    assert recalls(coverage) == [0.5] * 10
    assert (coverage.across.count, coverage.across.places) == (1, ["a.txt, line 1: PER 'sing Ada'"])
    coverage = measure_coverage(records)
    assert (recalls(coverage), coverage.across.count) == ([1.0] * 10, 0)


def test_long_mentions_are_lost_under_a_limit():
    coverage = measure((WORDS, TWO_LONG), max_span_length=3)
    assert (recalls(coverage), coverage.too_long) == ([0.75] * 10, 1)
    assert measure((WORDS, TWO_LONG), max_span_length=6).too_long == 0
    with pytest.raises(ValueError, match=r"max_span_length is 0; expected 1 or more, or None for no limit"):
        Coverage(max_span_length=0)


def test_examples_show_what_is_lost():
    coverage = measure((["Hello"], []), (WORDS, TWO_LONG), (WORDS, TWO_LABELS))
    one, two = coverage.spaces[1:3]
    (example,) = coverage.lost(one, kept_by=two)
    assert example.where == "a.txt, line 1, sentence 2"
    assert example.sentence.count("{") == 1
    assert [example.sentence for example in coverage.lost(two)] == ["Ada and Bo Bell of {GPE [ORG Bonn]} sing"]
    assert coverage.lost(coverage.spaces[-1]) == []


def test_examples_are_few():
    sentences = [(WORDS, TWO_LABELS)] * 5
    for n in (0, 1, 3):
        coverage = measure(*sentences, n_examples=n)
        assert len(coverage.lost(coverage.spaces[0])) == n


def test_marks_go_around_each_other():
    def shown(lost, *others):
        return show(WORDS, [lost, *others], lost)

    assert shown(Mention(0, 6, "A"), Mention(2, 4, "B"), Mention(3, 4, "C")) == (
        "{A Ada and [B Bo [C Bell]] of Bonn} sing"
    )
    assert shown(Mention(0, 3, "A"), Mention(2, 4, "B")) == "{A Ada and [B Bo} Bell] of Bonn sing"
    assert shown(Mention(0, 1, "A"), Mention(3, 4, "B")) == "{A Ada} and Bo Bell of Bonn sing"


def test_long_sentences_are_cut():
    words = [str(i) for i in range(30)] + ["\n"] * 3
    assert show(words, [Mention(12, 14, "A")], Mention(12, 14, "A")) == (
        "… 4 5 6 7 8 9 10 11 {A 12 13} 14 15 16 17 18 19 20 21 …"
    )
    assert show(words, [Mention(28, 30, "A")], Mention(28, 30, "A")).endswith("27 {A 28 29}")


def test_numbers_for_a_file():
    numbers = measure((WORDS, TWO_LONG)).as_dict()
    assert numbers["labels"] == {"PER": 3, "GPE": 1}
    assert numbers["recommended"]["decoder"] == "CubicDecoder"
    assert numbers["longest"] == 6
    flat = numbers["spaces"][0]
    assert (flat["decoder"], flat["kept"], flat["recall"], flat["recall_by_label"]["GPE"]) == (
        "FlatDecoder",
        3,
        0.75,
        1,
    )
    assert flat["lost"][0]["mention"] == "PER 'Ada and Bo Bell of Bonn'"


def test_no_mentions_no_loss():
    coverage = measure((WORDS, []))
    assert recalls(coverage) == [1] * 10
    assert coverage.recommend().name == "flat"


@pytest.mark.slow
@given(documents(SIMPLE_WORD, crossing=True))
def test_numbers_are_those_of_the_projection(docs):
    """Spaces that hold others keep no less, and every mention is counted once."""
    coverage = measure_coverage((Record(doc, "") for doc in docs), use_sentences=True)
    assert coverage.mentions.total() == sum(len(mentions(doc)) for doc in docs)
    for space in coverage.spaces:
        kept = 0
        for doc in docs:
            for sent in doc.sents:
                inside = [m for m in mentions(doc) if sent.start <= m.start < sent.end]
                kept += len(space.decoder.project(inside, len(doc)))
        assert coverage.kept(space).total() == kept
    numbers = [coverage.kept(space).total() for space in coverage.spaces]
    assert numbers[:5] == sorted(numbers[:5])
    assert numbers[5:] == sorted(numbers[5:])
    assert all(one <= several for one, several in zip(numbers[:5], numbers[5:]))


def test_rare_labels_are_known_before_mentions_are_dropped():
    """Counts are those of all documents, in whatever order they are added."""
    for frequent, rare in (("GPE", "ORG"), ("ORG", "GPE")):
        docs = [make_doc([(WORDS, TWO_LABELS)]), make_doc([(WORDS, [(0, 1, frequent)]), (WORDS, [])])]
        for order in (docs, docs[::-1]):
            coverage = measure_coverage(Record(doc, "") for doc in order)
            assert coverage.mentions == {frequent: 2, rare: 1}
            assert coverage.kept(coverage.spaces[0]) == {frequent: 1, rare: 1}


def test_training_drops_the_same_mentions():
    """Whatever the order of documents, and so the numbers of labels."""
    labels = ("ORG", "GPE", "FAC")
    twice = [(WORDS, [(5, 6, label) for label in pair]) for pair in zip(labels, (*labels[1:], labels[0]))]
    docs = [make_doc([sentence]) for sentence in (*twice, (WORDS, [(0, 1, "FAC")]), (WORDS, TWO_LONG))]
    coverage = measure_coverage(Record(doc, "") for doc in docs)
    space = next(space for space in coverage.spaces if space.decoder == QuadraticDecoder())
    lost = coverage.mentions - coverage.kept(space)
    assert lost.total() == 4
    for order in (docs, docs[::-1]):
        nlp = spacy.blank("en")
        nlp.add_pipe("nested_ner", config={**TINY, "decoder": "QuadraticDecoder"})
        examples = [Example(Doc(nlp.vocab, words=WORDS), doc) for doc in order]
        with pytest.warns(UserWarning, match="cannot learn 4 of 11") as warned:
            nlp.initialize(lambda examples=examples: examples)
        (named,) = re.findall(r"outside the search space of QuadraticDecoder \((.*)\): ", str(warned[0].message))
        assert dict(name.split() for name in named.split(", ")) == {label: str(n) for label, n in lost.items()}


def test_documents_can_be_added_after_the_numbers_were_read():
    coverage = Coverage()
    coverage.add(Record(make_doc([(WORDS, TWO_LABELS)]), "a"))
    assert coverage.recall(coverage.spaces[0]) == 0.5
    coverage.add(Record(make_doc([(WORDS, [(0, 1, "PER"), (2, 3, "PER")])]), "b"))
    coverage.add(Record(make_doc([(WORDS, TWO_LABELS)]), "c"))
    assert coverage.recall(coverage.spaces[0]) == pytest.approx(4 / 6)
    assert [example.where for example in coverage.lost(coverage.spaces[0])] == ["a, sentence 1", "c, sentence 1"]


def across_sentences(doc):
    """A Doc with a mention more, which begins with the last word of a sentence and ends with the next sentence."""
    sentences = list(doc.sents)
    for one, other in pairwise(sentences):
        doc.spans["sc"] += [Span(doc, one.end - 1, other.end, "PER")]
    return doc


def without_mentions(doc, *, use_sentences):
    """What a component predicts on."""
    starts = [bool(token.is_sent_start) for token in doc] if use_sentences else None
    return Doc(VOCAB, words=[token.text for token in doc], sent_starts=starts)


@given(documents(SIMPLE_WORD, crossing=True), st.booleans(), st.booleans(), st.sampled_from(["auto", None, 2]))
def test_training_chooses_the_recommended_decoder(docs, use_sentences, across, limit):
    """With and without sentences, mentions that cross each other or a sentence boundary, and several labels."""
    if across:
        docs = [across_sentences(doc) for doc in docs]
    examples = [Example(without_mentions(doc, use_sentences=use_sentences), doc) for doc in docs]
    survey = survey_examples(lambda: examples, GoldReader("sc", "wrong", ()), sentence_bounds)
    reader = GoldReader("sc", "wrong", list(survey.label_counts))
    chosen = choose_limit(lengths_of(survey.place(reader, Lost())))
    span_limit = (chosen and chosen.limit) if limit == "auto" else limit
    reader = replace(reader, span_limit=span_limit)
    choice = AutoDecoder(min_coverage=0.9).choose(survey.place(reader, Lost()), span_limit)
    if choice is not None:
        records = (Record(doc, "") for doc in docs)
        coverage = measure_coverage(records, use_sentences=use_sentences, max_span_length=limit, min_coverage=0.9)
        space = coverage.recommend()
        assert choice.decoder.settings() == {**space.decoder.settings(), "max_span_length": None}
        assert choice.kept == coverage.kept(space).total()
        assert choice.kept_by_widest == coverage.kept(coverage.spaces[-1]).total()


@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
@pytest.mark.parametrize("sentences", [SENTENCES, [(WORDS, TWO_LONG)], [(WORDS, TWO_LONG), (WORDS, TWO_LABELS)]])
def test_the_defaults_recommend_what_the_defaults_choose(sentences):
    """As the shipped configs are trained: spaCy's reader gives predicted docs no sentences."""
    doc = across_sentences(make_doc([(text.split() if isinstance(text, str) else text, m) for text, m in sentences]))
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    nlp.initialize(lambda: [Example(without_mentions(doc, use_sentences=False), doc)])
    assert pipe.decoder == measure_coverage([Record(doc, "")]).recommend().decoder


def test_a_document_as_a_whole_is_shown_sentence_by_sentence():
    """Only sentences that a mention crosses are shown together."""
    doc = make_doc([(WORDS, []), (WORDS, TWO_LABELS), (WORDS, [(5, 6, "GPE")])])
    doc.spans["sc"] += [Span(doc, 19, 20, "ORG")]
    coverage = measure_coverage([Record(doc, "a")])
    assert [(lost.where, lost.sentence) for lost in coverage.lost(coverage.spaces[0])] == [
        ("a, sentence 2", "Ada and Bo Bell of [GPE {ORG Bonn}] sing"),
        ("a, sentence 3", "Ada and Bo Bell of [GPE {ORG Bonn}] sing"),
    ]
    doc.spans["sc"] += [Span(doc, 13, 15, "ORG")]
    coverage = measure_coverage([Record(doc, "a")])
    assert [lost.where for lost in coverage.lost(coverage.spaces[0])] == ["a, sentence 2"]
    bare = Doc(VOCAB, words=WORDS)
    bare.spans["sc"] = [Span(bare, 5, 6, label) for label in ("GPE", "ORG")]
    coverage = measure_coverage([Record(bare, "b")])
    assert [lost.where for lost in coverage.lost(coverage.spaces[0])] == ["b"]
