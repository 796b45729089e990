"""The explorer at an address of its own, in this process, and pages that tell what goes wrong in them."""

from contextlib import contextmanager
from threading import Thread

from playwright.sync_api import expect

from spacy_nested_ner.display.explorer.serving import Server, address_of, listen

# For machines that do other things at the same time: milliseconds.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


@contextmanager
def served(app):
    """The address of a running application."""
    listener = listen("127.0.0.1", 0)
    server = Server(app)
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield address_of(listener, "127.0.0.1")
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def settle(page):
    """Wait until everything on the page is about its latest text, settings and selection."""
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


@contextmanager
def opened(browser, address, hash="", *, expected_failures=(), **options):
    """A page that shows its first view. Nothing may go wrong in it, and nothing may be loaded from elsewhere.

    expected_failures (tuple[str, ...]): Messages of the console that are meant to be there.
    """
    options = {"viewport": {"width": 1280, "height": 900}, **options}
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    problems, requests = [], []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    try:
        page.goto(f"{address}/{hash}")
        page.wait_for_selector("html[data-ready]")
        settle(page)
        yield page
        assert [each for each in problems if not any(part in each for part in expected_failures)] == []
        assert [url for url in requests if not url.startswith((f"{address}/", "blob:", "data:"))] == []
    finally:
        context.close()
