"""Mentions in and out of the search spaces; derivations; the paper's examples."""

import numpy as np
import pytest
from helpers import SPACES
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nested_ner.decoders import (
    CubicDecoder,
    FlatDecoder,
    Mention,
    QuadraticDecoder,
    SpanLayout,
    count_spans,
    reference,
)
from spacy_nested_ner.decoders import decoder as kernels

# The four sentences of the paper's first figure, with end-exclusive spans.
SENTENCES = {
    1: (8, [(0, 1, "PER"), (5, 8, "PER")]),
    2: (8, [(0, 1, "PER"), (2, 8, "PER"), (2, 3, "PER"), (5, 6, "PER")]),
    3: (8, [(0, 1, "PER"), (4, 8, "ORG"), (5, 7, "GPE")]),
    4: (6, [(0, 1, "PER"), (2, 6, "PER"), (4, 6, "GPE"), (5, 6, "GPE")]),
}
# [Chair of [the Committee of [Ministers of [the Council of [Europe]]]]]
CHAIN = (10, [(0, 10, "PER"), (2, 10, "ORG"), (5, 10, "PER"), (7, 10, "ORG"), (9, 10, "GPE")])


def decode_gold(decoder, n, mentions):
    """Decode scores that are +1 for the given mentions and -1 for all others."""
    labels = sorted({label for _, _, label in mentions})
    scores = np.full((n, n, len(labels)), -1.0, dtype=np.float32)
    for start, end, label in mentions:
        scores[start, end - 1, labels.index(label)] = 1.0
    return {(m.start, m.end, labels[m.label]) for m in decoder.decode(scores)}


@pytest.mark.parametrize("number", SENTENCES)
def test_sentences_of_the_first_figure(number):
    n, mentions = SENTENCES[number]
    for decoder in (QuadraticDecoder(), CubicDecoder()):
        assert decode_gold(decoder, n, mentions) == set(mentions)
        assert decoder.contains(mentions, n)
    assert FlatDecoder().contains(mentions, n) == (number == 1)


def test_chain_of_five_mentions():
    n, mentions = CHAIN
    for decoder in (QuadraticDecoder(), CubicDecoder()):
        assert decode_gold(decoder, n, mentions) == set(mentions)
    assert len(decode_gold(FlatDecoder(), n, mentions)) == 1


def lines(derivation):
    return [(str(step.item), step.rule, step.antecedents) for step in derivation]


def mention_rows(first, start, end, label):
    """The rows of a mention with nothing inside it, as in every table of the paper."""
    rows = [(f"[↦, {start}, {start}]", "Axiom", ())]
    for position in range(start, end):
        rows.append((f"[↦, {start}, {position + 1}]", "d", (first + len(rows) - 1,)))
    rows.append((f"[{label}, {start}, {end}]", "Axiom", ()))
    rows.append((f"[↔, {start}, {end}]", "g", (first + len(rows) - 2, first + len(rows) - 1)))
    return rows


def test_trace_table_of_the_semi_markov_algorithm():
    n, mentions = SENTENCES[1]
    assert lines(FlatDecoder().derivation(mentions, n)) == [
        ("[→, 0]", "Axiom", ()),
        ("[PER, 0, 1]", "Axiom", ()),
        ("[→, 1]", "a", (1, 2)),
        ("[→, 2]", "b", (3,)),
        ("[→, 3]", "b", (4,)),
        ("[→, 4]", "b", (5,)),
        ("[→, 5]", "b", (6,)),
        ("[PER, 5, 8]", "Axiom", ()),
        ("[→, 8]", "a", (7, 8)),
    ]


