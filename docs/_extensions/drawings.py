"""Make the pictures of drawings in docs/images again: python docs/_extensions/drawings.py

It needs chromium and playwright.
"""

import sys
from pathlib import Path

from spacy import displacy
from spacy.tokens import Doc, Span

from spacy_nested_ner import load_sample, render
from spacy_nested_ner.decoders import CubicDecoder, Decoder, FlatDecoder, Mention, QuadraticDecoder

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from browser import open_browser  # noqa: E402 - the browser of the tests

TEXT = "A lawyer for the wife of the president of France arrived at the airport of Lima."
# What a person would annotate in it.
GOLD = [(0, 10, "PER"), (3, 10, "PER"), (6, 10, "PER"), (9, 10, "GPE"), (12, 16, "FAC"), (15, 16, "LOC")]
FERRY = (
    "A spokeswoman for Norline Ferries , the company that owns the ship , said two people had been treated for cold .",
    [(0, 11, "PER"), (3, 11, "ORG"), (6, 11, "ORG"), (9, 11, "VEH"), (13, 15, "PER")],
)
HEBREW = (
    "ראש ממשלת ישראל נפגש עם נשיא חברת Apple Inc. טים קוק .",
    [(0, 3, "PER"), (2, 3, "GPE"), (5, 11, "PER"), (6, 9, "ORG"), (9, 11, "PER")],
)


# For search spaces.
FAREWELL = ("She left Norway for Ghent .", [(2, 3, "GPE"), (4, 5, "GPE")])
MAYOR = ("the mayor of Ghent left .", [(0, 4, "PER"), (3, 4, "GPE")])
NORLINE = ("Norline , the company that owns the ship", [(0, 8, "ORG"), (0, 1, "ORG"), (2, 8, "ORG"), (6, 8, "VEH")])
COUPLE = (
    "the mayor of Ghent and the owner of the ferry",
    [(0, 10, "PER"), (0, 4, "PER"), (3, 4, "GPE"), (5, 10, "PER"), (8, 10, "VEH")],
)
RATE = ("a deep learning rate schedule", [(1, 3, "TERM"), (2, 4, "TERM")])


def held(decoder: Decoder, words: str, spans: list[tuple[int, int, str]]) -> str:
    """What a decoder can find: all mentions, or as many as fit, with the gold above them."""
    found = [tuple(mention) for mention in decoder.project(map(Mention._make, spans), len(words.split()))]
    if set(found) == set(spans):
        return f"<p>can hold</p>{render(annotated(words, found))}"
    drawing = render(annotated(words, found), gold=spans).partition('<p class="nested-mentions-key">')[0]
    return f"<p>cannot hold: gold above the text, as much of it as fits below</p>{drawing}"


def annotated(words: str, spans: list[tuple[int, int, str]]) -> Doc:
    tokens = words.split()
    spaces = [after not in ",." for after in (*tokens[1:], ".")]
    doc = Doc(load_sample().vocab, words=tokens, spaces=spaces)
    doc.spans["sc"] = [Span(doc, *span) for span in spans]
    return doc


def main() -> None:
    doc = load_sample()(TEXT)
    narrow, middle, wide = 420, 520, 780
    flat, quadratic, cubic = FlatDecoder(), QuadraticDecoder(), CubicDecoder()
    pictures = {
        "nested": (render(annotated(*FERRY)), 960, "light"),
        "drawing": (render(doc), wide, "light"),
        "drawing-dark": (render(doc), wide, "dark"),
        "drawing-narrow": (render(doc), narrow, "light"),
        "drawing-gold": (render(doc, gold=GOLD), wide, "light"),
        "drawing-right-to-left": (render(annotated(*HEBREW)), wide, "light"),
        "space-flat": (held(flat, *FAREWELL) + held(flat, *MAYOR), middle, "light"),
        "space-quadratic": (held(quadratic, *NORLINE) + held(quadratic, *COUPLE), middle, "light"),
        "space-cubic": (held(cubic, *COUPLE), middle, "light"),
        "space-crossing": (held(cubic, *RATE), middle, "light"),
        "displacy": (displacy.render(doc, style="span", jupyter=False), wide, "light"),
    }
    with open_browser() as browser:
        for name, (html, width, scheme) in pictures.items():
            page = browser.new_page(
                viewport={"width": width, "height": 100}, color_scheme=scheme, device_scale_factor=2
            )
            background = "#14181d" if scheme == "dark" else "#fff"
            style = f"body {{ margin: 12px; background: {background}; }} p {{ margin: 8px 0 0; font: 14px system-ui; }}"
            page.set_content(f"<style>{style}</style><body>{html}</body>")
            page.screenshot(path=ROOT / "docs" / "images" / f"{name}.png", full_page=True)
            page.close()


if __name__ == "__main__":
    main()
