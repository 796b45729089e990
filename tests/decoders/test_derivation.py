"""The trace tables of the paper, with their typos corrected."""

import sys

import pytest
from helpers import PAPER as SENTENCES

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, QuadraticDecoder


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


@pytest.mark.parametrize("decoder", [CubicDecoder(), QuadraticDecoder()])
def test_mentions_can_be_nested_deeper_than_python_calls(decoder):
    depth = sys.getrecursionlimit() + 500
    steps = decoder.derivation([(0, end, "A") for end in range(1, depth + 1)], depth)
    assert sum(step.rule == "g" for step in steps) == depth
    assert str(steps[-1].item) == f"[→, {depth}]"
