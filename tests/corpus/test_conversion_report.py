"""What a conversion did, as a short text."""

import pytest

from spacy_nested_ner.corpus import ConversionReport, FormatError
from spacy_nested_ner.decoders.mention import Mention


def test_the_report_is_a_short_text():
    report = ConversionReport(skip_bad=True)
    report.count([3, 2], [Mention(0, 3, "PER"), Mention(1, 2, "GPE"), Mention(3, 4, "PER")])
    assert str(report) == (
        "Documents  1\n"
        "Sentences  2 (longest 3 words)\n"
        "Words      5\n"
        "Mentions   3 (33.3 % nested, depth 2)\n"
        "Labels     PER 2, GPE 1"
    )
    for n in range(1, 8):
        report.lose("relations", f"a.ann, line {n}", count=200)
    with report.tolerating():
        raise FormatError("a.ann, line 9", "not a mention")
    assert str(report).split("Labels     PER 2, GPE 1\n")[1] == (
        "Not kept\n"
        "  relations: 1,400\n"
        "    a.ann, line 1\n    a.ann, line 2\n    a.ann, line 3\n    a.ann, line 4\n    a.ann, line 5\n    …\n"
        "Skipped as bad: 1\n"
        "    a.ann, line 9: not a mention"
    )


def test_an_empty_report():
    assert str(ConversionReport()) == (
        "Documents  0\n"
        "Sentences  0 (longest 0 words)\n"
        "Words      0\n"
        "Mentions   0 (0.0 % nested, depth 0)\n"
        "Labels     none"
    )


def test_few_places_are_remembered():
    report = ConversionReport()
    for n in range(1000):
        report.lose("relations", f"line {n}")
    assert (report.lost["relations"].count, len(report.lost["relations"].places)) == (1000, 100)


def test_bad_input_is_an_error_unless_it_is_skipped():
    report = ConversionReport()
    with pytest.raises(FormatError, match=r"a.ann, line 9: not a mention"), report.tolerating():
        raise FormatError("a.ann, line 9", "not a mention")
    assert report.bad.count == 0
    with pytest.raises(KeyError), ConversionReport(skip_bad=True).tolerating():
        raise KeyError
