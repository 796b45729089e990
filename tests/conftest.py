"""What all tests may ask for."""

import pytest
from browser import open_browser, what_is_missing
from hypothesis import HealthCheck, settings

# The same examples in every run, on slow machines, too. `--hypothesis-profile=search` takes others each time.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeat", settings.get_profile("search"), derandomize=True)
settings.load_profile("repeat")


@pytest.fixture(scope="module")
def browser():
    """A browser for the tests of a module; `browser.new_page(...)` opens a page, with a width, a color scheme and
    so on."""
    with open_browser() as running:
        yield running


def pytest_collection_modifyitems(config, items):
    """Where there is no browser, leave out the tests that ask for it."""
    if what_is_missing():
        left_out = [item for item in items if "browser" in item.fixturenames]
        items[:] = [item for item in items if "browser" not in item.fixturenames]
        config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter):
    """Say so in one line."""
    if reason := what_is_missing():
        terminalreporter.write_line(reason)
