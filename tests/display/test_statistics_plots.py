"""Plots: they are made, and show what was counted."""

import pytest
from nested_documents import make_doc

from spacy_nested_ner.corpus import Record
from spacy_nested_ner.evaluation import collect_statistics
from spacy_nested_ner.evaluation.statistics import merge

pytest.importorskip("matplotlib")

from spacy_nested_ner.display import statistics_plots as plots

WORDS = "Ada and Bo Bell of Bonn sing".split()
NESTED = [(0, 6, "PER"), (0, 1, "PER"), (2, 4, "PER"), (5, 6, "GPE"), (5, 6, "ORG")]


def of(mentions, name="train"):
    return collect_statistics([Record(make_doc([(WORDS, mentions)]), "")], name)


def heights(figure):
    return [[round(bar.get_height(), 1) for bar in bars] for bars in figure.axes[0].containers]


def ticks(figure):
    return [label.get_text() for label in figure.axes[0].get_xticklabels()]


def test_all_plots_are_files(tmp_path):
    parts = [of(NESTED), of(NESTED[:1], "dev")]
    made = plots.save_plots(parts, merge(parts), tmp_path)
    assert [path.name for path in made] == ["lengths.png", "depth.png", "labels.png", "nesting.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in made)


def test_bars_are_shares_of_each_part():
    figure = plots.draw_lengths([of(NESTED), of(NESTED[:1], "dev")])
    assert ticks(figure) == ["1", "2", "3", "4", "5", "6"], "gaps are shown"
    assert heights(figure) == [[60, 20, 0, 0, 0, 20], [0, 0, 0, 0, 0, 100]]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["train (5)", "dev (1)"]


def test_labels_and_depths():
    parts = [of(NESTED)]
    assert heights(plots.draw_labels(parts, merge(parts))) == [[60, 20, 20]]
    assert heights(plots.draw_depths(parts)) == [[20, 80]]


def test_the_heat_map_has_the_numbers():
    figure = plots.draw_nesting(merge([of(NESTED)]))
    assert ticks(figure) == ["PER", "GPE", "ORG"]
    assert [text.get_text() for text in figure.axes[0].texts] == ["2", "1", "1"]


@pytest.mark.slow
@pytest.mark.parametrize("n_labels", [1, 7, 60])
def test_few_and_many_labels(tmp_path, n_labels):
    mentions = [(0, 1 + i % 7, f"a_long_label_{i}") for i in range(n_labels)]
    parts = [of(mentions), of([], "empty")]
    plots.save_plots(parts, merge(parts), tmp_path)
    figure = plots.draw_nesting(merge(parts))
    assert len(ticks(figure)) == min(n_labels, plots.MAX_LABELS)
    assert ("25 of 60 labels" in figure.axes[0].get_title()) == (n_labels == 60)
