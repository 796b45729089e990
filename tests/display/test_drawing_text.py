"""Sentences drawn in a terminal."""

import re

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from nested_documents import documents
from spacy.tokens import Doc, Span, SpanGroup

from spacy_nested_ner.display.drawing import Drawing, probability_text
from spacy_nested_ner.display.drawing_text import TextDrawer, cell_width

VOCAB = spacy.blank("en").vocab


def draw(words, spans, *, width=40, colored=False, spaces=None, scores=None, sent_starts=None, gold=None):
    words = words.split() if isinstance(words, str) else words
    doc = Doc(VOCAB, words=words, spaces=spaces, sent_starts=sent_starts)
    attrs = {} if scores is None else {"scores": scores}
    spans = [Span(doc, start, end, label) for start, end, label in spans]
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=spans, attrs=attrs)
    return [text.split("\n") for text in TextDrawer(width=width, colored=colored).draw(Drawing.of_doc(doc, gold=gold))]


def test_brackets_and_a_list():
    spans = [(0, 7, "PER"), (3, 7, "GPE"), (6, 7, "LOCATION"), (6, 7, "GPE")]
    [lines] = draw("The mayor of Ghent , in Flanders .", spans, width=60, scores=[0.5, 0.999, 0.25, 1.0])
    assert lines == [
        "[PER The mayor of [GPE Ghent , in",
        "[GPE [LOCATION Flanders]]]] .",
        "    PER        50%  The mayor of Ghent , in Flanders",
        "    GPE       >99%    Ghent , in Flanders",
        "    GPE       100%      Flanders",
        "    LOCATION   25%      Flanders",
    ]


def test_gold_has_no_probabilities():
    assert draw("Ann left .", [(0, 1, "PER")]) == [["[PER Ann] left .", "    PER  Ann"]]


def test_text_looks_as_it_was_written():
    [lines] = draw(["Ann", "is", "n't", "\n", "here", "."], [(0, 1, "A")], spaces=[True, *[False] * 5])
    assert lines[:2] == ["[A Ann] isn't", "here."]
    words = ["Ann", "  ", "is", "\n\n\t", "here", "\n"]
    [lines] = draw(words, [(0, 3, "A")], spaces=[True, *[False] * 5])
    assert lines == ["[A Ann   is]", "", "    here", "    A  Ann is"]


def test_lines_break_between_words_only():
    [lines] = draw("Ann Lee met extraordinarily tall people", [(0, 2, "PER"), (3, 6, "PER")], width=14)
    assert lines == [
        "[PER Ann Lee]",
        "met",
        "[PER extraordinarily",
        "tall people]",
        *["    PER  Ann Lee", "    PER  extraordinarily", "         tall people"],
    ]


def test_no_line_begins_with_a_comma():
    [lines] = draw("Ann Lee , the ( old ) mayor .", [], width=8)
    assert lines == ["Ann", "Lee ,", "the", "( old )", "mayor ."]


def test_mentions_that_cross_are_in_the_list():
    starts = [True, False, False, True, False, False]
    one, other = draw("a b c d e f", [(0, 2, "A"), (1, 3, "B"), (2, 4, "C"), (3, 4, "D")], sent_starts=starts)
    assert one == ["[A a b] c", "    A  a b", "    B  b c", "    C  c d"]
    assert other == ["[D d] e f", "    D  d"], "its parent began in another sentence"


def test_wide_characters_are_two_columns_and_may_part():
    words = list("東京の大学は古い。")
    [lines] = draw(words, [(0, 2, "GPE"), (0, 5, "ORG")], spaces=[False] * len(words), width=15)
    assert lines == ["[ORG [GPE 東京]", "の大学]は古い。", "    ORG  東京の大学", "    GPE    東京"]


@pytest.mark.parametrize(
    "text, width",
    [
        ("abc", 3),
        ("東京", 4),
        ("e\u0301", 1),
        ("👩\u200d🚀", 2),
        ("👍\U0001f3fd", 2),
        ("\x1b[1;38;5;33ma\x1b[0m", 1),
        ("", 0),
    ],
)
def test_widths(text, width):
    assert cell_width(text) == width


def test_nothing_in_a_text_reaches_the_terminal_as_a_command():
    [lines] = draw(["\x1b[31mred", "a\rb", "\u202eabc", "\x9b1m"], [(0, 4, "\x1b]0;")], colored=False, width=99)
    assert "".join(lines).isprintable()
    assert "␛[31mred a␍b abc" in lines[0]


def test_punctuation_that_opens_at_the_end_is_drawn():
    [lines] = draw(["Ada", "(", "\n"], [(0, 2, "PER")])
    assert lines == ["[PER Ada (]", "    PER  Ada ("]


def test_gold_is_in_the_list():
    [lines] = draw("Ada & Bo", [(0, 1, "PER"), (2, 3, "PER")], gold=[(0, 3, "ORG"), (0, 1, "PER")], scores=[0.5, 1.0])
    assert lines == [
        "[PER Ada] & [PER Bo]",
        "    ORG        missed    Ada & Bo",
        "    PER   50%  right     Ada",
        "    PER  100%  spurious  Bo",
    ]


def test_deep_nesting_stays_readable():
    """Where there is no more room, the depth is written; long mentions are cut off, because the text is above."""
    n = 400
    [lines] = draw(["w"] * n, [(i, n, "A") for i in range(n)], width=60)
    listed = [line for line in lines if line.startswith("    A")]
    assert max(len(line) for line in lines if line.startswith("    ")) <= 62
    assert len(listed) == n
    assert listed[1].startswith("    A    w w")
    assert listed[-1].endswith("(400) w")
    assert sum(line.endswith(" …") for line in lines) > n / 2


def test_labels_have_their_color():
    [lines] = draw("Ann of Bonn", [(0, 3, "PER"), (2, 3, "GPE"), (0, 1, "PER")], colored=True)
    colors = dict(re.findall(r"    \x1b\[1;38;5;(\d+)m(\w+)\x1b", "\n".join(lines)))
    assert sorted(colors.values()) == ["GPE", "PER"]
    plain = draw("Ann of Bonn", [(0, 3, "PER"), (2, 3, "GPE"), (0, 1, "PER")])
    assert [re.sub("\x1b\\[[0-9;]*m", "", line) for line in lines] == plain[0]


@given(documents(crossing=True, spaced=True), st.integers(20, 60))
def test_all_words_and_mentions_are_drawn(docs, width):
    drawer = TextDrawer(width=width, colored=False)
    for doc in docs:
        drawn = "\n".join(drawer.draw(Drawing.of_doc(doc)))
        listed = re.findall(r"^    (PER|GPE|ORG|G#DNA)  ", drawn, re.MULTILINE)
        assert len(listed) >= len(doc.spans["sc"])
        visible = [token.text for token in doc if token.text.isalnum()]
        assert all(word in drawn for word in visible)


@pytest.mark.parametrize(
    "number, text", [(None, ""), (0.0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.9951, ">99%"), (1.0, "100%")]
)
def test_only_what_is_certain_is_all(number, text):
    assert probability_text(number) == text
