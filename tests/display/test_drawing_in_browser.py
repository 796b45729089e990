"""The drawing as a browser shows it."""

from itertools import pairwise

import pytest
import spacy
from spacy.tokens import Doc, Span, SpanGroup

from spacy_nested_ner import load_sample, render

VOCAB = spacy.blank("en").vocab

pytestmark = pytest.mark.slow  # it takes a second to start the browser


def make_doc(words, spans, *, spaces=None):
    words = words.split() if isinstance(words, str) else words
    doc = Doc(VOCAB, words=words, spaces=spaces)
    spans = [Span(doc, start, end, label) for start, end, label in spans]
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=spans, attrs={"scores": [0.5] * len(spans)})
    return doc


@pytest.fixture
def show(browser):
    """Open a page that shows a Doc; whatever it loads, and whatever goes wrong, fails the test."""
    pages, problems = [], []

    def open_page(html, *, width=800, scheme="light", **settings):
        page = browser.new_page(viewport={"width": width, "height": 600}, color_scheme=scheme, **settings)
        pages.append(page)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: problems.append(request.url))
        page.set_content(str(html))
        return page

    yield open_page
    for page in pages:
        page.close()
    assert problems == []


def boxes(page, selector):
    """Left, right, top and bottom of elements."""
    return page.locator(selector).evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(r => [r.left, r.right, r.top, r.bottom])"
    )


def text_boxes(page):
    """Where every word of a column is."""
    return dict(zip(page.locator(".w b").all_inner_texts(), boxes(page, ".w b")))


LAWYER = "A lawyer for the wife of the president of France arrived at the airport of Lima ."
SPANS = [(0, 10, "PER"), (3, 10, "PER"), (6, 10, "PER"), (9, 10, "GPE"), (12, 16, "FAC"), (15, 16, "GPE")]


@pytest.mark.parametrize("width", [1000, 400])
def test_bars_are_below_their_words_without_gaps(show, width):
    page = show(render(make_doc(LAWYER, SPANS), page=True), width=width)
    for number in range(len(SPANS)):
        cells = boxes(page, f"[data-mention=p{number}]")
        assert len(cells) == SPANS[number][1] - SPANS[number][0]
        for (_, right, top, _), (left, _, next_top, _) in pairwise(cells):
            assert next_top > top + 20 or (next_top == top and left <= right), "in the next line, or next to it"
    words = boxes(page, ".w b")
    assert all(top >= bottom for (*_, bottom), (_, _, top, _) in zip(words[:1], boxes(page, "[data-mention=p0]")))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outer, inner = boxes(page, "[data-mention=p0]")[-1], boxes(page, "[data-mention=p3]")[0]
    assert inner[2] >= outer[3], "inner mentions are further from the text"


def test_labels_fit_into_their_bars(show):
    """A word is as wide as its label; a label is never on two lines."""
    doc = make_doc(
        "We saw IL-2 and a T cell in Lima", [(2, 3, "protein_molecule"), (4, 7, "cell_type_or_line"), (8, 9, "GPE")]
    )
    for width in (800, 300):
        page = show(render(doc, page=True), width=width)
        overflow = page.locator(".start").evaluate_all(
            """all => all.map(e => {
              const bar = document.querySelectorAll(`[data-mention=${e.dataset.mention}]`);
              return e.getBoundingClientRect().left + e.scrollWidth - bar[bar.length - 1].getBoundingClientRect().right;
            })"""
        )
        assert len(overflow) == 3
        assert max(overflow) <= 8, overflow


def test_text_can_be_copied_as_it_is_written(show):
    doc = make_doc(
        ["Ada", "  ", "Lee", "\n\n", "is", "n't", "here", "."],
        [(0, 6, "PER"), (2, 3, "PER")],
        spaces=[0, 0, 0, 0, 0, 1, 0, 0],
    )
    page = show(render(doc, page=True))
    assert page.locator(".nested-mentions").evaluate("e => e.textContent") == doc.text == "Ada  Lee\n\nisn't here."
    first, second = boxes(page, ".nested-mentions > div[dir]")
    assert second[2] - first[3] > 15, "an empty line"
    places = text_boxes(page)
    assert places["is"][1] == places["n't"][0]


