"""Tables as text."""

from spacy_nested_ner.display.tables import count, markdown_table, percent, render_table


def test_numbers():
    assert (percent(0.12345), percent(0.12345, 2), percent(1, 0)) == ("12.3", "12.35", "100")
    assert (count(1234567), count(0)) == ("1,234,567", "-")


def test_a_table_for_the_terminal():
    lines = render_table([("a", "1"), ("longer", "1,000")], ["", "n"]).splitlines()
    assert lines == ["             n", "------   -----", "a            1", "longer   1,000"]


def test_a_table_for_a_page():
    assert markdown_table([["a", "1"]], ["", "n"]) == "|  | n |\n| --- | --- |\n| a | 1 |\n"
