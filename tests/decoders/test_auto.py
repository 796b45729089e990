"""Which decoder some gold mentions need."""

import copy
import pickle

import pytest

from spacy_nested_ner.decoders import (
    AutoDecoder,
    CubicDecoder,
    Decoder,
    FlatDecoder,
    Mention,
    QuadraticDecoder,
    decoder_from_settings,
)
from spacy_nested_ner.decoders.auto import CUBIC_IS_CHEAPER, all_spaces, cheapest, fates_of

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
    assert choice == (decoder, 1.0, True)


def test_enough_need_not_be_all():
    segments = [FLAT] * 48 + [ONE] + [SHARED]
    kept = {0.9: FlatDecoder(), 0.985: QuadraticDecoder(), 0.995: QuadraticDecoder(multi_label=True)}
    for min_coverage, decoder in kept.items():
        choice = AutoDecoder(min_coverage=min_coverage).choose(segments, None)
        assert choice.decoder == decoder
        assert choice.coverage >= min_coverage


def test_mentions_that_cross_leave_the_best_there_is():
    assert AutoDecoder().choose([FLAT, ONE, CROSS], None) == (QuadraticDecoder(), 5 / 6, False)


def test_no_mentions():
    assert AutoDecoder().choose([], None) is None
    assert AutoDecoder().choose([([], 5)], None) is None


def test_every_space_holds_the_one_before():
    coverages = [0.5, 0.6, 0.7, 0.8, 0.9] * 2
    spaces = all_spaces()
    assert cheapest(spaces, coverages, 0.7, None).name == "c = 2"
    assert cheapest(spaces, coverages, 0.7, 20).name == "cubic"
    assert cheapest(spaces, coverages, 0.6, 20).name == "c = 1"


def test_settings_come_back():
    for decoder in (FlatDecoder(multi_label=True), QuadraticDecoder(max_short_child=3), CubicDecoder()):
        assert decoder_from_settings(decoder.settings()) == decoder
    with pytest.raises(ValueError, match="decoder is 'Best'; expected one of FlatDecoder"):
        decoder_from_settings({"decoder": "Best"})


def test_bad_share():
    with pytest.raises(ValueError, match=r"min_coverage is 99\.9; expected a share from 0 to 1, such as 0\.999"):
        AutoDecoder(min_coverage=99.9)


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


def test_fates_depend_on_counts_and_coverage_does_not():
    mentions, spaces = [Mention(0, 2, "A"), Mention(0, 2, "B")], all_spaces()
    for counts, kept in [({"A": 5, "B": 9}, 0), ({"A": 9, "B": 5}, 1), (None, 0)]:
        fates = fates_of(mentions, 3, spaces, counts)
        assert [fate[0] for fate in fates] == [number == kept for number in range(2)]
        assert AutoDecoder(min_coverage=0.5).choose([(mentions, 3)], None, counts=counts) == (FlatDecoder(), 0.5, True)
