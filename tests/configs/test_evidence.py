"""What a component will learn from."""

from spacy_nested_ner.configs.evidence import Evidence
from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, Mention, QuadraticDecoder

SHORT = ([Mention(0, 1, "PER")], 40)
# Two children of two tokens, inside a mention that is too long to be kept, and inside a shorter one.
LONG, SHORTER = (([Mention(0, n, "PER"), Mention(0, 2, "PER"), Mention(3, 5, "PER")], 40) for n in (30, 6))


def test_mentions_that_are_too_long_have_no_say_in_the_choice_of_the_decoder():
    evidence = Evidence(segments=[SHORT] * 2000 + [LONG])
    assert evidence.limit == (20, 2003, 2002, 30)
    assert evidence.placed == evidence.kept_by(FlatDecoder()) == 2002
    assert evidence.decoder == FlatDecoder()
    evidence = Evidence(segments=[SHORT] * 200 + [SHORTER] * 2)
    assert evidence.span_limit == 6
    assert evidence.decoder == CubicDecoder()


def test_nothing_to_choose_by():
    evidence = Evidence()
    assert (evidence.limit, evidence.span_limit, evidence.placed) == (None, 10, 0)
    assert evidence.decoder == QuadraticDecoder()
