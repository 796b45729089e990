"""The pages show the results."""

import re

import pytest
from commands import ROOT

FOLDER = ROOT / "experiments"


def test_the_tables_have_the_numbers_of_the_results(scripts):
    text = scripts.tables.TABLES.read_text(encoding="utf-8")
    every = scripts.tables.summarize_all()
    for group, corpora in every.items():
        for corpus, summaries in corpora.items():
            assert scripts.accuracy.accuracy_table(summaries) in text, f"run experiments/tables.py: {group} {corpus}"
    assert scripts.tables.all_tables(every) == text, "run experiments/tables.py"


def test_the_page_has_the_numbers_of_the_results(scripts):
    page = scripts.tables.PAGE.read_text(encoding="utf-8")
    assert scripts.tables.fill_page(page, scripts.tables.summarize_all()) == page, "run experiments/tables.py"
    assert page.count("<!-- end -->") == len(scripts.tables.EXCERPTS) + 6


def test_tables_can_be_made_before_everything_is_run(scripts, store):
    every = scripts.tables.summarize_all()
    page = scripts.tables.fill_page(scripts.tables.PAGE.read_text(encoding="utf-8"), every)
    assert "| GENIA: spancat |" not in page
    assert "at 0 of 0 points" in scripts.tables.all_tables(every)


def test_the_page_is_short_and_shows_every_plot(scripts):
    page = scripts.tables.PAGE.read_text(encoding="utf-8")
    assert len(page.split()) <= 1500
    shown = {path.name for path in (FOLDER / "results").glob("*.png")}
    assert shown == set(re.findall(r"\(\.\./experiments/results/(\S+\.png)\)", page))


def test_plots_are_drawn(scripts, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(scripts.tables, "RESULTS", tmp_path)
    scripts.tables.plot_all()
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in (FOLDER / "results").glob("*.png")}


def test_a_table_is_filled_in_between_its_markers(scripts):
    page = "a\n<!-- one two -->\nold\n<!-- end -->\nb\n"
    assert scripts.markup.fill(page, "one two", "| new |") == "a\n<!-- one two -->\n| new |\n<!-- end -->\nb\n"
    with pytest.raises(ValueError, match=r"0 places for the table 'other'; expected one, between '<!-- other -->' and"):
        scripts.markup.fill(page, "other", "| new |")


def test_the_tuned_pair_is_the_best_of_each_system_on_dev(scripts):
    group, corpus = scripts.tables.TUNED
    settings = scripts.accuracy.results_of(scripts.plan.runs_by_group()[group])[corpus]
    tuned = scripts.accuracy.best_on_dev({name: scripts.accuracy.summarize(found) for name, found in settings.items()})
    assert scripts.confidence.PAIRS["litbank-tuned"] == ((corpus,), tuple(f"{group}/{name}" for name in tuned))
