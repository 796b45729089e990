"""What cannot be learned, and what would recover it."""

import pytest

from spacy_nested_ner.decoders import AutoDecoder, CubicDecoder, FlatDecoder, Mention, QuadraticDecoder
from spacy_nested_ner.pipeline.gold import GoldReader
from spacy_nested_ner.pipeline.lost import Lost, wider_decoders

NESTED = [Mention(0, 6, "A"), Mention(2, 6, "A")]
TWO_LONG = [Mention(0, 6, "A"), Mention(0, 2, "A"), Mention(3, 5, "A")]
SHARED = [Mention(0, 1, "A"), Mention(0, 1, "B")]
# Cubic and several labels are needed together.
BOTH = [*TWO_LONG, Mention(0, 2, "B")]
CROSS = [Mention(0, 3, "A"), Mention(2, 5, "A")]
CROSSING = "which no setting can keep: correct them, or use spancat if mentions must cross"


def advice(decoder, *segments, auto=None):
    """What the warning says at its end."""
    lost = Lost()
    reader = GoldReader("sc", "wrong", ["A", "B"])
    for mentions in segments:
        lost.n_gold += len(mentions)
        reader.project(mentions, 10, decoder, lost)
    return lost.describe(decoder, None, auto=auto).rpartition("): ")[2]


@pytest.mark.parametrize(
    "decoder, segments, expected",
    [
        (QuadraticDecoder(), [TWO_LONG], "CubicDecoder keeps 1 more"),
        (QuadraticDecoder(), [SHARED, SHARED], "multi_label = true keeps 2 more"),
        (
            QuadraticDecoder(),
            [TWO_LONG, SHARED, SHARED],
            "multi_label = true keeps 2 more, CubicDecoder keeps 1 more, "
            "CubicDecoder with multi_label = true keeps 3 more",
        ),
        (
            QuadraticDecoder(),
            [BOTH, CROSS],
            "multi_label = true keeps 1 more, CubicDecoder keeps 1 more, "
            "CubicDecoder with multi_label = true keeps 2 more; 1 cross other mentions, " + CROSSING,
        ),
        (QuadraticDecoder(multi_label=True), [TWO_LONG], "CubicDecoder keeps 1 more"),
        (FlatDecoder(), [NESTED], "QuadraticDecoder keeps 1 more"),
        (FlatDecoder(multi_label=True), [NESTED, SHARED], "QuadraticDecoder keeps 1 more"),
        (
            FlatDecoder(),
            [NESTED, TWO_LONG],
            "QuadraticDecoder keeps 1 more, CubicDecoder keeps 2 more",
        ),
        (
            FlatDecoder(),
            [NESTED, SHARED],
            "multi_label = true keeps 1 more, QuadraticDecoder keeps 1 more, "
            "CubicDecoder with multi_label = true keeps 2 more",
        ),
        (CubicDecoder(), [SHARED], "multi_label = true keeps 1 more"),
        (CubicDecoder(multi_label=True), [CROSS], f"1 cross other mentions, {CROSSING}"),
        (FlatDecoder(), [CROSS, CROSS], f"2 cross other mentions, {CROSSING}"),
    ],
)
def test_every_remedy_has_its_number(decoder, segments, expected):
    assert advice(decoder, *segments) == expected


def test_the_remedy_of_a_chosen_decoder():
    auto = AutoDecoder(min_coverage=0.5)
    assert advice(QuadraticDecoder(), TWO_LONG, SHARED, CROSS, auto=auto) == (
        f"min_coverage = 1 instead of 0.5 in AutoDecoder keeps 2 more; 1 cross other mentions, {CROSSING}"
    )
    assert advice(QuadraticDecoder(), CROSS, auto=auto) == f"1 cross other mentions, {CROSSING}"


def test_labels_are_shown_as_they_are():
    lost = Lost()
    lost.n_gold = 2000
    lost.add("space", ["{decoder}", "{0[x]}", "%s"])
    lost.add("length", ["{limit}"] * 1500)
    message = lost.describe(CubicDecoder(multi_label=True), 7)
    assert "1,503 of 2,000 gold mentions (75.15 %)" in message
    assert "1,500 are longer than max_span_length = 7 ({limit} 1,500): set" in message
    assert "search space of CubicDecoder(multi_label=True) ({decoder} 1, {0[x]} 1, %s 1): 3 cross" in message


def test_the_last_of_the_wider_decoders_has_the_largest_space():
    for decoder in (FlatDecoder(), QuadraticDecoder(max_short_child=2), QuadraticDecoder(multi_label=True)):
        assert list(wider_decoders(decoder).values())[-1] == CubicDecoder(multi_label=True)
    assert wider_decoders(QuadraticDecoder(max_short_child=2))["multi_label = true"] == (
        QuadraticDecoder(max_short_child=2, multi_label=True)
    )
    assert wider_decoders(CubicDecoder()) == {"multi_label = true": CubicDecoder(multi_label=True)}
    assert wider_decoders(CubicDecoder(multi_label=True)) == {}


def test_labels_are_never_taken_for_templates():
    """A label once went through `str.format`: a KeyError, or a message of 100 MB."""
    lost, label = Lost(), "{decoder:>100000000}"
    lost.n_gold = 1
    for reason in ("tokens", "label", "sentence", "length", "space"):
        lost.add(reason, [label, "{", "}"])
    assert lost.describe(FlatDecoder(), 1).count(f"({label} 1, {{ 1, }} 1)") == 5
