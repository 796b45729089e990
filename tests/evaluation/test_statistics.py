"""What the statistics of a corpus count."""

import pytest
from nested_documents import make_doc

from spacy_nested_ner.corpus import Record
from spacy_nested_ner.evaluation import Statistics, collect_statistics
from spacy_nested_ner.evaluation.statistics import in_ranges, merge, overlap

WORDS = "Ada and Bo Bell of Bonn sing".split()
NESTED = [(0, 6, "PER"), (0, 1, "PER"), (2, 4, "PER"), (5, 6, "GPE"), (5, 6, "ORG")]


def of(*sentences, name="all", where="a.txt, line 1"):
    return collect_statistics([Record(make_doc(list(sentences)), where)], name)


def test_everything_is_counted():
    statistics = of((WORDS, NESTED), (["Hello"], []), name="train")
    assert (statistics.name, statistics.documents, statistics.sentences, statistics.words) == ("train", 1, 2, 8)
    assert (statistics.mentions, statistics.nested) == (5, 4)
    assert statistics.sentence_lengths == {7: 1, 1: 1}
    assert statistics.labels == {"PER": 3, "GPE": 1, "ORG": 1}
    assert statistics.lengths == {6: 1, 2: 1, 1: 3}
    assert statistics.depths == {1: 1, 2: 4}
    assert statistics.inside == {("PER", "PER"): 2, ("PER", "GPE"): 1, ("PER", "ORG"): 1}
    assert statistics.same_span == {("GPE", "ORG"): 1}
    assert statistics.second_children == {1: 1}
    assert statistics.texts["PER", "Bo Bell"] == 1
    assert statistics.longest == (6, "a.txt, line 1", "PER", "Ada and Bo Bell of Bonn")


def test_crossing_and_across_sentences():
    statistics = of((WORDS, [(0, 3, "PER"), (2, 4, "ORG"), (6, 8, "GPE")]), (WORDS, []))
    assert statistics.crossing == {("PER", "ORG"): 1}
    assert statistics.across == 1


def test_another_spans_key():
    doc = make_doc([(WORDS, NESTED)])
    assert collect_statistics([Record(doc, "")], spans_key="other").mentions == 0


def test_mentions_seen_elsewhere():
    train = of((WORDS, [(0, 1, "PER"), (5, 6, "GPE")]), name="train")
    dev = of((WORDS, [(0, 1, "PER"), (5, 6, "ORG"), (2, 3, "PER")]), (WORDS, [(0, 1, "PER")]), name="dev")
    assert dev.seen_in(train) == 0.5
    assert train.seen_in(dev) == 0.5
    assert overlap([train, dev]) == {"train": {"dev": 0.5}, "dev": {"train": 0.5}}
    assert of((WORDS, [])).seen_in(train) == 0


def test_parts_together():
    parts = [of((WORDS, NESTED)), of((WORDS, [(0, 7, "PER")]), where="b.txt, line 1")]
    whole = merge(parts)
    assert (whole.name, whole.documents, whole.words, whole.mentions) == ("all", 2, 14, 6)
    assert whole.depths == {1: 2, 2: 4}
    assert whole.longest.where == "b.txt, line 1"
    assert parts[0].mentions == 5, "the parts are as they were"


def test_ranges_of_lengths():
    assert in_ranges(of((WORDS, NESTED)).lengths, (1, 2, 5)) == {"1": 3, "2": 1, "3-5": 0, "6+": 1}
    assert in_ranges(Statistics("none").lengths, (5,)) == {"1-5": 0, "6+": 0}


@pytest.mark.parametrize("mentions", [NESTED, []])
def test_numbers_for_a_file(mentions):
    statistics = of((WORDS, mentions))
    numbers = statistics.as_dict()
    assert (numbers["words"], numbers["mentions"]) == (7, len(mentions))
    assert numbers["inside"] == ({"PER": {"PER": 2, "GPE": 1, "ORG": 1}} if mentions else {})
    assert numbers["longest_mention"]["words"] == statistics.longest.words