@pytest.mark.parametrize("decoder, letter", [(CubicDecoder(), "c"), (QuadraticDecoder(), "j")])
def test_trace_table_of_sentence_2(decoder, letter):
    """With the typos corrected: line 8 needs 6 & 7, lines 9 and 10 are about 5, line 12 needs 10 & 11."""
    n, mentions = SENTENCES[2]
    assert lines(decoder.derivation(mentions, n)) == [
        *mention_rows(1, 0, 1, "PER"),
        *mention_rows(5, 2, 3, "PER"),
        *mention_rows(9, 5, 6, "PER"),
        ("[↦, 2, 4]", "f", (8,)),
        ("[↦, 2, 5]", "d", (13,)),
        ("[↦, 2, 6]", letter, (14, 12)),
        ("[↦, 2, 7]", "d", (15,)),
        ("[↦, 2, 8]", "d", (16,)),
        ("[PER, 2, 8]", "Axiom", ()),
        ("[↔, 2, 8]", "g", (17, 18)),
        ("[→, 0]", "Axiom", ()),
        ("[→, 1]", "h", (20, 4)),
        ("[→, 2]", "i", (21,)),
        ("[→, 8]", "h", (22, 19)),
    ]


def test_trace_table_of_sentence_3():
    """With the typos corrected: line 9 is (g) with 7 & 8, and the second line 11 is line 12."""
    n, mentions = SENTENCES[3]
    assert lines(QuadraticDecoder().derivation(mentions, n)) == [
        *mention_rows(1, 0, 1, "PER"),
        *mention_rows(5, 5, 7, "GPE"),
        ("[↤, 4, 7]", "m", (9,)),
        ("[↦, 4, 7]", "p", (10,)),
        ("[↦, 4, 8]", "d", (11,)),
        ("[ORG, 4, 8]", "Axiom", ()),
        ("[↔, 4, 8]", "g", (12, 13)),
        ("[→, 0]", "Axiom", ()),
        ("[→, 1]", "h", (15, 4)),
        ("[→, 2]", "i", (16,)),
        ("[→, 3]", "i", (17,)),
        ("[→, 4]", "i", (18,)),
        ("[→, 8]", "h", (19, 14)),
    ]


def test_trace_table_of_sentence_4():
    """With the typo corrected: line 21 is (i) with 20."""
    n, mentions = SENTENCES[4]
    assert lines(QuadraticDecoder().derivation(mentions, n)) == [
        *mention_rows(1, 0, 1, "PER"),
        *mention_rows(5, 5, 6, "GPE"),
        ("[↦, 4, 4]", "Axiom", ()),
        ("[↦, 4, 5]", "d", (9,)),
        ("[↦, 4, 6]", "j", (10, 8)),
        ("[GPE, 4, 6]", "Axiom", ()),
        ("[↔, 4, 6]", "g", (11, 12)),
        ("[↤, 3, 6]", "m", (13,)),
        ("[↤, 2, 6]", "n", (14,)),
        ("[↦, 2, 6]", "p", (15,)),
        ("[PER, 2, 6]", "Axiom", ()),
        ("[↔, 2, 6]", "g", (16, 17)),
        ("[→, 0]", "Axiom", ()),
        ("[→, 1]", "h", (19, 4)),
        ("[→, 2]", "i", (20,)),
        ("[→, 6]", "h", (21, 18)),
    ]


def test_the_other_rules():
    """(e), (k), (l) and (o), which the paper's examples do not need."""
    rules = {step.rule for step in CubicDecoder().derivation([(0, 4, "A"), (0, 2, "B"), (2, 3, "C")], 4)}
    assert "e" in rules
    rules = {step.rule for step in QuadraticDecoder().derivation([(0, 4, "A"), (0, 2, "B"), (2, 3, "C")], 4)}
    assert "k" in rules
    mentions = [(0, 5, "A"), (0, 1, "B"), (1, 2, "C"), (2, 4, "D")]
    rules = [step.rule for step in QuadraticDecoder().derivation(mentions, 5)]
    assert rules.count("l") == 1
    assert rules.count("o") == 1
    several = CubicDecoder(multi_label=True).derivation([(0, 1, "A"), (0, 1, "B")], 1)
    assert several[4] == (5, ("↔", (0, 1)), "g", (2, 3, 4))


def test_a_derivation_prints_as_a_table():
    table = str(FlatDecoder().derivation([(0, 1, "PER")], 2)).splitlines()
    assert table[0].split() == ["Item", "Rule"]
    assert table[1].split(maxsplit=1) == ["1.", "[→, 0]           Axiom"]
    assert table[3].strip() == "3. [→, 1]           (a) with 1 & 2"


