"""Mentions as brackets in a text."""

import pytest
from hypothesis import given
from nested_documents import LABEL, PLAIN_WORD, crosses, sentences

from spacy_nested_ner.decoders import Mention
from spacy_nested_ner.decoders.brackets import bracket_words, separate_crossing

WORDS = "Fabian from Bonn , Germany sings".split()
NESTED = [Mention(0, 5, "PER"), Mention(2, 5, "GPE"), Mention(4, 5, "GPE")]


def test_brackets_are_at_their_words():
    assert bracket_words(WORDS, NESTED) == ["[PER Fabian", "from", "[GPE Bonn", ",", "[GPE Germany]]]", "sings"]
    assert bracket_words(WORDS, []) == WORDS
    assert bracket_words([], []) == []


def test_labels_on_one_span_are_in_the_given_order():
    assert bracket_words(["Bonn"], [Mention(0, 1, "GPE"), Mention(0, 1, "ORG")]) == ["[GPE [ORG Bonn]]"]


def test_labels_may_be_numbers():
    assert bracket_words(["Bonn"], [Mention(0, 1, 7)]) == ["[7 Bonn]"]


@pytest.mark.parametrize(
    "marked, text",
    [
        (0, "{PER Fabian from [GPE Bonn , [GPE Germany]]} sings"),
        (1, "[PER Fabian from {GPE Bonn , [GPE Germany]}] sings"),
        (2, "[PER Fabian from [GPE Bonn , {GPE Germany}]] sings"),
    ],
)
def test_one_mention_may_be_marked(marked, text):
    assert " ".join(bracket_words(WORDS, NESTED, marked=NESTED[marked])) == text


def test_only_the_label_that_is_marked_is_marked():
    mentions = [Mention(0, 1, "GPE"), Mention(0, 1, "ORG")]
    assert bracket_words(["Bonn"], mentions, marked=mentions[0]) == ["{GPE [ORG Bonn]}"]
    assert bracket_words(["Bonn"], mentions, marked=mentions[1]) == ["[GPE {ORG Bonn}]"]


def test_words_and_labels_are_escaped():
    def escape(text):
        return text.replace("[", "(")

    assert bracket_words(["[", "x"], [Mention(0, 1, "A[B"), Mention(1, 2, "C")], escape=escape) == ["[A(B (]", "[C x]"]


def test_mentions_that_cross_are_shown():
    mentions = [Mention(0, 3, "A"), Mention(2, 4, "B"), Mention(2, 3, "C")]
    text = "{A Fabian from [B [C Bonn]} ,] Germany sings"
    assert " ".join(bracket_words(WORDS, mentions, marked=mentions[0])) == text


def test_mentions_that_cross_an_earlier_one_are_separated():
    mentions = [Mention(0, 2, "A"), Mention(1, 4, "B"), Mention(2, 6, "C"), Mention(3, 5, "D"), Mention(4, 6, "E")]
    kept, crossing = separate_crossing(mentions)
    assert kept == [mentions[0], mentions[2], mentions[3]]
    assert crossing == [mentions[1], mentions[4]]


@given(sentences(PLAIN_WORD, crossing=True))
def test_what_is_kept_does_not_cross_and_all_else_does(sentence):
    mentions = [Mention(*mention) for mention in sentence[1]]
    kept, crossing = separate_crossing(mentions)
    assert sorted(kept + crossing) == sorted(mentions)
    assert not any(crosses(one, other) for one in kept for other in kept)
    for mention in crossing:
        assert any(crosses(mention, other) for other in kept if mentions.index(other) < mentions.index(mention))
    assert separate_crossing(kept) == (kept, [])


@given(sentences(PLAIN_WORD.filter(lambda word: not set("[]") & set(word)), LABEL))
def test_brackets_can_be_read_back(sentence):
    words, mentions = sentence
    found_words, found, open_ones = [], [], []
    for piece in " ".join(bracket_words(words, [Mention(*mention) for mention in mentions])).split(" "):
        if piece.startswith("["):
            open_ones.append((len(found_words), piece[1:]))
            continue
        found_words.append(piece.rstrip("]"))
        for _ in range(len(piece) - len(piece.rstrip("]"))):
            start, label = open_ones.pop()
            found.append((start, len(found_words), label))
    assert not open_ones
    assert found_words == words
    assert sorted(found) == sorted(mentions)