def test_right_to_left(show):
    words = "ראש ממשלת ישראל נפגש עם נשיא חברת Apple Inc. טים קוק".split()
    page = show(render(make_doc(words, [(0, 3, "PER"), (2, 3, "GPE"), (5, 11, "PER"), (6, 9, "ORG")]), page=True))
    places = {word.strip(): box for word, box in text_boxes(page).items() if word.strip()}
    assert places["ראש"][0] > places["ממשלת"][0] > places["ישראל"][0] > places["חברת"][0]
    assert places["חברת"][0] > places["Inc."][0] > places["Apple"][0] > places["טים"][0] > places["קוק"][0]
    head = boxes(page, "[data-mention=p0]")[0]
    assert head[1] > 740, "at the right margin"
    radius = page.locator("[data-mention=p0]").first.evaluate("e => getComputedStyle(e).borderTopRightRadius")
    assert radius == "4px"


def test_hostile_text_is_text(show):
    words = ["<script>alert(1)</script>", '"><img', "src=x", "onerror=alert(1)>", "</div></style>", "\u202eabc"]
    doc = make_doc(words, [(0, 6, '<img src=x onerror="alert(1)">'), (1, 4, "</style><script>alert(1)</script>")])
    doc.user_data["title"] = "</title><script>alert(1)</script>"
    for html in (render(doc, page=True), render(doc), render(doc, gold=doc, page=True)):
        page = show(html)
        assert page.locator(".nested-mentions script, .nested-mentions img").count() == 0
        assert page.locator(".nested-mentions").inner_text().startswith("<script>alert(1)</script>")


def test_every_mention_is_reached_by_keyboard_and_announced(show):
    page = show(render(make_doc(LAWYER, SPANS), page=True))
    reached = []
    for _ in SPANS:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.dataset.mention"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert reached == ["p0", "p1", "p2", "p3", "p4", "p5"]
    tree = page.locator("body").aria_snapshot()
    assert 'img "PER 50%: the wife of the president of France; inside PER: A lawyer for the wife of' in tree


def test_dark_and_light(show):
    html = render(make_doc(LAWYER, SPANS))

    def colors(page):
        return page.locator(".nested-mentions").evaluate(
            "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
        )

    light, dark = colors(show(html)), colors(show(html, scheme="dark"))
    assert light == ["rgb(255, 255, 255)", "rgb(29, 35, 41)"]
    assert dark == ["rgb(20, 24, 29)", "rgb(232, 237, 242)"]
    # A page that is dark or light by itself.
    assert colors(show(f'<div data-jp-theme-light="false">{html}</div>')) == dark
    assert colors(show(f'<div data-theme="light">{html}</div>', scheme="dark")) == light


def test_colors_of_the_user_stay_legible(show):
    doc = make_doc("Ada", [(0, 1, "PER")])
    lightness = "e => getComputedStyle(e).backgroundColor"
    for scheme, given, expected in (("light", "navy", 0.82), ("dark", "yellow", 0.42), ("light", "#ffeeff", 0.96)):
        page = show(render(doc, colors={"PER": given}), scheme=scheme)
        found = page.locator("[data-mention=p0]").evaluate(lightness)
        assert float(found.removeprefix("oklch(").split()[0]) == pytest.approx(expected, abs=0.01)


def test_hundreds_of_levels(show):
    n = 300
    words = "the owner of ".split() * n + ["Lima"]
    page = show(render(make_doc(words, [(3 * i, 3 * n + 1, "PER") for i in range(n)]), page=True))
    assert page.locator("[tabindex]").count() == n
    height = page.evaluate("document.documentElement.scrollHeight")
    lines = page.evaluate(
        "new Set([...document.querySelectorAll('.w b')].map(e => e.getBoundingClientRect().top)).size"
    )
    assert height / lines < 320


def test_a_long_document(show):
    part = load_sample()(
        "A spokeswoman for Norline Ferries, the company that owns the ship, said two people were hurt."
    )
    doc = Doc.from_docs([part] * 280)
    assert len(doc) > 5000
    page = show(render(doc, page=True), width=400)
    assert page.locator("[tabindex]").count() == len(doc.spans["sc"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
