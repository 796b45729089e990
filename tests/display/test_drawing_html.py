"""The drawing in HTML, without a browser: what is in it, and that nothing in a text can do harm."""

import re
from html.parser import HTMLParser

import pytest
import spacy
from hypothesis import given
from nested_documents import documents
from spacy.tokens import Doc, Span, SpanGroup

from spacy_nested_ner import mentions
from spacy_nested_ner.display.colors import COLORS, color_classes, color_numbers, terminal_colors
from spacy_nested_ner.display.drawing import Drawing, visible
from spacy_nested_ner.display.drawing_html import draw_html, draw_tag
from spacy_nested_ner.display.drawing_style import THEME, stylesheet
from spacy_nested_ner.display.layout import FULL, directions, lanes, stay_together

VOCAB = spacy.blank("en").vocab


class Elements(HTMLParser):
    """The text of a drawing, and the attributes of its elements. Tags must be closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text, self.all = [], "", []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.all.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    @property
    def mentions(self):
        """Those that a keyboard and a screen reader reach."""
        return [attrs for _, attrs in self.all if "tabindex" in attrs]


def make_doc(words, spans, *, spaces=None, scores=None):
    words = words.split() if isinstance(words, str) else words
    doc = Doc(VOCAB, words=words, spaces=spaces)
    attrs = {} if scores is None else {"scores": scores}
    spans = [Span(doc, start, end, label) for start, end, label in spans]
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=spans, attrs=attrs)
    return doc


def draw(doc, *, gold=None, **settings):
    drawing = Drawing.of_doc(doc, gold=gold)
    labels = [mention.label for mention in (*drawing.mentions, *(drawing.gold or ()))]
    return Elements(draw_html(drawing, color_classes(labels), **settings))


def test_a_mention_is_announced_with_label_probability_and_parent():
    doc = make_doc("The mayor of Ghent left", [(0, 4, "PER"), (3, 4, "GPE")], scores=[0.5, 0.998])
    outer, inner = draw(doc, role="button").mentions
    assert outer["aria-label"] == outer["title"] == "PER 50%: The mayor of Ghent"
    assert inner["aria-label"] == "GPE >99%: Ghent; inside PER: The mayor of Ghent"
    expected = {"role": "button", "tabindex": "0", "data-start": "3", "data-end": "4", "data-label": "GPE"}
    assert expected.items() <= inner.items()
    assert (inner["data-probability"], inner["data-percent"]) == ("0.998", ">99%")
    assert "data-status" not in inner
    hidden = draw(doc, scores=False).mentions[1]
    assert hidden["aria-label"] == "GPE: Ghent; inside PER: The mayor of Ghent"
    assert "data-percent" not in hidden


def test_all_cells_of_a_bar_have_its_name():
    doc = make_doc("The mayor of Ghent left", [(0, 4, "PER"), (3, 4, "GPE")])
    cells = [attrs for tag, attrs in draw(doc).all if tag == "i"]
    assert [cell["data-mention"] for cell in cells] == ["p0", "p0", "p0", "p0", "p1"]
    assert [cell["class"].split()[2:] for cell in cells] == [
        ["start", "over"],
        [],
        [],
        ["end"],
        ["end", "start", "over"],
    ]


def test_gold_is_above_the_words():
    doc = make_doc("Ada & Bo", [(0, 1, "PER"), (2, 3, "PER")], scores=[0.25, 0.75])
    found = draw(doc, gold=[(0, 1, "PER"), (0, 3, "ORG")])
    told = [(attrs["data-mention"], attrs["data-status"], attrs["aria-label"]) for attrs in found.mentions]
    assert told == [
        ("g1", "right", "Gold PER 25%, right: Ada; inside ORG: Ada & Bo"),
        ("g0", "missed", "Gold ORG, missed: Ada & Bo"),
        ("p0", "right", "PER 25%, right: Ada"),
        ("p1", "spurious", "PER 75%, spurious: Bo"),
    ]


def test_gold_may_be_a_doc_with_other_tokens():
    doc = make_doc(["Mr.", "Lee", "left"], [(0, 2, "PER")], spaces=[True, True, False])
    gold = make_doc(["Mr", ".", "Lee", "left"], [(0, 3, "PER"), (2, 3, "PER"), (0, 1, "TITLE")], spaces=[0, 1, 1, 0])
    drawing = Drawing.of_doc(doc, gold=gold)
    assert [mention.status for mention in drawing.mentions] == ["right"]
    assert [(*m[:3], m.status) for m in drawing.gold] == [
        (0, 2, "PER", "right"),
        (0, 1, "TITLE", "missed"),  # which ends inside a token
        (1, 2, "PER", "missed"),
    ]
    assert Drawing.of_doc(doc, gold=gold.spans["sc"]) == drawing


def test_gold_of_another_text_is_an_error():
    doc = make_doc("Ada left", [(0, 1, "PER")])
    with pytest.raises(ValueError, match="gold is for another text: 'Bo left ' instead of 'Ada left '"):
        Drawing.of_doc(doc, gold=make_doc("Bo left", [(0, 1, "PER")]))
    other = make_doc("Ada left", [])
    other.spans["x"] = other.spans.pop("sc")
    with pytest.raises(ValueError, match=r"gold has no spans\['sc'\], where its mentions .*; its spans keys: 'x'"):
        Drawing.of_doc(doc, gold=other)
    with pytest.raises(ValueError, match=r"mention \(0, 9, 'A'\) is not a span of 2 tokens"):
        Drawing.of_doc(doc, gold=[(0, 9, "A")])


# ---- text ----


@given(documents(crossing=True, spaced=True))
def test_the_text_is_that_of_the_doc_and_all_mentions_are_there(docs):
    for doc in docs:
        found = draw(doc)
        assert found.text == visible(doc.text, keep="\t\n\r")
        rows = {(row["start"], row["end"], row["label"]) for row in mentions(doc)}
        assert {(int(m["data-start"]), int(m["data-end"]), m["data-label"]) for m in found.mentions} == rows


@pytest.mark.parametrize(
    "words",
    [["a", "\n\n  ", "b", "\n"], ["\n", "a"], ["a", " ", "b", "\t"], ["\n\n"], [], ["a\nb"], ["a", "\r\n", "b"]],
)
def test_spaces_and_newlines_are_as_they_are_written(words):
    doc = make_doc(words, [(0, len(words), "A")] if words else [], spaces=[False] * len(words))
    assert draw(doc).text == doc.text
    assert len(draw(doc).mentions) == len(doc.spans["sc"])


def test_nothing_in_a_text_is_markup():
    hostile = ["<script>alert(1)</script>", "\"'><img", "src=x", "onerror=alert(1)>", "&lt;", "\x1b[31m", "\u202eabc"]
    doc = make_doc(hostile, [(0, 7, "<b>\"'&"), (1, 3, "</style>")])
    found = draw(doc, gold=[(0, 2, "<i onclick=alert(1)>")])
    assert {tag for tag, _ in found.all} == {"div", "span", "b", "i"}
    names = {name for _, attrs in found.all for name in attrs}
    assert {name for name in names if not name.startswith(("data-", "aria-"))} == {
        *("class", "lang", "dir", "role", "tabindex", "title")
    }
    assert found.text == doc.text.replace("\x1b", "␛").replace("\u202e", "")
    assert [m["data-label"] for m in found.mentions if m["data-mention"] == "p0"] == ["<b>\"'&"]
    assert draw_tag("<b>", "c0") == '<span class="nested-mentions-tag c0">&lt;b&gt;</span>'


@pytest.mark.parametrize(
    "words, expected",
    [
        ("Ada met שרה .", ["ltr", "ltr", "rtl", "ltr"]),
        ("שרה - כהן met 5 !", ["rtl", "rtl", "rtl", "ltr", "rtl", "rtl"]),
    ],
)
def test_words_without_letters_have_the_direction_of_those_around_them(words, expected):
    assert directions(words.split()) == expected


def test_columns_have_a_direction_where_there_are_several():
    doc = make_doc("שרה met Ada", [(0, 3, "PER")])
    found = [attrs["dir"] for tag, attrs in draw(doc).all if attrs.get("class") == "r"]
    assert found == ["rtl", "rtl", "ltr", "ltr"], "with the space between two directions"
    assert [attrs["dir"] for tag, attrs in draw(doc).all if tag == "div" and "dir" in attrs] == ["rtl"]
    assert not any(attrs.get("class") == "r" for _, attrs in draw(make_doc("Ada met", [(0, 2, "PER")])).all)


def test_arabic_letters_join_across_tokens():
    doc = make_doc(["و", "قال", "زيد"], [(1, 2, "A")], spaces=[False, True, False])
    assert [attrs.get("class") for tag, attrs in draw(doc).all if tag == "b"] == ["after", "before"]


# ---- bars ----


@pytest.mark.parametrize(
    "spans, expected",
    [
        ([(0, 5), (0, 2), (3, 5), (3, 4)], [0, 1, 1, 2]),
        ([(0, 5), (3, 8), (6, 7)], [0, 1, 2]),  # the last one is inside the second one only
        ([(0, 3), (0, 3), (1, 2)], [0, 1, 2]),
    ],
)
def test_inner_mentions_are_further_from_the_words(spans, expected):
    assert lanes([(start, end, end) for start, end in spans]) == expected


def test_hundreds_of_levels():
    """Each word begins a mention that goes to the end. Far from the text, bars are short, and share lanes."""
    n = 600
    doc = make_doc(["w"] * n, [(i, n, "PER") for i in range(n)], scores=[0.5] * n)
    found = draw(doc)
    assert len(found.mentions) == n
    cells = sum(tag == "i" for tag, _ in found.all)
    assert cells < (FULL + 16) * n
    cut = [attrs for _, attrs in found.all if "cut" in attrs.get("class", "").split()]
    assert len(cut) > n / 2


def test_no_line_begins_with_a_comma():
    words = "Ada ( too ) , she sang .".split()
    spaces = [" "] * (len(words) - 1) + [""]
    assert stay_together(words, spaces, []) == [False, True, True, True, False, False, True, False]
    html = draw_html(Drawing.of_doc(make_doc(words, [(0, 1, "PER")])), {"PER": "c0"})
    assert '<span class="k">( too ) ,</span> she <span class="k">sang .</span>' in html


def test_what_is_below_a_label_stays_on_one_line():
    words, spaces = ["a", "b", "c", "d", ",", "e"], [" ", " ", " ", "", " ", ""]
    assert stay_together(words, spaces, [(1, 3)]) == [False, True, False, True, False, False]
    assert stay_together(["x" * 50] * 3, ["", " ", ""], [(0, 3)]) == [True, False, False], "unless it is long"
    assert stay_together(list("東京。"), [""] * 3, []) == [False, True, False]


# ---- colors ----


def test_labels_have_different_colors_that_do_not_depend_on_each_other():
    assert color_numbers(["PER", "ORG"])["ORG"] == color_numbers(["ORG", "GPE"])["ORG"]
    labels = [f"L{n}" for n in range(len(COLORS))]
    assert sorted(color_numbers(labels).values()) == list(range(len(COLORS)))
    assert len(color_numbers([*labels, "M", "N"])) == len(COLORS) + 2


def test_colors_of_the_user():
    colors = {"PER": "tomato", "ORG": "#0a0"}
    assert color_classes(["GPE", "ORG", "PER"], colors) == {"GPE": "c2", "ORG": "x1", "PER": "x0"}
    assert ".nested-mentions-tag.x1) { --label: #0a0;" in stylesheet(colors)
    assert terminal_colors(["ORG"], colors) == {"ORG": 16 + 6 * 3}
    assert terminal_colors(["ORG"], {"ORG": "#ff0000"}) == {"ORG": 196}
    for bad in ("red; } * { display: none", "url(x)", "</style>", 5):
        with pytest.raises(ValueError, match=r"colors\['PER'\] is .*; expected a color of CSS, such as '#a8d0f0'"):
            stylesheet({"PER": bad})
    with pytest.raises(TypeError, match="expected a dictionary of labels and colors"):
        stylesheet(["red"])


def luminance(color):
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def rgb(text):
    return [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "wrong"])
def test_labels_can_be_read_on_every_color(scheme, ink):
    """The contrast of text that WCAG asks for, 4.5, in the bars of right and of spurious mentions."""
    theme = {name: pair[scheme] for name, pair in THEME.items()}
    strength = int(theme["strength"].rstrip("%")) / 100
    for color in COLORS:
        bar = [strength * label + (1 - strength) * page for label, page in zip(rgb(color), rgb(theme["page"]))]
        low, high = sorted([luminance(bar), luminance(rgb(theme[ink]))])
        assert (high + 0.05) / (low + 0.05) >= 4.5, color


def test_the_style_sheet_is_complete():
    """It uses only the colors that it defines, in light and dark, and loads nothing."""
    css = stylesheet()
    assert set(re.findall(r"var\(--([\w-]+)", css)) <= {*THEME, "label"}
    assert css.count("{") == css.count("}")
    assert "url(" not in css
    assert "@import" not in css
    assert "</" not in css