def test_a_derivation_needs_an_analysis_of_the_space():
    two_long = [(0, 5, "A"), (0, 2, "B"), (3, 5, "C")]
    with pytest.raises(ValueError, match=r"has 2 children longer than 1: 0:2 \(B\) and 3:5 \(C\).*`project` it first"):
        QuadraticDecoder().derivation(two_long, 5)
    with pytest.raises(ValueError, match=r"inside .* and mentions are flat"):
        FlatDecoder().derivation(two_long, 5)
    with pytest.raises(ValueError, match=r"0:3 \(A\) and 2:4 \(A\) cross"):
        CubicDecoder().derivation([(0, 3, "A"), (2, 4, "A")], 5)
    with pytest.raises(ValueError, match="has 2 labels, and multi_label is off"):
        CubicDecoder().derivation([(0, 3, "A"), (0, 3, "B")], 5)
    with pytest.raises(ValueError, match="has 3 tokens, and max_span_length is 2"):
        CubicDecoder(max_span_length=2).derivation([(0, 3, "A")], 5)


@st.composite
def mention_sets(draw, most=7):
    n = draw(st.integers(1, 7))
    mentions = draw(
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(1, n), st.sampled_from("AB")).filter(lambda m: m[0] < m[1]),
            max_size=most,
        )
    )
    return n, mentions


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("options", [{}, {"multi_label": True}, {"max_span_length": 3}], ids=str)
@settings(max_examples=60, deadline=None)
@given(case=mention_sets())
def test_projection_is_the_largest_subset_inside(name, options, case):
    n, mentions = case
    class_name, space_settings = SPACES[name]
    fast = getattr(kernels, class_name)(**space_settings, **options)
    slow = getattr(reference, class_name)(**space_settings, **options)
    kept = fast.project(mentions, n)
    assert set(kept) <= {Mention(*m) for m in mentions}
    assert kept == sorted(kept, key=lambda m: (m.start, -m.end, m.label))
    assert slow.contains(kept, n)
    assert fast.contains(kept, n)
    assert len(kept) == len(slow.project(mentions, n))
    assert fast.contains(mentions, n) == slow.contains(mentions, n)
    assert fast.project(kept, n) == kept
    # Every analysis of the space has a derivation that ends with the whole segment.
    steps = fast.derivation(kept, n)
    assert str(steps[-1].item) == f"[→, {n}]"
    used = {k for step in steps for k in step.antecedents}
    assert used == set(range(1, len(steps)))


def test_gold_outside_the_space_is_projected():
    """Two long children: the quadratic space keeps one of them, or loses the parent."""
    mentions = [(0, 6, "PER"), (0, 2, "PER"), (3, 6, "ORG"), (7, 9, "GPE")]
    assert len(QuadraticDecoder().project(mentions, 9)) == 3
    assert len(QuadraticDecoder(max_short_child=2).project(mentions, 9)) == 4
    assert CubicDecoder().project(mentions, 9) == [Mention(*m) for m in mentions]
    assert FlatDecoder().project(mentions, 9) == [Mention(0, 2, "PER"), Mention(3, 6, "ORG"), Mention(7, 9, "GPE")]
    assert CubicDecoder().project([(0, 2, "A"), (0, 2, "A")], 2) == [Mention(0, 2, "A")]
    assert CubicDecoder(max_span_length=3).project(mentions, 9)[0] == Mention(0, 2, "PER")


def test_projection_of_a_long_document_is_quick_and_small():
    """Mentions are projected cluster by cluster, whatever the length of the document."""
    n = 1_000_000
    mentions = [(k, k + 4, "A") for k in range(0, n - 10, 50)]
    mentions += [(k + 1, k + 6, "B") for k in range(0, n - 10, 500)]
    assert len(QuadraticDecoder().project(mentions, n)) == len(range(0, n - 10, 50))


def test_spans_in_packed_order():
    for n in range(6):
        for limit in (None, 1, 2, 4, 9):
            expected = [(i, j) for i in range(n) for j in range(i, n) if limit is None or j - i < limit]
            starts, ends = SpanLayout([n], limit).starts_and_ends
            assert list(zip(starts.tolist(), ends.tolist())) == expected
            assert count_spans(n, limit) == len(expected)
