"""What a component will see of a corpus."""

from collections import Counter

from spacy_nested_ner.configs.evidence import Evidence


def test_the_length_of_most_mentions():
    evidence = Evidence(lengths=Counter({1: 900, 4: 99, 30: 1}))
    assert [evidence.length_of_most(share) for share in (0, 0.0005, 0.001, 0.1, 1)] == [30, 30, 4, 1, 1]
    assert Evidence().length_of_most(0.001) == 0
