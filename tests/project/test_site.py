"""The documentation site: it builds without warnings, and its pages load nothing from other hosts."""

import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from urllib.parse import urlparse

import pytest
from commands import ROOT

pytest.importorskip("material")
pytest.importorskip("mkdocstrings")

# What makes a browser load a file; links that people click are not among them.
LOADING = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src")}

# The names of a field of a docstring.
FIELD = re.compile(r"^([a-z_]\w*(?:, [a-z_]\w*)*) \(", re.MULTILINE)


def test_docstrings_in_the_form_of_spacy_become_sections():
    sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
    try:
        from docstrings import as_google
    finally:
        sys.path.pop(0)
    text = """Do it.

More (in brackets): about it.

name (dict[str, int]): What it
    is.
RETURNS (tuple[int, ...]): What comes back."""
    assert (
        as_google(text)
        == """Do it.

More (in brackets): about it.

Args:
    name (dict[str, int]): What it
        is.

Returns:
    (tuple[int, ...]): What comes back."""
    )
    assert as_google("It has\n- one;\n- two.") == "It has\n\n- one;\n- two."
    assert as_google("one, two (int): Both.") == "Args:\n    one (int): Both.\n    two (int): Both."
    assert as_google("name (int): A field.", "Attributes") == "Attributes:\n    name (int): A field."


class Loads(HTMLParser):
    """The addresses that a page loads, and its text."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.text = [], ""
        self.feed(text)
        # Styles load fonts and images.
        self.addresses += re.findall(r"url\([\"']?([^)\"']+)", text) + re.findall(r"@import [\"']([^\"']+)", text)

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if (tag, name) in LOADING]

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` builds it: warnings are errors, among them links and anchors that lead nowhere."""
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


@pytest.mark.slow
def test_pages_load_nothing_from_other_hosts(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        for address in Loads(page.read_text(encoding="utf-8")).addresses:
            assert not urlparse(address).netloc, f"{page.relative_to(site)} loads {address}"
            if not address.startswith(("#", "data:", "/")):
                assert (page.parent / address.partition("?")[0]).exists(), f"{page.relative_to(site)} loads {address}"


@pytest.mark.slow
def test_styles_load_nothing_from_other_hosts(site):
    for style in site.rglob("*.css"):
        for address in Loads(style.read_text(encoding="utf-8")).addresses:
            assert not urlparse(address).netloc, f"{style.relative_to(site)} loads {address}"


@pytest.mark.slow
def test_the_reference_is_made_from_help_and_docstrings(site):
    commands = Loads((site / "reference" / "commands.html").read_text(encoding="utf-8")).text
    assert "Folder for report.html and report.json" in commands
    assert "options of" not in commands
    assert re.search(r"--to\S*, -t\s+parquet\s+Format of the shards: parquet, spacy", commands)
    python = Loads((site / "reference" / "python.html").read_text(encoding="utf-8")).text
    # A parameter in spaCy's form, as a row of a table.
    assert re.search(r"skip_bad\s+bool\s+Skip and count bad input", python)


@pytest.mark.slow
def test_every_page_has_one_title_and_a_table_of_contents_for_its_sections(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert text.count("<h1") == 1, page.relative_to(site)
        article = text[text.index("<article") : text.index("</article>")]
        for anchor in re.findall(r'<h2 id="([^"]+)"', article):
            assert f'href="#{anchor}" class="md-nav__link"' in text, page.relative_to(site)


@pytest.mark.slow
def test_files_of_the_repository_are_on_the_site(site):
    text = (site / "reference" / "configs.html").read_text(encoding="utf-8")
    assert 'href="../repository/configs/tok2vec.cfg.html"' in text
    assert (
        "[components.nested_ner]"
        in Loads((site / "repository" / "configs" / "tok2vec.cfg.html").read_text(encoding="utf-8")).text
    )


PACKAGES = ("", ".configs", ".corpus", ".decoders", ".display", ".evaluation", ".jobs")


def public_names():
    for suffix in PACKAGES:
        package = import_module(f"spacy_nested_ner{suffix}")
        yield from ((name, getattr(package, name)) for name in package.__all__)


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^::: [\w.]+\.(\w+)$", page, re.MULTILINE))
    assert {name for name, _ in public_names()} <= shown


# The settings of the component have a page of their own, and derivations are made by decoders only.
OTHERWISE = {"NestedNER", "Derivation"}


@pytest.mark.parametrize("name", sorted({name for name, thing in public_names() if callable(thing)} - OTHERWISE))
def test_every_public_parameter_is_described(name):
    """A table with some of the parameters would be worse than none."""
    thing = dict(public_names())[name]
    names = FIELD.findall(inspect.getdoc(thing) or "")
    described = {each for fields in names for each in fields.split(", ")}
    assert set(inspect.signature(thing).parameters) <= described


def test_every_command_has_a_table_of_its_options():
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    from spacy.cli._util import app
    from typer.main import get_command

    names = set(get_command(app).commands["nested-ner"].commands)
    assert set(re.findall(r"^<!-- options of ([\w-]+) -->$", page, re.MULTILINE)) == names
    assert names <= set(re.findall(r"^## ([\w-]+)$", page, re.MULTILINE))
