"""Which decoder some gold mentions need."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nested_ner.decoders import (
    AutoDecoder,
    CubicDecoder,
    Decoder,
    FlatDecoder,
    Mention,
    QuadraticDecoder,
    decoder_from_settings,
)
from spacy_nested_ner.decoders.auto import (
    CUBIC_IS_CHEAPER,
    Choice,
    all_spaces,
    brief,
    by_cost,
    cheapest,
    count_kept,
    fates_of,
)

# What each needs: no nesting; one long child; two children of two tokens; of four; two labels on a span.
FLAT = ([Mention(0, 2, 0), Mention(3, 4, 1)], 10)
ONE = ([Mention(0, 6, 0), Mention(2, 6, 0)], 10)
TWOS = ([Mention(0, 6, 0), Mention(0, 2, 0), Mention(3, 5, 0)], 10)
FOURS = ([Mention(0, 10, 0), Mention(0, 4, 0), Mention(5, 9, 0)], 10)
SHARED = ([Mention(0, 1, 0), Mention(0, 1, 1)], 10)
CROSS = ([Mention(0, 3, 0), Mention(2, 5, 0)], 10)


@pytest.mark.parametrize(
    "segments, longest, decoder",
    [
        ([FLAT], None, FlatDecoder()),
        ([FLAT, ONE], None, QuadraticDecoder()),
        ([FLAT, ONE], 10, QuadraticDecoder()),
        ([FLAT, TWOS], None, QuadraticDecoder(max_short_child=2)),
        ([FLAT, TWOS], CUBIC_IS_CHEAPER + 1, QuadraticDecoder(max_short_child=2)),
        ([FLAT, TWOS], CUBIC_IS_CHEAPER, CubicDecoder()),
        ([ONE, FOURS], None, CubicDecoder()),
        ([FLAT, SHARED], None, FlatDecoder(multi_label=True)),
        ([ONE, SHARED], 10, QuadraticDecoder(multi_label=True)),
        ([FOURS, SHARED], None, CubicDecoder(multi_label=True)),
    ],
)
def test_the_cheapest_that_keeps_all(segments, longest, decoder):
    choice = AutoDecoder().choose(segments, longest)
    n_mentions = sum(len(mentions) for mentions, _ in segments)
    assert (choice.decoder, choice.mentions, choice.kept, choice.coverage) == (decoder, n_mentions, n_mentions, 1.0)


def test_enough_need_not_be_all():
    segments = [FLAT] * 48 + [ONE] + [SHARED]
    kept = {0.9: FlatDecoder(), 0.985: QuadraticDecoder(), 0.995: QuadraticDecoder(multi_label=True)}
    for min_coverage, decoder in kept.items():
        choice = AutoDecoder(min_coverage=min_coverage).choose(segments, None)
        assert choice.decoder == decoder
        assert choice.coverage >= min_coverage


def test_mentions_that_cross_do_not_count_against_any_decoder():
    choice = AutoDecoder().choose([FLAT, ONE, CROSS], None)
    assert choice == Choice(QuadraticDecoder(), mentions=6, kept=5, kept_by_quadratic=5, kept_by_widest=5)
    assert AutoDecoder(min_coverage=1).choose([FLAT, CROSS], None).decoder == FlatDecoder()


def test_one_span_in_ten_thousand_sentences_does_not_decide():
    """Where mentions cross, nothing reaches 99.9 % of all of them; the widest space must not be taken for that."""
    segments = [FLAT, ONE] * 5_000 + [CROSS] * 100 + [SHARED, FOURS]
    choice = AutoDecoder().choose(segments, None)
    assert choice.decoder == QuadraticDecoder()
    assert choice.kept < choice.kept_by_widest == choice.mentions - 100
    assert choice.coverage < 0.999


def test_the_share_is_compared_exactly():
    """0.07 * 100 is more than 7 in floating point."""
    assert cheapest(all_spaces(), [7, *[100] * 9], 0.07, None).name == "flat"


def test_a_choice_gives_its_reason():
    choice = Choice(
        CubicDecoder(multi_label=True), mentions=1234, kept=1234, kept_by_quadratic=1148, kept_by_widest=1234
    )
    assert (
        str(choice)
        == "CubicDecoder(multi_label=True) keeps 100.00 % of 1,234 gold mentions (QuadraticDecoder: 93.03 %)"
    )
    choice = Choice(QuadraticDecoder(), mentions=100_000, kept=99_999, kept_by_quadratic=99_999, kept_by_widest=99_999)
    assert str(choice) == "QuadraticDecoder keeps 99.99 % of 100,000 gold mentions"
    choice = Choice(FlatDecoder(), mentions=1000, kept=990, kept_by_quadratic=990, kept_by_widest=991)
    assert str(choice) == (
        "FlatDecoder keeps 99.00 % of 1,000 gold mentions (QuadraticDecoder: 99.00 %, at most: 99.10 %)"
    )
    assert Choice(choice.decoder, **choice.counts()) == choice


def test_a_brief_name_has_what_is_not_the_default():
    assert brief(QuadraticDecoder()) == "QuadraticDecoder"
    assert brief(QuadraticDecoder(max_short_child=3, multi_label=True)) == (
        "QuadraticDecoder(max_short_child=3, multi_label=True)"
    )
    assert brief(FlatDecoder(max_span_length=7)) == "FlatDecoder(max_span_length=7)"


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 5), st.integers(0, 2)), max_size=9), st.integers(0, 9))
def test_counts_are_those_of_the_projection(spans, shift):
    """Of arrangements that occur again elsewhere, too."""
    mentions = sorted({Mention(start, start + length, label) for start, length, label in spans})
    moved = [Mention(m.start + shift, m.end + shift, m.label) for m in mentions]
    decoders = [space.decoder for space in all_spaces(4)] + [space.decoder for space in all_spaces()]
    kept = [len(decoder.project(mentions, 12)) for decoder in decoders]
    assert count_kept([(mentions, 12), (moved, 30)], decoders) == [2 * n for n in kept]


def test_no_mentions():
    assert AutoDecoder().choose([], None) is None
    assert AutoDecoder().choose([([], 5)], None) is None


def test_every_space_holds_the_one_before():
    kept = [50, 60, 70, 80, 90, 60, 70, 80, 90, 100]
    spaces = all_spaces()
    assert cheapest(spaces, kept, 0.7, None).name == "c = 2"
    assert cheapest(spaces, kept, 0.7, 20).name == "cubic"
    assert cheapest(spaces, kept, 0.6, 20).name == "c = 1"
    assert cheapest(spaces, [0] * 10, 0.999, 20).name == "flat"


def test_spaces_by_cost():
    names = [space.name for space in by_cost(all_spaces(), None)]
    assert names == ["flat", "c = 1", "c = 2", "c = 3", "cubic"] * 2
    names = [space.name for space in by_cost(all_spaces(), 20)]
    assert names == ["flat", "c = 1", "cubic", "c = 2", "c = 3"] * 2


def test_settings_come_back():
    for decoder in (FlatDecoder(multi_label=True), QuadraticDecoder(max_short_child=3), CubicDecoder()):
        assert decoder_from_settings(decoder.settings()) == decoder
    with pytest.raises(ValueError, match="decoder is 'Best'; expected one of FlatDecoder"):
        decoder_from_settings({"decoder": "Best"})


def test_bad_share():
    with pytest.raises(ValueError, match=r"min_coverage is 99\.9; expected a share from 0 to 1, such as 0\.999"):
        AutoDecoder(min_coverage=99.9)
    with pytest.raises(ValueError, match=r"min_coverage is '0\.9'; expected a share from 0 to 1"):
        AutoDecoder(min_coverage="0.9")


def test_a_chooser_is_no_decoder():
    auto = AutoDecoder(min_coverage=0.9)
    assert not isinstance(auto, Decoder)
    assert auto != AutoDecoder() == AutoDecoder(min_coverage=0.999)
    assert repr(auto) == "AutoDecoder(min_coverage=0.9)"
    assert pickle.loads(pickle.dumps(auto)) == copy.deepcopy(auto) == auto
    assert hash(auto) == hash(AutoDecoder(min_coverage=0.9)) != hash(AutoDecoder())
    with pytest.raises(AttributeError):
        auto.min_coverage = 0.5
    with pytest.raises(TypeError):
        AutoDecoder(0.9)
    with pytest.raises(
        ValueError, match=r"^AutoDecoder\(min_coverage=0.9\) has not chosen a decoder yet: .*nlp.initialize"
    ):
        raise auto.not_chosen()


def test_fates_depend_on_counts_and_the_choice_does_not():
    mentions, spaces = [Mention(0, 2, "A"), Mention(0, 2, "B")], all_spaces()
    for counts, kept in [({"A": 5, "B": 9}, 0), ({"A": 9, "B": 5}, 1), (None, 0)]:
        fates = fates_of(mentions, 3, spaces, counts)
        assert [fate[0] for fate in fates] == [number == kept for number in range(2)]
    assert AutoDecoder(min_coverage=0.5).choose([(mentions, 3)], None).decoder == FlatDecoder()
