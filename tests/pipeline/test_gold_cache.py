"""Gold is read once, and again after every change that matters."""

import copy
import gc
import pickle

import pytest
import spacy
from nested_examples import SENTENCES, TINY, make_doc, make_examples, plain, trained
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_nested_ner.decoders import FlatDecoder
from spacy_nested_ner.pipeline.gold import GoldReader, align, have_same_tokens, on_predicted
from spacy_nested_ner.pipeline.lost import Lost


@pytest.fixture
def reads(monkeypatch):
    """The examples that were read, not taken from the cache."""
    seen = []
    read = GoldReader.read

    def watched(self, example, *arguments):
        seen.append(example)
        return read(self, example, *arguments)

    monkeypatch.setattr(GoldReader, "read", watched)
    return seen


@pytest.fixture
def pipe():
    """A component with sentences of its own."""
    nlp = trained({"max_span_length": 6, "decoder": "QuadraticDecoder"}, steps=1)
    return nlp.get_pipe("nested_ner")


def example(pipe, group=SENTENCES[:2]):
    return Example(make_doc(pipe.vocab, group, key=None), make_doc(pipe.vocab, group))


def gold(pipe, example):
    """From the cache, and from the example."""
    segments = pipe.segments(example.predicted)
    lost, again = Lost(), Lost()
    kept = pipe._gold.read(pipe.gold_reader(), [example], [segments], pipe.decoder, lost)
    fresh = pipe.gold_reader().read(example, segments, pipe.decoder, again)
    assert (lost.n_gold, lost.counts, lost.longest) == (again.n_gold, again.counts, again.longest)
    assert lost.conflicts == again.conflicts
    return kept, fresh


def test_gold_is_read_once_in_all_epochs(reads):
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config=TINY)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    losses = [nlp.update(examples, sgd=False) for _ in range(3)]
    assert len(reads) == len(examples)
    assert losses[0]["nested_ner"] == losses[1]["nested_ner"] == losses[2]["nested_ner"] > 0


def retokenize_gold(pipe, example):
    with example.reference.retokenize() as retokenizer:
        retokenizer.merge(example.reference[5:7])


def retokenize_predicted(pipe, example):
    with example.predicted.retokenize() as retokenizer:
        retokenizer.merge(example.predicted[9:12])


def join_sentences(pipe, example):
    example.predicted[8].is_sent_start = False


def add_mention(pipe, example):
    example.reference.spans["sc"].append(Span(example.reference, 3, 4, label="GPE"))


def relabel(pipe, example):
    group = example.reference.spans["sc"]
    group[0] = Span(example.reference, group[0].start, group[0].end, label="ORG")


def change_setting(name, value):
    return lambda pipe, example: pipe.cfg.__setitem__(name, value)


def add_incorrect(pipe, example):
    example.reference.spans["sc_incorrect"] = [Span(example.reference, 1, 2, "PER")]


CHANGES = {
    "no mentions": lambda pipe, example: example.reference.spans.__setitem__("sc", []),
    "no group": lambda pipe, example: example.reference.spans.__delitem__("sc"),
    "one mention more": add_mention,
    "another label": relabel,
    "incomplete": lambda pipe, example: example.reference.spans["sc"].attrs.update(incomplete=True),
    "tokens of the gold": retokenize_gold,
    "tokens of the predicted doc": retokenize_predicted,
    "sentences": join_sentences,
    "order of labels": lambda pipe, example: pipe.cfg["labels"].reverse(),
    "span limit": change_setting("max_span_length", 2),
    "other key": change_setting("spans_key", "other"),
    "decoder": lambda pipe, example: setattr(pipe, "decoder", FlatDecoder()),
}
# These change nothing in complete annotation.
CHANGES_IN_INCOMPLETE = {
    "incorrect spans": add_incorrect,
    "missing rate": change_setting("missing_rate", 0.9),
    "rate of the doc": lambda pipe, example: example.reference.spans["sc"].attrs.update(incomplete=1),
}


