"""Tables as text."""

from spacy_nested_ner.display.tables import count, markdown_table, percent, render_table, score_cells


def test_numbers():
    assert (percent(0.12345), percent(0.12345, 2), percent(1, 0)) == ("12.3", "12.35", "100")
    assert (count(1234567), count(0)) == ("1,234,567", "-")


def test_a_table_for_the_terminal():
    lines = render_table([("a", "1"), ("longer", "1,000")], ["", "n"]).splitlines()
    assert lines == ["             n", "------   -----", "a            1", "longer   1,000"]


def test_a_table_for_a_page():
    assert markdown_table([["a", "1"]], ["", "n"]) == "|  | n |\n| --- | --- |\n| a | 1 |\n"


def test_scores_of_nothing_are_not_zero():
    row = {"p": 0.5, "r": 0.25, "f": 0.333, "gold": 4, "predicted": 2}
    assert score_cells(row) == ["50.0", "25.0", "33.3"]
    assert score_cells({**row, "gold": 0}) == ["50.0", "–", "–"]
    assert score_cells({**row, "predicted": 0, "f": 0.0}) == ["–", "25.0", "0.0"]
