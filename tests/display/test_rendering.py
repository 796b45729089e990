"""`render`, as users call it."""

import pickle

import pytest
import spacy
from spacy.tokens import Span

from spacy_nested_ner import load_sample, render

TEXT = "The mayor of Saltmere met the owner of the ferry."


@pytest.fixture(scope="module")
def doc():
    return load_sample()(TEXT)


def test_jupyter_shows_html_and_a_console_shows_text(doc):
    drawing = render(doc)
    assert drawing._repr_html_() == str(drawing)
    assert drawing.startswith("<style>")
    assert repr(drawing) == render(doc, style="text")
    page = render(doc, page=True)
    assert page.startswith("<!DOCTYPE html>")
    assert page._repr_html_() == str(drawing)
    assert repr(page) == repr(drawing)


def test_text(doc, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    drawing = render(doc, "text")
    assert drawing._repr_html_() is None
    lines = drawing.splitlines()
    assert lines[:2] == ["[PER The mayor of [GPE Saltmere]] met [PER the owner of", "[VEH the ferry]]."]
    assert lines[3].split()[::2] == ["GPE", "Saltmere"]
    assert "%" not in render(doc, "text", scores=False)
    lines = render(doc, "text", gold=[(0, 4, "PER"), (8, 10, "FAC")]).splitlines()
    assert [line.split()[0::2][:2] for line in lines[2:4]] == [["PER", "right"], ["GPE", "spurious"]]
    assert lines[5].split() == ["FAC", "missed", "the", "ferry"]


@pytest.mark.parametrize("terminal, setting, colored", [(True, None, True), (False, None, False), (True, "1", False)])
def test_colors_are_for_terminals(doc, monkeypatch, terminal, setting, colored):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if setting is not None:
        monkeypatch.setenv("NO_COLOR", setting)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    assert ("\x1b[" in render(doc, "text", colors={"PER": "#00ff00"})) == colored
    assert "\x1b" not in render(doc)


def test_a_page_names_the_doc(doc):
    assert f"<title>{TEXT}</title>" in render(doc, page=True)
    named = spacy.blank("de")("Ada & Bo")
    named.spans["sc"] = []
    named.user_data["title"] = "A & <b>"
    page = render(named, page=True)
    assert "<h1>A &amp; &lt;b&gt;</h1>" in page
    assert '<html lang="de">' in page


def test_gold_is_counted(doc):
    page = render(doc, gold=[(0, 4, "PER"), (8, 10, "FAC"), (9, 10, "FAC")])
    assert "1 right, 2 missed (dashed), 3 spurious (framed)" in page


def test_another_key(doc):
    doc.spans["other"] = [Span(doc, 0, 4, "A")]
    assert 'data-label="A"' in render(doc, spans_key="other")
    with pytest.raises(ValueError, match=r"the doc has no spans\['none'\]: the keys are 'sc' with 4 spans"):
        render(doc, spans_key="none")


def test_wrong_settings(doc):
    with pytest.raises(ValueError, match="style is 'svg'; expected one of 'html', 'text'"):
        render(doc, "svg")
    with pytest.raises(ValueError, match="a page is HTML: leave out style or page"):
        render(doc, "text", page=True)
    with pytest.raises(TypeError, match="expected a Doc, such as nlp"):
        render(TEXT)
    with pytest.raises(ValueError, match="expected a color of CSS"):
        render(doc, colors={"PER": "}"})


def test_it_can_be_sent_elsewhere(doc):
    again = pickle.loads(pickle.dumps(render(doc)))
    assert (again, repr(again), again._repr_html_()) == (render(doc), repr(render(doc)), render(doc)._repr_html_())
