"""Scores by depth, compared with those of spaCy itself."""

import pytest
import spacy
from commands import ROOT, run
from spacy.pipeline.spancat import spancat_score
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_nested_ner.annotation import mentions_of
from spacy_nested_ner.corpus import ConversionReport, read_records
from spacy_nested_ner.evaluation import collect_statistics
from spacy_nested_ner.evaluation.scorer import mentions_by_depth, nested_ner_score, score_levels

NLP = spacy.blank("en")
WORDS = "I am Fabian from Bonn , Germany .".split()
GOLD = [(0, 1, "PER"), (2, 7, "PER"), (4, 7, "GPE"), (6, 7, "GPE")]


def doc_with(spans, key="sc", words=WORDS):
    doc = Doc(NLP.vocab, words=words)
    if spans is not None:
        doc.spans[key] = [Span(doc, start, end, label=label) for start, end, label in spans]
    return doc


def score(found, gold=GOLD, key="sc"):
    return nested_ner_score([Example(doc_with(found, key), doc_with(gold, key))], spans_key=key)


def test_same_numbers_as_spancat():
    found = [(0, 1, "PER"), (2, 7, "ORG"), (4, 7, "GPE"), (3, 5, "GPE")]
    example = Example(doc_with(found), doc_with(GOLD))
    expected = spancat_score([example], spans_key="sc")
    result = nested_ner_score([example], spans_key="sc")
    assert {key: result[key] for key in expected} == expected


def test_gold_may_have_a_vocab_that_knows_no_label_found():
    example = Example(doc_with([(0, 1, "WEA")]), Doc(spacy.blank("en").vocab, words=WORDS))
    example.reference.spans["sc"] = []
    assert nested_ner_score([example], spans_key="sc")["spans_sc_per_type"]["WEA"]["p"] == 0


def test_by_level_and_depth():
    result = score([(0, 1, "PER"), (2, 7, "PER"), (6, 7, "GPE")])
    assert result["spans_sc_first_level_f"] == 1
    assert result["spans_sc_nested_r"] == 0.5
    assert result["spans_sc_nested_p"] == 1
    # "Germany" is found, with one mention around it and not two: right all the same.
    assert result["spans_sc_per_depth"]["3"] == {"p": 0, "r": 1, "f": 0}
    assert result["spans_sc_per_depth"]["2"] == {"p": 1, "r": 0, "f": 0}
    assert result["spans_sc_per_depth"]["1"]["f"] == 1


def test_a_missed_parent_does_not_make_its_children_wrong():
    result = score([(0, 1, "PER"), (4, 7, "GPE"), (6, 7, "GPE")])
    assert result["spans_sc_nested_r"] == 1
    assert result["spans_sc_first_level_p"] == 1
    assert result["spans_sc_first_level_r"] == 0.5


def test_depths():
    doc = doc_with([*GOLD, (4, 7, "LOC"), (5, 8, "ORG")])
    depths = {depth: len(spans) for depth, spans in mentions_by_depth(mentions_of(doc, "sc")).items()}
    # The two labels of 4:7 are at one depth; 5:8 crosses 4:7 and is inside nothing.
    assert depths == {1: 3, 2: 2, 4: 1}


@pytest.mark.slow
def test_nested_mentions_are_the_same_for_all_commands(tmp_path):
    """Two labels on one span, of which the sample has many, are at one depth for `analyze`, `convert` and recall."""
    path, report = ROOT / "assets" / "sample" / "train.txt", ConversionReport()
    docs = [record.doc for record in read_records(path, report=report)]
    gold = score_levels((mentions_by_depth(mentions_of(doc, "sc")), {}) for doc in docs)["nested"].n_gold
    statistics = collect_statistics(read_records(path))
    assert statistics.same_span.total() > 0
    assert statistics.nested == report.nested == gold
    assert max(statistics.depths) == report.depth
    share = f"{100 * gold / sum(len(doc.spans['sc']) for doc in docs):.1f}"
    assert f"({share} % nested, depth {report.depth})" in run("convert", path, tmp_path / "train.spacy").output
    rows = [line.rsplit(maxsplit=1) for line in run("analyze", path).output.splitlines() if line]
    assert ["  nested", str(gold)] in rows
    assert ["  nested, %", share] in rows
    # Recall that misses every nested mention but one.
    doc = docs[0]
    by_depth = mentions_by_depth(mentions_of(doc, "sc"))
    inside = [mention for depth, some in by_depth.items() if depth > 1 for mention in some]
    assert len(inside) > 1
    found = Doc(doc.vocab, words=[token.text for token in doc], spaces=[bool(token.whitespace_) for token in doc])
    found.spans["sc"] = [Span(found, *min(inside))]
    scores = nested_ner_score([Example(found, doc)], spans_key="sc")
    assert scores["spans_sc_nested_r"] == 1 / len(inside)


def test_without_annotation_there_is_no_score():
    result = score([(0, 1, "PER")], gold=None)
    assert result["spans_sc_f"] is None
    assert result["spans_sc_nested_f"] is None
    assert result["spans_sc_per_depth"] is None
    result = score([], gold=[(0, 1, "PER")])
    assert result["spans_sc_first_level_f"] == 0
    assert result["spans_sc_nested_f"] is None


def test_other_keys_have_their_own_names():
    result = score(GOLD, key="mentions")
    assert result["spans_mentions_f"] == 1
    assert result["spans_mentions_nested_f"] == 1
    assert "spans_sc_f" not in result