@pytest.mark.parametrize("change", [*CHANGES, *CHANGES_IN_INCOMPLETE])
def test_gold_is_read_again_after_a_change(pipe, reads, change):
    one = example(pipe)
    if change in CHANGES_IN_INCOMPLETE:
        one.reference.spans["sc"].attrs["incomplete"] = True
    before, fresh = gold(pipe, one)
    assert before == fresh
    (CHANGES | CHANGES_IN_INCOMPLETE)[change](pipe, one)
    del reads[:]
    after, fresh = gold(pipe, one)
    assert after == fresh != before
    assert len(reads) == 2
    assert gold(pipe, one)[0] == after
    assert len(reads) == 3  # this time from the cache


def test_counts_of_labels_decide_conflicts_and_so_belong_to_the_settings(pipe):
    crossing = ("New York City Council met .", [(0, 3, "GPE"), (2, 4, "ORG")])
    pipe.cfg["label_counts"] = {"GPE": 5, "ORG": 1}
    one = example(pipe, [crossing])
    (before,), _ = gold(pipe, one)
    pipe.cfg["label_counts"]["ORG"] = 9  # in place
    (after,), (fresh,) = gold(pipe, one)
    assert [pipe.labels[mentions[0].label] for mentions in (before, after, fresh)] == ["ORG", "GPE", "GPE"]


def test_the_cache_forgets_docs_that_nobody_has(pipe):
    pipe._gold.read(pipe.gold_reader(), [], [], pipe.decoder, Lost())
    kept = [example(pipe) for _ in range(3)]
    gone = [example(pipe) for _ in range(20)]
    for one in kept + gone:
        gold(pipe, one)
    assert len(pipe._gold) == 23
    del gone, one
    gc.collect()
    assert len(pipe._gold) == 3


def test_errors_are_not_kept(pipe):
    one = example(pipe)
    for _ in range(2):
        one.reference.spans["sc"].attrs["incomplete"] = "yes"
        with pytest.raises(ValueError, match="expected True, False, or a number"):
            gold(pipe, one)
    one.reference.spans["sc"].attrs["incomplete"] = False
    kept, fresh = gold(pipe, one)
    assert kept == fresh


def test_a_component_with_a_cache_is_pickled_and_copied_without_it(pipe):
    one = example(pipe)  # the cache forgets it otherwise
    gold(pipe, one)
    for other in (pickle.loads(pickle.dumps(pipe._gold)), copy.deepcopy(pipe._gold)):
        assert len(pipe._gold) > len(other) == 0


SAME = [
    ["Ada", "met", "Bo"],
    ["Ada", " ", "met", "\n\n", "Bo"],
    [" ", "Ada", "\t"],
    ["İzmir", "Σ", "ß"],
]


@pytest.mark.parametrize("words", SAME, ids=repr)
def test_the_same_tokens_need_no_alignment(words):
    """Every span is found where spaCy's alignment finds it."""
    vocab, other = spacy.blank("en").vocab, spacy.blank("de").vocab
    predicted, reference = Doc(vocab, words=words), Doc(other, words=words, spaces=[False] * len(words))
    n = len(words)
    spans = [Span(reference, i, j, label="PER") for i in range(n) for j in range(i, n + 1)]
    reference.spans["sc"] = spans
    one = Example(predicted, reference)
    assert have_same_tokens(one)
    filled = [(i, j, "PER") for i in range(n) for j in range(i + 1, n + 1)]
    assert on_predicted(one, spans) == filled
    found = align(one, "sc")
    assert sorted(found.mentions) == filled
    assert (found.misaligned, found.n_gold) == (["PER"] * n, len(spans))
    if words[0] != "İzmir":  # spaCy counts the letters of its lower-case form
        vocab.strings.add("PER")
        aligned = one.get_aligned_spans_y2x(spans, allow_overlap=True)
        assert [(span.start, span.end, span.label_) for span in aligned] == filled


def test_other_tokens_are_aligned(pipe):
    reference = plain(spacy.blank("en"), [("New York-based firm", [])])
    reference.spans["sc"] = [Span(reference, 0, 3, label="ORG"), Span(reference, 1, 2, label="GPE")]
    one = Example(Doc(pipe.vocab, words=["New", "York-", "based", "firm"]), reference)
    assert not have_same_tokens(one)
    assert align(one, "sc").mentions == [(0, 4, "ORG"), (1, 3, "GPE")]
