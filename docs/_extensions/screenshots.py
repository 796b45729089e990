"""The pictures of the explorer in docs/images: `python docs/_extensions/screenshots.py`.

It needs chromium and playwright.
"""

import sys
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from browser import open_browser  # noqa: E402 - the browser of the tests
from explorer_page import opened, served  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

from spacy_nested_ner import load_sample  # noqa: E402
from spacy_nested_ner.corpus import read_records  # noqa: E402
from spacy_nested_ner.display.explorer.scoring import Scorer  # noqa: E402
from spacy_nested_ner.display.explorer.sentences import Corpus  # noqa: E402
from spacy_nested_ner.display.explorer.server import create_app  # noqa: E402

TEXT = "A lawyer for the wife of the president of France arrived at the airport of Lima."


def main() -> None:
    scorer = Scorer(load_sample())
    corpus = Corpus(scorer, read_records(ROOT / "assets" / "sample" / "dev.txt"), "dev.txt")
    with served(create_app(scorer, model="sample", corpus=corpus)) as address, open_browser() as browser:
        size = {"viewport": {"width": 1240, "height": 1000}}
        with opened(browser, address, f"#text={quote(TEXT)}&span=6-10&look=heat", **size) as page:
            expect(page.locator("#selected-labels tr").first).to_be_visible()
            expect(page.locator("#heat-table tbody tr").first).to_be_attached()
            save(page, "explorer")
        corpus.wait()
        with opened(browser, address, color_scheme="dark", **size) as page:
            page.locator("#filter-order").select_option("errors")
            page.locator("#sentences button").first.click()
            expect(page.locator("#errors b").first).to_be_visible()
            page.locator("#errors button").first.click()
            expect(page.locator("#selected-labels tr").first).to_be_visible()
            save(page, "explorer-corpus")


def save(page: Page, name: str) -> None:
    expect(page.locator("#working")).to_be_hidden()
    page.wait_for_timeout(400)
    page.mouse.move(0, 0)
    page.evaluate("() => scrollTo(0, 0)")
    path = ROOT / "docs" / "images" / f"{name}.png"
    page.screenshot(path=path)
    print(f"Saved {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
