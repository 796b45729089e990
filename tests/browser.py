"""A real browser for tests: Debian's chromium, driven by Playwright.

Ask for the fixture `browser` (tests/conftest.py). Where there is no browser, these tests are left out, and pytest says
so in one line.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# It loads nothing by itself: what a page asks for is all that it asks for.
OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


def find_browser() -> str | None:
    """Where a browser is installed; None if nowhere."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_browser() -> Iterator:
    """A browser without a window, and with an empty profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


def what_is_missing() -> str | None:
    """Why tests in a browser are left out; None if they are not."""
    if find_spec("playwright") is None:
        return "tests in a browser are left out: they need playwright (pip install playwright)"
    if find_browser() is None:
        return "tests in a browser are left out: they need chromium (apt-get install chromium)"
    return None
