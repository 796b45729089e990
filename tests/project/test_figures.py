"""Speed figures in README and docs are those that `make benchmark` wrote last."""

import re

import pytest
from commands import ROOT

# A comment says where the figures of a table come from. Its first column says what was measured.
_TABLE = re.compile(r"<!-- figures of ([\w./]+) -->\n\n\|.*\n\|[-:| ]+\n((?:\|.*\n)+)")
# Rows on speed in tables that are mostly about something else.
_SPEED = re.compile(r"^\|[^|]*(?:words per second|memory for training)[^|]*\|(?=.*\d).*$", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
PIPELINES = "benchmarks/results/pipeline.txt"


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def numbers(text):
    return [found.replace(",", "") for found in _NUMBER.findall(text)]


def check(row, source):
    measured = [float(number) for number in numbers(text_of(source))]
    for figure in numbers(row.split("|", 2)[2]):
        decimals = len(figure.partition(".")[2])
        assert figure in {f"{number:.{decimals}f}" for number in measured}, f"{figure} is not in {source}: {row}"


@pytest.mark.parametrize(
    "page, tables",
    [
        ("docs/explanation/decoding.md", 2),
        ("docs/explanation/speed.md", 8),
        ("docs/how-to/long-documents.md", 1),
        ("docs/how-to/pytorch.md", 1),
    ],
)
def test_tables_are_those_of_the_benchmarks(page, tables):
    found = _TABLE.findall(text_of(page))
    assert len(found) == tables
    for source, rows in found:
        for row in rows.splitlines():
            check(row, source)


@pytest.mark.parametrize("page", ["README.md", "docs/explanation/choosing.md"])
def test_rows_on_speed_are_those_of_the_benchmarks(page):
    rows = _SPEED.findall(text_of(page))
    assert rows
    for row in rows:
        check(row, PIPELINES)
