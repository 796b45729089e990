"""Speed figures in README and docs are those that `make benchmark` wrote last."""

import importlib
import re
import sys

import pytest
from commands import ROOT


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("figures")
    for name in ("figures", "_measure", "_pipeline_report", "_systems"):
        sys.modules.pop(name, None)


def test_figures_are_those_of_the_benchmarks(figures):
    used = []
    for path in figures.pages():
        page = path.read_text(encoding="utf-8")
        filled, missing = figures.fill(page)
        assert filled == page, f"{path.name}: run benchmarks/figures.py"
        assert missing == []
        # A line that begins with a comment is HTML to its end, in which Markdown means nothing.
        assert not re.search(r"^\s*(- )?<!-- figure [\w-]+ -->.", page, re.MULTILINE)
        used += [name for _, name, *_ in figures.PLACE.findall(page)]
    assert set(used) == set(figures.FIGURES)


def test_tables_and_figures_are_filled(figures, monkeypatch):
    rows = {"FIGURES": {"a": lambda: "| x |\n| - |", "b": lambda: "12 %", "c": lambda: {}["not measured"]}}
    monkeypatch.setattr(figures, "FIGURES", rows["FIGURES"])
    page = "<!-- figure a -->old<!-- end --> and <!-- figure b -->7 %<!-- end -->, <!-- figure c -->kept<!-- end -->"
    filled, missing = figures.fill(page)
    assert filled == (
        "<!-- figure a -->\n\n| x |\n| - |\n\n<!-- end --> and <!-- figure b -->12 %<!-- end -->, "
        "<!-- figure c -->kept<!-- end -->"
    )
    assert missing == ["c"]
    assert figures.fill(filled) == (filled, ["c"])
    with pytest.raises(ValueError, match="there is no figure 'd'; expected one of a, b, c"):
        figures.fill("<!-- figure d --><!-- end -->")
