"""The longest span that a component scores, when the training data decide."""

import logging

import pytest
import spacy
from nested_examples import TINY, make_examples
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_nested_ner import init_config
from spacy_nested_ner.corpus import Record
from spacy_nested_ner.decoders import FlatDecoder
from spacy_nested_ner.decoders.span_limit import LimitChoice
from spacy_nested_ner.display.config_text import describe_plan
from spacy_nested_ner.display.coverage_text import describe_coverage
from spacy_nested_ner.evaluation import measure_coverage


def corpus(nlp, *long):
    """1,998 mentions of a token or two, and some longer ones, in sentences of their own."""
    doc = Doc(nlp.vocab, words=["Ada", "sang", "."] * 333, sent_starts=[True, False, False] * 333)
    docs = [doc, doc.copy()]
    for each in docs:
        spans = [Span(each, k, k + n, label=label) for k in range(0, 999, 3) for n, label in ((1, "PER"), (2, "ORG"))]
        each.spans["sc"] = spans + [Span(each, k + 1, k + 2, label="PER") for k in range(0, 999, 3)]
    for length in long:
        last = Doc(nlp.vocab, words=["Ada", *["of", "Ghent"] * 20], sent_starts=[True] + [False] * 40)
        last.spans["sc"] = [Span(last, 0, length, label="PER")]
        docs.append(last)
    return docs


def examples(nlp, docs):
    return [
        Example(
            Doc(nlp.vocab, words=[t.text for t in doc], sent_starts=[bool(t.is_sent_start) for t in doc]),
            doc,
        )
        for doc in docs
    ]


def initialized(*long, **settings):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={**TINY, **settings})
    nlp.initialize(lambda: examples(nlp, corpus(nlp, *long)))
    return nlp, pipe


def test_an_outlier_is_left_out_and_reported(caplog):
    logger = logging.getLogger("spacy.nested_ner")
    logger.addHandler(caplog.handler)
    try:
        with caplog.at_level("INFO", "spacy.nested_ner"), pytest.warns(UserWarning, match="cannot learn") as caught:
            nlp, pipe = initialized(38, 25)
    finally:
        logger.removeHandler(caplog.handler)
    assert pipe.span_limit == 20
    assert pipe.span_limit_choice == LimitChoice(20, 2000, 1998, 38)
    assert "nested_ner: max_span_length = 20 keeps 99.90 % of 2,000 gold mentions (the longest has 38 tokens)\n" in (
        caplog.text
    )
    (message,) = (str(each.message) for each in caught)
    assert message.endswith(
        "  2 are longer than max_span_length = 20 (PER 2): set max_span_length = 38 to learn them too, which takes "
        "more time"
    )
    nlp.update(examples(nlp, corpus(nlp, 38)))  # warnings are errors: it was reported


def test_following_the_advice_keeps_all():
    _, pipe = initialized(38, 25, max_span_length=38)  # warnings are errors
    assert (pipe.span_limit, pipe.span_limit_choice) == (38, None)


def test_mentions_that_cannot_be_learned_have_no_say():
    """Across a sentence boundary, or with a label that is not learned."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    docs = corpus(nlp, 25)
    docs[0].spans["sc"] += [Span(docs[0], 0, 500, label="PER")]
    docs[-1].spans["sc"] += [Span(docs[-1], 0, 40, label="TITLE")]
    with pytest.warns(UserWarning, match="1 cross a sentence boundary"):
        pipe.initialize(lambda: examples(nlp, docs), labels=["PER", "ORG"])
    assert pipe.span_limit_choice == LimitChoice(20, 1999, 1998, 25)


def test_the_choice_is_saved_and_that_of_earlier_versions_is_loaded():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config=TINY)
    nlp.initialize(lambda: make_examples(nlp))
    fresh = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes()).get_pipe("nested_ner")
    assert fresh.span_limit == pipe.span_limit == 6
    assert fresh.span_limit_choice == pipe.span_limit_choice == LimitChoice(6, 18, 18, 6)
    chosen = pipe.cfg.pop("span_limit_choice")
    pipe.cfg["longest_gold_mention"] = 23
    saved = nlp.to_bytes()
    for other in (spacy.blank("en").from_config(nlp.config).get_pipe("nested_ner"), fresh):
        nlp.from_bytes(saved)
        other.from_bytes(pipe.to_bytes())
        assert other.span_limit == 23
    pipe.cfg["span_limit_choice"] = chosen
    nlp.initialize(lambda: make_examples(nlp))
    assert pipe.span_limit == 6


@pytest.mark.parametrize("long, limit", [([38, 25], 20), ([38, 30, 25], 25), ([9], 9)])
@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
def test_all_commands_tell_the_limit_of_the_component(long, limit, tmp_path):
    nlp, pipe = initialized(*long)
    docs = corpus(nlp, *long)
    left_out = sum(length > limit for length in long)
    coverage = measure_coverage([Record(doc, "a") for doc in docs], use_sentences=True)
    assert pipe.span_limit == coverage.limit == coverage.as_dict()["max_span_length"] == limit
    assert coverage.too_long == coverage.as_dict()["too_long"] == left_out
    assert pipe.decoder == coverage.recommend().decoder
    assert coverage.kept(coverage.recommend()).total() == pipe.decoder_choice.kept
    path = tmp_path / "train.spacy"
    spacy.tokens.DocBin(docs=docs).to_disk(path)
    plan = init_config(path)
    assert plan.train.evidence.span_limit == limit
    assert plan.train.evidence.decoder == pipe.decoder
    if left_out:
        longest = max(long)
        assert (
            f"Longer than {limit} tokens, lost everywhere: {left_out}\n"
            f'  max_span_length = "auto" leaves them out; max_span_length = {longest} keeps them, and is slower\n'
        ) in describe_coverage(coverage)
        text = " ".join(describe_plan(plan).split())
        assert f"have at most {limit} tokens, the longest has {longest}: up to {limit} spans per token" in text
        assert f"{left_out} of {1998 + len(long):,} mentions are left out of training, because they have more" in text
    else:
        assert "lost everywhere" not in describe_coverage(coverage)


def test_examples_of_mentions_that_are_too_long():
    nlp = spacy.blank("en")
    coverage = measure_coverage([Record(doc, "a") for doc in corpus(nlp, 25)], use_sentences=True)
    (example,) = coverage.lost(coverage.spaces[-1])
    assert example.mention.startswith("PER 'Ada of Ghent")
    assert isinstance(coverage.spaces[0].decoder, FlatDecoder)
